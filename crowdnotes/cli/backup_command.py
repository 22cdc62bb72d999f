"""`crowdnotes backup` and `crowdnotes restore`: what people made, in one file and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crowdnotes.cli.output import print_text
from crowdnotes.settings import load_settings
from crowdnotes.storage.backup import make_backup, restore_backup


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write, as in crowdnotes.zip.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")] = False,
) -> None:
    """Write cases, images, people, comparisons and libraries into one file, while the app goes on.

    Caches, fetched models, settings and keys are not in it. On PostgreSQL it needs pg_dump.
    """
    made = make_backup(load_settings(), file, replace=overwrite)
    print_text(f"{file}: {made.backend}, schema {made.schema_version}, {file.stat().st_size / 1e6:.1f} MB")


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `crowdnotes backup` wrote.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the database and the libraries that are there.")
    ] = False,
) -> None:
    """Put back what is in a backup. Stop the app and the workers first. On PostgreSQL it needs pg_restore."""
    made = restore_backup(load_settings(), file, replace=overwrite)
    print_text(f"Restored as it was on {made.made_at:%Y-%m-%d %H:%M} UTC.")
