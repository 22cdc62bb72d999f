"""What reading a page gives: its words and what it says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Document:
    """Plain text, tidied: one line a paragraph, an empty line between the pages of a PDF.

    `publisher` and `published` are what the page itself claims, `canonical` the address that it gives
    itself. `language` is an ISO 639-1 code, None when there is too little text to tell. `page_starts` are
    the offsets in the text at which the pages of a PDF begin. `asks_for_password`: there is a form for one.
    """

    title: str
    text: str
    publisher: str | None = None
    published: date | None = None
    language: str | None = None
    canonical: str | None = None
    page_starts: tuple[int, ...] = ()
    asks_for_password: bool = False
