"""Index a folder of public data, fit its raters, and give every note a status by that fit.

The fit is kept until there are many new ratings: a note's story holds its raters fixed, as the scorer's final round
does, so a day's new files cost no new fit. Two hundred million ratings fit into memory once, as twelve bytes each: the
fit gets them sorted by note, and everything else reads the notes in parts of a few million ratings.
"""

from __future__ import annotations

import itertools
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from crowdnotes.bridging.columns import DAY_MS, NOT_HELPFUL_TAGS, TABLES
from crowdnotes.bridging.model import (
    DROPPED_GROUP_RATINGS,
    Floats,
    Indices,
    ManySignals,
    NoteStatus,
    RatingTable,
    SideParameters,
    Singles,
    Whole,
)
from crowdnotes.bridging.note_signals import (
    MIN_NOTES_WITH_BUSY_RATERS,
    VOLUME_DAYS,
    FactorScale,
    gather_signals,
    mask_busiest,
    with_tag_lines,
)
from crowdnotes.bridging.public_files import Progress
from crowdnotes.bridging.public_scoring import (
    CORE_GROUPS,
    DROPPED_EARLY_RATINGS,
    NEVER,
    NOT_MISLEADING_UNTIL_MS,
    FittedRaters,
    NoteFacts,
    RatersTaken,
    final_scores,
    fit_raters,
    mask_early_not_misleading,
    those_that_count,
)
from crowdnotes.bridging.ratings import Ratings
from crowdnotes.bridging.rules import RULE_NAMES, STATUSES, decide_all
from crowdnotes.bridging.scoring import FrozenRaters, ScoredNotes, locate
from crowdnotes.bridging.thresholds import Thresholds
from crowdnotes.domain import FrozenModel
from crowdnotes.errors import InputError
from crowdnotes.public_data.database import TAGS, Connection, columns, how_many, writing
from crowdnotes.public_data.loading import Loaded, load_folder
from crowdnotes.public_data.posts import LAST_LOAD, make_posts
from crowdnotes.public_data.sample_data import make_public_data
from crowdnotes.settings_sections import RatersWanted

_NO_RATINGS = "The index has no ratings. Add the ratings files."
_MAX_RATINGS_PER_PART = 2_000_000
_MADE_UP_NOTES, _MADE_UP_RATINGS = 1_000, 40_000
_OTHER_LINE_OFFSET = 0.05  # between the line for the score and the two that it is compared with
Part = tuple[slice, Indices, Indices, dict[str, npt.NDArray[Any]]]


@dataclass(frozen=True)
class Fitted:
    """What a fit found. dropped: ratings that do not count, by reason. busy: ids of the busiest raters.

    notes, counts: the notes that can be scored, and how many ratings each has. by_group: whether some raters are left
    out by their groups.
    """

    found: FittedRaters
    dropped: dict[str, int]
    busy: Whole
    notes: Whole
    counts: Whole
    by_group: bool


def raters_by(connection: Connection, thresholds: Thresholds) -> RatersWanted:
    """Whose ratings count: Core's raters, if they are wanted and the index knows any group; else all."""
    known = "SELECT count(*) FROM (SELECT 1 FROM people WHERE modeling_group IS NOT NULL LIMIT 1)"
    wanted = thresholds.raters is RatersWanted.CORE and how_many(connection, known) > 0
    return RatersWanted.CORE if wanted else RatersWanted.ALL


# A group that is not known (NULL) is none of Core's; who is not enrolled is taken (see `core_raters`).
LEFT_OUT_SQL = f"(modeling_group IN {CORE_GROUPS}) IS NOT TRUE"


def fitted(connection: Connection, of_ratings: int, thresholds: Thresholds) -> Fitted:
    """Fit the raters over the ratings of the index that count. Raises InputError when none are left after the filter.

    Makes the table `outside` of the raters whose ratings do not count.
    """
    by = raters_by(connection, thresholds)
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE outside AS SELECT rater FROM people WHERE {LEFT_OUT_SQL} AND ?",
        [by is RatersWanted.CORE],
    )
    notes, counts = _find_rated_notes(connection, thresholds.min_raters_per_note)
    few = of_ratings - int(counts.sum())
    dropped = {f"ratings of notes with under {thresholds.min_raters_per_note} raters": few} if few else {}
    facts = _load_note_facts(connection, notes)
    early = mask_early_not_misleading(facts)
    if early is not None and early.any():
        dropped[DROPPED_EARLY_RATINGS] = int(counts[early].sum())
        notes, counts, facts = notes[~early], counts[~early], facts.keep(np.flatnonzero(~early))
    ratings, filtered = _gather_fit_data(connection, notes, counts, dropped, thresholds)
    of_theirs = facts.keep(np.searchsorted(notes, ratings.table.note_ids))
    busy = _find_busiest_raters(connection, thresholds)
    lost = dict(Counter(dropped) + Counter(filtered))
    return Fitted(fit_raters(ratings, of_theirs, thresholds), lost, busy, notes, counts, by is RatersWanted.CORE)


def _gather_fit_data(
    connection: Connection, notes: Whole, counts: Whole, dropped: dict[str, int], thresholds: Thresholds
) -> tuple[Ratings, dict[str, int]]:
    """Return the ratings that enter the fit, and how many did not, by reason.

    In a function of its own, so that nothing else of all ratings is kept while they are fitted.
    """
    raters = columns(connection, "SELECT DISTINCT rater FROM ratings ANTI JOIN outside USING (rater) ORDER BY rater")[
        "rater"
    ]
    size = int(counts.sum())
    note, rater = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    helpful, rated = np.empty(size, dtype=np.float32), np.empty(size, dtype=np.int64)
    at = 0
    for few, place, who, rows in _read_rating_parts(
        connection, notes, counts, raters, "level, coalesce(rated, 0) AS rated"
    ):
        mine = who < len(raters)
        cut = slice(at, at + int(np.count_nonzero(mine)))
        note[cut], rater[cut] = place[mine] + few.start, who[mine]
        helpful[cut], rated[cut] = rows["level"][mine] / 2, rows["rated"][mine]
        at = cut.stop
    left_out = {DROPPED_GROUP_RATINGS: size - at} if at < size else {}
    table = RatingTable(notes, raters, note[:at], rater[:at], helpful[:at])
    ratings, filtered = those_that_count(Ratings(table, True, dropped | left_out, rated[:at]), thresholds)
    return ratings, left_out | filtered


def _find_busiest_raters(connection: Connection, thresholds: Thresholds) -> Whole:
    """Return the ids of the busiest, of all raters and ratings; see `high_volume_raters`."""
    counted = (
        "ratings ANTI JOIN (SELECT note FROM notes LEFT JOIN history USING (note) WHERE NOT misleading"
        f" AND coalesce(notes.written, history.written, 0) <= {NOT_MISLEADING_UNTIL_MS}) USING (note)"
    )
    if how_many(connection, f"SELECT count(DISTINCT note) FROM {counted}") < MIN_NOTES_WITH_BUSY_RATERS:
        return np.zeros(0, dtype=np.int64)
    end = how_many(connection, f"SELECT coalesce(max(rated), 0) FROM {counted}")
    found = []
    for days in VOLUME_DAYS:
        recent = columns(
            connection,
            f"SELECT rater, count(*) AS n FROM {counted} WHERE coalesce(rated, 0) > ? GROUP BY rater",
            [end - days * DAY_MS],
        )
        found.append(recent["rater"][mask_busiest(recent["n"], thresholds)])
    return np.unique(np.concatenate(found))


def _load_note_facts(connection: Connection, notes: Whole) -> NoteFacts:
    connection.register("wanted", pa.table({"note": notes}))
    facts = columns(
        connection,
        """
        SELECT coalesce(notes.misleading, true) AS misleading, coalesce(notes.written, history.written, 0) AS written,
            coalesce(notes.author, history.author, 0) AS author, coalesce(history.latest_at, ?) AS latest,
            coalesce(history.status, '') = ? AS shown
        FROM wanted LEFT JOIN notes USING (note) LEFT JOIN history USING (note) ORDER BY wanted.note
        """,
        [NEVER, NoteStatus.HELPFUL.value],
    )
    connection.unregister("wanted")
    return NoteFacts(facts["misleading"], facts["written"], facts["author"], facts["shown"], facts["latest"])


def _find_rated_notes(connection: Connection, least: int) -> tuple[Whole, Whole]:
    """Return the notes with so many ratings, sorted, and how many each has."""
    rows = columns(
        connection, "SELECT note, count(*) AS n FROM ratings GROUP BY note HAVING n >= ? ORDER BY note", [least]
    )
    return rows["note"], rows["n"]


def _read_rating_parts(
    connection: Connection, notes: Whole, counts: Whole, raters: Whole, wanted: str
) -> Iterator[Part]:
    """Yield the ratings of the notes, a few million at once: by note, and of each note by rater.

    Each part holds its notes, and for each rating the note's place among these, the rater's place in `raters` (their
    number for one who is not there, and one more for one who is in `outside`), and the columns wanted.
    """
    connection.register("block", pa.table({"rater": raters, "place": np.arange(len(raters), dtype=np.int32)}))
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE places AS SELECT * FROM block UNION ALL SELECT rater, ?::INTEGER FROM outside",
        [len(raters) + 1],
    )
    connection.unregister("block")
    ends = counts.cumsum()
    cuts = np.searchsorted(ends, np.arange(0, ends[-1:].sum(), _MAX_RATINGS_PER_PART)).tolist()
    for first, last in itertools.pairwise([*sorted(set(cuts)), len(notes)]):
        part = slice(first, last)
        rows = columns(
            connection,
            f"""
            SELECT note, coalesce(place, {len(raters)})::INTEGER AS place, {wanted}
            FROM ratings LEFT JOIN places USING (rater) WHERE note BETWEEN ? AND ?
            """,
            [int(notes[first]), int(notes[last - 1])],
        )
        place, known = locate(rows.pop("note"), notes[part])
        key = np.where(known, place * (len(raters) + 2) + rows["place"], NEVER)
        order = np.argsort(key)[: np.count_nonzero(known)]
        yield part, place[order].astype(np.int32), rows.pop("place")[order], {n: rows[n][order] for n in rows}


@dataclass(frozen=True)
class Statuses:
    """Of every note with enough ratings, (n,) each: intercept, factor, and places in STATUSES and RULE_NAMES.

    shown_at: how many notes the rules would show with another line for the score, the line first. The rest is what the
    rules on tags compared notes with; see `TagScale`.
    """

    notes: Whole
    intercepts: Floats
    factors: Floats
    status: npt.NDArray[np.uint8]
    decided: npt.NDArray[np.uint8]
    scale: FactorScale
    half: float
    lines: dict[str, float] | None
    shown_at: tuple[tuple[float, int], ...]


def statuses(connection: Connection, fit: Fitted, usual: Floats, thresholds: Thresholds) -> Statuses | None:
    """Score every note by the raters of the fit, and decide; None where no rating is by one of them.

    usual (u,): of each rater's complaints the share that says "incorrect".
    """
    raters = FrozenRaters.of(fit.found.fit)
    scored, scale, distances = _score_all_notes(connection, fit, raters, thresholds)
    if not len(distances):
        return None
    half = float(np.percentile(distances, thresholds.tag_distance_percentile, overwrite_input=True))
    del distances
    many = _gather_signals(connection, fit, raters, usual, scored, scale, half, thresholds)
    helpful = np.isin(fit.notes, fit.found.helpful_before)
    many = with_tag_lines(many, helpful, thresholds)
    status, decided = decide_all(many, thresholds)
    shown = [(line, _count_shown(many, line, thresholds)) for line in other_lines(thresholds)]
    return Statuses(fit.notes, many.intercept, many.factor, status, decided, scale, half, many.tag_lines, tuple(shown))


def other_lines(thresholds: Thresholds) -> tuple[float, float]:
    """Return what the line from which a note is shown is compared with."""
    return thresholds.helpful_intercept - _OTHER_LINE_OFFSET, thresholds.helpful_intercept + _OTHER_LINE_OFFSET


def _count_shown(many: ManySignals, line: float, thresholds: Thresholds) -> int:
    status, _ = decide_all(many, replace(thresholds, helpful_intercept=line))
    return int(np.count_nonzero(status == STATUSES.index(NoteStatus.HELPFUL)))


def _score_all_notes(
    connection: Connection, fit: Fitted, raters: FrozenRaters, thresholds: Thresholds
) -> tuple[ScoredNotes, FactorScale, Singles]:
    """Return all notes' scores, the scale of factors, and each rating's distance on it where both sides are known."""
    parts = [
        (final_scores(ratings.table, raters, thresholds), *_select_known_ratings(ratings.table, raters))
        for _, ratings in _read_rating_tables(connection, fit, raters, "level")
    ]
    found = [scored.notes for scored, _, _ in parts]
    notes = SideParameters(
        fit.notes, np.concatenate([one.intercepts for one in found]), np.concatenate([one.factors for one in found])
    )
    scored = ScoredNotes(notes, np.concatenate([scored.upper_bounds for scored, _, _ in parts]))
    scale = FactorScale.of(notes.factors[:, 0], raters.factors)
    distances = [
        scale.distance(one.notes.factors[place, 0], factors.astype(np.float64)).astype(np.float32)
        for one, place, factors in parts
    ]
    together = np.concatenate(distances)
    return scored, scale, together[np.isfinite(together)]


def _select_known_ratings(table: RatingTable, raters: FrozenRaters) -> tuple[Indices, Singles]:
    """Return the ratings by raters of the fit: each one's note, and the rater's factor."""
    known = table.rater < len(raters.ids)
    return table.note[known], raters.factors[table.rater[known]].astype(np.float32)


def _gather_signals(
    connection: Connection,
    fit: Fitted,
    raters: FrozenRaters,
    usual: Floats,
    scored: ScoredNotes,
    scale: FactorScale,
    half: float,
    thresholds: Thresholds,
) -> ManySignals:
    """Return what the rules look at, of all notes; the tags' lines are not among it."""
    facts = _load_note_facts(connection, fit.notes)
    # Besides the raters of the fit all others are one, and so are those who are left out.
    busy, usual = np.append(np.isin(raters.ids, fit.busy), [True, True]), np.append(usual, [0.0, 0.0])
    parts: list[ManySignals] = []
    at = 0
    wanted = "level, tags, coalesce(sampled, false) AS sampled"
    for everything, counting in _read_rating_tables(connection, fit, raters, wanted):
        rows = slice(at, at + len(counting.table.note_ids))
        at = rows.stop
        of_these = facts.keep(rows)
        parts.append(
            gather_signals(
                everything,
                counting,
                scored.keep(rows),
                raters,
                thresholds,
                misleading=of_these.misleading,
                was_helpful=of_these.was_helpful,
                usual=usual,
                busy=busy,
                by_group=fit.by_group,
                scale=scale,
                half=half,
            )
        )
    return ManySignals.joined(parts)


def _read_rating_tables(
    connection: Connection, fit: Fitted, raters: FrozenRaters, wanted: str
) -> Iterator[tuple[Ratings, Ratings]]:
    """Yield the ratings in parts, with what is wanted of tags and `sampled`: all of them, and those that count.

    Their raters are those of the fit, one for all others, and one for those who are left out.
    """
    ids = np.append(raters.ids, [NEVER, NEVER])
    for part, place, who, rows in _read_rating_parts(connection, fit.notes, fit.counts, raters.ids, wanted):
        table = RatingTable(fit.notes[part], ids, place, who, (rows["level"] / 2).astype(np.float32))
        tags = {tag: rows["tags"] >> n & 1 == 1 for n, tag in enumerate(TAGS)} if "tags" in rows else {}
        everything, counts = Ratings(table, True, {}, None, tags, rows.get("sampled")), who <= len(raters.ids)
        yield everything, everything if counts.all() else everything.only(counts)


_REFIT_GROWTH = 1.05  # times the ratings of the last fit; a twentieth more moves its raters by less than they err


class TagScale(FrozenModel):
    """What the rules on tags compare a note with: the factors of all notes and raters, and tags on helpful notes.

    half: the distance at which a rater's tags count half. lines: per tag the share that is unusual; None where no note
    was found helpful.
    """

    note_mean: float
    note_spread: float
    rater_mean: float
    rater_spread: float
    half: float
    lines: dict[str, float] | None


class FitReport(FrozenModel):
    """A fit of the index. of_ratings: how many the index had; ratings: how many of them count after the filter.

    not_run: why there is none, "" if there is. whose: the raters who count. dropped: ratings that did not count, by
    reason. statuses: how many notes have each by the fit; on_x: of how many X recorded one too, and as_on_x of how
    many the same. shown_at: how many the rules would show with another line for the score, the line first.
    """

    not_run: str = ""
    made_at: datetime | None = None
    whose: RatersTaken | None = None
    of_ratings: int = 0
    ratings: int = 0
    notes: int = 0
    raters: int = 0
    global_intercept: float = 0.0
    ratings_per_note: float = 0.0
    dropped: dict[str, int] = Field(default_factory=dict)
    notices: tuple[str, ...] = ()
    tags: TagScale | None = None
    statuses: dict[str, int] = Field(default_factory=dict)
    on_x: int = 0
    as_on_x: int = 0
    shown_at: tuple[tuple[float, int], ...] = ()


class IndexReport(FrozenModel):
    """What an indexing came to. totals: what the index now holds, by name."""

    loaded: Loaded
    fit: FitReport
    totals: dict[str, int]
    seconds: float


def index_folder(
    data: Path,
    index: Path,
    thresholds: Thresholds,
    now: datetime,
    progress: Progress | None = None,
    *,
    fit_anew: bool = False,
) -> IndexReport:
    """Add what is new in a folder of public data to the index, which is made where there is none.

    progress is called with a table's name and its rows so far, and ends the work by raising; finished files stay.
    Raises InputError for a folder without public data, and for an index that cannot be written.
    """
    began = time.perf_counter()
    with writing(index) as connection:
        before = how_many(connection, LAST_LOAD)
        try:
            loaded = load_folder(connection, data, round(now.timestamp() * 1000), progress)
        except BaseException:
            if not how_many(connection, LAST_LOAD):  # an empty index would look like one with data
                index.unlink()
            raise
        make_posts(connection, before)
        if progress:
            progress("scores", how_many(connection, "SELECT count(*) FROM ratings"))
        fit = fit_index(connection, thresholds, now, anew=fit_anew)
        totals = {
            name: how_many(connection, f"SELECT count({what}) FROM {table}")
            for name, what, table in (
                ("notes", "*", "notes"),
                ("posts", "*", "posts"),
                ("ratings", "*", "ratings"),
                ("notes with a status history", "*", "history"),
                ("people enrolled", "*", "people"),
            )
        }
    return IndexReport(loaded=loaded, fit=fit, totals=totals, seconds=time.perf_counter() - began)


def index_files(
    index: Path,
    thresholds: Thresholds,
    now: datetime,
    folder: Path | None,
    files: Sequence[tuple[str, bytes]],
    count: Callable[[int, int, str], None],
    *,
    made_up: bool = False,
) -> str:
    """Index a folder, files that a browser sent, or made-up data; return what the index then holds, in sentences.

    `count` gets how many of how many tables are read, and which one.
    """
    tables = [spec.name for spec in TABLES]

    def progress(table: str, rows: int) -> None:
        done = tables.index(table) if table in tables else len(tables)
        count(done, len(tables) + 1, f"{table}: {rows:,} rows")

    with tempfile.TemporaryDirectory() as place:
        data = folder or Path(place)
        for name, content in files:
            (data / Path(name).name).write_bytes(content)
        if made_up:
            make_public_data(data, notes=_MADE_UP_NOTES, ratings=_MADE_UP_RATINGS)
        report = index_folder(data, index, thresholds, now, progress)
    totals = f"{report.totals['notes']:,} notes and {report.totals['ratings']:,} ratings."
    return " ".join(filter(None, [totals, *report.loaded.problems, report.fit.not_run]))


def fit_index(connection: Connection, thresholds: Thresholds, now: datetime, *, anew: bool) -> FitReport:
    """Return the index's fit, made if there is none, if other raters or many new ratings count, or if asked for."""
    last = last_fit(connection)
    ratings = how_many(connection, "SELECT count(*) FROM ratings")
    of_the_same = last.whose is not None and last.whose.by is raters_by(connection, thresholds)
    if not anew and of_the_same and ratings < last.of_ratings * _REFIT_GROWTH:
        return last
    if not ratings:
        return FitReport(not_run=_NO_RATINGS)
    try:
        raters, scores, said = _fit_and_score(connection, thresholds, now, ratings)
    except InputError as error:
        return FitReport(not_run=str(error), of_ratings=ratings)
    connection.begin()
    try:
        connection.execute("DELETE FROM raters; DELETE FROM scores; DELETE FROM fits;")
        for table, rows in (("raters", raters), ("scores", scores)):
            connection.register("found", rows)
            connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM found")
            connection.unregister("found")
        said = said.replace(**_compare_with_x(connection))
        connection.execute("INSERT INTO fits VALUES (?)", [said.model_dump_json()])
        connection.commit()
    except BaseException:
        connection.rollback()
        raise
    return said


def _compare_with_x(connection: Connection) -> dict[str, Any]:
    """Return how many notes have each status by the fit, and how many of those with one on X have the same there."""
    counts = connection.execute("SELECT status, count(*) FROM scores GROUP BY status ORDER BY status").fetchall()
    both = "FROM scores JOIN history USING (note) WHERE history.status <> ''"
    return {
        "statuses": dict(counts),
        "on_x": how_many(connection, f"SELECT count(*) {both}"),
        "as_on_x": how_many(connection, f"SELECT count(*) {both} AND scores.status = history.status"),
    }


def last_fit(connection: Connection) -> FitReport:
    """Return what the last fit said of itself."""
    row = connection.execute("SELECT said FROM fits").fetchone()
    if row is not None:
        return FitReport.model_validate(json.loads(row[0]))
    some = how_many(connection, "SELECT count(*) FROM (SELECT 1 FROM ratings LIMIT 1)")
    return FitReport(not_run="The index has too few ratings for that. Add more days." if some else _NO_RATINGS)


_INCORRECT_BIT = 1 << TAGS.index("notHelpfulIncorrect")
_COMPLAINT_BITS = sum(1 << TAGS.index(tag) for tag in NOT_HELPFUL_TAGS)
_USUAL_RATES_SQL = """
SELECT rater, avg((tags & $incorrect <> 0)::INTEGER) AS usual FROM ratings WHERE tags & $complaints <> 0
GROUP BY rater ORDER BY rater
"""


def _fit_and_score(
    connection: Connection, thresholds: Thresholds, now: datetime, of_ratings: int
) -> tuple[pa.Table, pa.Table, FitReport]:
    """Return the fitted raters and the scored notes, as their tables, and what the fit says of itself."""
    fit = fitted(connection, of_ratings, thresholds)
    raters = FrozenRaters.of(fit.found.fit)
    known = columns(connection, _USUAL_RATES_SQL, {"incorrect": _INCORRECT_BIT, "complaints": _COMPLAINT_BITS})
    place, complained = locate(raters.ids, known["rater"])
    usual = np.where(complained, known["usual"][place], 0.0) if len(known["rater"]) else np.zeros(len(raters.ids))
    found = statuses(connection, fit, usual, thresholds)
    said = FitReport(
        made_at=now.astimezone(UTC),
        whose=_count_raters(connection, thresholds, by_group=fit.by_group),
        of_ratings=of_ratings,
        ratings=fit.found.fit.ratings,
        notes=len(fit.found.fit.notes),
        raters=len(raters.ids),
        global_intercept=raters.global_intercept,
        ratings_per_note=raters.ratings_per_note,
        dropped=fit.dropped,
        notices=fit.found.notices,
        tags=None if found is None else TagScale(**vars(found.scale), half=found.half, lines=found.lines),
        shown_at=() if found is None else found.shown_at,
    )
    of_raters = {"rater": raters.ids, "intercept": raters.intercepts, "factor": raters.factors}
    return (
        pa.table({**of_raters, "usual": usual, "busy": np.isin(raters.ids, fit.busy)}),
        _build_scores_table(found),
        said,
    )


def _count_raters(connection: Connection, thresholds: Thresholds, *, by_group: bool) -> RatersTaken:
    everybody = how_many(connection, "SELECT count(DISTINCT rater) FROM ratings")
    taken = how_many(connection, "SELECT count(DISTINCT rater) FROM ratings ANTI JOIN outside USING (rater)")
    return RatersTaken.counted(taken, everybody, thresholds.raters, by_group=by_group)


def _build_scores_table(found: Statuses | None) -> pa.Table:
    if found is None:
        return pa.table({"note": pa.array([], pa.int64())})
    shown, rules = [status.shown.value for status in STATUSES], [rule.value for rule in RULE_NAMES]
    return pa.table(
        {
            "note": found.notes,
            "intercept": pa.array(found.intercepts, from_pandas=True),
            "factor": pa.array(found.factors, from_pandas=True),
            "status": pa.array(shown).take(pa.array(found.status)),
            "decided_by": pa.array(rules).take(pa.array(found.decided)),
        }
    )
