"""How long public data takes to index and to ask, on made data of growing size, and how it grows for four times it.

`cpu` is processor time, which a busy machine does not change much. Each size is made in one process, read in another.

python -m tests.bench.bench_public_data
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.public_data.database import reading
from crowdnotes.public_data.delays import delays
from crowdnotes.public_data.indexing import index_folder
from crowdnotes.public_data.posts import Filter
from crowdnotes.public_data.sample_data import make_public_data
from crowdnotes.public_data.story import busiest_notes, story
from crowdnotes.public_data.surges import surges
from tests.bench.bench_bridging import alone, peak_megabytes

SIZES = (500_000, 2_000_000, 8_000_000)


def measure(sizes: Sequence[int] = SIZES) -> dict[str, object]:
    """All figures by number of ratings, a tenth as many notes; and each as a multiple of the size before."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [alone(_measure_one, alone(_made, size, Path(folder))) for size in sizes]
    return {
        "sizes": rows,
        "times": [{name: round(last[name] / first[name], 1) for name in first} for first, last in pairwise(rows)],
    }


def _made(ratings: int, folder: Path) -> Path:
    data = folder / str(ratings)
    make_public_data(data, notes=ratings // 10, ratings=ratings, days=900, shards=4, zipped=True)
    return data


def _measure_one(data: Path) -> dict[str, float]:
    index, lines, now = data / "crowd.duckdb", THRESHOLDS, datetime.now(UTC)
    began = time.process_time()
    report = index_folder(data, index, lines, now)
    row = {
        "ratings": float(report.totals["ratings"]),
        "index_cpu": round(time.process_time() - began, 2),
        "peak_megabytes": round(peak_megabytes()),
        "megabytes_of_disk": round(index.stat().st_size / 1e6),
    }
    make_public_data(data / "next", notes=1_000, ratings=20_000, days=60, seed=1)
    row["next_day_cpu"] = _cpu(lambda: index_folder(data / "next", index, lines, now))
    with reading(index) as connection:
        ((note, _, _),) = busiest_notes(connection, 1)
        row["story_cpu"] = _cpu(lambda: story(connection, str(note), lines))
        row["surges_cpu"] = _cpu(lambda: surges(connection, Filter()))
        row["delays_cpu"] = _cpu(lambda: delays(connection, Filter()))
    return row


def _cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return round(time.process_time() - began, 3)


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
