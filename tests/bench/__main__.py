"""`make bench`: every speed and memory figure in one run, as JSON, with how it grows.

python -m tests.bench [--data TABLE] [--only library,draft,app]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tests.bench import (
    bench_app,
    bench_bridging,
    bench_draft,
    bench_jury,
    bench_library,
    bench_llm,
    bench_public_data,
    bench_search,
    bench_supernote,
)
from tests.bench.bench_draft import POSTS
from tests.bench.services import SERVICES


@dataclass(frozen=True, slots=True)
class Amounts:
    """How much the parts are given. Sizes of a library are in documents, None for all; waits are in seconds."""

    documents: int = 16_000
    library_sizes: tuple[int | None, ...] = (1_000, 4_000, None)
    posts: tuple[str, ...] = POSTS
    app_posts: tuple[str, ...] = POSTS
    services: tuple[str, ...] = SERVICES
    search_wait: float = bench_search.DELAY
    model_wait: float = 1.0
    supernote_candidates: int = bench_llm.WANTED
    fitted_ratings: tuple[int, ...] = bench_bridging.SIZES
    read_ratings: int = bench_bridging.READ_ROWS
    indexed_ratings: tuple[int, ...] = bench_public_data.SIZES
    jury_notes: tuple[int, ...] = bench_jury.PUBLIC_SIZES
    repeats: int = 5


PARTS: dict[str, Callable[[Path, Amounts], object]] = {
    "library": lambda data, of: bench_library.measure(data, of.library_sizes),
    "search": lambda _, of: bench_search.measure(of.search_wait, of.posts, of.services),
    "draft": lambda data, of: bench_draft.measure(data, of.library_sizes, of.posts),
    "app": lambda data, of: bench_app.measure(data, of.app_posts),
    "llm": lambda data, of: bench_llm.measure(data, of.model_wait),
    "supernotes": lambda _, of: bench_llm.measure_supernotes(of.model_wait, of.supernote_candidates),
    "bridging": lambda _, of: bench_bridging.measure(of.fitted_ratings, of.read_ratings),
    "public_data": lambda _, of: bench_public_data.measure(of.indexed_ratings),
    "jury": lambda _, of: bench_jury.measure(of.jury_notes),
    "supernote": lambda _, of: bench_supernote.measure(of.repeats),
}


def _made_table(folder: Path, documents: int) -> Path:
    """Documents made of medical-sounding sentences, for machines without a table of their own."""
    things = "asthma diabetes influenza measles migraine arthritis shingles anaemia insomnia gout".split()
    verbs = "causes prevents worsens relieves follows resembles".split()
    others = "fever fatigue coughing swelling weakness dizziness headaches nausea rashes cramps".split()
    rows = []
    for number in range(documents):
        thing, verb, other = things[number % 10], verbs[number // 7 % 6], others[number // 3 % 10]
        sentence = f"In study {number}, {thing} {verb} {other} in {number % 97} of 100 people."
        body = " ".join(f"{sentence} {others[(number + i) % 10].capitalize()} was seen in group {i}." for i in range(9))
        rows.append(
            {"question": f"What about {thing} and {other}?", "answer": body, "url": f"https://h.example.org/{number}"}
        )
    path = folder / "made.parquet"
    pd.DataFrame(rows).to_parquet(path)
    return path


def main(arguments: Sequence[str] | None = None, amounts: Amounts = Amounts()) -> None:
    """Run the parts asked for and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a table of documents (parquet); a made one without")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    given = parser.parse_args(arguments)
    parts = given.only.split(",")
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory() as folder:
        data = given.data or _made_table(Path(folder), amounts.documents)
        figures: dict[str, object] = {"cores": os.cpu_count(), "data": data.name}
        for part in parts:
            figures[part] = PARTS[part](data, amounts)
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
