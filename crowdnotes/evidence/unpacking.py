"""Undoing a body's Content-Encoding piece by piece, under a cap: a bomb stops at the cap, not in memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError

ACCEPT_ENCODING = "gzip, deflate"
_GZIP_OR_ZLIB = 47  # window bits: a header of either kind
_RAW_DEFLATE = -15  # some servers mean this by "deflate"
_EMPTY_MEMBERS = 1_000  # gzip members one after another, a known way to burn time


def read_capped(pieces: Iterable[bytes], encoding: str, max_bytes: int) -> bytes:
    """The whole body, unpacked. Stops reading as soon as it is clear that it is too large.

    Raises FetchError: TOO_LARGE past `max_bytes` packed or unpacked, WRONG_TYPE for an encoding that
    was not asked for, UNREADABLE for a damaged one.
    """
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return _join(pieces, max_bytes)
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise FetchError(
            f"The site packs its page in a way that was not asked for ({encoding[:40]}).", FetchOutcome.WRONG_TYPE
        )
    unpacker = _Unpacker(max_bytes)
    for piece in _counted(pieces, max_bytes):
        unpacker.feed(piece)
    return unpacker.finish()


def too_large(max_bytes: int) -> FetchError:
    """The error for a body past the cap."""
    return FetchError(f"The page is larger than {max_bytes / 1_000_000:g} MB.", FetchOutcome.TOO_LARGE)


def _counted(pieces: Iterable[bytes], max_bytes: int) -> Iterable[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > max_bytes:
            raise too_large(max_bytes)
        yield piece


def _join(pieces: Iterable[bytes], max_bytes: int) -> bytes:
    return b"".join(_counted(pieces, max_bytes))


class _Unpacker:
    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._out = bytearray()
        self._members = 0
        self._fed = False
        self._inner = zlib.decompressobj(_GZIP_OR_ZLIB)

    def feed(self, data: bytes) -> None:
        while data:
            if self._inner.eof:
                # A second gzip member; anything else after the end is padding, as browsers treat it.
                if not data.startswith(b"\x1f\x8b") or self._members >= _EMPTY_MEMBERS:
                    return
                self._members += 1
                self._inner = zlib.decompressobj(_GZIP_OR_ZLIB)
            data = self._step(data)

    def finish(self) -> bytes:
        if self._fed and not self._inner.eof:
            raise FetchError("The page broke off before its end.", FetchOutcome.UNREADABLE)
        return bytes(self._out)

    def _step(self, data: bytes) -> bytes:
        room = self._max_bytes - len(self._out) + 1
        try:
            piece = self._inner.decompress(data, room)
        except zlib.error as error:
            if self._fed:
                raise FetchError("The page's packing is damaged.", FetchOutcome.UNREADABLE) from error
            self._fed = True
            self._inner = zlib.decompressobj(_RAW_DEFLATE)
            return data
        self._fed = True
        self._out += piece
        if len(self._out) > self._max_bytes:
            raise too_large(self._max_bytes)
        return self._inner.unused_data if self._inner.eof else self._inner.unconsumed_tail
