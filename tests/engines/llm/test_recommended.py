"""A model is recommended by memory, the same on the page and in the document."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdnotes.engines.llm.discovery import MODELS, memory_gb, recommended

DOCUMENT = Path(__file__).parents[3] / "docs" / "models.md"


@pytest.mark.parametrize(
    ("gigabytes", "name"),
    [
        (None, None),
        (3.8, None),
        (7.6, "qwen3.5:4b"),
        (15.5, "qwen3.5:9b"),
        (64.0, "qwen3.5:27b"),
        (500.0, "gpt-oss:120b"),
    ],
)
def test_the_largest_that_fits_is_recommended_and_none_for_too_little_or_unknown(
    gigabytes: float | None, name: str | None
) -> None:
    found = recommended(gigabytes)
    assert (found.name if found else None) == name


def test_the_memory_of_this_machine_is_told_or_not_known() -> None:
    memory = memory_gb()
    assert memory is None or memory > 0.1


def test_the_document_says_the_same() -> None:
    rows = DOCUMENT.read_text(encoding="utf-8")
    for model in MODELS:
        assert f"| {model.from_gb} GB | `ollama pull {model.name}` | {model.size} | {model.about} |" in rows
