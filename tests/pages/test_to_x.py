"""To X on the Draft page: the score before approval, the note after it, and nothing where X is not set up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crowdnotes.cases import actions, approval
from crowdnotes.domain import Case, DecisionKind
from crowdnotes.settings import XSettings
from crowdnotes.x_api.client import XClient
from crowdnotes.x_api.submission import ToX
from pages.common import shared_workspace
from tests.pages.conftest import NOTE, Desk, texts
from tests.x_server import KEYS, XServer


def _with_x(desk: Desk, server: XServer, monkeypatch: pytest.MonkeyPatch) -> None:
    client = XClient(XSettings.model_validate({**KEYS, "url": server.url}))
    x = ToX(desk.workspace.runner.engine, desk.workspace.cases, client)
    opened = replace(desk.workspace, x=x)
    monkeypatch.setattr(shared_workspace, "open_workspace", lambda: opened)


def _ready(desk: Desk) -> Case:
    case = desk.scored()
    desk.changed(case, post=case.post.replace(url="https://x.com/somebody/status/100"))
    return desk.workspace.cases.apply(case.id, actions.set_tags, ["misleadingFactualError"])


def test_x_scores_a_note_and_gets_it_once_it_is_approved(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with XServer().running() as server:
        _with_x(desk, server, monkeypatch)
        case = _ready(desk)
        at = desk.app(case)
        at.button(key="x-evaluate").click().run()
        assert "claim-opinion score: **1.25**" in texts(at)
        at.button(key="decide-approved").click().run()
        assert "shows the note to nobody" in texts(at)
        at.button(key="x-send").click().run()
        assert [sent["info"]["text"] for sent in server.posted] == [NOTE]
        assert "Sent to X as a test" in texts(at)
        at.button(key="x-ask").click().run()
        assert "On X: **needs more ratings**" in texts(at)
        assert not at.exception


def test_without_keys_nothing_of_it_shows(desk: Desk) -> None:
    case = _ready(desk)
    assert not [item.key for item in desk.app(case).button if str(item.key).startswith("x-")]
    seen = case.draft.sha256 if case.draft else None
    approval.decide_case(desk.workspace.cases, case.id, DecisionKind.APPROVED, reason="", overrides={}, seen=seen)
    assert "by its API" not in texts(desk.app(case))
