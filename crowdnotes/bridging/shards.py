"""The files of a public table, and their bytes in blocks of whole lines. Zipped files are unpacked as they stream."""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from crowdnotes.bridging.columns import TableSpec
from crowdnotes.errors import InputError

BLOCK_BYTES = 16_000_000  # some 80,000 ratings: big enough to parse at full speed, small enough to hold many
_LONGEST_LINE = 64_000_000  # no row of the public data comes near; past it the file is not what it says
_SUFFIXES = (".tsv", ".tsv.gz", ".zip")


@dataclass(frozen=True)
class Block:
    """Whole lines of one file, without its header. `first_line` counts from 1, the header being line 1."""

    lines: bytes
    first_line: int


def find_shards(spec: TableSpec, data: Path) -> list[Path]:
    """The files of a table under a folder, in order: `ratings-00000.tsv`, `ratings/*.tsv`, zipped or not.

    A path to a file is taken as it is. Empty when the folder has none.
    """
    if data.is_file():
        return [data]
    if not data.is_dir():
        raise InputError(f"There is no file or folder {data}.", "Check the path.")
    names = "|".join(re.escape(stem) for stem in spec.stems)
    named = re.compile(rf"(?:{names})(?:[-_.]?\d+)?(?:\.tsv|\.tsv\.gz|\.zip)", re.IGNORECASE)
    found = [path for path in data.iterdir() if path.is_file() and named.fullmatch(path.name)]
    for stem in spec.stems:
        folder = data / stem
        if folder.is_dir():
            found += [path for path in folder.iterdir() if path.is_file() and path.name.lower().endswith(_SUFFIXES)]
    return sorted(set(found))


def read_header(path: Path) -> list[str]:
    """The column names of a file (of the first member of a zip)."""
    with _open_members(path) as members:
        for member in members:
            return _header(member, path)
    raise InputError(f"{path.name} is empty.", "Download it again.")


def read_blocks(path: Path) -> Iterator[tuple[list[str], Block]]:
    """The column names and the next lines, block after block; a zip's members one after the other.

    Raises InputError when the file is cut short, damaged, or not text in columns.
    """
    with _open_members(path) as members:
        for member in members:
            columns = _header(member, path)
            for block in _whole_lines(member, path):
                yield columns, block


@contextmanager
def _open_members(path: Path) -> Iterator[Iterator[IO[bytes]]]:
    try:
        if path.name.lower().endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                names = [info for info in archive.infolist() if info.filename.lower().endswith(".tsv")]
                if not names:
                    raise InputError(f"{path.name} holds no .tsv file.", "Download it again.")
                yield (archive.open(info) for info in names)
        elif path.name.lower().endswith(".gz"):
            with gzip.open(path, "rb") as stream:
                yield iter((stream,))  # type: ignore[arg-type]  # a GzipFile reads bytes like any other
        else:
            with path.open("rb") as stream:
                yield iter((stream,))
    except (zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path.name} is cut short or damaged ({error}).", "Download it again.") from error
    except (RuntimeError, NotImplementedError) as error:  # of zipfile: a password, an odd packing
        raise InputError(
            f"{path.name} cannot be unpacked ({error}).", "Unpack it yourself, and give the TSV."
        ) from error
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror or error}.", "Check the file.") from error


def _header(stream: IO[bytes], path: Path) -> list[str]:
    line = stream.readline(1_000_000)
    try:
        columns = line.decode("utf-8-sig").rstrip("\r\n").split("\t")
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not text.", "Give a TSV file, zipped or not.") from error
    if not line.strip():
        raise InputError(f"{path.name} is empty.", "Download it again.")
    if len(set(columns)) < len(columns):
        raise InputError(f"{path.name} names a column twice.", "Download it again.")
    return columns


def _whole_lines(stream: IO[bytes], path: Path) -> Iterator[Block]:
    rest, first_line = b"", 2
    while chunk := stream.read(BLOCK_BYTES):
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            rest += chunk
            if len(rest) > _LONGEST_LINE:
                raise InputError(f"{path.name} has a line without end.", "It is no TSV file of the public data.")
            continue
        lines = rest + chunk[:cut]
        rest = chunk[cut:]
        yield Block(lines, first_line)
        first_line += lines.count(b"\n")
    if rest.strip():
        yield Block(rest + b"\n", first_line)
