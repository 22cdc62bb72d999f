"""How a note is written and what post it stands under, as a few plain numbers that raters may go by."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable

from crowdnotes.engines.local import tone
from crowdnotes.engines.local.heads.head import linked_hosts, note_words
from crowdnotes.text.note_rules import NOTE_LIMIT, note_length
from crowdnotes.text.stems import content_tokens

_AUTHORITY = re.compile(r"(?:\.gov|\.edu|who\.int|nhs\.uk)$|\.gov\.")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_DENIES = re.compile(r"\W*(?:no|false|this is false|this claim|there is no|not)\b", re.IGNORECASE)
_ON_X = frozenset({"x.com", "twitter.com"})


def manner_of_note(note: str) -> list[float]:
    """Length, links, tone, figures and ease of reading."""
    words, hosts = note_words(note), linked_hosts(note)
    each = words.split()
    read = tone.reading(words)
    return [
        math.log1p(len(words)),
        note_length(html.unescape(note)) / NOTE_LIMIT,
        float(len(each)),
        float(len(hosts)),
        float(len(set(hosts))),
        float(any(_AUTHORITY.search(host) for host in hosts)),
        float(not _ON_X.isdisjoint(hosts)),
        float(any("wikipedia" in host for host in hosts)),
        float(len(tone.loaded_words(note))),
        float(len(tone.insults(note))),
        float(len(tone.speculative_words(note))),
        float(len(tone.first_person(note))),
        float(len(tone.shouting(note))),
        float(len(tone.questions(note))),
        _share(words, str.isdigit),
        float(bool(_YEAR.search(words))),
        float(words.count('"') + words.count("“")),
        float(words.count(",")),
        _share(words, str.isupper),
        sum(map(len, each)) / max(1, len(each)),
        0.5 if read.ease is None else read.ease / 100,
        float(read.longest_words),
        float(bool(_DENIES.match(words))),
    ]


def manner_of_post(post: str, plain: str, note: str) -> list[float]:
    """The post's length, links and shouting, and how many of the note's words it has; `plain` has no links."""
    words = {token.stem for token in content_tokens(note_words(note))}
    in_post = {token.stem for token in content_tokens(plain)}
    return [
        len(words & in_post) / max(1, len(words)),
        math.log1p(len(plain)),
        float("http" in post),
        float(plain.count("!") + plain.count("?")),
        _share(plain, str.isupper),
    ]


def _share(text: str, counts: Callable[[str], bool]) -> float:
    return sum(map(counts, text)) / max(1, len(text))
