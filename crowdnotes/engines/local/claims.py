"""Checkable statements of a post: sentences that assert something, most checkable first."""

from __future__ import annotations

import re

from crowdnotes.domain import Claim, Post
from crowdnotes.engines.local.lexicon import CAUSAL_WORDS, find_terms
from crowdnotes.engines.local.topics import is_health_word
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.stems import content_tokens, plain_post, tokens

# Who is said to hide something or to gain by it, and the words for that: it tells why, not what is so.
_ACTORS = (
    r"\b(?:they|he|nobody|no one|doctors?|\w+ologists?|\w+iatrists?|scientists?|researchers|experts?|pharma|tech|"
    r"industry|compan(?:y|ies)|corporations?|manufacturers|governments?|politicians?|elites?|media|press|hospitals?|"
    r"authorit(?:y|ies)|agenc(?:y|ies)|associations?|lobby|establishment|(?-i:FDA|CDC|WHO|NIH|NHS|EMA)|pfizer|moderna|"
    r"merck|monsanto|bayer|fauci|gates)\b"
)
_HIDES = (
    r"hid(?:e|es|ing|den)?|conceal\w*|suppress\w*|bur(?:y|ies|ied|ying)|cover\w* .{0,20}\bup|censor\w*|silenc\w*|"
    r"silent|secret|quiet|says? nothing|l(?:ie|ies|ied|ying)|refuses?|"
    r"(?:(?:do|does|did|wo)n['’]t|(?:do|does|did|will) not|never) (?:want|tell|told|let|say|admit)"
)
_GAINS = (
    r"profits?|profit(?:ed|ing|able)|money|[bm]illions|earn(?:s|ed|ing)?|rich|greed\w*|kickbacks?|grants|brib\w+|paid|"
    r"pays?|patent\w*|shareholders|lose|sick|control|power|to sell"
)
_MOTIVE = re.compile(rf"{_ACTORS}.{{0,100}}?\b(?:{_HIDES}|{_GAINS})\b", re.IGNORECASE)


_MOST = 8
_NEEDED = 1.0
_OF_OWN_DAY = 1.0
_OF_MOTIVE = 2.0  # what is so is looked up before why somebody would hide it
_READ_AT_MOST = 200  # sentences; a 25,000-character thread says what it claims well before
_GREETING = re.compile(
    r"^(good (morning|evening|night)|hi|hello|hey|thanks?|thank you|happy|congratulations|please)\b", re.IGNORECASE
)
_OPINION = re.compile(r"\b(i (think|believe|feel|hope|wish|love|hate)|in my opinion|imo|imho)\b", re.IGNORECASE)
_ASKS = re.compile(r"^\W*(?:why|who|where|did|does|do you|have you|are you|can you|is it|should)\b", re.IGNORECASE)
_DID_YOU_KNOW = re.compile(r"^\W*(?:and )?did you know\b", re.IGNORECASE)
_LIKENS = re.compile(r"\b(?:is|are|it['’]s) (?:just |exactly |a bit )?(?:like|akin to)\b", re.IGNORECASE)
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
_PRONOUN_SUBJECT = re.compile(
    r"^\W*(?:and |but |so )?(?:(?:it|they|he|she|you|we)\b|(?:this|that|these|those)(?:['’]s|\s+(?:is|are|was|were|has|"
    r"have|had|will|can|could|would|does|did|isn|aren|wasn|also|just|shows?|means?|proves?|causes?)\b))",
    re.IGNORECASE,
)


def find_claims(post: Post) -> list[Claim]:
    """At most 8 statements with their spans in `post.text`, most checkable first; may be empty.

    A sentence counts by its numbers, causal words, health terms and named things; questions,
    greetings, opinions and bare links or hashtags do not count.
    """
    scored: list[tuple[float, Claim]] = []
    for index, span in enumerate(split_sentences(post.text)[:_READ_AT_MOST]):
        sentence = post.text[span.start : span.end]
        score = checkability(sentence)
        if score >= _NEEDED:
            plain = plain_post(sentence)
            score -= 0.02 * index
            score -= 0.8 * has_pronoun_subject(plain)  # "This is real": the substance stands in another sentence
            score -= _OF_MOTIVE * (_MOTIVE.search(plain) is not None)
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
    if (len(content) < 2 and not denies) or _GREETING.match(plain) or _LIKENS.search(plain):
        return 0.0  # of these "X is like Y" is a figure of speech: no fact answers it
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
    if _OPINION.search(plain):
        score -= 0.8
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


def has_pronoun_subject(sentence: str) -> bool:
    """Whether a sentence is about "it", "they" or "this", so that another sentence must say what that is."""
    return _PRONOUN_SUBJECT.match(sentence) is not None and ": " not in sentence
