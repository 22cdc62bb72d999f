"""What a reader must know of a source before its words: retracted, a preprint, only an abstract, in which language."""

from __future__ import annotations

from datetime import date

from crowdnotes.cases.cutoff import AFTER_CUTOFF, UNDATED
from crowdnotes.domain import Post, ReadAs, Source
from crowdnotes.languages import LANGUAGE_NAMES
from pages.parts.text import plain

_GRAVE = frozenset({"retracted", "withdrawn", "a retraction notice", "expression of concern"})
_TOLD_OTHERWISE = _GRAVE | {AFTER_CUTOFF, UNDATED}
NO_LINK = "no link; X asks for one"


def source_badges(source: Source, post: Post, until: date | None, page: int | None = None) -> str:
    """Markdown of the badges that apply, the gravest first; empty when there is nothing to say.

    `page` is that of the passage, in a PDF. A language is named when it is neither the post's nor English.
    """
    grave = [notice for notice in source.notices if notice in _GRAVE]
    badges = [_badge("red", "report", notice) for notice in sorted(grave, key=lambda notice: notice != "retracted")]
    is_later = until is not None and source.published is not None and source.published > until
    if is_later or AFTER_CUTOFF in source.notices:
        badges.append(_badge("red", "event_busy", AFTER_CUTOFF))
    badges += [_badge("orange", "info", notice) for notice in source.notices if notice not in _TOLD_OTHERWISE]
    if source.by_hand:
        badges.append(_badge("orange", "content_paste", "pasted by hand: not compared with the page"))
    if source.read_as is ReadAs.ABSTRACT:
        badges.append(_badge("orange", "short_text", "abstract only"))
    if source.published is None or source.date_origin is None:
        badges.append(_badge("orange" if UNDATED in source.notices else "gray", "event", "date not known"))
    if not source.url:
        badges.append(_badge("orange", "link_off", NO_LINK))
    language = (source.language or "").split("-")[0].lower()
    if language not in {"", "en", (post.language or "").split("-")[0].lower()}:
        badges.append(_badge("gray", "translate", language_name(language)))
    if page is not None:
        badges.append(_badge("gray", "picture_as_pdf", f"page {page}"))
    return " ".join(badges)


def language_name(code: str | None) -> str:
    """A language by its ISO 639-1 code: "es" is Spanish; one that is not listed stays a code."""
    if not code:
        return "language not known"
    code = code.split("-", maxsplit=1)[0].lower()
    return LANGUAGE_NAMES.get(code, f"language: {code}")


def _badge(colour: str, icon: str, words: str) -> str:
    return f":{colour}-badge[:material/{icon}: {plain(words, 60)}]"
