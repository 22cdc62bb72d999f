"""What speaks for reading a search result, and what against, besides its being relevant.

Weights are on the scale of a cosine: 0.05 outweighs a small difference in relevance, never a large one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from crowdnotes.domain import Aim, Hit, SourceCategory
from crowdnotes.engines.local.claim_terms import text_stems
from crowdnotes.engines.local.readability import reading
from crowdnotes.engines.local.subjects import Subject
from crowdnotes.engines.local.units import split_units


@dataclass(frozen=True, slots=True)
class Merit:
    """A reason in plain words and its weight; below 0 it speaks against."""

    words: str
    weight: float


# Who speaks: bodies that answer for what they say first; a post cannot vouch for a post.
_BY_CATEGORY = {
    SourceCategory.HEALTH_AUTHORITY: Merit("from a health authority", 0.06),
    SourceCategory.RESEARCH: Merit("research literature", 0.05),
    SourceCategory.HEALTH_PORTAL: Merit("from a health portal", 0.03),
    SourceCategory.NEWS: Merit("from news media", 0.01),
    SourceCategory.COMMERCIAL_ADVOCACY_NGO: Merit("its publisher has an interest of its own", -0.03),
    SourceCategory.SOCIAL: Merit("only social media", -0.15),
}
_NOTICES = {
    "retracted": Merit("it was retracted", -0.6),
    "withdrawn": Merit("it was withdrawn", -0.6),
    "a retraction notice": Merit("a notice that a paper was retracted", -0.1),
    "expression of concern": Merit("its journal has expressed concern", -0.2),
    "preprint": Merit("a preprint that no reviewer has checked", -0.05),
}
_PRESS_RELEASE = re.compile(
    r"eurekalert|prnewswire|businesswire|globenewswire|newswise|press[-_ ]?releases?|news[-_ ]?releases?|newsroom",
    re.IGNORECASE,
)
_OPINION = re.compile(r"\b(?:opinion|editorial|op-ed|letter to the editor)\b", re.IGNORECASE)
_DENIES = re.compile(
    r"\b(?:no (?:link|evidence|association|proof)|(?:does|do|did|is|are|was|were|has|have|can)(?: not|n['’]t|not)\b"
    r"|not (?:cause|associated|linked|effective|recommended)|myth|false|debunk\w*|misinformation|unproven)",
    re.IGNORECASE,
)
_SUPPORTS = re.compile(
    r"\b(?:associated with|linked to|increased? (?:the )?risk|may (?:cause|lead|help|reduce)|can (?:cause|lead|help)"
    r"|effective|benefit\w*|improved?|suggests? that|found that|reported)\b",
    re.IGNORECASE,
)
AGAINST = Merit("it speaks against the claim", -0.2)
TOWARDS = Merit("it may speak for the claim", 0.15)
_HARD = 15.0  # Flesch reading ease of a paper that a lay reader gives up on
_EASY = 50.0
_ENOUGH_WORDS = 15
_RECENT_YEARS = 4
_OLD_YEARS = 12


def merits_of(hit: Hit, aim: Aim, newest: date | None, claims: Sequence[Subject] = ()) -> list[Merit]:
    """All that holds of a hit. `newest` is the day that its age is counted from; None leaves age out.

    `claims` are what a hit may speak for, which counts with Aim.OTHER_SIDE alone.
    """
    found = [_BY_CATEGORY.get(hit.category), *(_NOTICES.get(notice) for notice in hit.notices)]
    found += [_origin(hit), _ease(hit), _age(hit, newest)]
    if aim is Aim.OTHER_SIDE:
        found.append(_side(hit, claims))
    return [merit for merit in found if merit is not None]


def _origin(hit: Hit) -> Merit | None:
    if _PRESS_RELEASE.search(f"{hit.url or ''} {hit.title}"):
        return Merit("a press release, not the work itself", -0.06)
    if _OPINION.search(hit.title):
        return Merit("an opinion piece", -0.04)
    if hit.category is SourceCategory.RESEARCH and (hit.doi or hit.pmid):
        return Merit("the paper itself", 0.03)
    return None


def _ease(hit: Hit) -> Merit | None:
    read = reading(hit.snippet)
    if read.ease is None or read.words < _ENOUGH_WORDS:
        return None
    if read.ease < _HARD:
        return Merit("hard to read for a lay reader", -0.03)
    return Merit("easy to read", 0.02) if read.ease >= _EASY else None


def _age(hit: Hit, newest: date | None) -> Merit | None:
    if newest is None or hit.published is None:
        return None
    years = (newest - hit.published).days / 365.25
    if years > _OLD_YEARS:
        return Merit(f"old, of {hit.published.year}", -0.03)
    return Merit(f"recent, of {hit.published.year}", 0.02) if years <= _RECENT_YEARS else None


def _side(hit: Hit, claims: Sequence[Subject]) -> Merit | None:
    """Whether its words speak for a claim rather than against it, by cue words and the terms beside them."""
    text = f"{hit.title} {hit.snippet}"
    against, towards = len(_DENIES.findall(text)), len(_SUPPORTS.findall(text))
    if against > towards:
        return AGAINST
    stems = text_stems(text)
    said = [unit.text for unit in split_units(text) if _SUPPORTS.search(unit.text)]
    about = [claim for claim in claims if claim.is_named_by(stems) and _names_agent(claim, stems)]
    speaks = any(_is_told(claim, sentence) for claim in about for sentence in said)
    return TOWARDS if towards > against and speaks else None


def _names_agent(claim: Subject, stems: frozenset[str]) -> bool:
    return not claim.agents or claim.share(claim.agents, stems) > 0


def _is_told(claim: Subject, sentence: str) -> bool:
    """Whether a sentence names what the claim tells of its agent: autism, where "vaccines cause autism"."""
    return claim.share(claim.told or claim.agents, text_stems(sentence)) > 0
