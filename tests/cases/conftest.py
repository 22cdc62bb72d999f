"""A small workspace, opened for one test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdnotes.workspace import Workspace
from tests.cases.walk import small_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """See `small_workspace`."""
    with small_workspace(tmp_path) as workspace:
        yield workspace
