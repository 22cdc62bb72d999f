"""`crowdnotes x …`: posts that X takes notes for, what X scores, and approved notes on their way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdnotes.cli.output import Json, open_workspace, print_json, print_text, progress, write_out
from crowdnotes.domain import OnX
from crowdnotes.errors import ConfigurationError, WorkflowError

if TYPE_CHECKING:
    from crowdnotes.cases.cases import Cases
    from crowdnotes.x_api.submission import ToX

app = typer.Typer(help="Send approved notes to X, from an enrolled AI note writer account.", no_args_is_help=True)
_CaseIdArgument = Annotated[str, typer.Argument(help="The case's id (`crowdnotes cases list`).")]


@app.command("eligible")
def eligible(
    out: Annotated[Path, typer.Argument(help="A .jsonl file for `crowdnotes batch`.")],
    most: Annotated[int, typer.Option(min=1, max=5_000, help="How many posts at most.")] = 100,
    selection: Annotated[str, typer.Option(help="X's own words: feed_size:large,feed_lang:es")] = "",
) -> None:
    """Write the posts for which X takes notes now into a file for a batch."""
    with _open_cases_and_x() as (_, x):
        x.require()
        found = x.client.eligible(most, selection)
    rows = (
        {"id": post.id, "text": post.text, "url": f"https://x.com/i/status/{post.id}", "links": post.links}
        for post in found
    )
    write_out("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), out, f"{len(found)} posts ")


@app.command("evaluate")
def evaluate(case_id: _CaseIdArgument) -> None:
    """Let X score the note of a case, before it is approved; nothing is sent for others to see."""
    with _open_cases_and_x() as (_, x):
        print_text(f"claim-opinion score {x.evaluate(case_id):.2f} (higher is better; no scale)")


@app.command("submit")
def submit(
    case_id: _CaseIdArgument, yes: Annotated[bool, typer.Option("--yes", help="Do not ask before sending.")] = False
) -> None:
    """Send the approved note of a case, word for word and once."""
    with _open_cases_and_x() as (cases, x):
        draft = cases.get(case_id).draft
        if draft is None:
            raise WorkflowError("no note", "There is no note.")
        if not yes:
            print_text(draft.text)
            typer.confirm("Send it as a test?" if x.test_mode else "Send it for all to see?", abort=True, err=True)
        progress(_describe_sent_note(x, x.submit(case_id, draft.sha256)))


@app.command("status")
def status(
    case_id: Annotated[str | None, typer.Argument(help="The case's id; by default all with a sent note.")] = None,
    as_json: Json = False,
) -> None:
    """Ask X for the status of the note of a case, or of all that were sent; it is kept with the cases."""
    with _open_cases_and_x() as (_, x):
        found = x.follow(case_id) if case_id else x.follow_all()
    if as_json:
        print_json(found)
    elif isinstance(found, OnX):
        print_text(_describe_sent_note(x, found))
    else:
        for one in found.listed:
            print_text(f"{one.case_id} {_describe_sent_note(x, one)}")
        for one in found.not_listed:
            print_text(f"{one.case_id} X does not list the note.")


@app.command("delete")
def delete(case_id: _CaseIdArgument) -> None:
    """Delete the note of a case on X; another one may then be sent."""
    with _open_cases_and_x() as (_, x):
        x.withdraw(case_id)
    progress("deleted")


def _describe_sent_note(x: ToX, found: OnX) -> str:
    return f"sent{' as a test' if found.test_mode else ''}: note {found.note_id} {x.as_text(found)}".rstrip()


@contextmanager
def _open_cases_and_x() -> Iterator[tuple[Cases, ToX]]:
    with open_workspace() as workspace:
        if workspace.x is None:
            raise ConfigurationError(
                "X is not set up.", "Set CROWDNOTES_X_API_KEY and its three companions (docs/x.md)."
            )
        yield workspace.cases, workspace.x
