"""What a post is about, strongest first: known health terms, key phrases beside them, and the kind of its claim."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace

from crowdnotes.engines.local.lexicon import (
    CAUSAL_WORDS,
    HEALTH_WORDS,
    PLAIN_STEMS,
    TOPIC_STEMS,
    HealthTerm,
    find_terms,
    medical_name,
)
from crowdnotes.text.stems import Token, is_content, plain_post, stem, tokens

_LONGEST_PHRASE = 3
_HEALTH_STEMS = frozenset(stem(word) for word in HEALTH_WORDS)
# Words that carry meaning in a sentence but find nothing as a search: posts are full of them.
_EMPTY = frozenset(
    "people person stuff guys folks today yesterday tomorrow day days year years week month time times ways good "
    "bad great best better worst big huge small new old first last next real actually literally basically amazing "
    "crazy insane wow omg lol lmao rt dm please thanks thank thread breaking watch video read share follow "
    "retweet think believe tell told wants look looking thinks believes guess feel feels remember wait right "
    "wrong sure maybe probably definitely exactly absolutely never always forever everyone everybody anyone "
    "someone nobody anything everything nothing something amp wanna gotta yall y'all ya dont cant wont im ive man "
    "dude bro stop start started happen happens happened happening work works working try trying tried help love "
    "hate hope live life world back put takes took leave left find found show talk talking ask asking".split()
)


@dataclass(frozen=True, slots=True)
class KeyPhrase:
    """Words of the post as written (1 to 3 of them), and how much they tell about its subject."""

    text: str
    folded: str
    score: float


def key_phrases(post_text: str, limit: int = 8) -> list[KeyPhrase]:
    """The phrases that say most about a post's subject, best first; no two share most of their words.

    Empty for a post without content words (only emoji, links, mentions).
    """
    text = plain_post(post_text)
    words = tokens(text)
    counts = Counter(token.stem for token in words if is_content(token.folded))
    best: dict[str, KeyPhrase] = {}
    shouted = text.isupper()
    for run, position in _runs(text, words):
        for size in range(min(_LONGEST_PHRASE, len(run)), 0, -1):
            for begin in range(len(run) - size + 1):
                part = run[begin : begin + size]
                phrase = _scored(text, part, counts, (position + begin) / (len(words) + 1), shouted=shouted)
                if phrase.score > 0 and phrase.score > best.get(phrase.folded, phrase).score - 1e-9:
                    best[phrase.folded] = phrase
    return _distinct(sorted(best.values(), key=lambda phrase: (-phrase.score, phrase.folded)), limit)


def is_health_word(token: Token) -> bool:
    """Whether a word is of the health domain, by list or by its medical ending."""
    return token.stem in _HEALTH_STEMS or bool(
        re.search(r"(itis|emia|osis|oma|ectomy|pathy|virus|vaccin\w*)$", token.folded)
    )


def _runs(text: str, words: list[Token]) -> list[tuple[list[Token], int]]:
    """Unbroken runs of content words, each with the index of its first word."""
    runs: list[tuple[list[Token], int]] = []
    current: list[Token] = []
    for index, token in enumerate(words):
        broken = current and not re.fullmatch(r"[\s/&'’\"“”-]*", text[current[-1].end : token.start])
        useful = is_content(token.folded) and token.folded not in _EMPTY and token.folded not in CAUSAL_WORDS
        if current and (broken or not useful):
            runs.append((current, index - len(current)))
            current = []
        if useful:
            current.append(token)
    if current:
        runs.append((current, len(words) - len(current)))
    return runs


def _scored(text: str, part: list[Token], counts: Counter[str], depth: float, *, shouted: bool) -> KeyPhrase:
    total = 0.0
    for token in part:
        weight = 1.0 + 0.5 * math.log2(counts[token.stem]) if counts[token.stem] else 1.0
        if is_health_word(token):
            weight += 1.5
        if token.text[0].isupper() and not shouted:
            weight += 0.4
        if len(token.folded) <= 3 and not token.text.isupper():
            weight -= 0.4
        total += weight
    # A phrase is more telling than its words, but a long run of chatter is not.
    spread = total / len(part) * (1 + 0.35 * (len(part) - 1))
    folded = " ".join(token.folded for token in part)
    if medical_name(folded):
        spread += 1.0
    return KeyPhrase(text[part[0].start : part[-1].end], folded, spread * (1 - 0.3 * depth))


def _distinct(phrases: list[KeyPhrase], limit: int) -> list[KeyPhrase]:
    chosen: list[KeyPhrase] = []
    taken: set[str] = set()
    for phrase in phrases:
        stems = {stem(word) for word in phrase.folded.split()}
        if len(stems & taken) * 2 >= len(stems):
            continue
        chosen.append(phrase)
        taken |= stems
        if len(chosen) == limit:
            break
    return chosen


_KNOWN = 2.0
_BROAD = 0.8
_HEALTH_PHRASE = 1.6
_OTHER_PHRASE = 0.7
_DEPTH = 0.3  # of the weight is lost towards the end of a post: its subject stands early
_PHRASES = 8
_CLASSES = re.compile(r"(?:cancer|tumou?r|infection|disease|syndrome|disorder|deficiency|poisoning)s?", re.IGNORECASE)
_LONGEST_WORD = 60  # letters
_WORD_BEFORE = re.compile(r"([^\W\d_][\w'’-]+) $")


@dataclass(frozen=True, slots=True)
class Topic:
    """`text` as the post has it, `medical` the term that means the same (or ""), `headings` broader ones.

    `is_known` tells terms of the table and words of medicine from phrases that only stand out.
    """

    text: str
    weight: float
    medical: str = ""
    headings: tuple[str, ...] = ()
    is_broad: bool = False
    is_known: bool = True

    @property
    def official(self) -> str:
        """As medical sources say it."""
        return self.medical or self.text


def find_topics(post_text: str) -> list[Topic]:
    """The topics of a post, strongest first; none of a post without content words."""
    text = plain_post(post_text)
    if not text:
        return []
    topics = _known(text)
    taken = {stem(token.folded) for topic in topics for token in tokens(topic.text)}
    for phrase in key_phrases(post_text, _PHRASES):
        words = tokens(phrase.text)
        left = [token for token in words if token.stem not in taken]
        if not left:
            continue
        kept = phrase.text if len(left) == len(words) else " ".join(token.text for token in left)
        is_known = any(is_health_word(token) for token in left)
        weight = _HEALTH_PHRASE if is_known else _OTHER_PHRASE
        place = max(0, text.casefold().find(left[0].text.casefold()))
        topics.append(Topic(kept, weight * _by_place(place, text), is_known=is_known))
        taken |= {token.stem for token in left}
    return sorted(topics, key=lambda topic: -topic.weight)


def _known(text: str) -> list[Topic]:
    found: dict[str, tuple[HealthTerm, int]] = {}
    for term in (_with_its_site(term, text) for term in find_terms(text)):
        key = term.medical or stem(term.text.lower())
        first, count = found.get(key, (term, 0))
        found[key] = (first, count + 1)
    return [
        Topic(
            term.text,
            (_BROAD if term.is_broad else _KNOWN) * (1 + 0.3 * math.log2(count)) * _by_place(term.start, text)
            + 0.3 * term.text.count(" "),
            term.medical,
            term.headings,
            term.is_broad,
        )
        for term, count in found.values()
    ]


def _with_its_site(term: HealthTerm, text: str) -> HealthTerm:
    """The whole name, "throat cancer", where the table has "cancer": the word before such a term says which."""
    if _CLASSES.fullmatch(term.text) is None:
        return term
    first = max(0, term.start - _LONGEST_WORD - 1)
    before = _WORD_BEFORE.search(text[first : term.start])
    if before is None:
        return term
    word = tokens(before.group(1))[0]
    if not is_content(word.folded) or word.stem in PLAIN_STEMS or word.stem in TOPIC_STEMS:
        return term
    return replace(term, text=f"{before.group(1)} {term.text}", start=first + before.start(1))


def _by_place(start: int, text: str) -> float:
    return 1 - _DEPTH * start / (len(text) + 1)


@dataclass(frozen=True, slots=True)
class Angle:
    """Words for one kind of claim."""

    label: str
    pattern: str
    words: str
    study: str
    support: str


@dataclass(frozen=True, slots=True)
class Link:
    """A verb that joins two things ("causes"), the words that hold its agent and its effect, and how one denies it.

    `denial` and `affirmation` are filled with the two; the second is the answer to a post that says "does not".
    """

    agent_in: str
    effect_in: str
    is_denied: bool
    denial: str
    affirmation: str

    def opposite(self, agent: str, effect: str) -> str:
        """How a text on the same two things would say the opposite."""
        return (self.affirmation if self.is_denied else self.denial).format(agent=agent, effect=effect)


_VACCINE = r"vaccin|vax|jab\b|jabs\b|immuni[sz]|mrna"
_IS_VACCINE = re.compile(r"\b(?:vaccin\w*|vaxx?\w*|jabs?|immuni[sz]ations?|mrna)$", re.IGNORECASE)
_ANGLES = (
    Angle(
        "safety",
        rf"{_VACCINE}|\b(?:safe|safer|safety|unsafe|toxic\w*|poison\w*|danger\w*|harm(?:s|ed|ing|ful)?|side effects?"
        r"|injur\w+)\b",
        "safety side effects",
        "systematic review safety cohort study",
        "adverse effects reported risk",
    ),
    Angle(
        "treatment",
        r"\b(?:cure[sd]?|curing|treat\w*|heal(?:s|ed|ing)?|remed(?:y|ies)|protocol|detox\w*|revers(?:e[sd]?|ing)"
        r"|dissolv\w+)\b",
        "treatment evidence",
        "randomized trial systematic review",
        "effective benefit improved",
    ),
    Angle(
        "causes",
        r"\b(?:caus\w+|link(?:s|ed)? to|leads? to|led to|trigger\w*|risks?|risk factors?|carcinogen\w*)\b",
        "causes risk factors",
        "cohort study meta-analysis risk",
        "causes linked to increased risk",
    ),
    Angle(
        "prevention",
        r"\b(?:prevent\w*|protect\w*|immun\w*|boost\w*)\b",
        "prevention",
        "randomized trial prevention systematic review",
        "prevents protects effective",
    ),
    Angle(
        "how it spreads",
        r"\b(?:spread\w*|contag\w*|transmi\w+|outbreak|infect\w*)\b",
        "transmission",
        "transmission study",
        "transmission cases confirmed",
    ),
    Angle(
        "figures",
        r"\d\s*%|\b(?:rates?|deaths?|died|million|thousand|cases)\b",
        "statistics",
        "incidence mortality surveillance study",
        "increase statistics rates",
    ),
)
_ANY = Angle("the subject", "", "facts", "systematic review study", "evidence supports")
# A verb, how one denies it, how one affirms it; the passive ("caused by") turns agent and effect round.
_LINKS = tuple(
    (re.compile(verb, re.IGNORECASE), denial, affirmation)
    for verb, denial, affirmation in (
        (
            r"\b(?:caus(?:e[sd]?|ing)|link(?:s|ed) (?:to|with)|leads? to|led to|trigger(?:s|ed)?"
            r"|gives? (?:you|them|people|kids)|risk factor for|risk of)\b(?P<passive> by)?",
            "{agent} does not cause {effect}",
            "{agent} causes {effect}",
        ),
        (
            r"\b(?:cure[sd]?|curing|treat(?:s|ed)?|heal(?:s|ed)?|revers(?:e[sd]?)|dissolves?)\b"
            r"(?P<passive> (?:by|with))?",
            "{agent} is not a proven treatment for {effect}",
            "{agent} treatment for {effect}",
        ),
        (
            r"\b(?:prevent(?:s|ed)?|protects? (?:you |people )?(?:against|from))\b(?P<passive> by)?",
            "{agent} does not prevent {effect}",
            "{agent} prevents {effect}",
        ),
    )
)
_NEAR_BEFORE = 6  # words: further away another thing is named
_NEAR_AFTER = 8
_DENIED = re.compile(r"(?:\b(?:not|never|no|cannot)|n['’]t)(?:\s+\w+)?\s*$", re.IGNORECASE)
_NEGATION_AFTER = re.compile(r"\s*not\b", re.IGNORECASE)
_AUTHORITIES = (
    (rf"{_VACCINE}|covid|measles|polio|flu\b|virus|outbreak|infect", "CDC"),
    (r"\b(?:drugs?|pills?|medicines?|ivermectin|foods?|supplements?|milk|additives?|approv\w+|recall\w*)\b", "FDA"),
    (r"cancer|tumou?r|chemo", "National Cancer Institute"),
)


def angle_of(text: str) -> Angle:
    """The first kind of claim whose words a text holds."""
    lowered = text.lower()
    return next((angle for angle in _ANGLES if re.search(angle.pattern, lowered)), _ANY)


def link_in(sentence: str) -> Link | None:
    """The first verb in a sentence that says what one thing does to another; None when it has none."""
    found = [
        (match.start(), match, denial, affirmation)
        for verb, denial, affirmation in _LINKS
        if (match := verb.search(sentence)) is not None
    ]
    if not found:
        return None
    _, match, denial, affirmation = min(found, key=lambda item: item[0])
    before, after = sentence[: match.start()], sentence[match.end() :]
    is_denied = _DENIED.search(before) is not None or _NEGATION_AFTER.match(after) is not None
    near = (" ".join(before.split()[-_NEAR_BEFORE:]), " ".join(after.split()[:_NEAR_AFTER]))
    agent_in, effect_in = reversed(near) if match.group("passive") else near
    return Link(agent_in, effect_in, is_denied, denial, affirmation)


def is_vaccine(name: str) -> bool:
    """Whether a thing's name is that of a vaccine, or a word for vaccination."""
    return _IS_VACCINE.search(name) is not None


def authority_on(text: str) -> str:
    """Which authority speaks on a text's subject; "WHO" where no other is nearer."""
    lowered = text.lower()
    return next((name for pattern, name in _AUTHORITIES if re.search(pattern, lowered)), "WHO")
