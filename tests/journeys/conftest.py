"""A running app, a few article pages on loopback, and a browser to use them with."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from pytest_httpserver import HTTPServer

from crowdnotes.cases import actions, approval, intake
from crowdnotes.cases.store import Store
from crowdnotes.domain import Case, DecisionKind, Mode, Post, Support, Verdict
from crowdnotes.jobs import JobState
from crowdnotes.settings import Settings
from crowdnotes.storage.database import open_database
from crowdnotes.workspace import Workspace, open_workspace
from tests.browser import find_browser
from tests.cases.test_stored_cases import COUNT, unpacked
from tests.fakes import make_case
from tests.shared import PATIENCE, minilm

ROOT = Path(__file__).parents[2]
# Pictures of each step, for who wants to look at them: they cost a third of a walk.
SCREENSHOTS = ROOT / "build" / "screenshots" if os.environ.get("CROWDNOTES_TEST_PICTURES") else None
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()
_PATIENCE_MS = 1_000 * PATIENCE
expect.set_options(timeout=_PATIENCE_MS)

HOSTILE = (
    '<script>window.hacked=1</script><img src=x onerror="window.hacked=1"> ![i](https://evil.example/i.png)'
    " [click](javascript:window.hacked=1) :red[loud] $x^2$ `code` safe\u202eexe :material/home:"
)

_ARTICLES = {
    "/vitamin-c": (
        "Vitamin C and the common cold",
        """<p>Published 12 March 2024 by the Institute for Plain Answers.</p>
        <p>Regular vitamin C supplements do not prevent colds in the general population, a review of 29 trials found.
        In those trials, people who took vitamin C every day caught as many colds as people who took none.</p>
        <p>People who took the supplement daily had colds that were about 8 percent shorter. Starting vitamin C after
        a cold has begun showed no consistent effect on how long the cold lasted or how bad it was.</p>
        <p>The reviewers note that marathon runners and soldiers in cold climates were an exception: among them the
        supplement halved the risk of a cold.</p>""",
    ),
    "/colds": (
        "How colds spread, and what helps",
        """<p>Colds are caused by viruses, most often rhinoviruses. No vitamin, vitamin C included, cures a cold.
        Washing hands and staying home when ill are what limits their spread.</p>
        <p>Most adults have two or three colds a year, and recover within seven to ten days without treatment.
        Antibiotics do not work against colds because colds are caused by viruses.</p>""",
    ),
    "/hostile": (
        HOSTILE,
        f"""<p>Vitamin C does not cure colds. {HOSTILE.replace("<", "&lt;")}</p>
        <p>Regular vitamin C supplements do not prevent colds in the general population, and no vitamin cures a cold.
        {HOSTILE.replace("<", "&lt;")}</p>""",
    ),
}


@dataclass(frozen=True)
class App:
    """A running app: where it answers, where its articles lie, and its folder."""

    url: str
    articles: str
    folder: Path


@pytest.fixture(scope="session")
def articles() -> Iterator[str]:
    with HTTPServer(host="127.0.0.1", port=0) as server:
        for path, (title, body) in _ARTICLES.items():
            safe = title.replace("&", "&amp;").replace("<", "&lt;")
            head = f"<head><title>{safe}</title></head>"
            html = f"<html lang=en>{head}<body><article><h1>{safe}</h1>{body}</article></body></html>"
            server.expect_request(path).respond_with_data(html, content_type="text/html; charset=utf-8")
        server.expect_request("/gone").respond_with_data("gone", status=404)
        yield server.url_for("").rstrip("/")


def free_port() -> int:
    """One that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_app(
    folder: Path, *, port: int = 0, variables: Mapping[str, str] | None = None, warm: bool = False
) -> Iterator[str]:
    """The app, started on a free port with a data folder of its own; gives its address.

    Unless `warm` it reads its models when a walk first needs them.
    """
    port = port or free_port()
    environment = {
        **os.environ,
        "CROWDNOTES_DATA_DIR": str(folder / "data"),
        "CROWDNOTES_SEARCH_SERVICES": "[]",
        "CROWDNOTES_ALLOWED_PRIVATE_HOSTS": '["127.0.0.1"]',
        "HF_HUB_OFFLINE": "1",
        **(variables or {}),
    }
    log = folder / "app.log"
    options = [f"--server.port={port}", "--server.address=127.0.0.1"]
    command = [sys.executable, "-m", "streamlit" if warm else "tests.cold_app", "run", "app.py", *options]
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_healthy(url, process, log)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


@pytest.fixture(scope="session")
def app(articles: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("app")
    with running_app(folder, warm=True) as url:
        yield App(url, articles, folder)


class Desk:
    """Takes cases of the running app to where a journey begins, by the calls that its pages make.

    What a journey does not look at is so done in a fraction of the time that clicks take.
    """

    def __init__(self, workspace: Workspace, articles: str) -> None:
        self._workspace = workspace
        self._cases = workspace.cases
        self.articles = articles

    def gathered(self, post: str, *names: str) -> str:
        """A case with the passages of these articles; its id."""
        urls = [f"{self.articles}/{name}" for name in names]
        return self.begun(post, urls, Mode.AUGMENTATION)

    def begun(self, post: str, urls: Sequence[str], mode: Mode) -> str:
        """A case with the passages of these pages; its id."""
        case = intake.create_case(self._cases, post, mode=mode, urls=list(urls))
        self._run(case.id, "gather")
        return case.id

    def judged(self, case_id: str, verdict: Verdict, *names: str) -> None:
        """Open these passages, and say what they are good for."""
        for name in names:
            self._cases.apply(case_id, actions.open_passage, name)
            self._cases.apply(case_id, actions.judge, name, verdict, "")

    def scored(self, case_id: str, note: str) -> Case:
        """Put that note in the case, and score it."""
        draft = self._cases.get(case_id).draft
        self._cases.apply(case_id, actions.edit_draft, note, based_on=draft.sha256 if draft else None)
        self._run(case_id, "assess")
        return self._cases.get(case_id)

    def compared(self, case: Case) -> None:
        """Find that each sentence's passage says it, and that no hint matters."""
        assert case.draft is not None
        assert case.assessment is not None
        for sentence in case.assessment.sentences:
            words = sentence.words_in(case.draft.text)
            assert sentence.evidence_id is not None
            self._cases.apply(
                case.id,
                actions.compare_sentence,
                words,
                sentence.evidence_id,
                Support.SUPPORTED,
                doubts_settled=bool(sentence.doubts),
            )

    def newest(self, case_id: str) -> Case:
        """The case as it is kept now."""
        return self._cases.get(case_id)

    def decided(self, case_id: str) -> None:
        """End the case, as somebody does elsewhere."""
        approval.decide_case(self._cases, case_id, DecisionKind.REJECTED)

    def _run(self, case_id: str, kind: str) -> None:
        job = self._workspace.runner.wait(self._workspace.start(case_id, kind).id, timeout=PATIENCE)
        assert job.state is JobState.DONE, job


KETTLES = 3
MANY = COUNT + KETTLES  # more than stand on one page


@pytest.fixture(scope="session")
def many_cases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an app with the stored cases of an earlier program, and a few about kettles that leak."""
    folder = tmp_path_factory.mktemp("many")
    engine = open_database(f"sqlite:///{unpacked(folder / 'data')}")
    for number in range(KETTLES):
        Store(engine).add(make_case(id=f"{number:012x}", post=Post(text=f"Kettles leak everything {number}")))
    engine.dispose()
    with running_app(folder) as url:
        yield url


@pytest.fixture(scope="session")
def desk(app: App) -> Iterator[Desk]:
    settings = Settings(data_dir=app.folder / "data", allowed_private_hosts=("127.0.0.1",))
    with open_workspace(settings, embedder=minilm()) as workspace:
        yield Desk(workspace, app.articles)


def _wait_until_healthy(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"The app did not start:\n{log.read_text(errors='replace')[-2000:]}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=_FLAGS)
        yield browser
        browser.close()


NewPage = Callable[..., Page]

# What moves is drawn sixty times a second by the processor that the app works on.
# When the page last sent something to the app and when it last heard from it: a run that was asked for begins late on
# a busy machine. And whether another run follows the one that ended, as when a part of the page asks for all of it:
# field 6 of Streamlit's ForwardMsg, a message's last, is how a run ended, and 2 that it "finished early for rerun".
_WATCHED = """
window.askedOfApp = window.heardFromApp = 0
window.runsAgain = false
window.WebSocket = class extends WebSocket {
  constructor(...address) {
    super(...address)
    window.lineToApp = this
    this.addEventListener("message", ({ data }) => {
      window.heardFromApp = performance.now()
      const [field, value] = new Uint8Array(data).slice(-2)
      if (field === 6 << 3) window.runsAgain = value === 2
    })
  }
  send(data) {
    window.askedOfApp = performance.now()
    super.send(data)
  }
}
document.addEventListener("DOMContentLoaded", () => {
  const style = document.createElement("style")
  style.textContent = "*, *::before, *::after { animation: none !important; transition: none !important }"
  document.head.append(style)
})
"""


@pytest.fixture(scope="session")
def kept_page(browser: Browser) -> Iterator[Page]:
    """One page for all journeys: Streamlit's program is read and compiled once, not for each of them."""
    context = browser.new_context()
    context.set_default_timeout(_PATIENCE_MS)
    context.add_init_script(_WATCHED)
    yield context.new_page()
    context.close()


@pytest.fixture
def new_page(kept_page: Page) -> Iterator[NewPage]:
    """Opens pages of one browser profile, empty at each test's start: `new_page("dark", width=390)`.

    The first is the kept page, but for `fresh`: one that takes its listeners with it.
    """
    opened: list[Page] = []

    def open_page(
        scheme: Literal["light", "dark"] = "light", width: int = 1280, height: int = 900, *, fresh: bool = False
    ) -> Page:
        page = kept_page.context.new_page() if opened or fresh else kept_page
        opened.append(page)
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        return page

    yield open_page
    for page in opened:
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear() }")
        if page is kept_page:
            page.goto("about:blank")  # ends its session with the app
        else:
            page.close()
    kept_page.context.clear_cookies()
