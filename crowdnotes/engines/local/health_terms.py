"""Find health terms and topics in a text, and the English of health words in other languages.

Topics are known terms and the phrases around them, strongest first. Some functions explain why the local engine cannot
judge a text in another language. The tables are health_terms.toml, foreign_terms.tsv and foreign_searches.toml.
"""

from __future__ import annotations

import csv
import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from crowdnotes.domain import Evidence, Post
from crowdnotes.text import kept_by_text
from crowdnotes.text.languages import LANGUAGE_NAMES, language_of
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.tokens import Token, is_content, plain_post, stem, tokens
from crowdnotes.wording import plural

_HEALTH_WORDS = (
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
    # as posts say them
    "jab vax vaxx rona preggers pregnant kids babies autistic meds pills chemo weed pot marijuana shingles chickenpox "
    "heartburn monkeypox h5n1 mmr sids msg tylenol paracetamol advil ozempic"
)
_HEALTH_STEMS = frozenset(stem(word) for word in _HEALTH_WORDS.split())
_MEDICAL_ENDING = re.compile(r"(?:itis|emia|osis|oma|(?<!nost)algia|ectomy|pathy|virus|vaccin\w*)$")

CAUSAL_WORDS = frozenset(
    "cause causes caused causing cures cure cured curing prevents prevent prevented preventing kills kill killed "
    "killing heals heal triggers trigger triggered leads lead led linked link links associated increases increase "
    "increased reduces reduce reduced decreases destroys destroy damages damage harms harm boosts boost treats treat "
    "treated eliminates reverses reverse contains contain contaminated proves proven prove shows showed reveals banned "
    "approved mandated infected spreads spread transmitted died dies die dead injured results resulted makes turns "
    "protects protect lowers raises weakens strengthens shrinks shrink works worsens".split()
)


_HEALTH_TERMS_FILE = Path(__file__).with_name("health_terms.toml")
_PLURAL_ENDING = r"(?:e?s|[’']s)?"


@dataclass(frozen=True, slots=True)
class HealthTerm:
    """A term of the table at text[start:end].

    `medical` is the term that means the same, "" if the word is that term. `is_broad` marks words that say little about
    the subject of a text ("virus", "children").
    """

    text: str
    start: int
    end: int
    medical: str = ""
    is_broad: bool = False


@kept_by_text
def find_terms(text: str) -> tuple[HealthTerm, ...]:
    """Return the terms of the table in a text, in order; the longest of those that overlap.

    Abbreviations count in capitals only ("MS", not "ms"), and not in a text that is all capitals.
    """
    plain = text.replace("’", "'")
    table = _load_health_terms()
    found = []
    for match in _compile_everyday_pattern().finditer(plain):
        key = match["key"].lower()
        is_broad = key in table["names"]["broad"]
        found.append(HealthTerm(match.group(), *match.span(), table["same"].get(key, ""), is_broad))
    if not plain.isupper():
        found += [
            HealthTerm(match.group(), *match.span(), table["short"][match["key"].lower()])
            for match in _compile_abbreviation_pattern().finditer(plain)
        ]
    found.sort(key=lambda term: (term.start, term.start - term.end))
    kept: list[HealthTerm] = []
    for term in found:
        if not kept or term.start >= kept[-1].end:
            kept.append(term)
    return tuple(kept)


@cache
def other_names() -> Mapping[str, str]:
    """Return the everyday words of the table, in lower case and the singular, with their medical terms."""
    table = _load_health_terms()
    return {**table["same"], **table["also"]}


def medical_name(word: str) -> str | None:
    """Return the medical term for an everyday word in lower case, singular or plural; None for others."""
    names = other_names()
    return names.get(word) or names.get(word.removesuffix("s"))


@cache
def _load_health_terms() -> dict[str, dict[str, Any]]:
    with _HEALTH_TERMS_FILE.open("rb") as file:
        return tomllib.load(file)


@cache
def _compile_everyday_pattern() -> re.Pattern[str]:
    table = _load_health_terms()
    return re.compile(
        _join_alternatives({*table["same"], *table["names"]["plain"], *table["names"]["broad"]}), re.IGNORECASE
    )


@cache
def _compile_abbreviation_pattern() -> re.Pattern[str]:
    return re.compile(_join_alternatives({key.upper() for key in _load_health_terms()["short"]}))


def _join_alternatives(keys: set[str]) -> str:
    longest_first = "|".join(re.escape(key) for key in sorted(keys, key=lambda key: (-len(key), key)))
    # Checking the first letter saves a thousand alternatives at any other character.
    first_letters = "".join(sorted({re.escape(letter) for key in keys for letter in (key[0], key[0].upper())}))
    return rf"(?<![\w-])(?=[{first_letters}])(?P<key>{longest_first}){_PLURAL_ENDING}(?![\w-])"


def is_health_word(token: Token) -> bool:
    """Return whether a word is of the health domain, by list or by its medical ending."""
    return token.stem in _HEALTH_STEMS or _MEDICAL_ENDING.search(token.folded) is not None


_MAX_PHRASE_WORDS = 3
_BETWEEN_WORDS = re.compile(r"[\s/&'’\"“”-]*")
_KNOWN_WEIGHT = 2.0
_BROAD_WEIGHT = 0.8
_HEALTH_PHRASE_WEIGHT = 1.6
_OTHER_PHRASE_WEIGHT = 0.7
# Words that carry meaning in a sentence but find nothing as a search: posts are full of them.
_UNSEARCHABLE_WORDS = frozenset(
    "people person stuff guys folks today yesterday tomorrow day days year years week month time times ways good "
    "bad great best better worst big huge small new old first last next real actually literally basically amazing "
    "crazy insane wow omg lol lmao rt dm please thanks thank thread breaking watch video read share follow "
    "retweet think believe tell told wants look looking thinks believes guess feel feels remember wait right "
    "wrong sure maybe probably definitely exactly absolutely never always forever everyone everybody anyone "
    "someone nobody anything everything nothing something amp wanna gotta yall y'all ya dont cant wont im ive man "
    "dude bro stop start started happen happens happened happening work works working try trying tried help love "
    "hate hope live life world back put takes took leave left find found show talk talking ask asking still also even "
    # judgements, feelings and acts, which name no subject: "terrible vaccines", "explains infants"
    "terrible horrible awful horrific horrifying scary shocking ridiculous absurd wonderful awesome fantastic "
    "incredible unbelievable beautiful ugly nice perfect stupid dumb silly weird strange evil happy glad sad angry "
    "tired proud honored sorry afraid worried wild safe explain explains explained allow allows allowed exist exists "
    "existed learn learned thought thinking seen saw went going gone come comes came says said saying means call "
    "called calls knock knocked signing replace hit hitting born want needs".split()
)


@dataclass(frozen=True, slots=True)
class Topic:
    """`text` as the post has it, `medical` the term that means the same (or "").

    `is_known` separates terms of the table and medical words from other phrases.
    """

    text: str
    weight: float
    medical: str = ""
    is_broad: bool = False
    is_known: bool = True

    @property
    def official(self) -> str:
        """The term that medical sources use."""
        return self.medical or self.text


def find_topics(post_text: str) -> list[Topic]:
    """Return the topics of a post, strongest first, known terms before others; none without content words."""
    text = plain_post(post_text)
    named: dict[str, Topic] = {}
    for term in find_terms(text):
        topic = Topic(term.text, _BROAD_WEIGHT if term.is_broad else _KNOWN_WEIGHT, term.medical, term.is_broad)
        named.setdefault(term.medical or stem(term.text.lower()), topic)
    topics = list(named.values())
    taken = {token.stem for topic in topics for token in tokens(topic.text)}
    for run in _split_content_runs(text):
        left = [token for token in run if token.stem not in taken]
        for part in (left[at : at + _MAX_PHRASE_WORDS] for at in range(0, len(left), _MAX_PHRASE_WORDS)):
            is_known = any(map(is_health_word, part))
            weight = _HEALTH_PHRASE_WEIGHT if is_known else _OTHER_PHRASE_WEIGHT
            topics.append(Topic(" ".join(token.text for token in part), weight, is_known=is_known))
        taken |= {token.stem for token in left}
    return sorted(topics, key=lambda topic: -topic.weight)


def _split_content_runs(text: str) -> list[list[Token]]:
    """Return unbroken runs of words that name a subject."""
    runs: list[list[Token]] = [[]]
    for token in tokens(text):
        if runs[-1] and not _BETWEEN_WORDS.fullmatch(text, runs[-1][-1].end, token.start):
            runs.append([])
        if is_content(token.folded) and token.folded not in _UNSEARCHABLE_WORDS and token.folded not in CAUSAL_WORDS:
            runs[-1].append(token)
        elif runs[-1]:
            runs.append([])
    return runs


def foreign_note(note: str) -> str:
    """Return why a note cannot be judged, for a person; "" if it is in English."""
    language = _name_foreign_language(language_of(without_urls(note)))
    if not language:
        return ""
    return f"The note is in {language}. Without AI we compare only English. Judge it yourself, or use an AI."


def foreign_post(post: Post) -> str:
    """Return why a text cannot be compared with a post; "" if the post is in English."""
    code = language_of(plain_post(post.text)) or (post.language or "").split("-")[0].lower()
    language = _name_foreign_language(code)
    if not language:
        return ""
    return f"The post is in {language}. Without AI we compare only English. Judge it yourself, or use an AI."


def foreign_passages(evidence: Sequence[Evidence]) -> str:
    """Return which passages cannot be compared with English words, and why; "" if all are in English."""
    languages = {item.id: language for item in evidence if (language := _name_passage_language(item))}
    if not languages:
        return ""
    names, joined = sorted(set(languages.values())), " and ".join
    return plural(
        len(languages),
        "{ids} is in {languages}. Without AI we compare only English. Judge it yourself, or use an AI.",
        "{ids} are in {languages}. Without AI we compare only English. Judge them yourself, or use an AI.",
        ids=joined(languages),
        languages=joined(names),
    )


def in_english(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return the passages that can be compared with English words."""
    return [item for item in evidence if not _name_passage_language(item)]


def _name_passage_language(item: Evidence) -> str:
    return _name_foreign_language(language_of(item.passage.text))


def _name_foreign_language(code: str | None) -> str:
    """Return the name of a language other than English, else ""."""
    return "" if code in (None, "", "en") else LANGUAGE_NAMES.get(code, code)


_FOREIGN_TERMS_FILE = Path(__file__).with_name("foreign_terms.tsv")
_FOREIGN_SEARCHES_FILE = Path(__file__).with_name("foreign_searches.toml")
_UNSPACED_LANGUAGES = frozenset({"ja"})  # words follow each other without spaces
_MIN_NAME_LETTERS = 5  # a shorter English term is often another word in another language
_COMBINING_MARKS = "\u0300-\u036f\u0610-\u065f\u0900-\u0dff"  # Python does not count these as letters
_LETTER_CLASS = rf"[\w{_COMBINING_MARKS}]"
_VOICING_MARKS = frozenset("\u3099\u309a")  # they make another Japanese letter, and are no accents
_LETTER_SUBSTITUTES = str.maketrans({"ı": "i", "ł": "l", "’": "'"})
_MAX_READ_CHARACTERS = 4_000  # a post names its subject well before
_PREDICATE_TERMS = frozenset(
    "causes cures prevents kills proven approved dangerous safe banned risk death study treatment symptoms health "
    "disease doctor patient contagious women men hospital".split()
) | {"linked to"}
# "and", "with", "to" and "the" are written as part of an Arabic word.
_ARABIC_PREFIXES = "(?:و|ف)?(?:ب|ك|ل)?(?:ال|ل)?"


@dataclass(frozen=True, slots=True)
class Known:
    """A health word as a text has it, and its English."""

    text: str
    english: str

    @property
    def is_subject(self) -> bool:
        """Whether it names a thing, rather than what is said about things ("causes")."""
        return self.english not in _PREDICATE_TERMS


def known_words(text: str, language: str) -> list[Known]:
    """Return the health words of a text that the table has, in order; the same English may occur twice.

    Accents and case do not matter.
    """
    plain, places = _fold_with_offsets(text[:_MAX_READ_CHARACTERS])
    found: dict[int, tuple[int, str]] = {}
    if language in list(_load_foreign_terms()[0])[1:]:
        english, pattern = _compile_foreign_pattern(language)
        for match in pattern.finditer(plain):
            group = match.lastgroup or ""
            found[match.start(group)] = (match.end(group), english[group])
    taken = {place for start, (end, _) in found.items() for place in range(start, end)}
    for term in find_terms(plain):
        is_name = len(term.text) >= _MIN_NAME_LETTERS and not term.is_broad and term.text.isascii()
        if is_name and taken.isdisjoint(range(term.start, term.end)):
            found[term.start] = (term.end, term.text)
    return [
        Known(text[places[start] : places[end - 1] + 1], english) for start, (end, english) in sorted(found.items())
    ]


def search_words(kind: str, language: str) -> str:
    """Return the search words of one kind ("denial", "check", "support"), "" in a language without them."""
    return _load_foreign_searches()[kind].get(language, "")


@cache
def _load_foreign_terms() -> list[Mapping[str, str]]:
    with _FOREIGN_TERMS_FILE.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        return list(rows)


@cache
def _load_foreign_searches() -> Mapping[str, Mapping[str, str]]:
    with _FOREIGN_SEARCHES_FILE.open("rb") as file:
        return tomllib.load(file)


@cache
def _compile_foreign_pattern(language: str) -> tuple[Mapping[str, str], re.Pattern[str]]:
    """Return the English of each group, and a pattern with a group for each form, longest first."""
    forms = {
        "".join(map(_fold_letter, form.strip())): row["english"]
        for row in reversed(_load_foreign_terms())  # the first of two rows with the same form counts
        for form in (row[language] or "").split("|")
        if form.strip()
    }
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    groups = {f"f{number}": forms[form] for number, form in enumerate(longest_first)}
    patterns = (rf"{_LETTER_CLASS}*".join(map(re.escape, form.split("*"))) for form in longest_first)
    alternatives = "|".join(f"(?P<f{number}>{pattern})" for number, pattern in enumerate(patterns))
    if language in _UNSPACED_LANGUAGES:
        return groups, re.compile(alternatives)
    # Alternatives are tried at letters only.
    beginning = _ARABIC_PREFIXES if language == "ar" else f"(?={_LETTER_CLASS})"
    return groups, re.compile(rf"(?<!{_LETTER_CLASS}){beginning}(?:{alternatives})(?!{_LETTER_CLASS})")


@cache
def _fold_letter(letter: str) -> str:
    parts = unicodedata.normalize("NFKD", letter)
    kept = "".join(part for part in parts if part in _VOICING_MARKS or not unicodedata.combining(part))
    return unicodedata.normalize("NFC", kept).casefold().translate(_LETTER_SUBSTITUTES)


def _fold_with_offsets(text: str) -> tuple[str, list[int]]:
    """Fold a text, and return for each folded letter the offset of the one in `text` that it comes from."""
    letters = [_fold_letter(letter) for letter in text]
    places = [place for place, letter in enumerate(letters) for _ in letter]
    return "".join(letters), places
