"""`crowdnotes supernote`: from a file of notes to a draft that awaits inspection; newer notes; the ablation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from crowdnotes.cli import draft
from crowdnotes.cli.main import app
from crowdnotes.domain import ExistingNote
from crowdnotes.errors import CrowdNotesError, InputError
from crowdnotes.settings import Settings
from crowdnotes.workspace import Workspace, open_workspace
from tests.cases.test_supernote_actions import NEWER, NOTES, ThinkingEngine, Web
from tests.fakes import HashingEmbedder, LiveLinks, ScriptedEngine
from tests.shared import put_tables

_PILOT = """noteId\tparticipantId\tcreatedAtMillis\ttweetId\tclassification\tsummary
7\tA\t1611861332737\t99\tMISINFORMED_OR_POTENTIALLY_MISLEADING\tThe kettle was tested and no harm was found. https://a.example.org/1
8\tB\t1611861332738\t99\tMISINFORMED_OR_POTENTIALLY_MISLEADING\tThe survey asked 12 people alone. https://b.example.org/1
9\tB\t1611861332739\t98\tMISINFORMED_OR_POTENTIALLY_MISLEADING\tAnother post. https://b.example.org/2
"""


class Command:
    """`crowdnotes supernote` with this engine, and fakes around it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.engine: ScriptedEngine = ScriptedEngine()
        monkeypatch.setenv("CROWDNOTES_DATA_DIR", str(folder / "data"))
        put_tables(folder / "data" / "crowdnotes.sqlite")
        monkeypatch.setattr(draft, "open_workspace", self._opened)

    def _opened(self, settings: Settings, by: str) -> Workspace:
        return open_workspace(
            settings, by=by, embedder=HashingEmbedder(), engine=self.engine, fetcher=Web(), links=LiveLinks()
        )

    def __call__(self, *words: str) -> Result:
        return CliRunner().invoke(app, ["supernote", *words])

    def told(self, *words: str) -> Any:
        """Its JSON."""
        result = self(*words, "--json")
        assert result.exit_code == 0, (result.stderr, result.exception)
        return json.loads(result.stdout)

    def notes(self, *given: ExistingNote) -> str:
        """A file of these notes."""
        path = self.folder / "notes.json"
        path.write_text(json.dumps([{"text": note.text, "helpful": note.ratings.helpful} for note in given]))
        return str(path)


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(tmp_path, monkeypatch)


_POST = ("--post", "The kettle makes people ill!")


def test_a_file_of_notes_becomes_a_case_and_newer_notes_change_what_changed(command: Command) -> None:
    first = command.told(*_POST, "--notes", command.notes(*NOTES), "--candidates", "9", "--ablation")
    assert first["winner"]["text"] in [item["text"] for item in first["candidates"]]
    assert set(first["existing"]) == {"N1", "N2", "N3"}
    assert (first["expected"], first["not_run"]["the linked pages say it"]) == ("no cost", len(first["candidates"]))
    assert first["ablation"]["random"]["text"] != first["ablation"]["chosen"]["text"] == first["winner"]["text"]
    newer = command.told("--case", first["case"], "--notes", command.notes(*NOTES, NEWER))
    assert (newer["case"], newer["round"], newer["written_from"]) == (first["case"], 2, ["N4"])
    assert newer["watched"]["better"]


def test_it_can_be_read_by_a_person(command: Command) -> None:
    result = command(*_POST, "--notes", command.notes(*NOTES), "--candidates", "9", "--ablation")
    assert result.exit_code == 0, result.stderr
    for words in (
        "The winner, chosen by",
        "The best existing note",
        "A random draft",
        "Credit by words",
        "NOT RUN",
    ):
        assert words in result.stdout
    assert "Expected: no cost" in result.stderr


def test_a_model_is_not_paid_for_before_somebody_said_yes(command: Command) -> None:
    command.engine = ThinkingEngine()
    result = command(*_POST, "--notes", command.notes(*NOTES), "--candidates", "10")
    assert isinstance(result.exception, InputError)
    assert "Nothing was spent." in str(result.exception)
    assert "Expected: 5 calls, about" in result.stderr
    case_id = next(line.split()[1] for line in result.stderr.splitlines() if line.startswith("case "))
    assert command.told("--case", case_id, "--yes")["winner"]


def test_notes_of_xs_public_files_need_no_words_of_the_post(command: Command) -> None:
    (command.folder / "notes-00000.tsv").write_text(_PILOT, encoding="utf-8")
    told = command.told("--data", str(command.folder), "--post-id", "99", "--candidates", "5")
    assert (told["post"], len(told["existing"]), told["best_existing"]["id"]) == ("", 2, told["best_existing"]["id"])
    assert told["stages"]["candidates"].startswith("3 drafts from 2 notes")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([*_POST], "There are no notes."),
        ([*_POST, "--notes", "none.csv"], "We cannot read none.csv"),
        ([*_POST, "--notes", "a.csv", "--data", "b"], "Give one source of notes."),
        (["--data", "."], "Which post?"),
        (["--case", "none"], "There is no such case."),
    ],
)
def test_a_refusal_is_one_sentence(command: Command, words: list[str], sentence: str) -> None:
    result = command(*words)
    assert isinstance(result.exception, CrowdNotesError)
    assert sentence in str(result.exception)
