"""The day that evidence must not be later than: what is later goes, or stays with a mark where a person opened it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType

from crowdnotes.domain import AFTER_CUTOFF, UNDATED, FetchOutcome, Source

_OWN = frozenset({UNDATED, AFTER_CUTOFF})


def timely(
    source: Source,
    until: date | None,
    *,
    leave_out_undated: bool = False,
    collected: Mapping[str, date] = MappingProxyType({}),
) -> Source:
    """The source, labelled when it is later than the cutoff, and marked or left out when it has no date.

    `collected` tells of a library by name on which day it was: its undated records are no later than that.
    What an earlier cutoff marked is marked anew.
    """
    source = _unmarked(source)
    day = source.published or collected.get(source.library or "")
    if _is_later(source, day, until):
        return _left_out(source, FetchOutcome.TOO_LATE, _later(source, day, until))
    if source.published is not None or source.outcome is not FetchOutcome.READ:
        return source
    if leave_out_undated and day is None:
        return _left_out(source, FetchOutcome.UNDATED, "It has no date, so it may be later than the cutoff.")
    return source if until is None else _marked(source, UNDATED)


def kept_by_a_person(source: Source, until: date | None) -> Source:
    """A source that a person opened or pasted stays as it was read; that it is later, or undated, is a notice."""
    source = _unmarked(source)
    if _is_later(source, source.published, until):
        return _marked(source, AFTER_CUTOFF)
    is_dated = source.published is not None or source.by_hand or until is None
    return source if is_dated or source.outcome is not FetchOutcome.READ else _marked(source, UNDATED)


def _is_later(source: Source, day: date | None, until: date | None) -> bool:
    first = day or source.not_before
    return until is not None and first is not None and first > until


def _later(source: Source, day: date | None, until: date | None) -> str:
    said = f"of {day}" if day is not None else f"not before {source.not_before}"
    return f"It is {said}, later than {until}."


def _left_out(source: Source, outcome: FetchOutcome, detail: str) -> Source:
    return source.model_copy(update={"outcome": outcome, "outcome_detail": detail})


def _marked(source: Source, notice: str) -> Source:
    return source.model_copy(update={"notices": (*source.notices, notice)})


def _unmarked(source: Source) -> Source:
    if _OWN.isdisjoint(source.notices):
        return source
    return source.model_copy(update={"notices": tuple(notice for notice in source.notices if notice not in _OWN)})
