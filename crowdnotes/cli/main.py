"""`crowdnotes …`: the commands, and how their errors are shown.

Results go to standard output, progress and errors to standard error. Exit codes: 0 done, 1 the
program refused with a sentence, 2 the command's words are off, 130 cancelled by Ctrl+C.
"""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup
from typer.main import get_command

from crowdnotes import __version__
from crowdnotes.cli import (
    bench,
    bench_cases,
    bench_supernotes,
    cases,
    evidence,
    models,
    notes,
    people,
    public_data,
    reports,
    train,
    x,
)
from crowdnotes.cli.output import print_text, progress
from crowdnotes.errors import CrowdNotesError

if TYPE_CHECKING:
    from typer._click.core import Command, Context

# These work with every part of the program: each is imported when it, or the list of commands, is asked for.
_MODULE_BY_LATE_COMMAND = dict.fromkeys(("draft", "supernote", "batch"), "crowdnotes.cli.draft") | dict.fromkeys(
    ("worker", "backup", "doctor", "restore"), "crowdnotes.cli.admin"
)


class _LateCommandGroup(TyperGroup):
    """With the commands that are imported late, behind the first one."""

    def list_commands(self, ctx: Context) -> list[str]:
        length, *others = super().list_commands(ctx)
        return [length, *_MODULE_BY_LATE_COMMAND, *others]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        if cmd_name not in _MODULE_BY_LATE_COMMAND:
            return super().get_command(ctx, cmd_name)
        alone = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
        alone.command(cmd_name)(getattr(import_module(_MODULE_BY_LATE_COMMAND[cmd_name]), cmd_name))
        return get_command(alone)


app = typer.Typer(
    name="crowdnotes",
    cls=_LateCommandGroup,
    help="Write Community Notes from evidence that you read.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("length")(notes.length)
app.command("search")(evidence.search)
app.command("fetch")(evidence.fetch)
app.add_typer(evidence.providers_app, name="providers")
app.add_typer(evidence.library_app, name="library")
app.add_typer(cases.app, name="cases")
app.command("overview")(reports.overview)
app.add_typer(reports.app, name="comparison")
app.add_typer(people.app, name="people")
app.add_typer(x.app, name="x")
app.add_typer(public_data.bridging_app, name="bridging")
app.add_typer(public_data.crowd_app, name="crowd")
app.add_typer(notes.app, name="jury")
app.add_typer(models.app, name="models")

bench_app = typer.Typer(help="Measure quality on your data.", no_args_is_help=True)
train_app = typer.Typer(help="Train the judges and the jury on your data.", no_args_is_help=True)
bench_app.command("retrieval")(bench.retrieval)
bench_app.command("reach")(bench.reach)
bench_app.command("helpfulness")(bench.helpfulness)
bench_app.command("correctness")(bench.correctness)
bench_app.command("principles")(bench.principles)
bench_app.command("needed")(bench.needed)
bench_app.command("healthnotes")(bench_cases.healthnotes)
bench_app.command("notes")(bench_cases.notes)
bench_app.command("supernotes")(bench_supernotes.supernotes)
bench_app.command("utility")(bench.utility)
bench_app.command("compare")(bench_cases.compare)
bench_app.command("jury")(bench.jury)
train_app.command("jury")(train.jury)
train_app.command("raters")(train.raters)
train_app.command("helpfulness")(train.helpfulness)
train_app.command("principles")(train.principles)
app.add_typer(bench_app, name="bench")
app.add_typer(train_app, name="train")


def _show_version(wanted: bool) -> None:
    if wanted:
        print_text(__version__)
        raise typer.Exit


@app.callback()
def _accept_root_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; every error of ours becomes its sentence and exit code 1."""
    # Expected errors are printed as a sentence below; only unexpected ones get a traceback.
    logging.getLogger("crowdnotes").setLevel(logging.ERROR)
    logging.getLogger("crowdnotes.settings").setLevel(logging.WARNING)  # a setting that is no longer one
    try:
        app()
    except CrowdNotesError as error:
        progress(f"crowdnotes: {error}")
        sys.exit(1)
    except BrokenPipeError:  # `crowdnotes … | head`
        sys.stderr.close()
        sys.exit(0)
