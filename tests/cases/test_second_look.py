"""A second look adds to what is there, keeps the set before it on record, and says when there is nothing new."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdnotes.cases.follow_up import pool, unread
from crowdnotes.domain import (
    Aim,
    DecisionKind,
    FetchOutcome,
    FollowUpKind,
    Hit,
    Mode,
)
from crowdnotes.errors import InputError, WorkflowError
from crowdnotes.testing import make_case, make_evidence
from tests.cases.second_desk import Desk, ids
from tests.cases.walk import post_about, run


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    with desk.workspace:
        yield desk


def test_more_like_a_passage_is_searched_with_its_words_and_appended(desk: Desk) -> None:
    before = desk.case
    desk.use("E2")
    outcome = desk.look(FollowUpKind.MORE_LIKE, "E2")
    case = desk.case
    liked = before.evidence_by_id("E2")
    assert liked is not None
    assert desk.engine.asked[-1] == (Aim.JUDGE, liked.passage.text)
    assert ids(case) == [*ids(before), "E7", "E8", "E9"]
    assert outcome == "New: E7, E8, E9."
    assert [item.id for item in case.used_evidence] == ["E2"]
    assert len({item.source.id for item in case.evidence}) == len(case.evidence)


def test_each_look_keeps_the_set_before_it_and_tells_the_audit_trail(desk: Desk) -> None:
    before = desk.case.evidence
    desk.look(FollowUpKind.MORE_LIKE, "E2")
    kept = desk.case.earlier_evidence
    assert [(earlier.why, earlier.evidence) for earlier in kept] == [("more like E2", before)]
    kinds = [event.kind for event in desk.case.events]
    told = [kind for kind in kinds if kind.startswith("follow-up search")]
    assert told[:3] == ["follow-up search", "follow-up search queries", "follow-up search search"]
    assert told[-1] == "follow-up search ended"


def test_nothing_new_is_said_and_changes_nothing(desk: Desk) -> None:
    desk.look(FollowUpKind.MORE_LIKE, "E2")
    desk.look(FollowUpKind.MORE_LIKE, "E2")
    before = desk.case
    assert desk.look(FollowUpKind.MORE_LIKE, "E2") == "Nothing new: all 10 that were found are here already."
    assert desk.case.evidence == before.evidence
    assert desk.case.earlier_evidence == before.earlier_evidence


def test_what_only_repeats_a_passage_is_not_new(desk: Desk, tmp_path: Path) -> None:
    copy = tmp_path / "copy.csv"
    text = "A review of the kettle found no illness in people. The kettle was watched for years."
    copy.write_text(f"title,text,url\nReprinted,{text},https://reprint.example.net/kettle\n", encoding="utf-8")
    desk.workspace.libraries.add(copy, "copies")
    outcome = desk.look(FollowUpKind.MORE_LIKE, "E1", libraries=["copies"])
    assert outcome == "Nothing new: what was read says the same as a passage that is here."


def test_the_other_side_is_marked_and_writes_no_note_until_a_person_ticks_it(desk: Desk) -> None:
    desk.look(FollowUpKind.OTHER_SIDE)
    assert desk.engine.asked[-1] == (Aim.OTHER_SIDE, "")
    other = [item for item in desk.case.evidence if item.aim is Aim.OTHER_SIDE]
    assert [item.id for item in other] == ["E7", "E8", "E9"]

    run(desk.workspace, desk.id, "write", desk.service.write_steps(desk.id, before_inspection=True))
    desk.use("E7")
    run(desk.workspace, desk.id, "write", desk.service.write_steps(desk.id))
    assert desk.engine.offered == [["E1", "E2", "E3", "E4", "E5", "E6"], ["E7"]]


def test_nothing_for_the_other_side_is_a_result_in_words(desk: Desk) -> None:
    desk.engine.picks_nothing_for = Aim.OTHER_SIDE
    outcome = desk.look(FollowUpKind.OTHER_SIDE)
    assert outcome == "Nothing new: nothing that was found speaks for the post's claim."
    choosing = desk.case.follow_ups[-1].stages[-2].summary
    assert choosing == "0 read. None of what was found was chosen: All of them repeat the post."


def test_a_look_without_a_place_to_search_asks_to_choose_one(desk: Desk) -> None:
    with pytest.raises(InputError, match="nowhere to look"):
        desk.service.follow_up(desk.id, FollowUpKind.OTHER_SIDE, "ann")
    with pytest.raises(WorkflowError, match="no such follow-up search"):
        desk.service.follow_up_steps(desk.id)


def test_a_case_of_ones_own_links_can_search_for_more(desk: Desk) -> None:
    case = desk.service.create(post_about("kettle"), mode=Mode.AUGMENTATION, by="ann")
    desk.service.add_passage_by_hand(case.id, url=None, title="Mine", text="My own words on kettles.", by="ann")
    desk.id = case.id
    assert desk.look(FollowUpKind.MORE_LIKE, "E1") == "New: E2, E3, E4."
    assert desk.case.mode is Mode.AUGMENTATION


def test_a_link_is_appended_without_searching_again(desk: Desk) -> None:
    before = desk.case
    outcome = desk.look(FollowUpKind.LINK, "https://kettle-institute.example/descaling", libraries=())
    case = desk.case
    assert case.follow_ups[-1].sources[0].outcome is FetchOutcome.NOT_FOUND
    assert outcome == "Nothing new: what was chosen could not be read."
    assert case.urls == ("https://kettle-institute.example/descaling",)
    assert case.stages == before.stages
    assert case.hits == before.hits
    assert case.evidence == before.evidence


def test_a_link_that_was_read_already_is_refused(desk: Desk) -> None:
    url = desk.case.evidence[0].source.url
    assert url is not None
    with pytest.raises(WorkflowError, match="among the passages already"):
        desk.service.follow_up(desk.id, FollowUpKind.LINK, "ann", about=f"{url}#part")
    with pytest.raises(InputError, match="no link"):
        desk.service.follow_up(desk.id, FollowUpKind.LINK, "ann", about="  ")


def test_a_swap_puts_the_next_best_hit_in_the_place_of_a_passage(desk: Desk) -> None:
    before = desk.case
    left = pool(before)
    assert len(left) == 4
    assert desk.look(FollowUpKind.SWAP, "E3", libraries=()) == "E7 took the place of E3."
    case = desk.case
    assert ids(case) == ["E1", "E2", "E7", "E4", "E5", "E6"]
    assert [item.rank for item in case.evidence] == [1, 2, 3, 4, 5, 6]
    assert case.evidence[2].source.title == left[0].title
    assert "E3" in {item.id for earlier in case.earlier_evidence for item in earlier.evidence}
    assert len(pool(case)) == 3


def test_a_passage_that_the_note_leans_on_is_not_swapped(desk: Desk) -> None:
    desk.use("E1")
    with pytest.raises(WorkflowError, match="leans on E1"):
        desk.service.follow_up(desk.id, FollowUpKind.SWAP, "ann", about="E1")


def test_a_swap_with_nothing_left_is_refused_and_one_that_finds_no_use_keeps_the_passage(desk: Desk) -> None:
    desk.engine.picks_nothing_for = Aim.JUDGE
    outcome = desk.look(FollowUpKind.SWAP, "E3", libraries=())
    assert outcome == "Nothing new: nothing else that was found helps to judge the post. E3 stays."
    desk.engine.picks_nothing_for = None
    for out in ("E1", "E2", "E4", "E5"):
        desk.look(FollowUpKind.SWAP, out, libraries=())
    with pytest.raises(WorkflowError, match="Nothing else of what was found is left"):
        desk.service.follow_up(desk.id, FollowUpKind.SWAP, "ann", about="E3")


def test_a_decided_case_takes_no_second_look(desk: Desk) -> None:
    desk.service.decide(desk.id, DecisionKind.NOT_NEEDED, "ann")
    with pytest.raises(WorkflowError, match="already decided"):
        desk.service.follow_up(desk.id, FollowUpKind.OTHER_SIDE, "ann", libraries=["topics"])


def test_records_of_a_library_that_share_a_page_are_read_each_on_its_own() -> None:
    def record(number: int) -> Hit:
        url = "https://records.example.net/page"
        return Hit(provider="library:x", title="T", snippet="", query="q", url=url, library="x", record=number)

    source = make_evidence(1).source.model_copy(
        update={"id": "library:x:1", "url": "https://records.example.net/page", "library": "x", "record": 1}
    )
    case = make_case(hits=(record(1), record(2), record(2), record(3)), sources=(source,))
    assert [hit.record for hit in pool(case)] == [2, 3]


def test_a_page_under_another_spelling_of_its_address_is_not_read_twice() -> None:
    hit = Hit(
        provider="brave", title="T", snippet="", query="q", url="http://www.health.example.org/review?utm_source=x"
    )
    case = make_case(hits=(hit,), sources=(make_evidence(1).source,))
    assert pool(case) == []


def test_a_home_page_and_search_results_are_not_left_to_choose() -> None:
    urls = ("https://www.who.int/", "https://www.bing.com/search?q=x", "https://news.example.org/story")
    hits = [Hit(provider="brave", title=url, snippet="", query="q", url=url) for url in urls]
    assert pool(make_case(hits=tuple(hits))) == hits[2:]
    assert unread(make_case(), hits) == hits[2:]
