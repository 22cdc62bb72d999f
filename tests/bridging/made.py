"""Made ratings with known parameters, and files in the public schemas."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from crowdnotes.bridging.columns import RATINGS
from crowdnotes.bridging.model import Factorization, Floats, RatingTable


def made_ratings(notes: int = 80, raters: int = 60, share: float = 0.4, seed: int = 0) -> RatingTable:
    """Two camps, notes from one-sided to bridging, levels 0, 0.5 and 1."""
    chance = np.random.default_rng(seed)
    camp = chance.choice([-1.0, 1.0], raters, p=[0.6, 0.4]) * chance.uniform(0.3, 0.9, raters)
    side, worth = chance.normal(0, 0.5, notes), chance.normal(0.15, 0.2, notes)
    note, rater = np.nonzero(chance.random((notes, raters)) < share)
    value = 0.3 + worth[note] + side[note] * camp[rater] + chance.normal(0, 0.15, len(note))
    helpful = np.round(np.clip(value, 0, 1) * 2) / 2
    return RatingTable(
        np.arange(notes) + 2**60,
        np.array([f"R{number:04d}" for number in range(raters)], dtype=object),
        note.astype(np.int32),
        rater.astype(np.int32),
        helpful.astype(np.float32),
    )


def table_of(
    note: Sequence[int], rater: Sequence[int], helpful: Sequence[float], rater_ids: Sequence[object] | None = None
) -> RatingTable:
    """Ratings listed by hand; notes and raters are numbered from 0 unless raters have names."""
    names = np.arange(max(rater) + 1) if rater_ids is None else np.array(rater_ids, dtype=object)
    values = np.array(helpful, dtype=np.float32)
    return RatingTable(np.arange(max(note) + 1), names, np.array(note, np.int32), np.array(rater, np.int32), values)


def shuffled(table: RatingTable, seed: int = 1) -> RatingTable:
    """The same ratings in another order."""
    order = np.random.default_rng(seed).permutation(len(table))
    weight = None if table.weight is None else table.weight[order]
    return RatingTable(
        table.note_ids, table.rater_ids, table.note[order], table.rater[order], table.helpful[order], weight
    )


def errors_of(table: RatingTable, fit: Factorization) -> Floats:
    """r - mu - i_u - i_n - f_u . f_n of every rating."""
    products = (fit.notes.factors[table.note] * fit.raters.factors[table.rater]).sum(axis=1)
    intercepts = fit.notes.intercepts[table.note] + fit.raters.intercepts[table.rater]
    errors: Floats = table.helpful.astype(np.float64) - fit.global_intercept - intercepts - products
    return errors


def objective_of(table: RatingTable, fit: Factorization) -> float:
    """The objective, written down once more, from its definition."""
    weight = np.ones(len(table)) if table.weight is None else table.weight
    return float(
        np.mean(weight * errors_of(table, fit) ** 2)
        + 0.15 * np.mean(fit.notes.intercepts**2)
        + 0.15 * np.mean(fit.raters.intercepts**2)
        + 0.15 * fit.global_intercept**2
        + 0.03 * np.mean((fit.notes.factors**2).sum(axis=1))
        + 0.03 * np.mean((fit.raters.factors**2).sum(axis=1))
    )


def write_tsv(path: Path, header: Iterable[str], rows: Iterable[Mapping[str, object]]) -> Path:
    """A tab-separated file; a column that a row does not name is empty."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, list(header), delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, restval="", quotechar=None
        )
        writer.writeheader()
        writer.writerows(rows)
    return path


def rating_row(note: int, rater: str, level: str = "HELPFUL", **more: object) -> dict[str, object]:
    """A rating in today's schema, all tags 0."""
    flags = {name: 0 for name in RATINGS.columns if name.startswith(("helpful", "notHelpful"))}
    return {
        **flags,
        "noteId": note,
        "raterParticipantId": rater,
        "createdAtMillis": 1_700_000_000_000,
        "version": 2,
        "helpfulnessLevel": level,
        "ratedOnTweetId": 99,
        "ratingSourceBucketed": "DEFAULT",
        **more,
    }


def write_ratings(path: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    """A ratings file in today's schema."""
    return write_tsv(path, RATINGS.columns, rows)
