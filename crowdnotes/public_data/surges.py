"""Days on which unusually many posts got notes, what their notes speak of, and the posts themselves.

As section 3.2 of the CrowdNotes+ paper: a post's day is that of its snowflake; a day is marked when its posts exceed
the mean of the 28 days before it by more than 2.5 standard deviations. The day itself is not part of its own baseline,
and takes five posts at least: where posts are rare, two on a day would be a surge.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crowdnotes.bridging.columns import DAY_MS
from crowdnotes.domain import FrozenModel
from crowdnotes.public_data.database import Connection, columns, how_many
from crowdnotes.public_data.posts import Filter, gather_posts
from crowdnotes.text.markdown import day as day_words
from crowdnotes.text.note_rules import without_urls, x_storage_form
from crowdnotes.text.tokens import STOP_WORDS
from crowdnotes.wording import fill

BASELINE_DAYS, DEVIATIONS = 28, 2.5
_MIN_SURGE_POSTS = 5
_MAX_TERMS, _MAX_POSTS = 10, 50
_MIN_TERM_POSTS = 3  # posts of the three days
_MIN_STANDARD_ERRORS = 3.0  # standard errors between the share of posts in the three days and in the baseline
# Runs of letters of one script; of Han and Katakana two make a word, of Hiragana none (they are its grammar).
_TERM_PATTERN = (
    r"\p{Han}{2,}|[\p{Katakana}ー]{2,}|\p{Hangul}{2,}"
    r"|[\p{Latin}\p{Cyrillic}\p{Greek}\p{Arabic}\p{Hebrew}\p{Devanagari}\p{Thai}]{3,}"
)
_IGNORED_TERMS = frozenset("amp quot http https www com post tweet note claim".split()).union(*STOP_WORDS)


_POSTS_PER_DAY_SQL = """
SELECT posted // ? AS day, count(*) AS posts FROM chosen
WHERE posted IS NOT NULL AND day >= coalesce((SELECT min(first_note) FROM posts) // ?, 0)
GROUP BY day ORDER BY day
"""


class Term(FrozenModel):
    """A word of the notes: on how many posts of the three days, and of the 28 days before them."""

    term: str
    posts: int
    of_posts: int
    before: int
    of_before: int


class Surge(FrozenModel):
    """A marked day. mean, deviation: of the posts a day in the 28 days before. terms: of the three days around it."""

    day: date
    posts: int
    mean: float
    deviation: float
    terms: tuple[Term, ...] | None = None


class Surges(FrozenModel):
    """Posts a day from the first note's day to the last post's, the mean of the 28 days before, and the marked days.

    earlier: posts from before the first note, which got theirs in hindsight. mean, line: None while there are no 28
    days before. not_run: why nothing can be said.
    """

    counted: str
    posts: int
    not_dated: int
    earlier: int
    first_day: date | None
    per_day: tuple[int, ...]
    mean: tuple[float | None, ...]
    line: tuple[float | None, ...]
    surges: tuple[Surge, ...]
    sentence: str
    not_run: str = ""

    @property
    def largest_other(self) -> str:
        """Why the largest day that is not marked is not; "" where every day with posts is."""
        marked = {surge.day for surge in self.surges}
        first = self.first_day or _convert_to_date(0)
        others = [place for place in range(len(self.per_day)) if first + timedelta(days=place) not in marked]
        place = max(others, key=self.per_day.__getitem__, default=None)
        if place is None or self.not_run or not self.per_day[place]:
            return ""
        named = {"day": day_words(first + timedelta(days=place)), "posts": self.per_day[place]}
        line, mean = self.line[place], self.mean[place]
        if line is None or mean is None:
            return fill(
                (
                    "The largest other day, {day} with {posts:,} posts, is among the first {first}, which "
                    "have nothing to compare with."
                ),
                first=BASELINE_DAYS,
                **named,
            )
        if self.per_day[place] > line:
            return fill(
                "The largest other day, {day} with {posts:,} posts, has under {least}: too few for a surge.",
                least=_MIN_SURGE_POSTS,
                **named,
            )
        return fill(
            (
                "The largest other day, {day} with {posts:,} posts, is no surge: after 28 days with "
                "{usual:.1f} a day it takes over {line:.1f}."
            ),
            line=line,
            usual=mean,
            **named,
        )


class SurgePost(FrozenModel):
    """A post of a day, with its notes' first text and how far they came."""

    post: int
    posted_at: datetime
    notes: int
    ratings: int
    shown: bool
    language: str | None
    first_note: str


def surges(connection: Connection, chosen: Filter, with_terms: int = 0) -> Surges:
    """Find the marked days, the strongest `with_terms` of them with their terms.

    Raises InputError where the index has no notes.
    """
    posts = gather_posts(connection, chosen)
    not_dated = how_many(connection, "SELECT count(*) FROM chosen WHERE posted IS NULL")
    counted = columns(connection, _POSTS_PER_DAY_SQL, [DAY_MS, DAY_MS])
    earlier = posts - not_dated - int(counted["posts"].sum())
    if not len(counted["day"]):
        return Surges(
            counted=chosen.as_text,
            posts=posts,
            not_dated=not_dated,
            earlier=earlier,
            first_day=None,
            per_day=(),
            mean=(),
            line=(),
            surges=(),
            sentence="",
            not_run="No post has a time since notes are written, so there is no surge to look for.",
        )
    first = int(counted["day"][0])
    per_day = np.zeros(int(counted["day"][-1]) - first + 1, dtype=np.int64)
    per_day[counted["day"].astype(np.int64) - first] = counted["posts"]
    mean, deviation = _compute_baseline(per_day)
    marked = np.flatnonzero(
        (per_day > mean + DEVIATIONS * deviation) & (per_day >= _MIN_SURGE_POSTS)
    )  # NaN marks nothing
    found = [
        Surge(
            day=_convert_to_date(first + place), posts=int(per_day[place]), mean=mean[place], deviation=deviation[place]
        )
        for place in marked.tolist()
    ]
    strongest = sorted(found, key=lambda surge: -(surge.posts - surge.mean))[:with_terms]
    terms_by_day = {surge.day: trending(connection, surge.day) for surge in strongest}
    found = [surge.replace(terms=terms_by_day.get(surge.day)) for surge in found]
    not_run = "" if len(per_day) > BASELINE_DAYS else "It takes 29 days of posts to find a surge. Add more days."
    return Surges(
        counted=chosen.as_text,
        posts=posts,
        not_dated=not_dated,
        earlier=earlier,
        first_day=_convert_to_date(first),
        per_day=tuple(per_day.tolist()),
        mean=tuple(None if np.isnan(value) else value for value in mean.tolist()),
        line=tuple(None if np.isnan(value) else value for value in (mean + DEVIATIONS * deviation).tolist()),
        surges=tuple(found),
        sentence="" if not_run else _write_surge_sentence(found, len(per_day) - BASELINE_DAYS),
        not_run=not_run,
    )


def trending(connection: Connection, day: date) -> tuple[Term, ...]:
    """Return the words that notes on the gathered posts of three days use more often than in the 28 days before them.

    Counted once a post; the difference of the shares is at least three standard errors.
    """
    middle = _convert_to_day_number(day)
    connection.register("stop", pa.table({"term": sorted(_IGNORED_TERMS)}))
    rows = connection.execute(
        """
        WITH near AS (SELECT post, posted // $day >= $middle - 1 AS inside FROM chosen
                      WHERE posted // $day BETWEEN $middle - 1 - $before AND $middle + 1),
        said AS (SELECT DISTINCT post, inside, unnest(regexp_extract_all(
                     lower(regexp_replace(text, 'https?://\\S+', ' ', 'g')), $words)) AS term
                 FROM near JOIN notes USING (post)),
        counted AS (SELECT term, count(*) FILTER (inside) AS a, count(*) FILTER (NOT inside) AS b
                    FROM said ANTI JOIN stop USING (term) GROUP BY term),
        sums AS (SELECT count(*) FILTER (inside) AS m, count(*) FILTER (NOT inside) AS n FROM near)
        SELECT term, a, m, b, n FROM (
            SELECT *, (a + b + 1.0) / (m + n + 2) AS p, a / m - b / greatest(n, 1) AS more FROM counted, sums
            WHERE a >= $least
        ) WHERE more > $unusual * sqrt(p * (1 - p) * (1.0 / m + 1.0 / greatest(n, 1)))
        ORDER BY more DESC, term LIMIT $most
        """,
        {
            "day": DAY_MS,
            "middle": middle,
            "before": BASELINE_DAYS,
            "words": _TERM_PATTERN,
            "least": _MIN_TERM_POSTS,
            "unusual": _MIN_STANDARD_ERRORS,
            "most": _MAX_TERMS,
        },
    ).fetchall()
    connection.unregister("stop")
    return tuple(Term(term=row[0], posts=row[1], of_posts=row[2], before=row[3], of_before=row[4]) for row in rows)


def posts_of_day(connection: Connection, day: date) -> tuple[SurgePost, ...]:
    """Return the gathered posts of a day with the most ratings, up to fifty."""
    rows = connection.execute(
        """
        WITH those AS (SELECT * FROM chosen WHERE posted // $day = $number),
        theirs AS (SELECT notes.* FROM notes SEMI JOIN those USING (post)),
        rated AS (SELECT post, count(*) AS ratings FROM ratings JOIN theirs USING (note) GROUP BY post),
        shown AS (SELECT DISTINCT post FROM theirs JOIN history USING (note) WHERE status = 'CURRENTLY_RATED_HELPFUL'),
        texts AS (SELECT post, arg_min(text, coalesce(written, note)) AS text FROM theirs GROUP BY post)
        SELECT those.post, posted, those.notes, coalesce(ratings, 0), shown.post IS NOT NULL, language,
            coalesce(text, '')
        FROM those LEFT JOIN rated USING (post) LEFT JOIN shown ON shown.post = those.post LEFT JOIN texts USING (post)
        ORDER BY coalesce(ratings, 0) DESC, those.post LIMIT $most
        """,
        {"day": DAY_MS, "number": _convert_to_day_number(day), "most": _MAX_POSTS},
    ).fetchall()
    return tuple(
        SurgePost(
            post=post,
            posted_at=datetime.fromtimestamp(posted / 1000, UTC),
            notes=notes,
            ratings=ratings,
            shown=shown,
            language=language,
            first_note=without_urls(x_storage_form(text)),
        )
        for post, posted, notes, ratings, shown, language, text in rows
    )


def _compute_baseline(per_day: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Mean and standard deviation of the 28 days before each day, NaN where there are fewer."""
    mean, deviation = np.full(len(per_day), np.nan), np.full(len(per_day), np.nan)
    if len(per_day) > BASELINE_DAYS:
        windows = np.lib.stride_tricks.sliding_window_view(per_day[:-1], BASELINE_DAYS)
        mean[BASELINE_DAYS:], deviation[BASELINE_DAYS:] = windows.mean(axis=1), windows.std(axis=1, ddof=1)
    return mean, deviation


def _convert_to_date(number: int) -> date:
    return date(1970, 1, 1) + timedelta(days=number)


def _convert_to_day_number(day: date) -> int:
    return (day - date(1970, 1, 1)).days


def _write_surge_sentence(found: list[Surge], days: int) -> str:
    if not found:
        return f"No surge in {days:,} days."
    top = max(found, key=lambda surge: surge.posts - surge.mean)
    named = {"n": len(found), "all": days, "day": day_words(top.day), "posts": top.posts}
    if not top.mean:
        return fill(
            (
                "{n} surge in {all:,} days: {day}, with {posts:,} posts.",
                "{n} surges in {all:,} days, the largest on {day}: {posts:,} posts.",
            ),
            **named,
        )
    return fill(
        (
            "{n} surge in {all:,} days: {day}, with {posts:,} posts, {times:.1f} times the usual {usual:.1f}.",
            (
                "{n} surges in {all:,} days, the largest on {day}: {posts:,} posts, {times:.1f} times the "
                "usual {usual:.1f}."
            ),
        ),
        times=top.posts / top.mean,
        usual=top.mean,
        **named,
    )
