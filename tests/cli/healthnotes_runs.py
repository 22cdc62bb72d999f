"""Runs of `crowdnotes bench healthnotes` over a small library, with fakes around them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crowdnotes import workspace
from crowdnotes.cli.main import app
from crowdnotes.domain import Evidence, FetchOutcome, Post
from crowdnotes.engines import Brief, WriterAnswer
from crowdnotes.evidence.fetching import Page, no_check
from crowdnotes.evidence.reading.document import HTML
from crowdnotes.testing import HashingEmbedder, LiveLinks
from tests.cases.walk import TOPICS, TopicEngine, post_about, small_workspace

_MARCH_2024 = 1_709_300_000_000


class WritingEngine(TopicEngine):
    """Does `before_writing` first, which may raise."""

    before_writing: Callable[[Post], None] = staticmethod(lambda _: None)

    def write(
        self, brief: Brief, evidence: Sequence[Evidence], budget: int, count: int, *, earlier: Sequence[str] = ()
    ) -> WriterAnswer:
        self.before_writing(brief.post)
        return super().write(brief, evidence, budget, count, earlier=earlier)


class KettleWeb:
    """Pages about the kettle; those of another host are not there."""

    def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
        if "gone" in url:
            return Page(url, url, FetchOutcome.UNREACHABLE, datetime.now(UTC), detail="No answer.")
        words = "<p>A review of the kettle found no illness in people. The kettle was watched for years.</p>" * 3
        body = f"<html><head><title>Kettle</title></head><body><article>{words}</article></body></html>"
        return Page(url, url, FetchOutcome.READ, datetime.now(UTC), HTML, "utf-8", body.encode())


def commands_with(made: WritingEngine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> WritingEngine:
    """Commands get this engine, with fakes around it, and the library "topics"."""
    monkeypatch.setenv("CROWDNOTES_DATA_DIR", str(folder / "data"))
    small_workspace(folder).close()
    opened = partial(
        workspace.open_workspace, embedder=HashingEmbedder(), engine=made, fetcher=KettleWeb(), links=LiveLinks()
    )
    monkeypatch.setattr(workspace, "open_workspace", opened)
    return made


def notes_file(folder: Path, count: int = 4, note: str = "No illness was found. https://a.example.org/kettle") -> Path:
    rows = [
        {
            "note_id": str(number),
            "post": post_about(topic),
            "note": note,
            "created_at_ms": _MARCH_2024,
            "status": "CURRENTLY_RATED_HELPFUL" if number % 2 else "CURRENTLY_RATED_NOT_HELPFUL",
        }
        for number, topic in enumerate(TOPICS[:count], 1)
    ]
    path = folder / "notes.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def bench(folder: Path, *words: str, mode: str = "automation", data: Path | None = None) -> Any:
    command = [
        "bench",
        "healthnotes",
        "--data",
        str(data or notes_file(folder)),
        "--mode",
        mode,
        "--out",
        str(folder / "run"),
    ]
    return CliRunner().invoke(app, [*command, *words])


def as_json(result: Any) -> Any:
    assert result.exit_code == 0, (result.stderr, result.exception)
    return json.loads(result.stdout)


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "run" / "posts.jsonl").read_text(encoding="utf-8").splitlines()]
