"""Dropping the list of references at a document's end: it matches every query and says nothing itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crowdnotes.domain import Span

_NUMBERING = r"(?:#{1,6}\s*)?(?:\*\*)?(?:(?:\d{1,2}|[ivx]{1,5}|[a-h])[.)]?\s+)?"
_CLEAR = (
    "references|reference list|references and notes|notes and references|references cited|bibliography"
    "|selected bibliography|works cited|literature cited|footnotes|endnotes|citations|external links|further reading"
    "|literatur|literaturverzeichnis|einzelnachweise|quellenverzeichnis|weblinks|références|notes et références"
    "|bibliographie|liens externes|referencias|bibliografía|enlaces externos|referências|bibliografia|ligações externas"
    "|riferimenti|note e riferimenti|collegamenti esterni|literatuur|referenser|källor|referanser|kilder|参考文献"
    "|参考资料|참고문헌|источники|литература|примечания|المراجع|संदर्भ"
)
# These also head ordinary sections ("Sources" of a vitamin, "Notes" on a dose).
_AMBIGUOUS = (
    "sources|notes|see also|article sources|related links|related articles|related pages"
    "|quellen|siehe auch|voir aussi|véase también"
)
_CLEAR_HEADING = re.compile(rf"{_NUMBERING}(?:{_CLEAR})(?:\*\*)?\s*:?", re.IGNORECASE)
_AMBIGUOUS_HEADING = re.compile(rf"{_NUMBERING}(?:{_AMBIGUOUS})(?:\*\*)?\s*:?", re.IGNORECASE)
_RESUMES = re.compile(rf"{_NUMBERING}(?:appendix|appendices|annex|supplement(?:ary|al)?)\b.{{0,80}}", re.IGNORECASE)
_CITATION = re.compile(
    r"https?://|www\.|\bdoi\b|\bet al\b|\bretrieved\b|\baccessed\b|\((?:19|20)\d\d[a-z]?\)|\b(?:19|20)\d\d[;.,]"
    r"|^\W*\^|^\[\d+\]|^\d{1,3}\.\s",
    re.IGNORECASE,
)
_CLEAR_FROM = 0.5  # share of the text after which a clear heading ends it
_AMBIGUOUS_FROM = 0.6
_MAYBE_FROM = 0.25  # long lists start early; from here on, if what follows looks like citations
_CITED = 0.6  # share of lines that must look like citations for that
_LOOK_AHEAD = 80  # lines that show what a section is
_SHORT = 90  # characters; lists of links have short lines, prose has long ones


def references_in(text: str) -> Span | None:
    """Where a text's closing sections of references, sources, footnotes and links stand; None when it has none.

    A heading counts only when it stands alone on a line in the last part of the text. An appendix that
    follows is not part of the span.
    """
    lines = text.split("\n")
    begin = 0
    for index, line in enumerate(lines):
        heading = line.strip()
        is_clear = bool(_CLEAR_HEADING.fullmatch(heading))
        if is_clear or _AMBIGUOUS_HEADING.fullmatch(heading):
            entries = [entry.strip() for entry in lines[index + 1 : index + 1 + _LOOK_AHEAD] if entry.strip()]
            if _closes(is_clear, entries, begin / len(text)):
                end = begin
                for at in range(index, len(lines)):
                    if at > index and _RESUMES.fullmatch(lines[at].strip()):
                        return Span(start=begin, end=end)
                    end += len(lines[at]) + 1
                return Span(start=begin, end=len(text))
        begin += len(line) + 1
    return None


def without(text: str, dropped: Span | None) -> str:
    """The text without a span that begins and ends at a line; without white space at its end."""
    return text if dropped is None else (text[: dropped.start] + text[dropped.end :]).rstrip()


def moved_starts(starts: Sequence[int], dropped: Span | None, length: int) -> tuple[int, ...]:
    """Offsets at which pages begin, after a span was dropped from their text, which is `length` long now.

    A page of which nothing is left begins where the next one does; none begins after the text's end.
    """
    if dropped is not None:
        gap = dropped.end - dropped.start
        starts = [start - gap if start >= dropped.end else min(start, dropped.start) for start in starts]
    return tuple(start for start in starts if start < length)


def _closes(is_clear: bool, entries: list[str], position: float) -> bool:
    """Whether a heading at `position` in [0, 1], followed by `entries`, opens a reference section."""
    if not entries:
        return is_clear and position >= _CLEAR_FROM
    citations = [bool(_CITATION.search(entry)) for entry in entries]
    if position >= _MAYBE_FROM and sum(citations) >= _CITED * len(entries):
        return True
    if is_clear:
        return position >= _CLEAR_FROM
    listed = sum(cites or len(entry) <= _SHORT for cites, entry in zip(citations, entries, strict=True))
    return position >= _AMBIGUOUS_FROM and listed >= _CITED * len(entries)
