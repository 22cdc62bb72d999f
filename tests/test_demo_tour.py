"""The demonstration walks from the post to an approved note with recorded answers, without a model and a network.

So do the other examples, as far as each leads.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from crowdnotes.cases import actions, intake
from crowdnotes.cases.export import is_demonstration, to_markdown
from crowdnotes.demo_tour import (
    TourAction,
    TourPlace,
    advance,
    before_eyes,
    begin,
    choices,
    next_action,
    practise,
    presented,
)
from crowdnotes.domain import Case, CaseStatus, GateStatus, Mode, StageName, Verdict
from crowdnotes.engines.choice import RECORDED
from crowdnotes.engines.llm.recorded import read_answers
from crowdnotes.engines.prompts import load_prompt
from crowdnotes.errors import WorkflowError
from crowdnotes.evidence.demo_pages import DemonstrationFetcher, DemonstrationLinks, Example, examples
from crowdnotes.evidence.fetching import Page, no_check
from crowdnotes.settings import Settings
from crowdnotes.workspace import SharedWorkspace, Workspace, open_workspace
from tests.fakes import ScriptedEngine
from tests.shared import minilm

pytestmark = pytest.mark.model
RECORD_AGAIN = "Record the answers of the demonstration again: docs/presenting.md tells how."


class _NoNetwork:
    def fetch(self, url: str, check: object = no_check) -> Page:
        raise AssertionError(f"{url} was fetched")

    def status(self, url: str, seconds: float, check: object) -> int:
        raise AssertionError(f"{url} was asked")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("demonstration"))
    fetcher, links = DemonstrationFetcher(_NoNetwork()), DemonstrationLinks(_NoNetwork())
    opened = open_workspace(settings, embedder=minilm(), engine=ScriptedEngine(), fetcher=fetcher, links=links)
    with opened:
        yield opened


@pytest.fixture(scope="module")
def shown(workspace: Workspace) -> dict[TourPlace, Case]:
    """The case as it is at each place."""
    places: dict[TourPlace, Case] = {}
    case, place = begin(workspace, presented()), TourPlace.POST
    while next_action(case, place) is not TourAction.END:
        place, job = advance(workspace, case, place)
        assert job is None or not any(step.error for step in workspace.runner.wait(job.id).steps)
        case = places[place] = workspace.cases.get(case.id)
    return places


@pytest.mark.parametrize(("prompt", "version"), sorted({(item.prompt, item.version) for item in read_answers()}))
def test_no_prompt_has_left_its_recorded_answers_behind(prompt: str, version: str) -> None:
    assert version == load_prompt(prompt).version, RECORD_AGAIN


# What each comes to, with all of its pages in use: the pages that its note links to, or why there is none.
OUTCOMES: dict[str, tuple[int, ...] | str] = {
    "reboiled-kettle": (0, 1),
    "food-poisoning-tripled": (0, 1),
    "raindrop-tax": (0, 2),
    "beach-flags": "No note: Not needed: The lifeguards' own page gives the same days and hours",
    "filter-headaches": "No note: Not enough evidence: No results of samples since the change are published",
}


# A note, and no note for either reason. The others show no more, and come with the tests that take long.
QUICK = {"food-poisoning-tripled", "beach-flags", "filter-headaches"}


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(item, id=item.id, marks=() if item.id in QUICK else pytest.mark.deep)
        for item in examples()
        if item != presented()
    ],
)
def test_each_example_has_recorded_answers_up_to_a_scored_note_or_none(workspace: Workspace, example: Example) -> None:
    _, case = islice(practise(workspace, example, choices(example)[0]), 2)
    assert case.used.calls == 0, RECORD_AGAIN
    assert {stage.engine for stage in case.stages} == {"llm:recorded answers"}
    outcome = OUTCOMES[example.id]
    if isinstance(outcome, str):
        told = next(stage.summary for stage in case.stages if stage.name is StageName.DRAFT)
        assert told.startswith(outcome)
        assert case.draft is None
        return
    assert case.draft
    assert case.assessment
    assert len(case.candidates) == 4
    assert {result.status for result in case.assessment.gates} == {GateStatus.PASS}
    assert {result.status for result in case.assessment.principles} == {GateStatus.PASS}
    assert set(case.draft.text.split()) & set(example.urls) == {example.urls[place] for place in outcome}
    assert case.jury[-1].text_sha256 == case.draft.sha256


@pytest.mark.deep
def test_a_note_from_one_page_has_recorded_scores_over_more_pages_too(workspace: Workspace) -> None:
    council = examples()[2].urls[2]
    *_, narrow, wide = islice(practise(workspace, examples()[2], [council]), 3)
    assert [len(case.used_evidence) for case in (narrow, wide)] == [1, 3]
    assert narrow.draft
    assert narrow.draft.text.split()[-1] == council
    for case in (narrow, wide):
        assert case.assessment
        assert {result.status for result in case.assessment.gates} == {GateStatus.PASS}
    assert wide.used.calls == 0, RECORD_AGAIN


def test_each_recorded_answer_is_of_use(shown: dict[TourPlace, Case]) -> None:
    assert shown[TourPlace.DECISION].used.calls == 0, RECORD_AGAIN
    stages = {stage.name: stage.engine for stage in shown[TourPlace.DECISION].stages}
    assert set(stages.values()) == {"llm:recorded answers"}


def test_a_tempting_note_fails_for_every_and_prove_and_the_mended_one_passes(shown: dict[TourPlace, Case]) -> None:
    tempting, mended = shown[TourPlace.TEMPTING], shown[TourPlace.MENDED]
    assert tempting.draft
    assert tempting.assessment
    [failed] = [result for result in tempting.assessment.gates if result.status is GateStatus.FAIL]
    pointed = [tempting.draft.text[found.span.start : found.span.end] for found in failed.findings if found.span]
    assert failed.gate.value == "correctness"
    assert all(word in " ".join(pointed) for word in ("prove", "every"))
    assert mended.assessment
    assert mended.assessment_is_current
    assert {result.status for result in mended.assessment.gates} == {GateStatus.PASS}


def test_the_jury_prefers_the_mended_note(shown: dict[TourPlace, Case]) -> None:
    tempting, mended = (shown[place].jury[-1] for place in (TourPlace.TEMPTING, TourPlace.MENDED))
    assert mended.note_intercept > tempting.note_intercept + 0.05
    script = " ".join((Path(__file__).parents[1] / "docs" / "presenting.md").read_text(encoding="utf-8").split())
    assert f"about {mended.shown_of_100} in 100 notes like it, and {tempting.shown_of_100} like the other" in script
    assert f"scores {mended.note_intercept:.2f} of the {mended.helpful_line:.2f} needed" in script


def test_the_presenter_opened_and_judged_each_passage_and_approved(shown: dict[TourPlace, Case]) -> None:
    case = shown[TourPlace.DECISION]
    assert case.status is CaseStatus.DECIDED
    assert {(item.reviews[-1].reader.name, item.verdict) for item in case.evidence} == {("you", Verdict.USE)}
    assert all("demonstration" in item.reviews[-1].reason for item in case.evidence)
    assert case.decision
    assert (case.decision.by, case.decision.overrides) == ("you", ())
    assert case.decision.reason == case.evidence[0].reviews[-1].reason, "the record says throughout who decided"
    assert is_demonstration(case)
    told = to_markdown(case)
    assert "do not post it" in told
    assert "recorded answers" in told


@pytest.mark.deep
def test_other_words_have_no_recorded_answer_and_are_not_scored(
    workspace: Workspace, shown: dict[TourPlace, Case]
) -> None:
    cases, case = workspace.cases, shown[TourPlace.DECISION]
    cases.apply(case.id, actions.reopen)
    assert case.draft
    cases.apply(case.id, actions.edit_draft, "The lake is fine.", based_on=case.draft.sha256)
    workspace.runner.wait(workspace.start(case.id, "assess").id)
    assessment = cases.get(case.id).assessment
    assert assessment
    assert (assessment.gates[1].status, assessment.gates[1].reason) == (
        GateStatus.NOT_RUN,
        "Could not be judged: There is no recorded answer for this text and these sources: choose an AI to go on.",
    )
    actions.use_own_engine(cases, case.id)
    workspace.runner.wait(workspace.start(case.id, "assess").id)
    assessment = cases.get(case.id).assessment
    assert assessment
    assert assessment.engine == ScriptedEngine().name


def test_other_cases_keep_the_engine_that_is_in_use(workspace: Workspace, shown: dict[TourPlace, Case]) -> None:
    urls = shown[TourPlace.SOURCES].urls
    own = intake.create_case(workspace.cases, "Lake Verra is green.", mode=Mode.AUGMENTATION, urls=urls)
    workspace.runner.wait(workspace.start(own.id, "gather").id)
    assert {stage.engine for stage in workspace.cases.get(own.id).stages} == {ScriptedEngine().name}
    assert not any(choice == RECORDED for choice in workspace.engine_choices([]))
    assert SharedWorkspace(workspace).for_person(None, recorded=True).engine.name == "llm:recorded answers"


def test_next_says_what_it_does_and_shows_a_passage_before_it_is_used(workspace: Workspace) -> None:
    case, place = begin(workspace, presented()), TourPlace.POST
    assert (next_action(case, place), before_eyes(case)) == (TourAction.FIND, [])
    place, job = advance(workspace, case, place)
    assert job
    workspace.runner.wait(job.id)
    acts = []
    for _ in range(2):
        case = workspace.cases.get(case.id)
        acts.append(next_action(case, place))
        place, _ = advance(workspace, case, place)
    case = workspace.cases.get(case.id)
    assert acts == [TourAction.OPEN, TourAction.USE_AND_OPEN]
    assert (place, next_action(case, place)) == (TourPlace.READING, TourAction.USE_AND_WRITE)
    assert [item.verdict for item in case.evidence] == [Verdict.USE, None]
    assert before_eyes(case) == [case.evidence[1]]
    assert next_action(case, TourPlace.POST) is TourAction.SHOW  # what was done is not done again


@pytest.mark.parametrize("place", [TourPlace.MENDED, TourPlace.JURY, TourPlace.DECISION])
def test_a_note_that_was_changed_is_put_back_before_the_next_step(
    workspace: Workspace, shown: dict[TourPlace, Case], place: TourPlace
) -> None:
    cases, case = workspace.cases, shown[TourPlace.DECISION]
    if cases.get(case.id).decision:
        cases.apply(case.id, actions.reopen)
    case = cases.get(case.id)
    assert case.draft
    cases.apply(case.id, actions.edit_draft, "The lake is fine.", based_on=case.draft.sha256)
    assert next_action(cases.get(case.id), place) is TourAction.MEND
    then, job = advance(workspace, cases.get(case.id), place)
    assert job
    assert then is place
    workspace.runner.wait(job.id)
    mended = cases.get(case.id)
    assert mended.assessment
    assert {result.status for result in mended.assessment.gates} == {GateStatus.PASS}
    assert next_action(mended, place) is not TourAction.MEND


def test_a_case_that_is_no_demonstration_is_not_walked(workspace: Workspace) -> None:
    own = intake.create_case(workspace.cases, "The moon is cheese.", mode=Mode.AUGMENTATION)
    with pytest.raises(WorkflowError, match="not a demonstration"):
        advance(workspace, own, TourPlace.NOTES)
