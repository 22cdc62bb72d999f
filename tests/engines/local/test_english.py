"""A note, post or passage in another language is not judged by English words, and the reason is told."""

from __future__ import annotations

from crowdnotes.domain import Assessment, GateStatus, Post, PrincipleName, Support
from crowdnotes.engines.local import LocalEngine
from crowdnotes.notes.gates import assess
from tests.fakes import FixedClock, brief_of, make_evidence

POST = Post(text="The measles vaccine causes autism in children.")
NOTE = (
    "The measles vaccine does not cause autism. Studies of 650,000 children found no link. https://health.example.org"
)
PASSAGE = "The measles vaccine does not cause autism. Studies of 650,000 children found no link with autism."
SPANISH_POST = Post(text="La vacuna contra el sarampión causa autismo en los niños pequeños.")
SPANISH_NOTE = (
    "La vacuna contra el sarampión no causa autismo. Los estudios con 650.000 niños no encontraron ninguna relación. "
    "https://health.example.org/review"
)
SPANISH = "La vacuna contra el sarampión no causa autismo, según los estudios con muchos niños de varios países."


def _assessed(engine: LocalEngine, post: Post, note: str, *passages: str) -> Assessment:
    evidence = [make_evidence(number, text=text) for number, text in enumerate(passages, 1)]
    return assess(engine, brief_of(post), note, evidence, FixedClock())


def test_a_faithful_translation_is_not_called_false(engine: LocalEngine) -> None:
    assessed = _assessed(engine, POST, SPANISH_NOTE, PASSAGE)
    assert [gate.status for gate in assessed.gates] == [GateStatus.PASS, GateStatus.NOT_RUN, GateStatus.NOT_RUN]
    assert {principle.status for principle in assessed.principles} == {GateStatus.NOT_RUN}
    no_words = {PrincipleName.SOURCES_SUPPORT, PrincipleName.WANTED}
    others = (each for each in assessed.principles if each.principle not in no_words)
    assert all("Spanish" in principle.reason for principle in others)
    assert {sentence.support for sentence in assessed.sentences} == {Support.UNCHECKED}
    assert engine.helpfulness(POST, SPANISH_NOTE).status is GateStatus.NOT_RUN


def test_a_post_in_another_language_leaves_what_compares_with_it_not_run(engine: LocalEngine) -> None:
    assessed = _assessed(engine, SPANISH_POST, NOTE, PASSAGE)
    assert assessed.gates[0].status is GateStatus.NOT_RUN
    assert "The post is in Spanish" in assessed.gates[0].reason
    assert engine.helpfulness(SPANISH_POST, NOTE).status is GateStatus.NOT_RUN
    by_name = {principle.principle: principle for principle in assessed.principles}
    assert by_name[PrincipleName.ADDRESSES_CLAIM].status is GateStatus.NOT_RUN


def test_passages_in_another_language_alone_decide_nothing(engine: LocalEngine) -> None:
    assessed = _assessed(engine, POST, NOTE, SPANISH)
    assert assessed.gates[0].status is GateStatus.NOT_RUN
    assert "E1 is in Spanish" in assessed.gates[0].reason
