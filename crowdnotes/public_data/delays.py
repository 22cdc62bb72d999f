"""How late notes come: from post to first note, from there to the first verdict, and how many never get one.

As table 1 of the CrowdNotes+ paper: percentiles over posts. A verdict is the first status of any of a post's notes
other than "needs more ratings".
"""

from __future__ import annotations

from typing import Any

from crowdnotes.bridging.columns import HOUR_MS
from crowdnotes.domain import FrozenModel
from crowdnotes.public_data.database import Connection, how_many
from crowdnotes.public_data.posts import Filter, gather_posts
from crowdnotes.public_data.topics import topic_names
from crowdnotes.text.dates import parse_date
from crowdnotes.text.languages import LANGUAGE_NAMES
from crowdnotes.wording import plural

MIN_POSTS = 5  # posts: no percentiles for fewer
_MAX_LANGUAGES = 12


class Hours(FrozenModel):
    """Hours at 25, 50, 75 and 90 percent of n posts; None, with the reason, where nothing can be said."""

    n: int
    p25: float | None = None
    p50: float | None = None
    p75: float | None = None
    p90: float | None = None
    not_run: str = ""


class Never(FrozenModel):
    """Of n notes the share that never left "needs more ratings"; young: those of them under 14 days old."""

    n: int
    share: float | None = None
    young: int = 0
    not_run: str = ""


class Delay(FrozenModel):
    """The delays of a group of posts."""

    group: str
    posts: int
    to_first_note: Hours
    to_verdict: Hours
    never: Never

    @property
    def name(self) -> str:
        """What people call the group: a month and a language by its name."""
        if self.group == "all":
            return "All"
        month = parse_date(f"{self.group}-01")
        return f"{month:%b %Y}" if month else LANGUAGE_NAMES.get(self.group, self.group)


class Delays(FrozenModel):
    """Delays of all posts that are counted, and by topic, language and month (of the first note).

    not_dated: posts without a time of their own or of their first note. backwards: posts with a note before the post.
    """

    counted: str
    posts: int
    not_dated: int
    backwards: int
    overall: Delay
    by_topic: tuple[Delay, ...]
    by_language: tuple[Delay, ...]
    by_month: tuple[Delay, ...]
    sentence: str


_EACH_POST_SQL = """
CREATE OR REPLACE TEMP TABLE each_post AS
SELECT language, topics, first_note, known, never, young,
    ((first_note - posted) / $hour)::FLOAT AS hours, ((verdict - first_note) / $hour)::FLOAT AS verdict_hours
FROM chosen
"""
_PERCENTILES = "[0.25, 0.5, 0.75, 0.9]"
_BY_TOPIC_SQL = "SELECT *, unnest(list_filter(range(8), bit -> if(bit = 7, topics = 0, topics >> bit & 1 = 1))) AS name"
_BY_LANGUAGE_SQL = "SELECT *, coalesce(language, 'not known') AS name"
_BY_MONTH_SQL = "SELECT *, coalesce(strftime(make_timestamp(first_note * 1000), '%Y-%m'), 'not known') AS name"


def delays(connection: Connection, chosen: Filter) -> Delays:
    """Count them. Raises InputError where the index has no notes."""
    posts = gather_posts(connection, chosen)
    connection.execute(_EACH_POST_SQL, {"hour": HOUR_MS})
    has_history = bool(how_many(connection, "SELECT count(*) FROM (SELECT 1 FROM history LIMIT 1)"))
    names = [*topic_names(), "none of them"]
    by_topic = _group_delays(connection, _BY_TOPIC_SQL, has_history)
    by_language = sorted(
        _group_delays(connection, _BY_LANGUAGE_SQL, has_history), key=lambda one: (-one.posts, one.group)
    )
    overall = _group_delays(connection, "SELECT *, 'all' AS name", has_history)
    everything = overall[0] if overall else _build_delay(("all", 0, 0, None, 0, None, 0, 0, 0), has_history)
    return Delays(
        counted=chosen.as_text,
        posts=posts,
        not_dated=how_many(connection, "SELECT count(*) FROM each_post WHERE hours IS NULL"),
        backwards=how_many(connection, "SELECT count(*) FROM each_post WHERE hours < 0"),
        overall=everything,
        by_topic=tuple(group.replace(group=names[int(group.group)]) for group in by_topic),
        by_language=tuple(by_language[:_MAX_LANGUAGES]),
        by_month=tuple(_group_delays(connection, _BY_MONTH_SQL, has_history)),
        sentence=_write_delay_sentence(everything),
    )


def _group_delays(connection: Connection, named: str, has_history: bool) -> list[Delay]:
    """Return the delays by the `name` that a selection from the posts gives each, sorted by it."""
    rows = connection.execute(f"""
        SELECT name, count(*),
            count(*) FILTER (hours >= 0), quantile_cont(hours, {_PERCENTILES}) FILTER (hours >= 0),
            count(*) FILTER (verdict_hours >= 0),
            quantile_cont(verdict_hours, {_PERCENTILES}) FILTER (verdict_hours >= 0),
            coalesce(sum(known), 0), coalesce(sum(never), 0), coalesce(sum(young), 0)
        FROM ({named} FROM each_post) GROUP BY name ORDER BY name
        """).fetchall()
    return [_build_delay(row, has_history) for row in rows]


_NO_HISTORY = "The index has no status history. Add the noteStatusHistory files."


def _build_delay(row: tuple[Any, ...], has_history: bool) -> Delay:
    name, posts, dated, first, decided, verdict, known, never, young = row
    known = int(known)
    few = (
        plural(
            known,
            "Only {n} note. At least {few} are needed.",
            "Only {n} notes. At least {few} are needed.",
            few=MIN_POSTS,
        )
        if has_history
        else _NO_HISTORY
    )
    return Delay(
        group=str(name),
        posts=posts,
        to_first_note=_build_hours(dated, first, ""),
        to_verdict=_build_hours(
            decided,
            verdict,
            "" if has_history else _NO_HISTORY,
        ),
        never=Never(n=known, share=never / known, young=int(young))
        if known >= MIN_POSTS
        else Never(n=known, not_run=few),
    )


def _build_hours(n: int, percentiles: list[float] | None, not_run: str) -> Hours:
    if n < MIN_POSTS or percentiles is None or not_run:
        return Hours(
            n=n,
            not_run=not_run
            or plural(
                n,
                "Only {n} post. At least {few} are needed.",
                "Only {n} posts. At least {few} are needed.",
                few=MIN_POSTS,
            ),
        )
    return Hours(n=n, **dict(zip(("p25", "p50", "p75", "p90"), percentiles, strict=True)))


def _write_delay_sentence(overall: Delay) -> str:
    """Return what the figures say, in a sentence or two."""
    first, verdict, never = overall.to_first_note, overall.to_verdict, overall.never
    said = []
    if first.p50 is not None:
        said.append(f"Half of {first.n:,} posts with a note got the first within {first.p50:.1f} hours.")
    if verdict.p50 is not None:
        said.append(f"Half of {verdict.n:,} with a verdict got it within {verdict.p50:.1f} hours more.")
    if never.share is not None:
        said.append(f"{never.share:.0%} of {never.n:,} notes never left “needs more ratings”.")
    return " ".join(said) or "There is too little data on delays."
