"""Pages read in processes of their own: the same words, and no page can hang or break the program."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError, JobCancelled
from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.reading.document import HTML, PLAIN, Document
from crowdnotes.evidence.reading.extract import extract
from crowdnotes.evidence.reading.worker_processes import DOCUMENT, PageReaders, receive, send
from tests.shared import PATIENCE, cancelled

URL = "https://journal.example.org/articles/vaccine-trial-results"
HEAD = "<title>Trial results</title><meta property='article:published_time' content='2024-03-02'>"
PARAGRAPH = "Prüfungen von Impfstoffen dauern Jahre, und jede der drei Phasen wird öffentlich beschrieben. "
PAGE = f"<html lang=de><head>{HEAD}</head><body><article><p>{PARAGRAPH * 3}</p></article></body></html>".encode()


@pytest.fixture(scope="module")
def readers() -> Iterator[PageReaders]:
    readers = PageReaders(most=1)
    yield readers
    readers.close()


def _fails(readers: PageReaders, body: bytes, kind: str = HTML) -> FetchError:
    with pytest.raises(FetchError) as failed:
        readers.extract(body, kind, "utf-8", URL, no_check)
    return failed.value


@pytest.mark.parametrize(("body", "kind"), [(PAGE, HTML), ((PARAGRAPH * 4).encode(), PLAIN)])
def test_a_reader_gives_what_reading_here_gives(readers: PageReaders, body: bytes, kind: str) -> None:
    document = readers.extract(body, kind, "utf-8", URL, no_check)
    assert document == extract(body, kind, "utf-8", URL, no_check)
    assert "Prüfungen" in document.text


def test_a_page_that_takes_too_long_is_labelled_and_another_reader_takes_over() -> None:
    readers = PageReaders(most=1, seconds=0.0)
    try:
        error = _fails(readers, PAGE)
        assert error.outcome is FetchOutcome.UNREADABLE
        assert error.message == "Reading the page took over 0 seconds."
        readers._seconds = 60.0
        assert readers.extract(PAGE, HTML, "utf-8", URL, no_check).published == date(2024, 3, 2)
    finally:
        readers.close()


def test_a_reader_that_ended_while_idle_costs_no_page(readers: PageReaders) -> None:
    readers.start()
    [reader] = readers._all
    reader._process.kill()
    reader._process.wait()
    assert "Prüfungen" in readers.extract(PAGE, HTML, "utf-8", URL, no_check).text


# What a reader that a page has taken over might do: `rd` takes a page, `say` answers.
_FORGED = """
import json, os, struct, sys, time
o, i = sys.stdout.buffer, sys.stdin.buffer
def rd():
    a, b = struct.unpack('>II', i.read(8)); words.number = json.loads(i.read(a))['number']; i.read(b)
def say(text):
    o.write(struct.pack('>II', len(text), 0) + text); o.flush()
def words(of):
    return json.dumps({"document": {"title": "t", "text": of}, "number": words.number}).encode()
say(b'{"ready": true}')
"""


@pytest.fixture
def forged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], PageReaders]]:
    """Readers, the first of which runs other code; those that take its place are real."""
    real, made = subprocess.Popen, list[PageReaders]()

    def readers(code: str, seconds: float = 30.0) -> PageReaders:
        def popen(args: list[str], **rest: Any) -> subprocess.Popen[bytes]:
            monkeypatch.setattr(subprocess, "Popen", real)
            return real([sys.executable, "-c", _FORGED + code], **rest)

        monkeypatch.setattr(subprocess, "Popen", popen)
        made.append(PageReaders(most=1, seconds=seconds))
        return made[-1]

    yield readers
    for each in made:
        each.close()


@pytest.mark.parametrize(
    "code",
    [
        "rd(); os._exit(1)",
        "rd(); say(b'[' * 200_000); time.sleep(60)",
        "rd(); say(b'no json'); time.sleep(60)",
        "rd(); say(b'7'); time.sleep(60)",
    ],
)
def test_a_reader_that_breaks_or_answers_with_no_message_costs_its_page_alone(
    forged: Callable[[str], PageReaders], code: str
) -> None:
    readers = forged(code)
    assert _fails(readers, PAGE).message == "The page broke the page reader."
    assert "Prüfungen" in readers.extract(PAGE, HTML, "utf-8", URL, no_check).text


def test_a_second_answer_is_not_taken_for_the_next_pages(forged: Callable[[str], PageReaders]) -> None:
    readers = forged("rd(); say(words('one')); say(words('forged')); time.sleep(60)")
    assert readers.extract(PAGE, HTML, "utf-8", URL, no_check).text == "one"
    assert _fails(readers, PAGE).message == "The page broke the page reader."
    assert "Prüfungen" in readers.extract(PAGE, HTML, "utf-8", URL, no_check).text


def test_a_reader_that_does_not_take_the_page_is_not_waited_for(forged: Callable[..., PageReaders]) -> None:
    readers = forged("time.sleep(60)", seconds=0.2)
    assert "over 0.2 seconds" in _fails(readers, PAGE + b" " * 1_000_000).message


def test_what_a_reader_started_ends_with_it(forged: Callable[..., PageReaders]) -> None:
    readers = forged("rd()\nif os.fork() == 0: time.sleep(60)\ntime.sleep(60)", seconds=0.2)
    began = time.monotonic()
    assert "over 0.2 seconds" in _fails(readers, PAGE).message
    readers.close()
    assert time.monotonic() - began < 50


def test_a_reader_that_cannot_be_started_blames_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    real, broken = subprocess.Popen, [sys.executable, "-c", "raise SystemExit(1)"]
    monkeypatch.setattr(subprocess, "Popen", lambda args, **rest: real(broken, **rest))
    readers = PageReaders(most=1)
    assert _fails(readers, PAGE).message == "We cannot start the page reader."
    readers.close()


def test_a_cancelled_job_does_not_wait_for_the_page(forged: Callable[[str], PageReaders], tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    readers = forged(f"rd(); open({str(taken)!r}, 'w').close(); time.sleep(60)")
    with pytest.raises(JobCancelled):
        readers.extract(PAGE, HTML, "utf-8", URL, lambda: cancelled() if taken.exists() else None)
    assert readers.extract(PAGE, HTML, "utf-8", URL, no_check).text


def test_a_reader_is_given_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDNOTES_LLM_KEY", "sk-secret")
    given_to: list[dict[str, str]] = []
    real = subprocess.Popen

    def watched(args: list[str], env: dict[str, str], **rest: Any) -> subprocess.Popen[bytes]:
        given_to.append(env)
        return real([sys.executable, "-c", ""], env=env, **rest)

    monkeypatch.setattr(subprocess, "Popen", watched)
    readers = PageReaders(most=1)
    readers.start()
    readers.close()
    [env] = given_to
    assert "sk-secret" not in env.values()
    assert env["PATH"] == os.environ["PATH"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep to the bound")
def test_a_readers_memory_is_bounded() -> None:
    read = "from crowdnotes.evidence.reading import worker_processes as r"
    code = f"{read}; r._limit_memory(); bytearray(r._MAX_MEMORY_BYTES)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert "MemoryError" in ended.stderr


_MAYBE = st.none() | st.text()


@given(
    st.builds(
        Document,
        *(st.text(), st.text(), _MAYBE, st.none() | st.dates(), _MAYBE, _MAYBE, st.just((0, 9)), st.booleans()),
        st.none() | st.dates(),
    )
)
def test_a_document_survives_the_way_with_all_its_fields(document: Document) -> None:
    pipe = io.BytesIO()
    send(pipe, DOCUMENT.dump_python(document, mode="json"), b"body")
    pipe.seek(0)
    received = receive(pipe)
    assert received is not None
    assert (DOCUMENT.validate_python(received[0]), received[1]) == (document, b"body")


@given(st.binary(max_size=60))
def test_what_is_no_message_ends_the_stream_instead_of_raising(noise: bytes) -> None:
    assert receive(io.BytesIO(noise)) is None or isinstance(receive(io.BytesIO(noise)), tuple)


@pytest.mark.parametrize("change", [{"text": 5}, {"published": 7}, {"page_starts": "0"}, {"title": None}])
def test_a_forged_document_is_refused(change: dict[str, object]) -> None:
    message = {**DOCUMENT.dump_python(Document("t", "words"), mode="json"), **change}
    with pytest.raises(ValueError):
        DOCUMENT.validate_python(message)


def test_closing_ends_the_processes() -> None:
    readers = PageReaders(most=2)
    readers.start()
    processes = [reader._process for reader in readers._all]
    readers.close()
    assert len(processes) == 2
    assert all(process.poll() is not None for process in processes)
    assert _fails(readers, PAGE).message == "CrowdNotes is closing, so we did not read the page."
    assert len(readers._all) == 2
