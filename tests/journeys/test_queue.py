"""The queue in a browser: its links, and what its keys judge and decide."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from crowdnotes.cases import actions, moderation
from crowdnotes.domain import DecisionKind, DeskState, LinkCheck, LinkState, Span, Verdict
from crowdnotes.settings import Settings
from crowdnotes.workspace import Workspace, open_workspace
from tests.journeys.conftest import Desk, NewPage, running_app
from tests.journeys.contrast import faint_on_either
from tests.journeys.walk import Walk, held_time
from tests.shared import minilm

pytestmark = [pytest.mark.journey, pytest.mark.deep]

POST = "Vitamin C cures a cold in a day."
# Until the page's own timers ran for longer than what a key judges has to be in view: a busy machine slows both.
LOOKED = """() => new Promise((done) => {
  let left = 12
  const timer = setInterval(() => --left || (clearInterval(timer), done()), 100)
})"""
READY = "[data-judging^=Press]"
RING = "() => getComputedStyle(document.querySelector('[data-testid=stMain]'), '::before').boxShadow"


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Workspace]]:
    folder = tmp_path_factory.mktemp("team")
    settings = Settings(data_dir=folder / "data", allowed_private_hosts=("127.0.0.1",))
    with (
        running_app(folder, variables={"CROWDNOTES_QUEUE": "true"}) as url,
        open_workspace(settings, embedder=minilm()) as workspace,
    ):
        yield url, workspace


# In front of what a passage says: it pushes the words that are judged out of view.
FILLER = "Most adults have two or three colds a year, and recover within ten days without any treatment. " * 40


def _submitted(workspace: Workspace, articles: str) -> str:
    desk = Desk(workspace, articles)
    case_id = desk.gathered(POST, "vitamin-c")
    desk.judged(case_id, Verdict.USE, "E1")
    note = f"Regular vitamin C supplements do not prevent colds in the general population. {articles}/vitamin-c"
    case = desk.scored(case_id, note)
    live = LinkCheck(url=f"{articles}/vitamin-c", state=LinkState.LIVE, checked_at=case.updated_at, tries=1)
    workspace.store.update(case_id, lambda newest: newest.replace(link_checks=(live,)))
    workspace.cases.apply(case_id, actions.set_tags, ["misleadingFactualError"])
    moderation.submit_case(workspace.cases, case_id)
    return case_id


def _claimed(walk: Walk, case_id: str) -> None:
    """Open the case in the queue and claim it."""
    walk.open(f"/queue?case={case_id}")
    walk.page.keyboard.press("w")
    expect(walk.page.locator(".st-key-finding-3 button:enabled")).to_have_count(1)
    walk.settled()


def test_a_case_opened_from_the_list_is_claimed_judged_in_one_press_and_approved_in_two(
    team: tuple[str, Workspace], articles: str, new_page: NewPage
) -> None:
    url, workspace = team
    case_id = _submitted(workspace, articles)
    walk = Walk(new_page("light", 1440, 900), url)
    page = walk.page
    walk.open("/queue")
    page.keyboard.press("?")
    expect(page.get_by_test_id("stPopoverBody")).to_contain_text("Not enough evidence")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    page.locator(".st-key-queue-rows a").first.click()
    expect(page).to_have_url(re.compile(f"case={case_id}"))
    walk.settled()
    page.keyboard.press("w")
    expect(page.locator(".st-key-finding-1 button:enabled")).to_have_count(1)

    page.evaluate(LOOKED)
    page.keyboard.press("1")
    approve = page.locator(".st-key-decide-a button")
    expect(approve).to_be_visible()
    expect(approve).to_be_enabled()
    walk.settled()
    assert faint_on_either(page, ("light",)) == []
    page.mouse.click(4, 880)
    page.keyboard.press("a")
    with held_time(page, READY):
        expect(page.locator(READY)).to_have_attribute("data-judging", "Press A again: Approve")
        assert page.evaluate(RING) == "none"
        assert workspace.cases.get(case_id).decision is None
        page.keyboard.press("a")
    expect(page.get_by_text(f"This case is decided: {DecisionKind.APPROVED.as_text}.")).to_be_visible()


def test_two_presses_judge_what_was_out_of_view_and_none_is_lost(
    team: tuple[str, Workspace], articles: str, new_page: NewPage
) -> None:
    url, workspace = team
    case_id = _submitted(workspace, articles)
    (item,) = workspace.cases.get(case_id).evidence
    text = FILLER + item.passage.text
    passage = item.passage.replace(text=text, marks=())

    walk = Walk(new_page("light", 1440, 900), url)
    page = walk.page
    workspace.store.update(case_id, lambda newest: newest.replace(evidence=(item.replace(passage=passage),)))
    _claimed(walk, case_id)
    page.keyboard.press("3")
    page.keyboard.press("3")  # before a moment has passed: it counts once it has
    form = page.locator(".st-key-validate-return")
    expect(form).to_be_visible()
    assert workspace.cases.get(case_id).desk.readings
    walk.settled()

    # What is typed after B is a comment, also before its field is drawn, and no letter of it decides.
    comment, framed = form.get_by_placeholder("What should change?").first, page.locator("[data-judging]")
    form.evaluate("place => { place.style.display = 'none' }")
    with held_time(page):
        page.keyboard.press("b")
        page.keyboard.type("Add the needs, see 11")
        form.evaluate("place => { place.style.display = '' }")
        expect(comment).to_be_focused()
        page.keyboard.type("!")
        expect(comment).to_have_value("Add the needs, see 11!")
    page.keyboard.press("Escape")
    walk.settled()
    page.evaluate(LOOKED)

    # A second press counts if it is the very next key, and soon; a run of letters is not pressed at all.
    page.keyboard.press("b")
    with held_time(page, READY):
        expect(framed).to_have_attribute("data-judging", "Press B again to send it back")
        page.keyboard.press("ArrowDown")
        expect(framed).to_have_count(0)
        page.keyboard.type("need")
        expect(framed).to_have_count(0)
    page.evaluate(LOOKED)
    page.keyboard.press("b")
    with held_time(page, READY):
        expect(framed).to_have_count(1)
    expect(framed).to_have_count(0)  # by itself
    assert workspace.cases.get(case_id).desk_state is DeskState.IN_REVIEW
    page.keyboard.press("b")
    with held_time(page, READY):
        page.keyboard.press("b")
    expect(page.get_by_text("The author has your comments.")).to_be_visible()
    walk.settled()
    assert workspace.cases.get(case_id).suggestions[0].text == "Add the needs, see 11!"

    page.keyboard.press("k")
    expect(page.locator(".st-key-finding-3")).to_be_visible()
    page.get_by_test_id("stTopNavLink").filter(has_text="Queue").click()
    expect(page.locator(".st-key-queue-filters")).to_be_visible()
    expect(page).not_to_have_url(re.compile("case="))
    walk.settled()
    expect(page.locator(".st-key-queue-filters")).to_be_visible()


def test_no_press_judges_a_passage_that_is_not_drawn_yet(
    team: tuple[str, Workspace], articles: str, new_page: NewPage
) -> None:
    url, workspace = team
    case_id = _submitted(workspace, articles)
    walk = Walk(new_page("light", 1440, 900), url)
    page = walk.page
    _claimed(walk, case_id)
    passage = page.locator(".st-key-validate-passage")
    passage.evaluate("place => { place.style.display = 'none' }")
    framed = page.locator(".st-key-validate-note[data-judging]")
    page.keyboard.press("3")
    page.keyboard.press("3")
    page.evaluate(LOOKED)
    assert not workspace.cases.get(case_id).desk.readings
    expect(framed).to_have_attribute("data-judging", "Read this")
    passage.evaluate("place => { place.style.display = '' }")
    expect(framed).to_have_attribute("data-judging", "Press 3 again: Does not")
    page.keyboard.press("3")
    expect(page.locator(".st-key-validate-return")).to_be_visible()
    assert workspace.cases.get(case_id).desk.readings


def test_the_marked_words_are_in_view_beside_the_buttons_that_judge_them(
    team: tuple[str, Workspace], articles: str, new_page: NewPage
) -> None:
    url, workspace = team
    case_id = _submitted(workspace, articles)
    case = workspace.cases.get(case_id)
    (item,) = case.evidence
    assert case.assessment is not None
    moved = tuple(
        found.replace(carrier=Span(start=found.carrier.start + len(FILLER), end=found.carrier.end + len(FILLER)))
        for found in case.assessment.sentences
        if found.carrier is not None
    )
    changes = {
        "evidence": (item.replace(passage=item.passage.replace(text=FILLER + item.passage.text, marks=())),),
        "assessment": case.assessment.replace(sentences=moved),
    }
    workspace.store.update(case_id, lambda newest: newest.replace(**changes))
    walk = Walk(new_page("light", 1024, 768), url)
    _claimed(walk, case_id)
    expect(walk.page.locator(".st-key-validate-passage mark").first).to_be_in_viewport(ratio=1)
    expect(walk.page.locator(".st-key-finding-5 button")).to_be_in_viewport(ratio=1)
