"""Log lines as JSON and spans for OpenTelemetry, for the person who runs the program. Neither holds a text.

An exception's own words may hold a post, an address or a key. So a log line gives the exception's kinds and places, and
the reason only where it is a sentence of ours or the system's; of a library's message it gives the template, and of
its arguments only numbers and hosts.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO

_case_and_job: ContextVar[tuple[str, str]] = ContextVar("about", default=("", ""))


@contextmanager
def log_context(case: str, job: str = "") -> Iterator[None]:
    """Mark what this thread logs inside as of that case and job."""
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
        if record.args and not is_ours:
            given = record.args.values() if isinstance(record.args, Mapping) else record.args
            line["arguments"] = [_describe_argument(value) for value in given]
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = list(_list_error_chain(record.exc_info[1]))
        return json.dumps(line, ensure_ascii=False)


def _list_error_chain(error: BaseException | None) -> Iterator[dict[str, object]]:
    """Yield the error and what led to it, by kind and place, each with its reason where that holds no text."""
    while error is not None:
        places = [f"{at.filename}:{at.lineno} {at.name}" for at in traceback.extract_tb(error.__traceback__)]
        reason = _find_reason(error)
        yield {"kind": type(error).__name__, **({"reason": reason} if reason else {}), "places": places}
        error = error.__cause__ or error.__context__


# Behind one of these our sentences give words of others. An address may hold words that were searched for, or a key.
_OTHERS_WORDS_PATTERN = re.compile(r"[“\"‘]|\((?!\d{3}\))|:(?=\s|$)")
_ADDRESS_PATTERN = re.compile(r"\b([a-z][a-z0-9+.-]*://)(?:[^\s/?#@]*@)?([^\s/?#@]*)\S*", re.IGNORECASE)
_HOST_PATTERN = re.compile(r"(?:\d{1,3}(?:\.\d{1,3}){3}|\[?[0-9a-f:]*::?[0-9a-f:]*\]?|localhost)(?::\d{1,5})?")
_METHODS_AND_SCHEMES = frozenset("GET POST PUT PATCH DELETE HEAD OPTIONS http https ws wss".split())


def _find_reason(error: BaseException) -> str:
    """Return why it was raised, in our own sentence or the system's; "" where only words of others are known."""
    if getattr(error, "may_be_logged", False):
        said = _ADDRESS_PATTERN.sub(r"\1\2", str(getattr(error, "message", "")))
        own = _OTHERS_WORDS_PATTERN.split(said, maxsplit=1)[0].strip()
        return own if own == said.strip() else f"{own} …"
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    for name, what in (("sqlstate", "SQLSTATE {}"), ("status_code", "status {}")):
        value = getattr(error, name, None)
        if re.fullmatch(r"[0-9A-Z]{3,5}", str(value)):
            return what.format(value)
    return ""


def _describe_argument(value: object) -> object:
    """Return what a library put into its words: a number, a host, or else no more than how long it is."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {_find_reason(value)}".rstrip(": ")
    text = str(value)
    if address := _ADDRESS_PATTERN.match(text):
        return f"{address[1]}{address[2]}"
    if text in _METHODS_AND_SCHEMES or _HOST_PATTERN.fullmatch(text):
        return text
    return f"{type(value).__name__} of {len(text)} characters"


def json_lines(stream: TextIO | None = None) -> logging.Handler:
    """Return a handler that writes them, to standard error if not elsewhere."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_JsonFormatter())
    return handler


def log_as_json() -> None:
    """From now on what this process logs is JSON: ours from INFO on, what libraries say from WARNING on."""
    logging.basicConfig(handlers=[json_lines()], level=logging.WARNING, force=True)
    logging.getLogger("crowdnotes").setLevel(logging.INFO)


@contextmanager
def span(name: str, **what: str) -> Iterator[None]:
    """Open a span of a traced program, which has loaded OpenTelemetry before; else it costs nothing.

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
