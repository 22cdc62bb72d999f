"""The words of a claim: which are its own subject, which general topics, what stands before its verb.

By word lists and forms, for there is no part-of-speech tagger: adverbs, verb forms and words of praise or
scorn are no subjects ("oddly", "unleashed", "crazy").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from crowdnotes.engines.local.common_words import PLAIN_STEMS, TOPIC_STEMS
from crowdnotes.engines.local.health_terms import find_terms, other_names
from crowdnotes.engines.local.keyphrases import is_health_word
from crowdnotes.engines.local.lettered_names import lettered_names
from crowdnotes.engines.local.strength import effects_of
from crowdnotes.engines.local.vocabulary import CAUSAL_WORDS, PAST_FORMS
from crowdnotes.text.stems import Token, content_tokens, stem

_MOST_TERMS = 14
_SHOUTED = 6  # letters; a shorter word in capitals may be a name (NATO, PFAS)
_PASSIVE = re.compile(r"\b(?:due to|results? from|because of)\b|\wed by\b", re.IGNORECASE)
_CONTRACTION = re.compile(r"n't$|^(?:i|you|we|they|he|she|it|that|there|who|what)'")
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|did|do|will|can|cannot|could|would|should|may|might|must|\w+n['’]t|"
    r"makes?|made|contains?|works?|kills?|gives?|gave|appears?|turns?|gets?|got|comes?|means)\b",
    re.IGNORECASE,
)
# "Studies have shown that": whose subject follows.
_REPORTED = re.compile(
    r"^[^.;:]{0,60}?\b(?:shown?|says?|said|claims?|claimed|proves?|proved|know|believes?|believed|confirms?|confirmed|"
    r"found|reveals?|revealed)(?: (?:that|if))?(?= )",
    re.IGNORECASE,
)
# The word behind it is a verb: "they can vote", "we deserve".
_BEFORE_A_VERB = re.compile(
    r"\b(?:can|could|will|would|shall|should|may|might|must|cannot|\w+n['’]t|i|you|we|they|he|she|who)"
    r"(?:\s+(?:not|never|also|now|only|just))?\s+$",
    re.IGNORECASE,
)
# What is said of a subject rather than a subject.
_NO_SUBJECT = frozenset(
    stem(word)
    for word in "exist exists worldwide unleashed crazy insane brainwashed lethal deadly fatal toxic useless fine "
    "choice business surpassed harmless generally injected heartless".split()
)
_Synonyms = dict[str, list[tuple[frozenset[str], frozenset[str]]]]


def _by_longest(pairs: Iterable[tuple[frozenset[str], frozenset[str]]]) -> _Synonyms:
    """Pairs of a name and its synonym, as stems, under the longest stem of the name: few are looked at for a text."""
    found: _Synonyms = {}
    for name, synonym in pairs:
        if name:
            found.setdefault(max(sorted(name), key=len), []).append((name, synonym))
    return found


def _stems_of(name: str) -> frozenset[str]:
    return frozenset(map(stem, name.split()))


_MEDICAL_OF = _by_longest((_stems_of(lay), _stems_of(medical)) for lay, medical in other_names().items())
# "put to sleep" must not make a text on anesthesia one on sleep
_LAY_OF = _by_longest((_stems_of(medical), _stems_of(lay) - PLAIN_STEMS) for lay, medical in other_names().items())


@lru_cache(maxsize=4_096)
def text_stems(text: str) -> frozenset[str]:
    """The stems of a text's content words and its lettered names, with the medical or lay name of what it calls
    otherwise.
    """
    stems = {token.stem for token in content_tokens(text)} | lettered_names(text).keys()
    stems |= {stem(part) for token in content_tokens(text) if "-" in token.folded for part in token.folded.split("-")}
    for synonyms in (_MEDICAL_OF, _LAY_OF):
        pairs = [pair for key in stems for pair in synonyms.get(key, ())]
        stems |= {part for name, synonym in pairs if name <= stems for part in synonym}
    return frozenset(stems)


def names(term: str, stems: frozenset[str]) -> bool:
    """Whether a stem is among others, if need be in another form: "schizophrenic" and "schizophrenia"."""
    if term in stems:
        return True
    if len(term) < 6 or not term.isalpha():
        return False
    return any(term[:6] == other[:6] and _common(term, other) >= 0.6 * max(len(term), len(other)) for other in stems)


def _common(one: str, other: str) -> int:
    """The length of the beginning that two words share."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def own_terms_and_topics(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """A claim's own terms and its general topics, by stem and as written, in order."""
    specific: dict[str, str] = {}
    topics: dict[str, str] = {}
    for token in content_tokens(text):
        if token.stem in TOPIC_STEMS:
            topics.setdefault(token.stem, token.text)
        elif _is_specific(token) and len(specific) < _MOST_TERMS:
            specific.setdefault(token.stem, token.text)
    nouns = {key: word for key, word in specific.items() if not _is_verb_form(word)}
    return nouns or specific, topics


def _is_verb_form(word: str) -> bool:
    """Whether a word looks like a verb of the sentence ("unleashed", "tackling") and is no word of health."""
    return word.islower() and word.endswith(("ed", "ing")) and not any(map(is_health_word, content_tokens(word)))


def before_the_verb(text: str, terms: set[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The terms before the claim's first verb, as far as word lists know verbs; and again as agents of that verb.

    A passive claim, and one without terms behind the verb, has no agents.
    """
    begin = reported.end() if (reported := _REPORTED.match(text)) else 0
    text = " " * begin + text[begin:]
    verbs = [*effects_of(text).values(), *([auxiliary] if (auxiliary := _AUXILIARY.search(text)) else [])]
    if not verbs:
        return frozenset(), frozenset()
    verb = min(verbs, key=lambda match: match.start())
    content = [token for token in content_tokens(text) if token.stem in terms]
    head = frozenset(token.stem for token in content if token.end <= verb.start())
    after = any(token.start >= verb.end() for token in content)
    # In "Y is caused by X" either side may be the one that matters.
    return head, head if after and not _PASSIVE.search(text) else frozenset()


def medical_names(text: str) -> dict[str, frozenset[str]]:
    """For each stem of the health terms in a claim the stems of what medical sources call that term."""
    found: dict[str, frozenset[str]] = {}
    for term in find_terms(text):
        medical = frozenset(token.stem for token in content_tokens(term.medical or term.text))
        for token in content_tokens(term.text):
            if medical and not term.is_broad:
                found.setdefault(token.stem, medical)
    return found


def _is_specific(token: Token) -> bool:
    if token.stem in _NO_SUBJECT or (token.folded.endswith("ly") and len(token.folded) > 5):  # "oddly"
        return False
    return token.stem not in PLAIN_STEMS and token.folded not in CAUSAL_WORDS and not _CONTRACTION.search(token.folded)


def phrases_of(text: str, specific: dict[str, str]) -> tuple[str, ...]:
    """Runs of neighbouring own words, most telling first: medical words, then names, then the rest.

    Verbs and shouted words are in none: nobody names a subject by them.
    """
    shouted = text.isupper()
    runs: list[list[Token]] = []
    for token in content_tokens(text):
        if token.stem not in specific and (shouted or token.start == 0 or not token.text[0].isupper()):
            continue
        if _is_said_of_it(token, text):
            continue
        if runs and re.fullmatch(r"\s+|-", text[runs[-1][-1].end : token.start]) and len(runs[-1]) < 3:
            runs[-1].append(token)
        else:
            runs.append([token])
    runs = [run for run in runs if any(token.stem in specific for token in run)]

    def rank(run: list[Token]) -> tuple[bool, bool, int]:
        named = any(token.text[0].isupper() and token.start > 0 for token in run) and not shouted
        return not any(is_health_word(token) for token in run), not named, -len(run)

    return tuple(text[run[0].start : run[-1].end] for run in sorted(runs, key=rank))


def _is_said_of_it(token: Token, text: str) -> bool:
    """Whether a word is a verb by its form or place, or cries out: "flew", "can vote", "CANCELLED"."""
    if is_health_word(token) or any(term.start <= token.start < term.end for term in find_terms(text)):
        return False
    folded = token.folded
    if (
        folded in PAST_FORMS
        or _is_verb_form(folded)
        or _BEFORE_A_VERB.search(text[max(0, token.start - 30) : token.start])
    ):
        return True
    return not text.isupper() and token.text.isupper() and len(token.text) >= _SHOUTED
