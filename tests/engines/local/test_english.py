"""A note, post or passage in another language is not judged by English words, and the reason is told."""

from __future__ import annotations

import pytest

from crowdnotes.domain import Assessment, GateStatus, Post, PrincipleName
from crowdnotes.engines.local import LocalEngine
from crowdnotes.gates import assess
from crowdnotes.testing import FixedClock, make_evidence

POST = Post(text="The measles vaccine causes autism in children.")
NOTE = (
    "The measles vaccine does not cause autism. Studies of 650,000 children found no link. https://health.example.org"
)
PASSAGE = "The measles vaccine does not cause autism. Studies of 650,000 children found no link with autism."
SPANISH_POST = Post(text="La vacuna contra el sarampión causa autismo en los niños pequeños.")
SPANISH_NOTE = (
    "La vacuna contra el sarampión no causa autismo. Los estudios con 650.000 niños no encontraron ninguna relación. "
    "https://health.example.org"
)
SPANISH = "La vacuna contra el sarampión no causa autismo, según los estudios con muchos niños de varios países."


def _assessed(engine: LocalEngine, post: Post, note: str, *passages: str) -> Assessment:
    evidence = [make_evidence(number, text=text) for number, text in enumerate(passages, 1)]
    return assess(engine, post, note, evidence, FixedClock())


def test_a_faithful_translation_is_not_called_false(engine: LocalEngine) -> None:
    assessed = _assessed(engine, POST, SPANISH_NOTE, PASSAGE)
    relevance, correctness, helpfulness = assessed.gates
    assert relevance.status is GateStatus.PASS
    assert (correctness.status, helpfulness.status) == (GateStatus.NOT_RUN, GateStatus.NOT_RUN)
    assert correctness.reason.startswith("The note is in Spanish, and the local engine compares English words alone.")
    assert {principle.status for principle in assessed.principles} == {GateStatus.NOT_RUN}
    assert all("Spanish" in principle.reason for principle in assessed.principles)
    assert assessed.sentences == ()
    assert engine.helpfulness(POST, SPANISH_NOTE).status is GateStatus.NOT_RUN


def test_a_post_in_another_language_leaves_what_compares_with_it_not_run(engine: LocalEngine) -> None:
    assessed = _assessed(engine, SPANISH_POST, NOTE, PASSAGE)
    assert assessed.gates[0].status is GateStatus.NOT_RUN
    assert "The post is in Spanish" in assessed.gates[0].reason
    assert engine.helpfulness(SPANISH_POST, NOTE).status is GateStatus.NOT_RUN
    by_name = {principle.principle: principle for principle in assessed.principles}
    assert by_name[PrincipleName.ADDRESSES_CLAIM].status is GateStatus.NOT_RUN
    assert by_name[PrincipleName.SOURCES_SUPPORT].status is GateStatus.PASS


def test_passages_in_another_language_alone_decide_nothing(engine: LocalEngine) -> None:
    assessed = _assessed(engine, POST, NOTE, SPANISH)
    assert assessed.gates[0].status is GateStatus.NOT_RUN
    assert "E1 is in Spanish" in assessed.gates[0].reason
    evidence = [make_evidence(1, text=SPANISH)]
    correctness = engine.correctness(NOTE, evidence, engine.support(NOTE, evidence))
    assert (correctness.status, correctness.score) == (GateStatus.NOT_RUN, None)
    by_name = {principle.principle: principle for principle in assessed.principles}
    assert by_name[PrincipleName.SOURCES_SUPPORT].status is GateStatus.NOT_RUN


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ("", GateStatus.PASS),  # the English passage carries all
        (" Bananas grow fastest under blue lamps.", GateStatus.NOT_RUN),  # E2 may say so
        (" Studies of 650,000 children found a link with autism.", GateStatus.FAIL),  # E1 says the opposite
    ],
)
def test_beside_an_english_passage_only_what_it_settles_is_judged(
    engine: LocalEngine, more: str, status: GateStatus
) -> None:
    evidence = [make_evidence(1, text=PASSAGE), make_evidence(2, text=SPANISH)]
    note = f"The measles vaccine does not cause autism.{more}"
    assert engine.correctness(note, evidence, engine.support(note, evidence)).status is status


def test_words_too_few_to_tell_their_language_are_judged(engine: LocalEngine) -> None:
    evidence = [make_evidence(1, text=PASSAGE)]
    assert engine.support("No autism.", evidence)
