"""`crowdnotes batch`: a file of posts, each of which becomes a case that awaits a person."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer

from crowdnotes.batches import Batch
from crowdnotes.cli.output import progress
from crowdnotes.workspace import open_workspace


def batch(
    file: Annotated[
        Path, typer.Argument(help="A .csv, .jsonl or .parquet file with text, and id, links and url (of the post).")
    ],
    budget: Annotated[float | None, typer.Option(min=0, help="The most that the batch may cost, in dollars.")] = None,
    day_budget: Annotated[float | None, typer.Option(min=0, help="The same for all batches of a day.")] = None,
    at_once: Annotated[int, typer.Option(min=1, max=1000, help="How many posts at once.")] = 8,
    again: Annotated[bool, typer.Option("--again", help="Try the rows that failed once more.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write a table of the results here, as CSV.")] = None,
) -> None:
    """Find sources for each post, write and score a note. It decides nothing; run it again and it goes on."""
    with open_workspace() as workspace:
        work = Batch(workspace, file, budget=budget, day_budget=day_budget)
        if again:
            work.retry_failed()
        told: list[str] = []

        def tell(words: str) -> None:
            if told[-1:] != [words]:
                told[:] = [words]
                progress(words)

        try:
            work.run(at_once, tell)
        finally:
            progress(work.in_words())
            if out is not None:
                with out.open("w", encoding="utf-8", newline="") as table:
                    writer = csv.DictWriter(table, ("number", "name", "state", "case_id", "reason", "dollars"))
                    writer.writeheader()
                    writer.writerows(work.results())
