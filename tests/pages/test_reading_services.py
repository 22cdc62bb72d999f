"""Who may read a page that cannot be read here: nobody before the person says so."""

from __future__ import annotations

from crowdnotes.domain import Case, FetchOutcome, Source
from tests.pages.conftest import Desk, texts, unfolded
from tests.pages.searches import FOUND, searched

BLOCKED = Source(id="url:a", title="A page", url="https://a.example.org/x", outcome=FetchOutcome.BLOCKED)


def _newest(desk: Desk, case: Case) -> Case:
    return desk.workspace.cases.get(case.id)


def test_a_click_below_what_could_not_be_read_names_the_service_for_this_case(desk: Desk) -> None:
    case = searched(desk, outcomes=(FOUND,), sources=(BLOCKED,))
    at = desk.app(case)
    assert case.read_through == ()
    assert "sent to Tavily Extract or Jina Reader" in texts(at)
    at.button(key=f"through-{case.id}-jina-reader").click().run()
    assert _newest(desk, case).read_through == ("jina-reader",)
    assert _newest(desk, case).services == case.services


def test_the_tick_among_the_places_is_off_at_first_and_says_what_is_sent(desk: Desk) -> None:
    case = searched(desk, outcomes=(FOUND,))
    at = unfolded(desk.app(case), f"more-{case.id}")
    places = [item for item in at.get("button_group") if "through" in str(item.proto.id)]
    assert [getattr(item, "value", None) for item in places] == [[]]
