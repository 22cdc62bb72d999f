"""How the note scores on the Draft page: the gates, the principles, and how it stands before the jury."""

from __future__ import annotations

import re
import threading

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.cases import actions
from crowdnotes.domain import PROGRAM, Case, Finding, GateName, GateStatus, PrincipleName, PrincipleResult
from crowdnotes.engines.base import WriterAnswer
from crowdnotes.errors import JobCancelled
from crowdnotes.jobs import JobState, Progress
from crowdnotes.jobs.records import plain_step
from crowdnotes.jury.verdict import cautions
from crowdnotes.settings_sections import JurySettings
from tests.cases.walk import Told
from tests.fakes import ScriptedJudge, no_jury, uncertain_result
from tests.pages.conftest import NOTE, Desk, note_of, texts, unfolded
from tests.shared import PATIENCE


def _with_jury(desk: Desk, case: Case) -> str:
    return texts(unfolded(desk.app(case), f"jury-{case.id}"))


def test_an_edit_is_saved_and_marks_the_scores_as_out_of_date(desk: Desk) -> None:
    case = desk.scored()
    at = desk.app(case)
    assert "Score it again." not in texts(at)
    note_of(at).set_value(NOTE.replace("Regular", "Daily")).run()
    assert desk.note(case).startswith("Daily")
    assert "The note or its sources changed. Score it again." in texts(at)

    assert "announced" not in at.session_state
    at.button(key="score").click().run()
    desk.finish_latest(case, at)
    assert "Score it again." not in texts(at)
    said = list(at.session_state["announced"].values())
    assert sum(words.startswith("Scores: relevance passed, correctness ") for words in said) == 1
    assert sum(words.startswith("Scoring the note: done.") for words in said) == 1


def test_a_scoring_of_an_earlier_text_stops_by_itself_and_a_new_one_can_start_at_once(desk: Desk) -> None:
    case = desk.drafted()
    first, jury, _ = desk.workspace.stages.assess_steps(case.id)
    case = desk.workspace.cases.apply(case.id, actions.edit_draft, f"{NOTE} Again.", based_on=case.draft.sha256)  # type: ignore[union-attr]
    for step in (first, jury):
        with pytest.raises(JobCancelled, match="The note or its sources changed"):
            step.run(Told())

    at_work = threading.Event()

    def slow(progress: Progress) -> str:
        at_work.set()
        while True:
            progress.check()

    steps = [plain_step("assess", "Score the note", slow)]
    job = desk.workspace.runner.start_anywhere(
        case.id, "assess", steps, lambda _: steps, by=PROGRAM, arguments={"basis": "of an earlier text"}
    )
    assert at_work.wait(PATIENCE)
    at = desk.app(case)
    at.button(key="score").click().run()
    assert not at.error
    assert desk.workspace.runner.get(job.id).state is JobState.CANCELLED
    desk.finish_latest(case, at)
    assert desk.latest(case.id).id != job.id
    assert desk.newest(case).assessment_is_current
    desk.changed(case, draft=case.draft.replace(text=NOTE) if case.draft else None)
    assert "was stopped" not in texts(at.run())


def _assert_no_chance(at: AppTest, why: str) -> None:
    """Assert that the panel is one line that says why, without a verdict, a chance or a comparison."""
    shown = texts(at)
    assert f"**Simulated readers:**] :small[{why}" in shown
    assert not [item for item in at.expander if "Simulated readers" in item.label]
    assert "in 100 notes like" not in shown


def test_a_note_that_failed_correctness_or_that_x_cannot_take_is_given_no_chance(desk: Desk) -> None:
    desk.engine.fails_at = GateName.CORRECTNESS
    _assert_no_chance(desk.app(desk.scored()), "They judge only words: you see their chance once")
    desk.engine.fails_at = None
    _assert_no_chance(desk.app(desk.scored("Regular vitamin C shortens no cold. " * 8)), "X cannot take this note yet.")


def test_before_correctness_is_checked_the_jury_praises_nothing(desk: Desk) -> None:
    desk.engine.breaks_at = GateName.CORRECTNESS
    case = desk.scored()
    at = desk.app(case)
    assert "Not checked yet: correctness." in texts(at)
    _assert_no_chance(at, "They judge only words: you see their chance once correctness passes.")
    desk.engine.breaks_at = None
    desk.run(case, "assess")
    fold = next(item for item in desk.app(case).expander if "Simulated readers" in item.label)
    assert fold.label.startswith("**Simulated readers")


def test_scores_of_a_post_in_another_language_are_called_a_guess(desk: Desk) -> None:
    assert "judge it yourself" not in texts(desk.app(desk.scored()))
    case = desk.scored("Las vacunas contra el sarampión no causan autismo, según todos los estudios publicados.")
    at = desk.app(case)
    warned = "The note is in Spanish: judge it yourself."
    order = [
        "warning" if warned in str(getattr(node.proto, "title", "")) else "gates"
        for node in at.main
        if node.type == "warning" or "gates-" in str(node.proto)
    ]
    assert order[:2] == ["warning", "gates"]


def test_a_gate_that_could_not_run_is_not_shown_as_passed(desk: Desk) -> None:
    desk.engine.breaks_at = GateName.RELEVANCE
    case = desk.scored()
    at = desk.app(case)
    assert ":gray[:material/do_not_disturb_on:]" * 3 in texts(at), "nor the checks that wait for it"
    assert "The relevance check was not run" in texts(at)


def test_a_principle_that_fails_names_the_words_at_fault(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = Finding(message="“insane” takes a side.")
    neutral = PrincipleResult(
        principle=PrincipleName.NEUTRAL, status=GateStatus.FAIL, reason="Some words take a side.", findings=(fault,)
    )
    monkeypatch.setattr(desk.engine, "principles", lambda *_: (neutral,))
    assert "“insane” takes a side." in texts(desk.app(desk.scored()))
    monkeypatch.setattr(desk.engine, "principles", lambda *_: (neutral.replace(reason=fault.message),))
    assert texts(desk.app(desk.scored())).count("“insane” takes a side.") == 1


def test_what_was_objected_to_a_principle_that_passes_is_shown_as_a_remark(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    remark = Finding(message="“everybody” might be read as a claim.")
    kept = PrincipleResult(
        principle=PrincipleName.NEUTRAL, status=GateStatus.PASS, reason="It stays neutral.", findings=(remark,)
    )
    monkeypatch.setattr(desk.engine, "principles", lambda *_: (kept,))
    at = desk.app(desk.scored())
    [shown] = [item.value for item in at.markdown if "might be read as a claim" in item.value]
    assert [line[:13] for line in shown.splitlines()[-2:]] == [":small[:gray["] * 2
    assert shown.count("Remarks") == 1

    bare = kept.replace(findings=())
    monkeypatch.setattr(desk.engine, "principles", lambda *_: (bare,))
    assert "Remarks" not in texts(desk.app(desk.scored()))


def test_principles_that_did_not_run_are_not_counted_as_unmet(desk: Desk) -> None:
    case = desk.scored()
    assert case.assessment is not None
    idle = tuple(PrincipleResult.not_run(name, "no answer") for name in PrincipleName)
    desk.changed(case, assessment=case.assessment.replace(principles=idle))
    shown = texts(desk.app(case))
    assert "Principles of a good note: not run" in shown
    assert "of 6 met" not in shown


def test_the_jury_says_that_it_is_a_simulation_and_shows_its_number_on_its_scale(desk: Desk) -> None:
    case = desk.scored()
    shown = _with_jury(desk, case)
    assert "Simulated readers" in shown
    assert re.search(r"reach\. The score here, -?\d\.\d\d, is ", shown.replace("\\", ""))


def test_the_score_is_explained_beside_the_chance_that_it_seems_to_contradict(desk: Desk) -> None:
    case = desk.scored()
    [verdict] = case.jury
    alike = verdict.negative.replace(side="+")
    near = verdict.replace(note_intercept=0.38, chance_of_shown=0.65, positive=alike, status="NEEDS_MORE_RATINGS")
    desk.changed(case, jury=(near,))
    shown = _with_jury(desk, case)
    assert "**Simulated readers: fair chance.** X shows about 65 in 100 notes like this" in shown
    assert (
        "from a score of 0.40, which about 65 in 100 notes like this reach. The score here, 0.38, is a careful" in shown
    )
    nobody = alike.replace(helpful=0, somewhat_helpful=0, not_helpful=alike.jurors)
    desk.changed(case, jury=(near.replace(positive=nobody),))
    assert "The score here, 0.38, is lower because the two sides differ." in _with_jury(desk, case)


def test_an_uncertain_check_is_called_so_and_asks_for_no_reason(desk: Desk) -> None:
    desk.engine.judge = ScriptedJudge(uncertain_result)
    shown = texts(desk.app(desk.scored()))
    assert "helpfulness uncertain" in shown
    assert "Why approve although" not in shown


def test_one_sentence_reconciles_gates_and_jury_and_a_failed_gate_comes_first(desk: Desk) -> None:
    desk.engine.fails_at = GateName.CORRECTNESS
    case = desk.scored()
    [verdict] = [item for item in case.jury if item.text_sha256 == case.draft.sha256]  # type: ignore[union-attr]
    shown = texts(desk.app(case))
    assert "did not pass correctness: fix that first." in shown
    assert verdict.sentence not in shown, "one sentence is enough"

    desk.engine.fails_at = None
    passed = desk.scored()
    shown = _with_jury(desk, passed)
    assert ":green[:material/check_circle:] **All three checks pass.**  \n" in shown
    assert passed.agreement[1] in shown.replace("\\", "")
    assert "fix that first" not in shown


def test_a_jury_that_heard_other_words_does_not_speak_for_these(desk: Desk) -> None:
    case = desk.scored()
    assert case.draft is not None
    edited = desk.workspace.cases.apply(case.id, actions.edit_draft, f"In short: {NOTE}", based_on=case.draft.sha256)
    shown = texts(desk.app(edited))
    assert "The note changed. Score it again." in shown
    assert "score here" not in shown


def test_a_doubt_is_told_once(desk: Desk) -> None:
    case = desk.scored()
    assessment = desk.newest(case).assessment
    assert assessment is not None
    sentence, *others = assessment.sentences
    twice = sentence.replace(doubts=("The number differs.", "The number differs."))
    doubted = assessment.replace(sentences=(twice, *others))
    desk.changed(case, assessment=doubted)
    assert texts(desk.app(case)).count("The number differs.") == 1


def test_of_several_doubts_the_first_is_seen_and_the_others_are_folded(desk: Desk) -> None:
    case = desk.scored()
    assessment = desk.newest(case).assessment
    assert assessment is not None
    sentence, *others = assessment.sentences
    several = sentence.replace(doubts=("The number differs.", "How sure.", "Added."))
    desk.changed(case, assessment=assessment.replace(sentences=(several, *others)))
    at = desk.app(case)
    [fold] = [item for item in at.expander if item.label == "2 more warnings"]
    assert ["The number" in str(item.value) for item in fold.caption] == [False, False]
    assert "The number differs." in texts(at)


def test_where_the_jurys_numbers_mean_nothing_that_is_said_and_no_verdict(desk: Desk) -> None:
    case = desk.scored()
    [verdict] = case.jury
    outlook = f"X shows about {verdict.shown_of_100} in 100 notes like this"
    assert outlook in texts(desk.app(case))

    unlike = cautions("Lorem ipsum dolor sit amet.", JurySettings(), vectors=True, familiar=0.0)
    strange = verdict.replace(cautions=unlike, means_nothing=True)
    desk.changed(case, jury=(strange,))
    desk.engine.breaks_at = GateName.CORRECTNESS
    unchecked = desk.scored()
    desk.changed(unchecked, jury=(strange.replace(text_sha256=unchecked.jury[0].text_sha256),))
    for shown_case in (case, unchecked):
        at = unfolded(desk.app(shown_case), f"jury-{shown_case.id}")
        shown = texts(at)
        assert "cannot judge this text" in shown
        assert outlook not in shown
        assert verdict.outlook not in shown
        assert verdict.status not in shown
        assert not [node for node in at.main if "People on side A" in str(node.proto)]


def _abstained(desk: Desk) -> Case:
    """A case for which the program proposed no note: its stages say that there was none to score."""
    desk.engine.answer = WriterAnswer((), "The passages do not speak of the claim.")
    return desk.run(desk.inspected(), "write")


def test_a_note_written_by_hand_is_given_a_jurys_verdict(desk: Desk) -> None:
    case = _abstained(desk)
    desk.workspace.cases.apply(case.id, actions.edit_draft, NOTE, based_on=None)
    assert "there is no note" not in texts(desk.app(case))
    case = desk.run(case, "assess")
    shown = _with_jury(desk, case)
    assert "there is no note" not in shown
    assert re.search(r"The score here, -?\d\.\d\d, is ", shown)


def test_a_note_written_by_hand_that_no_jury_can_hear_is_given_the_reason(desk: Desk) -> None:
    object.__setattr__(desk.workspace.stages.context, "jury", no_jury)
    case = _abstained(desk)
    desk.workspace.cases.apply(case.id, actions.edit_draft, NOTE, based_on=None)
    shown = texts(desk.app(desk.run(case, "assess")))
    assert "There is no jury in this test." in shown
    assert "there is no note" not in shown


def test_while_the_jury_has_not_sat_yet_an_earlier_reason_is_not_told(desk: Desk) -> None:
    case = _abstained(desk)
    desk.workspace.cases.apply(case.id, actions.edit_draft, NOTE, based_on=None)
    desk.workspace.runner.wait(
        desk.workspace.runner.start(
            case.id, "assess", desk.workspace.stages.assess_steps(case.id, scores_only=True)
        ).id,
        timeout=PATIENCE,
    )
    shown = texts(desk.app(case))
    assert "Simulated readers" in shown
    assert "there is no note" not in shown
