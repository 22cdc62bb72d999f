"""Speed and memory of the factorization and of reading public data, on made ratings of growing size."""

from __future__ import annotations

import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from crowdnotes.bridging.columns import RATINGS
from crowdnotes.bridging.factorization import fit
from crowdnotes.bridging.parameters import RatingTable
from crowdnotes.bridging.reading import read_table

SIZES = (97_000, 2_100_000)
READ_ROWS = 500_000
# The official scorer's factorization on as many ratings, two threads (the data folder's README).
_OFFICIAL_SECONDS = {97_000: 5.1, 2_100_000: 63.0}


def measure(sizes: tuple[int, ...] = SIZES, read_rows: int = READ_ROWS) -> dict[str, object]:
    """Seconds of a fit by number of ratings, how they grow, and seconds and memory of reading."""
    fits = [_fit_seconds(size) for size in sizes]
    per_million = fits[-1]["seconds"] / fits[-1]["ratings"] * 1e6
    return {
        "fit": fits,
        "fit_growth": _growth(fits),
        "fit_projection_200_million_seconds": round(per_million * 200, 1),
        "fit_projection_assumes": "seconds per rating as at the largest size, 16 bytes of memory a rating and side",
        "read": _read_seconds(read_rows),
    }


def _growth(fits: list[dict[str, float]]) -> float:
    """Exponent of seconds against ratings: 1 is in step."""
    first, last = fits[0], fits[-1]
    return round(float(np.log(last["seconds"] / first["seconds"]) / np.log(last["ratings"] / first["ratings"])), 2)


def _fit_seconds(size: int) -> dict[str, float]:
    table = _made(size)
    fit(table)
    before = time.process_time()
    found = fit(table)
    row = {
        "ratings": float(found.ratings),
        "seconds": round(found.seconds, 4),
        "cpu_seconds": round(time.process_time() - before, 4),
        "sweeps": float(found.iterations),
        "peak_megabytes": round(_peak_megabytes()),
    }
    if size in _OFFICIAL_SECONDS:
        row["times_faster_than_official"] = round(_OFFICIAL_SECONDS[size] / found.seconds)
    return row


def _made(size: int) -> RatingTable:
    """Two camps; a few raters and notes have most of the ratings, as in the public data."""
    chance = np.random.default_rng(0)
    notes, raters = max(50, size // 35), max(50, size // 50)
    note = np.searchsorted(_popularity(notes, 1.5, chance), chance.random(int(size * 1.6)))
    rater = np.searchsorted(_popularity(raters, 1.2, chance), chance.random(len(note)))
    pairs = chance.permutation(np.unique(note * raters + rater))[:size]
    note, rater = np.divmod(pairs, raters)
    camp = chance.choice([-1.0, 1.0], raters, p=[0.55, 0.45]) * chance.uniform(0.2, 0.9, raters)
    side, worth = chance.normal(0, 0.5, notes), chance.normal(0.3, 0.2, notes)
    value = worth[note] + side[note] * camp[rater] + chance.normal(0, 0.25, len(note))
    helpful = (np.round(np.clip(value, 0, 1) * 2) / 2).astype(np.float32)
    codes = note.astype(np.int32), rater.astype(np.int32)
    whole = RatingTable(np.arange(notes), np.arange(raters), *codes, helpful)
    return whole.keep(np.ones(len(whole), dtype=bool))


def _popularity(count: int, shape: float, chance: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    share = chance.pareto(shape, count) + 0.3
    rising: np.ndarray[tuple[int], np.dtype[np.float64]] = np.cumsum(share) / share.sum()
    rising[-1] = 1.0
    return rising


def _read_seconds(rows: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings-00000.tsv"
        with path.open("w", encoding="utf-8") as file:
            file.write("\t".join(RATINGS.columns) + "\n")
            flags = "\t".join(["0"] * 22)
            for row in range(rows):
                rater = f"{row % 20_000:064X}"
                note, when = 10**18 + row // 30, 1_700_000_000_000 + row
                file.write(f"{note}\t{rater}\t{when}\t2\t0\t0\t0\t0\tHELPFUL\t{flags}\t{note}\tDEFAULT\t\t\n")
        report = read_table(RATINGS, [path], Path(folder) / "ratings.parquet")
    return {
        "rows": float(report.rows),
        "seconds": round(report.seconds, 2),
        "seconds_for_10_million": round(report.seconds / rows * 10_000_000, 1),
        "peak_megabytes": round(_peak_megabytes()),
    }


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
