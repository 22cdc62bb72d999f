"""The page of batches: a file is looked through, kept, worked on, stopped, and its results are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.batches import Batch, kept_batches
from crowdnotes.domain import Role
from pages.common import shared_workspace
from tests.cases.walk import make_library
from tests.fakes import actor
from tests.pages.conftest import Desk, press, texts, titles

PAGE = "pages/batches.py"
POSTS = b'{"id": "first", "text": "The kettle makes people ill."}\n{"id": "second", "text": "The lantern does."}\n{\n'


def _uploaded(desk: Desk, name: str = "posts.jsonl", content: bytes = POSTS) -> AppTest:
    at = desk.app(page=PAGE)
    at.file_uploader[0].upload(name, content).run()
    assert not at.exception
    return at


def _batch(desk: Desk) -> Batch:
    return Batch(desk.workspace, kept_batches(desk.workspace, 1)[0].id)


def _ended(desk: Desk, at: AppTest) -> None:
    job = _batch(desk).job()
    assert job is not None
    desk.finish(job.id)
    assert not at.run().exception


def test_a_file_is_shown_before_it_is_kept_and_its_posts_become_cases(desk: Desk, tmp_path: Path) -> None:
    desk.workspace.libraries.add(make_library(tmp_path), "topics")
    at = _uploaded(desk)
    assert "1 of 3 rows cannot be used" in texts(at)
    assert "Row 3: We cannot read it" in texts(at)
    assert list(at.table[0].value["id"]) == ["first", "second"]
    assert "For each post we search: topics." in texts(at)
    press(at, "Start with 2 posts")
    _ended(desk, at)
    assert desk.workspace.cases.count() == 2
    shown = texts(at)
    assert "2 done" in shown
    assert "row 1 · first" in shown
    assert "The kettle makes people ill." in shown
    assert "Cost" not in shown
    assert next(link.proto.page for link in at.get("page_link")) == "cases"
    assert "We cannot read it" in shown
    assert any("jsonl" in button.label for button in desk.app(page=PAGE).button)


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"id,words\na,One\n", "Choose the column that holds the posts."), (b"", "The file has no rows.")],
)
def test_a_file_without_posts_says_what_it_has(desk: Desk, content: bytes, told: str) -> None:
    at = _uploaded(desk, "posts.csv", content)
    assert told in texts(at)
    assert not any(button.label.startswith("Start") for button in at.button)


def test_the_column_of_posts_can_be_chosen_and_what_repeats_is_said(desk: Desk) -> None:
    rows = "".join(f"{name},The kettle makes people ill.,\n" for name in "abcdefg")
    at = _uploaded(desk, "posts.csv", f"id,words,links\n{rows}".encode())
    at.selectbox(key="batch-posts").set_value("words").run()
    shown = texts(at)
    assert "row 2 (as row 1), row 3 (as row 1), row 4 (as row 1), and 3 more" in shown
    assert "The first 5 of 7 posts." in shown
    assert list(at.table[0].value.columns) == ["id", "text"]  # no row has links
    press(at, "Start with 7 posts")
    _ended(desk, at)
    assert {row["post"] for row in _batch(desk).results()} == {"The kettle makes people ill."}


def test_the_column_of_links_is_known_by_its_name_and_posts_without_a_link_are_counted_before_the_start(
    desk: Desk,
) -> None:
    rows = "a,One,https://e.example/1\nb,Two,\nc,Three,\n"
    at = _uploaded(desk, "posts.csv", f"number,text,sources\n{rows}".encode())
    shown = texts(at)
    assert ":gray-badge[number] :green-badge[text: post] :green-badge[sources: links to sources]" in shown
    assert "2 of 3 posts have no link and no search is set up: they will get no note." in shown
    assert "Add the missing links to “sources” in the file, or set up a search first." in shown
    assert "https://e.example/1" in at.table[0].value["links"].to_string()


def test_the_column_of_links_can_be_chosen(desk: Desk, tmp_path: Path) -> None:
    rows = "One,https://e.example/1,https://e.example/2\n"
    at = _uploaded(desk, "posts.csv", f"text,here,there\n{rows}".encode())
    assert at.selectbox(key="batch-links").options == ["here", "there"]
    assert "1 of 1 post has no link" in texts(at)
    assert "Choose the column of links above, or set up a search first." in texts(at)
    at.selectbox(key="batch-links").set_value("there").run()
    assert "there: links to sources" in texts(at)
    assert "no link" not in texts(at)
    press(at, "Start with 1 post")
    _ended(desk, at)
    assert desk.only().urls == ("https://e.example/2",)
    desk.workspace.libraries.add(make_library(tmp_path), "topics")
    assert "no link" not in texts(_uploaded(desk, "posts.csv", b"text\nOne\n")), "it is searched"


def test_a_budget_that_cannot_be_held_is_told_and_a_batch_that_is_not_there(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = _uploaded(desk)
    assert [item.label for item in at.number_input] == ["Posts at once"]  # nothing costs anything
    monkeypatch.setattr(type(desk.workspace.engine), "uses_language_model", True)
    monkeypatch.setattr("crowdnotes.batches.price_is_known", lambda *_: False)
    monkeypatch.setattr("crowdnotes.batches.is_free", lambda *_: False)
    at.run().number_input[0].set_value(5.0)
    press(at, "Start with 2 posts")
    assert "We do not know the model's price" in texts(at)
    assert _batch(desk).job() is None
    at.query_params["batch"] = "none"
    assert "There is no such batch." in texts(at.run())


def test_who_may_not_take_files_is_told_who_may(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    author = desk.workspace.acting_as(lambda: actor("ann", Role.CONTRIBUTOR))
    monkeypatch.setattr(shared_workspace, "open_workspace", lambda: author)
    at = desk.app(page=PAGE)
    assert "make cases from a file of posts" in " ".join(titles(at) + [error.value for error in at.error])
    assert not at.file_uploader
    assert "Posts from a file" not in texts(at.switch_page("pages/cases.py").run())
