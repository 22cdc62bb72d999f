"""What a claim is about, and whether a text speaks about that rather than about health in general.

"Aluminum foil causes cancer" is about foil: a passage on cancer alone does not answer it. A claim's words are its
own (specific), general topics (cancer, vaccine, covid), or say nothing of its subject: by word lists and forms, for
there is no part-of-speech tagger.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from crowdnotes.domain import Post
from crowdnotes.engines.local.claims import find_claims, has_pronoun_subject
from crowdnotes.engines.local.lexicon import (
    CAUSAL_WORDS,
    PAST_FORMS,
    PLAIN_STEMS,
    TOPIC_STEMS,
    find_terms,
    names_another,
    other_names,
    vitamin_names,
)
from crowdnotes.engines.local.tone import effects_of
from crowdnotes.engines.local.topics import is_health_word
from crowdnotes.text.stems import Token, content_tokens, fold, plain_post, stem

_KINDS: dict[str, re.Pattern[str]] = {
    "cause": re.compile(
        r"\b(?:blam\w+|behind|giv(?:es?|ing) (?:\w+ ){0,2}(?:kids|people|children|you|us)|makes?|making|made|"
        r"turns? into|more likely|raises?|increas\w+|risk factors?)\b",
        re.IGNORECASE,
    ),
    "harm": re.compile(
        r"\b(?:harm\w*|(?:un)?safe\w*|dangers?|dangerous\w*|(?:non)?toxic\w*|neurotoxi\w+|bad for|good for|hurts?|"
        r"damag\w+|poison(?:s|ed|ing|ous)?|deadly|(?:not |never |non-?)?fatal\w*|lethal|life-threatening|"
        r"kill(?:s|ed|ing)?|d(?:ies?|ied|eaths?|ying)|side effects?|injur\w+|(?:un)?healthy|worst|serious|severe|"
        r"mild|complications?|problems?|risks?)\b",
        re.IGNORECASE,
    ),
    "spread": re.compile(
        r"\b(?:spread\w*|transmi\w+|contagious|catch(?:es|ing)?|caught|infectious|passed (?:on|to|from)|"
        r"get (?:it|infected)|from person to person|contact with)\b",
        re.IGNORECASE,
    ),
    "work": re.compile(r"\b(?:works?|worked|effective\w*|ineffective\w*|efficacy|useless|wiped out)\b", re.IGNORECASE),
    "exist": re.compile(
        r"\b(?:exist\w*|(?:is|are|was|were|isn['’]t|wasn['’]t) (?:not )?(?:all |so |very )?(?:real|fake)|hoax|"
        r"no such thing|available|there (?:is|are|was|were) (?:no|now|currently|a)\b|^(?:so )?no (?:vaccine|cure)s?)",
        re.IGNORECASE,
    ),
    "is there": re.compile(
        r"\b(?:exist\w*|available|real|wiped out|eliminated|eradicated|occurs?|found in|outbreaks?|epidemics?|"
        r"pandemics?|(?:vaccine|shot)s? (?:can|is|are|protects?|causes?))\b",
        re.IGNORECASE,
    ),
}
# Which kinds in a sentence speak to a kind in a claim.
_SPOKEN_TO_BY: dict[str, frozenset[str]] = {
    "cause": frozenset({"cause", "prevent"}),
    "prevent": frozenset({"prevent", "treat", "work"}),
    "cure": frozenset({"cure", "treat", "prevent", "work"}),
    "treat": frozenset({"treat", "cure", "prevent", "work"}),
    "harm": frozenset({"harm", "cause"}),
    "spread": frozenset({"spread"}),
    "work": frozenset({"work", "prevent", "treat", "cure"}),
    "exist": frozenset({"is there", "work"}),
}
_WHAT_CAUSES = re.compile(
    r"\bwhat causes\b|\bcauses? (?:of [^.;]{3,60} )?(?:is|are|remains?) (?:still |largely )?(?:unknown|not |un)|"
    r"\bunknown cause|\bcaused by\b|\bresults? from\b|\bdue to\b",
    re.IGNORECASE,
)
_NO_CURE = re.compile(
    r"\bno (?:known |specific |single )?(?:cure|treatment|medicine)|"
    r"\b(?:cannot|can['’]t|can not) be (?:cured|reversed)|\bnot curable|\bno (?:medicine|drug|pill)s? (?:can|will)\b",
    re.IGNORECASE,
)
_COPULA = re.compile(r"\b(?:is|are|was|were)(?:n['’]t)?\b", re.IGNORECASE)


def relations_of(text: str) -> frozenset[str]:
    """The kinds of statement that a text makes; "link" counts as "cause"."""
    kinds = {"cause" if name == "link" else name for name in effects_of(text)}
    return frozenset(kinds | {name for name, pattern in _KINDS.items() if pattern.search(text)})


def speak_to(claimed: frozenset[str], said: frozenset[str]) -> bool:
    """Whether a sentence with these kinds speaks to what a claim with those says."""
    return any(said & _SPOKEN_TO_BY.get(kind, frozenset()) for kind in claimed)


def tells_causes(sentence: str) -> bool:
    """Whether a sentence says what causes something, or that nobody knows."""
    return _WHAT_CAUSES.search(sentence) is not None


def denies_cures(sentence: str) -> bool:
    """Whether a sentence says that something has no cure or treatment at all."""
    return _NO_CURE.search(sentence) is not None


def copula_at(text: str) -> int:
    """Where "is" or "are" stands in a text; -1 without one."""
    found = _COPULA.search(text)
    return found.start() if found else -1


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
    """The stems of a text's content words and its vitamin names, with the medical or lay name of what it calls
    otherwise.
    """
    stems = {token.stem for token in content_tokens(text)} | vitamin_names(text).keys()
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
    named_in_table = {place for term in find_terms(text) for place in range(term.start, term.end)}
    runs: list[list[Token]] = []
    for token in content_tokens(text):
        if token.stem not in specific and (shouted or token.start == 0 or not token.text[0].isupper()):
            continue
        is_health_term = token.start in named_in_table or is_health_word(token)  # no verb, whatever its form
        if not is_health_term and _is_said_of_it(token, text, shouted=shouted):
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


def _is_said_of_it(token: Token, text: str, *, shouted: bool) -> bool:
    """Whether a word is a verb by its form or place, or cries out: "flew", "can vote", "CANCELLED"."""
    folded = token.folded
    if (
        folded in PAST_FORMS
        or _is_verb_form(folded)
        or _BEFORE_A_VERB.search(text[max(0, token.start - 30) : token.start])
    ):
        return True
    return not shouted and token.text.isupper() and len(token.text) >= _SHOUTED


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
    vitamins: dict[str, str]
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
        if any(names_another(name, stems) for name in self.vitamins):
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
        text, specific, topics, phrases, agents, head, relations_of(text), vitamin_names(text), medical_names(text)
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
        for name, written in subject.vitamins.items():
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
