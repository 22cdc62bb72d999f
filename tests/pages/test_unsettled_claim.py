"""Where nothing settles the claim, the page says what was asked, and takes what a person found."""

from __future__ import annotations

from tests.fakes import make_evidence
from tests.pages.conftest import Desk, texts
from tests.pages.searches import FOUND, searched


def test_what_was_asked_is_told_with_links_to_look_by_hand_and_the_box_is_there_once(desk: Desk) -> None:
    at = desk.app(searched(desk, outcomes=(FOUND,)))
    shown = texts(at)
    assert "Look for a source yourself" in shown
    assert "No source settles the claim." not in shown, "there is none: that is told once, above"
    assert "The post gave no search words." in shown
    links = [item.proto.url for item in at.get("link_button")]
    assert any(link.startswith("https://toolbox.google.com/factcheck/explorer/search/") for link in links)
    labels = [item.proto.popover.label for item in at.get("popover")]
    assert "Add what you found" in labels
    assert "Add a source" not in labels


def test_before_anything_was_looked_for_nothing_is_said_of_it(desk: Desk) -> None:
    at = desk.app(desk.case())
    assert "Look for a source yourself" not in texts(at)


def test_a_quiet_line_leads_there_before_all_is_judged_and_it_can_be_closed_again(desk: Desk) -> None:
    case = searched(desk, outcomes=(FOUND,), evidence=(make_evidence(1, "Colds are common."),))
    at = desk.app(case)
    assert "Look for a source yourself" not in texts(at)
    at.button(key=f"go-further-{case.id}").click().run()
    assert "Look for a source yourself" in texts(at)
    assert "No source settles the claim." not in texts(at), "nobody has said so"
    assert [item.proto.popover.label for item in at.get("popover")].count("Add what you found") == 1
    at.button(key=f"shut-further-{case.id}").click().run()
    assert "Look for a source yourself" not in texts(at)
