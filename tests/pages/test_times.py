"""Times stand as the browser's clock has them, their zone named; a zone that is not known is UTC."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import streamlit as st

from pages.common.times import moment, time_mark

AT = datetime(2026, 3, 4, 23, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "told"),
    [
        ("Europe/Berlin", "5 March 2026, 00:30 CET"),
        ("America/New_York", "4 March 2026, 18:30 EST"),
        ("Asia/Kathmandu", "5 March 2026, 05:15 UTC+0545"),
        *(
            (zone, "4 March 2026, 23:30 UTC")
            for zone in (None, "UTC", "Mars/Crater", "America", "../etc/passwd", "\x00")
        ),
    ],
)
def test_a_moment_is_told_by_the_readers_clock(monkeypatch: pytest.MonkeyPatch, zone: str | None, told: str) -> None:
    monkeypatch.setattr(type(st.context), "timezone", zone)
    assert moment(AT) == told


def test_a_short_time_names_its_zone_and_utc_under_the_pointer(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(st, "html", lambda body, **_: drawn.append(body))
    for zone in ("Europe/Berlin", "UTC"):
        monkeypatch.setattr(type(st.context), "timezone", zone)
        time_mark(AT)
    assert 'title="5 March 2026, 00:30 CET (23:30 UTC)">5 Mar 2026, 00:30<' in drawn[0]
    assert 'title="4 March 2026, 23:30 UTC">4 Mar 2026, 23:30<' in drawn[1]
