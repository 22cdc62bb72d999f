"""What repeats the post, and what only has its words."""

from __future__ import annotations

import pytest

from crowdnotes.domain import Post
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.repeated_claims import claims_of, repeating_passages, repeats
from tests.engines.local.made import made_evidence
from tests.fakes import brief_of

STATINS = "Statins cause dementia!"
DENIAL = "Vaccines have never been tested against placebo."


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (STATINS, "Statins cause dementia, doctors warn."),
        (STATINS, "Taking statins leads to dementia."),
        (STATINS, "Dementia is caused by statins."),
        (STATINS, "A post claims that statins cause dementia."),
        ("5G masts cause COVID-19!! https://t.co/x", "The radio waves of 5G masts are behind COVID-19."),
        (DENIAL, "Vaccines were never tested against a placebo."),
        ("Masks reduce infections by 90%.", "Masks reduce infections by 90 percent."),
    ],
)
def test_a_sentence_that_says_the_same_repeats_the_post(claim: str, sentence: str) -> None:
    assert repeats(sentence, claims_of(Post(text=claim)))


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (STATINS, "Statins do not cause dementia."),
        (STATINS, "Statins may cause dementia."),
        (STATINS, "Statins prevent dementia."),
        (STATINS, "Do statins cause dementia?"),
        (STATINS, "It is a myth that statins cause dementia."),
        (STATINS, "There is little evidence that statins cause dementia."),
        (DENIAL, "Vaccines have been tested against placebo."),
        ("Cancer IS NOT a disease.", "Cancer is not just one disease but many diseases."),
        ("Health Canada confirmed DNA that was not disclosed.", "Health Canada has not confirmed DNA."),
        ("Drinking bleach cures autism.", "Bleach has failed to cure autism."),
        ("All vaccines contain mercury.", "Some vaccines contain mercury."),
        ("Vaccines contain mercury.", "Vaccines contain mercury only in vials of several doses."),
        ("Masks reduce infections by 90%.", "Masks reduce infections by 9%."),
    ],
)
def test_a_sentence_that_denies_weakens_or_turns_the_claim_does_not_repeat_it(claim: str, sentence: str) -> None:
    assert not repeats(sentence, claims_of(Post(text=claim)))


@pytest.mark.parametrize(
    ("passage", "is_repetition"),
    [
        ("Statins cause dementia, doctors warn. They do not want you to know. Thousands of people lost it all.", True),
        ("A post claims that statins cause dementia. It has been shared 80,000 times.", True),
        ("A post claims that statins cause dementia. This is false.", False),
        ("Claim: Statins cause dementia. Verdict: False.", False),
        ("Statins cause dementia, he said. Trials show that statins do not cause dementia.", False),
        ("Some people think statins cause dementia. In trials memory stayed the same.", False),
        ("Statins cause dementia, he said. Statins protect old people from dementia.", False),
        ("Statins are taken by millions of people.", False),
        ("Statine verursachen Demenz, sagt der Arzt. Das ist nicht wahr.", False),
    ],
)
def test_a_passage_repeats_the_post_where_nothing_in_it_speaks_against_it(
    passage: str, is_repetition: bool, engine: LocalEngine
) -> None:
    item = made_evidence(passage)
    assert bool(repeating_passages(Post(text=STATINS), [item])) == is_repetition
    answer = engine.write(brief_of(Post(text=STATINS)), [item], 250, 3)
    assert ("repeat what the post says" in answer.abstained) == is_repetition
    quoted = [passage[each.span.start : each.span.end] for each in answer.quotations]
    assert not quoted if is_repetition else not any(repeats(words, [STATINS]) for words in quoted)


def test_what_stands_around_a_passage_may_answer_it_and_other_languages_are_not_judged() -> None:
    item = made_evidence("Statins cause dementia, one video says in so many words.")
    passage = item.passage.replace(after="That is not true.")
    assert repeating_passages(Post(text=STATINS), [item]) == {"E1"}
    assert not repeating_passages(Post(text=STATINS), [item.replace(passage=passage)])
    german = Post(text="Der Impfstoff verursacht bei kleinen Kindern eine schwere Krankheit, sagen die Leute.")
    assert not repeating_passages(german, [made_evidence(german.text)])
