"""Days as a person writes them on the command line."""

from __future__ import annotations

from datetime import UTC, date, datetime

from crowdnotes.errors import InputError


def day(given: str | None) -> date | None:
    """A day written as YYYY-MM-DD; None for none. Raises InputError for anything else."""
    if given is None:
        return None
    try:
        return datetime.strptime(given.strip(), "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        raise InputError(f"“{given}” is not a day.", "Write it as YYYY-MM-DD, for example 2025-06-30.") from None
