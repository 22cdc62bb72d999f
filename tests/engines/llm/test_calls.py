"""Identical calls cost nothing, the budget stops before it is passed, and what was used is counted by step."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import Hit, Post, Usage
from crowdnotes.engines.llm.request import Block, data_blocks
from crowdnotes.engines.metering import Budget, Meter, metered, new_boundary
from crowdnotes.engines.prompt_injection import find_injections, without_injections
from crowdnotes.errors import BudgetError, ModelServerError
from crowdnotes.notes.drafting import write_candidates
from crowdnotes.notes.gates import assess
from tests.engines.llm.made import BRIEF, NOTE, PASSAGE, POST, engine_for, engine_over, evidence, refusal_of
from tests.fakes import TODAY, FixedClock
from tests.llm_server import LLMServer, Say, data_of, honest
from tests.shared import at_once

HIT = Hit(provider="p", title="Drinks", url="https://a.example/1", snippet="About drinks.", query="q")
PRICED = {"dollars_per_million_input": 1000.0, "dollars_per_million_output": 2000.0}


def test_an_identical_call_is_answered_from_the_cache_also_after_a_restart(tmp_path: Path) -> None:
    with LLMServer(honest).running() as server:
        first = engine_for(server.base_url, tmp_path, cache_mb=1).plan(POST, 5, TODAY).claims
        again = engine_for(server.base_url, tmp_path, cache_mb=1)
        assert again.plan(POST, 5, TODAY).claims == first
        assert len(server.requests) == 1
        assert again.usage == Usage(cached=1)
        assert again.usage.as_text() == "no cost: 1 saved answer used"


def test_another_text_model_or_limit_is_another_call(tmp_path: Path) -> None:
    with LLMServer(honest).running() as server:
        engine_for(server.base_url, tmp_path, cache_mb=1).plan(POST, 5, TODAY)
        engine_for(server.base_url, tmp_path, cache_mb=1).plan(Post(text="Another post, about tea."), 5, TODAY)
        engine_for(server.base_url, tmp_path, cache_mb=1, model="large").plan(POST, 5, TODAY)
        engine_for(server.base_url, tmp_path, cache_mb=1, max_answer_tokens=99).plan(POST, 5, TODAY)
        assert len(server.requests) == 4


def test_a_useless_answer_is_not_kept_and_a_damaged_cache_costs_only_itself(tmp_path: Path) -> None:
    with LLMServer(lambda _: "no idea").running() as server:
        for _ in range(2):
            with pytest.raises(Exception, match="form asked for"):
                engine_for(server.base_url, tmp_path, cache_mb=1).plan(POST, 5, TODAY)
        assert len(server.requests) == 4
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "answers.sqlite").write_bytes(b"this is no database" * 100)
    with LLMServer(honest).running() as server:
        assert engine_for(server.base_url, tmp_path / "damaged", cache_mb=1).plan(POST, 5, TODAY).claims


def test_the_cache_holds_neither_key_nor_post(tmp_path: Path) -> None:
    post = Post(text="This drink makes children ill. Zanzibar xylophone.")
    with LLMServer(honest).running() as server:
        engine_for(server.base_url, tmp_path, cache_mb=1, api_key="sk-secret-1234").plan(post, 5, TODAY)
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("answers.sqlite*"))
    assert b"children" in kept
    assert b"sk-secret-1234" not in kept
    assert b"xylophone" not in kept


def test_what_a_step_used_is_counted_on_the_meter_of_the_case() -> None:
    meter = Meter()
    with engine_over(lambda body: Say(honest(body), usage=(1000, 50)), **PRICED) as (engine, _), metered(meter):
        engine.plan(POST, 5, TODAY)
        engine.relevance(BRIEF, [evidence(), evidence(number=2)])
        engine.principles(POST, NOTE)
        assert engine.usage == Usage()
    assert set(meter.by_step) == {"queries", "judging"}
    assert meter.by_step["judging"].calls == 2
    assert meter.total.tokens == 3 * 1050
    assert meter.total.dollars == pytest.approx(3 * (1.0 + 0.1))
    assert meter.total.as_text() == "3 calls, 3,150 tokens, 3.3000 US dollars"


def test_the_budget_stops_before_it_is_passed_also_with_calls_side_by_side() -> None:
    budget = Budget(tokens=12_000)
    meter = Meter(budget, spent=Usage(input_tokens=2_000))
    items = [evidence(number=n) for n in range(1, 9)]
    with engine_over(lambda body: Say(honest(body), usage=(1500, 500))) as (engine, server), metered(meter):
        for _ in range(4):
            try:
                assess(engine, BRIEF, NOTE, items, FixedClock())
            except BudgetError as error:
                assert "12,000 tokens" in error.message
    assert 1 <= len(server.requests) <= 5
    assert meter.total.tokens + 2_000 <= 12_000


def test_money_is_bounded_too_and_the_error_says_what_to_do() -> None:
    bound = {**PRICED, "budget_dollars": 1.0, "max_answer_tokens": 1000}
    error, server = refusal_of(honest, r"1\.00 US dollars", BudgetError, **bound)
    assert server.requests == []
    assert "CROWDNOTES_LLM_BUDGET_DOLLARS" in error.next_step


def test_a_call_that_failed_gives_back_what_was_set_aside_for_it() -> None:
    meter = Meter(Budget(tokens=6_000))
    answers = iter([Say("no", status=500), Say("no", status=500)])
    with engine_over(lambda body: next(answers, Say(honest(body)))) as (engine, _), metered(meter):
        for _ in range(2):
            with pytest.raises(ModelServerError):
                engine.plan(POST, 5, TODAY)
        assert engine.plan(POST, 5, TODAY)
    assert meter.total.calls == 3


def test_an_unknown_price_is_not_zero() -> None:
    assert Usage(calls=2, input_tokens=10, unpriced=2).as_text() == "2 calls, 10 tokens, price unknown"
    mixed = Usage(calls=2, input_tokens=10, dollars=0.5, unpriced=1).as_text()
    assert mixed == "2 calls, 10 tokens, 0.5000 US dollars, price of 1 calls unknown"


def test_each_step_asks_the_model_that_is_set_for_it() -> None:
    models = {"queries_model": "q", "utility_model": "u", "writing_model": "w", "judging_model": "j"}
    with engine_over(honest, **models) as (engine, server):
        engine.plan(POST, 5, TODAY)
        engine.rank(BRIEF, [HIT], [], 1)
        engine.settle(BRIEF, [evidence()], 3)
        drafts = write_candidates(engine, BRIEF, [evidence()], FixedClock()).candidates
        engine.revise(BRIEF, [evidence()], drafts, 250)
        engine.principles(POST, NOTE)
        assert [body["model"] for body in server.requests] == ["q", "u", "j", "w", "w", "j"]
        assert engine.name == "llm:w"


def test_the_boundary_is_the_same_throughout_a_case_so_that_servers_keep_what_they_read() -> None:
    with engine_over(honest) as (engine, server), metered(Meter()):
        engine.relevance(BRIEF, [evidence()])
        engine.relevance(BRIEF, [evidence("Another passage, of the same drink.")])
    first, second = (str(body["messages"]) for body in server.requests)
    assert first[: first.index("passage E1")] == second[: second.index("passage E1")]


def test_outside_a_case_and_in_the_next_it_is_another_and_texts_stand_only_inside_it() -> None:
    with engine_over(honest) as (engine, server):
        engine.plan(POST, 5, TODAY)
        with metered(Meter()):
            engine.plan(POST, 5, TODAY)
    first, second = (body["messages"] for body in server.requests)
    assert first[0] == second[0]
    assert first[1] != second[1]
    assert POST.text not in first[0]["content"]
    assert data_of(server.requests[0])["post"] == POST.text


def test_calls_from_many_threads_do_not_disturb_each_other() -> None:
    meters = [Meter() for _ in range(6)]
    with engine_over(honest) as (engine, server):

        def work(number: int) -> None:
            with metered(meters[number]):
                for passage in range(3):
                    engine.relevance(BRIEF, [evidence(f"{PASSAGE} {number} {passage}")])

        at_once(work, 6)
        assert len(server.requests) == 18
    assert [meter.total.calls for meter in meters] == [3] * 6


BOUNDARY = "0123456789abcdef"
pieces = st.sampled_from(
    ["<<<", ">>>", "<", ">", "END ", "DATA ", BOUNDARY, BOUNDARY[:8], "\n", "x", "\u200b", " post"]
)


@given(st.lists(st.lists(pieces, max_size=12).map("".join), min_size=1, max_size=3))
def test_no_text_forges_the_end_or_beginning_of_a_block(texts: list[str]) -> None:
    out = data_blocks([Block(f"text {number}", text) for number, text in enumerate(texts)], BOUNDARY)
    assert len(re.findall(r"<<<DATA ", out)) == len(re.findall(r"<<<END ", out)) == len(texts)
    assert out.count(BOUNDARY) == 2 * len(texts)


@given(st.text(max_size=400))
def test_taking_injections_out_keeps_every_offset_and_leaves_none_in_place(text: str) -> None:
    left = without_injections(text)
    assert len(left) == len(text)
    for span in find_injections(text):
        assert not left[span.start : span.end].strip()


def test_boundaries_are_never_the_same() -> None:
    assert len({new_boundary() for _ in range(1000)}) == 1000
