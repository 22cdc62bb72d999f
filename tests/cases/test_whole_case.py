"""A case from post to approval by the calls that pages make; killed in each stage; twenty at once."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import crowdnotes
from crowdnotes.cases import approval, intake
from crowdnotes.domain import PROGRAM, CaseStatus, DecisionKind, FetchOutcome, Mode, StageName, StageOutcome
from crowdnotes.errors import InputError, WorkflowError
from crowdnotes.jobs import JobState, Progress
from crowdnotes.workspace import Workspace
from tests.cases.walk import (
    TOPICS,
    ThinkingEngine,
    TopicEngine,
    draft_and_approve,
    gather,
    new_case,
    only_link,
    post_about,
    run,
    small_workspace,
    use,
)
from tests.shared import PATIENCE

_SESSIONS = 8
_ROOT = Path(crowdnotes.__file__).parents[1]
_GATHERING = [StageName.QUERIES, StageName.SEARCH, StageName.READ, StageName.PASSAGES, StageName.SETTLE]
_OF_A_NOTE = list(StageName)[: list(StageName).index(StageName.LINKS) + 1]  # the others are of a supernote
_OF_A_MODEL = (StageName.SETTLE, StageName.REVISE)


@pytest.mark.parametrize("engine", [TopicEngine(), ThinkingEngine()], ids=["without a model", "with a model"])
def test_a_note_is_made_from_post_to_approval_with_everything_on_record(tmp_path: Path, engine: TopicEngine) -> None:
    with small_workspace(tmp_path, engine=engine) as workspace:
        case = draft_and_approve(workspace, "kettle", "ann")
    assert case.status is CaseStatus.DECIDED
    assert case.draft is not None
    assert "kettle" in case.draft.text
    assert "https://records.example.net/kettle" in case.draft.text
    left_out = () if engine.uses_language_model else _OF_A_MODEL
    assert [stage.name for stage in case.stages] == [name for name in _OF_A_NOTE if name not in left_out]
    assert [draft.text for draft in case.revisions] == [case.draft.text.removeprefix("In short: ")]
    kinds = [event.kind for event in case.events]
    for kind in ("created", "passage opened", "passage judged", "note edited", "tags chosen", "decided"):
        assert kind in kinds


def test_new_sources_keep_the_passages_that_a_person_opened(workspace: Workspace) -> None:
    case = new_case(workspace, "saddle")
    first = gather(workspace, case.id).evidence[0]
    use(workspace, case.id, first.id)
    only_link(workspace, case.id, "http://127.0.0.1:9/refused")
    case = gather(workspace, case.id)
    assert first.id in {item.id for item in case.used_evidence}
    assert len(case.sources) == 2  # the old search's other hits are not read again
    refused = next(source for source in case.sources if source.url == "http://127.0.0.1:9/refused")
    assert refused.outcome is FetchOutcome.REFUSED


def test_sources_chosen_while_the_program_reads_are_not_taken_as_read(workspace: Workspace) -> None:
    case = new_case(workspace, "quarry")
    first, search, *rest = workspace.stages.gather_steps(case.id)

    def search_while_the_person_chooses(progress: Progress) -> StageOutcome:
        ended = search.run(progress)
        only_link(workspace, case.id, "https://a.example.org/")
        return ended

    steps = [first, replace(search, run=search_while_the_person_chooses), *rest]
    workspace.runner.wait(workspace.runner.start(case.id, "gather", steps).id, timeout=PATIENCE)
    stages = {stage.name for stage in workspace.cases.get(case.id).stages}
    assert stages.isdisjoint({StageName.QUERIES, StageName.SEARCH})


def test_another_post_starts_with_no_words_and_new_numbers(workspace: Workspace) -> None:
    case = new_case(workspace, "ribbon")
    old = {item.id for item in gather(workspace, case.id).evidence}
    assert intake.edit_post(workspace.cases, case.id, post_about("velvet")).draft is None
    assert old.isdisjoint({item.id for item in gather(workspace, case.id).evidence})


def test_a_library_that_is_gone_costs_only_its_own_records(workspace: Workspace) -> None:
    case = new_case(workspace, "yeast")
    run(workspace, case.id, "gather", workspace.stages.gather_steps(case.id)[:2])
    workspace.libraries.remove("topics")
    assert {source.outcome for source in gather(workspace, case.id).sources} == {FetchOutcome.UNREADABLE}


def test_pressing_write_again_adds_no_empty_undo(workspace: Workspace) -> None:
    case = new_case(workspace, "pebble")
    gather(workspace, case.id)
    use(workspace, case.id, "E1")
    for _ in range(3):
        run(workspace, case.id, "write", workspace.stages.write_steps(case.id))
    assert workspace.cases.get(case.id).revisions == ()


def test_there_must_be_somewhere_to_look_and_something_to_score(workspace: Workspace) -> None:
    cases = workspace.cases
    nowhere = intake.create_case(cases, "A post.", mode=Mode.AUTOMATION)
    with pytest.raises(InputError, match="Where should we search"):
        workspace.stages.gather_steps(nowhere.id)
    no_links = intake.create_case(cases, "A post.", mode=Mode.AUGMENTATION)
    with pytest.raises(InputError, match="Which source should we read"):
        workspace.stages.gather_steps(no_links.id)
    with pytest.raises(WorkflowError, match="You use no source"):
        workspace.stages.write_steps(no_links.id)
    with pytest.raises(WorkflowError, match="There is no note yet"):
        workspace.stages.assess_steps(no_links.id)


@pytest.mark.deep
def test_sessions_at_once_mix_nothing_up(tmp_path: Path) -> None:
    with small_workspace(tmp_path) as workspace, ThreadPoolExecutor(_SESSIONS) as sessions:
        topics = [TOPICS[number % len(TOPICS)] for number in range(_SESSIONS)]
        authors = [f"author{number}" for number in range(_SESSIONS)]
        cases = list(sessions.map(lambda pair: draft_and_approve(workspace, *pair), zip(topics, authors, strict=True)))
        assert len({case.id for case in cases}) == _SESSIONS
        for case, topic, author in zip(cases, topics, authors, strict=True):
            kept = workspace.cases.get(case.id)
            assert kept.post.text == post_about(topic)
            assert kept.draft is not None
            assert f"/{topic}" in kept.draft.text
            assert {event.by for event in kept.events} == {author, PROGRAM.name}
            assert all((event.by == PROGRAM.name) == event.kind.startswith("stage ") for event in kept.events)


# One program for all stages: it reads its imports once, and a copy of it dies in each.
_DIE = """
import os, signal, sys, traceback
from pathlib import Path

import skops.io  # scoring would import it in each copy anew, and all of scikit-learn with it

from tests.cases.walk import ThinkingEngine, new_case, run, small_workspace, use

def story(folder, doomed):
    workspace = small_workspace(folder, engine=ThinkingEngine())
    stages = workspace.stages
    case = new_case(workspace, "lantern")
    print(case.id, end=" ", flush=True)

    def deadly(steps):
        for step in steps:
            if step.name == doomed:
                object.__setattr__(step, "run", lambda progress: os.kill(os.getpid(), signal.SIGKILL))
        return steps

    run(workspace, case.id, "gather", deadly(stages.gather_steps(case.id)))
    use(workspace, case.id, stages.cases.get(case.id).evidence[0].id)
    run(workspace, case.id, "write", deadly(stages.write_steps(case.id)))
    run(workspace, case.id, "assess", deadly(stages.assess_steps(case.id)))

for doomed in sys.argv[2:]:
    child = os.fork()
    if child == 0:
        try:
            story(Path(sys.argv[1]) / doomed, doomed)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder with a workspace for each stage whose program was killed in it, and the ids of their cases."""
    folder = tmp_path_factory.mktemp("killed")
    stages = [stage.value for stage in _OF_A_NOTE]
    for stage in stages:
        (folder / stage).mkdir()
        small_workspace(folder / stage).close()
    died = subprocess.run(
        [sys.executable, "-c", _DIE, str(folder), *stages],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    ended = [line.split() for line in died.stdout.splitlines()]
    assert [code for _, code in ended] == ["-9"] * len(stages), died.stderr
    return folder, dict(zip(stages, [case_id for case_id, _ in ended], strict=True))


@pytest.mark.deep
def test_killed_in_any_stage_the_case_resumes_with_what_was_finished(killed: tuple[Path, dict[str, str]]) -> None:
    for doomed in _OF_A_NOTE:  # in one test, so that one worker kills for all
        _resumes(killed[0] / doomed.value, killed[1][doomed.value], doomed)


def _resumes(folder: Path, case_id: str, doomed: StageName) -> None:
    with small_workspace(folder, engine=ThinkingEngine()) as workspace:
        cases = workspace.cases
        finished = _OF_A_NOTE[: _OF_A_NOTE.index(doomed)]
        assert [stage.name for stage in cases.get(case_id).stages] == finished
        job = workspace.runner.latest(case_id)
        assert job is not None
        assert job.state is JobState.INTERRUPTED
        if doomed in _GATHERING:
            resumed = run(workspace, case_id, "gather", workspace.stages.gather_steps(case_id))
            kept = [step.name for step in resumed.steps if step.state.value == "kept"]
            assert kept[: len(finished)] == [stage.value for stage in finished]
            assert all(name.endswith(" again") for name in kept[len(finished) :])  # there was no need of them
            assert cases.get(case_id).evidence
        else:
            assert [item.id for item in cases.get(case_id).used_evidence] == ["E1"]
            if doomed in (StageName.DRAFT, StageName.REVISE):
                run(workspace, case_id, "write", workspace.stages.write_steps(case_id))
            run(workspace, case_id, "assess", workspace.stages.assess_steps(case_id))
            assert cases.get(case_id).assessment_is_current


def test_work_on_a_case_that_is_decided_meanwhile_ends_as_cancelled(workspace: Workspace) -> None:
    cases = workspace.cases
    case = new_case(workspace, "kettle")
    steps = workspace.stages.gather_steps(case.id)
    approval.decide_case(cases, case.id, DecisionKind.NOT_NEEDED)
    ended = workspace.runner.wait(workspace.runner.start(case.id, "gather", steps).id, PATIENCE)
    assert ended.state is JobState.CANCELLED
    assert cases.get(case.id).queries == ()
