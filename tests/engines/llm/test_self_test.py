"""Twenty questions tell a model that can help from one that cannot; a test that broke off has no result."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from crowdnotes.engines.llm.self_test import (
    PASSAGES,
    QUESTIONS,
    Distorted,
    Ids,
    Length,
    Quote,
    SelfTest,
    last_self_test,
    run_self_test,
)
from crowdnotes.errors import ConfigurationError, JobCancelled, ModelServerError
from crowdnotes.settings_sections import GateSettings, LlmSettings
from tests.fakes import HashingEmbedder
from tests.llm_server import Body, LLMServer, Say, data_of

RIGHT = {
    "250": "In 9 of 412 samples from kitchen taps in Lowmere lead was above the limit.",
    "180": "In mice a very high dose came with more liver tumours; no study in people was made.",
    "120": "Filters with the mark LX-4 took out 70 to 92 percent of the lead.",
    "280": "In Lowmere 9 of 412 water samples held too much lead; filters with the mark LX-4 lower it.",
}


def good(body: Body) -> str:
    """The answers of a model that can do all of it."""
    data, said = data_of(body), str(body["messages"])
    note = next((text for label, text in data.items() if label.startswith("note")), None)
    if note is not None:
        return json.dumps(_verdict(note))
    item = next(item for item in QUESTIONS if not isinstance(item, Distorted) and item.task in said)
    if isinstance(item, Ids):
        return json.dumps({"ids": sorted(item.expected)})
    if isinstance(item, Quote):
        text = PASSAGES.get(item.evidence_id, "")
        return json.dumps({"quote": next((part for part in text.split(". ") if item.expected in part), "")})
    return json.dumps({"text": RIGHT[str(item.most)]})


def _verdict(note: str) -> Body:
    item = next(item for item in QUESTIONS if isinstance(item, Distorted) and item.note.split(". ")[0][:40] in note)
    words = [part.rstrip(".") for part in PASSAGES[item.evidence_id].split(". ")]
    carried = [
        {"sentence": number, "evidence_id": item.evidence_id, "quote": part}
        for number in (1, 2)
        for part in (words[2] + ". " + words[3], words[1], words[3], words[4] if len(words) > 4 else "")
    ]
    fault = {"kind": "unsupported", "note_words": item.note[:20], "explanation": "No."}
    told = {"carried": carried, "distortions": [] if item.is_faithful else [fault], "reason": "See."}
    return {**told, "faithful": "yes" if item.is_faithful else "no"}


def weak(body: Body) -> str:
    """The answers of a model that says yes to everything and copies loosely."""
    if "self" not in str(body) and any(label.startswith("note") for label in data_of(body)):
        return json.dumps({"carried": [], "reason": "Fine.", "faithful": "yes"})
    return json.dumps({"ids": ["E1", "E2"], "quote": "lead was quite high", "text": "word " * 90})


def _tested(answer: Callable[[Body], str | Say], folder: Path, **settings: object) -> SelfTest:
    with LLMServer(answer).running() as server:
        llm = LlmSettings.model_validate({"base_url": server.base_url, "model": "small", "max_retries": 0} | settings)
        found = run_self_test(llm, GateSettings(), HashingEmbedder(), folder)
        assert last_self_test(llm, folder) == found
        assert last_self_test(llm.replace(model="other"), folder) is None
    return found


def test_a_good_model_answers_all_twenty(tmp_path: Path) -> None:
    found = _tested(good, tmp_path)
    assert found.misses == ()
    assert (found.as_text, found.is_weak) == ("20 of 20", False)


def test_a_weak_one_is_named_with_what_it_fails_at(tmp_path: Path) -> None:
    found = _tested(weak, tmp_path)
    assert found.is_weak
    assert len(found.fails_at) == 4
    assert any("characters" in miss.fault for miss in found.misses)


def test_answers_without_a_form_are_wrong_answers_and_not_a_failure_of_the_test(tmp_path: Path) -> None:
    found = _tested(lambda _: "I would rather talk.", tmp_path)
    assert found.right == 0


def test_a_test_that_breaks_off_has_no_result(tmp_path: Path) -> None:
    with pytest.raises(ModelServerError, match="status 500"):
        _tested(lambda _: Say("no", status=500), tmp_path)
    assert list(tmp_path.glob("self_tests*")) == []
    with pytest.raises(ConfigurationError):
        run_self_test(LlmSettings(), GateSettings(), HashingEmbedder(), tmp_path)


def test_it_can_be_cancelled_and_tells_how_far_it_is(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def check() -> None:
        if seen:
            raise JobCancelled("Stopped.")

    with LLMServer(good).running() as server:
        llm = LlmSettings(base_url=server.base_url, model="small", at_once=1)
        with pytest.raises(JobCancelled):
            run_self_test(
                llm,
                GateSettings(),
                HashingEmbedder(),
                tmp_path,
                check=check,
                report=lambda done, of: seen.append((done, of)),
            )
        assert seen[0] == (1, 20)
        assert len(server.requests) < 20


def test_a_damaged_file_of_results_costs_only_itself(tmp_path: Path) -> None:
    (tmp_path / "self_tests.json").write_text('[{"server": 1}, 2')
    assert _tested(good, tmp_path).right == 20


def test_the_questions_are_twenty_and_those_about_the_same_passages_begin_with_the_same_words(tmp_path: Path) -> None:
    assert len(QUESTIONS) == 20
    assert all(len(RIGHT[str(item.most)]) <= item.most for item in QUESTIONS if isinstance(item, Length))
    with LLMServer(good).running() as server:
        llm = LlmSettings(base_url=server.base_url, model="small")
        run_self_test(llm, GateSettings(), HashingEmbedder(), tmp_path)
        own = [str(body["messages"]) for body in server.requests if "The task:" in str(body["messages"])]
        begins = {words.split("<<<DATA")[0] for words in own}
    assert len(own) == 13
    assert len(begins) == 1
