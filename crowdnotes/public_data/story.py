"""A note's story: the post and its notes, the ratings, the score as they came in, and all of it in plain words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from crowdnotes.bridging.model import NoteStatus, RuleName
from crowdnotes.bridging.thresholds import THRESHOLDS, Thresholds
from crowdnotes.domain import FrozenModel
from crowdnotes.errors import InputError
from crowdnotes.public_data.database import Connection, how_many
from crowdnotes.public_data.replay import (
    FIRST_RATINGS,
    WHY_X_DIFFERS,
    Change,
    Levels,
    Moment,
    Recorded,
    Replay,
    ScoreStory,
    recorded,
    replay,
    score_story,
)
from crowdnotes.public_data.topics import topic_names
from crowdnotes.text.markdown import day, in_figures
from crowdnotes.text.note_rules import without_urls, x_storage_form
from crowdnotes.wording import plural

_NUMBER_OR_LINK = re.compile(r"(?:.*/(?P<kind>status|statuses|n|t)/)?(?P<number>\d{1,19})(?:[/?#].*)?")
_HAS_WORD_SQL = "(SELECT text ILIKE ? ESCAPE '!')"
_MIN_SIDE_RATINGS = 5  # of a side: no share is given for fewer
_MAX_LISTED_CHANGES = 2  # of more only the first and the last
_CORE_MODEL = "CoreModel"  # as X calls the one that is run here
_REASON_BY_RULE_OF_X = {  # what decides at X without being a model
    "MetaInitialNMR": "None of X's models had scored it.",
    "NmrDueToMinStableCrhTime": "X held the status back for a while, to see whether it lasts.",
    "ScoringDriftGuard": "X kept the status that it had locked.",
    "InsufficientExplanation": "X took the status back because raters ticked too few reasons.",
    "PopulationSampledIntercept": (
        "X took the status back because people whom it drew at random liked the note much less."
    ),
}
_MIN_DISAGREEMENT = 0.3  # between the sides' shares of helpful ratings
_MAX_SHARE_AGAINST = 1 / 3  # the share of a side that may find a note not helpful which the side found somewhat helpful
_CHANGE_TEXT_BY_STATUS = {
    NoteStatus.HELPFUL: "it was shown",
    NoteStatus.NOT_HELPFUL: "it was rated not helpful",
    NoteStatus.NEEDS_MORE_RATINGS: "it went back to waiting for more ratings",
}


class NoteOfPost(FrozenModel):
    """A note on the post, with its status on X and by the fit of the index, each "" where not known."""

    note: int
    written_at: datetime | None
    text: str
    status: str
    ratings: int
    by_ratings: str = ""

    @property
    def as_text(self) -> str:
        """What X recorded, else what the ratings here say."""
        if self.status:  # X may have words that are new here
            return NoteStatus(self.status).as_text if self.status in set(NoteStatus) else self.status
        if self.by_ratings:
            return f"by these ratings it would be {NoteStatus(self.by_ratings).as_text}"
        return "too few ratings for a score"


class StoryText(FrozenModel):
    """The story in sentences, each "" where there is nothing to say; in this order they are its paragraph."""

    beginning: str
    quotation: str
    score: str
    ratings: str
    sides: str
    uncounted: str
    on_x: str
    differs: str
    changes: str
    first: str
    held: str

    @property
    def paragraph(self) -> str:
        """All of it."""
        return " ".join(sentence for _, sentence in self if sentence)

    @property
    def details(self) -> tuple[str, ...]:
        """What the page folds: all but who wrote the note, what it says, and what the sides make of it."""
        parts = (self.score, self.ratings, self.uncounted, self.on_x, self.differs, self.changes, self.first, self.held)
        return tuple(filter(None, parts))


class Story(FrozenModel):
    """One note. levels: of all its ratings, dated or not.

    by_ai: written by an AI writer; collaborative: by X's own AI, from what contributors asked for and suggested; each
    None where not known. foreseen_at: when X first foresaw, from early ratings, that the note would be shown.

    score: the ratings in time and the score after them, under raters held as fitted; None with `score_not_run`.
    on_x: what X recorded; empty with `on_x_not_run`.
    """

    note: int
    post: int | None
    posted_at: datetime | None
    written_at: datetime | None
    text: str
    language: str | None
    topics: tuple[str, ...]
    misleading: bool | None
    by_ai: bool | None
    collaborative: bool | None = None
    foreseen_at: datetime | None = None
    notes_on_post: tuple[NoteOfPost, ...]
    levels: Levels
    not_dated: int
    score: ScoreStory | None
    score_not_run: str
    on_x: tuple[Recorded, ...]
    on_x_not_run: str
    first_not_run: str
    sentences: StoryText | None = None
    paragraph: str = ""


def story(connection: Connection, wanted: str, thresholds: Thresholds = THRESHOLDS) -> Story:
    """Return the story of a note, by its id or address, or of a post's note with the most ratings.

    Raises InputError where the index has neither.
    """
    note = _find_note(connection, wanted)
    row = connection.execute(
        """
        SELECT notes.post, posted, coalesce(notes.written, history.written), text, language, topics, misleading,
            coalesce(notes.author, history.author), collaborative, foreseen_at
        FROM (SELECT $note AS note) LEFT JOIN notes USING (note) LEFT JOIN history USING (note)
        """,
        {"note": note},
    ).fetchone()
    if row is None:
        raise AssertionError("the left side of the join has one row")
    post, posted, written, text, language, topics, misleading, author, collaborative, foreseen = row
    # A deleted note's words are not known; the algorithm takes it for one that calls its post misleading.
    replayed = replay(connection, note, misleading is not False, thresholds)
    known = replayed if isinstance(replayed, Replay) else None
    score = score_story(known) if known else None
    on_x = recorded(connection, note, known)
    levels, not_dated = _count_levels(connection, note)
    found = Story(
        note=note,
        post=post,
        posted_at=_convert_ms_unless_none(posted),
        written_at=_convert_ms_unless_none(written),
        text=_decode_text(text),
        language=language,
        topics=tuple(name for place, name in enumerate(topic_names()) if (topics or 0) >> place & 1),
        misleading=misleading,
        by_ai=_is_ai(connection, author),
        collaborative=collaborative,
        foreseen_at=_convert_ms_unless_none(foreseen),
        notes_on_post=_load_notes_of_post(connection, post),
        levels=levels,
        not_dated=not_dated,
        score=score,
        score_not_run=replayed if isinstance(replayed, str) else "",
        on_x=on_x,
        on_x_not_run=""
        if on_x
        else (
            "We do not know what X decided: the index has no status history of this note. Add the "
            "noteStatusHistory files."
        ),
        first_not_run=""
        if levels.n >= FIRST_RATINGS
        else f"From {FIRST_RATINGS} ratings on, we compare the first {FIRST_RATINGS} with all.",
    )
    sentences = explain_story(found, thresholds)
    return found.replace(sentences=sentences, paragraph=sentences.paragraph)


ListedNote = tuple[int, int, str]  # a note, how many ratings it has, and its words


def to_listed_note(row: tuple[int, int, str | None]) -> ListedNote:
    """Return a note as lists show it: without its links."""
    note, ratings, text = row
    return note, ratings, without_urls(_decode_text(text))


def busiest_notes(connection: Connection, most: int = 8) -> list[ListedNote]:
    """Return the notes with the most ratings: id, how many, and its words; to begin with."""
    rows = connection.execute(
        """
        SELECT note, n, text FROM (SELECT note, count(*) AS n FROM ratings GROUP BY note ORDER BY n DESC, note LIMIT ?)
        JOIN notes USING (note) ORDER BY n DESC, note
        """,
        [most],
    ).fetchall()
    return [to_listed_note(row) for row in rows]


def notes_with_words(connection: Connection, words: str, most: int = 20) -> list[ListedNote]:
    """As `busiest_notes`, of the notes whose text has all the words, in any order and case."""
    wanted = ["%" + re.sub("([%_!])", r"!\1", word) + "%" for word in words.split()]
    if not wanted:
        return []
    has = " AND ".join([_HAS_WORD_SQL] * len(wanted))
    rows = connection.execute(
        f"""
        WITH found AS (SELECT note, text FROM notes WHERE {has}),
        rated AS (SELECT note, count(*) AS n FROM ratings SEMI JOIN found USING (note) GROUP BY note)
        SELECT note, coalesce(n, 0) AS n, text FROM found LEFT JOIN rated USING (note) ORDER BY n DESC, note LIMIT ?
        """,
        [*wanted, most],
    ).fetchall()
    return [to_listed_note(row) for row in rows]


def most_rated(connection: Connection, which_sql: str, values: Mapping[str, object], most: int) -> list[ListedNote]:
    """As `busiest_notes`, of the notes that a query selects."""
    rows = connection.execute(
        f"""
        WITH chosen AS ({which_sql}),
        rated AS (SELECT note, count(*) AS n FROM ratings SEMI JOIN chosen USING (note) GROUP BY note)
        SELECT note, n, text FROM rated JOIN notes USING (note) ORDER BY n DESC, note LIMIT $most
        """,
        {**values, "most": most},
    ).fetchall()
    return [to_listed_note(row) for row in rows]


def notes_of_status(connection: Connection, status: NoteStatus, most: int = 3) -> list[ListedNote]:
    """As `busiest_notes`, of those that have the status by the index's ratings; none without a fit."""
    return most_rated(connection, "SELECT note FROM scores WHERE status = $status", {"status": status.value}, most)


def notes_to_begin_with(connection: Connection) -> dict[str, list[ListedNote]]:
    """Return a few notes by what they have in common, by a heading: by status, or without a fit the most rated."""
    by_status = {
        "Notes that would be shown, by these ratings:": notes_of_status(connection, NoteStatus.HELPFUL),
        "Notes that would be rated not helpful, by these ratings:": notes_of_status(connection, NoteStatus.NOT_HELPFUL),
        "Notes that would wait for more ratings, by these ratings:": notes_of_status(
            connection, NoteStatus.NEEDS_MORE_RATINGS
        ),
    }
    others = by_status if any(by_status.values()) else {"Notes with the most ratings:": busiest_notes(connection)}
    return {"Notes that X showed and took down:": taken_down_notes(connection), **others}


def is_number_or_link(wanted: str) -> bool:
    """Return whether it names a note or a post; else it is words to look for."""
    return _NUMBER_OR_LINK.fullmatch(wanted.strip()) is not None or "://" in wanted


def taken_down_notes(connection: Connection, most: int = 4) -> list[ListedNote]:
    """As `busiest_notes`, of those that X showed and shows no longer; none without a status history."""
    gone = "SELECT note FROM history WHERE $shown IN (first_status, latest_status) AND status <> $shown"
    return most_rated(connection, gone, {"shown": NoteStatus.HELPFUL.value}, most)


def explain_story(story: Story, thresholds: Thresholds) -> StoryText:
    """Return the story for a person who reads the news and has never rated a note."""
    score = story.score
    no_score = "We cannot show how its score came about." if story.levels.n else ""
    return StoryText(
        beginning=_write_beginning(story),
        quotation=f"“{' '.join(without_urls(story.text).split())}”" if story.text else "",
        score=_describe_score(score, thresholds) if score else no_score,
        ratings=_describe_rating_levels(story),
        sides=_describe_sides(score.now) if score else "",
        uncounted=_describe_uncounted(score.now) if score else "",
        changes=_describe_changes(score.changes) if score else "",
        first=_compare_first_with_all(score.first, score.now)
        if score and score.first and story.levels.n > FIRST_RATINGS
        else "",
        held=score.held if score and score.now.intercept is not None else "",
        on_x=f"{_describe_record_on_x(story.on_x)} {_describe_forecast(story)}".strip(),
        differs=why_differs(story.on_x, score.now) if score and _is_different_on_x(story.on_x, score.now) else "",
    )


def _write_beginning(story: Story) -> str:
    if not story.text:
        return "The note is gone from the public data; its ratings are still there." if story.levels.n else ""
    when = f" on {day(story.written_at)}" if story.written_at else ""
    after = ""
    if story.written_at and story.posted_at and story.written_at > story.posted_at:
        after = f", {_format_duration((story.written_at - story.posted_at).total_seconds())} after the post"
    who = "An AI writer" if story.by_ai else "A contributor"
    how = ""
    if story.collaborative:
        who, how = "X's own AI", ", from what contributors asked for and suggested"
    return f"{who} wrote this note{when}{after}{how}:"


def _describe_rating_levels(story: Story) -> str:
    levels = story.levels
    if not levels.n:
        return "The index has no rating of it."
    return (
        "{people} rated it: {helpful:,} helpful, {somewhat:,} somewhat helpful, {not_helpful:,} not helpful."
    ).format(
        people=plural(levels.n, "{n:,} person", "{n:,} people"),
        helpful=levels.helpful,
        somewhat=levels.somewhat,
        not_helpful=levels.not_helpful,
    )


def _describe_uncounted(now: Moment) -> str:
    """Return which ratings do not count, and why."""
    others = []
    if now.unknown.n:
        others.append(
            f"{plural(now.unknown.n, '1 rating does', '{n:,} ratings do')} not count, as we do not know the side: too "
            "few ratings, or too many against the crowd."
        )
    if now.left_out.n:
        others.append(
            f"{plural(now.left_out.n, '1 rating does', '{n:,} ratings do')} not count: X's Core model leaves out some "
            "groups of raters."
        )
    return " ".join(others)


def _describe_sides(now: Moment) -> str:
    """Return whether people who usually disagree agree on it."""
    if min(now.minus.n, now.plus.n) < _MIN_SIDE_RATINGS:
        return (
            f"Of those who count, {now.minus.n} are on side A and {now.plus.n} on side B: too few to say "
            "whether people who usually disagree agree on it."
        )
    shares = now.minus.helpful / now.minus.n, now.plus.helpful / now.plus.n
    figures = (
        f"{shares[0]:.0%} of {now.minus.n:,} on side A and {shares[1]:.0%} of {now.plus.n:,} on side B found it helpful"
    )
    poor = now.minus.not_helpful / now.minus.n, now.plus.not_helpful / now.plus.n
    few_against = max(poor) < _MAX_SHARE_AGAINST
    if abs(shares[0] - shares[1]) >= _MIN_DISAGREEMENT and not few_against:
        return f"People who usually disagree disagreed on it too: {figures}."
    if min(shares) > 0.5:
        return f"People who usually disagree both liked it: {figures}."
    if few_against:
        return (
            f"People who usually disagree both found it at least somewhat helpful: {figures}, {poor[0]:.0%} "
            f"and {poor[1]:.0%} not helpful; somewhat helpful counts half."
        )
    return f"Neither side liked it much: {figures}."


def _describe_score(of_score: ScoreStory, thresholds: Thresholds) -> str:
    now = of_score.now
    if now.intercept is None:
        return "It has no score: we know the side of too few of its raters."
    line = thresholds.helpful_intercept
    score, needed = in_figures(now.intercept, line), in_figures(line, line)
    verdict = (
        f"Its score is {score}; {needed} is needed to be shown. It counts agreement across sides, not votes. "
        f"By these ratings it would be {now.status.as_text}."
    )
    # Where only the score is too low, the two numbers are the reason; else a rule keeps it from being shown.
    short = now.decided_by is RuleName.INITIAL and now.intercept < line
    if now.status is NoteStatus.NOT_HELPFUL:
        return f"{verdict} {now.why}"
    if short or now.status is NoteStatus.HELPFUL:
        return f"{verdict} {of_score.not_sunk}".strip()
    return " ".join(filter(None, (verdict, now.why_besides_score, of_score.not_sunk)))


def _describe_changes(changes: tuple[Change, ...]) -> str:
    if not changes:
        return ""
    described = [
        f"on {day(one.at)}, with {plural(one.ratings, '1 rating', '{n:,} ratings')}, {_describe_change(one)} "
        f"({_lowercase_sentences(one.why)})"
        for one in changes
    ]
    if len(described) > _MAX_LISTED_CHANGES:
        first, last = described[0], described[-1]
        times = f"its status changed {len(described):,} times"
        return f"By the ratings as they came in, {times}: first {first}; and last {last}."
    return f"By the ratings as they came in: {'; '.join(described)}."


def _compare_first_with_all(first: Moment, now: Moment) -> str:
    if first.intercept is None or now.intercept is None:
        return ""
    early, late = (one.minus.helpful + one.plus.helpful + one.unknown.helpful for one in (first, now))
    found = (
        f"Of the first {FIRST_RATINGS} people {early:,} found it helpful; of the {now.ratings - FIRST_RATINGS:,} after "
        f"them, {late - early:,}."
    )
    score = f"{found} After its first {FIRST_RATINGS} ratings the score was {first.intercept:.2f}"
    if first.status is now.status:
        return f"{score} and the status the same."
    return f"{score} and the status another: {first.status.as_text}."


def _describe_change(one: Change) -> str:
    was_shown = one.before is NoteStatus.HELPFUL and one.after is NoteStatus.NEEDS_MORE_RATINGS
    return "it was taken down and waits for more ratings again" if was_shown else _CHANGE_TEXT_BY_STATUS[one.after]


def _lowercase_sentences(sentences: str) -> str:
    """Join sentences for use inside another: "its score is below 0.40; …"."""
    return "; ".join(f"{part[0].lower()}{part[1:]}" for part in sentences.removesuffix(".").split(". ") if part)


def _is_different_on_x(on_x: tuple[Recorded, ...], now: Moment) -> bool:
    """Return whether what X recorded, at any time, is not what our reckoning says of then or of now."""
    then = any(one.recomputed is not None and one.recomputed.status != one.status for one in on_x)
    return then or bool(on_x and on_x[-1].status != now.status)


def why_differs(on_x: tuple[Recorded, ...], now: Moment) -> str:
    """Return what the data says of the difference, and then why the two can differ at all."""
    last, reasons = on_x[-1], []
    if last.event == "lock":
        reasons.append(f"X locked its status on {day(last.at)}: later ratings change nothing there.")
    then = last.recomputed
    if then is not None and then.status == last.status and now.ratings > then.ratings:
        reasons.append(
            f"By the {then.ratings:,} ratings until then we come to the same as X; the "
            f"{now.ratings - then.ratings:,} since then changed that here."
        )
    reasons += [_explain_decision(one.decided_by) for one in on_x if one.decided_by][-1:]
    return " ".join([*filter(None, reasons), WHY_X_DIFFERS])


def _explain_decision(decided_by: str) -> str:
    """Who decided at X, where it was not the model that is run here; "" where it was, or is not known."""
    name = decided_by.split(" (", maxsplit=1)[0]
    if name in ("", _CORE_MODEL):
        return ""
    if name in _REASON_BY_RULE_OF_X:
        return _REASON_BY_RULE_OF_X[name]
    if "Model" in name:
        return f"At X another model decided: {decided_by}."
    return f"At X a rule decided that we do not know: {decided_by}."


def _describe_record_on_x(on_x: tuple[Recorded, ...]) -> str:
    verdicts = [one for one in on_x if one.event == "verdict"]
    if not on_x:
        return ""
    if not verdicts:
        return "X never gave it a verdict."
    first, last = verdicts[0], on_x[-1]
    if last.status == first.status:
        return f"X recorded it as {first.as_text} on {day(first.at)}."
    return f"X recorded it as {first.as_text} on {day(first.at)}, and as {last.as_text} since {day(last.at)}."


def _describe_forecast(story: Story) -> str:
    if story.foreseen_at is None:
        return ""
    return (
        f"X foresaw from early ratings, on {day(story.foreseen_at)}, that it would be shown. Such a forecast "
        "holds for up to 12 hours."
    )


def _find_note(connection: Connection, wanted: str) -> int:
    matched = _NUMBER_OR_LINK.fullmatch(wanted.strip())
    number = int(matched["number"]) if matched else 2**63
    if matched is None or number >= 2**63:
        raise InputError(f"“{wanted[:60]}” is no note or post.", "Give a note's id, or a post's id or address.")
    is_note = "SELECT count(*) FROM {} WHERE note = ?"
    if matched["kind"] in (None, "n") and any(
        how_many(connection, is_note.format(table), number) for table in ("notes", "history", "ratings")
    ):
        return number
    row = connection.execute(
        """
        SELECT note FROM notes LEFT JOIN (SELECT note, count(*) AS n FROM ratings GROUP BY note) USING (note)
        WHERE post = ? ORDER BY n DESC NULLS LAST, note LIMIT 1
        """,
        [number],
    ).fetchone()
    if row is None:
        raise InputError(f"Note or post {number} is not in the index.", "Check the number, or add newer files.")
    return int(row[0])


def _load_notes_of_post(connection: Connection, post: int | None) -> tuple[NoteOfPost, ...]:
    rows = connection.execute(
        """
        WITH theirs AS (SELECT * FROM notes WHERE post = $post),
        rated AS (SELECT note, count(*) AS n FROM ratings SEMI JOIN theirs USING (note) GROUP BY note)
        SELECT theirs.note, theirs.written, text, coalesce(history.status, ''), coalesce(n, 0),
            coalesce(scores.status, '')
        FROM theirs LEFT JOIN history USING (note) LEFT JOIN rated USING (note) LEFT JOIN scores USING (note)
        ORDER BY theirs.written, theirs.note
        """,
        {"post": post},
    ).fetchall()
    return tuple(
        NoteOfPost(
            note=note,
            written_at=_convert_ms_unless_none(written),
            text=_decode_text(text),
            status=status,
            ratings=n,
            by_ratings=by,
        )
        for note, written, text, status, n, by in rows
    )


def _count_levels(connection: Connection, note: int) -> tuple[Levels, int]:
    """Return all ratings of the note by level, and how many have no time."""
    row = connection.execute(
        """
        SELECT count(*) FILTER (level = 2), count(*) FILTER (level = 1), count(*) FILTER (level = 0),
            count(*) FILTER (rated IS NULL)
        FROM ratings WHERE note = ?
        """,
        [note],
    ).fetchone() or (0, 0, 0, 0)
    return Levels(helpful=row[0], somewhat=row[1], not_helpful=row[2]), row[3]


def _is_ai(connection: Connection, author: int | None) -> bool | None:
    row = connection.execute("SELECT state FROM people WHERE rater = ?", [author]).fetchone()
    return None if row is None else str(row[0]).startswith("api")


def _decode_text(text: str | None) -> str:
    return x_storage_form(text or "")


def _convert_ms_unless_none(ms: int | None) -> datetime | None:
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)


def _format_duration(seconds: float) -> str:
    hours = seconds / 3600
    if hours < 2:
        return plural(max(1, round(seconds / 60)), "{n} minute", "{n} minutes")
    return f"{round(hours)} hours" if hours < 48 else f"{round(hours / 24)} days"
