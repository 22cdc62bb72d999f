"""Checkable statements of a post: sentences that assert something, most checkable first."""

from __future__ import annotations

import re

from crowdnotes.domain import Claim, Post
from crowdnotes.engines.local.topics import CAUSAL_WORDS, find_terms, is_health_word
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.stems import content_tokens, plain_post, tokens

_MOST = 8
_NEEDED = 1.0
_OF_OWN_DAY = 1.0
_READ_AT_MOST = 200  # sentences; a 25,000-character thread says what it claims well before
_ASKS = re.compile(r"^\W*(?:why|who|where|did|does|do you|have you|are you|can you|is it|should)\b", re.IGNORECASE)
_DID_YOU_KNOW = re.compile(r"^\W*(?:and )?did you know\b", re.IGNORECASE)
_ASSERTS = re.compile(
    r"\b(is|are|was|were|has|have|had|do|does|did|(?:do|does|did|ca|is|are)n['’]t|will|can|cannot|never|no|helps?|exists?)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(r"\b(no|not|never|(?:is|are|was|were|do|does)n['’]t|fake|hoax)\b", re.IGNORECASE)
# What happened to the writer, or on that day.
_OWN_DAY = re.compile(
    r"(?<!type )(?<!stage )(?<!phase )\b(?-i:I)\b|\b(?:my|me|mine|myself|today|yesterday|tonight|"
    r"(?:this|last) (?:morning|evening|night|week))\b",
    re.IGNORECASE,
)
_HASHTAG = re.compile(r"#\w+")


def find_claims(post: Post) -> list[Claim]:
    """At most 8 statements with their spans in `post.text`, most checkable first; may be empty.

    A sentence counts by its numbers, causal words, health terms and named things; questions
    and bare links or hashtags do not count.
    """
    scored: list[tuple[float, Claim]] = []
    for index, span in enumerate(split_sentences(post.text)[:_READ_AT_MOST]):
        sentence = post.text[span.start : span.end]
        score = checkability(sentence)
        if score >= _NEEDED:
            plain = plain_post(sentence)
            score -= 0.02 * index
            score -= _OF_OWN_DAY * (_OWN_DAY.search(plain) is not None)
            scored.append((-score, Claim(text=sentence, span=span)))
    scored.sort(key=lambda item: item[0])
    return [claim for _, claim in scored[:_MOST]]


def checkability(sentence: str) -> float:
    """How much of a checkable statement a sentence is: 0 for none, about 2 and up for a clear one."""
    plain = plain_post(sentence)
    content = content_tokens(plain)
    # One word is enough to deny: "There was no pandemic."
    health = {word.start for word in content if is_health_word(word)}
    health |= {term.start for term in find_terms(plain) if not term.is_broad}
    denies = len(content) == 1 and health and _DENIES.search(plain) and len(plain.split()) > 2
    if len(content) < 2 and not denies:
        return 0.0
    if len(_HASHTAG.findall(sentence)) >= 2 and len(content_tokens(_HASHTAG.sub(" ", sentence))) < 2:
        return 0.0  # a row of tags states nothing
    words = tokens(plain)
    score = 0.0
    score += 1.0 if any(token.folded[0].isdigit() for token in words) else 0.0
    score += 1.0 if any(token.folded in CAUSAL_WORDS for token in words) else 0.0
    score += 0.6 * min(3, len(health))
    score += 0.4 if any(token.text[0].isupper() for token in words[1:]) and not plain.isupper() else 0.0
    score += 0.5 if _DENIES.search(plain) and health else 0.0
    score += 0.5 if _ASSERTS.search(plain) else 0.0
    if _DID_YOU_KNOW.match(plain):
        score += 0.5  # it asks nothing
    elif _ends_asking(plain) or _ASKS.match(plain):
        score -= 2.0
    if not plain.isascii() and not any("a" <= letter <= "z" for letter in plain.lower()):
        score += 1.5  # no word lists for other scripts: take a statement as a statement
    return max(0.0, score)


def _ends_asking(text: str) -> bool:
    """Whether a question mark is among the marks that end a text. A pattern would begin anew at each of them."""
    for character in reversed(text):
        if character in "?؟？":
            return True
        if character.isalnum() or character == "_":
            break
    return False
