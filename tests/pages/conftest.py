"""A workspace of its own for each test, with fakes for the model, and the app on top of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup, TextArea

from crowdnotes.domain import Case, Mode, Verdict
from crowdnotes.settings import Settings
from crowdnotes.testing import HashingEmbedder, LiveLinks, ScriptedEngine
from crowdnotes.workspace import Workspace, open_workspace
from pages.view import session

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
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        if case is not None:
            at.query_params["case"] = case.id
        at.run()
        if page is not None:
            at.switch_page(page).run()
        return at

    def case(self, post: str = POST) -> Case:
        """A case with one passage, copied in by hand: no network is needed."""
        service = self.workspace.service
        case = service.create(post, mode=Mode.AUGMENTATION, by="you")
        return service.add_passage_by_hand(
            case.id, url="https://trials.example.edu/c", title="Vitamin C trials", text=PASSAGE, by="you"
        )

    def inspected(self, post: str = POST) -> Case:
        """A case whose passage was opened and is in use."""
        case = self.case(post)
        self.workspace.service.open_passage(case.id, "E1", "you")
        return self.workspace.service.judge(case.id, "E1", Verdict.USE, "", "you")

    def drafted(self, note: str = NOTE) -> Case:
        """A case with a note of a person's own."""
        return self.workspace.service.edit_draft(self.inspected().id, note, "you", based_on=None)

    def scored(self, note: str = NOTE) -> Case:
        """A case whose note was scored."""
        case = self.drafted(note)
        self.finish(self.workspace.runner.start(case.id, "assess", self.workspace.service.assess_steps(case.id)).id)
        return self.workspace.service.get(case.id)

    def finish(self, job_id: str) -> None:
        """Wait until a job has ended."""
        self.workspace.runner.wait(job_id, timeout=60)

    def finish_latest(self, case: Case) -> None:
        """Wait until the newest job of a case has ended."""
        job = self.workspace.runner.latest(case.id)
        assert job is not None
        self.finish(job.id)

    def newest(self, case: Case) -> Case:
        """The case as it is stored now."""
        return self.workspace.service.get(case.id)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("CROWDNOTES_SEARCH_SERVICES", "[]")
    engine = ScriptedEngine()
    links = LiveLinks()
    settings = Settings(data_dir=tmp_path)
    workspace = open_workspace(settings, embedder=HashingEmbedder(), engine=engine, links=links)
    monkeypatch.setattr(session, "open_workspace", lambda: workspace)
    monkeypatch.setattr(session, "warm_up", lambda _: None)
    st.cache_resource.clear()
    with workspace:
        yield Desk(workspace, engine, links)
    st.cache_resource.clear()


def texts(at: AppTest) -> str:
    """All words that a page shows in Markdown, captions and alerts."""
    shown = [*at.markdown, *at.caption, *at.subheader, *at.title, *at.info, *at.warning, *at.error, *at.success]
    titles = [str(getattr(item.proto, "title", "")) for item in (*at.info, *at.warning, *at.error, *at.success)]
    return "\n".join([str(item.value) for item in shown] + titles).replace("\u2060", "").replace("\\", "")


def note_of(at: AppTest) -> TextArea:
    """The box that holds the note."""
    return next(area for area in at.text_area if area.label == "The note, with its links")


def verdict_of(at: AppTest, key: str) -> ButtonGroup[Any]:
    """The choice of what a passage is good for."""
    found = at.get_by_key(key)
    assert isinstance(found, ButtonGroup)
    return found


def give_reasons(at: AppTest, reason: str) -> None:
    """Write why each check that did not pass may be passed over."""
    for item in at.text_input:
        if item.label.startswith("Why approve although"):
            item.set_value(reason)
    at.run()
