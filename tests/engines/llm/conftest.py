"""The clock by which a model's server is waited for, held by the test."""

from __future__ import annotations

import time

import pytest

from crowdnotes.engines.llm import server
from tests import llm_server
from tests.shared import HeldTime


@pytest.fixture
def passing_time(monkeypatch: pytest.MonkeyPatch) -> HeldTime:
    """It goes on by a twentieth of a second whenever somebody looks, and only then: what never comes is given up."""
    held = HeldTime(step=0.05)
    monkeypatch.setattr(server, "time", held)
    return held


class _ServersTime(HeldTime):
    def sleep(self, seconds: float) -> None:
        """Pass over so many seconds, for a moment of which the client has nothing to read and looks at the clock."""
        super().sleep(seconds)
        time.sleep(0.02 if seconds else 0.0)


@pytest.fixture
def servers_time(monkeypatch: pytest.MonkeyPatch) -> HeldTime:
    """It goes on by what the server lets pass before an answer, and only so."""
    held = _ServersTime()
    monkeypatch.setattr(llm_server, "time", held)
    monkeypatch.setattr(server, "time", held)
    monkeypatch.setattr(server, "CANCEL_CHECK_SECONDS", 0.002)
    return held
