"""Cases for tests of the store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from crowdnotes.domain import Case, Event, Evidence, Mode, Passage, Post, Source, Span, text_sha256

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


def make_case(case_id: str = "c1", text: str = "Vaccines contain chips.", minutes: int = 0, **changes: object) -> Case:
    at = START + timedelta(minutes=minutes)
    event = Event(at=at, by="ada", kind="created")
    case = Case(id=case_id, created_at=at, updated_at=at, mode=Mode.AUTOMATION, post=Post(text=text), events=(event,))
    return case.model_copy(update=changes)


def with_event(case: Case, kind: str, **changes: object) -> Case:
    event = Event(at=START, by="ada", kind=kind)
    return case.model_copy(update={**changes, "events": (*case.events, event)})


def source(text: str) -> Source:
    return Source(id=text_sha256(text)[:8], title="A page", text_sha256=text_sha256(text), characters=len(text))


def evidence(item: Source) -> Evidence:
    passage = Passage(text="words", span=Span(start=0, end=5), similarity=0.5)
    return Evidence(id="E1", source=item, passage=passage, rank=1, why="closest")
