"""Every page, empty and filled, light and dark: axe-core, sizes, edges, titles; and what is said without being seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from crowdnotes.cases import actions, approval, moderation, supernote_actions
from crowdnotes.cases.accounts import proxied
from crowdnotes.domain import DecisionKind, ExistingNote, LinkCheck, LinkState, Role, Verdict
from crowdnotes.settings import Settings
from crowdnotes.workspace import Workspace, open_workspace
from tests.journeys.accessible import axe_faults, small_targets
from tests.journeys.conftest import Desk, NewPage, running_app
from tests.journeys.contrast import faint_edges, faint_words, turned_to
from tests.journeys.walk import Walk
from tests.public_data.made import made_index
from tests.reports.made_comparisons import answered, pairs_file
from tests.shared import PATIENCE, minilm
from tests.x_server import KEYS, XServer

pytestmark = [pytest.mark.journey, pytest.mark.deep]

POST = "Vitamin C cures a cold in a day. Doctors hide this from everyone who asks."
HEADER = "X-Person"
NAME = "CrowdNotes"


def _faults(page: Page) -> list[str]:
    """What is wrong with the page as it is, on a light and a dark background, its folds open."""
    closed = page.locator("[data-testid=stMain] details:not([open]) > summary:visible")
    for _ in range(closed.count()):
        if closed.count():
            closed.first.click()
    page.mouse.move(0, 0)  # no hint over what the pointer rests on
    turned_to(page, "light")
    found = [f"too small: {what}" for what in small_targets(page)]
    found += [f"light: {what}" for what in (*axe_faults(page), *faint_words(page), *faint_edges(page))]
    turned_to(page, "dark")
    # A chart takes the colours of the background that its run began with.
    found += [f"dark: {what}" for what in (*faint_words(page, charts=False), *faint_edges(page))]
    return found


@dataclass(frozen=True)
class _Team:
    """An app with a queue, X's API and people who sign in; `admin` is the workspace of the one who looks."""

    url: str
    admin: Workspace
    author: Workspace
    folder: Path


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Team]:
    folder = tmp_path_factory.mktemp("accessible")
    variables = {f"CROWDNOTES_X_{name}".upper(): value for name, value in KEYS.items()}
    settings = Settings(data_dir=folder / "data", allowed_private_hosts=("127.0.0.1",))
    with (
        XServer().running() as x,
        running_app(
            folder, variables={**variables, "CROWDNOTES_X_URL": x.url, "CROWDNOTES_SIGN_IN_USER_HEADER": HEADER}
        ) as url,
        open_workspace(settings, embedder=minilm()) as owner,
    ):
        for name, role in (("olga", Role.ADMIN), ("ben", Role.CONTRIBUTOR)):
            owner.people.seen(proxied(name), "contributor")
            owner.people.set_role(proxied(name), role)
        admin, author = (owner.acting_as(owner.user_of(proxied(name))) for name in ("olga", "ben"))
        yield _Team(url, admin, author, folder)


@pytest.fixture
def walk(team: _Team, new_page: NewPage) -> Walk:
    page = new_page(fresh=True)
    page.set_extra_http_headers({HEADER: "olga"})
    return Walk(page, team.url)


def _scored(workspace: Workspace, articles: str) -> str:
    """A case whose note has scores and may be decided; its post has an address on X."""
    desk = Desk(workspace, articles)
    case_id = desk.gathered(POST, "vitamin-c", "colds", "gone")
    desk.judged(case_id, Verdict.USE, "E1")
    note = f"Regular vitamin C supplements do not prevent colds in the general population. {articles}/vitamin-c"
    case = desk.scored(case_id, note)
    live = LinkCheck(url=f"{articles}/vitamin-c", state=LinkState.LIVE, checked_at=case.updated_at, tries=1)
    post = case.post.replace(url="https://x.com/somebody/status/100")
    workspace.store.update(case_id, lambda newest: newest.replace(link_checks=(live,), post=post))
    workspace.cases.apply(case_id, actions.set_tags, ["misleadingFactualError"])
    return case_id


def _approved(workspace: Workspace, articles: str) -> str:
    case_id = _scored(workspace, articles)
    Desk(workspace, articles).compared(workspace.cases.get(case_id))
    case = workspace.cases.get(case_id)
    reasons = {item.id: "I read the passages: they say so." for item in approval.obstacles_for(workspace.cases, case)}
    assert case.draft is not None
    seen = case.draft.sha256
    approval.decide_case(workspace.cases, case_id, DecisionKind.APPROVED, overrides=reasons, seen=seen)
    return case_id


def _supernote(workspace: Workspace, articles: str, *, made: bool) -> str:
    texts = (
        f"Regular vitamin C supplements do not prevent colds in the general population. {articles}/vitamin-c",
        f"Colds are caused by viruses. No vitamin, vitamin C included, cures a cold. {articles}/colds",
    )
    notes = [ExistingNote(id=f"N{number}", text=text) for number, text in enumerate(texts, start=1)]
    case = supernote_actions.create_supernote(workspace.cases, POST, notes=notes, wanted=8)
    if made:
        workspace.runner.wait(workspace.start(case.id, "supernote").id, timeout=PATIENCE)
    return case.id


def _comparison(workspace: Workspace) -> str:
    made = workspace.comparisons.add("pairs.jsonl", pairs_file(2), title="Trial", names=("", ""), each=0)
    for participant in ("a" * 16, "b" * 16):
        answered(workspace.comparisons, made, participant, wins=(True, False))
    return made.id


_EMPTY = {
    "/": "Draft a note",
    "/cases": "Cases",
    "/queue": "Queue",
    "/supernote": "Supernote",
    "/compare": "Compare",
    "/overview": "Overview",
    "/libraries": "Libraries",
    "/crowd": "Public data",
    "/batches": "Posts from a file",
    "/people": "People",
    "/help": "Help",
    "/help?document=people": "Who may do what",
    "/algorithm": "Algorithm",
    "/algorithm?part=Attack+lab": "Algorithm",
}


def test_no_page_has_a_fault_before_there_is_anything_on_it(walk: Walk) -> None:
    found = {}
    for path, title in _EMPTY.items():
        walk.page.emulate_media(color_scheme="light")
        walk.open(path)
        found[path] = _faults(walk.page)
        assert walk.page.title() == f"{title} · {NAME}"
    assert [f"{path}: {fault}" for path, faults in found.items() for fault in faults] == []


def test_no_page_has_a_fault_with_something_on_it(team: _Team, articles: str, walk: Walk) -> None:
    admin = team.admin
    to_read, scored = Desk(admin, articles).gathered(POST, "vitamin-c", "colds"), _scored(admin, articles)
    rejected = Desk(admin, articles).gathered(POST, "vitamin-c")
    Desk(admin, articles).decided(rejected)
    submitted = _scored(team.author, articles)
    moderation.submit_case(team.author.cases, submitted)
    chosen, made = (_supernote(admin, articles, made=made) for made in (False, True))
    comparison = _comparison(admin)
    rows = b"text\tlink\nNo vitamin cures a cold.\thttps://example.org/1\n"
    job = admin.index_library([("colds.tsv", rows)], "colds", {}, replace=False)
    admin.runner.wait(job.id, timeout=PATIENCE)
    (team.folder / "data" / "crowd.duckdb").write_bytes(made_index()[0].read_bytes())

    pages = {
        f"/?case={to_read}": "Draft a note",
        f"/?case={scored}": "Draft a note",
        f"/?case={_approved(admin, articles)}": "Draft a note",
        f"/?case={rejected}": "Draft a note",
        f"/queue?case={submitted}": "Queue",
        f"/supernote?case={chosen}": "Supernote",
        f"/supernote?case={made}": "Supernote",
        "/?demo": "Draft a note",
        "/cases": "Cases",
        "/queue": "Queue",
        "/compare": "Compare",
        f"/compare?results={comparison}": "Compare",
        f"/compare?comparison={comparison}": "Which note helps more?",
        "/overview": "Overview",
        "/libraries": "Libraries",
        "/crowd": "Public data",
        "/crowd?view=Surges": "Public data",
        "/crowd?view=Delays": "Public data",
    }
    found = {}
    for path, title in pages.items():
        walk.page.emulate_media(color_scheme="light")
        walk.open(path)
        found[path] = _faults(walk.page)
        assert walk.page.title().endswith(f"{title} · {NAME}")
        of_a_case = "case=" in path or "demo" in path
        assert walk.page.title().startswith(f"“{POST[:29]}" if "case=" in path else "“") is of_a_case

    walk.open(f"/?case={to_read}")
    walk.read("E1")
    found["reader"] = _faults(walk.page)
    walk.open("/batches")
    walk.page.locator("input[type=file]").set_input_files(
        {"name": "posts.csv", "mimeType": "text/csv", "buffer": f"text\n{POST}\n{POST}\n".encode()}
    )
    walk.button("Start with 2 posts").wait_for()
    found["posts from a file"] = _faults(walk.page)
    walk.page.set_viewport_size({"width": 390, "height": 844})
    walk.open(f"/?case={scored}")
    for name in ("Post", "Sources", "Note", "Decide"):
        walk.tab(name)
        found[f"phone: {name}"] = _faults(walk.page)
    assert [f"{path}: {fault}" for path, faults in found.items() for fault in faults] == []


def test_the_end_of_work_new_scores_and_an_error_are_said(team: _Team, articles: str, walk: Walk) -> None:
    desk = Desk(team.admin, articles)
    case_id = desk.gathered(POST, "vitamin-c")
    desk.judged(case_id, Verdict.USE, "E1")
    walk.open(f"/?case={case_id}")
    said = walk.page.locator("[role=status]#announcements")
    expect(said).to_have_text("")  # nothing that was there before
    expect(walk.page.get_by_role("checkbox", name="Use E1 in the note").first).to_be_checked()
    walk.score(f"Regular vitamin C supplements do not prevent colds in the general population. {articles}/vitamin-c")
    expect(said).to_contain_text("Scoring the note: done.")
    expect(said).to_contain_text("Scores: relevance passed, correctness not run")
    walk.compare()
    expect(said).to_contain_text("Scores: relevance passed, correctness passed")
    walk.open("/libraries")
    walk.button("Add the library").click()
    expect(walk.page.get_by_role("alert")).to_contain_text("Choose a table or a folder first.")
