"""The program that reads pages for another: `python -m crowdnotes.evidence.page_reader`, see `page_readers`.

It says that it is ready, then takes a page from its standard input and writes the document, or why there
is none, to its standard output, until its input ends. Messages are JSON and bytes: nothing in them is run.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
from contextlib import suppress
from dataclasses import asdict
from datetime import date
from typing import BinaryIO

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.document import Document

Message = dict[str, object]

READY: Message = {"ready": True}
_LENGTHS = struct.Struct(">II")  # bytes of the JSON, bytes of the body
_MOST_BYTES = 64_000_000  # of either part of a message; the longest text that is read takes 18 MB as JSON
_MOST_SECONDS = 120  # for a page, counted by the reader itself: for when nobody is left to end it
_MOST_MEMORY = 2_000_000_000  # bytes of address space; Python and its libraries take 200 MB of it


def send(stream: BinaryIO, message: Message, body: bytes = b"") -> None:
    """One message. Raises OSError when nobody reads any more."""
    head = json.dumps(message).encode()
    stream.write(_LENGTHS.pack(len(head), len(body)) + head + body)
    stream.flush()


def receive(stream: BinaryIO) -> tuple[Message, bytes] | None:
    """The next message; None when the stream has ended, even amid one, or holds what is no message."""
    start = stream.read(_LENGTHS.size)
    if len(start) < _LENGTHS.size:
        return None
    lengths = _LENGTHS.unpack(start)
    if max(lengths) > _MOST_BYTES:
        return None
    head, body = (stream.read(length) for length in lengths)
    try:
        message = json.loads(head)
    except (ValueError, RecursionError):
        return None
    return (message, body) if isinstance(message, dict) else None


def as_message(document: Document) -> Message:
    """A document as JSON can hold it."""
    published = document.published.isoformat() if document.published else None
    return {**asdict(document), "published": published, "page_starts": list(document.page_starts)}


def as_document(message: Message) -> Document:
    """The document again. Raises KeyError, TypeError or ValueError for what is none."""
    fields = dict(message)
    published, starts = fields.pop("published"), fields.pop("page_starts")
    if not (
        all(isinstance(fields[name], str) for name in ("title", "text"))
        and all(isinstance(fields[name], str | None) for name in ("publisher", "language", "canonical"))
        and isinstance(published, str | None)
        and isinstance(starts, list)
        and all(isinstance(start, int) for start in starts)
    ):
        raise TypeError("no document")
    return Document(
        **fields,  # type: ignore[arg-type]
        published=date.fromisoformat(published) if published else None,
        page_starts=tuple(starts),
    )


def _bound_memory() -> None:
    """So that a page that unpacks to gigabytes fails here instead of filling the machine; on Linux."""
    try:
        import resource
    except ImportError:
        return
    with suppress(OSError, ValueError):  # a system that knows no such bound
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _end_after(seconds: int) -> None:
    """End this program then, or not at all (0); where the system has no alarm, a reader can outlive its parent."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _read(message: Message, body: bytes) -> Message:
    from crowdnotes.evidence.extracting import extract

    try:
        document = extract(body, str(message["kind"]), _text(message["charset"]), str(message["url"]), lambda: None)
    except FetchError as error:
        return {"outcome": error.outcome.value, "sentence": error.message}
    except MemoryError:
        return {"outcome": FetchOutcome.TOO_LARGE.value, "sentence": "The page takes too much memory to read."}
    return {"document": as_message(document)}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def main() -> None:
    """Read pages until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the program that started this one, which ends it
    # What a library prints must not come between the messages.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    import trafilatura  # noqa: F401 - before the first page is waited for

    import crowdnotes.evidence.extracting  # noqa: F401

    _bound_memory()
    send(answers, READY)
    while (asked := receive(sys.stdin.buffer)) is not None:
        _end_after(_MOST_SECONDS)
        send(answers, _read(*asked))
        _end_after(0)


if __name__ == "__main__":
    main()
