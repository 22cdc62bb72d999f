"""The local engine over the fake embedder."""

from __future__ import annotations

import pytest

from crowdnotes.engines.local import LocalEngine
from tests.fakes import HashingEmbedder


@pytest.fixture
def engine() -> LocalEngine:
    return LocalEngine(HashingEmbedder())
