"""`crowdnotes cases …`: list, show, export."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from crowdnotes.cli.output import Json, Out, open_workspace, print_json, print_text, progress, write_out
from crowdnotes.domain import CASE_STATES, CaseState
from crowdnotes.errors import InputError
from crowdnotes.wording import plural

app = typer.Typer(help="Your cases.", no_args_is_help=True)


@app.command("list")
def list_cases(
    search: Annotated[
        str, typer.Option(help="Only cases with all these words in post or note; “quoted” ones in this order.")
    ] = "",
    status: Annotated[str | None, typer.Option(help="Only with this status, as “sources to read”.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many, newest first.")] = 200,
    as_json: Json = False,
) -> None:
    """List cases, newest first."""
    wanted = _parse_status(status)
    with open_workspace() as workspace:
        found = workspace.cases.find(search=search, state=wanted, limit=limit)
    if as_json:
        print_json(found)
        return
    if not found:
        print_text("No cases.")
    for item in found:
        print_text(f"{item.id}  {item.updated_at:%Y-%m-%d %H:%M} UTC  {item.outcome:20}  {item.post_excerpt}")


@app.command("expire")
def expire(
    days: Annotated[int | None, typer.Option(min=1, help="Instead of CROWDNOTES_RETENTION_DAYS.")] = None,
) -> None:
    """Remove cases that were decided longer ago than that, but for their ids. The app does so daily, if set."""
    from crowdnotes.settings import load_settings

    settings = load_settings()
    if days is not None:
        settings = settings.replace(retention_days=days)
    if settings.retention_days is None:
        raise InputError("Remove cases after how many days?", "Give --days, or set CROWDNOTES_RETENTION_DAYS.")
    with open_workspace(settings) as workspace:
        print_text(plural(workspace.delete_old_cases(), "1 case removed", "{n} cases removed"))


@app.command("show")
def show(
    case_id: Annotated[str, typer.Argument(help="The case's id, as listed.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show one case whole, its audit trail included."""
    from crowdnotes.cases.export import to_json, to_markdown

    with open_workspace() as workspace:
        case = workspace.cases.get(case_id)
    print_text(to_json(case) if as_json else to_markdown(case))


@app.command("export")
def export(
    out: Out = None,
    format_: Annotated[
        Literal["csv", "json", "markdown"],
        typer.Option("--format", help="A table of all cases, or each case whole."),
    ] = "csv",
    case_id: Annotated[list[str] | None, typer.Option("--case", help="Only these cases; by default all.")] = None,
) -> None:
    """Export cases as CSV (a row each), JSON or Markdown."""
    from crowdnotes.cases.export import cases_csv, to_json, to_markdown

    with open_workspace() as workspace:
        stored = workspace.cases
        asked = tuple(stored.get(one) for one in case_id or ())
        cases, left_out = (asked, {}) if case_id else stored.read_all()
    for one, why in left_out.items():
        progress(f"{one} is left out. {why}")
    if format_ == "csv":
        text = cases_csv(cases, left_out)
    elif format_ == "json":
        text = "[\n" + ",\n".join(to_json(case) for case in cases) + "\n]\n"
    else:
        text = "\n".join(to_markdown(case) for case in cases)
    write_out(text, out, plural(len(cases), "1 case ", "{n} cases "))


def _parse_status(given: str | None) -> CaseState | None:
    """Return the state of that name, as the screen or the database has it."""
    if given is None:
        return None
    asked = given.strip().lower().replace("-", " ").replace("_", " ")
    found = next((state for state in CASE_STATES if asked in (state.as_text, state.value)), None)
    if found is None:
        known = "; ".join(state.as_text for state in CASE_STATES)
        raise InputError(f"There is no status “{given}”.", f"Use one of: {known}.")
    return found
