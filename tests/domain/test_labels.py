"""Every stored value that a person reads has words."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import crowdnotes
from crowdnotes.bridging.model import RuleName
from crowdnotes.domain import Event
from crowdnotes.domain.base import LabelledEnum
from crowdnotes.errors import X_FAULT_TEXT, XFault
from crowdnotes.reports.case_figures import Course

_CODE = Path(crowdnotes.__file__).parent
_EVENT_FILES = [*sorted((_CODE / "cases").glob("*.py")), _CODE / "x_api" / "submission.py"]


def _event_kinds() -> Iterator[str]:
    """Every kind of event that is written as a constant: in `with_event`, `Event`, and what tells of X."""
    for file in _EVENT_FILES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name == "with_event":
                kind = node.args[3] if len(node.args) > 3 else None
            elif name in ("_record", "_with_event") and file.name == "submission.py":
                kind = next((arg for arg in node.args if isinstance(arg, ast.Constant)), None)
            else:
                kind = next((word.value for word in node.keywords if name == "Event" and word.arg == "kind"), None)
            if kind is not None:
                yield from (
                    one.value
                    for one in ast.walk(kind)
                    if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value
                )


@pytest.mark.parametrize("enum", [*LabelledEnum.__subclasses__()], ids=lambda enum: enum.__name__)
def test_every_value_has_words_and_is_found_by_its_value(enum: type[LabelledEnum]) -> None:
    assert {RuleName, Course} <= set(LabelledEnum.__subclasses__())
    for member in enum:
        assert member.as_text.strip()
        assert "_" not in member.as_text
        assert enum(str(member.value)) is member


def test_every_kind_of_event_has_words() -> None:
    kinds = set(_event_kinds())
    assert {"note edited", "follow-up search", "created", "sent to X"} <= kinds
    at = datetime(2025, 6, 1, tzinfo=UTC)
    without = {kind for kind in kinds if Event(at=at, by="Ann", kind=kind).as_text == kind}
    assert without == set()


def test_an_event_of_a_newer_version_is_shown_by_its_kind() -> None:
    assert Event(at=datetime(2025, 6, 1, tzinfo=UTC), by="Ann", kind="translated").as_text == "translated"


def test_every_fault_of_x_has_a_message_and_a_next_step() -> None:
    assert set(X_FAULT_TEXT) == set(XFault)
    assert all(message and next_step for message, next_step in X_FAULT_TEXT.values())
