"""The public data to statuses, as the scorer's Core model does it; what is not computed here `notices` name.

The raters whom Core takes, filter, first fit, provisional statuses, raters whom the crowd came to agree with, second
fit on theirs, notes scored with these raters frozen, rules.

The rules use what the notes table, the status history and the ratings say of each note, and its place among the
frozen raters. Raters enter the last fit whose early ratings the crowd came to agree with (the scorer's
helpfulness_scores.py; its penalty for harassment needs a model of its own and is not part).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from crowdnotes.bridging.columns import ENROLMENT, HISTORY, NOTES, ColumnKind, TableSpec
from crowdnotes.bridging.factorization import fit
from crowdnotes.bridging.model import (
    DROPPED_GROUP_RATINGS,
    Bools,
    Factorization,
    Ids,
    NoteStatus,
    RatingTable,
    StatusResult,
    filter_mask,
    nothing_left,
)
from crowdnotes.bridging.note_signals import gather_signals, high_volume_raters, usual_rates, with_tag_lines
from crowdnotes.bridging.public_files import column_names, found_table, read_column
from crowdnotes.bridging.ratings import Ratings, load_ratings
from crowdnotes.bridging.rules import decide
from crowdnotes.bridging.scoring import FrozenRaters, ScoredNotes, doubts, locate, score_notes
from crowdnotes.bridging.thresholds import THRESHOLDS, Thresholds
from crowdnotes.domain import Classification, FrozenModel
from crowdnotes.errors import InputError
from crowdnotes.settings_sections import RatersWanted
from crowdnotes.wording import fill

NOT_MISLEADING_UNTIL_MS = 1_664_755_200_000  # 2022-10-03: ratings on such notes until then are not used


NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class NoteFacts:
    """Facts of the notes of a rating table, (n,) each, in its order; None where the table with the fact is absent.

    Deleted notes are gone from the notes table but stay rated, and count as misleading; the status history says
    when and by whom they were written. created_at_ms: 0 where not known. authors: ids, None where not
    known. was_helpful: the status of the last run. status_at_ms: when a note last got a status, the largest
    integer if never.
    """

    misleading: npt.NDArray[np.bool_] | None
    created_at_ms: npt.NDArray[np.int64] | None
    authors: Ids | None
    was_helpful: npt.NDArray[np.bool_] | None
    status_at_ms: npt.NDArray[np.int64] | None

    def keep(self, rows: npt.NDArray[np.intp] | slice) -> NoteFacts:
        """Return the facts of some of the notes, by row number."""
        return NoteFacts(*(None if values is None else values[rows] for values in vars(self).values()))


def gather_facts(data: Path, note_ids: Ids) -> NoteFacts:
    """Read notes and status history under a folder (TSV, zipped or not, or our Parquet), as far as they are there.

    Raises InputError for tables whose ids are no whole numbers or come twice, and for ratings that name notes
    otherwise than the tables do: nothing would match, without a word.
    """
    notes = _load_note_columns(NOTES, data, note_ids, ("classification", "createdAtMillis", "noteAuthorParticipantId"))
    history = _load_note_columns(
        HISTORY,
        data,
        note_ids,
        ("currentStatus", "createdAtMillis", "noteAuthorParticipantId", "timestampMillisOfLatestNonNMRStatus"),
    )
    tables = [table for table in (notes, history) if table is not None]
    misleading = was_helpful = status_at = None
    if notes is not None:
        misleading = (notes["classification"] != Classification.NOT_MISLEADING.value).to_numpy(dtype=bool)
    if history is not None:
        was_helpful = (history["currentStatus"] == NoteStatus.HELPFUL.value).to_numpy(dtype=bool)
        if "timestampMillisOfLatestNonNMRStatus" in history:
            times = history["timestampMillisOfLatestNonNMRStatus"]
            status_at = times.where(times > 0).fillna(NEVER).to_numpy(dtype=np.int64)
    created = _coalesce_column(tables, "createdAtMillis")
    authors = _coalesce_column(tables, "noteAuthorParticipantId")
    return NoteFacts(
        misleading,
        None if created is None else created.fillna(0).to_numpy(dtype=np.int64),
        None if authors is None else authors.astype(object).where(authors.notna(), None).to_numpy(dtype=object),
        was_helpful,
        status_at,
    )


def _coalesce_column(tables: list[pd.DataFrame], name: str) -> pd.Series | None:
    """Return a column from the first table that knows it, note by note."""
    found: pd.Series | None = None
    for table in tables:
        if name in table:
            found = table[name] if found is None else found.where(found.notna(), table[name])
    return found


def _load_note_columns(spec: TableSpec, data: Path, note_ids: Ids, wanted: tuple[str, ...]) -> pd.DataFrame | None:
    """Return the wanted columns of the notes asked for, in their order; None where there is no such table."""
    with found_table(spec, data) as found:
        if found is None:
            return None
        if len(note_ids) and note_ids.dtype == object:
            raise InputError(
                f"The ratings name notes by text, the {spec.name} by whole numbers.",
                "Write noteId as a 64-bit integer in both.",
            )
        return _read_note_frame(spec, found.parquet, wanted).reindex(note_ids)


def _read_note_frame(spec: TableSpec, parquet: Path, wanted: tuple[str, ...]) -> pd.DataFrame:
    present = column_names(parquet)
    missing = [name for name in spec.required if name not in present]
    if missing:
        raise InputError(
            f"{parquet.name} lacks the column {', '.join(missing)}.", "Make it with `crowdnotes bridging read`."
        )
    columns = {name: _read_checked_column(spec, parquet, name) for name in ("noteId", *wanted) if name in present}
    # Whole numbers stay whole numbers even where some are missing: a float would round 64-bit ids.
    frame: pd.DataFrame = pa.table(columns).to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    if frame["noteId"].isna().any() or frame["noteId"].duplicated().any():
        raise InputError(
            f"{parquet.name} has a note without id, or one note twice.", "Make it with `crowdnotes bridging read`."
        )
    return frame.set_index(frame["noteId"].astype("int64")).drop(columns="noteId")


def _read_checked_column(spec: TableSpec, parquet: Path, name: str) -> pa.ChunkedArray:
    """Return a column whose ids and times are whole numbers: as floats they would have lost digits."""
    column = read_column(parquet, name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if spec.columns[name] in {ColumnKind.ID, ColumnKind.TIME} and not pa.types.is_int64(column.type):
        raise InputError(
            f"The column {name} of {parquet.name} holds {column.type}, not 64-bit integers.",
            "Make it with `crowdnotes bridging read`.",
        )
    return column


# The groups of raters by region, language and the like that Core takes (constants.py, `coreGroups`).
CORE_GROUPS = (1, 2, 3, 6, 8, 9, 10, 11, 13, 14, 19, 21, 25)


class RatersTaken(FrozenModel):
    """Whose ratings the statuses rest on. by: `core`, or `all` where that was asked for or no groups are known.

    taken, left_out: how many raters. sentence: the same as text.
    """

    by: RatersWanted
    taken: int
    left_out: int
    sentence: str

    @classmethod
    def of(cls, taken: Bools | None, raters: int, wanted: RatersWanted) -> RatersTaken:
        """taken: which of the raters Core takes; None for all of them."""
        return cls.counted(raters if taken is None else int(taken.sum()), raters, wanted, by_group=taken is not None)

    @classmethod
    def counted(cls, taken: int, raters: int, wanted: RatersWanted, *, by_group: bool) -> RatersTaken:
        """Say whose ratings count, from how many raters are taken of how many. by_group: some are left out."""
        if by_group:
            sentence = (
                f"We count {taken:,} of {raters:,} raters: those of X's Core groups, and those not in the enrolment."
            )
        elif wanted is RatersWanted.ALL:
            sentence = (
                f"We count all {raters:,} raters, as CROWDNOTES_BRIDGING_RATERS asks. X's Core model takes "
                "some groups only."
            )
        else:
            sentence = (
                f"We count all {raters:,} raters. X's Core model takes some groups only; the userEnrollment "
                "files name them, as modelingGroup."
            )
        return cls(
            by=RatersWanted.CORE if by_group else RatersWanted.ALL,
            taken=taken,
            left_out=raters - taken,
            sentence=fill(sentence, taken=taken, raters=raters),
        )


def core_raters(data: Path, rater_ids: Ids) -> Bools | None:
    """Return which raters (u,) Core takes: those of its groups, and those that the enrolment under `data` lacks.

    One who is listed without a group is not taken, as in the scorer (scorer.py, `_filter_input`). None where the data
    has no group at all. Raises InputError where ratings and enrolment name people otherwise.
    """
    with found_table(ENROLMENT, data) as found:
        if found is None or "modelingGroup" not in column_names(found.parquet):
            return None
        groups = read_column(found.parquet, "modelingGroup")
        if groups.null_count == len(groups):
            return None
        people = read_column(found.parquet, "participantId")
    outside = pc.invert(pc.is_in(groups.cast(pa.float64()), pa.array(CORE_GROUPS, pa.float64())))
    names = people.filter(outside).unique().to_numpy(zero_copy_only=False)
    if len(names) and (names.dtype == object) is not (rater_ids.dtype == object):
        raise InputError(
            "The ratings and the enrolment name people otherwise, the one by text, the other by numbers.",
            "Write raterParticipantId and participantId alike.",
        )
    return np.asarray(~pd.Index(rater_ids).isin(names), dtype=bool)


Times = npt.NDArray[np.int64]
_RATING_WINDOW_MS = 48 * 3600 * 1000
_FIRST_RATINGS_ONLY_BEFORE_MS = 1_652_918_400_000  # 2022-05-19: earlier notes count their first five ratings
_EARLY_RATINGS_COUNTED = 5
_NOT_HELPFUL_WEIGHT = 5  # a not-helpful note weighs against its author as much as five helpful ones for


def helpful_raters(
    table: RatingTable,
    created_at_ms: npt.NDArray[np.int64],
    facts: NoteFacts,
    statuses: list[NoteStatus],
    intercepts: npt.NDArray[np.float64],
    thresholds: Thresholds,
) -> Bools | None:
    """Return which raters (u,) reach the thresholds, given the notes' provisional statuses and intercepts (n,).

    created_at_ms: of the ratings (m,). None when it is not known when the notes were written.
    """
    if facts.created_at_ms is None:
        return None
    helpful = np.array([status is NoteStatus.HELPFUL for status in statuses])
    not_helpful = np.array([status is NoteStatus.NOT_HELPFUL for status in statuses])
    valid = _mask_valid_ratings(table, created_at_ms, facts.created_at_ms, facts.status_at_ms, helpful | not_helpful)
    agrees = valid & (table.helpful == helpful[table.note])
    judged = np.bincount(table.rater[valid], minlength=len(table.rater_ids))
    matches = np.bincount(table.rater[agrees], minlength=len(table.rater_ids))
    share = np.divide(matches, judged, out=np.full(len(judged), -1.0), where=judged > 0)
    enough = np.asarray(share >= thresholds.rater_helpfulness)
    if facts.authors is None:
        return enough
    return enough & _mask_good_authors(table.rater_ids, facts.authors, helpful, not_helpful, intercepts, thresholds)


def _mask_valid_ratings(
    table: RatingTable, created_at_ms: Times, note_created: Times, status_at: Times | None, decided: Bools
) -> Bools:
    note = table.note
    among_first = note_created >= _FIRST_RATINGS_ONLY_BEFORE_MS
    valid: Bools = decided[note] & ((table.helpful == 0) | (table.helpful == 1))
    rows = np.flatnonzero(valid)
    right = created_at_ms[rows] < note_created[note[rows]] + _RATING_WINDOW_MS
    if status_at is not None:
        right &= created_at_ms[rows] < status_at[note[rows]]
    valid[rows] = right
    early = np.flatnonzero(~among_first[note])
    if len(early):
        order = early[np.lexsort((created_at_ms[early], note[early]))]
        rank = np.arange(len(order)) - np.searchsorted(note[order], note[order])
        valid[order[rank >= _EARLY_RATINGS_COUNTED]] = False
    return valid


def _mask_good_authors(
    rater_ids: Ids,
    authors: Ids,
    helpful: Bools,
    not_helpful: Bools,
    intercepts: npt.NDArray[np.float64],
    thresholds: Thresholds,
) -> Bools:
    """Raters whose own notes do well enough, or who have written none."""
    known = np.array([author is not None for author in authors], dtype=bool)
    who = np.zeros(len(authors), dtype=np.intp)
    wrote = np.zeros(len(authors), dtype=bool)
    who[known], wrote[known] = locate(authors[known], rater_ids)
    raters = len(rater_ids)
    notes = np.bincount(who[wrote], minlength=raters)
    score = np.bincount(who[wrote], helpful[wrote] - _NOT_HELPFUL_WEIGHT * not_helpful[wrote].astype(float), raters)
    mean = np.bincount(who[wrote], intercepts[wrote], raters)
    with np.errstate(invalid="ignore"):
        good = (score / notes >= thresholds.author_ratio_difference) & (
            mean / notes >= thresholds.author_mean_intercept
        )
    return np.asarray(good | (notes == 0), dtype=bool)


@dataclass(frozen=True)
class PublicScores:
    """Every rated note's status, the fit behind it, whose ratings count, what was dropped and left out, and why."""

    statuses: tuple[StatusResult, ...]
    fit: Factorization
    raters: RatersTaken
    dropped: dict[str, int]
    notices: tuple[str, ...]


_OMISSION_NOTICE = (
    "Not computed: X's models for topics and for groups of raters, the diligence model, raters who act "
    "together, and the penalty for rating harassing notes as helpful."
)


def score_public_data(data: Path, thresholds: Thresholds = THRESHOLDS) -> PublicScores:
    """Read ratings, notes, history and enrolment under `data` and give every rated note its status.

    Raises InputError when there are no ratings, or none are left after the filter.
    """
    if data.is_file():
        raise InputError(f"{data} is a file.", "Give the folder that holds it, with notes and status history.")
    ratings = load_ratings(data, with_details=True)
    taken = core_raters(data, ratings.table.rater_ids) if thresholds.raters is RatersWanted.CORE else None
    return score(ratings, gather_facts(data, ratings.table.note_ids), thresholds, taken=taken)


def score(
    ratings: Ratings,
    facts: NoteFacts,
    thresholds: Thresholds,
    start: Factorization | None = None,
    *,
    taken: Bools | None = None,
) -> PublicScores:
    """As `score_public_data`, from loaded ratings and the facts of their notes.

    start: where the first fit begins. taken: which raters (u,) Core takes; None for all of them.
    """
    raters_taken = RatersTaken.of(taken, len(ratings.table.rater_ids), thresholds.raters)
    ids = ratings.table.rater_ids
    ratings, facts, dropped = without_early_not_misleading(ratings, facts)
    counting = ratings
    if taken is not None:
        counting = ratings.only(taken[np.searchsorted(ids, ratings.table.rater_ids)][ratings.table.rater])
        left_out = len(ratings.table) - len(counting.table)
        dropped |= {DROPPED_GROUP_RATINGS: left_out} if left_out else {}
    fitting, few = those_that_count(replace(counting, dropped=counting.dropped | dropped), thresholds)
    known = () if facts.misleading is not None else (NO_NOTES,)
    fitted = fit_raters(fitting, facts.keep(_locate_notes(fitting.table, ratings.table)), thresholds, start)
    raters = FrozenRaters.of(fitted.fit)
    signals = gather_signals(
        ratings,
        counting,
        final_scores(counting.table, raters, thresholds),
        raters,
        thresholds,
        misleading=facts.misleading,
        was_helpful=facts.was_helpful,
        usual=usual_rates(counting),
        busy=high_volume_raters(ratings, thresholds),
        by_group=taken is not None,
    )
    note_ids = ratings.table.note_ids
    signals = with_tag_lines(signals, np.isin(note_ids, fitted.helpful_before), thresholds)
    return PublicScores(
        tuple(decide(signals.note(n, note_id), thresholds) for n, note_id in enumerate(note_ids.tolist())),
        fitted.fit,
        raters_taken,
        ratings.dropped | dropped | few,
        (*known, *fitted.notices, _OMISSION_NOTICE),
    )


@dataclass(frozen=True)
class FittedRaters:
    """The fit whose raters notes are scored with. helpful_before: ids of the notes that prescoring found helpful."""

    fit: Factorization
    helpful_before: Ids
    notices: tuple[str, ...]


def fit_raters(
    ratings: Ratings, facts: NoteFacts, thresholds: Thresholds, start: Factorization | None = None
) -> FittedRaters:
    """Return the two fits before notes are scored: on all ratings, then on those of raters the crowd agreed with.

    facts: of the ratings' notes.
    """
    notices: list[str] = []
    first = fit(ratings.table, start=start)
    provisional = prescored(first, ratings.table, facts, thresholds)
    second = _fit_helpful_raters(first, ratings, provisional, facts, thresholds, notices)
    helpful = np.array([status is NoteStatus.HELPFUL for status in provisional], dtype=bool)
    return FittedRaters(second, ratings.table.note_ids[helpful], (*notices, *doubts(second)))


def those_that_count(ratings: Ratings, thresholds: Thresholds) -> tuple[Ratings, dict[str, int]]:
    """Return the ratings that enter the fit, and how many did not, by reason. Raises InputError when none are left."""
    keep, few = filter_mask(ratings.table, thresholds)
    if not keep.any():
        raise nothing_left(Counter(ratings.dropped) + Counter(few), thresholds)
    return ratings.keep(keep), few


NO_NOTES = "The notes table is missing: whether a note calls its post misleading is not known."


DROPPED_EARLY_RATINGS = "ratings of early notes that call the post not misleading"


def mask_early_not_misleading(facts: NoteFacts) -> Bools | None:
    """Return which notes (n,) call the post fine and are so old that their ratings are not used; None if not known."""
    if facts.misleading is None or facts.created_at_ms is None:
        return None
    return ~facts.misleading & (facts.created_at_ms <= NOT_MISLEADING_UNTIL_MS)


def without_early_not_misleading(ratings: Ratings, facts: NoteFacts) -> tuple[Ratings, NoteFacts, dict[str, int]]:
    """Return what is left without ratings of early notes that call the post fine, and how many went, by reason."""
    early = mask_early_not_misleading(facts)
    if early is None or not early.any():
        return ratings, facts, {}
    keep = ~early[ratings.table.note]
    kept = ratings.keep(keep)
    lost = int(np.count_nonzero(~keep))
    reasons = {DROPPED_EARLY_RATINGS: lost} if lost else {}
    return kept, facts.keep(_locate_notes(kept.table, ratings.table)), reasons


def prescored(first: Factorization, table: RatingTable, facts: NoteFacts, thresholds: Thresholds) -> list[NoteStatus]:
    """Prescoring's statuses; without the notes table every note counts as misleading, as a deleted note does."""
    enough = np.bincount(table.note, minlength=len(table.note_ids)) >= thresholds.min_ratings_for_status
    intercept, factor = first.notes.intercepts, np.abs(first.notes.factors[:, 0])
    misleading = np.ones(len(enough), dtype=bool) if facts.misleading is None else facts.misleading
    # Rules 2, 3 and 6, all that prescoring knows, for all notes at once: one by one a million takes minutes.
    helpful = enough & misleading & (intercept >= thresholds.helpful_intercept)
    low = enough & (intercept <= thresholds.not_helpful_base - thresholds.not_helpful_slope * factor)
    not_helpful = low | (~misleading & (intercept < thresholds.not_misleading_intercept))
    names = np.where(
        not_helpful, NoteStatus.NOT_HELPFUL, np.where(helpful, NoteStatus.HELPFUL, NoteStatus.NEEDS_MORE_RATINGS)
    )
    return [NoteStatus(name) for name in names.tolist()]


def _fit_helpful_raters(
    first: Factorization,
    fitted: Ratings,
    provisional: list[NoteStatus],
    facts: NoteFacts,
    thresholds: Thresholds,
    notices: list[str],
) -> Factorization:
    """Return the fit on ratings by raters at or above the helpfulness thresholds, begun from the first."""
    chosen = None
    if fitted.created_at_ms is not None:
        chosen = helpful_raters(
            fitted.table, fitted.created_at_ms, facts, provisional, first.notes.intercepts, thresholds
        )  # fmt: skip
    if chosen is None:
        notices.append("We do not know when notes or ratings were made, so no rater is left out as unhelpful.")
        return first
    if not chosen.any():
        notices.append("No rater reaches the helpfulness threshold, so all stay.")
        return first
    return fit(fitted.table.keep(chosen[fitted.table.rater]), start=first)


def final_scores(table: RatingTable, raters: FrozenRaters, thresholds: Thresholds) -> ScoredNotes:
    """Score notes with enough ratings by the frozen raters; the others have no score (NaN)."""
    scored = score_notes(table, raters)
    _, known = locate(table.rater_ids, raters.ids)
    counts = np.bincount(table.note[known[table.rater]], minlength=len(table.note_ids))
    few = counts < thresholds.min_raters_per_note
    scored.notes.intercepts[few] = np.nan
    scored.notes.factors[few] = np.nan
    scored.upper_bounds[few] = np.nan
    return scored


def _locate_notes(part: RatingTable, whole: RatingTable) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Find the places of a part's notes among the notes of the whole."""
    return np.searchsorted(whole.note_ids, part.note_ids)
