"""Logs and spans tell of which case and job they are, and hold no text of a post, a page or a note."""

from __future__ import annotations

import io
import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
import pytest
from opentelemetry import trace

from crowdnotes.domain import Case, Post, ProviderState
from crowdnotes.engines import SearchPlan
from crowdnotes.errors import InputError, ModelServerError, SearchError, StoreFullError
from crowdnotes.logs import json_lines, log_context
from tests.cases.walk import ThinkingEngine, draft_and_approve, new_case, post_about, small_workspace


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """All that anybody logs, libraries too, down to what only their makers want to see."""
    stream, root = io.StringIO(), logging.getLogger()
    handler, level = json_lines(stream), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


def _holds_no_text(told: str, case: Case) -> None:
    assert case.draft is not None
    passages = [item.passage.text for item in case.evidence]
    for text in (case.post.text, case.draft.text, *passages, *(draft.text for draft in case.revisions)):
        for sentence in text.split(". "):
            assert sentence[:25] not in told
    assert "makes people ill" not in told


class _Spans(trace.TracerProvider, trace.Tracer):
    """Keeps what it is told, as an SDK would send it on."""

    def __init__(self) -> None:
        self.ended: list[dict[str, Any]] = []

    def get_tracer(self, *args: Any, **kwargs: Any) -> trace.Tracer:
        return self

    def start_span(self, name: str, *args: Any, **kwargs: Any) -> trace.Span:
        raise NotImplementedError

    @contextmanager
    def start_as_current_span(self, name: str, **kwargs: Any) -> Iterator[trace.Span]:  # type: ignore[override]
        span = _Span(name, dict(kwargs["attributes"]))
        try:
            with trace.use_span(span, record_exception=False, set_status_on_exception=False):
                yield span
        finally:
            self.ended.append({"name": name, "error": span.error, **span.attributes})


class _Span(trace.NonRecordingSpan):
    def __init__(self, name: str, attributes: dict[str, Any]) -> None:
        super().__init__(trace.INVALID_SPAN_CONTEXT)
        self.attributes, self.error = attributes, ""

    def set_attributes(self, attributes: Any) -> None:
        self.attributes.update(attributes)

    def set_status(self, status: Any, description: str | None = None) -> None:
        self.error = description or ""


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> _Spans:
    """A program that is traced."""
    provider = _Spans()
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return provider


def test_of_a_whole_case_only_its_course_is_told(tmp_path: Path, logged: io.StringIO, spans: _Spans) -> None:
    with small_workspace(tmp_path, engine=ThinkingEngine()) as workspace:
        case = draft_and_approve(workspace, "kettle", "ann")
    lines = [json.loads(line) for line in logged.getvalue().splitlines()]
    ours = [line for line in lines if line["logger"] == "crowdnotes.jobs.runner"]
    assert {line["case"] for line in ours} == {case.id}
    assert all(line["job"] and line["level"] == "INFO" and line["time"].endswith("+00:00") for line in ours)
    assert any(line["message"].startswith("A step ended: read, ") for line in ours)
    _holds_no_text(logged.getvalue(), case)
    assert {f"stage {stage.name.value}" for stage in case.stages} <= {span["name"] for span in spans.ended}
    assert {span["crowdnotes.case"] for span in spans.ended} == {case.id}
    assert not any(span["error"] for span in spans.ended)
    _holds_no_text(json.dumps(spans.ended), case)


class _Broken(ThinkingEngine):
    def plan(self, post: Post, limit: int, today: date, places: Sequence[str] = ()) -> SearchPlan:
        raise ValueError(f"cannot search for: {post.text}")


def test_a_fault_is_told_by_its_kind_and_places(tmp_path: Path, logged: io.StringIO, spans: _Spans) -> None:
    with small_workspace(tmp_path, engine=_Broken()) as workspace:
        case = new_case(workspace, "kettle")
        job = workspace.start(case.id, "gather")
        workspace.runner.wait(job.id, 60)
    (line,) = [json.loads(line) for line in logged.getvalue().splitlines() if '"error"' in line]
    assert (line["case"], line["job"], line["message"]) == (case.id, job.id, "A step failed unexpectedly: queries")
    assert line["error"][0]["kind"] == "ValueError"
    assert line["error"][0]["places"][-1].endswith(" plan")
    assert spans.ended[-1]["error"] == "ValueError"
    assert post_about("kettle") not in logged.getvalue() + json.dumps(spans.ended)


def test_what_a_library_puts_into_its_words_is_left_out(logged: io.StringIO) -> None:
    with log_context("c1", "j1"):
        logging.getLogger("httpx").info("HTTP Request: %s", "https://api.example.org/?q=words+of+a+post&key=secret")
    assert json.loads(logged.getvalue()) | {"time": ""} == {
        "time": "",
        "level": "INFO",
        "logger": "httpx",
        "message": "HTTP Request: %s",
        "case": "c1",
        "job": "j1",
        "arguments": ["https://api.example.org"],
    }


def test_of_what_a_library_puts_into_its_words_numbers_and_hosts_are_told(logged: io.StringIO) -> None:
    def told(message: str, *values: object) -> list[object]:
        logging.getLogger("library").warning(message, *values)
        return list(json.loads(logged.getvalue().splitlines()[-1])["arguments"])

    assert told("Running on %s://%s:%d", "http", "127.0.0.1", 8501) == ["http", "127.0.0.1", 8501]
    assert told("%s said %s: %r", "10.0.0.7:5234", "makes people ill", ConnectionResetError(104, "my words")) == [
        "10.0.0.7:5234",
        "str of 16 characters",
        f"ConnectionResetError: {os.strerror(104)}",
    ]
    assert told("%(url)s of %(key)s", {"url": "https://ann:pw@a.org:80/x?q=ill#y", "key": "sk-123"}) == [
        "https://a.org:80",
        "str of 6 characters",
    ]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (StoreFullError("The disk is full."), "The disk is full."),
        (SearchError("It refused the search: “makes people ill”", ProviderState.FAILED), "It refused the search …"),
        (SearchError("It has a fault (503).", ProviderState.FAILED), "It has a fault (503)."),
        (ModelServerError("The server a failed (makes people ill)."), "The server a failed …"),
        (ModelServerError("See https://a.org/?q=ill&key=sk-1 again."), "See https://a.org again."),
        (InputError("makes people ill is no link."), None),
        (FileNotFoundError(2, "x", "/home/ann/ill.csv"), os.strerror(2)),
        (psycopg.errors.UndefinedTable("makes people ill"), "SQLSTATE 42P01"),
        (ValueError("makes people ill"), None),
    ],
)
def test_an_error_has_its_reason_where_that_holds_no_text(
    logged: io.StringIO, error: Exception, reason: str | None
) -> None:
    outer = RuntimeError()
    outer.__cause__ = error
    logging.getLogger("crowdnotes.test").error("It failed.", exc_info=outer)
    assert json.loads(logged.getvalue())["error"][1].get("reason") == reason
    assert "ill" not in logged.getvalue().replace(__file__, "")
