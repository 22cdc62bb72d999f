"""The day that a page shows as its own: "Last reviewed: March 12, 2024", "Stand: 12. März 2024".

A line counts that begins with such a label and holds little else. Dates of events, of other pages and within prose have
no such line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Any

from lxml import etree  # type: ignore[import-untyped]  # its stubs cover too little

from crowdnotes.text.dates import first_day, month_number, settle

# Days on which a page came out count before those on which it was changed or looked over.
_PUBLISHED = (
    r"(?:first |originally |date )?(?:published|posted)(?: (?:online|date))?",
    r"publication date|publish date|date published",
    r"(?:erstmals )?veröffentlicht|veröffentlichung(?:sdatum)?|erschienen",
    r"publicado|fecha de publicación|data de publicação|data di pubblicazione|pubblicato",
    r"publiée?|mise? en ligne|date de publication",
    r"gepubliceerd|geplaatst",
    r"(?:公開|掲載|公表|発表)(?:日|日時)?|(?:发布|發布|发表)(?:时间|日期)?",
    r"(?:등록|게시|작성|입력)일?",
    r"(?:for )?immediate release|(?:press |news )?release date",
    r"publicerad|publicerat|publisert|offentliggjort|udgivet",
    r"opublikowano|data publikacji|опубликован[оа]?|дата публикации",
    r"yayın(?:lanma)?(?: tarihi)?|yayımlanma(?: tarihi)?|(?:تاريخ النشر|نشر في|نُشر في)",
)
_CHANGED = (
    r"(?:(?:this |the )?(?:page|article|story|content|information|document|fact ?sheet|topic|entry|date) )?"
    r"(?:was |has been )?(?:last )?(?:medically |fully |clinically )?"
    r"(?:reviewed|updated|edited|modified|revised|changed)",
    r"(?:date of )?last (?:update|review|revision)|(?:last )?(?:review|update|revision) date",
    r"stand(?: der information)?|aktualisiert|(?:zuletzt |letztmals )(?:aktualisiert|geändert|bearbeitet)",
    r"letzte (?:aktualisierung|änderung|überarbeitung)",
    r"(?:última|fecha de|ultima|data de|data da última) (?:actualización|revisión|modificación|atualização|revisão)"
    r"|actualizado|revisado|atualizado|ultimo aggiornamento|aggiornato",
    r"(?:dernière )?mise à jour|mise? à jour|date de (?:mise à jour|révision)",
    r"dernière (?:modification|révision)|modifiée?",
    r"(?:laatst )?(?:bijgewerkt|gewijzigd)|senast uppdaterad|sist oppdatert|sidst opdateret",
    r"(?:最終)?(?:更新|改訂)(?:日|日時)?|(?:最后)?(?:更新|修订)(?:时间|日期|于)?|최종\s?(?:수정|업데이트)일?|수정일?",
    r"(?:ostatnia )?aktualizacja|zaktualizowano|(?:последнее )?обновлен(?:о|ие)",
    r"(?:son )?güncelle(?:me|nme)(?: tarihi)?|آخر تحديث",
)
_NAME = r"[^\W\d_]{3,12}\.?"
_DAY = (
    r"(?P<y>(?:19|20)\d\d)\s?[-/.年]\s?(?P<m>\d{1,2})\s?[-/.月]\s?(?P<d>\d{1,2})日?"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th|er|º|°|\.)?\s+(?:de |of )?"
    rf"(?P<n2>{_NAME}),?\s+(?:de |del )?(?P<y2>(?:19|20)\d\d)"
    rf"|(?P<n3>{_NAME})\s+(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y3>(?:19|20)\d\d)"
    r"|(?P<a>\d{1,2})(?P<mark>[./-])(?P<b>\d{1,2})(?P=mark)(?P<y4>(?:19|20)\d\d)"
    rf"|(?:(?P<n5>{_NAME}),?\s+(?:de )?)?(?P<y5>(?:19|20)\d\d)(?!\d|[-/.]\d)"
)
_LINE_PATTERN, _LABEL_PATTERN = (
    re.compile(
        rf"\W*(?:(?:by|von|par|por|di|door) [^|,\n\d]{{2,40}},\s*)?"
        rf"(?:(?P<published>{'|'.join(_PUBLISHED)})|{'|'.join(_CHANGED)})(?:\s+by [^|\n]{{2,60}}?)?"
        rf"(?: \([mdy/]+\))?[\s:,–-]*(?:(?:on|am|vom|le|el|em|il|op|den|the|:|：)\s*)?{ending}",
        re.IGNORECASE,
    )
    for ending in (
        rf"(?:{_NAME},?\s+)??(?:{_DAY})(?P<rest>.*)",
        r"$",
    )
)
_NUMBERS_PATTERN = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(?:19|20)\d\d(?!\d)")
_ORDER_PATTERN = re.compile(r"\b(?:(mm)/dd|dd/mm)/yy", re.IGNORECASE)
# Between two statements of one line.
_STATEMENT_END_PATTERN = re.compile(
    r"\s*[|·•;\n]\s*|\s+[–—-]\s+|(?<=\d\d\d\d)[.)]\s+(?=[^\W\d])|(?<=\d),?\s+(?=(?:last )?updated\b)"
)
_MAX_REST_CHARACTERS = 45  # behind the date: a time, a name
_MAX_LINE_CHARACTERS = 160
_MAX_ORDER_LOOKED_AT = 100_000
_MAX_SHOWN = 20
_LINE_ENDING_TAGS = frozenset(
    "p div br li tr td th dt dd h1 h2 h3 h4 h5 h6 section article main header footer ul ol table body".split()
)
_SKIPPED_TAGS = frozenset("nav aside form script style template head svg select noscript button blockquote".split())


@dataclass(frozen=True, slots=True)
class ShownDate:
    """The day, None where only the year is known. `is_published`: the page came out then, and was not only changed."""

    day: date | None
    year: int
    is_published: bool


def find_shown_date(tree: Any, other: re.Pattern[str], *, is_month_first: bool | None) -> ShownDate | None:
    """Return the date in the page's lines; None where it shows none, or two that differ.

    `other` are names of elements whose dates belong to other pages. `is_month_first`: whether 03/04/2025 is in March;
    None where that is not known.
    """
    shown = [
        found
        for line in _dated_lines(tree, other)
        for statement in _STATEMENT_END_PATTERN.split(line)
        if (found := _read_statement(statement, is_month_first)) is not None
    ]
    for is_published in (True, False):
        of_kind = {(one.day, one.year): one for one in shown[:_MAX_SHOWN] if one.is_published is is_published}
        if of_kind:
            return next(iter(of_kind.values())) if len(of_kind) == 1 else None
    return None


def stated_order(words: str) -> bool | None:
    """Return whether a page writes 03/04/2025 with the month first, as it says or shows; None where it does neither."""
    words = words[:_MAX_ORDER_LOOKED_AT]
    orders = {found[1] is not None for found in _ORDER_PATTERN.finditer(words)}
    for found in _NUMBERS_PATTERN.finditer(words):
        one, other = int(found[1]), int(found[2])
        if (one > 12) is not (other > 12):
            orders.add(other > 12)
    return orders.pop() if len(orders) == 1 else None


def _read_statement(statement: str, is_month_first: bool | None) -> ShownDate | None:
    found = _LINE_PATTERN.match(statement)
    if found is None or len(found["rest"]) > _MAX_REST_CHARACTERS:
        return None
    given = found.groupdict()
    year = int(next(given[name] for name in ("y", "y2", "y3", "y4", "y5") if given[name]))
    name = given["n2"] or given["n3"] or given["n5"]
    month = month_number(name) if name else None
    if name and month is None:
        return None
    day = int(given["d"] or given["d2"] or given["d3"] or 0) or None
    if given["y"]:
        month = int(given["m"])
    elif given["y4"]:
        day, month = _ordered(int(given["a"]), int(given["b"]), False if given["mark"] == "." else is_month_first)
    if given["y5"] and not name and given["published"] is None and len(found["rest"]) > 1:
        return None
    settled = settle(year, month, day)
    if first_day(year, month) is None or (month and day and settled is None):
        return None
    return ShownDate(settled, year, given["published"] is not None)


def _ordered(one: int, other: int, is_month_first: bool | None) -> tuple[int | None, int | None]:
    """Return day and month of two numbers; None and None where their order is not known."""
    if one > 12 or other > 12 or one == other:
        return (one, other) if one > 12 else (other, one)
    if is_month_first is None:
        return None, None
    return (other, one) if is_month_first else (one, other)


def _dated_lines(tree: Any, other: re.Pattern[str]) -> Iterator[str]:
    """Short lines of the page that hold a label, in order; with the line behind it where it is a label alone."""
    label = ""
    for line in _lines(tree, other):
        words = " ".join(line.split())
        if label:
            words, label = f"{label} {words}", ""
        if not words or len(words) > _MAX_LINE_CHARACTERS:
            continue
        if re.search(r"(?:19|20)\d\d", words):
            yield words
        elif _LABEL_PATTERN.match(words):
            label = words


def _lines(tree: Any, other: re.Pattern[str]) -> Iterator[str]:
    pieces: list[str] = []
    walk = etree.iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event == "start":
            if _is_of_others(element, other):
                walk.skip_subtree()
                continue
            if element.tag in _LINE_ENDING_TAGS:
                yield "".join(pieces)
                pieces = []
            pieces.append(element.text or "")
            continue
        if event == "end" and element.tag in _LINE_ENDING_TAGS:
            yield "".join(pieces)
            pieces = []
        if element is not tree:
            pieces.append(element.tail or "")
    yield "".join(pieces)


def _is_of_others(element: Any, other: re.Pattern[str]) -> bool:
    """Return whether an element leads on to other pages, or holds what is not the page's own."""
    if element.tag in _SKIPPED_TAGS:
        return True
    if element.tag in ("html", "body", "main", "article", "head"):
        return False
    if other.search(f"{element.get('class') or ''} {element.get('id') or ''}"[:400]):
        return True
    return element.tag in ("div", "li", "section", "a") and leads_on(element)


_MAX_CARD_CHARACTERS = 400
_MAX_CARD_ELEMENTS = 60
_HEADINGS = frozenset({"h2", "h3", "h4", "h5", "h6"})


def leads_on(element: Any) -> bool:
    """Return whether an element is next to nothing but the name of another page and a link to it."""
    inside = list(islice(element.iter(), _MAX_CARD_ELEMENTS))
    link = next((one for one in inside if one.tag == "a" and one.get("href")), None)
    if link is None or len(inside) == _MAX_CARD_ELEMENTS:
        return False
    is_list_item = element.tag == "li" and len("".join(link.itertext()).split()) > 1
    heads = [one for one in inside if one.tag in _HEADINGS]
    is_card = any(next(head.iter("a"), None) is not None or link in head.iterancestors() for head in heads)
    return (is_list_item or is_card) and len("".join(element.itertext())) <= _MAX_CARD_CHARACTERS
