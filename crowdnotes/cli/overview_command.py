"""`crowdnotes overview`: how the cases on this machine went, in figures."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer

from crowdnotes.cli.output import Json, day, open_workspace, print_json, print_text, progress
from crowdnotes.errors import InputError
from crowdnotes.text.markdown import count


def overview(
    since: Annotated[str | None, typer.Option(help="Only cases begun on this day or later (YYYY-MM-DD).")] = None,
    ended: Annotated[
        str | None, typer.Option(help="Only cases that ended so: “approved”, “rejected”, “open” …")
    ] = None,
    engine: Annotated[str | None, typer.Option(help="Only cases on which this engine worked.")] = None,
    demonstrations: Annotated[bool, typer.Option("--demonstrations", help="Count demonstration cases too.")] = False,
    as_json: Json = False,
) -> None:
    """How cases went: time from post to note, gates, what was mended, sources, agreement and cost."""
    from crowdnotes import overview as room

    if ended is not None and ended not in room.ENDINGS:
        raise InputError(f"No case ends “{ended}”.", f"Use one of: {', '.join(room.ENDINGS)}.")
    first = day(since)
    begun = datetime(first.year, first.month, first.day, tzinfo=UTC) if first else None
    wanted = room.Filter(begun, ended, engine, demonstrations)
    with open_workspace() as workspace:
        figures, unreadable = room.read(workspace.service, {})
    for one, why in unreadable.items():
        progress(f"{one} is left out. {why}")
    found = room.overview(case for case in figures if wanted.keeps(case))
    if as_json:
        print_json(asdict(found) | {"unreadable": unreadable})
        return
    print_text(found.remark or count(found.cases, "case"))
    for picture in found.pictures:
        print_text(f"\n{picture.title}")
        print_text(f"  {picture.sentence}")
        if picture.beside:
            print_text(f"  {picture.beside}")
        if picture.not_counted:
            print_text(f"  Not counted: {', '.join(picture.not_counted)}.")
