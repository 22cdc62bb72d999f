"""A folder of HTML, PDF, text and Markdown files as records, in sorted order of their paths."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from crowdnotes.errors import FetchError, LibraryError
from crowdnotes.evidence.library.records import Incoming, Record
from crowdnotes.evidence.library.tables import TABLE_KINDS
from crowdnotes.evidence.reading.document import HTML, PDF, PLAIN, read_body
from crowdnotes.evidence.reading.plain import decode
from crowdnotes.text.urls import is_web_address

FILE_KINDS = {
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".pdf": PDF,
    ".txt": PLAIN,
    ".md": PLAIN,
    ".markdown": PLAIN,
}
_MOST_BYTES = 20_000_000  # a larger file is a scan or a book, and one file must not fill the memory
_HEAD_CHARACTERS = 200_000
_SAFE = re.compile(r"[^\w.\- ]")  # what the name of a file here may not hold


def open_folder(folder: Path) -> Incoming:
    """All readable files below a folder, hidden ones left out; `record` is the place in sorted order.

    A file that cannot be read, is too large, or is a link that leads out of the folder becomes a
    record with a problem. Raises LibraryError for a folder without any file of these kinds.
    """
    root = folder.resolve()
    files = sorted(_below(root), key=lambda file: file.relative_to(root).as_posix())
    if not files:
        raise LibraryError(
            f"The folder {folder.name or 'given'} holds no file that can be read ({', '.join(FILE_KINDS)}).",
            "Check that it is the folder you meant.",
        )
    return Incoming(len(files), None, lambda: (_record(i, file, root) for i, file in enumerate(files)))


def _below(root: Path) -> Iterator[Path]:
    closed: list[Path] = []
    for directory, names, files in os.walk(root, onerror=lambda error: closed.append(Path(error.filename))):
        names[:] = [name for name in names if not name.startswith(".")]
        for name in files:
            if not name.startswith(".") and Path(name).suffix.lower() in FILE_KINDS:
                yield Path(directory, name)
    yield from closed  # named among what was skipped: reading them fails with the reason


def _record(position: int, file: Path, root: Path) -> Record:
    label = file.relative_to(root).as_posix()

    def skipped(why: str) -> Record:
        return Record(position, "", label=label, problem=why)

    if not file.resolve().is_relative_to(root):
        return skipped("leads out of the folder")
    try:
        if not is_file_or_folder(file):
            return skipped("a pipe, socket or device, not a file")
        if file.stat().st_size > _MOST_BYTES:
            return skipped(f"larger than {_MOST_BYTES // 1_000_000} MB")
        body = file.read_bytes()
        kind = FILE_KINDS[file.suffix.lower()]
        document = read_body(body, kind, None, quote(file.name))
    except OSError as error:
        return skipped(error.strerror or "cannot be opened")
    except FetchError as error:
        return skipped(error.message)
    return Record(
        record=position,
        text=document.text,
        title=document.title,
        url=declared_url(decode(body, None)) if kind == HTML else None,
        published=document.published,
        publisher=document.publisher,
        label=label,
        problem="" if document.text else "no text",
    )


def is_file_or_folder(path: Path) -> bool:
    """False for a pipe, socket or device: whoever opens one may wait for ever."""
    mode = path.stat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def declared_url(html: str) -> str | None:
    """The address that a page gives as its own: `<link rel="canonical">`, else og:url; http(s) only."""
    head = _Head()
    # HTMLParser fails on a marked section of an unknown kind; as a plain declaration it passes over it.
    head.feed(html[:_HEAD_CHARACTERS].replace("<![", "<! "))
    for url in (head.canonical, head.og_url):
        if url and is_web_address(url.strip()):
            return url.strip()
    return None


class _Head(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.canonical: str | None = None
        self.og_url: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and "canonical" in (given.get("rel") or "").lower().split():
            self.canonical = self.canonical or given.get("href")
        if tag == "meta" and (given.get("property") or "").lower() == "og:url":
            self.og_url = self.og_url or given.get("content")


def lay_out(folder: Path, files: Sequence[tuple[str, bytes]]) -> Path:
    """Uploaded files on disk: the table, or the folder that the documents lie in.

    Of a table's name only the last part is taken, of a document's the place below the folder: what
    leads elsewhere is left out of the path.
    """
    first, content = files[0]
    if len(files) == 1 and PurePosixPath(first).suffix.lower() in TABLE_KINDS:
        table = folder / _end(PurePosixPath(first.replace("\\", "/")).parts)  # errors call it by the person's own name
        table.write_bytes(content)
        return table
    for number, (name, content) in enumerate(files):
        parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("/", ".", "..")]
        place = folder.joinpath(*(_SAFE.sub("_", part)[-100:] for part in parts[:-1]), f"{number:05}-{_end(parts)}")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return folder


def _end(parts: Sequence[str]) -> str:
    return _SAFE.sub("_", parts[-1])[-100:] if parts else "document"
