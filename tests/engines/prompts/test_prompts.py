"""Every prompt has its version, its form and the rules for data; the data never stands in it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from crowdnotes.engines import prompts
from crowdnotes.engines.base import EngineStep
from crowdnotes.engines.llm import self_test
from crowdnotes.engines.llm.engine import _PROMPTS_BY_STEP
from crowdnotes.engines.llm.evidence_tasks import CorrectnessAnswer, FoundInPassage, SettleAnswer
from crowdnotes.engines.llm.helpfulness import BrokenPrinciple, WordsAnswer
from crowdnotes.engines.llm.parsing import Answer
from crowdnotes.engines.llm.request import schema_of
from crowdnotes.engines.llm.search_tasks import ClaimsAnswer, ImageAnswer, QueriesAnswer, RankingAnswer
from crowdnotes.engines.llm.supernote_tasks import (
    CandidatesAnswer,
    RepliesAnswer,
    ReplyAnswer,
    ToneAnswer,
    VerdictAnswer,
)
from crowdnotes.engines.llm.writing_tasks import ComparisonAnswer, Grade, RevisionAnswer, SourcesAnswer, WritingAnswer
from crowdnotes.engines.prompts import load_prompt, version_of

NAMES = sorted(
    {path.stem for path in Path(prompts.__file__).parent.glob("*.md")}
    - set(prompts._SHARED_PARTS)
    - set(self_test.PROMPTS)
)
FORMS: dict[str, type[Answer]] = {
    "claims": ClaimsAnswer,
    "queries": QueriesAnswer,
    "ranking": RankingAnswer,
    "settle": SettleAnswer,
    "writing": WritingAnswer,
    "revision": RevisionAnswer,
    "correctness": CorrectnessAnswer,
    "words": WordsAnswer,
    "image": ImageAnswer,
    "comparison": ComparisonAnswer,
    "source_comparison": SourcesAnswer,
    "supernote": CandidatesAnswer,
    "supernote_judge": VerdictAnswer,
    "suggestions": RepliesAnswer,
    "tone": ToneAnswer,
}
OF_STUDIES = {"comparison", "source_comparison"}
PARTS = {"ranking_searches", "settle_searches", "revision_mending"}  # of another prompt


def test_every_prompt_belongs_to_a_step_and_every_step_has_its_prompts() -> None:
    used = {name for names in _PROMPTS_BY_STEP.values() for name in names}
    assert used == set(NAMES) - OF_STUDIES
    assert set(_PROMPTS_BY_STEP) == set(EngineStep)
    assert set(FORMS) == set(NAMES) - {"helpfulness_final"} - PARTS


@pytest.mark.parametrize("name", sorted(FORMS))
def test_the_form_in_the_prompt_is_the_form_that_is_read(name: str) -> None:
    match = re.search(r"^Form: (\{.*\})$", load_prompt(name).words, re.MULTILINE)
    assert match is not None
    example = json.loads(match.group(1))
    assert list(example) == list(FORMS[name].model_fields)
    FORMS[name].model_validate(example)


@pytest.mark.parametrize("name", sorted(set(NAMES) - PARTS))
def test_every_prompt_says_how_to_treat_data(name: str) -> None:
    words = load_prompt(name).words
    assert "<<<DATA code label>>>" in words
    assert "strangers" in words.lower()


def test_the_reason_comes_before_the_verdict_so_that_it_is_thought_of_first() -> None:
    for form, verdict in (
        (FoundInPassage, "answer"),
        (CorrectnessAnswer, "faithful"),
        (BrokenPrinciple, "name"),
        (WordsAnswer, "helpful"),
        (Grade, "grade"),
        (ComparisonAnswer, "overall"),
        (ReplyAnswer, "answer"),
    ):
        assert list(form.model_fields)[-1] == verdict
    fields = list(WordsAnswer.model_fields)
    assert fields.index("broken") < fields.index("kept")


def test_the_rules_of_notes_are_in_each_prompt_that_writes_one() -> None:
    assert {name for name in NAMES if "How a note is written" in load_prompt(name).words} == {"writing"}
    # What is revised follows them already.
    assert "The final note is one sentence" in load_prompt("revision").words
    supernote = {name for name in NAMES if "How a supernote is written" in load_prompt(name).words}
    assert supernote == {"supernote", "supernote_judge", "suggestions"}


def test_versions_tell_prompts_apart_and_follow_their_words() -> None:
    versions = {load_prompt(name).version for name in NAMES}
    assert len(versions) == len(NAMES)
    assert version_of("writing") != version_of("writing", "revision")
    assert all(re.fullmatch(r"[0-9a-f]{12}", version) for version in versions)


def test_a_missing_value_is_an_error_and_not_a_gap() -> None:
    with pytest.raises(KeyError):
        load_prompt("writing").filled({})


def test_strict_schemas_require_every_field_and_allow_no_other() -> None:
    schema = schema_of(CorrectnessAnswer)
    lists = [schema["properties"][name]["items"] for name in ("carried", "distortions")]
    for part in (schema, *lists):
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
    assert not any(word in json.dumps(schema) for word in ("default", "$ref", "$defs"))
