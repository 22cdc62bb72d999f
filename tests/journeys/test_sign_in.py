"""Signing in with a provider, in the browser: to and fro, roles, two servers, and everything that can go wrong."""

from __future__ import annotations

import json
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from crowdnotes.cases import actions, intake, suggestions
from crowdnotes.domain import Case, DecisionKind, DeskState, Mode, Person, Role, SuggestionAnswer, Verdict
from crowdnotes.settings import Settings
from crowdnotes.workspace import Workspace, open_workspace
from pages.common.web_server import USER_COOKIE
from tests.journeys.conftest import Desk, NewPage, free_port, running_app
from tests.journeys.walk import Walk, held_time
from tests.shared import PATIENCE, minilm

pytestmark = pytest.mark.journey
_COOKIE_SECRET = "kept by every server, " * 2
_POST = "Vitamin C cures a cold in a day."
_NOTE = (
    "Regular vitamin C supplements do not prevent colds in the general population, a review found. {articles}/vitamin-c"
)


class Provider:
    """An OpenID Connect provider on loopback, that can be switched off."""

    def __init__(self) -> None:
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        people = [json.dumps({"sub": name.lower(), "name": name}) for name in ("Ana", "Ben", "Cleo")]
        claims = [word for person in people for word in ("--user-claims", person)]
        command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(self._port), *claims]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        for _ in range(600):
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port)):
                return
            time.sleep(0.1)
        pytest.fail("The provider did not start.")

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=PATIENCE)


class Balancer(socketserver.ThreadingTCPServer):
    """Passes connections on to one of several servers, as what stands before them does."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.port = int(self.server_address[1])
        self.target = ""
        self.served: set[str] = set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def server_close(self) -> None:
        self.shutdown()
        super().server_close()


class _Passing(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, Balancer)
        target = self.server.target
        self.server.served.add(target)
        with (
            suppress(OSError),
            socket.create_connection(("127.0.0.1", int(target.rpartition(":")[2]))) as onward,
        ):
            back = threading.Thread(target=_pass, args=(onward, self.request), daemon=True)
            back.start()
            _pass(self.request, onward)
            back.join()


def _pass(source: socket.socket, to: socket.socket) -> None:
    """Until one side is done; then both are, so that no server waits for the end of a connection."""
    with suppress(OSError):
        while data := source.recv(65_536):
            to.sendall(data)
    for end in (source, to):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True)
class Team:
    """An app with sign-in, its provider, and its workspace as the owner of the machine has it."""

    url: str
    provider: Provider
    workspace: Workspace
    folder: Path

    def person(self, subject: str) -> Person:
        return Person(issuer=self.provider.url, subject=subject, name=subject.title())


def _variables(provider: Provider, port: int) -> dict[str, str]:
    named = {
        "METADATA_URL": f"{provider.url}/.well-known/openid-configuration",
        "CLIENT_ID": "crowdnotes",
        "CLIENT_SECRET": "of the client",
        "COOKIE_SECRET": _COOKIE_SECRET,
        "PUBLIC_URL": f"http://127.0.0.1:{port}",
    }
    return {f"CROWDNOTES_SIGN_IN_{name}": value for name, value in named.items()}


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder, provider, port = tmp_path_factory.mktemp("team"), Provider(), free_port()
    provider.start()
    with (
        running_app(folder, port=port, variables=_variables(provider, port)) as url,
        open_workspace(Settings(data_dir=folder / "data"), embedder=minilm()) as workspace,
    ):
        yield Team(url, provider, workspace, folder)
    provider.stop()


@pytest.fixture
def page(team: Team, new_page: NewPage) -> Page:
    shown = new_page(fresh=True)
    shown.route("**/cdn.jsdelivr.net/**", lambda route: route.abort())  # the provider's look
    return shown


def _button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def _sign_in(page: Page, subject: str) -> None:
    _button(page, "Sign in").click()
    _button(page, subject).click()


def _case(workspace: Workspace) -> Case:
    return workspace.cases.apply(
        intake.create_case(workspace.cases, _POST, mode=Mode.AUGMENTATION).id, actions.set_shared, True
    )


def test_a_person_signs_in_where_they_were_and_what_an_admin_changes_holds_at_once(team: Team, page: Page) -> None:
    case = _case(team.workspace)
    page.goto(f"{team.url}/?case={case.id}")
    expect(_button(page, "Sign in")).to_be_visible()
    expect(page.get_by_text(_POST)).to_have_count(0)
    _sign_in(page, "ana")
    expect(page.get_by_text(_POST).first).to_be_visible()
    assert page.url == f"{team.url}/?case={case.id}"
    page.goto(f"{team.url}/people")
    expect(page.get_by_text("You are Ana. Your role: contributor.")).to_be_visible()
    expect(page.get_by_text("Changes apply at once.")).to_have_count(0)

    team.workspace.people.set_role(team.person("ana"), Role.ADMIN)
    page.reload()
    expect(page.get_by_text("Changes apply at once.")).to_be_visible()
    team.workspace.people.seen(team.person("ben"), "contributor")
    page.reload()
    walk = Walk(page, team.url)
    walk.settled()
    page.get_by_role("combobox", name="Role of {name}".format(name="Ben")).click()
    page.get_by_role("option", name="moderator").click()
    walk.settled()
    row = page.locator("[class*=st-key-person]", has_text="Ben")
    page.get_by_role("button", name="Keep out").nth(1).click()
    page.get_by_role("button", name="Keep Ben out").click()
    expect(row.get_by_text("kept out")).to_be_visible()
    [ben] = [one for one in team.workspace.people.everybody() if one.name == "Ben"]
    assert (ben.role, ben.disabled_at is None) == (Role.MODERATOR, False)

    team.workspace.people.set_role(team.person("ben"), Role.ADMIN)
    team.workspace.people.set_disabled(team.person("ben"), disabled=False)
    team.workspace.people.set_disabled(team.person("ana"), disabled=True)
    page.get_by_role("button", name="Let in").click()  # the tab is open still
    expect(page.get_by_text("An admin took your access away.").first).to_be_visible()
    page.goto(f"{team.url}/?case={case.id}")
    expect(page.get_by_text("An admin took your access away.")).to_be_visible()
    expect(page.get_by_text(_POST)).to_have_count(0)


@pytest.mark.deep
def test_who_signs_out_is_out(team: Team, page: Page) -> None:
    page.goto(f"{team.url}/people")
    _sign_in(page, "ben")
    _button(page, "Sign out").click()
    _button(page, "End session").click()  # at the provider
    expect(_button(page, "Sign in")).to_be_visible()
    page.goto(f"{team.url}/cases")
    expect(_button(page, "Sign in")).to_be_visible()


@pytest.mark.deep
def test_what_goes_wrong_with_a_sign_in_is_said(team: Team, page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    # Turned down there.
    page.goto(f"{team.url}/cases")
    _button(page, "Sign in").click()
    _button(page, "Deny").click()
    expect(page.get_by_text("The sign-in was not completed. Try again.")).to_be_visible()
    # A forged cookie, and one that is older than it may be.
    claims = json.dumps({"is_logged_in": True, "origin": team.url, "iss": team.provider.url, "sub": "ben"})
    from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

    forged = create_signed_value("another secret", USER_COOKIE, claims)
    monkeypatch.setattr("itsdangerous.timed.TimestampSigner.get_timestamp", lambda _: int(time.time()) - 40 * 86_400)
    expired = create_signed_value(_COOKIE_SECRET, USER_COOKIE, claims)
    for cookie in (forged, expired):
        page.context.add_cookies([{"name": USER_COOKIE, "value": cookie.decode(), "url": team.url}])
        page.goto(f"{team.url}/cases")
        expect(page.get_by_text("Your sign-in has expired. Sign in again.")).to_be_visible()
        expect(page.get_by_text("Newest changes first.", exact=True)).to_have_count(0)
    # Another address than the provider knows.
    elsewhere = team.url.replace("127.0.0.1", "localhost")
    page.goto(elsewhere)
    expect(page.get_by_text(f"You came by {elsewhere}, where nobody can sign in. Go to {team.url}")).to_be_visible()
    expect(_button(page, "Sign in")).to_have_count(0)
    # The provider is down, and comes back.
    page.goto(f"{team.url}/cases?search=tea")
    team.provider.stop()
    _button(page, "Sign in").click()
    expect(page.get_by_text("The sign-in service did not respond. Try again in a few minutes.")).to_be_visible()
    team.provider.start()
    _sign_in(page, "ben")
    expect(page.get_by_text("Newest changes first.", exact=True)).to_be_visible()
    assert page.url == f"{team.url}/cases?search=tea"


@pytest.mark.deep
def test_a_second_server_with_the_same_secret_knows_who_is_signed_in(team: Team, page: Page) -> None:
    with Balancer() as balancer:
        variables = _variables(team.provider, balancer.port)
        with (
            running_app(team.folder, variables=variables) as first,
            running_app(team.folder, variables=variables) as second,
        ):
            balancer.target = first
            page.goto(f"{balancer.url}/people")
            _sign_in(page, "ben")
            expect(page.get_by_text("You are Ben.")).to_be_visible()
            balancer.target = second
            page.goto(f"{balancer.url}/people")
            expect(page.get_by_text("You are Ben.")).to_be_visible()
            assert balancer.served == {first, second}


@pytest.mark.deep
def test_three_people_take_a_note_from_its_author_through_two_blind_readers_to_its_end(
    team: Team, articles: str, browser: Browser, tmp_path: Path
) -> None:
    provider, port = team.provider, free_port()
    variables = {**_variables(provider, port), "CROWDNOTES_TWO_READERS": "true"}
    ana, ben, cleo = (team.person(name) for name in ("ana", "ben", "cleo"))
    with (
        running_app(tmp_path, port=port, variables=variables) as url,
        open_workspace(
            Settings(data_dir=tmp_path / "data", allowed_private_hosts=("127.0.0.1",)), embedder=minilm()
        ) as workspace,
    ):
        people = workspace.people
        for person, role in ((ana, "contributor"), (ben, "moderator"), (cleo, "moderator")):
            people.seen(person, role)
        author = workspace.acting_as(workspace.user_of(ana))
        case_id = _noted(Desk(author, articles))

        def signed_in(subject: str, path: str) -> Walk:
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.route("**/cdn.jsdelivr.net/**", lambda route: route.abort())
            page.goto(f"{url}{path}")
            _sign_in(page, subject)
            walk = Walk(page, url)
            walk.settled()
            return walk

        anas = signed_in("ana", f"/?case={case_id}")
        anas.button("Send to the moderators").click()
        expect(anas.button("Take it back")).to_be_in_viewport()
        bens, cleos = signed_in("ben", "/queue"), signed_in("cleo", "/queue")
        _reads(bens, "1", "Look again, or keep your findings.")
        _keeps(bens, "Saved. 1 more moderator has to read it.")
        assert "ben" not in cleos.page.locator("body").inner_text().lower()  # blind
        _reads(cleos, "1", "Look again, or keep your findings.")
        _keeps(cleos, "Comments for the author")
        cleos.page.get_by_label("Words of the note (optional)").fill("no such words")
        cleos.page.get_by_label("Comment on these words").fill("In whom?")
        cleos.settled()
        cleos.button("Send back").click()
        expect(cleos.page.get_by_text("“no such words”")).to_be_in_viewport()
        cleos.page.get_by_label("Words of the note (optional)").fill(_NOTE.split(maxsplit=1)[0])
        cleos.page.get_by_label("Comment on these words").fill("In whom?")
        cleos.page.get_by_label("Comment on these words").press("Escape")
        cleos.settled()
        cleos.page.keyboard.press("b")  # first all that is sent has to be seen
        sent = cleos.page.get_by_text("The author has your comments.")
        with held_time(cleos.page, "[data-judging^=Press]"):
            cleos.page.keyboard.press("b")
        expect(sent).to_be_visible()

        anas.open(f"/?case={case_id}")
        expect(anas.page.get_by_text("In whom?").first).to_be_visible()
        expect(anas.button("Send to the moderators")).to_be_disabled()
        author.cases.apply(
            case_id, suggestions.answer_suggestion, "S1", SuggestionAnswer.NO, "The source says it of everybody."
        )
        anas.open(f"/?case={case_id}")
        anas.button("Send to the moderators").click()
        expect(anas.button("Take it back")).to_be_in_viewport()

        people.set_disabled(cleo, disabled=True)  # from her next act on
        cleos.open("/queue")
        expect(cleos.page.get_by_text("An admin took your access away.").first).to_be_visible()
        people.set_disabled(cleo, disabled=False)
        for walk, shown in ((cleos, "Saved. 1 more moderator has to read it."), (bens, "Comments for the author")):
            walk.open("/queue")
            walk.page.keyboard.press("n")
            for key, seen in (("k", ".st-key-finding-1"), ("j", ".st-key-keep-findings")):  # back to the last, and on
                expect(walk.page.get_by_text("The note and its sources are as you read them.")).to_be_visible(
                    visible=key == "k"
                )
                walk.settled()
                walk.page.keyboard.press(key)
                expect(walk.page.locator(seen)).to_be_visible()
            _keeps(walk, shown)  # the note is as it was
        expect(bens.page.get_by_text("The source says it of everybody.")).to_be_visible()
        bens.page.get_by_label("About the whole note").fill("It is a joke.")
        bens.button("Reject").click()
        expect(bens.page.get_by_text(f"This case is decided: {DecisionKind.REJECTED.as_text}.")).to_be_visible()
        case = author.cases.get(case_id)
        assert (case.desk_state, len(case.desk.readings)) == (DeskState.DECIDED, 2)
        anas.open("/cases")
        expect(anas.page.get_by_text("Ben: It is a joke.")).to_be_visible()


def _noted(desk: Desk) -> str:
    """A case whose note was scored and compared by its author; its id."""
    case_id = desk.gathered(_POST, "vitamin-c")
    desk.judged(case_id, Verdict.USE, "E1")
    desk.compared(desk.scored(case_id, _NOTE.format(articles=desk.articles)))
    return case_id


def _reads(walk: Walk, key: str, until: str) -> None:
    """Take the next case by keyboard and find the same of each pair."""
    walk.page.keyboard.press("n")
    finding = walk.page.locator(".st-key-finding-1")
    expect(finding).to_be_visible()
    walk.settled()
    for _ in range(9):
        if not finding.count():
            break
        walk.page.keyboard.press(key)
        walk.settled()
    expect(walk.page.get_by_text(until).first).to_be_visible()


def _keeps(walk: Walk, until: str) -> None:
    """Keep what was found by keyboard; first all that is kept has to be seen."""
    walk.settled()
    walk.page.keyboard.press("f")
    framed, after = walk.page.locator("[data-judging^=Press]").first, walk.page.get_by_text(until).first
    expect(framed.or_(after)).to_be_visible()
    if framed.is_visible():
        walk.page.keyboard.press("f")
    expect(after).to_be_visible()


@pytest.mark.deep
def test_each_visitor_of_a_demo_has_their_own(tmp_path: Path, browser: Browser) -> None:
    with running_app(tmp_path, variables={"CROWDNOTES_SIGN_IN_DEMO": "true"}) as url:
        pages = [browser.new_context().new_page() for _ in range(2)]
        pages[0].goto(url)
        pages[0].locator("[class*=st-key-example-] button:visible").first.click()
        expect(pages[0].get_by_text("You will see answers that an AI gave earlier.")).to_be_visible()
        _button(pages[0], "Find evidence").click()
        pages[0].wait_for_url("**/?case=*")
        for page, count in zip(pages, (1, 0), strict=True):
            page.goto(f"{url}/cases")
            expect(page.get_by_text("Newest changes first.", exact=True)).to_be_visible()
            expect(page.locator("[class*='st-key-case-']")).to_have_count(count)
            page.context.close()
