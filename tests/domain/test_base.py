"""Changed copies of frozen models."""

from __future__ import annotations

import pytest
from pydantic import Field, ValidationError

from crowdnotes.domain import Span
from crowdnotes.domain.base import FrozenModel
from crowdnotes.settings_sections import LlmSettings


class Shelf(FrozenModel):
    """A model with a constraint, a collection and another model."""

    books: int = Field(0, ge=0)
    names: tuple[str, ...] = ()
    span: Span = Span(start=0, end=1)


def test_a_changed_copy_shares_the_rest() -> None:
    shelf = Shelf(names=("a", "b"))
    changed = shelf.replace(books=2)
    assert (changed.books, shelf.books) == (2, 0)
    assert changed.names is shelf.names
    assert changed.span is shelf.span
    assert type(changed) is Shelf
    assert changed == Shelf(books=2, names=("a", "b"))
    assert hash(changed) == hash(Shelf(books=2, names=("a", "b")))


def test_a_collection_stays_frozen() -> None:
    assert Shelf().replace(names=["a"]).names == ("a",)
    with pytest.raises(ValidationError, match="frozen"):
        Shelf().replace(books=1).books = 2  # type: ignore[misc]


@pytest.mark.parametrize("changes", [{"books": "many"}, {"books": -1}, {"names": (1,)}, {"span": None}], ids=str)
def test_a_changed_field_is_validated(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(changes))):
        Shelf().replace(**changes)


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="Shelf has no field book, titles"):
        Shelf().replace(titles=(), book=1)


def test_a_rule_about_two_fields_holds_for_both_new_values() -> None:
    assert Span(start=0, end=1).replace(start=5, end=9) == Span(start=5, end=9)
    with pytest.raises(ValidationError, match="ends before it starts"):
        Span(start=0, end=1).replace(start=5)


def test_settings_are_replaced_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = LlmSettings(base_url="http://127.0.0.1:1/v1")
    monkeypatch.setenv("CROWDNOTES_LLM_BASE_URL", "http://127.0.0.1:2/v1")
    assert settings.replace(max_retries=0).base_url == settings.base_url
    with pytest.raises(ValidationError):
        settings.replace(max_retries=-1)
