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


# Subjects of half of all health posts: one of them alone is not what a claim is about, two together may be.
_TOPICS = (
    "cancer cancers tumor tumour neoplasm vaccine vaccines vaccinated unvaccinated vaccination vaccinations "
    "immunization jab jabs vax vaxx vaxxed covid covid-19 coronavirus sars-cov-2 pandemic epidemic virus viruses viral "
    "flu influenza infection infected infections infectious bacteria diet food foods drug drugs pill pills blood heart "
    "brain lung lungs skin immune immunity immunology pregnancy pregnant abuse pain weight injection injections "
    "injected shot shots booster boosters death deaths die died dies dead dying mortality depression alcohol gene "
    "genes genetic dna protein cells sleep exercise water smoking surgery mental bone bones"
)
# Said in passages about anything.
_FILLER = (
    "health healthy healthcare unhealthy medical medicine medicines medication medications medicinal meds clinical "
    "doctor doctors physician physicians nurse nurses hospital hospitals hospitalized patient patients clinic care "
    "disease diseases disorder disorders illness illnesses ill sick sickness condition conditions syndrome symptom "
    "symptoms treatment treatments treat treated therapy cure cures cured remedy diagnosis diagnosed risk risks study "
    "studies studied research researcher researchers science scientific scientist scientists expert experts evidence "
    "data fact facts proof trial trials test tests tested testing result results finding findings report monday "
    "tuesday wednesday thursday friday saturday sunday january february april june july august september october "
    "november december brother sister husband wife friend neighbour neighbor oddly apparently reports reported news "
    "article paper papers journal statement claim claims information public child children kid kids baby babies infant "
    "infants toddler adult adults man men male males woman women female females boy boys girl girls family families "
    "parent parents mother father person population human humans body bodies american americans america usa us uk "
    "country countries state states national nation world government federal cdc fda nih who epa nhs agency official "
    "officials president pharma company companies industry safe safety unsafe dangerous danger harm harmful harmless "
    "toxic poison side effect effects effective dose doses safety-tested cause causes caused causing prevent prevents "
    "prevention protect protects kill kills killed killing increase increases increased decrease reduce reduces "
    "reduced rate rates case cases number numbers percent level levels amount high higher low lower average million "
    "millions billion thousand thousands hundred hundreds age ages aged old young younger older chronic acute severe "
    "serious common rare natural normal"
)
_PLAIN = (
    "able absolute absolutely actual actually add added adding admit admits admitted advice affect affected agree "
    "agrees ago allow allowed allows alone already always announce announced answer appear appears apply area asked "
    "attack aware away bad based basic beautiful began begin begins believe best better big bigger bit biggest blame "
    "block blocked blocks boil boils boost born break breaking bring brought build built bunch busy buy call called "
    "calling calls care cannot careful carry cash caught certain chance change changed changes check choice choose "
    "clear clearly click clip close closer cold complete completely concern concerned confirm confirmed confirms "
    "connect consider contain contains continue continues control convince cool correct cost could couple course cover "
    "create created crisis current currently cut daily damage day days deal debate decade decades decide decided "
    "decision deep definite definitely deny designed destroy destroyed destroys develop developed developing "
    "development different difficult direct directly discover discovered discuss doing drop due earlier early easy "
    "effort eat eating else emerge encourage end ended endless ends enter entire entirely especially even event events "
    "eventually ever everyone everything evil exact exactly example excess exclusive expect expected experience "
    "explain explained expose exposed extra extreme extremely face factor factors fail failed fake fall false far fast "
    "faster favor fear feed feel fight figure figures file final finally fine fix follow followed following force "
    "forced forget form found free fresh full fully fun fund funny further future gain general generally given giving "
    "global goal good grab great greatest group groups grow growing guess guy guys hand handle happen happened "
    "happening happens happy hard hate having head hear heard height held hello help helped helpful helps hide hiding "
    "hit hold hole home honest hope hour hours house huge idea ignore imagine imagined immediate immediately impact "
    "important impossible improve include included includes including individual individuals initial inside instead "
    "intend interesting issue issued issues join kept key kind knew know knowing known knows label lack large largest "
    "late later latest launch lead leading leads learn leave led left legal lie lied lies life like likely limit line "
    "link linked links list listen literally little live lives living local long longer look looking looks lose loss "
    "lost love low lying main mainstream major majority making mass massive matter maybe mean means meant media member "
    "members mention mess message mind minute minutes miss missing moment money month months morning most move moved "
    "moving name named natural near nearly necessary never new next nice night nobody none nonsense normal note "
    "nothing notice obvious obviously offer office often okay open opinion option order original outside paid pan part "
    "particular past pay paying people perfect perhaps period place plan plans play please plenty point points poor "
    "popular possible possibly post posted potential potentially power powerful present pretty prevent previous "
    "probable probably problem problems process produce produced product products program programs promise promote "
    "properly prove proved proven proves provide provided push put question questions quick quickly quiet quite raise "
    "raised ran reach read reading ready real reality realize really reason reasons receive received recent recently "
    "recommend recommended record recover refuse related release released remain remember reminder remove removed "
    "replace require required respond response responsible rest return reveal revealed reveals right rip roll rollout "
    "run running sad save saved saw saying says scale scam scary second secret seek seems seen sell send sense sent "
    "series set share shared short show showed showing shown shows shut sign similar simple simply single situation "
    "size small social sold soon sorry sort sound source sources speak special specific spend spread spreads stand "
    "standing start started starting starts stay stick stop stopped stops story strange strong stuff stupid successful "
    "successfully sudden suddenly suffer suffered suffering suggest suggested suggests support supposed sure surprise "
    "system systems taken takes taking talk talking target targeted team tell telling terrible thank thanks theory "
    "thing things think thinking thinks thought threat time times tired today together told tomorrow tonight took top "
    "total totally touch track tried trigger triggered triggers true truly trust truth try trying turn turned turns "
    "tweet type types ultimate ultimately understand unit units unless unlikely unusual update used useful usual "
    "usually value various version victim victims video view wait walk want wanted wants war warn warned warning "
    "warnings watch way ways week weeks weird went whole wide wife wish wonder word words work worked working works "
    "worry worse worst worth write wrong wrote year years yesterday yet avoid avoided avoids first against prior along "
    "therefore passed amazing established declared folks others fellow whatever whoever anyway hence back one two "
    "three four five six seven eight nine ten half almost zero eliminated eradicated pose poses attract"
)

TOPIC_STEMS = frozenset(stem(word) for word in _TOPICS.split())
PLAIN_STEMS = (frozenset(stem(word) for word in f"{_FILLER} {_PLAIN}".split())) - TOPIC_STEMS
