"""A workspace of its own for each test, with fakes for the model, and the app on top of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup, TextArea, TextInput

from crowdnotes.cases import actions, intake
from crowdnotes.cases.cases import Cases
from crowdnotes.domain import Case, Decision, Mode, Role, Verdict
from crowdnotes.jobs import JobRecord
from crowdnotes.settings import Settings
from crowdnotes.workspace import Workspace, open_workspace
from pages.common import session, shared_workspace
from pages.draft_parts import reader
from tests.fakes import HashingEmbedder, LiveLinks, ScriptedEngine, actor
from tests.shared import PATIENCE, put_tables

ROOT = Path(__file__).parents[2]
POST = "Vitamin C cures a cold in a day. Doctors hide it."
PASSAGE = (
    "Regular vitamin C supplements do not prevent colds in the general population. "
    "Starting vitamin C after a cold has begun showed no effect on how long the cold lasted."
)
NOTE = "Regular vitamin C supplements do not prevent colds in the general population. https://trials.example.edu/c"


@dataclass
class Desk:
    """The workspace that the app under test uses, and short ways to get a case somewhere."""

    workspace: Workspace
    engine: ScriptedEngine
    links: LiveLinks

    def app(self, case: Case | None = None, page: str | None = None) -> AppTest:
        """The app, run once, showing the case or another page."""
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
        if case is not None:
            at.query_params["case"] = case.id
        at.run()
        if page is not None:
            at.switch_page(page).run()
        return at

    def case(self, post: str = POST) -> Case:
        """A case with one passage, copied in by hand: no network is needed."""
        cases = self.workspace.cases
        case = intake.create_case(cases, post, mode=Mode.AUGMENTATION)
        return intake.add_passage_by_hand(
            cases, case.id, url="https://trials.example.edu/c", title="Vitamin C trials", text=PASSAGE
        )

    def inspected(self, post: str = POST) -> Case:
        """A case whose passage was opened and is in use."""
        case = self.case(post)
        self.workspace.cases.apply(case.id, actions.open_passage, "E1")
        return self.workspace.cases.apply(case.id, actions.judge, "E1", Verdict.USE, "")

    def drafted(self, note: str = NOTE) -> Case:
        """A case with a note of a person's own."""
        return self.workspace.cases.apply(self.inspected().id, actions.edit_draft, note, based_on=None)

    def scored(self, note: str = NOTE) -> Case:
        """A case whose note was scored."""
        return self.run(self.drafted(note), "assess")

    def run(self, case: Case, kind: str) -> Case:
        """Do long work on a case to its end."""
        self.finish(self.workspace.start(case.id, kind).id)
        return self.newest(case)

    def finish(self, job_id: str) -> None:
        """Wait until a job has ended."""
        self.workspace.runner.wait(job_id, timeout=PATIENCE)

    def latest(self, place: str) -> JobRecord:
        """The newest job of a case, or of what else jobs are for."""
        job = self.workspace.runner.latest(place)
        assert job is not None
        return job

    def finish_latest(self, case: Case, at: AppTest | None = None) -> None:
        """Wait until the newest job of a case has ended; draw the page again."""
        self.finish(self.latest(case.id).id)
        if at is not None:
            assert not at.run().exception

    def only(self) -> Case:
        """The only case that there is."""
        [summary] = self.workspace.cases.find()
        return self.workspace.cases.get(summary.id)

    def begun(self, urls: str = "", *, press: str = "start") -> AppTest:
        """The first screen, filled in and sent."""
        at = self.app()
        at.text_area(key="new-post-text").set_value(POST)
        at.text_area(key="new-post-urls").set_value(urls)
        at.button(key=press).click().run()
        assert not at.exception
        return at

    def newest(self, case: Case) -> Case:
        """The case as it is stored now."""
        return self.workspace.cases.get(case.id)

    def note(self, case: Case) -> str:
        """The words of its note, as they are stored now."""
        draft = self.newest(case).draft
        assert draft is not None
        return draft.text

    def decision(self, case: Case) -> Decision:
        """How it ended."""
        decision = self.newest(case).decision
        assert decision is not None
        return decision

    def of_another(self) -> Cases:
        """The cases as another admin uses them at the same time."""
        return self.workspace.acting_as(lambda: actor("bob", Role.ADMIN)).cases

    def changed(self, case: Case, **changes: object) -> Case:
        """The case with other fields, stored by no action."""
        return self.workspace.store.update(case.id, lambda newest: newest.replace(**changes))


@pytest.fixture(autouse=True, scope="session")
def _no_other_components() -> Iterator[None]:
    """Streamlit looks through all installed packages for components whenever a test starts an app; none brings any."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(manifest_scanner, "scan_component_manifests", list)
        yield


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("CROWDNOTES_SEARCH_SERVICES", "[]")
    engine = ScriptedEngine()
    links = LiveLinks()
    settings = Settings(data_dir=tmp_path)
    put_tables(tmp_path / "crowdnotes.sqlite")
    workspace = open_workspace(settings, embedder=HashingEmbedder(), engine=engine, links=links)
    monkeypatch.setattr(shared_workspace, "open_workspace", lambda: workspace)
    monkeypatch.setattr(shared_workspace, "warm_up", lambda _: None)
    monkeypatch.setattr(reader, "redraw", lambda *_: None)  # AppTest knows no more than what the last run drew
    st.cache_resource.clear()
    with workspace:
        yield Desk(workspace, engine, links)
    st.cache_resource.clear()


def texts(at: AppTest) -> str:
    """All words that a page shows in Markdown, captions, alerts, links and the names of folds."""
    shown = [*at.markdown, *at.caption, *at.header, *at.title, *at.info, *at.warning, *at.error, *at.success]
    titles = [str(getattr(item.proto, "title", "")) for item in (*at.info, *at.warning, *at.error, *at.success)]
    links = [link.proto.label for link in at.get("page_link")]
    folds = [item.label for item in at.expander]
    return (
        "\n".join([str(item.value) for item in shown] + titles + links + folds).replace("\u2060", "").replace("\\", "")
    )


@pytest.fixture
def unsaved(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What pages show, to copy, of words that could not be saved."""
    shown: list[str] = []
    monkeypatch.setattr(session, "outside_text", lambda text, **_: shown.append(text))
    return shown


def titles(at: AppTest) -> list[str]:
    """The titles of the errors that a page shows."""
    return [str(getattr(item.proto, "title", "")).replace("\\", "") for item in at.error]


def press(at: AppTest, label: str) -> AppTest:
    """Click the first button of that name."""
    return next(item for item in at.button if item.label == label).click().run()


def field(at: AppTest, label: str) -> TextInput | TextArea:
    """The first field whose name begins so."""
    fields: list[TextInput | TextArea] = [*at.text_input, *at.text_area]
    return next(item for item in fields if item.label.startswith(label))


def can_approve(at: AppTest) -> bool:
    """Whether the first button approves; else it says what is left, and leads there."""
    button = at.button(key="decide-approved")
    return button.label == "Approve the note" and not button.disabled


def note_of(at: AppTest) -> TextArea:
    """The box that holds the note."""
    return next(area for area in at.text_area if area.label == "The note, with its links")


def read(at: AppTest, case: Case, name: str = "E1") -> AppTest:
    """Choose a passage among the sources: the reader shows it."""
    at.button(key=f"read-{case.id}-{name}").click().run()
    assert not at.exception
    return at


def unfolded(at: AppTest, key: str) -> AppTest:
    """With that fold opened: its body is drawn then."""
    at.session_state[key] = True
    at.run()
    assert not at.exception
    return at


def chips(at: AppTest, key: str) -> ButtonGroup[Any]:
    """A choice that is drawn as chips: what a passage is good for, the tags of X's form."""
    found = at.get_by_key(key)
    assert isinstance(found, ButtonGroup)
    return found


def give_reasons(at: AppTest, reason: str) -> None:
    """Write why each check that did not pass may be passed over."""
    for item in at.text_input:
        if item.label.startswith("Why approve although"):
            item.set_value(reason)
    at.run()
