"""Finds what one text denies and another says in the same words: "does not spread easily", "spreads easily".

A negation alone says little: "no" in "than no booster" denies nothing that a note could say. So it counts only where
the other text has the words that it denies, and no sentence of a source in use sides with the note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from crowdnotes.engines.local import tone
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.tokens import content_stems, content_tokens, tokens


@dataclass(frozen=True, slots=True)
class Denial:
    """A negation, the `word` at text[start:end]; `words` are those from it on, with "does" or "is" before it.

    `denied` are the stems of the words that follow in its clause, `subject` those of the last before it. `is_state`: it
    goes with a form of "be", as in "is not safe".
    """

    word: str
    words: str
    start: int
    end: int
    denied: tuple[str, ...]
    subject: tuple[str, ...]
    is_state: bool


_MAX_DENIALS = 60  # of a text; a passage has some ten
_MAX_WORDS = 3  # "does not lower the risk of lung cancer": the verb and what it is about
_MAX_SAID_WORDS = 10  # in a hint
_MAX_BEFORE_CLAIM = 15  # characters from a negation to the first word with a meaning: else that is not the verb
_MAX_APART = 6  # words of the other text from the verb to what it is about
_MAX_AFTER_BE = 3  # words: "is a very normal part"
_CLAUSE_END = re.compile(r"[;:()–—]|,\s+(?=\w)|\b(?:and|but|because|which|who|although|while|so)\b", re.IGNORECASE)
# These deny no claim: a comparison ("than no booster"), a condition ("if not treated"), a part of one ("not all").
_NO_CLAIM = frozenset("without neither nor nothing none nobody".split())
_BEFORE_NO_CLAIM = re.compile(
    r"\b(?:than|or|if|unless|whether|when|who|with)(?:\s\w+)?\s$|,\s(?:though|but|if)\s$", re.IGNORECASE
)
_AFTER_NO_CLAIM = re.compile(
    r"\s(?:always|all|every\w*|each|necessarily|only|just|merely|simply|solely|entirely|alone|yet|usually|often|sure|"
    r"known|clear)\b",
    re.IGNORECASE,
)
# Passed over: what is denied comes after it.
_PREFACE = re.compile(
    r"\s(?:(?:found|shown?|suggest|prove[dn]?|think|believe|say|mean)\sthat|longer|ever|really|actually|currently)\b",
    re.IGNORECASE,
)
_BE = frozenset("is are was were be been being".split())
_AUXILIARY = re.compile(
    rf"\b(?:(?P<be>{'|'.join(sorted(_BE))})|do|does|did|has|have|had|can|could|will|would|should|may|might|must)\s$",
    re.IGNORECASE,
)
_CONTRACTED_BE = re.compile(r"(?:is|are|was|were)n['’]?t", re.IGNORECASE)
_MAX_BEFORE = 40  # characters that are looked at before a negation


def list_denials(text: str) -> Iterator[Denial]:
    """Yield the negations of a text that deny a claim, at most 60."""
    return islice(_find_denials(text), _MAX_DENIALS)


def _find_denials(text: str) -> Iterator[Denial]:
    for span in split_sentences(text):
        sentence = text[span.start : span.end]
        words = content_tokens(sentence)
        for match in tone.negations(sentence):
            start, end = match.span()
            before = sentence[max(0, start - _MAX_BEFORE) : start]
            denies_no_claim = match.group().lower() in _NO_CLAIM or _BEFORE_NO_CLAIM.search(before)
            if denies_no_claim or _AFTER_NO_CLAIM.match(sentence, end):
                continue
            preface = _PREFACE.match(sentence, end)
            first = preface.end() if preface else end
            clause_end = _CLAUSE_END.search(sentence, first)
            last = clause_end.start() if clause_end else len(sentence)
            denied = [token for token in words if first <= token.start < last][:_MAX_WORDS]
            if not denied or denied[0].start - first > _MAX_BEFORE_CLAIM:
                continue
            auxiliary = _AUXILIARY.search(before)
            said = f"{auxiliary.group() if auxiliary else ''}{sentence[start:last].rstrip(' .,!?')}".split()
            is_cut = len(said) > _MAX_SAID_WORDS
            yield Denial(
                word=match.group(),
                words=" ".join(said[:_MAX_SAID_WORDS]) + (" …" if is_cut else ""),
                start=span.start + start,
                end=span.start + end,
                denied=tuple(token.stem for token in denied),
                subject=tuple(token.stem for token in words if token.end <= start)[-_MAX_WORDS:],
                is_state=bool((auxiliary and auxiliary["be"]) or _CONTRACTED_BE.fullmatch(match.group())),
            )


def says(text: str, denial: Denial) -> bool:
    """Return whether a sentence of a text says what is denied, other than as a question or what others claim."""
    return any(
        _has_claim(sentence, denial)
        and not (tone.contradicts(sentence) or tone.mentions_rumour(sentence) or sentence.endswith("?"))
        for sentence in _sentences(text)
    )


def _has_claim(sentence: str, denial: Denial) -> bool:
    """Return whether a sentence has the first word that is denied with the next, or after two words of the subject."""
    words = tokens(sentence)
    stems = [token.stem for token in words]
    for place in (at for at, stem in enumerate(stems) if stem == denial.denied[0]):
        near = words[max(0, place - _MAX_AFTER_BE - 1) : place]
        if denial.is_state and _BE.isdisjoint(token.folded for token in near):
            continue
        held = sum(stem in stems[:place] for stem in denial.subject)
        if held >= min(2, len(denial.subject) or 2):
            return True
        if set(denial.denied[1:2]) & set(stems[place + 1 : place + 1 + _MAX_APART]):
            return True
    return False


def denies(text: str, denial: Denial) -> bool:
    """Return whether a sentence of a text denies near the same words, or calls them untrue."""
    claim = {*denial.subject, *denial.denied}
    for sentence in _sentences(text):
        stems = content_stems(sentence)
        has_words = len(stems.intersection(denial.denied)) > 1 or (
            denial.denied[0] in stems and 2 * len(claim & stems) >= len(claim)
        )
        if has_words and tone.contradicts(sentence):
            return True
    return False


def _sentences(text: str) -> Iterator[str]:
    return (text[span.start : span.end] for span in split_sentences(text))
