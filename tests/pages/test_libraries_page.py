"""The Libraries page adds, searches and removes local libraries."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.domain import Role
from pages.common import shared_workspace
from tests.fakes import actor
from tests.pages.conftest import Desk, field, press, texts

PAGE = "pages/libraries.py"
CSV = (
    "title,url,text\nVitamin C,https://a.example.org/c,Vitamin C does not prevent colds in the general population at "
    "all.\nKettles,https://a.example.org/k,Boiling the water in a kettle twice does not make it a poison.\n"
)


def finish(desk: Desk, at: AppTest) -> None:
    desk.finish(desk.latest("libraries").id)
    assert not at.run().exception


def health(desk: Desk, tmp_path: Path) -> None:
    """A library of one table."""
    table = tmp_path / "t.csv"
    table.write_text(CSV, encoding="utf-8")
    desk.workspace.libraries.add(table, "health")


def uploaded(desk: Desk, file: str, content: bytes, called: str) -> AppTest:
    """The page after an upload, when its job has ended."""
    at = desk.app(page=PAGE)
    at.file_uploader[0].upload(file, content)
    field(at, "Name of the library").set_value(called)
    press(at, "Add the library")
    assert not at.exception
    finish(desk, at)
    return at


def searched(desk: Desk, tmp_path: Path) -> AppTest:
    """The page with a library of one table, searched for vitamin C."""
    health(desk, tmp_path)
    at = desk.app(page=PAGE)
    field(at, "A claim or question").set_value("vitamin C")
    press(at, "Search")
    return at


def test_without_a_library_the_page_says_how_to_add_one(desk: Desk) -> None:
    at = desk.app(page=PAGE)
    assert not at.exception
    assert "There is no library yet." in texts(at)


def test_an_uploaded_table_becomes_a_library_that_can_be_searched(desk: Desk) -> None:
    at = uploaded(desk, "../../evil.csv", CSV.encode(), "health")
    assert "The library is ready." in texts(at)
    assert [info.records for info in desk.workspace.libraries.list()] == [2]

    field(at, "A claim or question").set_value("does vitamin C prevent colds")
    press(at, "Search")
    assert "Vitamin C does not prevent colds" in texts(at)


def test_a_library_without_a_name_takes_the_file_s_and_an_error_is_beside_the_button(desk: Desk) -> None:
    at = uploaded(desk, "../My list (2).v1.csv", CSV.encode(), "")
    assert [info.name for info in desk.workspace.libraries.list()] == ["My-list-2"]
    press(at, "Add the library")
    finish(desk, at)
    shown = texts(at)
    assert "A library “My-list-2” already exists." in shown
    assert [item.label for item in at.button].index("Add the library") < [item.label for item in at.button].index(
        "Close"
    )


def test_a_file_of_fact_checks_becomes_a_library_that_says_what_it_brings_and_how_old_it_is(desk: Desk) -> None:
    at = desk.app(page=PAGE)
    at.segmented_control(key="library-kind").set_value("Fact-checks").run()
    review = b'{"@type": "ClaimReview", "claimReviewed": "Garlic cures the flu", "datePublished": "2020-02-03"}'
    at.file_uploader[0].upload("feed.json", review + b'{"@type": "ClaimReview", "claim')
    field(at, "Name of the library").set_value("checked")
    press(at, "Add the library")
    finish(desk, at)
    shown = texts(at).replace("\\", "")
    assert "1 fact-check · 1 language · newest of 2020-02-03" in shown
    assert "fact-check 2 of feed.json: the file breaks off here" in shown


def test_a_file_that_cannot_be_read_is_called_by_its_own_name(desk: Desk) -> None:
    at = uploaded(desk, "my list.jsonl", b"{broken\n", "list")
    assert any("my list" in error.value and "cannot read" in error.value for error in at.error)


def test_without_a_file_nothing_is_added(desk: Desk) -> None:
    at = desk.app(page=PAGE)
    press(at, "Add the library")
    assert "Choose a table or a folder first." in texts(at)


def test_a_person_can_say_which_column_is_the_text(desk: Desk) -> None:
    at = desk.app(page=PAGE)
    at.file_uploader[0].upload("t.csv", b"first,second\nLong words about kettles and water.,Words on apples.\n")
    field(at, "Name of the library").set_value("two")
    text = at.run().selectbox(key=_column_key(at))
    assert text.value == "first"
    assert "Long words about kettles and water" in at.table[0].value.to_string()
    text.set_value("second").run()
    assert "Words on apples" in at.table[0].value.to_string()
    press(at, "Add the library")
    finish(desk, at)
    assert desk.workspace.libraries.document("two", 0).text == "Words on apples."


def test_a_column_without_a_name_is_not_offered(desk: Desk) -> None:
    at = desk.app(page=PAGE)
    at.file_uploader[0].upload("t.csv", b",words,link\n0,Long words about kettles.,none\n")
    at.run()
    assert not at.exception, at.exception
    offered = [list(box.options) for box in at.selectbox if box.label in {"Text", "Title or question"}]
    assert offered == [["words", "link"], ["none", "words", "link"]]


def test_what_was_filled_in_stays_when_the_library_cannot_be_added(desk: Desk, tmp_path: Path) -> None:
    health(desk, tmp_path)
    at = desk.app(page=PAGE)
    at.file_uploader[0].upload("t.csv", b"first,second\nLong words about kettles.,Words on apples.\n")
    field(at.run(), "Name of the library").set_value("health")
    at.selectbox(key=_column_key(at)).set_value("second").run()
    press(at, "Add the library")
    finish(desk, at)
    assert "The library was not added." in texts(at)
    assert at.selectbox(key=_column_key(at)).value == "second"
    assert field(at, "Name of the library").value == "health"
    press(at, "Close")
    assert "The library was not added." not in texts(at)


def _column_key(at: AppTest) -> str:
    return next(str(box.key) for box in at.selectbox if box.label == "Text")


def test_a_title_that_is_taken_away_is_not_guessed_again_and_a_table_needs_a_text(desk: Desk) -> None:
    at = desk.app(page=PAGE)
    at.file_uploader[0].upload("t.csv", CSV.encode())
    title = next(box for box in at.run().selectbox if box.label == "Title or question")
    assert title.value == "title"
    title.set_value("").run()
    press(at, "Add the library")
    finish(desk, at)
    assert desk.workspace.libraries.document("t", 0).title.startswith("Vitamin C does not prevent")

    at = desk.app(page=PAGE)
    at.file_uploader[0].upload("n.csv", b"a,b\n1,2\n")
    press(at.run(), "Add the library")
    assert "Choose the column that holds the text." in texts(at)


def test_a_library_without_addresses_says_that_a_note_needs_a_link(desk: Desk, tmp_path: Path) -> None:
    for name, table in {"linked": CSV, "bare": "title,text\nKettles,Boiling water twice makes no poison.\n"}.items():
        path = tmp_path / f"{name}.csv"
        path.write_text(table, encoding="utf-8")
        desk.workspace.libraries.add(path, name)
    assert texts(desk.app(page=PAGE)).count("No web addresses.") == 1


def test_a_folder_of_documents_becomes_a_library_and_names_what_was_passed_over(desk: Desk) -> None:
    at = desk.app(page=PAGE)
    at.segmented_control(key="library-kind").set_value("A folder").run()
    at.file_uploader[0].set_value(
        [
            ("notes/kettle.txt", b"Boiling the water in a kettle twice makes no poison.", "text/plain"),
            ("../up/empty.txt", b"", "text/plain"),
        ]
    )
    field(at, "Name of the library").set_value("notes")
    press(at, "Add the library")
    finish(desk, at)
    assert [info.records for info in desk.workspace.libraries.list()] == [1]
    assert "1 skipped" in texts(at)


def test_an_empty_search_says_so_and_clears_what_was_found_before(desk: Desk, tmp_path: Path) -> None:
    at = searched(desk, tmp_path)
    assert "Vitamin C does not prevent colds" in texts(at)
    assert "record 1 of health" in texts(at)
    field(at, "A claim or question").set_value("")
    press(at, "Search")
    assert "What should we search for?" in texts(at)
    assert "Vitamin C does not prevent colds" not in texts(at)


def test_a_library_can_be_removed(desk: Desk, tmp_path: Path) -> None:
    health(desk, tmp_path)
    at = desk.app(page=PAGE)
    at.button(key="remove-health").click().run()
    assert desk.workspace.libraries.list() == []


def test_a_damaged_library_is_named_and_can_be_removed_while_the_others_work(desk: Desk, tmp_path: Path) -> None:
    health(desk, tmp_path)
    (desk.workspace.settings.libraries_dir / "hurt.sqlite").write_bytes(b"not a database at all")
    at = desk.app(page=PAGE)
    assert not at.exception
    assert "2 records" in texts(at)
    assert "its file is damaged" in texts(at)
    at.button(key="remove-hurt").click().run()
    assert desk.workspace.libraries.broken() == ()
    assert "its file is damaged" not in texts(at)
    assert "2 records" in texts(at)


def test_a_damaged_library_does_not_stop_the_draft_page(desk: Desk) -> None:
    desk.workspace.settings.libraries_dir.mkdir()
    (desk.workspace.settings.libraries_dir / "hurt.sqlite").write_bytes(b"not a database at all")
    at = desk.app()
    at.session_state["new-post-mode"] = "automation"
    at.run()
    assert at.button(key="start")


def test_the_draft_page_offers_the_libraries(desk: Desk, tmp_path: Path) -> None:
    health(desk, tmp_path)
    at = desk.app()
    at.session_state["new-post-mode"] = "automation"
    at.run()
    assert not at.exception
    assert at.session_state["new-post-libraries"] == ["health"]


def test_who_may_not_change_the_libraries_reads_that_and_sees_no_form(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    health(desk, tmp_path)
    moderator = desk.workspace.acting_as(lambda: actor("mona", Role.MODERATOR))
    monkeypatch.setattr(shared_workspace, "open_workspace", lambda: moderator)
    at = desk.app(page=PAGE)
    assert "Only admins may add and remove libraries." in texts(at)
    assert not at.file_uploader
    assert not any(button.label == "Remove this library" for button in at.button)
    field(at, "A claim or question").set_value("vitamin C")
    press(at, "Search")
    assert "Vitamin C does not prevent colds" in texts(at)
