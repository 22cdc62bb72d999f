"""A folder of public data into the index, and the raters' parameters fitted over all its ratings.

The fit is kept until there are many new ratings: a note's story holds its raters fixed, as the scorer's final round
does, and so a day's new files cost no new fit.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pydantic import Field

from crowdnotes.bridging.columns import NOT_HELPFUL_TAGS
from crowdnotes.bridging.model import RatingTable
from crowdnotes.bridging.note_signals import (
    FactorScale,
    View,
    half_distance,
    high_volume_raters,
    tag_aggregates,
    tag_lines,
)
from crowdnotes.bridging.public_data import Progress
from crowdnotes.bridging.public_scoring import FittedRaters, NoteFacts, final_scores, fit_raters
from crowdnotes.bridging.ratings import Ratings
from crowdnotes.bridging.scoring import FrozenRaters, locate
from crowdnotes.crowd.database import TAGS, Connection, columns, how_many, writing
from crowdnotes.crowd.loading import Loaded, load_folder
from crowdnotes.crowd.posts import make_posts
from crowdnotes.domain import Noun
from crowdnotes.errors import InputError
from crowdnotes.settings import BridgingSettings

_MANY = 1.05  # times the ratings of the last fit; a twentieth more moves its raters by less than they err
_NEVER = np.iinfo(np.int64).max
_NONE = "There are no ratings in the index."


class TagScale(Noun):
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


class FitReport(Noun):
    """A fit of the index. of_ratings: how many the index had; ratings: how many of them count after the filter.

    not_run: why there is none, "" if there is. dropped: ratings that did not count, by reason.
    """

    not_run: str = ""
    made_at: datetime | None = None
    of_ratings: int = 0
    ratings: int = 0
    notes: int = 0
    raters: int = 0
    global_intercept: float = 0.0
    ratings_per_note: float = 0.0
    dropped: dict[str, int] = Field(default_factory=dict)
    notices: tuple[str, ...] = ()
    tags: TagScale | None = None


class IndexReport(Noun):
    """What an indexing came to. totals: what the index now holds, by name."""

    loaded: Loaded
    fit: FitReport
    totals: dict[str, int]
    seconds: float


def index_folder(
    data: Path,
    index: Path,
    settings: BridgingSettings,
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
        loaded = load_folder(connection, data, round(now.timestamp() * 1000), progress)
        make_posts(connection)
        fit = fit_index(connection, settings, now, anew=fit_anew)
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


def fit_index(connection: Connection, settings: BridgingSettings, now: datetime, *, anew: bool) -> FitReport:
    """The fit of the index, made if there is none, if many ratings are new, or if it is asked for `anew`."""
    last = last_fit(connection)
    ratings = how_many(connection, "SELECT count(*) FROM ratings")
    if not anew and not last.not_run and ratings < last.of_ratings * _MANY:
        return last
    if not ratings:
        return FitReport(not_run=_NONE)
    try:
        raters, said = _fit(connection, settings, now, ratings)
    except InputError as error:
        return FitReport(not_run=str(error), of_ratings=ratings)
    connection.begin()
    try:
        connection.execute("DELETE FROM raters; DELETE FROM fits;")
        connection.register("fitted", raters)
        connection.execute(_INSERT_RATERS, {"incorrect": _INCORRECT, "complaints": _COMPLAINTS})
        connection.unregister("fitted")
        connection.execute("INSERT INTO fits VALUES (?)", [said.model_dump_json()])
        connection.commit()
    except BaseException:
        connection.rollback()
        raise
    return said


def last_fit(connection: Connection) -> FitReport:
    """What the last fit said of itself."""
    row = connection.execute("SELECT said FROM fits").fetchone()
    return FitReport.model_validate(json.loads(row[0])) if row else FitReport(not_run=_NONE)


_INCORRECT = 1 << TAGS.index("notHelpfulIncorrect")
_COMPLAINTS = sum(1 << TAGS.index(tag) for tag in NOT_HELPFUL_TAGS)
_INSERT_RATERS = """
INSERT INTO raters
SELECT fitted.rater, intercept, factor, coalesce(usual, 0), busy
FROM fitted LEFT JOIN (
    SELECT rater, avg((tags & $incorrect <> 0)::INTEGER) AS usual FROM ratings WHERE tags & $complaints <> 0
    GROUP BY rater
) USING (rater)
"""


def _fit(
    connection: Connection, settings: BridgingSettings, now: datetime, of_ratings: int
) -> tuple[pa.Table, FitReport]:
    """The fitted raters (rater, intercept, factor, busy), and what the fit says of itself."""
    ratings, facts = _gathered(connection, settings)
    found = fit_raters(ratings, facts, settings)
    few = of_ratings - len(ratings.table)
    lost = {f"ratings of notes with under {settings.min_raters_per_note} raters": few} if few else {}
    raters = FrozenRaters.of(found.fit)
    said = FitReport(
        made_at=now.astimezone(UTC),
        of_ratings=of_ratings,
        ratings=found.fit.ratings,
        notes=len(found.fit.notes),
        raters=len(found.fit.raters),
        global_intercept=found.fit.global_intercept,
        ratings_per_note=found.fit.ratings_per_note,
        dropped=lost | found.dropped,
        notices=found.notices,
        tags=_tag_scale(connection, found, raters, settings),
    )
    busiest = high_volume_raters(found.ratings, settings)
    busy = np.zeros(len(raters.ids), dtype=bool)
    if busiest is not None:
        place, known = locate(raters.ids, found.ratings.table.rater_ids)
        busy = known & busiest[place]
    columns_ = {"rater": raters.ids, "intercept": raters.intercepts, "factor": raters.factors, "busy": busy}
    return pa.table(columns_), said


def _tag_scale(
    connection: Connection, found: FittedRaters, raters: FrozenRaters, settings: BridgingSettings
) -> TagScale | None:
    """What the rules on tags need of all notes; None where no rating is by a rater of the fit."""
    table = found.ratings.table
    scored = final_scores(table, raters, settings)
    factors = scored.notes.factors[:, 0]
    scale = FactorScale.of(factors, raters.factors)
    view = View.on(scale, table, factors, raters)
    if not view.used.any():
        return None
    half = half_distance(view, settings)
    helpful = np.flatnonzero(found.helpful_before)
    lines = None
    if len(helpful):
        some, bits = _tagged(connection, table.note_ids[helpful])
        ratings = Ratings(
            some, True, {}, None, {tag: (bits >> TAGS.index(tag) & 1).astype(bool) for tag in NOT_HELPFUL_TAGS}
        )
        near = View.on(scale, some, factors[np.searchsorted(table.note_ids, some.note_ids)], raters)
        tags = tag_aggregates(ratings, near, settings, half)
        lines = tag_lines(tags[1], np.ones(len(some.note_ids), dtype=bool), settings) if tags else None
    return TagScale(**vars(scale), half=half, lines=lines)


def _tagged(connection: Connection, note_ids: npt.NDArray[np.int64]) -> tuple[RatingTable, npt.NDArray[np.int32]]:
    """The ratings of some notes, and their tags as bits (m,)."""
    connection.register("wanted", pa.table({"note": note_ids}))
    rows = columns(connection, "SELECT note, rater, level, tags FROM ratings SEMI JOIN wanted USING (note)")
    connection.unregister("wanted")
    return _rating_table(rows), rows["tags"]


def _rating_table(rows: dict[str, npt.NDArray[Any]]) -> RatingTable:
    """Ratings by note, rater and level; the columns are taken out of `rows`, so that they are not kept twice."""
    note, note_ids = pd.factorize(rows.pop("note"), sort=True)
    rater, rater_ids = pd.factorize(rows.pop("rater"), sort=True)
    helpful = (rows.pop("level") / 2).astype(np.float32)
    return RatingTable(note_ids, rater_ids, note.astype(np.int32), rater.astype(np.int32), helpful)


def _gathered(connection: Connection, settings: BridgingSettings) -> tuple[Ratings, NoteFacts]:
    """The ratings of notes that have enough of them, and what is known of these notes."""
    rows = columns(
        connection,
        """
        SELECT note, rater, coalesce(rated, 0) AS rated, level FROM ratings
        WHERE note IN (SELECT note FROM ratings GROUP BY note HAVING count(*) >= ?)
        """,
        [settings.min_raters_per_note],
    )
    table = _rating_table(rows)
    connection.register("wanted", pa.table({"note": table.note_ids}))
    facts = columns(
        connection,
        """
        SELECT coalesce(notes.misleading, true) AS misleading, coalesce(notes.written, history.written, 0) AS written,
            coalesce(notes.author, history.author, 0) AS author, coalesce(history.latest_at, ?) AS latest
        FROM wanted LEFT JOIN notes USING (note) LEFT JOIN history USING (note) ORDER BY wanted.note
        """,
        [_NEVER],
    )
    connection.unregister("wanted")
    of_notes = NoteFacts(facts["misleading"], facts["written"], facts["author"], None, facts["latest"])
    return Ratings(table, True, {}, rows["rated"]), of_notes
