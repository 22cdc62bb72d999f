"""What whoever runs the program sees of its work: log lines as JSON, and spans for OpenTelemetry. Neither holds a text.

An exception's own words may hold a post, an address or a key, so of an exception its kinds and places alone are told;
and of what a library has to say the form, without what it puts in.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO

_case_and_job: ContextVar[tuple[str, str]] = ContextVar("about", default=("", ""))


@contextmanager
def about(case: str, job: str = "") -> Iterator[None]:
    """What this thread logs inside is of that case and job."""
    token = _case_and_job.set((case, job))
    try:
        yield
    finally:
        _case_and_job.reset(token)


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        is_ours = record.name.split(".")[0] == __name__.split(".", maxsplit=1)[0]
        case, job = _case_and_job.get()
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage() if is_ours else str(record.msg),
            "case": case,
            "job": job,
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = list(_list_error_chain(record.exc_info[1]))
        return json.dumps(line, ensure_ascii=False)


def _list_error_chain(error: BaseException | None) -> Iterator[dict[str, object]]:
    """The error and what led to it, by kind and place."""
    while error is not None:
        places = [f"{at.filename}:{at.lineno} {at.name}" for at in traceback.extract_tb(error.__traceback__)]
        yield {"kind": type(error).__name__, "places": places}
        error = error.__cause__ or error.__context__


def json_lines(stream: TextIO | None = None) -> logging.Handler:
    """A handler that writes them, to standard error if not elsewhere."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_JsonFormatter())
    return handler


def log_as_json() -> None:
    """From now on what this process logs is JSON: ours from INFO on, what libraries say from WARNING on."""
    logging.basicConfig(handlers=[json_lines()], level=logging.WARNING, force=True)
    logging.getLogger("crowdnotes").setLevel(logging.INFO)


@contextmanager
def span(name: str, **what: str) -> Iterator[None]:
    """A span of a program that is traced. One that traces has loaded OpenTelemetry before this; else it costs nothing.

    Of an error its kind is noted and not, as OpenTelemetry does by itself, its words.
    """
    if "opentelemetry.trace" not in sys.modules:
        yield
        return
    from opentelemetry.trace import StatusCode, get_tracer

    attributes = {f"crowdnotes.{key}": value for key, value in what.items()}
    with get_tracer("crowdnotes").start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as begun:
        try:
            yield
        except Exception as error:
            begun.set_status(StatusCode.ERROR, type(error).__name__)
            raise


def count_in_span(**counts: int) -> None:
    """Numbers of the span that this thread is in, if any."""
    if "opentelemetry.trace" in sys.modules:
        from opentelemetry.trace import get_current_span

        get_current_span().set_attributes({f"crowdnotes.{key}": value for key, value in counts.items()})
