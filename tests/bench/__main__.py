"""`make bench`: every speed and memory figure in one run, as JSON, with how it grows.

python -m tests.bench [--data TABLE] [--only library,draft,app,llm]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from tests.bench import (
    bench_app,
    bench_bridging,
    bench_crowd,
    bench_draft,
    bench_jury,
    bench_library,
    bench_llm,
    bench_search,
    bench_supernote,
)

SIZES: list[int | None] = [1_000, 4_000, None]
PARTS: dict[str, Callable[[Path], object]] = {
    "library": lambda data: bench_library.measure(data, SIZES),
    "search": lambda _: bench_search.measure(),
    "draft": lambda data: bench_draft.measure(data, SIZES),
    "app": bench_app.measure,
    "llm": bench_llm.measure,
    "supernotes": lambda _: bench_llm.measure_supernotes(),
    "bridging": lambda _: bench_bridging.measure(),
    "crowd": lambda _: bench_crowd.measure(),
    "jury": lambda _: bench_jury.measure(),
    "supernote": lambda _: bench_supernote.measure(),
}


def _made_table(folder: Path) -> Path:
    """16,000 documents made of medical-sounding sentences, for machines without a table of their own."""
    things = "asthma diabetes influenza measles migraine arthritis shingles anaemia insomnia gout".split()
    verbs = "causes prevents worsens relieves follows resembles".split()
    others = "fever fatigue coughing swelling weakness dizziness headaches nausea rashes cramps".split()
    rows = []
    for number in range(16_000):
        thing, verb, other = things[number % 10], verbs[number // 7 % 6], others[number // 3 % 10]
        sentence = f"In study {number}, {thing} {verb} {other} in {number % 97} of 100 people."
        body = " ".join(f"{sentence} {others[(number + i) % 10].capitalize()} was seen in group {i}." for i in range(9))
        rows.append(
            {"question": f"What about {thing} and {other}?", "answer": body, "url": f"https://h.example.org/{number}"}
        )
    path = folder / "made.parquet"
    pd.DataFrame(rows).to_parquet(path)
    return path


def main() -> None:
    """Run the parts asked for and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a table of documents (parquet); a made one without")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    given = parser.parse_args()
    parts = given.only.split(",")
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory() as folder:
        data = given.data or _made_table(Path(folder))
        figures: dict[str, object] = {"cores": os.cpu_count(), "data": data.name}
        for part in parts:
            figures[part] = PARTS[part](data)
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
