"""Whether a sentence answers a claim: it speaks of the claim's own subject, and of what is claimed of it.

A true sentence beside the claim is the commonest bad note: "Type 2 diabetes begins with insulin resistance"
under a joke on insulin. Rules read on HealthNotes posts and NIH answers; what they doubt does not answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from crowdnotes.engines.local.claim_terms import text_stems
from crowdnotes.engines.local.polarity import polarity_differences
from crowdnotes.engines.local.quantities import quantities
from crowdnotes.engines.local.relations import copula_at, denies_cures, relations_of, speak_to, tells_causes
from crowdnotes.engines.local.subjects import Subject
from crowdnotes.text.stems import content_tokens

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
