"""The relevance gate."""

from __future__ import annotations

import pytest

from crowdnotes.domain import BY_HAND, Evidence, GateStatus, Post
from crowdnotes.engines.embedding import MiniLMEmbedder
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.relevance import nothing_relevant, of_needed, weak_sources
from tests.engines.local.made import MEASLES, WATER, made_evidence
from tests.fakes import brief_of, make_evidence
from tests.shared import minilm

BRIEF = brief_of(Post(text="The measles vaccine causes autism in children."))


def test_one_relevant_passage_is_enough_and_each_has_its_finding(engine: LocalEngine) -> None:
    far = made_evidence("Football scores of tonight and tomorrow.", "E1")
    result = engine.relevance(BRIEF, [far, made_evidence(MEASLES, "E2")])
    assert result.status is GateStatus.PASS
    assert [(finding.evidence_id, finding.ok) for finding in result.findings] == [("E1", False), ("E2", True)]
    assert result.threshold == MiniLMEmbedder.thresholds.relevant


def test_evidence_about_something_else_fails(engine: LocalEngine) -> None:
    result = engine.relevance(BRIEF, [made_evidence("Football scores of tonight and tomorrow.")])
    assert result.status is GateStatus.FAIL


def test_satire_that_does_not_say_so_in_the_passage_is_not_relevant(engine: LocalEngine) -> None:
    item = made_evidence("The measles vaccine causes autism in children.", publisher="Soggy Gazette, a satirical paper")
    result = engine.relevance(BRIEF, [item])
    assert result.status is GateStatus.FAIL
    assert "satire" in result.findings[0].message


def test_relevance_is_not_run_without_evidence_or_words(engine: LocalEngine) -> None:
    for result in (engine.relevance(BRIEF, []), engine.relevance(brief_of(Post(text="😀")), [made_evidence(MEASLES)])):
        assert result.status is GateStatus.NOT_RUN
        assert result.score is None


@pytest.mark.model
def test_the_real_model_tells_relevant_from_other_health_pages() -> None:
    engine = LocalEngine(minilm())
    assert engine.relevance(BRIEF, [made_evidence(MEASLES)]).status is GateStatus.PASS
    assert engine.relevance(BRIEF, [made_evidence(WATER)]).status is GateStatus.FAIL


@pytest.mark.parametrize(
    ("score", "told"),
    [
        (0.551, "0.55 of the 0.82 needed"),
        (0.8171, "0.817 of the 0.820 needed"),
        (0.81962, "0.8196 of the 0.8200 needed"),
        (0.82, "0.82 of the 0.82 needed"),
    ],
)
def test_a_score_and_what_is_needed_are_told_apart(score: float, told: str) -> None:
    assert of_needed(score, 0.82) == told


def test_that_no_passage_seems_to_be_about_the_claim_is_said_where_all_are_far_and_none_is_a_persons_own() -> None:
    def far(number: int, similarity: float, **source: object) -> Evidence:
        item = make_evidence(number)
        passage = item.passage.replace(similarity=similarity)
        return item.replace(passage=passage, source=item.source.replace(**source))

    post = Post(text="This drink makes you ill!")
    assert nothing_relevant(post, [far(1, 0.2), far(2, 0.3)], 0.42)
    assert not nothing_relevant(post, [far(1, 0.2), far(2, 0.5)], 0.42)
    assert not nothing_relevant(post, [], 0.42)
    assert not nothing_relevant(post, [far(1, 0.2), far(2, 0.0, id=f"{BY_HAND}1")], 0.42)
    assert not nothing_relevant(post, [far(1, 0.2, language="de")], 0.42), "a cosine across languages says nothing"
    assert weak_sources(post, [far(1, 0.29), far(2, 0.5), far(3, 0.4)], 0.42) == {"E1"}
    assert weak_sources(post, [far(1, 0.29), far(2, 0.4)], 0.42) == {"E1", "E2"}, "where all are weak, that is said"
    assert weak_sources(post, [far(1, 0.2, language="de"), far(2, 0.5)], 0.42) == set()
    assert weak_sources(post, [far(1, 0.5), far(2, 0.0, id=f"{BY_HAND}1")], 0.42) == set()
