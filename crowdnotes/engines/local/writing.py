"""Writes notes by quotation: the passages' own sentences that bear most on the post, attributed.

CrowdNotes+ D.3 without a language model: "According to the CDC, …". Nothing is said that no passage says, and the
program adds the links. When no sentence answers the claim, or all of them only say it again, it abstains and names
what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from crowdnotes.domain import Evidence, Post, SourceCategory
from crowdnotes.embedding import Embedder, FloatArray
from crowdnotes.engines.base import WriterAnswer, Written
from crowdnotes.engines.local.differences import quantities, repeats
from crowdnotes.engines.local.polarity import negations, polarity_differences
from crowdnotes.engines.local.quotable import lower_first, penalty, shorter_forms, standing_alone, statements
from crowdnotes.engines.local.source_ranking import publisher_name
from crowdnotes.engines.local.subjects import (
    Subject,
    copula_at,
    denies_cures,
    relations_of,
    speak_to,
    speaks_of_main_subject,
    subjects_of,
    tells_causes,
    text_stems,
    what_is_missing,
)
from crowdnotes.engines.local.topics import key_phrases
from crowdnotes.text.note_rules import note_length
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.stems import content_tokens, plain_post, tokens

_SATIRE = re.compile(
    r"\b(?:satir(?:e|ical|ist\w*)|parod(?:y|ies)|spoof\w*|(?:purely|entirely|all) fictional|"
    r"for entertainment purposes only|humou?r (?:site|website|paper|magazine|column))\b",
    re.IGNORECASE,
)
_SELF = re.compile(
    r"\b(?:we|our|us|this (?:is|site|website|page|paper|newspaper|article|story|publication|account|magazine))\b",
    re.IGNORECASE,
)


def says_satire(sentence: str) -> bool:
    """Whether a sentence says of something that it is satire or parody."""
    return _SATIRE.search(sentence) is not None


def is_satirical(item: Evidence) -> bool:
    """Whether the source says of itself, in or around the passage, that it is satire.

    A page that reports on someone else's satire does not: the sentence must name the source or say "we".
    """
    source = item.source
    if says_satire(f"{source.title} {source.publisher or ''}"):
        return True
    name = source.publisher or publisher_name(source)
    own = {token.folded for token in content_tokens(name)}
    for text in (item.passage.text, item.passage.before, item.passage.after):
        if not _SATIRE.search(text):
            continue
        for span in split_sentences(text):
            sentence = text[span.start : span.end]
            words = {token.folded for token in content_tokens(sentence)}
            if says_satire(sentence) and (_SELF.search(sentence) or (own and own <= words)):
                return True
    return False


# Cosines from which a sentence is near enough, read on pairs of HealthNotes posts and NIH answers.
_NEAR = 0.48
_NEAR_TWO_TERMS = 0.42
_NEAR_ONE_TERM = 0.50  # for a claim with a single term
_NEAR_BY_WORDS = 0.60  # for a claim of no known kind
_ENOUGH = 2  # shared terms that are no chance
_ALMOST_THE_SAME = 0.75
_MOST_OF = 0.6  # share of a claim's agent that a sentence must name
_FIRST_WORDS = 5
_CONDITION = re.compile(r"(?:if|when|unless|(?:but )?you|using)\b", re.IGNORECASE)
_CLAUSE = re.compile(r",|\b(?:which|that|who|where|when|if)\b", re.IGNORECASE)
_TELLING_FIGURE = 1_000  # a smaller number, or a year, may stand in both by chance
_YEARS = range(1_800, 2_101)
_OF_BEING = frozenset({"exist", "is there", "harm", "spread"})  # kinds that what a thing is may answer
_WHAT_IT_IS = re.compile(
    r"\w+(?:n['’]t)? (?:not )?(?:an?|the|one of|caused|more than|any|inherited|contagious|spread|"
    r"\w+ (?:that|which|with|of|to))\b",
    re.IGNORECASE,
)


def answers(claim: Subject, sentence: str, cosine: float, title: str = "") -> bool:
    """Whether a sentence speaks to a claim; `cosine` is that of the two, and a `title` may name whom it is about.

    Of "X causes Y" it names both, or says what causes Y, or that nothing cures it; and it says the same kind
    of thing, denies it, or gives its figure or another. "X is Y" is answered by what X is.
    """
    if _CONDITION.match(sentence):
        return False  # advice for some
    stems = text_stems(sentence)
    specific, _ = claim.shared(stems)
    if not claim.is_named_by(stems) or cosine < (_NEAR if specific < _ENOUGH else _NEAR_TWO_TERMS):
        return False
    same_kind = _says_the_same_kind(claim, sentence)
    if len(claim.specific) + len(claim.topics) == 1:
        says = not quantities(claim.text) and (same_kind or _defines(claim, sentence))
        return cosine >= _NEAR_ONE_TERM and says
    almost_the_same = cosine >= _ALMOST_THE_SAME and (same_kind or (claim.head and not claim.relations))
    if almost_the_same or (specific >= _ENOUGH and _has_its_figure(claim, sentence)):
        return True
    about = stems | text_stems(title)
    if _is_about(claim, about):
        return _says_of_it(claim, sentence, about, cosine)
    of_agent = same_kind and claim.share(claim.agents, about) > 0
    denies = _denies(claim, sentence) and (specific >= _ENOUGH or (specific > 0 and of_agent))
    return denies or _answers_without_agent(claim, sentence, stems)


def _is_about(claim: Subject, stems: frozenset[str]) -> bool:
    """Whether a text names whom or what the claim is about: most of it, or all where it is a general topic."""
    needed = _MOST_OF if claim.agents & claim.specific.keys() else 1.0
    if claim.agents and claim.share(claim.agents, stems) < needed:
        return False
    return not claim.head or claim.share(claim.head, stems) > 0


def _says_of_it(claim: Subject, sentence: str, about: frozenset[str], cosine: float) -> bool:
    """Whether a sentence on the claim's subject denies, counts, defines or speaks of what the claim says of it."""
    stems = text_stems(sentence)
    specific, topics = claim.shared(stems)
    shares = specific >= (1 if claim.head else _ENOUGH) or topics >= _ENOUGH
    if shares and (_denies(claim, sentence) or _counts(claim, sentence)):
        return True
    of_elsewhere = claim.proper and not claim.share(claim.proper, about)
    unlike_number = quantities(claim.text) and claim.relations <= {"harm"}  # how many died, not that some do
    if of_elsewhere or unlike_number:
        return False
    if not claim.relations - _OF_BEING and _defines(claim, sentence):
        return True
    silent = claim.agents and claim.told and not claim.share(claim.told, stems)
    # Without a verb nobody knows which of its words the claim is about.
    vague = not claim.head and len(claim.specific) > 1 and specific < _ENOUGH
    if silent or vague:
        return False
    if claim.relations:
        return _says_the_same_kind(claim, sentence)
    return bool(claim.head) and cosine >= _NEAR_BY_WORDS and specific + topics > _ENOUGH


def _says_the_same_kind(claim: Subject, sentence: str) -> bool:
    return speak_to(claim.relations, relations_of(sentence))


def _denies(claim: Subject, sentence: str) -> bool:
    """Whether it says the contrary of some words that both use."""
    return any(found.kind == "negation" for found in polarity_differences(sentence, claim.text, claim.text))


def _counts(claim: Subject, sentence: str) -> bool:
    """Whether it has a figure of its own for the claim's."""
    return bool(claim.head and quantities(claim.text) and quantities(sentence))


def _has_its_figure(claim: Subject, sentence: str) -> bool:
    """Whether it speaks of the very number that the claim does, one too large to be there by chance."""
    told = [
        number for number in quantities(claim.text) if number.value >= _TELLING_FIGURE and number.value not in _YEARS
    ]
    return any(number.agrees_with(other) for number in told for other in quantities(sentence))


def _answers_without_agent(claim: Subject, sentence: str, stems: frozenset[str]) -> bool:
    """Whether it answers "X causes Y" or "X cures Y" without X: what causes Y in truth, that nothing cures it."""
    if claim.is_of_a_name or not claim.share(claim.told, stems) or not _leads(claim, sentence, claim.told):
        return False
    if "cause" in claim.relations and tells_causes(sentence):
        return True
    return bool(claim.relations & {"cure", "treat"}) and denies_cures(sentence)


def _leads(claim: Subject, sentence: str, terms: Iterable[str]) -> bool:
    """Whether a sentence begins with one of the terms, so that it is about it."""
    terms = set(terms)
    wanted = {term for term in terms if term in claim.specific} or terms
    first = content_tokens(sentence)[:_FIRST_WORDS]
    stems = text_stems(" ".join(token.text for token in first))
    return any(claim.names(term, stems) for term in wanted)


def _defines(claim: Subject, sentence: str) -> bool:
    """Whether claim and sentence both say what a thing is: "Polio was poisoning", "Polio is an infection"."""
    at = copula_at(sentence)
    if at < 0 or not claim.head or not ("exist" in claim.relations or copula_at(claim.text) >= 0):
        return False
    before = content_tokens(sentence[:at])
    if not 1 <= len(before) <= _FIRST_WORDS or _CLAUSE.search(sentence[:at]) or not _WHAT_IT_IS.match(sentence[at:]):
        return False
    return claim.share(claim.head, text_stems(sentence[:at])) >= _MOST_OF


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
