"""`crowdnotes bridging …`: read the public data, fit the factorization, give notes their status."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdnotes.cli.output import Json, print_json, print_text, progress

if TYPE_CHECKING:
    from crowdnotes.bridging.model import Factorization
    from crowdnotes.bridging.public_scoring import PublicScores
    from crowdnotes.bridging.ratings import Ratings

app = typer.Typer(help="The Community Notes algorithm on public data.", no_args_is_help=True)

# The algorithm's imports wait inside the commands: loading its compiled code takes half a second that
# no other command should pay.


@app.command("read")
def read(
    data: Annotated[Path, typer.Option(help="A folder with the public data as downloaded, zipped or not.")],
    out: Annotated[Path, typer.Option(help="Where the Parquet files go.")],
    as_json: Json = False,
) -> None:
    """Read notes, ratings, status history and enrolment into Parquet, and tell what was dropped and why."""
    from crowdnotes.bridging.public_files import read_public_data

    reports = read_public_data(data, out, lambda table, rows: progress(f"  {table}: {rows} rows"))
    if as_json:
        print_json(reports)
        return
    for report in reports:
        print_text(f"{report.table}: {report.rows} rows in {report.seconds:.1f} s")
        _print_dropped(report.dropped)
        if report.unknown_columns:
            print_text(f"  columns not known, and not kept: {', '.join(report.unknown_columns)}")


@app.command("fit")
def fit(
    ratings: Annotated[Path, typer.Option(help="Public ratings (TSV, zip, Parquet, a folder), or a prepared table.")],
    out: Annotated[Path, typer.Option(help="A folder for notes.parquet and raters.parquet.")],
    factors: Annotated[int, typer.Option(min=1, max=3, help="How many factors.")] = 1,
    filtered: Annotated[
        bool | None,
        typer.Option("--filter/--no-filter", help="The documented filter; without either: for public data only."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fit the matrix factorization and write the notes' and raters' parameters."""
    from crowdnotes.bridging import factorization
    from crowdnotes.bridging.model import filter_mask, nothing_left
    from crowdnotes.bridging.ratings import load_ratings, write_fit
    from crowdnotes.bridging.scoring import doubts
    from crowdnotes.settings import load_settings

    loaded = load_ratings(ratings)
    table, dropped = loaded.table, dict(loaded.dropped)
    if loaded.public if filtered is None else filtered:
        keep, few = filter_mask(table, load_settings().bridging)
        table, dropped = table.keep(keep), dropped | few
    if not len(table):
        raise nothing_left(dropped, load_settings().bridging)
    found = factorization.fit(table, factors=factors)
    write_fit(found, out)
    if as_json:
        print_json(_summary(found, loaded, dropped))
        return
    print_text(f"{found.ratings} ratings of {len(found.notes)} notes by {len(found.raters)} raters")
    _print_dropped(dropped)
    print_text(f"objective {found.objective:.6f}, of which mean squared error {found.mean_squared_error:.6f}")
    print_text(f"global intercept {found.global_intercept:.4f}")
    print_text(f"{found.iterations} iterations in {found.seconds:.3f} s")
    for sentence in doubts(found):
        print_text(sentence)


@app.command("score")
def score(
    data: Annotated[Path, typer.Option(help="A folder with ratings and, for all rules, notes and status history.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print every note's status and story as JSON.")] = False,
) -> None:
    """Give every rated note its status, with the rule that decided and what blocks it."""
    from crowdnotes.bridging.public_scoring import score_public_data
    from crowdnotes.settings import load_settings

    scores = score_public_data(data, load_settings().bridging)
    counts = Counter(result.status.value for result in scores.statuses)
    if as_json:
        print_json(_scores(scores, counts))
        return
    for status, count in counts.most_common():
        print_text(f"{status}: {count}")
    _print_dropped(scores.dropped)
    for notice in scores.notices:
        print_text(notice)
    lacking = {f"{entry.rule} (needs {entry.missing})": None for note in scores.statuses for entry in note.not_applied}
    if lacking:
        print_text(f"Rules not applied: {', '.join(lacking)}.")
    print_text("--json tells each note's status, the rule that decided, and how far it is from every line.")


def _print_dropped(dropped: dict[str, int]) -> None:
    for reason, count in dropped.items():
        print_text(f"  dropped {count}: {reason}")


def _summary(found: Factorization, loaded: Ratings, dropped: dict[str, int]) -> dict[str, object]:
    from crowdnotes.bridging.scoring import doubts

    return {
        "objective": found.objective,
        "mean_squared_error": found.mean_squared_error,
        "global_intercept": found.global_intercept,
        "iterations": found.iterations,
        "converged": found.converged,
        "seconds": found.seconds,
        "ratings": found.ratings,
        "notes": len(found.notes),
        "raters": len(found.raters),
        "public_data": loaded.public,
        "dropped": dropped,
        "warnings": doubts(found),
    }


def _scores(scores: PublicScores, counts: Counter[str]) -> dict[str, object]:
    return {
        "global_intercept": scores.fit.global_intercept,
        "objective": scores.fit.objective,
        "ratings": scores.fit.ratings,
        "statuses": dict(counts),
        "dropped": scores.dropped,
        "notices": list(scores.notices),
        "notes": scores.statuses,
    }
