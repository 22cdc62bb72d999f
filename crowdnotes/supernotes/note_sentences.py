"""The sentences of a note: which links each has, and whether one can be set into another note."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from crowdnotes.engines.local import tone
from crowdnotes.engines.prompt_injection import holds_injection
from crowdnotes.text.note_rules import NOTE_LIMIT, find_urls, note_length
from crowdnotes.text.sentences import split_sentences

_LABEL = re.compile(
    r"^\W*(?:sources?|links?|references?|see(?: also| here| more)?|read(?: more)?(?: here)?|"
    r"more(?: info\w*)?(?: here)?|"
    r"(?:for )?more (?:information|details)|via|here|cf|fact[- ]?check(?:ed)?(?: here)?)\W*$",
    re.IGNORECASE,
)
_POINTS_AT_LINK = re.compile(
    r"^\W*(?:here (?:is|are|’s|'s)|links?|makes|claims|says|states|implies|shows)\b|"
    r"\b(?:here|below|following|this link|links?|sources?|see|according to)\W*$",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"\s+[\"“(]?[A-Z]")
_LIST_NUMBER = re.compile(r"^\s*(?:\(?\d{1,2}[.)]\s*(?=\D)|[-•*–]\s+)")
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|may|might|must|should|cannot|"
    r"\w+n['’]t|\w+['’](?:s|re|ve|ll)|\w+ (?:\w+ly )?\w{2,}ed (?:to|by|that|in|at|on|for|with|from|the|an?|his|her|its|"
    r"their|as|no|\d\S*)|says?|said|shows?|claims?|states?|found|made|took|won|lost|gave|went|came|remains?|appears?|contains?|"
    r"includes?|means?|broke|began|became|built|bought|brought|caught|chose|died|fell|felt|flew|got|grew|held|kept|knew|"
    r"led|left|met|paid|put|ran|rose|saw|sold|sent|shot|spoke|spent|stood|told|thought|wore|wrote|implies|omits|ignores|"
    r"lacks|exists?|fails|needs?|refers|uses|makes|takes|gets|gives|supports?|"
    r"comes|goes|works|causes?|reports?|confirms?|suggests?|presents?|quotes?|mis\w+s)\b",
    re.IGNORECASE,
)
# Goes on from a sentence before it.
_GOES_ON = (
    r"and|but|or|so|also|however|yet|still|then|thus|therefore|hence|moreover|furthermore|additionally|besides|"
    r"instead|rather|otherwise|nevertheless|nonetheless|meanwhile|likewise|similarly|consequently|conversely|indeed|"
    r"in (?:addition|fact|other words|contrast|short|reality|turn)|for (?:example|instance)|on the other hand|"
    r"as (?:such|a result)|after that|at that time|even (?:then|so)|what is more|not only that|since then"
)
_CONNECTS = re.compile(rf"^\W*(?:{_GOES_ON})\b", re.IGNORECASE)
# That, or speaks of what was named there.
_LEANS = re.compile(
    rf"^\W*(?:{_GOES_ON}|"
    r"this|that|these|those|such|he|she|it|its|they|them|his|her|their|the (?:former|latter|same)|"
    r"the (?:article|report|study|paper|source|link|author|bill|law|statement)s?)\b",
    re.IGNORECASE,
)
# Speaks of the post, or of nothing before it: "This photo", "It is not known whether".
_STANDS = re.compile(
    r"^\W*(?:(?:this|that|the|these) (?:[\w-]+ ){0,2}?(?:post|tweet|claim|video|image|photo|picture|quote|account|meme|"
    r"screenshot|headline|clip|footage|graph|chart|user|poster|allegation|assertion|person)s?\b|"
    r"it (?:is|was|has been) (?:\w+ ){1,3}(?:that|who|whether|how|why)\b)",
    re.IGNORECASE,
)
# Ends the first clause; what stands before it has to have a verb: "In 2019, the agency approved it" is one clause.
_CLAUSE_ENDS = re.compile(
    r"[,;:–—]\s|\b(?:and|but|or|which|who|whose|because|since|when|while|where|although|though|if|unless|until|"
    r"as|than|so|after|before)\b",
    re.IGNORECASE,
)
# Names what only an earlier sentence tells: no subject is "it" in its own clause ("WHO recommends it"). "Its" and
# "their" mostly are the subject's own, "this year" is told by the calendar, "those who" by what follows.
_POINTS_BACK = re.compile(
    r"\b(?:it(?!(?:['’]s| is| was| has been) (?:\w+ ){1,3}(?:that|who|whether)\b)|they|them|he|him|she|"
    r"also(?! (?:known|called|named)\b)|however|instead(?! of\b)|these|such(?! as\b)|"
    r"this(?! (?:[\w-]+ )?(?:year|month|week|morning|summer|winter|spring|autumn|post|tweet|video|image|photo|picture|"
    r"claim|account)s?\b)|"
    r"those(?! (?:who|with|whose|in|of|at|from|that)\b)|both(?! (?:[\w-]+ ){1,3}?and\b))\b",
    re.IGNORECASE,
)
_LONG = 10  # words; fragments without a verb are shorter
_NAME = re.compile(r"\s[A-Z][a-z]{2,}")
_FEWEST_STEMS = 3  # with a name one fewer: "The river is the Aller."


def _pieces(text: str) -> Iterator[str]:
    """The sentences of a note; one that begins right after a link is one of its own."""
    for span in split_sentences(text):
        words = text[span.start : span.end]
        start = 0
        for url in find_urls(words):
            if url.has_scheme and _BEGINS.match(words, url.end):
                yield words[start : url.end].strip()
                start = url.end
        yield words[start:].strip()


@lru_cache(maxsize=1024)
def parts_of(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The sentences of a note without the links at their ends, each with the links that it or what follows it has."""
    found: list[tuple[str, list[str]]] = []
    open_from = 0  # the first sentence that the next links may belong to
    was_link = False
    for piece in _pieces(text):
        words = _LIST_NUMBER.sub("", piece)
        urls = [url for url in find_urls(words) if url.link]
        bare = words
        for url in reversed(urls):
            if not any(char.isalnum() for char in bare[url.end :]):
                bare = bare[: url.start].rstrip(" ([<-–—:")
        if any(char.isalnum() for char in bare) and not _LABEL.match(bare):
            if was_link:
                open_from = len(found)
            found.append((bare.strip(), []))
            was_link = False
        if urls:
            for _, links in found[open_from:]:
                links.extend(url.link for url in urls)
            was_link = True
    return tuple((words, tuple(dict.fromkeys(links))) for words, links in found)


def links_at(text: str) -> dict[str, tuple[str, ...]]:
    """The links of a note by its sentences."""
    return dict(parts_of(text))


def is_sentence(words: str, stems: frozenset[str]) -> bool:
    """Whether words are a whole statement that can be set into a note as they are."""
    return (
        len(stems) >= _FEWEST_STEMS - bool(_NAME.search(words))
        and note_length(words) <= NOTE_LIMIT
        and not words[:1].islower()
        and not words.startswith(("(", "[", "…", "..."))
        and not words.endswith(("?", ":", ",", ";", "...", "…"))
        and words.count('"') % 2 == 0
        and words.count("(") == words.count(")")
        and (len(words.split()) >= _LONG or _VERB.search(words) is not None)
        and not _POINTS_AT_LINK.search(words)
        and not tone.matches(tone.ABOUT_NOTES, words)
        and not holds_injection(words)
    )


def goes_on(words: str) -> bool:
    """Whether a sentence only goes on from another: "However", "For example"."""
    return _CONNECTS.match(words) is not None


def leans_back(words: str) -> bool:
    """Whether a sentence says something of what only one before it names.

    By its opening ("This", "He", "The study", "However") or by a pronoun in its first clause ("WHO recommends it").
    Where a pronoun may be its own subject's ("the firm said it closed") it counts too: then it only stays where it was.
    """
    if _STANDS.match(words):
        return False
    return _LEANS.match(words) is not None or _POINTS_BACK.search(_first_clause(words)) is not None


def _first_clause(words: str) -> str:
    """Up to the first end of a clause that has a verb; all of them where none has one."""
    ends = (found.start() for found in _CLAUSE_ENDS.finditer(words))
    return next((words[:end] for end in ends if _VERB.search(words, 0, end)), words)
