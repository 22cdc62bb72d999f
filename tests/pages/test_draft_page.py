"""The Draft page as a whole: faults told in a sentence, and nothing from outside that acts."""

from __future__ import annotations

import pytest

from crowdnotes.cases import intake
from crowdnotes.errors import StoreBusyError
from tests.pages.conftest import PASSAGE, Desk, note_of, texts


def test_a_failing_store_is_told_with_its_next_step(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object, **__: object) -> None:
        raise StoreBusyError("The database is in use by another program.")

    case = desk.drafted()
    at = desk.app(case)
    monkeypatch.setattr(type(desk.workspace.cases), "apply", busy)
    note_of(at).set_value("A text that cannot be saved now.").run()
    assert "The database is in use by another program." in texts(at)
    assert "then try again" in texts(at)
    assert note_of(at).value == "A text that cannot be saved now."


def test_an_error_that_nobody_foresaw_is_logged_and_told_without_a_traceback(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a secret detail")

    case = desk.case()
    monkeypatch.setattr(type(desk.workspace.cases), "get", broken)
    at = desk.app(case)
    assert not at.exception
    assert "something went wrong" in texts(at)
    assert "a secret detail" not in texts(at)
    assert "a secret detail" in caplog.text


def test_text_from_outside_stands_in_markdown_only_when_disarmed(desk: Desk) -> None:
    hostile = "![x](https://evil.example/i.png) :red[loud] $x^2$ <b>bold</b>"
    case = desk.case(hostile)
    intake.add_passage_by_hand(desk.workspace.cases, case.id, url=None, title=hostile, text=PASSAGE + hostile)
    at = desk.app(case)
    assert not at.exception
    for item in (*at.markdown, *at.caption):
        assert "![x]" not in item.value
        assert ":red[loud]" not in item.value
        assert "<b>" not in item.value
