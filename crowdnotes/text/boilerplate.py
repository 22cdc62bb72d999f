"""Which parts of a page say nothing of its subject: notices of rights, navigation, calls to click, lists of links."""

from __future__ import annotations

import re

from crowdnotes.domain import Span
from crowdnotes.text import kept_by_text
from crowdnotes.text.sentences import split_pieces


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# What sites put between their parts: where the lines of a page ran together it is within a sentence.
_NAVIGATION_PATTERN = re.compile(
    r"(?<!\w)(?:(?i:(?:back|return) to (?:the )?top(?: of (?:the )?page)?)|T(?i:op of (?:the )?page)"
    r"|(?i:skip to (?:main )?content|jump to (?:navigation|search)|(?:print|share|email) this (?:page|article|story))"
    r")(?!\w)[ .↑^|]*"
)
# A line that is nothing else.
_LINE_PATTERN = _any_of(
    r"(?:related|useful|external|quick|other) (?:links?|articles?|pages?|content|topics?|stories"
    r"|resources?)",
    r"(?:read|learn|see|find out|show|view) (?:more|all)(?: (?:about|on|information).{0,60})?",
    r"more (?:on|about):? .{0,80}",
    r"(?:table of )?contents|(?:on this|in this) (?:page|section|article)|site ?map",
    r"contact us|about us|privacy(?: policy)?|terms (?:of|and) (?:use|conditions|service)|disclaimer|accessibility",
    r"cookie (?:policy|settings)|log ?in|sign (?:in|up)|subscribe(?: (?:now|today))?|follow us(?: on .{0,40})?",
    r"menu|home|search|next|previous|close|advertisement",
    r"share (?:this|the) (?:page|article|story|post)(?: (?:on|via|by) .{1,60})?",
)
# A notice of what may be done with the page; "the drug went out of copyright" says something.
_RIGHTS_PATTERN = _any_of(
    r"^\W*(?:©|\(c\) ?(?=\d)|copyright\W{1,3}(?:©|\(c\)|\d{4}|by\b))",
    r"\ball rights reserved\b",
    r"\bimages? and logos\b|\btrademarked/copyrighted\b",
    r"\b(?:images?|photos?|photographs?|pictures|logos?|graphics|illustrations)\b.{0,60}"
    r"\b(?:on this|in the materials)\b.{0,40}\b(?:web ?site|page)\b",
    r"\b(?:material|content|information|text|article|publication|document)s?\b.{0,60}\bmay (?:not )?be"
    r" (?:re(?:produced|printed|published|used|distributed)|used|copied)\b.{0,80}\bpermission\b",
    r"\bwithout (?:seeking )?(?:further|prior|written|express)\b.{0,20}\bpermission\b",
    r"\b(?:this|the) (?:information|publication|material|content|page|document) is (?:not copyrighted"
    r"|copyrighted by\b|protected by copyright|in the public domain)",
    r"\b(?:reproduction|republication|redistribution)\b.{0,40}\b(?:in whole or in part"
    r"|without (?:\w+ )?(?:permission|consent))\b",
    r"\b(?:alle rechte vorbehalten|todos (?:los derechos|os direitos) reservados|tous droits réservés"
    r"|tutti i diritti riservati|alle rechten voorbehouden)\b",
    r"^\W*(?:images?|photos?|photographs?|pictures?|illustrations?) (?:credits?: ?|courtesy of ).{0,60}$",
    r"^\W*(?:reprinted|reproduced|used|adapted) (?:here )?with (?:the )?(?:kind )?permission\b",
    r"\bencourages? (?:people|readers|users) to share this content\b",
)
# A sentence that only says where to click or to look.
_CALL_PATTERN = _any_of(
    r"^\W*(?:please )?(?:click|tap) (?:here|below|on|the|this|to)\b",
    r"\bclick (?:here|on (?:the|this) link|the (?:brackets|image|link|button))\b",
    r"\b(?:this|our) (?:web)?site uses cookies\b|\b(?:accept|manage) (?:all )?cookies\b",
    r"\bleaving an? [\w. ]{2,30} web ?site\b|\bexit notification\b",
    r"^\W*(?:for|to (?:get|find|learn|read|see)) (?:more|further|additional|details)\b.{0,120}"
    r"\b(?:see|visit|call|contact|go to|refer to)\b",
    r"^\W*see (?:also )?(?:the )?.{2,120}\bfor (?:more|further) information\W*$",
    r"^\W*(?:subscribe|sign up) (?:to|for) (?:our|the) .{0,40}(?:newsletters?|updates|alerts)\b",
)
_MAX_NOTICE_CHARACTERS = 500  # a longer piece says something else as well
_MIN_LINK_WORDS = 9  # words with the capitals of titles in a row, without a stop: a headline has fewer
_MIN_TITLE_SHARE = 0.85


def is_boilerplate(words: str) -> bool:
    """Return whether a sentence or list item says nothing of the page's subject."""
    line = " ".join(words.split()).strip(" -–•*·|>»")
    if not any(map(str.isalnum, line)):
        return True
    if _LINE_PATTERN.fullmatch(line.rstrip(".:…»> ")) or _NAVIGATION_PATTERN.fullmatch(line):
        return True
    if len(line) <= _MAX_NOTICE_CHARACTERS and (_RIGHTS_PATTERN.search(line) or _CALL_PATTERN.search(line)):
        return True
    return _is_list_of_links(line)


def _is_list_of_links(line: str) -> bool:
    """Return whether titles ran together: nearly all longer words begin with a capital, and no stop ends it."""
    if line.endswith((".", "!", "?")):
        return False
    long = [word for word in re.findall(r"[^\W\d_]{4,}", line) if word.lower() != word.upper()]
    titled = sum(word[0].isupper() and not word.isupper() for word in long)
    return len(long) >= _MIN_LINK_WORDS and titled >= _MIN_TITLE_SHARE * len(long)


@kept_by_text
def split_evidence(text: str) -> tuple[Span, ...]:
    """Sentences and list items of a text that may be evidence, as spans in order; empty text gives none."""
    found: list[Span] = []
    for piece in split_pieces(text):
        start = piece.start
        for match in _NAVIGATION_PATTERN.finditer(text, piece.start, piece.end):
            found.append(Span(start=start, end=match.start()))
            start = match.end()
        found.append(Span(start=start, end=piece.end))
    return tuple(span for span in found if span.start < span.end and not is_boilerplate(text[span.start : span.end]))
