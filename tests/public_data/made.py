"""Small public data by hand, and the index of a folder."""

from __future__ import annotations

import atexit
import shutil
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from crowdnotes.bridging.columns import HISTORY, NOTES
from crowdnotes.bridging.public_files import Progress
from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.public_data.indexing import IndexReport, index_folder
from crowdnotes.public_data.sample_data import Planted, make_public_data
from tests.bridging.made import write_tsv

NOW = datetime(2025, 8, 1, tzinfo=UTC)
HOUR = 3_600_000
WRITTEN = 1_750_000_000_000  # 15 June 2025
POST = 1_934_000_000_000_000_000  # a snowflake of that day


def indexed(data: Path, index: Path, progress: Progress | None = None, *, fit_anew: bool = False) -> IndexReport:
    """The folder's new files in the index."""
    return index_folder(data, index, THRESHOLDS, NOW, progress, fit_anew=fit_anew)


def note_row(note: int, **more: object) -> dict[str, object]:
    """A note in today's schema."""
    return {
        "noteId": note,
        "noteAuthorParticipantId": "A",
        "createdAtMillis": WRITTEN,
        "tweetId": POST,
        "classification": "MISINFORMED_OR_POTENTIALLY_MISLEADING",
        "summary": "The vaccine was tested, as the health department says. https://example.org/1",
        **more,
    }


def write_notes(path: Path, *rows: dict[str, object]) -> Path:
    """A notes file in today's schema."""
    return write_tsv(path, NOTES.columns, rows)


def write_history(path: Path, *rows: dict[str, object]) -> Path:
    """A status history in today's schema."""
    return write_tsv(path, HISTORY.columns, rows)


@cache
def made_index() -> tuple[Path, Planted]:
    """The index of made-up data of 2,000 notes, and what is planted in it; made once, only to be read."""
    folder = Path(mkdtemp(prefix="crowdnotes-crowd-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    planted = make_public_data(folder / "public", notes=2_000, ratings=50_000)
    indexed(folder / "public", folder / "crowd.duckdb")
    return folder / "crowd.duckdb", planted
