from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.fetching import read_capped


def _pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@given(st.binary(max_size=5_000), st.integers(2, 500), st.sampled_from(["", "identity", "gzip", "x-gzip", "deflate"]))
def test_what_was_packed_comes_back_however_it_was_cut(data: bytes, size: int, encoding: str) -> None:
    packed = data
    if "gzip" in encoding:
        packed = gzip.compress(data)
    elif encoding == "deflate":
        packed = zlib.compress(data)
    assert read_capped(_pieces(packed, size), encoding, 10_000) == data


@given(st.binary(max_size=2_000), st.sampled_from(["gzip", "deflate"]))
def test_any_bytes_give_a_body_within_the_cap_or_a_labelled_error(data: bytes, encoding: str) -> None:
    try:
        assert len(read_capped([data], encoding, 1_000)) <= 1_000
    except FetchError as error:
        assert error.outcome in (FetchOutcome.UNREADABLE, FetchOutcome.TOO_LARGE)


def test_deflate_without_its_header_is_understood() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(b"hello" * 50) + packer.flush()
    assert read_capped(_pieces(packed, 10), "deflate", 1_000) == b"hello" * 50


def test_several_gzip_members_are_one_body_and_padding_is_ignored() -> None:
    assert read_capped([gzip.compress(b"ab") + gzip.compress(b"cd") + b"\x00\x00"], "gzip", 100) == b"abcd"


def test_a_body_at_the_cap_passes_and_one_byte_more_does_not() -> None:
    assert len(read_capped([gzip.compress(b"x" * 100)], "gzip", 100)) == 100
    for packed, encoding in ((gzip.compress(b"x" * 101), "gzip"), (b"x" * 101, "")):
        with pytest.raises(FetchError) as failed:
            read_capped([packed], encoding, 100)
        assert failed.value.outcome is FetchOutcome.TOO_LARGE


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_an_encoding_that_was_not_asked_for_is_refused(encoding: str) -> None:
    with pytest.raises(FetchError) as failed:
        read_capped([b"x"], encoding, 100)
    assert failed.value.outcome is FetchOutcome.WRONG_TYPE


def test_a_packed_body_that_breaks_off_is_unreadable() -> None:
    with pytest.raises(FetchError, match="broke off"):
        read_capped([gzip.compress(b"hello" * 100)[:-12]], "gzip", 1_000)
