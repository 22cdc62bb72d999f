"""`crowdnotes people …`: who signed in, and what they may do. Anyone with access to the database may use it."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdnotes.cli.output import Json, Out, open_workspace, print_json, print_text, write_out
from crowdnotes.domain import Actor
from crowdnotes.errors import InputError

app = typer.Typer(help="People and their roles.", no_args_is_help=True)
_IssuerArgument = Annotated[str, typer.Argument(help="Their issuer, as listed.")]
_SubjectArgument = Annotated[str, typer.Argument(help="Their subject, as listed.")]


@app.command("list")
def everybody(as_json: Json = False) -> None:
    """List everybody who signed in once."""
    with open_workspace() as workspace:
        found = workspace.people.everybody()
    if as_json:
        print_json(found)
        return
    for one in found:
        state = "disabled" if one.disabled_at else "last seen"
        at = one.disabled_at or one.last_seen
        print_text(f"{one.key}  {one.name}  {one.role}  {state} {at:%Y-%m-%d}")
    if not found:
        print_text("Nobody has signed in.")


@app.command("role")
def role(
    issuer: _IssuerArgument,
    subject: _SubjectArgument,
    to: Annotated[str, typer.Argument(help="viewer, contributor, moderator or admin.")],
) -> None:
    """Change what a person may do, from their next act on."""
    wanted = _build_actor(issuer, subject, to)
    with open_workspace() as workspace:
        workspace.people.set_role(wanted, wanted.role)
    print_text(f"{wanted.key}: {to}")


@app.command("disable")
def disable(issuer: _IssuerArgument, subject: _SubjectArgument) -> None:
    """Keep a person out, from their next act on."""
    _set_disabled(issuer, subject, disabled=True)


@app.command("enable")
def enable(issuer: _IssuerArgument, subject: _SubjectArgument) -> None:
    """Let a person in who waits, or who was kept out."""
    _set_disabled(issuer, subject, disabled=False)


@app.command("export")
def export(issuer: _IssuerArgument, subject: _SubjectArgument, out: Out = None) -> None:
    """Write all that is on record by and about a person, as JSON."""
    with open_workspace() as workspace:
        found = workspace.people.exported(_build_actor(issuer, subject))
    write_out(f"{found}\n", out)


@app.command("erase")
def erase(
    issuer: _IssuerArgument,
    subject: _SubjectArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Needed, as it cannot be undone.")] = False,
) -> None:
    """Take a person's name out of every record, and remove the cases that they began and did not share.

    Of a case that moderators reviewed, what they found stays, without what its author wrote.
    """
    person = _build_actor(issuer, subject)
    if not yes:
        raise InputError("This cannot be undone.", "Keep what `crowdnotes people export` writes, then add --yes.")
    with open_workspace() as workspace:
        removed, changed = workspace.people.erase(person)
    print_text(f"{removed} cases removed, the name removed from {changed}")


def _build_actor(issuer: str, subject: str, role: str = "viewer") -> Actor:
    from crowdnotes.cases.permissions import actor_of

    return actor_of(issuer, subject, "name", role)


def _set_disabled(issuer: str, subject: str, *, disabled: bool) -> None:
    person = _build_actor(issuer, subject)
    with open_workspace() as workspace:
        workspace.people.set_disabled(person, disabled=disabled)
    print_text(f"{person.key}: {'disabled' if disabled else 'enabled'}")
