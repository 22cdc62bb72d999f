"""The commands around cases and libraries: sentences instead of tracebacks, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from tests.cases.walk import draft_and_approve, make_library, small_workspace
from tests.command_line import crowdnotes


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["cases", "show", "nothere"], "There is no such case"),
        (["cases", "list", "--status", "sleeping"], "There is no status “sleeping”"),
        (["cases", "expire"], "Remove cases after how many days"),
        (["library", "add", "missing.csv", "--name", "x"], "missing.csv"),
        (["library", "search", "none", "words"], "none"),
        (["draft", "--post", "  ", "--mode", "augmentation", "--url", "https://a.example.org"], "The post is empty"),
        (["draft", "--post", "A claim.", "--mode", "augmentation"], "Which source should we read"),
        (["draft", "--post", "A claim.", "--mode", "automation"], "Where should we search"),
        (["draft", "--post", "A claim.", "--mode", "automation", "--library", "nope"], "There is no library “nope”"),
        (["draft", "--post", "A claim.", "--mode", "augmentation", "--url", "ftp://a.org"], "not an http or https"),
        (["draft", "--post", "A claim.", "--mode", "automation", "--image", "no.png"], "cannot read no.png"),
        (["draft", "--post", "A claim.", "--mode", "automation", "--image-text", "x"], "More --image-text"),
    ],
)
def test_a_refusal_is_one_sentence_and_exit_code_1(tmp_path: Path, words: list[str], sentence: str) -> None:
    ended = crowdnotes(tmp_path, *words)
    assert ended.returncode == 1
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_bad_setting_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDNOTES_WORKERS", "many")
    ended = crowdnotes(tmp_path, "cases", "list")
    assert ended.returncode == 1
    assert "CROWDNOTES_WORKERS" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_cases_made_elsewhere_are_listed_shown_and_exported(tmp_path: Path) -> None:
    with small_workspace(tmp_path) as workspace:
        case = draft_and_approve(workspace, "kettle", "ann")
    listed = json.loads(crowdnotes(tmp_path, "cases", "list", "--json").stdout)
    assert [item["id"] for item in listed] == [case.id]
    assert json.loads(crowdnotes(tmp_path, "cases", "show", case.id, "--json").stdout)["decision"]["kind"] == "approved"
    assert "kettle" in crowdnotes(tmp_path, "cases", "show", case.id).stdout
    exported = crowdnotes(tmp_path, "cases", "export", "--out", "cases.csv")
    assert exported.returncode == 0
    assert exported.stderr == "1 case written to cases.csv\n"
    assert case.id in (tmp_path / "cases.csv").read_text(encoding="utf-8")


def test_an_image_of_the_post_is_kept_with_what_it_says(tmp_path: Path) -> None:
    Image.new("RGB", (9, 6)).save(tmp_path / "kettle.png")
    (tmp_path / "notes.png").write_text("no picture")
    make_library(tmp_path)
    crowdnotes(tmp_path, "library", "add", "topics.csv", "--name", "topics")
    words = ["draft", "--post", "They never tell you this!", "--mode", "automation", "--library", "topics", "--json"]
    refused = crowdnotes(tmp_path, *words, "--image", "notes.png")
    assert refused.returncode == 1
    assert "“notes.png” is not a picture" in refused.stderr
    ended = crowdnotes(tmp_path, *words, "--image", "kettle.png", "--image-text", "The kettle makes people ill")
    case = json.loads(ended.stdout)
    [image] = case["post"]["images"]
    assert (image["name"], image["width"], image["height"], image["read_by"]) == ("kettle.png", 9, 6, "person")
    assert any("kettle" in hit["title"] for hit in case["hits"])


def test_a_draft_for_which_nothing_is_found_says_so_and_each_step_is_told(tmp_path: Path) -> None:
    make_library(tmp_path)
    crowdnotes(tmp_path, "library", "add", "topics.csv", "--name", "topics")
    ended = crowdnotes(tmp_path, "draft", "--post", "12345 67890", "--mode", "automation", "--library", "topics")
    assert ended.returncode == 0
    assert "We found no source that helps." in ended.stdout
    assert "add your own sources, or decide" in ended.stdout
    told = [line.strip().partition(":")[0] for line in ended.stderr.splitlines() if line.startswith("  ")]
    assert told == ["Choose search words", "Search", "Choose and read sources", "Find the text that matters"]


def test_a_draft_that_fails_names_no_step_that_did_not_begin(tmp_path: Path) -> None:
    make_library(tmp_path)
    crowdnotes(tmp_path, "library", "add", "topics.csv", "--name", "topics")
    words = ["draft", "--post", "They never tell you this!", "--mode", "automation", "--library", "topics"]
    model = {"CROWDNOTES_LLM_BASE_URL": "http://127.0.0.1:9/v1", "CROWDNOTES_LLM_MODEL": "gone"}
    ended = crowdnotes(tmp_path, *words, CROWDNOTES_LLM_MAX_RETRIES="0", **model)
    assert ended.returncode == 1
    told = [line.strip().partition(":")[0] for line in ended.stderr.splitlines() if line.startswith("  ")]
    assert told == ["Choose search words"]


def test_a_library_is_added_listed_and_removed(tmp_path: Path) -> None:
    table = make_library(tmp_path)
    added = json.loads(crowdnotes(tmp_path, "library", "add", str(table), "--name", "topics", "--json").stdout)
    assert added["records"] == 12
    again = crowdnotes(tmp_path, "library", "add", str(table), "--name", "topics")
    assert again.returncode == 1
    assert "topics" in again.stderr
    assert "topics" in crowdnotes(tmp_path, "library", "list").stdout
    assert crowdnotes(tmp_path, "library", "remove", "topics").returncode == 0
    assert json.loads(crowdnotes(tmp_path, "library", "list", "--json").stdout) == []
