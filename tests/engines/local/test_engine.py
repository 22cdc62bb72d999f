"""The engine as a whole: its promises hold for any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import GateStatus, Hit, Post
from crowdnotes.engines import Brief, Engine
from crowdnotes.engines.local import LocalEngine
from tests.engines.local.made import AWKWARD_TEXTS, MEASLES, made_evidence
from tests.fakes import TODAY, HashingEmbedder, brief_of


def _through_all_steps(engine: Engine, post_text: str, note: str, passage: str) -> None:
    post = Post(text=post_text)
    evidence = [made_evidence(passage)]
    plan = engine.plan(post, 5, TODAY)
    brief = Brief(post, TODAY, plan.claims)
    for claim in plan.claims:
        assert post_text[claim.span.start : claim.span.end] == claim.text
    queries = engine.queries(brief, 5)
    assert list(plan.queries) == queries
    assert len(queries) <= 5
    assert all(query.text.strip() and query.purpose for query in queries)
    engine.rank(brief, [Hit(provider="p", title=passage[:50], snippet=passage[:200], query="q")], [], 2)
    written = engine.write(brief, evidence, 250, 3)
    assert written.abstained
    assert not written.candidates
    for quotation in written.quotations:
        assert passage[quotation.span.start : quotation.span.end].strip()
    support = engine.support(note, evidence)
    for sentence in support:
        assert 0 <= sentence.span.start < sentence.span.end <= len(note)
        assert 0.0 <= sentence.score <= 1.0
        assert all(0 <= span.start <= span.end <= len(note) for span in sentence.doubted)
        if sentence.carrier is not None:
            assert sentence.carrier.end <= len(passage)
    for result in (
        engine.relevance(brief, evidence),
        engine.correctness(note, evidence, support),
        engine.helpfulness(post, note),
    ):
        assert result.reason
        assert (result.score is None) == (result.status is GateStatus.NOT_RUN)
        if result.score is not None:
            assert 0.0 <= result.score <= 1.0
    judged = [result.principle for result in engine.principles(post, note)]  # what it did not check is left out
    assert len(judged) == len(set(judged)) <= 5


@pytest.mark.parametrize("text", AWKWARD_TEXTS, ids=range(len(AWKWARD_TEXTS)))
def test_no_text_breaks_a_step_as_post_note_or_passage(engine: LocalEngine, text: str) -> None:
    _through_all_steps(engine, text, "Vaccines do not cause cancer.", MEASLES)
    _through_all_steps(engine, "Vaccines cause cancer", text, MEASLES)
    _through_all_steps(engine, "Vaccines cause cancer", "Vaccines do not cause cancer.", text)


@given(post=st.text(max_size=200), note=st.text(max_size=200), passage=st.text(max_size=300))
def test_any_text_goes_through_every_step(post: str, note: str, passage: str) -> None:
    _through_all_steps(LocalEngine(HashingEmbedder()), post, note, passage)


def test_the_same_input_gives_the_same_answer(engine: LocalEngine) -> None:
    post = Post(text="The measles vaccine causes autism in 38% of children.")
    evidence = [made_evidence(MEASLES)]
    other = LocalEngine(HashingEmbedder())
    brief = brief_of(post)
    assert engine.write(brief, evidence, 250, 3) == other.write(brief, evidence, 250, 3)
    assert engine.plan(post, 5, TODAY) == other.plan(post, 5, TODAY)
    assert engine.support("The measles vaccine causes autism.", evidence) == other.support(
        "The measles vaccine causes autism.", evidence
    )


def test_it_says_that_no_language_model_is_at_work(engine: LocalEngine) -> None:
    assert engine.name == "local"
    assert engine.uses_language_model is False
