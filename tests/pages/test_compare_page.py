"""The Compare page: a facilitator's link, a participant's pairs without a hint of which note is which, results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.domain import Comparison, Role
from crowdnotes.errors import InputError
from pages.common import session
from tests.pages.conftest import ROOT, Desk, press, texts, titles
from tests.reports.made_comparisons import answered, pairs_file, rating
from tests.shared import PATIENCE

PAGE = "pages/compare.py"
ADA = "ada-ada-ada"


def opened(desk: Desk, **address: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE).run()
    for name, value in address.items():
        at.query_params[name] = value
    at.switch_page(PAGE).run()
    assert not at.exception
    return at


def begun(desk: Desk, pairs: int = 3) -> Comparison:
    return desk.workspace.comparisons.add("moon.jsonl", pairs_file(pairs))


def test_a_facilitator_makes_a_link_of_a_file(desk: Desk) -> None:
    at = opened(desk)
    at.file_uploader[0].upload("moon.jsonl", pairs_file(3))
    press(at, "Make the link")
    (made,) = desk.workspace.comparisons.summaries()
    assert (made.title, made.pairs) == ("moon.jsonl", 3)
    assert at.code[0].value.endswith(f"?comparison={made.id}")
    assert "3 pairs · 0 answers from 0 participants" in texts(at)


@pytest.mark.parametrize(
    ("content", "sentence"), [(b"", "The file holds no pairs."), (None, "Choose a file with pairs first.")]
)
def test_a_file_without_pairs_is_told(desk: Desk, content: bytes | None, sentence: str) -> None:
    at = opened(desk)
    if content is not None:
        at.file_uploader[0].upload("x.csv", content)
    press(at, "Make the link")
    assert sentence in texts(at)
    assert desk.workspace.comparisons.summaries() == []


def test_a_participant_begins_and_gets_an_id_of_their_own(desk: Desk) -> None:
    made = begun(desk)
    at = opened(desk, comparison=made.id)
    assert "You will see 3 posts" in texts(at)
    assert "2. Say how helpful each note is, and how far you agree with five sentences about it." in texts(at)
    press(at, "Start")
    assert desk.workspace.comparisons.is_participant(str(at.query_params["participant"]))
    assert [bar.text for bar in at.get("progress")] == ["0 of 3 pairs answered"]


def test_nothing_on_the_page_tells_which_note_is_which(desk: Desk) -> None:
    file = pairs_file(1).replace(b"Super 0.", b"One.").replace(b"Old", b"Two")
    made = desk.workspace.comparisons.add("moon.jsonl", file)
    at = opened(desk, comparison=made.id, participant=ADA)
    whole = str([element.proto for element in at.main]).lower()
    assert "one." in whole
    for word in (*made.names, made.title, "compare-0-first", "compare-0-second"):
        assert word.lower() not in whole, word


@pytest.mark.parametrize("comparison", ["nope", "\x00", "x" * 500])
def test_a_link_that_leads_nowhere_says_so(desk: Desk, comparison: str) -> None:
    assert titles(opened(desk, comparison=comparison)) == ["There is no such comparison."]


def test_a_comparison_that_is_deleted_meanwhile_says_so(desk: Desk) -> None:
    made = begun(desk)
    at = opened(desk, comparison=made.id, participant=ADA)
    desk.workspace.comparisons.delete(made.id)
    assert titles(at.run()) == ["There is no such comparison."]


def test_what_is_still_open_is_named_and_nothing_is_kept(desk: Desk) -> None:
    made = begun(desk)
    at = opened(desk, comparison=made.id, participant=ADA)
    press(at, "Save and continue")
    assert any("5 sentences about note 2, which note helps more" in title for title in titles(at))
    assert desk.workspace.comparisons.answers(made.id) == []


def test_results_of_few_answers_say_what_was_not_run(desk: Desk) -> None:
    made = begun(desk)
    assert "There are no results yet." in texts(opened(desk, results=made.id))
    answered(desk.workspace.comparisons, made, ADA, wins=[True, False])
    at = opened(desk, results=made.id)
    shown = texts(at)
    assert "2 answers from 1 participant, on 2 of 3 pairs" in shown
    assert "Too few answers to say which note is better" in shown
    assert "“Supernote” was chosen in 50 % of 2 answers" in shown
    assert not at.get("plotly_chart")
    assert "NOT RUN: It takes two participants and two posts." in set(at.dataframe[0].value["Value"])


def test_an_audience_chooses_with_one_click_and_may_find_both_alike(desk: Desk) -> None:
    made = desk.workspace.comparisons.add("moon.jsonl", pairs_file(2), short=True)
    welcome = texts(opened(desk, comparison=made.id))
    assert "2. Choose the note that helps readers more, or say that both help alike." in welcome
    assert "five sentences" not in welcome, "nothing is announced that is not asked"
    at = opened(desk, comparison=made.id, participant=ADA)
    assert [button.label for button in at.button if "help" in button.label] == [
        "Note 1 helps more",
        "Note 2 helps more",
        "Both help alike",
    ]
    press(at, "Both help alike")
    press(at, "Note 2 helps more")
    assert [answer.chosen for answer in desk.workspace.comparisons.answers(made.id)] == ["equal", "right"]
    assert "Thank you!" in texts(at)
    assert ",equal," in desk.workspace.comparisons.exported(made.id)


def test_a_comparison_that_asks_for_ratings_takes_no_answer_without(desk: Desk) -> None:
    made = begun(desk)
    (sheet, *_) = desk.workspace.comparisons.sheets(made.id, ADA)
    with pytest.raises(InputError, match="need a rating"):
        desk.workspace.comparisons.answer(made.id, ADA, sheet.pair, chosen="left")


def test_shuffled_pairs_have_votes_and_no_results(desk: Desk) -> None:
    rows = json.dumps([{"pair": "p1", "post": "A", "left": "B", "right": "C"}]).encode()
    made = desk.workspace.comparisons.add("pairs.json", rows)
    (sheet,) = desk.workspace.comparisons.sheets(made.id, ADA)
    desk.workspace.comparisons.answer(made.id, ADA, sheet.pair, left=rating(), right=rating(), chosen="left")
    assert "its sides are shuffled" in texts(opened(desk, results=made.id))


def test_a_server_for_participants_shows_them_their_pairs_and_no_other_page(
    tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = begun(desk)
    only = desk.workspace.settings.replace(participants_only=True)
    monkeypatch.setattr(type(desk.workspace), "settings", only)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE).run()
    assert "Open the link that you were given" in texts(at)
    with pytest.raises(Exception, match=r"cases\.py"):
        at.switch_page("pages/cases.py").run()
    assert "You will see 3 posts" in texts(opened(desk, comparison=made.id))
    shown = opened(desk, results=made.id)
    assert "Open the link that you were given" in texts(shown)
    assert not shown.file_uploader
    assert session.workspace().stage_context is desk.workspace.stage_context
    assert session.workspace().actor.role is Role.VIEWER
