"""The health terms of a text, and what a post is about: known terms and the phrases beside them, strongest first."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from crowdnotes.text import kept_by_text
from crowdnotes.text.stems import Token, is_content, plain_post, stem, tokens

_HEALTH = (
    "abortion acne addiction aids alcohol allergy alzheimer anemia antibiotic antibody anxiety aorta artery arthritis "
    "aspartame aspirin asthma autism bacteria birth bladder blood bone bowel brain breast bronchitis calcium cancer "
    "cannabis carcinogen cardiac cell chemotherapy cholesterol clinical clot collagen colon contraceptive cough covid "
    "coronavirus cure dementia depression dental detox diabetes diagnosis diarrhea diet disability disease doctor dose "
    "drug ebola eczema embryo enzyme epidemic epilepsy estrogen fatal fentanyl fertility fetal fever fluoride flu "
    "fungus gene genetic glucose gluten glyphosate gut headache health heart hepatitis herb herpes hiv hormone "
    "hospital hpv hydroxychloroquine hypertension ibuprofen immune immunity infection infertility inflammation "
    "influenza insulin intestine iron ivermectin kidney leukemia liver lung lupus lymphoma malaria mammogram mask "
    "measles medicine melanoma menopause mercury metabolism microbiome migraine miscarriage mortality mrna mumps "
    "muscle myocarditis nerve neurological nicotine nutrient obesity omega opioid organ outbreak ovary overdose "
    "pancreas pandemic parasite parkinson patient pesticide pharma physician placebo pneumonia poison polio pregnancy "
    "prostate protein psychiatric radiation rash scan seizure sepsis serotonin side-effect skin sleep smoking sperm "
    "spike statin steroid stroke sugar suicide sunscreen supplement surgery symptom syndrome testosterone therapy "
    "thyroid toxic toxin transplant treatment tuberculosis tumor ulcer vaccine vaping virus vitamin wellness zinc"
    # as posts say it
    "jab vax vaxx rona preggers pregnant kids babies autistic meds pills chemo weed pot marijuana shingles chickenpox "
    "heartburn monkeypox h5n1 mmr sids msg tylenol paracetamol advil ozempic"
)
_HEALTH_STEMS = frozenset(stem(word) for word in _HEALTH.split())
_MEDICAL_ENDING = re.compile(r"(?:itis|emia|osis|oma|ectomy|pathy|virus|vaccin\w*)$")

CAUSAL_WORDS = frozenset(
    "cause causes caused causing cures cure cured curing prevents prevent prevented preventing kills kill killed "
    "killing heals heal triggers trigger triggered leads lead led linked link links associated increases increase "
    "increased reduces reduce reduced decreases destroys destroy damages damage harms harm boosts boost treats treat "
    "treated eliminates reverses reverse contains contain contaminated proves proven prove shows showed reveals banned "
    "approved mandated infected spreads spread transmitted died dies die dead injured results resulted makes turns "
    "protects protect lowers raises weakens strengthens shrinks shrink works worsens".split()
)


_TABLE = Path(__file__).with_name("health_terms.toml")
_PLURAL = r"(?:e?s|[’']s)?"


@dataclass(frozen=True, slots=True)
class HealthTerm:
    """A term of the table at text[start:end].

    `medical` is the term that means the same, "" when the word is the term.
    `is_broad` marks words that tell little of what a text is about ("virus", "children").
    """

    text: str
    start: int
    end: int
    medical: str = ""
    is_broad: bool = False


@kept_by_text
def find_terms(text: str) -> tuple[HealthTerm, ...]:
    """The terms of the table in a text, in order; of those that overlap the longest.

    Abbreviations count in capitals only ("MS", not "ms"), and not in a text that is all capitals.
    """
    plain = text.replace("’", "'")
    found = [_lay_term(match) for match in _lay_pattern().finditer(plain)]
    if not plain.isupper():
        found += [_abbreviation(match) for match in _abbreviations().finditer(plain)]
    found.sort(key=lambda term: (term.start, term.start - term.end))
    kept: list[HealthTerm] = []
    for term in found:
        if not kept or term.start >= kept[-1].end:
            kept.append(term)
    return tuple(kept)


@cache
def other_names() -> Mapping[str, str]:
    """Lay words of the table, in lower case and the singular, and the medical term that means the same."""
    table = _table()
    return {**table["same"], **table["also"]}


def medical_name(word: str) -> str | None:
    """What medical sources call a lay word in lower case, whether it is a plural or not; None for other words."""
    names = other_names()
    return names.get(word) or names.get(word.removesuffix("s"))


def _lay_term(match: re.Match[str]) -> HealthTerm:
    key = match.group("key").lower()
    is_broad = key in _table()["names"]["broad"]
    return HealthTerm(match.group(), match.start(), match.end(), _table()["same"].get(key, ""), is_broad)


def _abbreviation(match: re.Match[str]) -> HealthTerm:
    medical = _table()["short"][match.group("key").lower()]
    return HealthTerm(match.group(), match.start(), match.end(), medical)


@cache
def _table() -> dict[str, dict[str, Any]]:
    with _TABLE.open("rb") as file:
        return tomllib.load(file)


@cache
def _lay_pattern() -> re.Pattern[str]:
    table = _table()
    return re.compile(
        _alternatives({*table["same"], *table["names"]["plain"], *table["names"]["broad"]}), re.IGNORECASE
    )


@cache
def _abbreviations() -> re.Pattern[str]:
    return re.compile(_alternatives({key.upper() for key in _table()["short"]}))


def _alternatives(keys: set[str]) -> str:
    longest_first = "|".join(re.escape(key) for key in sorted(keys, key=lambda key: (-len(key), key)))
    # The first letters come first: at any other character a thousand alternatives would be tried.
    first_letters = "".join(sorted({re.escape(letter) for key in keys for letter in (key[0], key[0].upper())}))
    return rf"(?<![\w-])(?=[{first_letters}])(?P<key>{longest_first}){_PLURAL}(?![\w-])"


def is_health_word(token: Token) -> bool:
    """Whether a word is of the health domain, by list or by its medical ending."""
    return token.stem in _HEALTH_STEMS or _MEDICAL_ENDING.search(token.folded) is not None


_LONGEST_PHRASE = 3  # words
_BETWEEN_WORDS = re.compile(r"[\s/&'’\"“”-]*")
_KNOWN = 2.0
_BROAD = 0.8
_HEALTH_PHRASE = 1.6
_OTHER_PHRASE = 0.7
# Words that carry meaning in a sentence but find nothing as a search: posts are full of them.
_EMPTY = frozenset(
    "people person stuff guys folks today yesterday tomorrow day days year years week month time times ways good "
    "bad great best better worst big huge small new old first last next real actually literally basically amazing "
    "crazy insane wow omg lol lmao rt dm please thanks thank thread breaking watch video read share follow "
    "retweet think believe tell told wants look looking thinks believes guess feel feels remember wait right "
    "wrong sure maybe probably definitely exactly absolutely never always forever everyone everybody anyone "
    "someone nobody anything everything nothing something amp wanna gotta yall y'all ya dont cant wont im ive man "
    "dude bro stop start started happen happens happened happening work works working try trying tried help love "
    "hate hope live life world back put takes took leave left find found show talk talking ask asking still also even "
    # what judges instead of naming, and what somebody feels or does: "terrible vaccines", "explains infants"
    "terrible horrible awful horrific horrifying scary shocking ridiculous absurd wonderful awesome fantastic "
    "incredible unbelievable beautiful "
    "ugly nice perfect stupid dumb silly weird strange evil happy glad sad angry tired proud "
    "honored sorry afraid worried wild safe explain explains explained allow allows allowed exist exists existed learn "
    "learned thought thinking seen saw went going gone come comes came says said saying means call called calls "
    "knock knocked signing replace hit hitting born want needs".split()
)


@dataclass(frozen=True, slots=True)
class Topic:
    """`text` as the post has it, `medical` the term that means the same (or "").

    `is_known` tells terms of the table and words of medicine from phrases that only stand out.
    """

    text: str
    weight: float
    medical: str = ""
    is_broad: bool = False
    is_known: bool = True

    @property
    def official(self) -> str:
        """As medical sources say it."""
        return self.medical or self.text


def find_topics(post_text: str) -> list[Topic]:
    """The topics of a post, strongest first, of equal ones known terms; none of a post without content words."""
    text = plain_post(post_text)
    named: dict[str, Topic] = {}
    for term in find_terms(text):
        topic = Topic(term.text, _BROAD if term.is_broad else _KNOWN, term.medical, term.is_broad)
        named.setdefault(term.medical or stem(term.text.lower()), topic)
    topics = list(named.values())
    taken = {token.stem for topic in topics for token in tokens(topic.text)}
    for run in _runs(text):
        left = [token for token in run if token.stem not in taken]
        for part in (left[at : at + _LONGEST_PHRASE] for at in range(0, len(left), _LONGEST_PHRASE)):
            is_known = any(map(is_health_word, part))
            weight = _HEALTH_PHRASE if is_known else _OTHER_PHRASE
            topics.append(Topic(" ".join(token.text for token in part), weight, is_known=is_known))
        taken |= {token.stem for token in left}
    return sorted(topics, key=lambda topic: -topic.weight)


def _runs(text: str) -> list[list[Token]]:
    """Unbroken runs of words that tell a subject."""
    runs: list[list[Token]] = [[]]
    for token in tokens(text):
        if runs[-1] and not _BETWEEN_WORDS.fullmatch(text, runs[-1][-1].end, token.start):
            runs.append([])
        if is_content(token.folded) and token.folded not in _EMPTY and token.folded not in CAUSAL_WORDS:
            runs[-1].append(token)
        elif runs[-1]:
            runs.append([])
    return runs
