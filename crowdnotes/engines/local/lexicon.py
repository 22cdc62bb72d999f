"""Words of the health domain: what things are called, and which tell a subject."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from crowdnotes.text import kept_by_text
from crowdnotes.text.stems import stem

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
HEALTH_WORDS = frozenset(_HEALTH.split())

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

    `medical` is the term that means the same, "" when the word is the term. `headings` are broader.
    `is_broad` marks words that tell little of what a text is about ("virus", "children").
    """

    text: str
    start: int
    end: int
    medical: str = ""
    headings: tuple[str, ...] = ()
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
    table = _table()
    key = match.group("key").lower()
    medical = table["same"].get(key, "")
    headings = table["headings"].get(key) or table["headings"].get(medical)
    broad = table["broad"].get(key)
    return HealthTerm(
        match.group(), match.start(), match.end(), medical, tuple(headings or broad or ()), bool(broad) and not headings
    )


def _abbreviation(match: re.Match[str]) -> HealthTerm:
    table = _table()
    key = match.group("key").lower()
    return HealthTerm(
        match.group(), match.start(), match.end(), table["short"][key], tuple(table["headings"].get(key, ()))
    )


@cache
def _table() -> dict[str, dict[str, Any]]:
    with _TABLE.open("rb") as file:
        return tomllib.load(file)


@cache
def _lay_pattern() -> re.Pattern[str]:
    table = _table()
    keys = {*table["same"], *table["headings"], *table["broad"]}
    return re.compile(_alternatives(keys), re.IGNORECASE)


@cache
def _abbreviations() -> re.Pattern[str]:
    return re.compile(_alternatives({key.upper() for key in _table()["short"]}))


def _alternatives(keys: set[str]) -> str:
    longest_first = "|".join(re.escape(key) for key in sorted(keys, key=lambda key: (-len(key), key)))
    # The first letters come first: at any other character a thousand alternatives would be tried.
    first_letters = "".join(sorted({re.escape(letter) for key in keys for letter in (key[0], key[0].upper())}))
    return rf"(?<![\w-])(?=[{first_letters}])(?P<key>{longest_first}){_PLURAL}(?![\w-])"


# One form of each word, as stems are compared.
# Subjects of half of all health posts: one of them alone is not what a claim is about, two together may be.
_TOPICS = (
    "cancer tumor tumour neoplasm vaccine unvaccinated immune jab vax vaxx covid covid-19 coronavirus sars-cov-2 "
    "pandemic epidemic virus viral flu influenza infected infectious bacteria diet food drug pill blood heart brain "
    "lung skin immunology pregnancy pregnant abuse pain weight injected shot booster death die dead mortality "
    "depression alcohol gene genetic dna protein cells sleep exercise water smoking surgery mental bone"
)
# Said in passages about anything.
_FILLER = (
    "health healthy healthcare unhealthy medical medicine meds clinic doctor physician nurse hospital patient care "
    "disease disorder ill sick condition syndrome symptom treatment treat therapy cure remedy diagnosis diagnosed "
    "risk study research science scientific scientist expert evidence data fact proof trial test result finding "
    "report monday tuesday wednesday thursday friday saturday sunday january february april june july august "
    "september october november december brother sister husband wife friend neighbour neighbor oddly apparently news "
    "article paper journal statement claim information public child children kid baby infant toddler adult man men "
    "male woman women female boy girl family parent mother father person population human body american america usa "
    "us uk country state nation world government federal cdc fda nih who epa nhs agency official president pharma "
    "company industry safe safety unsafe danger harm harmless toxic poison side effect dose safety-tested cause "
    "prevent protect kill increase decrease reduce rate case number percent level amount high higher low lower "
    "average million billion thousand hundred age old young younger older chronic acute severe serious common rare "
    "natural normal"
)
_PLAIN = (
    "able absolute actual add admit advice affect agree ago allow alone already always announce answer appear apply "
    "area asked attack aware away bad based basic beautiful began begin believe best better big bigger bit biggest "
    "blame block boil boost born break bring brought build built bunch busy buy call cannot carry cash caught certain "
    "chance change check choice choose clear click clip close closer cold complete concern confirm connect consider "
    "contain continue control convince cool correct cost could couple course cover create crisis current cut daily "
    "damage day deal debate decade decide decision deep definite deny designed destroy develop different difficult "
    "direct discover discuss doing drop due earlier early easy effort eat else emerge encourage end endless enter "
    "entire especially even event eventually ever everyone everything evil exact example excess exclusive expect "
    "experience explain expose extra extreme face factor fail fake fall false far fast faster favor fear feed feel "
    "fight figure file final fine fix follow force forget form found free fresh full fully fun fund funny further "
    "future gain general given giving global goal good grab great greatest group grow guess guy hand handle happen "
    "happy hard hate having head hear heard height held hello help hide hit hold hole home honest hope hour house "
    "huge idea ignore imagine immediate impact important impossible improve include individual initial inside instead "
    "intend interesting issue join kept key kind knew know known label lack large largest late later latest launch "
    "lead learn leave led left legal lie life like limit line link list listen literally little live local long "
    "longer look lose loss lost love main mainstream major making mass massive matter maybe mean meant media member "
    "mention mess message mind minute miss moment money month morning most move name near necessary never new next "
    "nice night nobody none nonsense note nothing notice obvious offer office often okay open opinion option order "
    "original outside paid pan part particular past pay people perfect perhaps period place plan play please plenty "
    "point poor popular possible post potential power present pretty previous probable problem process produce "
    "product program promise promote properly prove proven provide push put question quick quiet quite raise ran "
    "reach read ready real reality realize really reason receive recent recommend record recover refuse related "
    "release remain remember reminder remove replace require respond response rest return reveal right rip roll "
    "rollout run sad save saw says scale scam scary second secret seek seems seen sell send sense sent series set "
    "share short show shown shut sign similar simple simply single situation size small social sold soon sorry sort "
    "sound source speak special specific spend spread stand start stay stick stop story strange strong stuff stupid "
    "successful sudden suffer suggest support supposed sure surprise system taken takes talk target team tell "
    "terrible thank theory thing think thought threat time tired today together told tomorrow tonight took top total "
    "touch track try trigger true truly trust truth turn tweet type ultimate understand unit unless unlikely unusual "
    "update used usual value various version victim video view wait walk want war warn watch way week weird went "
    "whole wide wish wonder word work worry worse worst worth write wrong wrote year yesterday yet avoid first "
    "against prior along therefore passed amazing established declared folks others fellow whatever whoever anyway "
    "hence back one two three four five six seven eight nine ten half almost zero eliminated eradicated pose attract"
)

TOPIC_STEMS = frozenset(stem(word) for word in _TOPICS.split())
PLAIN_STEMS = frozenset(stem(word) for word in f"{_FILLER} {_PLAIN}".split())
