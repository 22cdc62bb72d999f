"""Times as the reader's clock shows them; what is stored and exported stays in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import streamlit as st

from crowdnotes.text.markdown import day


def moment(when: datetime) -> str:
    """For example "4 March 2026, 16:04 CET"."""
    local = when.astimezone(_browser_zone())
    return f"{day(local)}, {local:%H:%M} {_zone_name(local)}"


def clock_time(when: datetime) -> str:
    """For example "16:04"."""
    return f"{when.astimezone(_browser_zone()):%H:%M}"


def time_mark(when: datetime, words: str = "") -> None:
    """Draw a short time, "4 Mar 2026, 16:04", or `words`; the tooltip has the zone and the time in UTC.

    `words` go into the page as they are: none from outside.
    """
    local = when.astimezone(_browser_zone())
    whole = moment(when)
    also = "" if whole.endswith(" UTC") else f" ({when.astimezone(UTC):%H:%M} UTC)"
    short = words or f"{local.day} {local:%b %Y, %H:%M}"
    # Nothing in it is from outside: a zone that no computer knows is taken for UTC.
    st.html(f'<time datetime="{when.isoformat()}" title="{whole}{also}">{short}</time>', width="content")


def _browser_zone() -> tzinfo:
    """Return the browser's zone; UTC where it names none that is known here."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (KeyError, ValueError, OSError):  # an unknown name; one that is no name; that of a folder of zones
        return UTC


def _zone_name(local: datetime) -> str:
    """Its short name, "CET"; "UTC+03" for a zone that has none."""
    name = local.tzname() or "UTC"
    return f"UTC{name}" if name[:1] in "+-" else name
