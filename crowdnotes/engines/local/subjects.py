"""What a claim is about, and whether a text speaks about that rather than about health in general.

"Aluminum foil causes cancer" is about foil: a passage on cancer alone does not answer it. A claim's
words are its own (specific), general topics (cancer, vaccine, covid), or say nothing of its subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from crowdnotes.domain import Post
from crowdnotes.engines.local.claims import find_claims, has_pronoun_subject
from crowdnotes.engines.local.common_words import PLAIN_STEMS, TOPIC_STEMS
from crowdnotes.engines.local.keyphrases import is_health_word
from crowdnotes.engines.local.lettered_names import lettered_names, names_another
from crowdnotes.engines.local.polarity import polarity_differences
from crowdnotes.engines.local.quantities import quantities
from crowdnotes.engines.local.strength import effects_of
from crowdnotes.engines.local.vocabulary import CAUSAL_WORDS, LAY_TO_MEDICAL
from crowdnotes.engines.local.words import Token, content_tokens, plain_post, stem

_READ_CLAIMS = 3
_MOST_TERMS = 14
_TOPIC_WEIGHT = 0.5
_LEAST_COVERED = 0.2  # share of the claim's terms; below it a shared word is chance
# Cosines from which a sentence is near enough, read on pairs of HealthNotes posts and NIH answers.
_NEAR = 0.48
_NEAR_TWO_TERMS = 0.42
_NEAR_ONE_TERM = 0.50  # for a claim with a single term
_ALMOST_THE_SAME = 0.75
_OF_CAUSES = re.compile(r"\b(?:what causes|causes of|caused by|due to|unknown cause|results? from)\b", re.IGNORECASE)
_PASSIVE = re.compile(r"\b(?:due to|results? from|because of)\b|\w+ed by\b", re.IGNORECASE)
_CONTRACTION = re.compile(r"n't$|^(?:i|you|we|they|he|she|it|that|there|who|what)'")
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|did|do|will|can|cannot|could|would|should|may|might|must|\w+n['’]t)\b",
    re.IGNORECASE,
)
_SYNONYMS = tuple(
    (frozenset(map(stem, lay.split())), frozenset(map(stem, medical.split())))
    for lay, medical in LAY_TO_MEDICAL.items()
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A claim as plain text; its own terms, and its general topics, by stem and as written, in order.

    `phrases` are the own terms as a reader would name them, most telling first. In "X causes Y" the
    `agents` are the terms of X, and the `relations` hold "cause"; of "X is Y" too, X are the agents.
    `lettered` are its names of a word and a letter: "vitamin C" by "vitamin c".
    """

    text: str
    specific: dict[str, str]
    topics: dict[str, str]
    phrases: tuple[str, ...]
    agents: frozenset[str]
    relations: frozenset[str]
    lettered: dict[str, str]

    def shared(self, stems: frozenset[str]) -> tuple[int, int]:
        """How many of the specific terms and of the topics a text with these `text_stems` names."""
        return sum(names(term, stems) for term in self.specific), sum(names(term, stems) for term in self.topics)

    def coverage(self, stems: frozenset[str]) -> float:
        """The weighted share of the claim's terms that a text names, in [0, 1]; 0 for a claim without terms."""
        specific, topics = self.shared(stems)
        total = len(self.specific) + _TOPIC_WEIGHT * len(self.topics)
        return (specific + _TOPIC_WEIGHT * topics) / total if total else 0.0

    def is_named_by(self, stems: frozenset[str]) -> bool:
        """Whether a text names the claim's own subject, or two of its topics when it has no other.

        A text on vitamin B alone does not when the claim is about vitamin C.
        """
        if any(names_another(name, stems) for name in self.lettered):
            return False
        specific, topics = self.shared(stems)
        if self.specific:
            return specific >= 1 and self.coverage(stems) >= _LEAST_COVERED
        return topics >= min(2, len(self.topics))

    def is_met_by(self, sentence: str, cosine: float) -> bool:
        """Whether a sentence speaks to the claim, not only of something that the claim mentions.

        It shares a term of the claim's own and another, or one and what is said of it ("causes"); of
        "X causes Y" it must name X, say what causes Y, or deny what the claim says; and not X alone.
        """
        stems = text_stems(sentence)
        if not self.is_named_by(stems):
            return False
        specific, topics = self.shared(stems)
        if len(self.specific) + len(self.topics) == 1:
            return cosine >= (_NEAR_ONE_TERM if self.specific else _ALMOST_THE_SAME)
        if cosine >= _ALMOST_THE_SAME:
            return True
        denies = any(found.kind == "negation" for found in polarity_differences(sentence, self.text, self.text))
        of_agent = any(names(term, stems) for term in self.agents)
        if self.agents and not (of_agent or denies or _OF_CAUSES.search(sentence)):
            return False
        told = {*self.specific, *self.topics} - self.agents
        counts = bool(quantities(self.text) and quantities(sentence))  # a figure of its own for the claim's
        if of_agent and told and not (denies or counts or any(names(term, stems) for term in told)):
            return False  # it speaks of X, and is silent on what the claim says of it
        said = denies or bool(self.relations & _relations(sentence))
        return cosine >= (_NEAR if specific < 2 else _NEAR_TWO_TERMS) and specific + topics + said >= 2


def subjects_of(post: Post) -> list[Subject]:
    """The subjects of the post's best claims; a claim about "it" or "they" is read with the whole post."""
    found = []
    whole = plain_post(post.text)
    for claim in find_claims(post)[:_READ_CLAIMS]:
        text = plain_post(claim.text)
        found.append(subject_of(text, context=whole if has_pronoun_subject(text) else ""))
    # "23% higher risk of dementia." leaves out of what: the same as in the best claim that says it.
    agents = next((subject.agents for subject in found if subject.agents), frozenset[str]())
    return [subject if subject.agents else replace(subject, agents=agents) for subject in found]


def subject_of(text: str, context: str = "") -> Subject:
    """The subject of one claim; terms of `context` count too when the claim itself names nothing of its own."""
    specific, topics = _terms(text)
    if context and not specific:
        specific, topics = _terms(context)
    phrases = _phrases(text, specific) or tuple(specific.values())
    agents = _agents(text, {*specific, *topics})
    return Subject(text, specific, topics, phrases, agents, _relations(text), lettered_names(text))


@lru_cache(maxsize=4_096)
def text_stems(text: str) -> frozenset[str]:
    """The stems of a text's content words and its lettered names, with the medical or lay name of what it calls
    otherwise.
    """
    stems = {token.stem for token in content_tokens(text)} | lettered_names(text).keys()
    stems |= {stem(part) for token in content_tokens(text) if "-" in token.folded for part in token.folded.split("-")}
    for lay, medical in _SYNONYMS:
        if lay <= stems:
            stems |= medical
    for lay, medical in _SYNONYMS:
        if medical <= stems:
            stems |= lay
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


def what_is_missing(subjects: Iterable[Subject], texts: Iterable[str]) -> str:
    """One sentence for a person: which part of the claims no text names, or that none joins their parts."""
    together = frozenset[str]().union(*(text_stems(text) for text in texts))
    subjects = list(subjects)
    for subject in subjects:
        for name, written in subject.lettered.items():
            if names_another(name, together):
                return f"No passage speaks about “{written}”."
        for phrase in subject.phrases:
            stems = {token.stem for token in content_tokens(phrase)}
            telling = len(stems) > 1 or stems & subject.agents or _is_telling(phrase)
            if telling and not any(names(term, together) for term in stems):
                return f"No passage speaks about “{phrase}”."
    terms = [*subjects[0].phrases, *subjects[0].topics.values()] if subjects else []
    if len(terms) > 1:
        return f"No sentence of the passages speaks about “{terms[0]}” and “{terms[1]}” as the post does."
    if terms:
        return f"The passages mention “{terms[0]}”, but no sentence of theirs is near what the post says of it."
    return "No sentence of the passages is near what the post says."


def _is_telling(phrase: str) -> bool:
    """Whether a word alone tells a reader what is missing: a medical word or a name."""
    return phrase[0].isupper() or any(is_health_word(token) for token in content_tokens(phrase))


def _terms(text: str) -> tuple[dict[str, str], dict[str, str]]:
    specific: dict[str, str] = {}
    topics: dict[str, str] = {}
    for token in content_tokens(text):
        if token.stem in TOPIC_STEMS:
            topics.setdefault(token.stem, token.text)
        elif _is_specific(token) and len(specific) < _MOST_TERMS:
            specific.setdefault(token.stem, token.text)
    return specific, topics


def _relations(text: str) -> frozenset[str]:
    return frozenset("cause" if name == "link" else name for name in effects_of(text))


def _agents(text: str, terms: set[str]) -> frozenset[str]:
    """The terms before the claim's first verb, as far as word lists know verbs; empty unless both sides have terms."""
    verbs = [*effects_of(text).values(), *([auxiliary] if (auxiliary := _AUXILIARY.search(text)) else [])]
    if not verbs or _PASSIVE.search(text):  # in "Y is caused by X" either side may be the one that matters
        return frozenset()
    verb = min(verbs, key=lambda match: match.start())
    content = [token for token in content_tokens(text) if token.stem in terms]
    before = frozenset(token.stem for token in content if token.end <= verb.start())
    after = any(token.start >= verb.end() for token in content)
    return before if after else frozenset()


def _is_specific(token: Token) -> bool:
    return token.stem not in PLAIN_STEMS and token.folded not in CAUSAL_WORDS and not _CONTRACTION.search(token.folded)


def _phrases(text: str, specific: dict[str, str]) -> tuple[str, ...]:
    """Runs of neighbouring specific words, most telling first: medical words, then names, then the rest."""
    shouted = text.isupper()
    runs: list[list[Token]] = []
    for token in content_tokens(text):
        if token.stem not in specific and (shouted or token.start == 0 or not token.text[0].isupper()):
            continue
        if runs and re.fullmatch(r"[\s-]+", text[runs[-1][-1].end : token.start]) and len(runs[-1]) < 3:
            runs[-1].append(token)
        else:
            runs.append([token])
    runs = [run for run in runs if any(token.stem in specific for token in run)]

    def rank(run: list[Token]) -> tuple[bool, bool, int]:
        named = any(token.text[0].isupper() and token.start > 0 for token in run) and not shouted
        return not any(is_health_word(token) for token in run), not named, -len(run)

    return tuple(text[run[0].start : run[-1].end] for run in sorted(runs, key=rank))
