"""What a claim is about, and whether a text speaks about that rather than about health in general.

"Aluminum foil causes cancer" is about foil: a passage on cancer alone does not answer it. A claim's
words are its own (specific), general topics (cancer, vaccine, covid), or say nothing of its subject.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from crowdnotes.domain import Post
from crowdnotes.engines.local.claim_terms import (
    before_the_verb,
    medical_names,
    names,
    own_terms_and_topics,
    phrases_of,
    text_stems,
)
from crowdnotes.engines.local.claims import find_claims, has_pronoun_subject
from crowdnotes.engines.local.health_terms import find_terms
from crowdnotes.engines.local.keyphrases import is_health_word
from crowdnotes.engines.local.lettered_names import lettered_names, names_another
from crowdnotes.engines.local.relations import relations_of
from crowdnotes.text.stems import content_tokens, fold, plain_post, stem

SILENT = "None of the passages in use speaks about"
_READ_CLAIMS = 5
_OFTEN = 3
_TOPIC_WEIGHT = 0.5
_LEAST_COVERED = 0.2  # share of the claim's terms; below it a shared word is chance
# What a text may say instead of a term, beside the synonyms: for the one the other is meant.
_ALSO = {
    "cigaret": frozenset({"smok"}),
    "hiv": frozenset({"std"}),
    "sun": frozenset({"sunlight", "ultraviolet", "uv"}),
    "vape": frozenset({"e-cigaret"}),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """A claim as plain text; its own terms, and its general topics, by stem and as written, in order.

    `phrases` are the own terms as a reader would name them, most telling first. In "X causes Y" the
    `agents` are the terms of X; of "X is Y" too. `head` are the terms before the first verb, also of "X
    is caused by Y". `relations` are the kinds of what is said (see `relations_of`). `lettered` are names of a
    word and a letter: "vitamin C" by "vitamin c". `means` holds the medical names of terms, as stems:
    "gardasil" is met by a text on the human papillomavirus vaccine.
    """

    text: str
    specific: dict[str, str]
    topics: dict[str, str]
    phrases: tuple[str, ...]
    agents: frozenset[str]
    head: frozenset[str]
    relations: frozenset[str]
    lettered: dict[str, str]
    means: dict[str, frozenset[str]]

    def names(self, term: str, stems: frozenset[str]) -> bool:
        """Whether a text with these `text_stems` names a term of the claim, by its own or its medical name."""
        medical = self.means.get(term)
        return (
            names(term, stems)
            or (medical is not None and medical <= stems)
            or not stems.isdisjoint(_ALSO.get(term, frozenset()))
        )

    def shared(self, stems: frozenset[str]) -> tuple[int, int]:
        """How many of the specific terms and of the topics a text with these `text_stems` names."""
        return sum(self.names(term, stems) for term in self.specific), sum(
            self.names(term, stems) for term in self.topics
        )

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

    def share(self, terms: Iterable[str], stems: frozenset[str]) -> float:
        """The share of the own terms among these that a text names; of topics where there are no own terms."""
        terms = set(terms)
        counted = [term for term in terms if term in self.specific] or list(terms)
        return sum(self.names(term, stems) for term in counted) / len(counted) if counted else 0.0

    @property
    def proper(self) -> frozenset[str]:
        """The terms that are names of people and places: capitals inside the claim, of no health term.

        Not "Dr Victory", who is quoted.
        """
        return frozenset(
            term
            for term, word in self.specific.items()
            if word[:1].isupper() and word[1:].islower() and term not in self.means
            if not self.text.startswith(word)
            if not re.search(rf"\b(?:Dr|Prof|Professor|Doctor)\b\.? (?:\w+ )?{re.escape(word)}", self.text)
        )

    @property
    def told(self) -> frozenset[str]:
        """The terms that are no agents."""
        return frozenset({*self.specific, *self.topics}) - self.agents

    @property
    def is_of_a_name(self) -> bool:
        """Whether the claim is about a person, a place or a company: then only what names it can answer."""
        own = [self.specific[term] for term in self.agents if term in self.specific]
        return bool(own) and all(word[0].isupper() and stem(fold(word)) not in self.means for word in own)


def subjects_of(post: Post) -> list[Subject]:
    """The subjects of the post's best claims; one about "it" or "they" has that of the best claim that says whose."""
    found = []
    whole = plain_post(post.text)
    for claim in find_claims(post)[:_READ_CLAIMS]:
        text = plain_post(claim.text)
        found.append(subject_of(text, context=whole if has_pronoun_subject(text) else ""))
    # "23% higher risk of dementia." leaves out of what: the same as in the best claim that says it.
    named = next((subject for subject in found if subject.agents), None)
    if named is None:
        return found
    return [
        subject
        if subject.agents or (subject.head and not has_pronoun_subject(subject.text))
        else replace(subject, agents=named.agents, means={**subject.means, **named.means})
        for subject in found
    ]


def subject_of(text: str, context: str = "") -> Subject:
    """The subject of one claim; terms of `context` count too when the claim itself names nothing of its own."""
    specific, topics = own_terms_and_topics(text)
    if context and not specific:
        specific, topics = own_terms_and_topics(context)
    phrases = phrases_of(text, specific)
    head, agents = before_the_verb(text, {*specific, *topics})
    return Subject(
        text, specific, topics, phrases, agents, head, relations_of(text), lettered_names(text), medical_names(text)
    )


def speaks_of_main_subject(text: str, post: str) -> bool:
    """Whether a text names the health term that a post names three times or more, if there is such a term."""
    terms = [term for term in find_terms(post) if not term.is_broad]
    counts = Counter(term.medical or term.text.lower() for term in terms)
    name, count = counts.most_common(1)[0] if counts else ("", 0)
    if count < _OFTEN:
        return True
    stems = text_stems(text)
    names_of_it = {name, *(term.text for term in terms if (term.medical or term.text.lower()) == name)}
    return any({token.stem for token in content_tokens(each)} <= stems for each in names_of_it)


def what_is_missing(subjects: Iterable[Subject], texts: Iterable[str]) -> str:
    """One sentence for a person: which part of the claims no text names, or that none joins their parts."""
    together = frozenset[str]().union(*(text_stems(text) for text in texts))
    subjects = list(subjects)
    for subject in subjects:
        for name, written in subject.lettered.items():
            if names_another(name, together):
                return f"{SILENT} “{written}”."
        for phrase in subject.phrases:
            stems = {token.stem for token in content_tokens(phrase)}
            telling = (subject.relations and stems & subject.agents) or _is_telling(phrase)
            if telling and not any(subject.names(term, together) for term in stems):
                return f"{SILENT} “{phrase}”."
    terms = [*subjects[0].phrases, *subjects[0].topics.values()] if subjects else []
    if len(terms) > 1:
        named = f"“{terms[0]}” and “{terms[1]}”"
        return f"No sentence of the passages in use was found that answers what the post says about {named}."
    if terms:
        return f"The passages mention “{terms[0]}”, but no sentence of theirs is near what the post says of it."
    return "No sentence of the passages is near what the post says."


def _is_telling(phrase: str) -> bool:
    """Whether a word alone tells a reader what is missing: a medical word or a name."""
    return phrase[0].isupper() or any(is_health_word(token) for token in content_tokens(phrase))
