"""Cases as earlier programs stored them: `stored/v<document version>.sqlite.gz`, each a whole database.

v0 is of the program before documents had a version: 34 cases at every stage, made with the demonstration pack.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

STORED = Path(__file__).parent / "stored"


def unpacked(folder: Path, name: str = "v0") -> Path:
    """The database as a file in `folder`."""
    path = folder / "crowdnotes.sqlite"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.decompress((STORED / f"{name}.sqlite.gz").read_bytes()))
    return path


def documents(folder: Path) -> list[dict[str, Any]]:
    """Every stored case of `unpacked(folder)`."""
    with sqlite3.connect(unpacked(folder)) as connection:
        return [json.loads(row[0]) for row in connection.execute("SELECT document FROM cases ORDER BY created_at")]
