from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.errors import FetchError
from crowdnotes.evidence.reading.document import (
    HTML,
    PDF,
    PLAIN,
    READABLE,
    ContentType,
    parse_content_type,
    settle_kind,
)


@pytest.mark.parametrize(
    ("header", "essence", "charset"),
    [
        ("text/html; charset=utf-8", "text/html", "utf-8"),
        ('Text/HTML ;Charset = "ISO-8859-1"', "text/html", "iso-8859-1"),
        ("application/pdf", "application/pdf", None),
        ("text/plain; charset=", "text/plain", None),
        (None, "", None),
    ],
)
def test_a_header_is_read_leniently(header: str | None, essence: str, charset: str | None) -> None:
    assert parse_content_type(header) == ContentType(essence, charset)


@pytest.mark.parametrize(
    ("declared", "body", "kind"),
    [
        ("text/html", b"anything", HTML),
        ("application/xhtml+xml", b"<html/>", HTML),
        ("text/markdown", b"# Title", PLAIN),
        ("", b"<!DOCTYPE html><p>x", HTML),
        ("", b"\n<!-- a --> <HTML><body>", HTML),
        ("application/octet-stream", b"%PDF-1.7\n", PDF),
        ("application/octet-stream", b"just words", PLAIN),
        ("text/html", b"%PDF-1.4", PDF),
        ("application/pdf", b"<html>please log in</html>", HTML),
    ],
)
def test_the_bytes_overrule_a_missing_or_wrong_header(declared: str, body: bytes, kind: str) -> None:
    assert settle_kind(ContentType(declared), body) == kind


@pytest.mark.parametrize(
    ("declared", "body"),
    [
        ("", b""),
        ("application/octet-stream", b"PK\x03\x04\x00\x00"),
        ("text/plain", b"MZ\x00\x01"),
        ("application/pdf", b"no"),
    ],
)
def test_bytes_that_are_no_readable_kind_are_refused(declared: str, body: bytes) -> None:
    with pytest.raises(FetchError):
        settle_kind(ContentType(declared), body)


@given(st.text(), st.binary())
def test_any_header_and_bytes_give_a_kind_or_a_labelled_error(header: str, body: bytes) -> None:
    try:
        declared = parse_content_type(header)
        declared.refuse_unreadable()
        assert settle_kind(declared, body) in READABLE
    except FetchError as error:
        assert error.message


def test_many_comments_before_no_page_take_no_time() -> None:
    began = time.process_time()
    assert settle_kind(parse_content_type(None), b"<!---->" * 150 + b"words") == PLAIN
    assert settle_kind(parse_content_type(None), b"<!-- a --> <!-- b -->\n<html>") == HTML
    assert time.process_time() - began < 1
