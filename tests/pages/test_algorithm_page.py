"""The Algorithm page: sliders change what pictures tell, a note says why, the experiment runs, attacks are counted."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.public_data.attack import Aim, AttackOptions, History, attack
from crowdnotes.public_data.extremes import run_experiment
from crowdnotes.public_data.small_world import NoteKind, WorldOptions, make_world
from pages.algorithm_parts import small_world
from tests.pages.conftest import ROOT, Desk, press, texts
from tests.shared import PATIENCE


@pytest.fixture
def page(desk: Desk) -> AppTest:
    return opened()


def opened(**address: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE).run()
    for name, value in address.items():
        at.query_params[name] = value
    at.switch_page("pages/algorithm.py").run()
    assert not at.exception
    return at


def test_a_slider_changes_what_the_pictures_tell(page: AppTest) -> None:
    before, after = (make_world(WorldOptions(noise=noise)) for noise in (0.2, 0.5))
    assert before.sentence != after.sentence
    assert before.sentence in texts(page)
    assert before.average_sentence in texts(page)
    page.slider(key="noise").set_value(0.5).run()
    assert not page.exception
    assert after.sentence in texts(page)
    assert before.sentence not in texts(page)


def test_the_chosen_note_says_why_it_is_not_shown_and_what_its_rating_is_made_of(page: AppTest) -> None:
    world = make_world(WorldOptions())
    for note in (world.kinds.index(NoteKind.POOR), int(world.shown.argmax())):
        page.selectbox(key="note").set_value(note).run()
        assert world.story(note) in texts(page)
        low, high = world.side_sums(note)
        rated = f"side A **{low.rated:.2f}**, side B **{high.rated:.2f}**."
        assert f"How they really rated it: {rated}" in texts(page)
        assert f"Side A: {low.predicted:.2f}".replace("-", "−") in texts(page)


def test_a_world_without_sides_is_told_of_without_a_failure(page: AppTest) -> None:
    page.slider(key="camps").set_value(1).run()
    assert not page.exception
    assert "No note is shown." in texts(page)
    assert "Taken for side A" in texts(page)


def test_no_camp_can_be_chosen_that_no_picture_shows_and_an_attack_is_of_made_up_raters(page: AppTest) -> None:
    assert page.slider(key="camps").max == 2
    words = texts(opened(part="Attack lab"))
    assert "**Among 120 made-up raters:**" in words
    assert "these numbers are not X's" in words


def test_a_choice_by_a_name_that_no_note_has_now_falls_back_to_the_note_chosen_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state: dict[str, object] = {"note": 6}
    monkeypatch.setattr("pages.algorithm_parts.small_world.st.session_state", state)
    made = make_world(WorldOptions())
    assert small_world._get_chosen_note(made) == 6
    state["note"] = "Note 7: pleases side -"  # what the browser sends after the names have changed
    assert (small_world._get_chosen_note(made), state["note"]) == (6, 6)


def test_the_fit_is_repeated_from_other_starts_when_it_is_asked_for(page: AppTest) -> None:
    press(page, "Try other random starts")
    assert not page.exception
    assert "20 other random starts give the same answer" in texts(page)
    page.slider(key="noise").set_value(0.3).run()
    assert "random starts give" not in texts(page)


EXTREME = {"share": "95", "polarity": "1", "generosity": "0.4", "noise": "0", "ratings": "10"}


@pytest.mark.parametrize("part", ["How notes are scored", "Attack lab", "nowhere"])
@pytest.mark.parametrize("address", [EXTREME, {"camps": "9", "noise": "loud"}])
def test_a_world_from_the_address_never_fails(desk: Desk, part: str, address: dict[str, str]) -> None:
    at = opened(part=part, **address)
    assert not at.error
    if part != "Attack lab":
        assert ("notes have no score" in texts(at)) is (address is EXTREME)


@pytest.mark.deep
def test_the_experiment_has_its_answer_at_first_sight(desk: Desk) -> None:
    at = opened(part="Does it resist extremes?")
    found = run_experiment()
    assert found.sentence in texts(at)
    [table] = at.table
    assert [score.replace("\\", "") for score in table.value["score"]] == found.rows["score"]


def test_the_lab_tells_how_many_accounts_it_takes_and_which_rules_hold(desk: Desk) -> None:
    at = opened(part="Attack lab")
    world = make_world(WorldOptions())
    assert attack(world, AttackOptions()).sentence in texts(at)
    at.radio(key="aim").set_value(Aim.LIFT_ONE_SIDED).run()
    at.selectbox(key="history").set_value(History.PLUS).run()
    at.toggle(key="noticed").set_value(True).run()
    assert not at.exception
    found = attack(world, AttackOptions(aim=Aim.LIFT_ONE_SIDED, history=History.PLUS, noticed=True))
    shown = texts(at)
    assert found.sentence in shown
    assert found.average_sentence in shown
    assert "The score reaches 0.40, but rules hold the note back:" in shown
    assert "NoCorrelatedIntercept" in shown
