"""An approved note goes to X as it stands, once, whatever happens on the way; and only by who may send it."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, insert, select, update

from crowdnotes.cases import actions
from crowdnotes.cases.cases import Cases
from crowdnotes.cases.store import Store
from crowdnotes.cli.x import eligible
from crowdnotes.domain import Case, Draft, OnXState, Post, Role
from crowdnotes.errors import InputError, NotAllowedError, WorkflowError, XError, XFault
from crowdnotes.post_files import rows_of
from crowdnotes.settings import Settings, XSettings
from crowdnotes.storage.database import writing
from crowdnotes.storage.tables import on_x
from crowdnotes.workspace import Workspace
from crowdnotes.x_api.client import XClient
from crowdnotes.x_api.submission import Followed, ToX
from tests.cases.walk import draft_and_approve, small_workspace
from tests.fakes import actor, make_case
from tests.x_server import KEYS, REFUSALS, XServer

_NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Killed(BaseException):
    """The program ends here."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[XServer]:
    with XServer().running() as running:
        for name, value in {**KEYS, "url": running.url}.items():
            monkeypatch.setenv(f"CROWDNOTES_X_{name.upper()}", value)
        yield running


@pytest.fixture(scope="module")
def approved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a workspace with one approved case; a copy of it takes a tenth of the time of making it."""
    folder = tmp_path_factory.mktemp("approved")
    with small_workspace(folder) as made:
        _on_post(made, draft_and_approve(made, "kettle", "ann"), 100)
    return folder


@pytest.fixture
def workspace(server: XServer, approved: Path, tmp_path: Path) -> Iterator[Workspace]:
    shutil.copytree(approved, tmp_path, dirs_exist_ok=True)
    with small_workspace(tmp_path) as opened:
        yield opened


@pytest.fixture
def case(workspace: Workspace) -> Case:
    [only] = workspace.cases.find()
    return workspace.cases.get(only.id)


def _on_post(workspace: Workspace, case: Case, number: int) -> Case:
    url = f"https://x.com/somebody/status/{number}"
    return workspace.store.update(case.id, lambda kept: kept.replace(post=kept.post.replace(url=url)))


def _x(workspace: Workspace) -> ToX:
    assert workspace.x is not None
    return workspace.x


def _seen(case: Case) -> str:
    assert case.draft is not None
    return case.draft.sha256


def _trail(workspace: Workspace, case: Case) -> list[str]:
    return [event.kind for event in workspace.cases.get(case.id).events if "X" in event.kind]


def _later(workspace: Workspace) -> None:
    """As long after the last try as any call may take."""
    with writing(workspace.runner.engine) as connection:
        at = connection.scalar(select(on_x.c.at))
        assert at is not None
        connection.execute(update(on_x).values(at=at - timedelta(minutes=2)))


def test_the_approved_text_is_sent_letter_for_letter_once_and_followed(
    server: XServer, workspace: Workspace, case: Case
) -> None:
    x = _x(workspace)
    assert x.sent(case) is None
    sent = x.submit(case.id, _seen(case))
    assert case.draft is not None
    assert server.posted == [
        {
            "test_mode": True,
            "post_id": "100",
            "info": {
                "text": case.draft.text,
                "classification": "misinformed_or_potentially_misleading",
                "misleading_tags": ["factual_error"],
                "trustworthy_sources": True,
            },
        }
    ]
    with pytest.raises(WorkflowError, match=sent.note_id):
        x.submit(case.id, _seen(case))
    server.notes[0]["status"] = "currently_rated_helpful"
    assert x.follow(case.id).status == x.follow(case.id).status == "currently_rated_helpful"
    assert _trail(workspace, case) == ["being sent to X", "sent to X", "status on X"]
    x.withdraw(case.id)
    assert (server.notes, x.sent(case)) == ([], None)
    assert len(server.posted) == 1


def test_all_that_were_sent_are_followed_with_one_look(server: XServer, workspace: Workspace, case: Case) -> None:
    x = _x(workspace)
    assert x.follow_all() == Followed(listed=(), not_listed=())
    other = _on_post(workspace, draft_and_approve(workspace, "lemon", "ann"), 101)
    for one in (case, other):
        x.submit(one.id, _seen(one))
    server.notes[0]["status"] = "currently_rated_helpful"
    server.asked.clear()
    followed = {one.case_id: one.status for one in x.follow_all().listed}
    assert followed == {case.id: "needs_more_ratings", other.id: "currently_rated_helpful"}
    assert len(server.asked) == 1
    assert _trail(workspace, other)[-1] == "status on X"
    workspace.cases.delete(other.id)
    server.notes.clear()
    found = x.follow_all()
    assert (found.listed, [one.case_id for one in found.not_listed]) == ((), [case.id])


def test_a_crash_before_the_answer_is_looked_up_and_never_sent_blindly(
    server: XServer, workspace: Workspace, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, submit = _x(workspace), _x(workspace).client.submit
    monkeypatch.setattr(x.client, "submit", lambda *_: (_ for _ in ()).throw(Killed))
    with pytest.raises(Killed):
        x.submit(case.id, _seen(case))
    monkeypatch.setattr(x.client, "submit", submit)
    with pytest.raises(WorkflowError, match="has not answered yet"):
        x.submit(case.id, _seen(case))
    _later(workspace)
    assert not server.asked
    assert x.submit(case.id, _seen(case)).state is OnXState.SENT
    assert [path for _, path, _, _ in server.asked] == ["/2/notes/search/notes_written", "/2/notes"]


@pytest.mark.parametrize("press", ["submit", "follow"])
def test_a_crash_between_the_answer_and_what_is_kept_of_it_finds_the_note_again(
    server: XServer, workspace: Workspace, case: Case, monkeypatch: pytest.MonkeyPatch, press: str
) -> None:
    x = _x(workspace)
    with monkeypatch.context() as patched:
        patched.setattr(x, "_arrived", lambda *_: (_ for _ in ()).throw(Killed))
        with pytest.raises(Killed):
            x.submit(case.id, _seen(case))
    _later(workspace)
    found = x.submit(case.id, _seen(case)) if press == "submit" else x.follow(case.id)
    assert (found.state, found.note_id) == (OnXState.SENT, server.notes[0]["id"])
    assert len(server.posted) == len(server.notes) == 1
    assert _trail(workspace, case).count("sent to X") == 1


@pytest.mark.parametrize("arrives", [True, False])
def test_an_answer_that_says_nothing_leaves_it_open_until_x_was_asked(
    server: XServer, workspace: Workspace, case: Case, arrives: bool
) -> None:
    hook = "after" if arrives else "meanwhile"
    setattr(server, hook, lambda method, path: REFUSALS["trouble"]() if path == "/2/notes" else None)
    x = _x(workspace)
    with pytest.raises(XError):
        x.submit(case.id, _seen(case))
    row = x.sent(case)
    assert row is not None
    assert row.state is OnXState.OPEN
    setattr(server, hook, lambda method, path: None)
    _later(workspace)
    assert x.submit(case.id, _seen(case)).note_id == server.notes[0]["id"]
    assert (len(server.notes), len(server.posted)) == (1, 1 if arrives else 2)


def test_a_clear_refusal_may_be_tried_again_and_stands_in_the_trail(
    server: XServer, workspace: Workspace, case: Case
) -> None:
    server.meanwhile = lambda method, path: REFUSALS["credits"]()
    x = _x(workspace)
    with pytest.raises(XError) as raised:
        x.submit(case.id, _seen(case))
    assert (raised.value.fault, x.sent(case)) == (XFault.CREDITS, None)
    server.meanwhile = lambda method, path: None
    x.submit(case.id, _seen(case))
    assert _trail(workspace, case) == ["being sent to X", "not taken by X", "being sent to X", "sent to X"]


def test_two_who_press_at_once_send_one_note(server: XServer, workspace: Workspace, case: Case) -> None:
    both, ends = threading.Barrier(2), list[str]()

    def press(name: str) -> None:
        x = _x(workspace.acting_as(lambda: actor(name)))
        both.wait()
        try:
            x.submit(case.id, _seen(case))
            ends.append("sent")
        except WorkflowError as error:
            ends.append(error.rule)

    threads = [threading.Thread(target=press, args=(name,)) for name in ("ann", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.posted) == len(server.notes) == 1
    assert "sent" in ends
    assert ends[0] != ends[1]


def test_of_two_who_mean_to_send_one_may_on_each_kind_of_database(engine: Engine) -> None:
    settings = Settings(x=XSettings.model_validate(KEYS))
    client, draft = XClient(settings.x), Draft(text="A note", engine="a", written_at=_NOW)
    x = ToX(engine, Cases(Store(engine), actor, lambda: _NOW, settings), client)
    mine = x._intend("c1", "100", draft)
    assert mine is not None
    assert x._intend("c2", "100", draft) is None
    assert x._taken_over(mine, "c2", draft).attempt != mine.attempt
    with pytest.raises(WorkflowError):
        x._taken_over(mine, "c3", draft)
    x._forget(mine)  # it is another's now
    row = x.sent(make_case(post=Post(text="P", url="https://x.com/a/status/100")))
    assert row is not None
    assert row.case_id == "c2"


def test_another_note_of_the_account_on_the_post_is_told_and_nothing_is_claimed(
    server: XServer, workspace: Workspace, case: Case
) -> None:
    x = _x(workspace)
    x.client.submit("100", "Something else. https://e.example", "misinformed_or_potentially_misleading", ["other"])
    with pytest.raises(WorkflowError) as raised:
        x.submit(case.id, _seen(case))
    assert raised.value.rule == "another note"
    row = x.sent(case)
    assert row is not None
    assert row.state is OnXState.OPEN


def test_only_an_approved_text_that_was_seen_is_sent(server: XServer, workspace: Workspace, case: Case) -> None:
    x, cases, seen = _x(workspace), workspace.cases, _seen(case)
    with pytest.raises(WorkflowError) as raised:
        x.submit(case.id, "0" * 64)
    assert raised.value.rule == "changed"
    cases.apply(case.id, actions.reopen)
    with pytest.raises(WorkflowError) as raised:
        x.submit(case.id, seen)
    assert raised.value.rule == "not approved"
    # Reopened by another between the look and the step that writes it down: nothing was sent, nothing is left behind.
    workspace.store.update(case.id, lambda kept: kept.replace(decision=case.decision))
    x._intend = lambda *given: (ToX._intend(x, *given), cases.apply(case.id, actions.reopen))[0]  # type: ignore[method-assign]
    with pytest.raises(WorkflowError) as raised:
        x.submit(case.id, seen)
    assert (raised.value.rule, x.sent(case), server.asked) == ("not approved", None, [])


@pytest.mark.parametrize("changes", [{"recorded_answers": True}, {"post": "nowhere"}, {"tags": ()}])
def test_what_x_has_no_use_for_is_refused_before_it_is_asked(
    server: XServer, workspace: Workspace, case: Case, changes: dict[str, object]
) -> None:
    known = changes if "post" not in changes else {"post": case.post.replace(url=None)}
    workspace.store.update(case.id, lambda kept: kept.replace(**known))
    with pytest.raises((WorkflowError, InputError)):
        _x(workspace).submit(case.id, _seen(case))
    assert server.asked == []


def test_who_may_not_send_neither_sends_nor_asks(server: XServer, workspace: Workspace, case: Case) -> None:
    x = _x(workspace.acting_as(lambda: actor("ann", Role.CONTRIBUTOR)))
    for act in (lambda: x.submit(case.id, _seen(case)), lambda: x.follow(case.id), lambda: x.evaluate(case.id)):
        with pytest.raises(NotAllowedError, match="Only moderators and admins may send notes to X"):
            act()
    assert server.asked == []


def test_a_score_is_of_one_exact_text(workspace: Workspace, case: Case) -> None:
    x = _x(workspace)
    assert x.score(case) is None
    assert x.evaluate(case.id) == x.evaluate(case.id) == x.score(case) == 1.25
    workspace.cases.apply(case.id, actions.reopen)
    assert (
        x.score(workspace.cases.apply(case.id, actions.edit_draft, "Other. https://e.example", based_on=_seen(case)))
        is None
    )


def test_the_day_has_its_limit(server: XServer, workspace: Workspace, case: Case) -> None:
    x = _x(workspace)
    row = {"test_mode": True, "case_id": "c", "text_sha256": "", "attempt": "", "state": "on x"}
    row |= {"note_id": "1", "status": "", "results": ""}
    with writing(workspace.runner.engine) as connection:
        at = workspace.stage_context.clock()
        connection.execute(insert(on_x), [{**row, "post_id": str(number), "at": at} for number in range(250)])
        assert connection.scalar(select(func.count()).select_from(on_x)) == 250
    with pytest.raises(XError) as raised:
        x.submit(case.id, _seen(case))
    assert (raised.value.fault, server.asked) == (XFault.DAY, [])


def test_eligible_posts_are_a_batch_whose_cases_know_their_post(
    server: XServer, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowdnotes.workspace.open_workspace", lambda *_: workspace)
    file = tmp_path / "posts.jsonl"
    eligible(file, most=2, selection="")
    assert [json.loads(line)["id"] for line in file.read_text().splitlines()] == ["100", "101"]
    assert [row.url for row in rows_of(file)] == ["https://x.com/i/status/100", "https://x.com/i/status/101"]
