"""The helpfulness gate and the six principles."""

from __future__ import annotations

import pytest

from crowdnotes.domain import GateStatus, Post, PrincipleName, PrincipleResult
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.helpfulness import FAILS_UNDER, judge_helpfulness, of_recent

POST = Post(text="The measles vaccine causes autism in children.")
GOOD = (
    "The measles vaccine does not cause autism. Studies of more than 650,000 children found no link. "
    "https://health.example.org/measles https://clinic.example.net/vaccines"
)


def _score(engine: LocalEngine, note: str) -> float:
    score = engine.helpfulness(POST, note).score
    assert score is not None
    return score


def _principles(engine: LocalEngine, note: str) -> dict[PrincipleName, PrincipleResult]:
    return {result.principle: result for result in engine.principles(POST, note)}


def test_a_sourced_plain_note_passes(engine: LocalEngine) -> None:
    assert engine.helpfulness(POST, GOOD).status is GateStatus.PASS


@pytest.mark.parametrize(
    "note",
    [
        "This is false.",
        "Nonsense from a liar!!! Do you really believe this propaganda? https://health.example.org/measles",
        "Football scores of tonight. https://sport.example.org/",
    ],
)
def test_bare_rude_or_unrelated_notes_fail_with_a_reason(engine: LocalEngine, note: str) -> None:
    result = engine.helpfulness(POST, note)
    assert result.status is GateStatus.FAIL
    assert "Against it: " in result.reason


def test_a_short_true_note_does_not_fail_and_what_would_raise_it_does() -> None:
    post = Post(text="Fluoride in our tap water is banned in the whole of Europe. Why do they poison us?")
    note = "Ireland adds fluoride to its public water. https://www.hse.ie/eng/services/list/5/dental/fluoride/"
    result = judge_helpfulness(post, note)
    assert (result.status, result.uncertain, result.as_text) == (GateStatus.PASS, True, "uncertain")
    assert result.reason.startswith("Readers were divided about notes like this. This judges the words, not whether ")
    assert result.reason.endswith(" To raise the chance: a link to a second site.")
    raised = judge_helpfulness(post, f"{note} https://www.dublincity.ie/water")
    assert (raised.status, raised.uncertain) == (GateStatus.PASS, False)
    assert "divided" not in raised.reason


@pytest.mark.parametrize("note", ["This is false. https://health.example.org/measles", f"Idiot. {GOOD}"])
def test_what_fails_by_rule_scores_lower_than_whatever_passes(note: str) -> None:
    result = judge_helpfulness(POST, note)
    assert result.status is GateStatus.FAIL
    assert result.score is not None
    assert result.score < FAILS_UNDER


@pytest.mark.parametrize(
    "worse",
    [
        GOOD.replace("https://health.example.org/measles https://clinic.example.net/vaccines", ""),
        GOOD.replace("https://health.example.org/measles https://clinic.example.net/vaccines", "https://x.com/a/1"),
        GOOD.replace("The measles", "I think the measles"),
        GOOD.replace("no link.", "no link, you idiot."),
        GOOD.replace("no link.", "no link!!!"),
    ],
)
def test_each_fault_costs(engine: LocalEngine, worse: str) -> None:
    assert _score(engine, worse) < _score(engine, GOOD)


def test_the_reason_is_in_words_as_the_one_number_in_100_is_the_simulated_readers(engine: LocalEngine) -> None:
    reason = engine.helpfulness(POST, GOOD).reason
    assert reason.startswith("Readers often found notes like this helpful. This judges the words, not whether they are")
    assert not any(character.isdigit() for character in reason)
    assert 0.66 < of_recent(0.82) < 0.76  # not 0.82: raters grew stricter
    assert of_recent(1.0) <= 1.0


def test_a_note_of_links_alone_is_not_judged(engine: LocalEngine) -> None:
    assert engine.helpfulness(POST, "https://health.example.org/").status is GateStatus.NOT_RUN
    assert {r.status for r in _principles(engine, "https://health.example.org/").values()} == {GateStatus.NOT_RUN}


def test_a_post_without_words_is_judged_without_the_topic(engine: LocalEngine) -> None:
    assert engine.helpfulness(Post(text="https://t.co/abc"), GOOD).score is not None


def test_a_good_note_keeps_all_principles_that_words_alone_decide(engine: LocalEngine) -> None:
    results = _principles(engine, GOOD)
    assert {*results} == {PrincipleName.NEUTRAL, PrincipleName.NO_SPECULATION, PrincipleName.READABLE}
    assert {result.status for result in results.values()} == {GateStatus.PASS}


def test_whether_a_note_is_true_and_answers_the_claim_is_never_said_to_be_checked(engine: LocalEngine) -> None:
    false = "The measles vaccine causes autism in 62% of children, as all studies of 650,000 children found."
    assert not {PrincipleName.CONTEXT, PrincipleName.ADDRESSES_CLAIM} & {*_principles(engine, false)}


@pytest.mark.parametrize(
    ("note", "principle", "words"),
    [
        ("The measles vaccine is safe, you idiot, and not a cause of autism.", PrincipleName.NEUTRAL, "idiot"),
        ("The measles vaccine does NOT cause autism in any children.", PrincipleName.NEUTRAL, "NOT"),
        ("The “experts” say the measles vaccine does not cause autism.", PrincipleName.NEUTRAL, "“experts”"),
        ("Obviously the measles vaccine does not cause autism.", PrincipleName.NO_SPECULATION, "Obviously"),
        ("I think the measles vaccine does not cause autism.", PrincipleName.NO_SPECULATION, "I think"),
    ],
)
def test_a_principle_points_at_the_words_it_objects_to(
    engine: LocalEngine, note: str, principle: PrincipleName, words: str
) -> None:
    result = _principles(engine, note)[principle]
    assert result.status is GateStatus.FAIL
    assert words in [note[f.span.start : f.span.end] for f in result.findings if f.span]


@pytest.mark.parametrize(
    ("note", "principle"),
    [
        ("This claim is false.", PrincipleName.CONTEXT),
        ("Football scores of tonight and of tomorrow in all leagues.", PrincipleName.ADDRESSES_CLAIM),
        ("The measles vaccine " + "and the other vaccine " * 12 + "is safe.", PrincipleName.READABLE),
    ],
)
def test_the_other_principles_fail_where_they_should(engine: LocalEngine, note: str, principle: PrincipleName) -> None:
    assert _principles(engine, note)[principle].status is GateStatus.FAIL


@pytest.mark.parametrize(
    "note", ["Psychological studies found no link.", "In the US, vaccines are tested.", "Free radicals occur."]
)
def test_ordinary_words_are_not_taken_for_insults_or_first_person(engine: LocalEngine, note: str) -> None:
    results = _principles(engine, note)
    assert results[PrincipleName.NEUTRAL].status is GateStatus.PASS
    assert results[PrincipleName.NO_SPECULATION].status is GateStatus.PASS


def test_words_inside_links_are_not_judged(engine: LocalEngine) -> None:
    note = "The measles vaccine does not cause autism in children. https://example.org/stupid-liars"
    assert _principles(engine, note)[PrincipleName.NEUTRAL].status is GateStatus.PASS
