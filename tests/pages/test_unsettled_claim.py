"""Where nothing settles the claim, the page says what was asked, and takes what a person found."""

from __future__ import annotations

from tests.fakes import make_evidence
from tests.pages.conftest import Desk, texts, unfolded
from tests.pages.searches import FOUND, searched


def test_what_was_asked_is_told_with_links_to_look_by_hand_and_the_box_is_there_once(desk: Desk) -> None:
    at = desk.app(searched(desk, outcomes=(FOUND,)))
    shown = texts(at)
    assert "Look for a source yourself" in shown
    assert "No source settles the claim." not in shown, "there is none: that is told once, above"
    assert "The post gave no search words." in shown
    links = [item.proto.url for item in at.get("link_button")]
    assert any(link.startswith("https://toolbox.google.com/factcheck/explorer/search/") for link in links)
    assert [item.label for item in at.expander].count("Add what you found") == 1
    assert "Add a source" not in [item.proto.popover.label for item in at.get("popover")]


def test_before_anything_was_looked_for_nothing_is_said_of_it(desk: Desk) -> None:
    at = desk.app(desk.case())
    assert "Look for a source yourself" not in texts(at)


def test_before_all_is_judged_there_are_two_ways_to_more_sources_and_one_holds_the_rest(desk: Desk) -> None:
    case = searched(desk, outcomes=(FOUND,), evidence=(make_evidence(1, "Colds are common."),))
    at = desk.app(case)
    assert "Add a source" in [item.proto.popover.label for item in at.get("popover")]
    folds = [item.label for item in at.expander]
    assert folds.count("Find more sources") == 1
    assert "Find sources that support the post" not in folds
    at = unfolded(at, f"more-{case.id}")
    assert "Find sources that support the post" in [item.label for item in at.expander]
    assert "Or look yourself" in texts(at)
    assert any("factcheck/explorer" in item.proto.url for item in at.get("link_button"))
    assert "Look for a source yourself" not in texts(at), "nobody has said that none settles it"
