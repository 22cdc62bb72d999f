"""Follow-up searches on the page: asked for below a passage or above all, told at their end, and the way back."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.cases import actions, follow_up_stages, intake
from crowdnotes.domain import Aim, Case, FollowUpKind, Mode, SourceCategory, StageName, StageOutcome, Verdict
from crowdnotes.jobs import JobState
from crowdnotes.settings import Settings
from crowdnotes.workspace import open_workspace
from tests.cases.walk import make_library, post_about
from tests.fakes import HashingEmbedder, LiveLinks, ScriptedEngine
from tests.pages.conftest import Desk, read, texts, unfolded
from tests.shared import PATIENCE, put_tables


@pytest.fixture(scope="module")
def gathered_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of a case with six passages of a library that has four more to offer: each test gets a copy."""
    folder = tmp_path_factory.mktemp("gathered")
    data = folder / "data"
    put_tables(data / "crowdnotes.sqlite")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CROWDNOTES_SEARCH_SERVICES", "[]")
        fakes: dict[str, Any] = {"embedder": HashingEmbedder(), "engine": ScriptedEngine(), "links": LiveLinks()}
        with open_workspace(Settings(data_dir=data), **fakes) as made:
            made.libraries.add(make_library(folder), "topics")
            case = intake.create_case(made.cases, post_about("kettle"), mode=Mode.AUTOMATION, libraries=["topics"])
            job = made.runner.wait(made.start(case.id, "gather").id, timeout=PATIENCE)
            assert job.state is JobState.DONE
    return data


@pytest.fixture(autouse=True)
def _copied(gathered_once: Path, tmp_path: Path) -> None:
    """Before the workspace is opened on it."""
    shutil.copytree(gathered_once, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def gathered(desk: Desk) -> Case:
    return desk.only()


def followed_up(desk: Desk, case: Case, kind: FollowUpKind, about: str = "") -> Case:
    cases = desk.workspace.cases
    cases.apply(case.id, follow_up_stages.follow_up, kind, about=about, libraries=["topics"])
    desk.run(case, "follow_up")
    return cases.get(case.id)


def opened(desk: Desk, case: Case, key: str) -> AppTest:
    return unfolded(desk.app(case), key)


def with_two_kinds(desk: Desk, case: Case) -> Case:
    """The case as if the first page that was found were research, the others of another kind."""
    hits = tuple(
        hit.replace(category=SourceCategory.OTHER if number else SourceCategory.RESEARCH)
        for number, hit in enumerate(case.hits)
    )
    return desk.changed(case, hits=hits)


def test_more_like_a_passage_is_asked_for_below_it(desk: Desk, gathered: Case) -> None:
    key = f"follow-up-{gathered.id}-E2"
    at = unfolded(read(desk.app(gathered), gathered, "E2"), key)
    at.text_input(key=f"{key}-own-words").set_value(post_about("kettle"))
    at.button(key=f"{key}-go").click().run()
    desk.finish_latest(gathered)
    assert not at.exception
    case = desk.newest(gathered)
    assert [query.text for query in case.follow_ups[-1].queries] == [post_about("kettle")]
    assert [(asked.kind, asked.about, asked.libraries) for asked in case.follow_ups] == [
        (FollowUpKind.MORE_LIKE, "E2", ("topics",))
    ]
    shown = texts(desk.app(case))
    assert "More like E2" in shown
    assert "New: E7, E8, E9." in shown


def test_without_a_place_to_search_the_reader_asks_to_choose_one(desk: Desk, gathered: Case) -> None:
    key = f"follow-up-{gathered.id}-E2"
    at = unfolded(read(desk.app(gathered), gathered, "E2"), key)
    at.session_state[f"{key}-libraries"] = []
    at.run()
    at.button(key=f"{key}-go").click().run()
    assert "Where should we search?" in texts(at)
    assert desk.newest(gathered).follow_ups == ()


def test_the_other_side_stands_apart_and_is_marked(desk: Desk, gathered: Case) -> None:
    key = f"follow-up-{gathered.id}-case"
    at = unfolded(opened(desk, gathered, f"more-{gathered.id}"), key)
    at.button(key=f"{key}-go").click().run()
    desk.finish_latest(gathered)
    case = desk.newest(gathered)
    assert {item.aim for item in case.evidence} == {Aim.JUDGE, Aim.OTHER_SIDE}
    at = desk.app(case)
    shown = texts(at)
    assert shown.count("**:material/balance: The other side**") == 1
    rows = [item for item in case.evidence if item.aim is Aim.OTHER_SIDE]
    assert len(rows) == 3
    assert f"0 of {len(case.evidence)} opened, 0 used" in shown, "no note is written from it before it is read and used"
    for item in rows:
        assert "the other side: may support the post" in texts(read(at, case, item.id))
    assert "the other side: may support the post" not in texts(read(at, case, "E1"))


def test_a_passage_is_swapped_below_it_and_brought_back_from_the_earlier_evidence(desk: Desk, gathered: Case) -> None:
    at = read(desk.app(gathered), gathered, "E3")
    at.button(key=f"swap-{gathered.id}-E3").click().run()
    desk.finish_latest(gathered)
    assert "E3" not in {item.id for item in desk.newest(gathered).evidence}

    at = opened(desk, gathered, f"earlier-{gathered.id}")
    shown = texts(at)
    assert "1 source removed" in shown
    assert "Removed sources" in shown
    assert "before: E3 swapped" in shown
    at.button(key=f"bring-back-{gathered.id}-E3-earlier").click().run()
    assert not at.exception
    assert desk.newest(gathered).evidence[-1].id == "E3"
    at = opened(desk, gathered, f"earlier-{gathered.id}")
    at.button(key=f"bring-back-{gathered.id}-set-0").click().run()
    assert [item.id for item in desk.newest(gathered).evidence] == [item.id for item in gathered.evidence]


def test_a_swap_can_be_undone_where_it_is_told(desk: Desk, gathered: Case) -> None:
    followed_up(desk, gathered, FollowUpKind.SWAP, "E3")
    at = desk.app(gathered)
    at.button(key=f"bring-back-{gathered.id}-E3-result").click().run()
    assert not at.exception
    assert "E3" in {item.id for item in desk.newest(gathered).evidence}
    assert "replaced E3" not in texts(desk.app(gathered))


def test_a_swap_from_a_page_that_is_out_of_date_does_nothing_and_says_why(desk: Desk, gathered: Case) -> None:
    old_tab = read(desk.app(gathered), gathered, "E3")
    followed_up(desk, gathered, FollowUpKind.SWAP, "E2")
    follow_ups = desk.newest(gathered).follow_ups
    old_tab.button(key=f"swap-{gathered.id}-E3").click().run()
    assert "the sources were changed elsewhere" in texts(old_tab)
    assert desk.newest(gathered).follow_ups == follow_ups
    old_tab.button(key=f"swap-{gathered.id}-E3").click().run()
    assert len(desk.newest(gathered).follow_ups) == len(follow_ups) + 1


def test_search_words_for_a_passage_that_was_replaced_meanwhile_can_be_copied(
    desk: Desk, gathered: Case, unsaved: list[str]
) -> None:
    key = f"follow-up-{gathered.id}-E2"
    old_tab = unfolded(read(desk.app(gathered), gathered, "E2"), key)
    old_tab.text_input(key=f"{key}-own-words").set_value("kettle limescale")
    followed_up(desk, gathered, FollowUpKind.SWAP, "E2")
    old_tab.button(key=f"{key}-go").click().run()
    assert not old_tab.exception
    assert unsaved == ["kettle limescale"]


def test_what_is_asked_of_a_passage_that_is_gone_is_told_above_the_sources(desk: Desk, gathered: Case) -> None:
    old_tab = read(desk.app(gathered), gathered, "E2")
    followed_up(desk, gathered, FollowUpKind.SWAP, "E2")
    old_tab.button(key=f"swap-{gathered.id}-E2").click().run()
    assert not old_tab.exception
    assert "the sources were changed elsewhere" in texts(old_tab)


def test_a_passage_in_use_and_one_with_nothing_left_to_take_its_place_offer_no_swap(desk: Desk, gathered: Case) -> None:
    desk.workspace.cases.apply(gathered.id, actions.open_passage, "E1")
    desk.workspace.cases.apply(gathered.id, actions.judge, "E1", Verdict.USE, "")
    at, by_hand = desk.app(gathered), desk.case()
    assert not _offers_swap(read(at, gathered, "E1"))
    assert _offers_swap(read(at, gathered, "E2"))
    assert not _offers_swap(read(desk.app(by_hand), by_hand))


def _offers_swap(at: AppTest) -> bool:
    return any(str(item.key).startswith("swap-") for item in at.button)


def test_a_link_is_added_without_another_search(desk: Desk, gathered: Case) -> None:
    key = f"link-{gathered.id}"
    at = opened(desk, gathered, f"paste-{gathered.id}-new")
    at.button(key=f"{key}-go").click().run()
    shown = [str(getattr(it.proto, "title", "") or getattr(it, "value", "")).replace("\\", "") for it in at.main]
    assert shown.index("The link is missing.") < shown.index("**Or paste its text**"), "under its own field"
    at.text_input(key=f"{key}-url").set_value("https://kettle-institute.example/nowhere")
    at.button(key=f"{key}-go").click().run()
    desk.finish_latest(gathered)
    case = desk.newest(gathered)
    assert case.urls == ("https://kettle-institute.example/nowhere",)
    assert case.stages == gathered.stages
    assert "Nothing new. Not readable: kettle-institute.example (not found)." in texts(desk.app(case))


def test_the_kinds_of_source_are_shown_for_what_was_found_and_chosen(desk: Desk, gathered: Case) -> None:
    case, by_hand, fold = with_two_kinds(desk, gathered), desk.case(), "searches-{}".format
    at = opened(desk, case, fold(case.id))
    [chart] = at.get("plotly_chart")
    assert "found: 9 other, 1 research literature. Chosen: 6 other." in str(chart.proto)
    assert "other\xa09\xa0→\xa06" in texts(at)
    assert opened(desk, by_hand, fold(by_hand.id)).get("plotly_chart") == []
    one_kind = desk.changed(case, hits=gathered.hits)
    assert opened(desk, one_kind, fold(case.id)).get("plotly_chart") == [], "one kind alone is no mix"


def test_what_was_chosen_and_could_not_be_read_counts_as_chosen(desk: Desk, gathered: Case) -> None:
    desk.changed(with_two_kinds(desk, gathered), evidence=gathered.evidence[:1])
    [chart] = opened(desk, gathered, f"searches-{gathered.id}").get("plotly_chart")
    assert "Chosen: 6 other." in str(chart.proto)


def test_what_came_of_a_follow_up_is_no_longer_told_after_another_gathering(desk: Desk, gathered: Case) -> None:
    followed_up(desk, gathered, FollowUpKind.MORE_LIKE, "E2")
    cases = desk.workspace.cases
    cases.apply(
        gathered.id, intake.set_sources, mode=Mode.AUTOMATION, urls=[], libraries=["topics"], services=[], until=None
    )
    desk.run(gathered, "gather")
    assert "More like E2" not in texts(desk.app(gathered))


def test_what_came_of_a_follow_up_is_no_longer_told_when_its_passages_are_gone(desk: Desk, gathered: Case) -> None:
    case = followed_up(desk, gathered, FollowUpKind.MORE_LIKE, "E2")
    assert "New: E7, E8, E9." in texts(desk.app(case))
    desk.workspace.cases.apply(case.id, actions.restore_evidence_set, 0)
    assert "New: E7" not in texts(desk.app(case))


def test_a_follow_up_that_found_nothing_is_told_once(desk: Desk) -> None:
    case = desk.case()
    key = f"link-{case.id}"
    at = opened(desk, case, f"paste-{case.id}-new")
    at.text_input(key=f"{key}-url").set_value("http://127.0.0.1:1/refused")
    at.button(key=f"{key}-go").click().run()
    desk.finish_latest(case, at)
    assert texts(at).count("Nothing new") == 1


def test_a_follow_up_whose_search_was_not_answered_is_a_warning_and_not_nothing_found(
    desk: Desk, gathered: Case
) -> None:
    case = followed_up(desk, gathered, FollowUpKind.MORE_LIKE, "E2")
    assert not desk.app(case).warning
    (asked,) = case.follow_ups
    ended = StageOutcome.not_run("No search was answered.")
    search = next(stage for stage in asked.stages if stage.name is StageName.SEARCH).replace(**dict(ended))
    unanswered = asked.replace(added=(), stages=(search,), outcome="Nothing new: the search was not answered.")
    at = desk.app(desk.changed(case, follow_ups=(unanswered,)))
    (warning,) = at.warning
    assert "the search was not answered" in warning.value
