"""Writes notes by quotation: the passages' own sentences that bear most on the post, attributed.

CrowdNotes+ D.3 without a language model: "According to the CDC, …". Nothing is said that no passage
says, and the program adds the links. When no sentence speaks to the claim's own subject, or all of them
only say the claim again, it abstains and names what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdnotes.domain import Evidence, Post, SourceCategory
from crowdnotes.embedding import Embedder, FloatArray
from crowdnotes.engines.base import WriterAnswer, Written
from crowdnotes.engines.local.answering import answers
from crowdnotes.engines.local.claim_terms import text_stems
from crowdnotes.engines.local.keyphrases import key_phrases
from crowdnotes.engines.local.polarity import negations, polarity_differences
from crowdnotes.engines.local.publishers import publisher_name
from crowdnotes.engines.local.repeating import repeats
from crowdnotes.engines.local.satire import is_satirical, says_satire
from crowdnotes.engines.local.sentence_quality import penalty
from crowdnotes.engines.local.shortening import lower_first, shorter_forms, standing_alone
from crowdnotes.engines.local.statements import statements
from crowdnotes.engines.local.subjects import Subject, speaks_of_main_subject, subjects_of, what_is_missing
from crowdnotes.text.note_rules import note_length
from crowdnotes.text.stems import content_tokens, plain_post, tokens

_ENGLISH = "en"
_POOL = 10
_COVERED = 0.15  # worth of naming all that the claim is about
_DENIES = 0.08  # worth of denying what the claim says
_SECOND = 0.75
_WORTH = 0.8
_REPEATS = 0.75  # cosine of two sentences that say the same thing
_AUTHORITY = {SourceCategory.HEALTH_AUTHORITY: 0.04, SourceCategory.RESEARCH: 0.03, SourceCategory.SOCIAL: -0.06}
_ANSWERS = ("not", "no", "never", "myth", "evidence", "studies", "study", "research", "cannot", "safe", "risk", "cause")
_SAME_MATTER = 0.6  # cosine from which a sentence that answers nothing may still say the claim again


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A usable sentence, how well it answers the post, and its vector."""

    text: str
    evidence: Evidence
    score: float
    vector: FloatArray


def write_notes(embedder: Embedder, post: Post, evidence: Sequence[Evidence], budget: int, count: int) -> WriterAnswer:
    """Up to `count` different notes of at most `budget` characters, best first; or none, with the reason."""
    if not evidence:
        return WriterAnswer(abstained="There is no evidence to write from.")
    if not plain_post(post.text):
        return WriterAnswer(abstained="The post has no words that the evidence could be compared with.")
    if (post.language or _ENGLISH).split("-")[0] != _ENGLISH:
        return WriterAnswer(
            abstained="The local engine writes in English only, and this post is in another language. "
            "Write the note yourself from the passages, or choose a language model."
        )
    subjects = subjects_of(post)
    if not subjects:
        return WriterAnswer(
            abstained="No checkable claim is found in the post: an opinion, a question or a greeting needs no note."
        )
    found, repeated = _bearing(embedder, post, subjects, evidence)
    notes = _combined(found, budget) if found else []
    if notes:
        return WriterAnswer(candidates=_different(notes, count))
    if found:
        reason = f"Every sentence that speaks to the post is longer than the {budget} characters left."
    elif repeated:
        reason = "The passages only say again what the post says. If that holds, the post needs no note."
    else:
        missing = what_is_missing(subjects, (f"{item.source.title} {item.passage.text}" for item in evidence))
        reason = f"Not enough evidence for a note. {missing}"
    return WriterAnswer(abstained=reason)


def _bearing(
    embedder: Embedder, post: Post, subjects: Sequence[Subject], evidence: Sequence[Evidence]
) -> tuple[list[_Sentence], int]:
    """The usable sentences that answer a claim, best first, at most `_POOL`; and how many only repeat one."""
    usable = [
        (said.text, item)
        for item in evidence
        for said in statements(item.passage.text)
        if says_satire(said.text) or not is_satirical(item)  # of satire only the sentence that says what it is
    ]
    vectors = embedder.encode([*(subject.text for subject in subjects), *(text for text, _ in usable)])
    cosines = vectors[len(subjects) :] @ vectors[: len(subjects)].T
    terms = {token.stem for phrase in key_phrases(post.text, 6) for token in content_tokens(phrase.text)}
    whole = plain_post(post.text)
    scored = []
    repeated = 0
    seen: set[str] = set()
    for row, (raw, item) in enumerate(usable):
        text = standing_alone(raw)
        stems = text_stems(text)
        near = [(float(cosine), subject) for cosine, subject in zip(cosines[row], subjects, strict=True)]
        met = [(cosine, subject) for cosine, subject in near if answers(subject, text, cosine)]
        if text in seen:
            continue
        seen.add(text)
        if not met or not speaks_of_main_subject(f"{item.source.title} {text}", whole):
            repeated += any(cosine >= _SAME_MATTER and repeats(text, said.text, cosine) for cosine, said in near)
            continue
        denies = any(bool(negations(text)) != bool(negations(subject.text)) for _, subject in met)
        if not denies and any(repeats(text, said, cosine) for cosine, subject in met for said in (subject.text, whole)):
            repeated += 1
            continue
        cosine, subject = max(met, key=lambda pair: pair[0])
        score = _score(text, item, cosine, terms) + _COVERED * subject.coverage(stems)
        score += _DENIES * bool(polarity_differences(text, subject.text, subject.text))
        scored.append(_Sentence(text, item, score, vectors[len(subjects) + row]))
    scored.sort(key=lambda sentence: -sentence.score)
    return scored[:_POOL], repeated


def _score(text: str, item: Evidence, cosine: float, terms: set[str]) -> float:
    stems = {token.stem for token in content_tokens(text)}
    overlap = len(stems & terms) / len(terms) if terms else 0.0
    folded = {token.folded for token in tokens(text)}
    answers = min(2, sum(word in folded for word in _ANSWERS))
    figure = any(word[0].isdigit() for word in folded)
    score = cosine + 0.25 * overlap + 0.05 * answers + 0.03 * figure
    return score + _AUTHORITY.get(item.source.category, 0.0) - penalty(text)


def _combined(found: Sequence[_Sentence], budget: int) -> list[tuple[float, Written]]:
    """Single sentences and pairs that fit, each with its worth."""
    notes: list[tuple[float, Written]] = []
    bar = _SECOND * found[0].score  # a second sentence must nearly reach the best, or it only dilutes
    for first in found:
        alone = _fitted(first, budget)
        if not alone:
            continue
        notes.append((first.score, Written(alone, (first.evidence.id,))))
        for second in found:
            if second is first or float(np.dot(first.vector, second.vector)) > _REPEATS:
                continue
            same = second.evidence.id == first.evidence.id
            pair = _paired(first, second, budget, same=same)
            if pair:
                ids = (first.evidence.id,) if same else (first.evidence.id, second.evidence.id)
                fresh = 1 - max(0.0, float(np.dot(first.vector, second.vector)))
                gain = (second.score - bar) * (0.5 + 0.5 * fresh)
                notes.append((first.score + gain, Written(pair, ids)))
    notes.sort(key=lambda note: (-note[0], note[1].text))
    best: dict[str, tuple[float, Written]] = {}
    for note in notes:  # two sentences of one source make the same pair whichever comes first
        best.setdefault(note[1].text, note)
    return list(best.values())


def _paired(first: _Sentence, second: _Sentence, budget: int, *, same: bool) -> str:
    """Both sentences in the passage's order when from one source, each attributed once."""
    if same:
        passage = first.evidence.passage.text
        if passage.find(second.text[:30]) < passage.find(first.text[:30]):
            first, second = second, first
    named_once = same or publisher_name(first.evidence.source) == publisher_name(second.evidence.source)
    for opening in shorter_forms(first.text):
        for closing in shorter_forms(second.text):
            end = closing if named_once else _attributed(closing, second.evidence)
            note = f"{_attributed(opening, first.evidence)} {end}"
            if note_length(note) <= budget:
                return note
    return ""


def _fitted(sentence: _Sentence, budget: int) -> str:
    forms = (_attributed(form, sentence.evidence) for form in shorter_forms(sentence.text))
    return next((form for form in forms if note_length(form) <= budget), "")


def _attributed(text: str, item: Evidence) -> str:
    """As "According to X, …"; with a colon where the first word may be a name; plain when nobody is named."""
    name = publisher_name(item.source)
    if not name:
        return text
    if name.split()[-1].strip("()").casefold() in text[:40].casefold():
        return text
    small = lower_first(text, item.passage.text)
    if small is not None:
        return f"According to {name}, {small}"
    return f"{name[:1].upper()}{name[1:]} says: {text}"


def _different(notes: Sequence[tuple[float, Written]], count: int) -> tuple[Written, ...]:
    """The best notes, each kept from repeating the words of those before it."""
    chosen: list[Written] = []
    rest = list(notes)
    while rest and len(chosen) < count:
        taken = [{token.stem for token in content_tokens(note.text)} for note in chosen]

        def worth(pair: tuple[float, Written], taken: list[set[str]] = taken) -> float:
            stems = {token.stem for token in content_tokens(pair[1].text)}
            repeat = max((len(stems & other) / (len(stems | other) or 1) for other in taken), default=0.0)
            return pair[0] - 0.8 * repeat

        best = max(rest, key=worth)
        if chosen and best[0] < _WORTH * notes[0][0]:
            break
        rest.remove(best)
        chosen.append(best[1])
    return tuple(chosen)
