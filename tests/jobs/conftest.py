from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from crowdnotes.jobs.runner import ThreadJobRunner
from crowdnotes.testing import FixedClock


@pytest.fixture
def runner(engine: Engine) -> Iterator[ThreadJobRunner]:
    runner = ThreadJobRunner(engine, workers=2, clock=FixedClock())
    yield runner
    runner.close()
