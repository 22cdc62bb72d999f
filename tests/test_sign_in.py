"""Who signed in: first roles, changes that hold at the next act, bad input; settings that would let strangers in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crowdnotes.cases import actions, approval, intake
from crowdnotes.cases.accounts import VISITOR, visitor
from crowdnotes.cases.permissions import local_owner
from crowdnotes.domain import DecisionKind, Mode, ObstacleKind, Person, Relationship, Role
from crowdnotes.errors import ConfigurationError, InputError, NotAllowedError
from crowdnotes.settings import SignIn, load_settings
from crowdnotes.workspace import Workspace
from tests.cases.walk import new_case, small_workspace

ANN = Person(issuer="https://id.example.org", subject="17", name="Ann")
BOB = Person(issuer="https://id.example.org", subject="18", name="Bob")
_OPENID = {
    "METADATA_URL": "https://id.example.org/.well-known/openid-configuration",
    "CLIENT_ID": "crowdnotes",
    "CLIENT_SECRET": "secret-of-the-client",
    "COOKIE_SECRET": "c" * 32,
    "PUBLIC_URL": "https://notes.example.org/",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with small_workspace(tmp_path) as opened:
        yield opened


def _signed_in(workspace: Workspace, person: Person, first_role: str = "contributor") -> Workspace:
    workspace.people.seen(person, first_role)
    return workspace.acting_as(workspace.user_of(person))


def test_who_is_new_gets_the_first_role_and_keeps_what_an_admin_made_of_it(workspace: Workspace) -> None:
    assert _signed_in(workspace, ANN).actor.role is Role.CONTRIBUTOR
    workspace.people.set_role(ANN, Role.MODERATOR)
    renamed = ANN.replace(name="Ann B.")
    assert _signed_in(workspace, renamed, "viewer").actor.role is Role.MODERATOR
    [known] = workspace.people.everybody()
    assert (known.person, known.role, known.disabled_at) == (renamed, Role.MODERATOR, None)
    assert known.first_seen <= known.last_seen


def test_a_role_and_being_kept_out_hold_from_the_next_act_on(workspace: Workspace) -> None:
    ann, case = _signed_in(workspace, ANN), new_case(workspace, "kettle")
    with pytest.raises(NotAllowedError, match="may open this case"):
        ann.cases.get(case.id)
    workspace.people.set_role(ANN, Role.MODERATOR)
    approval.decide_case(ann.cases, case.id, DecisionKind.REJECTED)
    workspace.people.set_disabled(ANN, disabled=True)
    with pytest.raises(NotAllowedError, match="took your access away"):
        ann.cases.apply(case.id, actions.reopen)
    with pytest.raises(NotAllowedError):
        ann.cases.find()
    workspace.people.seen(ANN, "contributor")  # signing in again opens nothing
    with pytest.raises(NotAllowedError):
        ann.cases.get(case.id)
    workspace.people.set_disabled(ANN, disabled=False)
    assert ann.cases.apply(case.id, actions.reopen).decision is None


def test_with_no_first_role_whoever_is_new_waits_for_an_admin(workspace: Workspace) -> None:
    ann = _signed_in(workspace, ANN, "none")
    with pytest.raises(NotAllowedError, match="An admin must let you in now"):
        ann.cases.find()
    workspace.people.set_disabled(ANN, disabled=False)
    assert ann.actor.role is Role.VIEWER


def test_who_never_signed_in_may_nothing_and_cannot_be_changed(workspace: Workspace) -> None:
    with pytest.raises(NotAllowedError, match="no longer in the list of people"):
        intake.create_case(workspace.acting_as(workspace.user_of(BOB)).cases, "Words.", mode=Mode.AUTOMATION)
    with pytest.raises(InputError, match="Nobody with that issuer"):
        workspace.people.set_role(BOB, Role.ADMIN)


def test_the_last_admin_stays_one(workspace: Workspace) -> None:
    _signed_in(workspace, ANN)
    workspace.people.set_role(ANN, Role.ADMIN)
    ann = workspace.acting_as(workspace.user_of(ANN))
    with pytest.raises(InputError, match="Ann is the only admin"):
        ann.people.set_role(ANN, Role.MODERATOR)
    with pytest.raises(InputError, match="Ann is the only admin"):
        ann.people.set_disabled(ANN, disabled=True)
    _signed_in(workspace, BOB)
    ann.people.set_role(BOB, Role.ADMIN)
    ann.people.set_role(ANN, Role.VIEWER)
    with pytest.raises(NotAllowedError):
        ann.people.everybody()


def test_the_owner_of_a_machine_and_visitors_stand_in_no_table(workspace: Workspace) -> None:
    assert workspace.user_of(local_owner("you"))().role is Role.ADMIN
    assert workspace.user_of(visitor("x"))().role is Role.VIEWER
    assert workspace.people.everybody() == []


def test_one_finds_ones_own_cases_and_those_that_are_shared(workspace: Workspace) -> None:
    ann, bob = _signed_in(workspace, ANN).cases, _signed_in(workspace, BOB).cases
    own, other = (intake.create_case(cases, "The kettle lies.", mode=Mode.AUGMENTATION) for cases in (ann, bob))
    bob.apply(other.id, actions.set_shared, True)
    found = {
        whose: [case.id for case in ann.find(whose=whose)] for whose in (None, Relationship.OWN, Relationship.SHARED)
    }
    assert found == {None: [other.id, own.id], Relationship.OWN: [own.id], Relationship.SHARED: [other.id]}
    assert ann.count(whose=Relationship.SHARED) == 1
    assert workspace.people.names() == {ANN.key: "Ann", BOB.key: "Bob"}


def test_that_somebody_else_has_to_decide_is_among_the_obstacles(workspace: Workspace) -> None:
    case = new_case(workspace, "kettle")
    assert ObstacleKind.NOT_YOURS not in {item.id.kind for item in approval.obstacles_for(workspace.cases, case)}
    settings = workspace.settings.replace(four_eyes=True)
    strict = replace(workspace, stage_context=replace(workspace.stage_context, settings=settings)).acting_as(
        workspace.current_user
    )
    assert approval.obstacles_for(strict.cases, case)[0].sentence == (
        "You began this case. Another moderator or admin must decide it."
    )
    _signed_in(workspace, ANN)
    told = approval.obstacles_for(workspace.acting_as(workspace.user_of(ANN)).cases, case)[0].sentence
    assert told == "Only moderators and admins may decide this case."


def test_a_visitor_practises_where_no_other_sees_it_and_what_they_leave_goes(workspace: Workspace) -> None:
    one, other = (workspace.acting_as(workspace.user_of(visitor(number))).cases for number in ("1" * 32, "2" * 32))
    case = intake.create_case(one, "The kettle lies.", mode=Mode.AUGMENTATION, recorded_answers=True)
    intake.edit_post(one, case.id, "The kettle lies!")
    assert one.apply(approval.decide_case(one, case.id, DecisionKind.REJECTED).id, actions.reopen).decision is None
    assert (one.count(), other.count()) == (1, 0)
    with pytest.raises(NotAllowedError):
        other.get(case.id)
    with pytest.raises(NotAllowedError):
        one.apply(case.id, actions.set_shared, True)
    with pytest.raises(NotAllowedError):
        actions.use_own_engine(one, case.id)
    with pytest.raises(NotAllowedError):
        intake.create_case(one, "The kettle lies.", mode=Mode.AUGMENTATION)
    kept = new_case(workspace, "kettle")
    assert workspace.forget_visitors() == 0
    assert workspace.store.forget(VISITOR, datetime.now(UTC) + timedelta(days=1)) == 1
    assert [summary.id for summary in workspace.cases.find()] == [kept.id]


# --- settings ---


def _set(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    for name, value in values.items():
        monkeypatch.setenv(f"CROWDNOTES_SIGN_IN_{name}", value)


@pytest.mark.parametrize("address", ["localhost", "127.0.0.1", "127.1.2.3", "::1"])
def test_a_machine_of_ones_own_needs_no_sign_in(address: str) -> None:
    settings = load_settings()
    assert settings.sign_in.way is SignIn.NOBODY
    settings.require_safe_address(address)


@pytest.mark.parametrize("address", [None, "", "0.0.0.0", "::", "192.168.1.7", "notes.example.org", "127.0.0.1.evil"])
def test_without_sign_in_no_other_address_is_served(monkeypatch: pytest.MonkeyPatch, address: str | None) -> None:
    with pytest.raises(ConfigurationError, match="Without sign-in CrowdNotes is for one person"):
        load_settings().require_safe_address(address)
    monkeypatch.setenv("CROWDNOTES_PARTICIPANTS_ONLY", "true")
    load_settings().require_safe_address(address)
    monkeypatch.delenv("CROWDNOTES_PARTICIPANTS_ONLY")
    _set(monkeypatch, DEMO="true")
    load_settings().require_safe_address(address)
    _set(monkeypatch, DEMO="false", **_OPENID)
    load_settings().require_safe_address(address)


def test_a_proxys_header_is_trusted_on_loopback_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    _set(monkeypatch, USER_HEADER="X-Forwarded-User")
    settings = load_settings()
    settings.require_safe_address("127.0.0.1")
    with pytest.raises(ConfigurationError, match="trusts everyone who can reach CrowdNotes"):
        settings.require_safe_address("0.0.0.0")
    with pytest.raises(ConfigurationError, match=r"at every address"):
        settings.require_safe_address(None)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"CLIENT_ID": ""}, "CROWDNOTES_SIGN_IN_CLIENT_ID"),
        ({"COOKIE_SECRET": "short"}, "CROWDNOTES_SIGN_IN_COOKIE_SECRET"),
        ({"PUBLIC_URL": "http://notes.example.org"}, "not https"),
        ({"PUBLIC_URL": "notes.example.org"}, "not an http or https address"),
        ({"METADATA_URL": ""}, "also needs: CROWDNOTES_SIGN_IN_METADATA_URL"),
        ({"USER_HEADER": "X-Forwarded-User"}, "set only one of"),
        ({"DEMO": "true"}, "set only one of"),
        ({"FIRST_ROLE": "admin"}, "CROWDNOTES_SIGN_IN_FIRST_ROLE"),
    ],
)
def test_half_a_sign_in_is_refused_and_no_secret_is_told(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], told: str
) -> None:
    _set(monkeypatch, **_OPENID | changed)
    with pytest.raises(ConfigurationError) as refused:
        load_settings()
    assert told in str(refused.value)
    assert _OPENID["CLIENT_SECRET"] not in str(refused.value)
    assert "c" * 32 not in str(refused.value)


def test_an_address_on_this_machine_needs_no_https(monkeypatch: pytest.MonkeyPatch) -> None:
    _set(monkeypatch, **_OPENID | {"PUBLIC_URL": "http://localhost:8501/"})
    assert load_settings().sign_in.public_url == "http://localhost:8501"
    assert load_settings().sign_in.way is SignIn.OPENID
