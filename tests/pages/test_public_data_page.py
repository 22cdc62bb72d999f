"""The page of the public data: a note's story, surges and delays, each picture with its sentence."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from crowdnotes.domain.supernote import has_insult
from crowdnotes.public_data.database import reading
from crowdnotes.public_data.story import busiest_notes
from crowdnotes.text.markdown import day
from tests.pages.conftest import ROOT, Desk, field, press, texts
from tests.public_data.made import made_index
from tests.shared import PATIENCE


def opened(**address: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE).run()
    for name, value in address.items():
        at.query_params[name] = value
    at.switch_page("pages/public_data.py").run()
    assert not at.exception
    return at


def plots(at: AppTest) -> list[str]:
    return [plot.proto.alt for plot in at.get("plotly_chart")]


@pytest.fixture
def busiest(desk: Desk) -> int:
    """The note with the most ratings of an index in the data folder."""
    index, _ = made_index()
    shutil.copy(index, desk.workspace.settings.data_dir / "crowd.duckdb")
    with reading(index) as connection:
        return busiest_notes(connection, 1)[0][0]


def test_without_data_the_page_names_the_files_and_takes_them(desk: Desk) -> None:
    at = opened()
    shown = texts(at)
    for words in ("There is no public data yet.", "**notes**", "**noteStatusHistory**", "**ratings**"):
        assert words in shown, words
    assert "download-data" in str([link.proto for link in at.get("link_button")])
    assert at.file_uploader[0].proto.max_upload_size_mb <= st.get_option("server.maxUploadSize")
    press(at, "Add the data")
    assert "There are no files yet." in texts(at)
    assert plots(at) == []


def test_uploaded_files_become_the_data_and_can_be_deleted(desk: Desk) -> None:
    public = made_index()[0].parent / "public"
    at = opened()
    for file in public.glob("[nr][oa]t*s-*"):
        at.file_uploader[0].upload(file.name, file.read_bytes())
    press(at, "Add the data")
    desk.finish(desk.latest("public-data").id)
    assert not at.run().exception
    assert [alt.split(".")[0] for alt in plots(at)] == ["The two sides"]
    shown = texts(at)
    assert "Made-up data: these notes and people are not real." in shown
    assert "No status history" in shown, "what is missing is said"
    at.button(key="public-delete").click().run()
    assert "There is no public data yet." in texts(at)


def test_a_folder_without_public_data_leaves_no_index_and_says_why_beside_the_button(
    desk: Desk, tmp_path: Path
) -> None:
    at = opened()
    field(at, "Or name their folder on the computer that runs CrowdNotes").set_value(str(tmp_path))
    press(at, "Add the data")
    desk.finish(desk.latest("public-data").id)
    shown = texts(at.run())
    assert "The data was not added." in shown
    assert "holds no public data" in shown
    assert not (desk.workspace.settings.data_dir / "crowd.duckdb").exists()


def test_a_note_is_chosen_and_its_story_told_in_words_and_pictures(busiest: int) -> None:
    at = opened()
    assert [alt.split(".")[0] for alt in plots(at)] == ["The two sides"]
    assert "Notes and ratings from " in texts(at)
    offered, *_ = [button for button in at.button if str(button.key).endswith(str(busiest))]
    told = offered.click().run()
    assert not told.exception
    shown = texts(told)
    for words in ("people rated it", "0.40 needed", "is kept fixed", "What X recorded"):
        assert words in shown, words
    assert [alt.split(".")[0] for alt in plots(told)] == [
        "The score as ratings came in",
        "Ratings so far, by side and level",
        "The first ratings and all of them",
    ]


def test_a_story_begins_with_the_note_and_leads_back_to_the_list(busiest: int) -> None:
    at = opened(note=str(busiest))
    drawn = str([item.proto for item in at.get("bidi_component")])
    assert f"story-note-{busiest}" in drawn
    assert "by these ratings it would be" in texts(at), "what X decided is another matter"
    assert [figure.label for figure in at.metric] == ["Score", "Ratings", "Side A: helpful", "Side B: helpful"]
    [fold] = [fold for fold in at.expander if fold.label == "Why, and what X says"]
    assert any("kept fixed" in words.value for words in fold.markdown)
    press(at, "All notes")
    assert field(at, "Find a note").value == ""
    assert [alt.split(".")[0] for alt in plots(at)] == ["The two sides"]


def test_insults_of_strangers_are_hidden_until_they_are_asked_for(
    busiest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowdnotes.domain.supernote._CRUDE_PATTERN", re.compile("."))
    at = opened()
    assert any("insults" in button.label for button in at.button)
    at.toggle(key="show-insults").set_value(True).run()
    assert not any("a note with insults, hidden" in button.label for button in at.button)


@pytest.mark.parametrize(
    ("text", "hidden"), [("He is a real piece of shit.", True), ("Only a fool buys it.", True), ("It is false.", False)]
)
def test_an_insult_is_known_by_its_words(text: str, hidden: bool) -> None:
    assert has_insult(text) is hidden


def test_a_note_that_the_index_does_not_know_is_told_and_another_can_be_asked_for(busiest: int) -> None:
    at = opened(note="12")
    assert "Note or post 12 is not in the index." in texts(at)
    assert texts(at).count("Check the number") == 1
    assert plots(at) == []
    at.text_input(key="note").set_value(str(busiest)).run()
    assert len(plots(at)) == 3
    assert "No note has these words." not in texts(at.text_input(key="note").set_value("  ").run())


def test_surges_show_the_planted_day_its_words_and_posts_that_lead_to_their_story(busiest: int) -> None:
    _, planted = made_index()
    at = opened(view="Surges")
    shown = texts(at)
    assert day(planted.surge_day) in shown
    assert any(planted.surge_word in table.value.to_string() for table in at.table)
    at = next(button for button in at.button if (button.key or "").startswith("post-")).click().run()
    assert "people rated it" in texts(at)


def _offered(at: AppTest, act: str) -> int:
    """The first post that can be begun so."""
    return next(int(key.removeprefix(act)) for key in (button.key or "" for button in at.button) if key.startswith(act))


def test_a_post_whose_notes_are_not_shown_begins_a_draft_with_its_address(busiest: int) -> None:
    at = opened(view="Surges")
    assert any("The best note scores" in caption.value for caption in at.caption)
    post = _offered(at, "draft-")
    at = at.button(key=f"draft-{post}").click().run()
    assert not at.exception
    assert at.text_area(key="new-post-text").value == f"https://x.com/i/status/{post}"
    assert "Paste the text of the post as well" in texts(at)


def test_a_post_whose_notes_are_not_shown_begins_a_supernote_from_them(desk: Desk, busiest: int) -> None:
    at = opened(view="Surges", all_days="true")
    assert "Posts without a shown note" in texts(at)
    post = _offered(at, "supernote-")
    at = at.button(key=f"supernote-{post}").click().run()
    assert not at.exception
    (summary,) = desk.workspace.cases.find()
    case = desk.workspace.cases.get(summary.id)
    assert case.post.url == f"https://x.com/i/status/{post}"
    assert case.supernote is not None
    assert case.supernote.notes[0].ratings.count > 0
    assert "Add the text" in [button.label for button in at.button]


@pytest.mark.parametrize("by", ["Month", "Topic", "Language"])
def test_delays_are_compared_and_each_figure_has_its_n(busiest: int, by: str) -> None:
    _, planted = made_index()
    at = opened(view="Delays", by=by, language="Spanish")
    assert len(plots(at)) == 2
    assert f"of {planted.notes:,} notes" not in texts(at)
    assert f"of {planted.notes:,} notes" in texts(opened(view="Delays", by=by))
