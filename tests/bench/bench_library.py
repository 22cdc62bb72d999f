"""How long a library takes to add and search, and six sources to find passages in, as it grows.

`seconds` are wall clock, with the process and the model warm; `cpu` is this process's own time, which
a busy machine does not change much.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crowdnotes.engines.embedding import CachedEmbedder, MiniLMEmbedder
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.passages import best_passage

QUERIES = (
    "children heart inflammation after vaccine",
    "does sugar cause cancer",
    "malaria from mosquitoes in Florida",
    "is autism inherited",
    "high blood pressure pregnancy medicine",
)
POST = "They never told you that the shots give kids heart problems. Doctors stay silent about the real numbers!"
SOURCES = 6


def _timed(work: Callable[[], object]) -> dict[str, float]:
    """Seconds of wall clock and of this process's CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {"seconds": round(time.perf_counter() - wall, 3), "cpu": round(time.process_time() - cpu, 3)}


def _median(runs: list[dict[str, float]]) -> dict[str, float]:
    """The median of each figure."""
    return {key: round(statistics.median(run[key] for run in runs), 3) for key in runs[0]}


def measure(data: Path, sizes: Sequence[int | None]) -> dict[str, object]:
    """All figures by library size."""
    table = pq.read_table(data)
    model = MiniLMEmbedder()
    model.encode(["warm"])
    with tempfile.TemporaryDirectory() as folder:
        return {
            str(size or "all"): _measure_one(table.slice(0, size), Path(folder, str(size)), model) for size in sizes
        }


def _measure_one(table: pa.Table, folder: Path, model: MiniLMEmbedder) -> dict[str, object]:
    """All figures for one table, with an empty vector cache."""
    folder.mkdir()
    pq.write_table(table, folder / "table.parquet")
    libraries = Libraries(folder / "libraries", CachedEmbedder(model, folder / "vectors.sqlite"))
    add = _timed(lambda: libraries.add(folder / "table.parquet", "bench"))
    first = [_timed(partial(libraries.search, "bench", query)) for query in QUERIES]
    again = [_timed(partial(libraries.search, "bench", query)) for query in QUERIES]
    many = _timed(lambda: libraries.search_many("bench", QUERIES, 10, post=POST))
    hits = libraries.search_many("bench", [POST], SOURCES, post=POST)
    texts = [libraries.document("bench", hit.record or 0).text for hit in hits]
    return {
        "records": table.num_rows,
        "add": add,
        "first_search": _median(first),
        "repeated_search": _median(again),
        "five_queries_and_post": many,
        "six_passages": _timed(lambda: [best_passage(text, POST, model) for text in texts]),
        "megabytes": round((folder / "libraries" / "bench.sqlite").stat().st_size / 1e6, 1),
    }
