"""Which part of a public file is new: none of one that was read, the end of one that grew, all of another.

X publishes the same files day by day, grown or new. A file is known by its first and last bytes as far as it was
read, whatever its name and folder; a zip that did not change by its checksum, without unpacking it.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from crowdnotes.bridging.public_files import header_of, open_members, whole_lines

_ENDS = 65_536  # bytes that are compared at either end


@dataclass(frozen=True, slots=True)
class Mark:
    """What was read of a file, unpacked: its size in bytes to the last whole line, and hashes of both ends.

    crc: of the whole, if it was zipped.
    """

    size: int
    head: str
    tail: str
    crc: int | None


@dataclass(slots=True)
class Shard:
    """One file, or one member of a zip: `blocks` are the lines that are new.

    grown_from: what was read of it before. Once the blocks are read: `mark`, and `cut` if the last line is unfinished.
    """

    header: list[str]
    grown_from: Mark | None
    blocks: Iterator[bytes]
    mark: Mark | None = None
    cut: bool = False


def open_shards(path: Path, known: Sequence[Mark]) -> Iterator[Shard]:
    """The shards of a file that hold something new; the blocks of one are read before the next is asked for.

    Raises InputError, also while blocks are read, when the file is cut short, damaged, or not text in columns.
    """
    with open_members(path) as members:
        checksums = _checksums(path)
        for member in members:
            size, crc = checksums.get(member.name, (None, None))
            if any(mark.crc == crc is not None and mark.size == size for mark in known):
                continue
            header = header_of(member, path)
            begin = member.tell()
            grown_from = _grown_from(member, known)
            member.seek(max(begin, grown_from.size) if grown_from else begin)
            shard = Shard(header, grown_from, iter(()))
            shard.blocks = _blocks(member, path, shard, crc)
            yield shard


def _checksums(path: Path) -> dict[str, tuple[int, int]]:
    if not zipfile.is_zipfile(path):
        return {}
    with zipfile.ZipFile(path) as archive:
        return {info.filename: (info.file_size, info.CRC) for info in archive.infolist()}


def _grown_from(stream: IO[bytes], known: Sequence[Mark]) -> Mark | None:
    stream.seek(0)
    head = stream.read(_ENDS)
    for mark in sorted(known, key=lambda mark: -mark.size):
        if _hash(head[: mark.size]) == mark.head:
            stream.seek(max(0, mark.size - _ENDS))
            if _hash(stream.read(min(mark.size, _ENDS))) == mark.tail:
                return mark
    return None


def _blocks(stream: IO[bytes], path: Path, shard: Shard, crc: int | None) -> Iterator[bytes]:
    size = stream.tell()
    stream.seek(0)
    head = stream.read(min(size, _ENDS))
    stream.seek(max(0, size - _ENDS))
    tail = stream.read(min(size, _ENDS))
    for block in whole_lines(stream, path):
        if block.endswith(b"\n"):
            size += len(block)
            head = (head + block[:_ENDS])[:_ENDS]
            tail = (tail + block[-_ENDS:])[-_ENDS:]
            yield block
        elif block.count(b"\t") == len(shard.header) - 1:
            yield block  # and again when the file has grown: whether it is whole is not known
            crc = None
        else:
            shard.cut = True
            crc = None
    shard.mark = Mark(size, _hash(head), _hash(tail), crc)


def _hash(some: bytes) -> str:
    return hashlib.sha256(some).hexdigest()
