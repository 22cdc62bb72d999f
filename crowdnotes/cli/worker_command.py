"""`crowdnotes worker`: does the work that others ask for, on this machine or any other."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated

import typer

from crowdnotes.cli.output import progress
from crowdnotes.jobs.queue import require_tables
from crowdnotes.logs import log_as_json
from crowdnotes.settings import load_settings
from crowdnotes.workspace import open_workspace, warm_up


def worker(
    kinds: Annotated[
        str | None, typer.Option(help="Only work of these kinds, with commas between; all without.")
    ] = None,
    slots: Annotated[int, typer.Option(min=1, max=64, help="How many jobs at once.")] = 4,
) -> None:
    """Do the work that the app and `crowdnotes batch` ask for, until Ctrl+C. It needs a PostgreSQL database.

    Start as many as you like, on as many machines: when one dies, another goes on with its work.
    """
    settings = load_settings()
    tell: Callable[[str], None] = progress
    if settings.log_json:
        log_as_json()
        tell = logging.getLogger(__name__).info
    require_tables(settings.resolved_database_url)
    with open_workspace(settings) as workspace:
        doing = workspace.worker(slots=slots, kinds=[kind.strip() for kind in kinds.split(",")] if kinds else None)
        warm_up(workspace)
        tell(f"waiting for work, {slots} at once")
        doing.run(heed_signals=True)
    tell("stopped; what was under way goes to another worker")
