"""How the words of a search are put together: shortened, each once, with the purpose that sets it apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crowdnotes.domain import Claim, Query
from crowdnotes.engines.local.claims import has_pronoun_subject
from crowdnotes.engines.local.polarity import negations
from crowdnotes.text.stems import content_tokens, is_content, plain_post, tokens

_LONGEST_QUERY = 160
_LONGEST_LABEL = 60
_CLAIM_WORDS = 14
_OPENING = re.compile(
    r"^(?:(?:breaking|urgent|new|just in|news|thread|reminder|fact|fun fact|psa|icymi|update|wow|lol|omg|rt|via|so|and|"
    r"but|oh|well|hey|look|listen|folks|guys)\b[\s:!,.–—-]*)+",
    re.IGNORECASE,
)


def query(text: str, purpose: str, language: str | None = "en", *, before: str = "") -> Query:
    """A query of at most 160 characters, with each word once: terms and headings share words.

    `before` is a name that stays whole and stands first ("National Cancer Institute").
    """
    words = text.split()
    folded = [word.casefold() for word in words]
    once = " ".join(word for index, word in enumerate(words) if folded[index] not in folded[:index])
    return Query(text=clip(f"{before} {once}"), purpose=purpose, language=language)


def claim_words(claims: Sequence[Claim], text: str, subject: str) -> str:
    """The first claim's words, or the text's; one about "it" or "they" gets the subject put before it."""
    claim = _OPENING.sub("", plain_post(claims[0].text if claims else text))
    pronoun = has_pronoun_subject(claim) and subject.casefold() not in claim.casefold()
    return shortened(f"{subject} {claim}" if pronoun else claim)


def shortened(text: str) -> str:
    """A text as a search: its words up to the 14th content word, without the marks."""
    kept = []
    count = 0
    for token in tokens(plain_post(text)):
        count += is_content(token.folded)
        if count > _CLAIM_WORDS:
            break
        kept.append(token.text)
    return " ".join(kept)


def clip(text: str) -> str:
    """At most 160 characters, cut between words where there are any."""
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= _LONGEST_QUERY else (text[:_LONGEST_QUERY].rsplit(" ", 1)[0] or text[:_LONGEST_QUERY])


def label_of(text: str) -> str:
    """A topic's words, short enough to be told in a purpose."""
    return text if len(text) <= _LONGEST_LABEL else f"{text[:_LONGEST_LABEL]}…"


def distinct(queries: Sequence[Query]) -> list[Query]:
    """The queries without those that hold the same content words as an earlier one, and deny as it does."""
    seen: set[tuple[bool, frozenset[str]]] = set()
    kept = []
    for one in queries:
        words = frozenset(token.stem for token in content_tokens(one.text)) or frozenset([one.text])
        key = bool(negations(one.text)), words
        if one.text and key not in seen:
            seen.add(key)
            kept.append(one)
    return kept
