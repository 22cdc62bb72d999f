"""Who may do what: the table in docs/people.md, every act on a case, lists, and bad input."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from inspect import Parameter, isfunction, signature
from itertools import pairwise, product
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

from crowdnotes import cases as package
from crowdnotes.cases import (
    actions,
    approval,
    case_findings,
    follow_up_stages,
    intake,
    moderation,
    suggestions,
    supernote_actions,
)
from crowdnotes.cases.cases import Cases
from crowdnotes.cases.permissions import Action, actor_of, local_owner, require
from crowdnotes.cases.stages import StageRunner
from crowdnotes.domain import (
    ALLOWED,
    Act,
    ClaimMatch,
    Classification,
    DecisionKind,
    FollowUpKind,
    Mode,
    QueueQuery,
    Quotation,
    Relationship,
    Role,
    Span,
    SuggestionAnswer,
    Support,
    Verdict,
    may,
    refusal,
    relationship,
)
from crowdnotes.errors import CaseNotFoundError, InputError, NotAllowedError, StoreError, WorkflowError
from crowdnotes.jobs import JobState
from crowdnotes.workspace import CONNECTIONS, SharedWorkspace, Workspace
from tests.cases.walk import new_case, small_workspace
from tests.fakes import actor, make_case
from tests.shared import PATIENCE

_DOCS = Path(__file__).parents[2] / "docs" / "people.md"
_ROLES = tuple(Role)
_SAID = {
    "no": frozenset(),
    "own demonstrations": frozenset({Relationship.PRACTICE}),
    "own": frozenset({Relationship.PRACTICE, Relationship.OWN}),
    "own and shared": frozenset({Relationship.PRACTICE, Relationship.OWN, Relationship.SHARED}),
    "all": frozenset(Relationship),
    "yes": frozenset(Relationship),
}
_CASES = {
    Relationship.PRACTICE: make_case(owner=actor("ann").person, recorded_answers=True),
    Relationship.OWN: make_case(owner=actor("ann").person),
    Relationship.SHARED: make_case(owner=actor("bob").person, shared=True),
    Relationship.OTHER: make_case(owner=actor("bob").person),
}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with small_workspace(tmp_path) as opened:
        yield opened


_CASES_PARAMETER = Parameter("cases", Parameter.POSITIONAL_OR_KEYWORD, annotation="Cases")


def _as(workspace: Workspace, name: str, role: Role) -> Workspace:
    return workspace.acting_as(lambda: actor(name, role))


def _documented() -> dict[str, tuple[str, ...]]:
    rows = re.findall(r"^\| `([a-z ]+)` \|[^|]*\| (.+) \|$", _DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    return {act: tuple(cell.strip() for cell in cells.split("|")) for act, cells in rows}


@pytest.mark.parametrize("act", Act)
def test_the_table_in_the_documents_is_the_one_that_holds(act: Act) -> None:
    documented = dict(zip(_ROLES, (_SAID[cell] for cell in _documented()[act.value]), strict=True))
    assert documented == ALLOWED[act]
    assert _documented().keys() == {known.value for known in Act}


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("act", Act)
def test_every_act_of_every_role_on_each_kind_of_case(act: Act, role: Role) -> None:
    somebody = actor("ann", role)
    for how, case in _CASES.items():
        allowed = how in ALLOWED[act][role]
        assert relationship(somebody, case) is how
        assert may(somebody, act, case) is allowed
        if allowed:
            require(somebody, act, case)
        else:
            with pytest.raises(NotAllowedError, match=r"^Only .+ may .+\.$") as refused:
                require(somebody, act, case)
            assert refused.value.act == act.value
    assert may(somebody, act) is may(somebody, act, _CASES[Relationship.OWN])


def test_a_role_may_all_that_the_one_before_it_may() -> None:
    for rows in ALLOWED.values():
        assert all(rows[less] <= rows[more] for less, more in pairwise(_ROLES))


def test_a_refusal_names_who_may_and_what() -> None:
    assert (
        refusal(Act.READ, _CASES[Relationship.OTHER])
        == "Only the person who began it, moderators and admins may open this case."
    )
    assert refusal(Act.DECIDE, _CASES[Relationship.SHARED]) == "Only moderators and admins may decide this case."


@pytest.mark.parametrize("role", [Role.MODERATOR, Role.ADMIN])
def test_with_four_eyes_nobody_decides_a_case_that_they_began(role: Role) -> None:
    somebody = actor("ann", role)
    with pytest.raises(NotAllowedError, match="You began this case"):
        require(somebody, Act.DECIDE, _CASES[Relationship.OWN], four_eyes=True)
    for case in (_CASES[Relationship.SHARED], _CASES[Relationship.OTHER], make_case()):
        require(somebody, Act.DECIDE, case, four_eyes=True)
    assert not may(actor("ann", Role.CONTRIBUTOR), Act.DECIDE, _CASES[Relationship.OTHER], four_eyes=True)


def test_a_case_whose_owner_is_gone_is_nobodys_own() -> None:
    orphan = make_case()
    assert orphan.owner is None
    assert not may(actor("ann", Role.CONTRIBUTOR), Act.READ, orphan)
    assert may(actor("ann", Role.CONTRIBUTOR), Act.READ, orphan.replace(shared=True))
    assert may(actor("ann", Role.ADMIN), Act.DELETE, orphan)
    assert not may(actor("ann", Role.MODERATOR), Act.DELETE, orphan)


def test_people_are_told_apart_by_issuer_and_subject_and_never_by_name() -> None:
    owner = actor_of("https://id.example.org", "17", "Ann", "contributor")
    case = make_case(owner=owner.person)
    renamed = owner.replace(name="Ann B.")
    assert may(renamed, Act.READ, case)
    for issuer, subject in (("https://id.example.org", "18"), ("https://other.example.org", "17")):
        assert not may(actor_of(issuer, subject, "Ann", "contributor"), Act.READ, case)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("i", "s", "Ann", "boss"), "There is no role “boss”. Use one of: viewer, contributor, moderator, admin."),
        (("i", "s", "", "viewer"), "Give a name"),
        (("i", "s", " \n\u2028 ", "viewer"), "Give a name"),
        (("i", "s", "x" * 81, "viewer"), "Give a name"),
        (("", "s", "Ann", "viewer"), "issuer and a subject"),
        (("i", "a b", "Ann", "viewer"), "issuer and a subject"),
        (("i", "s" * 256, "Ann", "viewer"), "issuer and a subject"),
    ],
)
def test_nobody_is_made_of_bad_input(given: tuple[str, str, str, str], told: str) -> None:
    with pytest.raises(InputError) as refused:
        actor_of(*given)
    assert told in str(refused.value)


def test_the_owner_of_a_machine_is_one_person_under_whatever_name() -> None:
    assert local_owner("ann").key == local_owner("you").key
    assert local_owner("  Ann \n B. ").name == "Ann B."


# --- every act on a case asks ---

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_PLACES: dict[str, Any] = {"mode": Mode.AUGMENTATION, "urls": [], "libraries": [], "services": [], "until": None}
_QUOTATION = Quotation(evidence_id="E1", span=Span(start=0, end=1))
_CALLS: dict[str, tuple[Act, Callable[..., object], tuple[Any, ...], dict[str, Any]]] = {
    "get": (Act.READ, Cases.get, (), {}),
    "image": (Act.READ, Cases.image, ("0",), {}),
    "delete": (Act.DELETE, Cases.delete, (), {}),
    "set_shared": (Act.SHARE, actions.set_shared, (True,), {}),
    "edit_post": (Act.EDIT, intake.edit_post, ("words",), {}),
    "use_own_engine": (Act.EDIT, actions.use_own_engine, (), {}),
    "attach_image": (Act.EDIT, intake.attach_image, (b"", "a"), {}),
    "describe_image": (Act.EDIT, intake.describe_image, ("0", "", ""), {}),
    "remove_image": (Act.EDIT, intake.remove_image, ("0",), {}),
    "set_sources": (Act.EDIT, intake.set_sources, (), _PLACES),
    "search_again": (Act.EDIT, intake.search_again, (), {"mode": Mode.AUGMENTATION, "libraries": [], "services": []}),
    "add_passage_by_hand": (Act.EDIT, intake.add_passage_by_hand, (), {"url": None, "title": "", "text": "Words."}),
    "restore_passage": (Act.EDIT, actions.restore_passage, ("E1",), {}),
    "restore_evidence_set": (Act.EDIT, actions.restore_evidence_set, (0,), {}),
    "choose_candidate": (Act.EDIT, actions.choose_candidate, ("0",), {}),
    "quote": (Act.EDIT, actions.quote, (_QUOTATION,), {}),
    "add link": (Act.EDIT, actions.add_link, ("E1",), {}),
    "edit_draft": (Act.EDIT, actions.edit_draft, ("A note.",), {"based_on": None}),
    "undo_edit": (Act.EDIT, actions.undo_edit, (), {}),
    "set_notes": (Act.EDIT, supernote_actions.set_notes, ([],), {}),
    "choose_note": (Act.EDIT, supernote_actions.choose_note, ("N1", True), {}),
    "set_candidate_count": (Act.EDIT, supernote_actions.set_candidate_count, (5,), {}),
    "watch": (Act.EDIT, supernote_actions.update_notes, ([],), {}),
    "set_posted": (Act.EDIT, supernote_actions.set_posted, (None,), {}),
    "use_candidate": (Act.EDIT, supernote_actions.use_candidate, ("0",), {}),
    "answer_suggestion": (Act.EDIT, suggestions.answer_suggestion, ("S1", SuggestionAnswer.NO, "No."), {}),
    "set_classification": (Act.EDIT, actions.set_classification, (Classification.NOT_MISLEADING,), {}),
    "set_tags": (Act.EDIT, actions.set_tags, ([],), {}),
    "tick_tag": (Act.EDIT, actions.tick_tag, ("x",), {"ticked": True}),
    "open_passage": (Act.JUDGE, actions.open_passage, ("E1",), {}),
    "judge": (Act.JUDGE, actions.judge, ("E1", Verdict.USE, ""), {}),
    "compare_sentence": (Act.JUDGE, actions.compare_sentence, ("Words.", "E1", Support.SUPPORTED), {}),
    "match_claim": (Act.JUDGE, actions.match_claim, ("x", ClaimMatch.SAME), {}),
    "suggest": (Act.SUGGEST, suggestions.suggest, (["Say who."],), {}),
    "save_decision_text": (Act.DECIDE, actions.save_decision_text, ("word", "Why."), {}),
    "decide": (Act.DECIDE, approval.decide_case, (DecisionKind.REJECTED,), {}),
    "reopen": (Act.REOPEN, actions.reopen, (), {}),
    "submit": (Act.SUBMIT, moderation.submit_case, (), {}),
    "withdraw": (Act.SUBMIT, moderation.withdraw, (), {}),
    "claim": (Act.REVIEW, moderation.claim, (), {}),
    "take_over": (Act.REVIEW, moderation.take_over, (), {}),
    "renew": (Act.REVIEW, moderation.renew, (), {}),
    "release": (Act.REVIEW, moderation.release, (), {}),
    "judge_pair": (Act.REVIEW, moderation.judge_pair, ("Words.", "E1", Support.SUPPORTED), {}),
    "finish_reading": (Act.REVIEW, moderation.finish_reading, (), {}),
    "send_back": (Act.REVIEW, moderation.send_back, ([],), {}),
    "show_comments": (Act.REVIEW, moderation.show_comments, (), {}),
    "duplicate_case": (Act.READ, supernote_actions.duplicate_case, (), {}),
    "resolve_comment": (Act.REVIEW, moderation.resolve_comment, ("S1",), {}),
    "assign": (Act.ASSIGN, moderation.assign, (None,), {}),
    "prioritise": (Act.ASSIGN, moderation.prioritise, (True,), {}),
    "admit_readers": (Act.PEOPLE, moderation.admit_readers, ("Nobody else is here.",), {}),
    "set_readers": (Act.ASSIGN, moderation.set_case_readers, (2,), {}),
    "write_anyway": (Act.EDIT, intake.write_anyway, (), {}),
    "seen": (Act.READ, Cases.note_presence, (), {}),
    "left": (Act.READ, Cases.end_presence, (), {}),
    "row_facts": (Act.READ, moderation.row_facts, (), {}),
    "row_marks": (Act.READ, case_findings.row_marks, (), {}),
    "follow_up": (Act.WORK, follow_up_stages.follow_up, (FollowUpKind.OTHER_SIDE,), {}),
    "gather_steps": (Act.WORK, StageRunner.gather_steps, (), {}),
    "follow_up_steps": (Act.WORK, StageRunner.follow_up_steps, (), {}),
    "write_steps": (Act.WORK, StageRunner.write_steps, (), {}),
    "assess_steps": (Act.WORK, StageRunner.assess_steps, (), {}),
    "supernote_steps": (Act.WORK, StageRunner.supernote_steps, (), {}),
    "suggestion_steps": (Act.WORK, StageRunner.suggestion_steps, (), {}),
    "check_link_steps": (Act.WORK, StageRunner.check_link_steps, (), {}),
}


def _call(workspace: Workspace, name: str, case_id: str) -> object:
    _, target, args, named = _CALLS[name]
    if isinstance(target, Action):
        return workspace.cases.apply(case_id, target, *args, **named)
    of_stages = target.__qualname__.startswith(StageRunner.__name__)
    return target(workspace.stages if of_stages else workspace.cases, case_id, *args, **named)


def test_every_act_on_a_case_is_in_the_list_of_those_that_ask() -> None:
    """Every action, every function over `Cases` and every method that takes a case's id; others are given a case."""
    files = [import_module(f"{package.__name__}.{file.name}") for file in iter_modules(package.__path__)]
    found = {id(value): name for file in files for name, value in vars(file).items() if isinstance(value, Action)}
    functions = [value for file in files for value in vars(file).values() if isfunction(value)]
    methods = [value for one in (Cases, StageRunner) for value in vars(one).values() if isfunction(value)]
    for value in (*functions, *methods):
        parameters = signature(value).parameters
        over = value in methods or next(iter(parameters.values()), None) == _CASES_PARAMETER
        if over and "case_id" in parameters and not value.__name__.startswith("_"):
            found[id(value)] = value.__name__
    named = (Cases.apply, Cases.update, Cases.require, Cases.put_text, Cases.texts, Cases.kept_texts)
    without_permission = (Cases.add_usage,)  # what a job spent counts, whoever may still work on the case
    assert found.keys() - {id(value) for value in (*named, *without_permission)} == {
        id(target) for _, target, _, _ in _CALLS.values()
    }


@pytest.mark.parametrize("name", _CALLS)
def test_every_act_asks_for_its_permission_of_every_role_on_each_kind_of_case(workspace: Workspace, name: str) -> None:
    act, target, _, _ = _CALLS[name]
    if isinstance(target, Action):
        assert target.permission is act
    for role in Role:
        somebody = _as(workspace, "ann", role)
        for how, case in _CASES.items():
            case_id = f"{role.value}-{how.value}"
            workspace.store.add(case.replace(id=case_id))
            copied = Act.PRACTISE if how is Relationship.PRACTICE else Act.BEGIN
            second = {"use_own_engine": Act.BEGIN, "duplicate_case": copied}.get(name, act)
            also = second is act or may(somebody.actor, second)
            if how in ALLOWED[act][role] and also:
                with suppress(WorkflowError, InputError, StoreError):  # what else forbids it is no matter of rights
                    _call(somebody, name, case_id)
            else:
                with pytest.raises(NotAllowedError) as refused:
                    _call(somebody, name, case_id)
                assert refused.value.act in ((act.value, second.value) if also else (second.value, Act.READ.value))
                assert workspace.store.get(case_id) == case.replace(id=case_id)


def test_a_call_that_names_a_permission_asks_for_it(workspace: Workspace) -> None:
    for how, case in _CASES.items():
        workspace.store.add(case.replace(id=how.value))
    for act, role, how in product(Act, Role, Relationship):
        cases, case_id = _as(workspace, "ann", role).cases, how.value
        naming: list[Callable[[], object]] = [
            partial(cases.update, act, case_id, lambda newest, _: newest),
            partial(cases.require, act, case_id),
            partial(cases.put_text, act, case_id, "Words."),
            partial(cases.texts, act, case_id, []),
            partial(cases.kept_texts, act, case_id, []),
            partial(cases.get, case_id, act),
        ]
        for call in naming:
            if how in ALLOWED[act][role]:
                call()
            else:
                with pytest.raises(NotAllowedError):
                    call()


def _refused_by_mypy(cases: Cases) -> None:
    """Never called: if one of these lines were no error, mypy would report its ignore as unused."""
    cases.apply("c1", approval.decide, DecisionKind.REJECTED)  # type: ignore[arg-type]
    cases.apply("c1", actions.quote, "not a quotation")  # type: ignore[arg-type]
    cases.apply("c1", actions.judge, "E1", None, reson="Why.")  # type: ignore[call-arg]


def test_who_may_only_read_changes_nothing_and_begins_nothing(workspace: Workspace) -> None:
    case = workspace.cases.apply(new_case(workspace, "kettle").id, actions.set_shared, True)
    viewer = _as(workspace, "ann", Role.VIEWER).cases
    assert viewer.get(case.id) == case
    of_shared = {act for act, *_ in _CALLS.values() if Relationship.SHARED in ALLOWED[act][Role.VIEWER]}
    assert of_shared == {Act.READ}
    with pytest.raises(NotAllowedError, match="begin a case"):
        intake.create_case(viewer, "Words.", mode=Mode.AUTOMATION)
    with pytest.raises(NotAllowedError, match="begin a case"):
        supernote_actions.create_supernote(viewer, "", notes=[])
    assert (workspace.cases.get(case.id), workspace.cases.count()) == (case, 1)


def test_what_all_share_is_for_admins_and_comparisons_are_for_moderators_too(workspace: Workspace) -> None:
    moderator = _as(workspace, "ann", Role.MODERATOR)
    shared, kept = SharedWorkspace(workspace), _as(workspace, "bob", Role.CONTRIBUTOR).comparisons
    refused: list[Callable[[], object]] = [
        moderator.check_connections,
        moderator.test_model,
        lambda: moderator.index_library([], "new", {}, replace=False),
        lambda: moderator.remove_library("topics"),
        lambda: shared.use(workspace.choice, moderator, for_all=True),
        lambda: moderator.find_servers("http://192.168.1.7:11434"),
        kept.summaries,
        lambda: kept.add("a.csv", b""),
        lambda: kept.results("x"),
        lambda: kept.exported("x"),
        lambda: kept.get("x"),
        lambda: kept.answers("x"),
        lambda: kept.delete("x"),
        moderator.people.everybody,
        lambda: moderator.people.set_role(moderator.actor, Role.ADMIN),
        lambda: moderator.people.set_disabled(moderator.actor, disabled=False),
        lambda: moderation.queue_page(_as(workspace, "bob", Role.CONTRIBUTOR).cases, QueueQuery(), 10),
        partial(moderation.claim_next, _as(workspace, "bob", Role.CONTRIBUTOR).cases),
        moderator.cases.tombstones,
        lambda: moderator.cases.delete_decided_before(_NOW),
    ]
    for act in refused:
        with pytest.raises(NotAllowedError):
            act()
    assert moderator.comparisons.summaries() == []
    assert [info.name for info in workspace.libraries.list()] == ["topics"]


# --- lists and counts ---


def test_sharing_is_on_record_and_opens_a_case_to_others_until_it_is_taken_back(workspace: Workspace) -> None:
    ann, bob = _as(workspace, "ann", Role.CONTRIBUTOR).cases, _as(workspace, "bob", Role.CONTRIBUTOR).cases
    case = intake.create_case(ann, "The kettle lies.", mode=Mode.AUTOMATION, libraries=["topics"])
    assert (case.owner, case.shared) == (actor("ann").person, False)
    assert (bob.find(), bob.count(), ann.count()) == ([], 0, 1)
    shared = ann.apply(case.id, actions.set_shared, True)
    assert [(event.by, event.by_key, event.as_text) for event in shared.events[-1:]] == [
        ("ann", "test ann", "Shared with everybody")
    ]
    assert intake.edit_post(bob, case.id, "The kettle lies!").events[-1].by_key == "test bob"
    ann.apply(case.id, actions.set_shared, False)
    with pytest.raises(NotAllowedError):
        bob.get(case.id)


def test_rights_are_those_of_the_newest_version_when_the_change_is_kept(workspace: Workspace) -> None:
    ann = _as(workspace, "ann", Role.CONTRIBUTOR).cases
    case = ann.apply(new_case(_as(workspace, "ann", Role.CONTRIBUTOR), "kettle").id, actions.set_shared, True)
    bob = Cases(
        workspace.store, lambda: actor("bob", Role.CONTRIBUTOR), workspace.stage_context.clock, workspace.settings
    )
    assert bob.get(case.id) == case
    ann.apply(case.id, actions.set_shared, False)
    with pytest.raises(NotAllowedError):
        bob.update(Act.EDIT, case.id, lambda newest, _: newest.replace(tags=("x",)))
    assert workspace.cases.get(case.id).tags == ()


def test_a_role_that_is_taken_away_holds_at_the_next_act(workspace: Workspace) -> None:
    roles = {"ann": Role.MODERATOR}
    cases = workspace.acting_as(lambda: actor("ann", roles["ann"])).cases
    case = new_case(workspace, "kettle")
    approval.decide_case(cases, case.id, DecisionKind.REJECTED)
    roles["ann"] = Role.VIEWER
    with pytest.raises(NotAllowedError):
        cases.apply(case.id, actions.reopen)


def test_newer_notes_reopen_a_decided_case_only_by_whoever_may_reopen_it(workspace: Workspace) -> None:
    from tests.cases.test_supernote_actions import NEWER, NOTES

    ann = _as(workspace, "ann", Role.CONTRIBUTOR).cases
    case = supernote_actions.create_supernote(ann, "The kettle lies.", notes=NOTES)
    approval.decide_case(workspace.cases, case.id, DecisionKind.REJECTED)
    with pytest.raises(NotAllowedError) as refused:
        supernote_actions.update_notes(ann, case.id, [*NOTES, NEWER])
    assert refused.value.act == Act.REOPEN.value
    assert supernote_actions.update_notes(workspace.cases, case.id, [*NOTES, NEWER]).decision is None


def test_a_case_that_cannot_be_read_is_removed_by_its_owner_and_by_no_other(workspace: Workspace) -> None:
    from sqlalchemy import update

    from crowdnotes.storage.database import writing
    from crowdnotes.storage.tables import cases

    case = new_case(_as(workspace, "ann", Role.CONTRIBUTOR), "kettle")
    with writing(workspace.store._engine) as connection:
        connection.execute(update(cases).values(document="{"))
    with pytest.raises(NotAllowedError):
        _as(workspace, "bob", Role.MODERATOR).cases.delete(case.id)
    _as(workspace, "ann", Role.CONTRIBUTOR).cases.delete(case.id)
    with pytest.raises(CaseNotFoundError):
        workspace.cases.delete(case.id)


# --- jobs ---


def test_a_job_carries_who_asked_for_it_and_acts_as_they_do(workspace: Workspace) -> None:
    ann = _as(workspace, "ann", Role.CONTRIBUTOR)
    case = new_case(ann, "kettle")
    with pytest.raises(NotAllowedError):
        _as(workspace, "bob", Role.CONTRIBUTOR).start(case.id, "gather")
    job = ann.runner.wait(ann.start(case.id, "gather").id, timeout=PATIENCE)
    assert (job.state, job.by, job.by_key) == (JobState.DONE, "ann", "test ann")
    with pytest.raises(NotAllowedError):
        _as(workspace, "bob", Role.CONTRIBUTOR).cancel(job)
    ann.cancel(job)
    with pytest.raises(NotAllowedError):
        ann.cancel(job.replace(case_id=CONNECTIONS))


def test_who_lost_the_right_while_a_job_was_at_work_is_told_and_nothing_of_it_is_kept(workspace: Workspace) -> None:
    owner, bob = _as(workspace, "ann", Role.CONTRIBUTOR), _as(workspace, "bob", Role.CONTRIBUTOR)
    case = owner.cases.apply(new_case(owner, "kettle").id, actions.set_shared, True)
    steps = bob.stages.gather_steps(case.id)
    owner.cases.apply(case.id, actions.set_shared, False)
    job = bob.runner.wait(bob.runner.start(case.id, "gather", steps, by=bob.actor).id, timeout=PATIENCE)
    assert job.state is JobState.FAILED
    [failed] = [step for step in job.steps if step.error]
    assert failed.error.startswith("Only the person who began it, moderators and admins may search")
    assert owner.cases.get(case.id).stages == ()


# --- four eyes, of stored cases ---


def test_four_eyes_is_off_on_a_machine_of_ones_own_and_a_setting(tmp_path: Path) -> None:
    with small_workspace(tmp_path) as workspace:
        case = new_case(workspace, "kettle")
        settings = workspace.settings.replace(four_eyes=True)
        from dataclasses import replace

        strict = replace(workspace, stage_context=replace(workspace.stage_context, settings=settings))
        with pytest.raises(NotAllowedError, match="Another moderator or admin must decide it"):
            approval.decide_case(strict.acting_as(workspace.current_user).cases, case.id, DecisionKind.REJECTED)
        assert approval.decide_case(workspace.cases, case.id, DecisionKind.REJECTED).decision is not None
        workspace.cases.apply(case.id, actions.reopen)
        decided = approval.decide_case(
            strict.acting_as(lambda: actor("bob", Role.MODERATOR)).cases, case.id, DecisionKind.REJECTED
        )
        assert decided.decision is not None
        assert (decided.decision.by, decided.decision.by_key) == ("bob", "test bob")


# --- the pages ---


def test_no_page_goes_past_whoever_acts() -> None:
    past = re.compile(r"\.stage_context\b|runner\.(start|cancel)\(|\)\.libraries\.(add|remove)|\bStore\(|\bActor\(")
    root = Path(__file__).parents[2]
    files = [root / "app.py", *(root / "pages").rglob("*.py")]
    assert [file.name for file in files if past.search(file.read_text(encoding="utf-8"))] == []


def test_no_page_reads_a_case_for_another_act_than_reading_nor_changes_one_but_by_an_action() -> None:
    """Only what is read to be read is without what others found; a change that is no action names its permission."""
    past = re.compile(
        r"workspace\(\)\.store\b|cases\(\)\.(get\([^)]*,|update\(|put_text\(|(kept_)?texts\(|add|with_fence\()"
    )
    pages = (Path(__file__).parents[2] / "pages").rglob("*.py")
    assert [file.name for file in pages if past.search(file.read_text(encoding="utf-8"))] == []
