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
import pyarrow as pa
from pydantic import Field

from crowdnotes.bridging.columns import NOT_HELPFUL_TAGS
from crowdnotes.bridging.public_files import Progress
from crowdnotes.bridging.scoring import FrozenRaters, locate
from crowdnotes.bridging.statuses import RULE_NAMES, STATUSES
from crowdnotes.crowd.fitting import Statuses, fitted, statuses
from crowdnotes.crowd.loading import Loaded, load_folder
from crowdnotes.domain import Noun
from crowdnotes.errors import InputError
from crowdnotes.public_data.database import TAGS, Connection, columns, how_many, writing
from crowdnotes.public_data.posts import LAST_LOAD, make_posts
from crowdnotes.settings import BridgingSettings
from crowdnotes.wording import say

_MANY = 1.05  # times the ratings of the last fit; a twentieth more moves its raters by less than they err


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

    not_run: why there is none, "" if there is. dropped: ratings that did not count, by reason. statuses: how many notes
    have each by the fit; on_x: of how many X recorded one too, and as_on_x of how many the same. shown_at: how many
    the rules would show with another line for the score, the line first.
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
    statuses: dict[str, int] = Field(default_factory=dict)
    on_x: int = 0
    as_on_x: int = 0
    shown_at: tuple[tuple[float, int], ...] = ()


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
        before = how_many(connection, LAST_LOAD)
        loaded = load_folder(connection, data, round(now.timestamp() * 1000), progress)
        make_posts(connection, before)
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
        return FitReport(not_run=say("surges.no_ratings"))
    try:
        raters, scores, said = _fit(connection, settings, now, ratings)
    except InputError as error:
        return FitReport(not_run=str(error), of_ratings=ratings)
    connection.begin()
    try:
        connection.execute("DELETE FROM raters; DELETE FROM scores; DELETE FROM fits;")
        for table, rows in (("raters", raters), ("scores", scores)):
            connection.register("found", rows)
            connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM found")
            connection.unregister("found")
        said = said.model_copy(update=_compared(connection))
        connection.execute("INSERT INTO fits VALUES (?)", [said.model_dump_json()])
        connection.commit()
    except BaseException:
        connection.rollback()
        raise
    return said


def _compared(connection: Connection) -> dict[str, Any]:
    """How many notes have each status by the fit, and how many of those with one on X have the same there."""
    told = connection.execute("SELECT status, count(*) FROM scores GROUP BY status ORDER BY status").fetchall()
    both = "FROM scores JOIN history USING (note) WHERE history.status <> ''"
    return {
        "statuses": dict(told),
        "on_x": how_many(connection, f"SELECT count(*) {both}"),
        "as_on_x": how_many(connection, f"SELECT count(*) {both} AND scores.status = history.status"),
    }


def last_fit(connection: Connection) -> FitReport:
    """What the last fit said of itself."""
    row = connection.execute("SELECT said FROM fits").fetchone()
    if row is not None:
        return FitReport.model_validate(json.loads(row[0]))
    some = how_many(connection, "SELECT count(*) FROM (SELECT 1 FROM ratings LIMIT 1)")
    return FitReport(not_run=say("surges.few_ratings" if some else "surges.no_ratings"))


_INCORRECT = 1 << TAGS.index("notHelpfulIncorrect")
_COMPLAINTS = sum(1 << TAGS.index(tag) for tag in NOT_HELPFUL_TAGS)
_USUAL = """
SELECT rater, avg((tags & $incorrect <> 0)::INTEGER) AS usual FROM ratings WHERE tags & $complaints <> 0
GROUP BY rater ORDER BY rater
"""


def _fit(
    connection: Connection, settings: BridgingSettings, now: datetime, of_ratings: int
) -> tuple[pa.Table, pa.Table, FitReport]:
    """The fitted raters and the scored notes, as their tables, and what the fit says of itself."""
    fit = fitted(connection, of_ratings, settings)
    raters = FrozenRaters.of(fit.found.fit)
    known = columns(connection, _USUAL, {"incorrect": _INCORRECT, "complaints": _COMPLAINTS})
    place, complained = locate(raters.ids, known["rater"])
    usual = np.where(complained, known["usual"][place], 0.0) if len(known["rater"]) else np.zeros(len(raters.ids))
    found = statuses(connection, fit, usual, settings)
    said = FitReport(
        made_at=now.astimezone(UTC),
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
        _scores(found),
        said,
    )


def _scores(found: Statuses | None) -> pa.Table:
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
