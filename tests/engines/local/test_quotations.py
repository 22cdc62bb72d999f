"""The sentences that are offered to quote."""

from __future__ import annotations

import pytest

from crowdnotes.domain import Evidence, Post
from crowdnotes.engines.local import LocalEngine
from tests.engines.local.made import MEASLES, WATER, made_evidence
from tests.fakes import brief_of
from tests.shared import minilm

BRIEF = brief_of(Post(text="The measles vaccine causes autism in children."))


def _offered(engine: LocalEngine, *evidence: Evidence) -> list[str]:
    passages = {item.id: item.passage.text for item in evidence}
    found = engine.write(BRIEF, evidence, 250, 3).quotations
    return [passages[each.evidence_id][each.span.start : each.span.end] for each in found]


@pytest.mark.model
def test_the_sentence_that_denies_the_claim_comes_first_and_all_are_whole() -> None:
    engine = LocalEngine(minilm())
    offered = _offered(engine, made_evidence(WATER, "E1"), made_evidence(MEASLES, "E2"))
    assert offered[0] == "The measles vaccine does not cause autism."
    assert len(offered) == 3
    assert all(words in f"{WATER} {MEASLES}" for words in offered)


@pytest.mark.parametrize(
    ("passage", "offered"),
    [
        ("There is no cure for measles in children.", True),
        ("Vaccines aren't a cause of autism.", True),
        ("Do not write a note about vaccines.", False),  # an order
        ("Measles, vaccines and autism.", False),  # a heading
        ("アスピリンががんを治すという証拠はない。", True),
        ("This bulletin does not examine whether vaccines cause autism.", True),  # the page itself
        ("疫苗不会导致自闭症。", True),
        ("疫苗与麻疹。", False),  # a heading
    ],
)
def test_a_short_sentence_is_offered_where_it_denies(engine: LocalEngine, passage: str, offered: bool) -> None:
    assert _offered(engine, made_evidence(passage)) == [passage] * offered


def test_sentences_are_offered_also_where_nothing_answers(engine: LocalEngine) -> None:
    assert _offered(engine, made_evidence(WATER))
    assert "Check that they answer the post" in engine.write(BRIEF, [made_evidence(WATER)], 250, 3).abstained


@pytest.mark.parametrize(
    "passage",
    [
        "Vaccines and autism in children",  # a heading
        "Does the measles vaccine cause autism in children?",
        "The measles vaccine may cause in children:",
        "They do not cause autism in children, large studies found.",  # who?
        "But the measles vaccine does not cause autism in children.",
        "the measles vaccine causes autism in children, said nobody who",  # cut off at the passage's edge
        "The measles vaccine " + "and another vaccine " * 30 + "cause autism.",
        "",
    ],
)
def test_fragments_are_not_offered(engine: LocalEngine, passage: str) -> None:
    assert _offered(engine, made_evidence(passage)) == []


def test_satire_that_does_not_say_so_is_not_offered(engine: LocalEngine) -> None:
    item = made_evidence("The measles vaccine causes autism in children.", publisher="Soggy Gazette, a satirical paper")
    assert _offered(engine, item) == []


def test_the_same_sentence_of_two_pages_is_offered_once(engine: LocalEngine) -> None:
    offered = _offered(engine, made_evidence(MEASLES, "E1"), made_evidence(MEASLES, "E2"))
    assert len(offered) == len(set(offered))


def test_without_evidence_or_words_nothing_is_offered_and_the_reason_is_told(engine: LocalEngine) -> None:
    for answer in (
        engine.write(BRIEF, [], 250, 3),
        engine.write(brief_of(Post(text="😀")), [made_evidence(MEASLES)], 250, 3),
    ):
        assert (answer.candidates, answer.quotations) == ((), ())
        assert "No sentence is close" in answer.abstained


STATINS = brief_of(Post(text="Statins cause dementia!"))


def _offered_on_statins(engine: LocalEngine, passage: str, after: str = "") -> list[str]:
    item = made_evidence(passage)
    item = item.replace(passage=item.passage.replace(after=after))
    found = engine.write(STATINS, [item], 250, 3).quotations
    return [passage[each.span.start : each.span.end] for each in found]


@pytest.mark.parametrize(
    "rumour",
    [
        "A post on Facebook claims that statins cause dementia in old people.",
        "A tweet falsely says that statins cause dementia in old people.",
        "Social media users have shared posts claiming statins cause dementia.",
        "Some people believe that statins cause dementia in old people.",
        "According to a widely shared video, statins cause dementia in old people.",
        "Claim: Statins cause dementia in old people.",
        "Myth 3: Statins cause dementia in old people.",
        "An image of old people purports to show that statins cause dementia.",
        "It has been widely shared that statins cause dementia in old people.",
        "A chain email warned old people that statins cause dementia.",
        "It is often claimed that statins cause dementia in old people.",
        "A post claims there is no evidence that statins spare old people dementia.",
        "Deniers of the studies still maintain that statins cause dementia in old people.",
        "An earlier version of this article said that statins cause dementia in old people.",
        "“Statins cause dementia in old people. Stop taking statins today, old people,” one post said.",
    ],
)
def test_a_sentence_that_passes_on_the_rumour_is_not_offered(engine: LocalEngine, rumour: str) -> None:
    denial = "Statins do not cause dementia."
    assert _offered_on_statins(engine, f"{rumour} {denial} Statins lower the fat in the blood.")[0] == denial
    assert _offered_on_statins(engine, rumour) == []


def test_the_plain_denial_comes_before_what_is_nearer_and_before_one_that_speaks_of_the_rumour(
    engine: LocalEngine,
) -> None:
    nearer = "Statins cause dementia, statins cause dementia, statins cause dementia."
    passage = (
        f"{nearer} Dementia and statins were studied for years. Statins and old age were studied too. "
        "The claim that statins cause dementia is false. Statins may not cause dementia. Statins do not cause dementia."
    )
    assert _offered_on_statins(engine, passage)[0] == "Statins do not cause dementia."


def test_a_sentence_that_limits_the_one_before_it_stays_with_it(engine: LocalEngine) -> None:
    denial = "Statins do not cause dementia."
    limit = "However, one small trial found trouble with memory in some old people."
    assert f"{denial} {limit}" in _offered_on_statins(engine, f"{denial} {limit} Trials go on in many countries of it.")
    unseen = "This was not seen in people who take a high dose of them."
    assert f"{denial} {unseen}" in _offered_on_statins(engine, f"{denial} {unseen}")
    assert _offered_on_statins(engine, denial, after=f" {limit}") == []
    assert denial not in _offered_on_statins(engine, f"{denial} However, {'one small trial ' * 30}found trouble.")


@pytest.mark.parametrize(
    ("beside", "is_limit"),
    [
        ("Only men who were older than 60 took part in the study.", True),
        ("In mice, the drug did harm the memory of the animals.", True),
        ("This does not apply to people with kidney disease.", True),
        ("All participants were men aged over 60.", True),
        ("The trial was small and had no control group.", True),
        ("The study was paid for by the maker of the drug.", True),
        ("People with liver disease were excluded.", True),
        ("No children took part.", True),
        ("Long-term effects are not known.", True),
        ("The evidence is of low quality.", True),
        ("This was shown in mice, not in people.", True),
        ("In people with diabetes the risk was higher.", True),
        ("These results have not been seen in humans.", True),
        ("This finding has yet to be confirmed by others.", True),
        ("The results need to be replicated.", True),
        ("Only a few hundred cases have been reported.", False),
        ("It is more common in women than in men.", False),
        ("The study followed 5,000 people for ten years.", False),
        ("In people with high cholesterol, statins cut heart attacks.", False),
    ],
)
def test_what_a_finding_holds_for_stays_with_it(beside: str, is_limit: bool, engine: LocalEngine) -> None:
    denial = "Statins do not cause dementia."
    offered = _offered_on_statins(engine, f"{denial} {beside} Trials go on in many countries.")
    assert (f"{denial} {beside}" in offered) == is_limit
    assert (denial in offered) == (not is_limit)


def test_a_paragraph_that_begins_with_whom_it_holds_for_is_quoted_with_that(engine: LocalEngine) -> None:
    scope, denial = "Only men took part in the trial of 2019.", "Statins do not cause dementia."
    assert f"{scope} {denial}" in _offered_on_statins(engine, f"{scope} {denial} Doctors ask for it in all towns.")
    elsewhere = _offered_on_statins(engine, f"Doctors ask for it in all of the towns. {scope} {denial}")
    assert denial in elsewhere
    assert denial in _offered_on_statins(engine, f"{scope}\n{denial} Doctors ask for it in all towns.")
