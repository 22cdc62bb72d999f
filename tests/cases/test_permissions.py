"""Who may do what: the table in docs/people.md, every method of the service, lists, and bad input."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from inspect import signature
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from crowdnotes.cases.cases import Cases
from crowdnotes.cases.permissions import actor_of, local_owner, require
from crowdnotes.cases.service import CaseService
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
from crowdnotes.errors import CaseNotFoundError, InputError, NotAllowedError
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
        == "Only whoever began it, moderators and admins may open this case."
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
        (("i", "s", "", "viewer"), "needs a name"),
        (("i", "s", " \n\u2028 ", "viewer"), "needs a name"),
        (("i", "s", "x" * 81, "viewer"), "needs a name"),
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


# --- every method of the service asks ---

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_PLACES: dict[str, Any] = {"mode": Mode.AUGMENTATION, "urls": [], "libraries": [], "services": [], "until": None}
_QUOTATION = Quotation(evidence_id="E1", span=Span(start=0, end=1))
_METHODS: dict[str, tuple[Act, tuple[Any, ...], dict[str, Any]]] = {
    "get": (Act.READ, (), {}),
    "image": (Act.READ, ("0",), {}),
    "delete": (Act.DELETE, (), {}),
    "set_shared": (Act.SHARE, (True,), {}),
    "edit_post": (Act.EDIT, ("words",), {}),
    "use_own_engine": (Act.EDIT, (), {}),
    "attach_image": (Act.EDIT, (b"", "a"), {}),
    "describe_image": (Act.EDIT, ("0", "", ""), {}),
    "remove_image": (Act.EDIT, ("0",), {}),
    "set_sources": (Act.EDIT, (), _PLACES),
    "add_passage_by_hand": (Act.EDIT, (), {"url": None, "title": "", "text": "Words."}),
    "restore_passage": (Act.EDIT, ("E1",), {}),
    "restore_evidence_set": (Act.EDIT, (0,), {}),
    "choose_candidate": (Act.EDIT, ("0",), {}),
    "quote": (Act.EDIT, (_QUOTATION,), {}),
    "edit_draft": (Act.EDIT, ("A note.",), {"based_on": None}),
    "undo_edit": (Act.EDIT, (), {}),
    "set_notes": (Act.EDIT, ([],), {}),
    "choose_note": (Act.EDIT, ("N1", True), {}),
    "set_candidate_count": (Act.EDIT, (5,), {}),
    "watch": (Act.EDIT, ([],), {}),
    "set_posted": (Act.EDIT, (None,), {}),
    "use_candidate": (Act.EDIT, ("0",), {}),
    "answer_suggestion": (Act.EDIT, ("S1", SuggestionAnswer.NO, "No."), {}),
    "set_classification": (Act.EDIT, (Classification.NOT_MISLEADING,), {}),
    "set_tags": (Act.EDIT, ([],), {}),
    "tick_tag": (Act.EDIT, ("x",), {"ticked": True}),
    "open_passage": (Act.JUDGE, ("E1",), {}),
    "judge": (Act.JUDGE, ("E1", Verdict.USE, ""), {}),
    "compare_sentence": (Act.JUDGE, ("Words.", "E1", Support.SUPPORTED), {}),
    "match_claim": (Act.JUDGE, ("x", ClaimMatch.SAME), {}),
    "suggest": (Act.SUGGEST, (["Say who."],), {}),
    "save_decision_text": (Act.DECIDE, ("word", "Why."), {}),
    "decide": (Act.DECIDE, (DecisionKind.REJECTED,), {}),
    "reopen": (Act.REOPEN, (), {}),
    "submit": (Act.SUBMIT, (), {}),
    "withdraw": (Act.SUBMIT, (), {}),
    "claim": (Act.REVIEW, (), {}),
    "take_over": (Act.REVIEW, (), {}),
    "renew": (Act.REVIEW, (), {}),
    "release": (Act.REVIEW, (), {}),
    "judge_pair": (Act.REVIEW, ("Words.", "E1", Support.SUPPORTED), {}),
    "finish_reading": (Act.REVIEW, (), {}),
    "send_back": (Act.REVIEW, ([],), {}),
    "resolve_comment": (Act.REVIEW, ("S1",), {}),
    "assign": (Act.ASSIGN, (None,), {}),
    "prioritise": (Act.ASSIGN, (True,), {}),
    "set_readers": (Act.ASSIGN, (2,), {}),
    "write_anyway": (Act.EDIT, (), {}),
    "seen": (Act.READ, (), {}),
    "follow_up": (Act.WORK, (FollowUpKind.OTHER_SIDE,), {}),
    "gather_steps": (Act.WORK, (), {}),
    "follow_up_steps": (Act.WORK, (), {}),
    "write_steps": (Act.WORK, (), {}),
    "assess_steps": (Act.WORK, (), {}),
    "supernote_steps": (Act.WORK, (), {}),
    "suggestion_steps": (Act.WORK, (), {}),
    "check_link_steps": (Act.WORK, (), {}),
}


def test_every_method_that_takes_the_id_of_a_case_is_in_the_list_of_those_that_ask() -> None:
    """The others are given a case that was read before, or none."""
    public = {name: value for name, value in vars(CaseService).items() if not name.startswith("_")}
    public |= {name: value for name, value in vars(StageRunner).items() if not name.startswith("_")}
    of_cases = {name for name, value in public.items() if callable(value) and "case_id" in str(signature(value))}
    assert of_cases - {"require"} == _METHODS.keys()


@pytest.mark.parametrize("name", _METHODS)
def test_no_method_does_for_a_person_what_they_may_not(workspace: Workspace, name: str) -> None:
    act, args, named = _METHODS[name]
    case = new_case(_as(workspace, "bob", Role.CONTRIBUTOR), "kettle")
    with pytest.raises(NotAllowedError) as refused:
        getattr(_as(workspace, "ann", Role.CONTRIBUTOR).service, name)(case.id, *args, **named)
    assert refused.value.act == act.value
    assert workspace.service.get(case.id) == case


def test_who_may_only_read_changes_nothing_and_begins_nothing(workspace: Workspace) -> None:
    case = workspace.service.set_shared(new_case(workspace, "kettle").id, True)
    viewer = _as(workspace, "ann", Role.VIEWER).service
    assert viewer.get(case.id) == case
    for name, (act, args, named) in _METHODS.items():
        if act is not Act.READ:
            with pytest.raises(NotAllowedError):
                getattr(viewer, name)(case.id, *args, **named)
    with pytest.raises(NotAllowedError, match="begin a case"):
        viewer.create("Words.", mode=Mode.AUTOMATION)
    with pytest.raises(NotAllowedError, match="begin a case"):
        viewer.create_supernote("", notes=[])
    assert (workspace.service.get(case.id), workspace.service.count()) == (case, 1)


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
        lambda: _as(workspace, "bob", Role.CONTRIBUTOR).service.queue(QueueQuery(), 10),
        _as(workspace, "bob", Role.CONTRIBUTOR).service.claim_next,
        moderator.service.tombstones,
        lambda: moderator.service.expire(_NOW),
    ]
    for act in refused:
        with pytest.raises(NotAllowedError):
            act()
    assert moderator.comparisons.summaries() == []
    assert [info.name for info in workspace.libraries.list()] == ["topics"]


# --- lists and counts ---


def test_sharing_is_on_record_and_opens_a_case_to_others_until_it_is_taken_back(workspace: Workspace) -> None:
    ann, bob = _as(workspace, "ann", Role.CONTRIBUTOR).service, _as(workspace, "bob", Role.CONTRIBUTOR).service
    case = ann.create("The kettle lies.", mode=Mode.AUTOMATION, libraries=["topics"])
    assert (case.owner, case.shared) == (actor("ann").person, False)
    assert (bob.list(), bob.count(), ann.count()) == ([], 0, 1)
    shared = ann.set_shared(case.id, True)
    assert [(event.by, event.by_key, event.as_text) for event in shared.events[-1:]] == [
        ("ann", "test ann", "Shared with everybody")
    ]
    assert bob.edit_post(case.id, "The kettle lies!").events[-1].by_key == "test bob"
    ann.set_shared(case.id, False)
    with pytest.raises(NotAllowedError):
        bob.get(case.id)


def test_rights_are_those_of_the_newest_version_when_the_change_is_kept(workspace: Workspace) -> None:
    ann = _as(workspace, "ann", Role.CONTRIBUTOR).service
    case = ann.set_shared(new_case(_as(workspace, "ann", Role.CONTRIBUTOR), "kettle").id, True)
    bob = Cases(
        workspace.tools.store, lambda: actor("bob", Role.CONTRIBUTOR), workspace.tools.clock, workspace.settings
    )
    assert bob.get(case.id) == case
    ann.set_shared(case.id, False)
    with pytest.raises(NotAllowedError):
        bob.update(Act.EDIT, case.id, lambda newest, _: newest.replace(tags=("x",)))
    assert workspace.service.get(case.id).tags == ()


def test_a_role_that_is_taken_away_holds_at_the_next_act(workspace: Workspace) -> None:
    roles = {"ann": Role.MODERATOR}
    service = workspace.acting_as(lambda: actor("ann", roles["ann"])).service
    case = new_case(workspace, "kettle")
    service.decide(case.id, DecisionKind.REJECTED)
    roles["ann"] = Role.VIEWER
    with pytest.raises(NotAllowedError):
        service.reopen(case.id)


def test_newer_notes_reopen_a_decided_case_only_by_whoever_may_reopen_it(workspace: Workspace) -> None:
    from tests.cases.test_supernote_actions import NEWER, NOTES

    ann = _as(workspace, "ann", Role.CONTRIBUTOR).service
    case = ann.create_supernote("The kettle lies.", notes=NOTES)
    workspace.service.decide(case.id, DecisionKind.REJECTED)
    with pytest.raises(NotAllowedError) as refused:
        ann.watch(case.id, [*NOTES, NEWER])
    assert refused.value.act == Act.REOPEN.value
    assert workspace.service.watch(case.id, [*NOTES, NEWER]).decision is None


def test_a_case_that_cannot_be_read_is_removed_by_its_owner_and_by_no_other(workspace: Workspace) -> None:
    from sqlalchemy import update

    from crowdnotes.storage.database import writing
    from crowdnotes.storage.tables import cases

    case = new_case(_as(workspace, "ann", Role.CONTRIBUTOR), "kettle")
    with writing(workspace.tools.store._engine) as connection:
        connection.execute(update(cases).values(document="{"))
    with pytest.raises(NotAllowedError):
        _as(workspace, "bob", Role.MODERATOR).service.delete(case.id)
    _as(workspace, "ann", Role.CONTRIBUTOR).service.delete(case.id)
    with pytest.raises(CaseNotFoundError):
        workspace.service.delete(case.id)


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
    case = owner.service.set_shared(new_case(owner, "kettle").id, True)
    steps = bob.service.gather_steps(case.id)
    owner.service.set_shared(case.id, False)
    job = bob.runner.wait(bob.runner.start(case.id, "gather", steps, by=bob.actor).id, timeout=PATIENCE)
    assert job.state is JobState.FAILED
    [failed] = [step for step in job.steps if step.error]
    assert failed.error.startswith("Only whoever began it, moderators and admins may run searches")
    assert owner.service.get(case.id).stages == ()


# --- four eyes, in the service ---


def test_four_eyes_is_off_on_a_machine_of_ones_own_and_a_setting(tmp_path: Path) -> None:
    with small_workspace(tmp_path) as workspace:
        case = new_case(workspace, "kettle")
        settings = workspace.settings.replace(four_eyes=True)
        from dataclasses import replace

        strict = replace(workspace, tools=replace(workspace.tools, settings=settings))
        with pytest.raises(NotAllowedError, match="another moderator or admin has to decide it"):
            strict.acting_as(workspace.who).service.decide(case.id, DecisionKind.REJECTED)
        assert workspace.service.decide(case.id, DecisionKind.REJECTED).decision is not None
        workspace.service.reopen(case.id)
        decided = strict.acting_as(lambda: actor("bob", Role.MODERATOR)).service.decide(case.id, DecisionKind.REJECTED)
        assert decided.decision is not None
        assert (decided.decision.by, decided.decision.by_key) == ("bob", "test bob")


# --- the pages ---


def test_no_page_goes_past_whoever_acts() -> None:
    past = re.compile(r"\.tools\b|runner\.(start|cancel)\(|\)\.libraries\.(add|remove)|\bStore\(|\bActor\(")
    root = Path(__file__).parents[2]
    files = [root / "app.py", *(root / "pages").rglob("*.py")]
    assert [file.name for file in files if past.search(file.read_text(encoding="utf-8"))] == []
