"""`crowdnotes bridging …` and `crowd …`: score X's public data, and show what it says of the crowd."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdnotes.cli.output import Json, day, print_json, print_text, progress
from crowdnotes.errors import InputError
from crowdnotes.text.markdown import count

if TYPE_CHECKING:
    from crowdnotes.bridging.model import Factorization
    from crowdnotes.bridging.ratings import Ratings
    from crowdnotes.public_data.delays import Hours
    from crowdnotes.public_data.indexing import IndexReport
    from crowdnotes.public_data.surges import Term


bridging_app = typer.Typer(help="The Community Notes algorithm on public data.", no_args_is_help=True)

# The algorithm's imports wait inside the commands: loading its compiled code takes half a second that
# no other command should pay.


@bridging_app.command("read")
def read(
    data: Annotated[Path, typer.Option(help="A folder of the downloaded public data, zipped or not.")],
    out: Annotated[Path, typer.Option(help="Where the Parquet files go.")],
    as_json: Json = False,
) -> None:
    """Read notes, ratings, status history and enrolment into Parquet, and print what was dropped and why."""
    from crowdnotes.bridging.public_files import read_public_data

    _name_passed_over(data)
    reports = read_public_data(data, out, lambda table, rows: progress(f"  {table}: {rows} rows"))
    if as_json:
        print_json(reports)
        return
    for report in reports:
        print_text(f"{report.table}: {report.rows} rows in {report.seconds:.1f} s")
        _print_dropped(report.dropped)
        if report.unknown_columns:
            print_text(f"  unknown columns left out: {', '.join(report.unknown_columns)}")


@bridging_app.command("fit")
def fit(
    ratings: Annotated[Path, typer.Option(help="Public ratings (TSV, zip, Parquet, a folder), or a prepared table.")],
    out: Annotated[Path, typer.Option(help="A folder for notes.parquet and raters.parquet.")],
    factors: Annotated[int, typer.Option(min=1, max=3, help="How many factors.")] = 1,
    filtered: Annotated[
        bool | None,
        typer.Option("--filter/--no-filter", help="The documented filter; by default only for public data."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fit the matrix factorization and write the notes' and raters' parameters."""
    from crowdnotes.bridging import factorization
    from crowdnotes.bridging.model import filter_mask, nothing_left
    from crowdnotes.bridging.ratings import load_ratings, write_fit
    from crowdnotes.bridging.scoring import doubts

    _name_passed_over(ratings)
    loaded = load_ratings(ratings)
    table, dropped = loaded.table, dict(loaded.dropped)
    if loaded.public if filtered is None else filtered:
        keep, few = filter_mask(table)
        table, dropped = table.keep(keep), dropped | few
    if not len(table):
        raise nothing_left(dropped)
    found = factorization.fit(table, factors=factors)
    write_fit(found, out)
    if as_json:
        print_json(_summarise_factorization(found, loaded, dropped))
        return
    print_text(f"{found.ratings} ratings of {len(found.notes)} notes by {len(found.raters)} raters")
    _print_dropped(dropped)
    print_text(f"objective {found.objective:.6f}, of which mean squared error {found.mean_squared_error:.6f}")
    print_text(f"global intercept {found.global_intercept:.4f}")
    print_text(f"{found.iterations} iterations in {found.seconds:.3f} s")
    for sentence in doubts(found):
        print_text(sentence)


@bridging_app.command("score")
def score(
    data: Annotated[Path, typer.Option(help="A folder with ratings; notes and status history for all rules.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print each note's status and story as JSON.")] = False,
) -> None:
    """Give every rated note its status, with the rule that decided and what blocks it."""
    from crowdnotes.bridging.public_scoring import score_public_data
    from crowdnotes.bridging.thresholds import Thresholds
    from crowdnotes.settings import load_settings

    _name_passed_over(data)
    scores = score_public_data(data, Thresholds(raters=load_settings().bridging_raters))
    counts = Counter(result.status.value for result in scores.statuses)
    if as_json:
        print_json(
            {
                "global_intercept": scores.fit.global_intercept,
                "objective": scores.fit.objective,
                "ratings": scores.fit.ratings,
                "raters": scores.raters,
                "statuses": dict(counts),
                "dropped": scores.dropped,
                "notices": list(scores.notices),
                "notes": scores.statuses,
            }
        )
        return
    print_text(scores.raters.sentence)
    for status, many in counts.most_common():
        print_text(f"{status}: {many}")
    _print_dropped(scores.dropped)
    for notice in scores.notices:
        print_text(notice)
    lacking = {f"{entry.rule} (needs {entry.missing})": None for note in scores.statuses for entry in note.not_applied}
    if lacking:
        print_text(f"Rules not applied: {', '.join(lacking)}.")
    print_text("--json prints each note's status, the rule that decided, and its distance to each threshold.")


def _name_passed_over(data: Path) -> None:
    """Print what of a folder is not read, on standard error."""
    from crowdnotes.bridging.public_files import passed_over

    for sentence in passed_over(data):
        progress(sentence)


def _print_dropped(dropped: dict[str, int]) -> None:
    for reason, many in dropped.items():
        print_text(f"  dropped {many}: {reason}")


def _summarise_factorization(found: Factorization, loaded: Ratings, dropped: dict[str, int]) -> dict[str, object]:
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


crowd_app = typer.Typer(help="What the public data shows: a note's story, surges, delays.", no_args_is_help=True)
_IndexOption = Annotated[Path | None, typer.Option(help="The index; by default in the data folder.")]

# What the commands work with is imported inside them: tables and compiled code that no other command should pay for.


@crowd_app.command("index")
def index(
    folder: Annotated[Path, typer.Argument(help="A folder of the downloaded public data, zipped or not.")],
    index: _IndexOption = None,
    fit: Annotated[bool, typer.Option("--fit", help="Fit the raters again, even for few new ratings.")] = False,
    as_json: Json = False,
) -> None:
    """Add what is new in a folder of X's public data to the index that the other commands ask."""
    from crowdnotes.bridging.thresholds import Thresholds
    from crowdnotes.public_data.indexing import index_folder
    from crowdnotes.settings import load_settings

    try:
        report = index_folder(
            folder,
            _get_index_path(index),
            Thresholds(raters=load_settings().bridging_raters),
            datetime.now(UTC),
            lambda table, rows: progress(f"  {table}: {rows} rows"),
            fit_anew=fit,
        )
    except KeyboardInterrupt:
        progress("stopped; finished files are kept. Repeat the command to go on")
        raise typer.Exit(130) from None
    if as_json:
        print_json(report)
    else:
        _print_report(report)


@crowd_app.command("note")
def note(
    wanted: Annotated[str, typer.Argument(help="A note's id, or a post's id or address.")],
    index: _IndexOption = None,
    as_json: Json = False,
) -> None:
    """Print a note's story: the ratings as they came, the score after them, and what changed its status."""
    from crowdnotes.public_data.database import reading
    from crowdnotes.public_data.story import story

    with reading(_get_index_path(index)) as connection:
        found = story(connection, wanted)
    if as_json:
        print_json(found)
        return
    print_text(found.paragraph)
    for other in found.notes_on_post:
        mark = "*" if other.note == found.note else " "
        print_text(f"{mark} {other.note}  {other.status or 'status not known'}, {count(other.ratings, 'rating')}")
    if found.score is None:
        print_text(found.score_not_run)
        return
    for change in found.score.changes:
        print_text(f"{change.at:%Y-%m-%d %H:%M}  rating {change.ratings}: {change.after}, by {change.decided_by}")
        print_text(f"    {change.why}")
    print_text(f"Rules not applied: {', '.join(found.score.not_applied)}.")


_LanguageOption = Annotated[str | None, typer.Option(help="Only this language, by two letters.")]
_TopicOption = Annotated[
    str | None, typer.Option(help="Only this topic: “health” for any, a number from 1 to 7, or a name.")
]


@crowd_app.command("surges")
def surges(
    day_of: Annotated[str | None, typer.Option("--day", help="Posts and words of this day (YYYY-MM-DD).")] = None,
    language: _LanguageOption = None,
    topic: _TopicOption = None,
    terms: Annotated[int, typer.Option(min=0, help="For how many surges to look for words.")] = 5,
    index: _IndexOption = None,
    as_json: Json = False,
) -> None:
    """Days on which unusually many posts got notes, and what these speak of."""
    from crowdnotes.public_data import surges as surge_report
    from crowdnotes.public_data.database import reading
    from crowdnotes.public_data.posts import Filter, gather_posts

    chosen, wanted = Filter(language, topic), day(day_of)
    with reading(_get_index_path(index)) as connection:
        if wanted is not None:
            gather_posts(connection, chosen)
            words, posts = surge_report.trending(connection, wanted), surge_report.posts_of_day(connection, wanted)
        else:
            found = surge_report.surges(connection, chosen, terms)
    if wanted is not None:
        if as_json:
            print_json({"day": wanted, "counted": chosen.as_text, "terms": words, "posts": posts})
            return
        print_text(_join_terms(words) or "No word is typical of this day.")
        for post in posts:
            print_text(f"{post.post}  {count(post.notes, 'note')}, {count(post.ratings, 'rating')}  {post.first_note}")
    elif as_json:
        print_json(found)
    else:
        print_text(found.not_run or found.sentence)
        for surge in found.surges:
            print_text(f"{surge.day}  {surge.posts} posts, usually {surge.mean:.1f}  {_join_terms(surge.terms or ())}")


@crowd_app.command("work")
def work(
    day_of: Annotated[str | None, typer.Option("--day", help="Only posts of this day (YYYY-MM-DD).")] = None,
    all_days: Annotated[bool, typer.Option("--all-days", help="Posts of any day.")] = False,
    language: _LanguageOption = None,
    topic: _TopicOption = None,
    index: _IndexOption = None,
    as_json: Json = False,
) -> None:
    """List posts of the surge days whose notes are not shown, where a note would matter most first."""
    from crowdnotes.public_data import open_posts
    from crowdnotes.public_data.database import reading
    from crowdnotes.public_data.posts import Filter
    from crowdnotes.public_data.surges import surges as find_surges

    chosen, wanted = Filter(language, topic), day(day_of)
    if wanted is not None and all_days:
        raise InputError("--day and --all-days exclude each other.", "Give one of them.")
    with reading(_get_index_path(index)) as connection:
        marked = [wanted] if wanted else [surge.day for surge in find_surges(connection, chosen).surges]
        found = open_posts.work(connection, chosen, None if all_days else marked)
    if as_json:
        print_json(found)
        return
    print_text(found.sentence)
    for post in found.posts:
        print_text(f"{post.url}  {count(post.notes, 'note')}, {count(post.ratings, 'rating')}")
        print_text(f"    {post.why}")


@crowd_app.command("delays")
def delays(
    language: _LanguageOption = None,
    topic: _TopicOption = None,
    index: _IndexOption = None,
    as_json: Json = False,
) -> None:
    """How late notes come: from post to first note, from there to the first verdict, and how many never get one."""
    from crowdnotes.public_data import delays as delay_report
    from crowdnotes.public_data.database import reading
    from crowdnotes.public_data.posts import Filter

    chosen = Filter(language, topic)
    with reading(_get_index_path(index)) as connection:
        found = delay_report.delays(connection, chosen)
    if as_json:
        print_json(found)
        return
    print_text(found.sentence)
    for group in (found.overall, *found.by_topic, *found.by_language, *found.by_month):
        first, verdict = (_format_hours(hours) for hours in (group.to_first_note, group.to_verdict))
        print_text(f"{group.group}: {count(group.posts, 'post')}; first note {first}; verdict {verdict}")


@crowd_app.command("make-data")
def make_data(
    folder: Annotated[Path, typer.Argument(help="Where the files go.")],
    notes: Annotated[int, typer.Option(help="How many notes.")] = 2_000,
    ratings: Annotated[int, typer.Option(help="How many ratings, about.")] = 60_000,
    days: Annotated[int, typer.Option(help="Over how many days.")] = 120,
    shards: Annotated[int, typer.Option(min=1, help="Into how many rating files.")] = 2,
    seed: Annotated[int, typer.Option(help="Another seed, other data.")] = 0,
    raters: Annotated[int | None, typer.Option(help="How many raters; by default as many as fit.")] = None,
    zipped: Annotated[bool, typer.Option("--zip", help="Ratings as zips, a tenth of the size.")] = False,
    as_json: Json = False,
) -> None:
    """Make up public data with a known surge, known delays and known camps, to try the program on."""
    from crowdnotes.public_data.sample_data import make_public_data

    planted = make_public_data(
        folder, notes=notes, ratings=ratings, days=days, shards=shards, seed=seed, raters=raters, zipped=zipped
    )
    if as_json:
        print_json(planted)
        return
    print_text(f"{planted.notes} notes on {planted.posts} posts, {planted.ratings} ratings by {planted.raters} raters.")
    print_text(f"Planted: a surge on {planted.surge_day}, with {planted.surge_posts} posts. --json prints all of it.")


def _join_terms(terms: Sequence[Term]) -> str:
    return ", ".join(f"{term.term} ({term.posts} of {term.of_posts} posts)" for term in terms)


def _format_hours(hours: Hours) -> str:
    if hours.p50 is None or hours.p90 is None:
        return hours.not_run
    return f"within {hours.p50:.1f} hours for half, {hours.p90:.1f} for nine in ten of {hours.n}"


def _get_index_path(index: Path | None) -> Path:
    from crowdnotes.public_data.database import index_path
    from crowdnotes.settings import load_settings

    return index or index_path(load_settings().data_dir)


def _print_report(report: IndexReport) -> None:
    for file in report.loaded.files:
        print_text(f"{file.file}: {file.rows} rows{' more' if file.grown else ''} in {file.seconds:.1f} s")
        for reason, number in file.dropped.items():
            print_text(f"  {number}: {reason}")
    if report.loaded.unchanged:
        print_text(f"Unchanged: {', '.join(report.loaded.unchanged)}.")
    for problem in report.loaded.problems:
        print_text(problem)
    print_text("The index holds " + ", ".join(f"{number} {name}" for name, number in report.totals.items()) + ".")
    fit = report.fit
    if fit.not_run:
        print_text(f"Raters not fitted. {fit.not_run}")
    else:
        print_text(f"Raters fitted on {fit.ratings} ratings of {fit.notes} notes by {fit.raters} raters.")
        if fit.whose is not None:
            print_text(fit.whose.sentence)
        for notice in fit.notices:
            print_text(f"  {notice}")
        counts = ", ".join(f"{number} {status}" for status, number in fit.statuses.items())
        print_text(f"Notes by their status in this fit: {counts}.")
        if fit.on_x:
            print_text(f"X has the same status for {fit.as_on_x} of {fit.on_x} of them.")
