"""Speed and memory of the factorization and of reading public data, on made ratings of growing size.

Each size is made in one process and fitted in another, so that a peak of memory is that of the ratings and the fit.

python -m tests.bench.bench_bridging
"""

from __future__ import annotations

import itertools
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import numpy as np

from crowdnotes.bridging.columns import RATINGS
from crowdnotes.bridging.factorization import fit
from crowdnotes.bridging.model import RatingTable
from crowdnotes.bridging.public_files import read_table

T = TypeVar("T")
SIZES = (97_000, 2_100_000, 20_000_000)
READ_ROWS = 10_000_000
_WHOLE = 200e6  # ratings in the full public data, about
_LINES = 100_000  # written at a time
# The official scorer's factorization on as many ratings, two threads (the data folder's README).
_OFFICIAL_SECONDS = {97_000: 5.1, 2_100_000: 63.0}


def measure(sizes: Sequence[int] = SIZES, read_rows: int = READ_ROWS) -> dict[str, object]:
    """Seconds of a first and of a second fit by number of ratings, how the second grow, and what reading takes."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        fits = [alone(_fit_saved, alone(_save_made, size, scratch)) for size in sizes]
        read = alone(_read_saved, alone(_save_tsv, read_rows, scratch))
    before, last = fits[-2], fits[-1]
    exponent = max(1.0, _growth(before, last))
    times = _WHOLE / last["ratings"]
    return {
        "fit": fits,
        "fit_growth": [_growth(one, two) for one, two in itertools.pairwise(fits)],
        "projection_200_million": {
            "seconds": round(last["first_seconds"] * times**exponent, 1),
            "gigabytes": round(last["peak_megabytes"] * times / 1000, 1),
            "assumes": f"time grows with the ratings to the power {exponent} (as between the two largest sizes, at "
            "least 1), memory in step with them; as many sweeps, raters and notes a rating, and the same cores",
        },
        "read": read,
    }


def alone(work: Callable[..., T], *given: object) -> T:
    """The work's answer, done in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(work, *given).result()


def _growth(first: dict[str, float], last: dict[str, float]) -> float:
    """Exponent of seconds against ratings: 1 is in step."""
    return round(float(np.log(last["seconds"] / first["seconds"]) / np.log(last["ratings"] / first["ratings"])), 2)


def _save_made(size: int, folder: Path) -> Path:
    table = _made(size)
    path = folder / f"{size}.npz"
    np.savez(path, **{name: getattr(table, name) for name in ("note_ids", "rater_ids", "note", "rater", "helpful")})
    return path


def _fit_saved(path: Path) -> dict[str, float]:
    with np.load(path) as saved:
        table = RatingTable(**{name: saved[name] for name in saved.files})
    path.unlink()
    first = fit(table).seconds  # also pays for fresh memory, which machines charge for by their own measure
    before = time.process_time()
    found = fit(table)
    row = {
        "ratings": float(found.ratings),
        "seconds": round(found.seconds, 4),
        "first_seconds": round(first, 4),
        "cpu_seconds": round(time.process_time() - before, 4),
        "sweeps": float(found.iterations),
        "peak_megabytes": round(peak_megabytes()),
    }
    official = next((s for size, s in _OFFICIAL_SECONDS.items() if path.stem == str(size)), None)
    if official is not None:
        row["times_faster_than_official"] = round(official / found.seconds)
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


def _save_tsv(rows: int, folder: Path) -> Path:
    """Today's ratings schema, 20,000 raters in turn."""
    path = folder / "ratings-00000.tsv"
    flags = "\t".join(["0"] * 22)
    raters = [f"{rater:064X}" for rater in range(20_000)]
    with path.open("w", encoding="utf-8") as file:
        file.write("\t".join(RATINGS.columns) + "\n")
        for first in range(0, rows, _LINES):
            file.writelines(
                f"{10**18 + row // 30}\t{raters[row % 20_000]}\t{1_700_000_000_000 + row}\t2\t0\t0\t0\t0\tHELPFUL\t"
                f"{flags}\t{10**18 + row // 30}\tDEFAULT\t\t\n"
                for row in range(first, min(first + _LINES, rows))
            )
    return path


def _read_saved(path: Path) -> dict[str, float]:
    report = read_table(RATINGS, [path], path.with_suffix(".parquet"))
    peak = round(peak_megabytes())
    return {"rows": float(report.rows), "seconds": round(report.seconds, 2), "peak_megabytes": peak}


def peak_megabytes() -> float:
    """Of this process since its program began; `getrusage` would count the process that started it as well."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1000


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
