"""A case whose evidence is there, to ask for second looks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crowdnotes.domain import (
    Aim,
    Case,
    Claim,
    Evidence,
    FollowUpKind,
    Hit,
    Mode,
    Post,
    Query,
    Verdict,
)
from crowdnotes.engines import OnText, Pick, WriterAnswer
from crowdnotes.settings import Settings
from crowdnotes.testing import HashingEmbedder, ScriptedEngine
from crowdnotes.workspace import Workspace, open_workspace
from tests.cases.walk import make_library, post_about, run


class LookingEngine(ScriptedEngine):
    """Notes what it was asked for, and finds nothing for an aim that a test names."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[Aim, str]] = []
        self.offered: list[list[str]] = []
        self.picks_nothing_for: Aim | None = None

    def queries(
        self, post: Post, claims: Sequence[Claim], limit: int, *, aim: Aim = Aim.JUDGE, like: str = ""
    ) -> list[Query]:
        """The post itself."""
        self.asked.append((aim, like))
        return super().queries(post, claims, limit, aim=aim, like=like)

    def pick(self, post: Post, candidates: Sequence[Hit], chosen: Sequence[Hit], *, aim: Aim = Aim.JUDGE) -> Pick:
        """The first."""
        if aim is self.picks_nothing_for:
            return Pick(None, "All of them repeat the post.")
        return super().pick(post, candidates, chosen, aim=aim)

    def write(
        self, post: Post, evidence: Sequence[Evidence], budget: int, count: int, on_text: OnText | None = None
    ) -> WriterAnswer:
        """Nothing; what it was offered is noted."""
        self.offered.append([item.id for item in evidence])
        return WriterAnswer(abstained="not asked to")


class Desk:
    """A workspace with one library of twelve records, and a case that was gathered from it."""

    def __init__(self, folder: Path) -> None:
        self.engine = LookingEngine()
        settings = Settings(data_dir=folder / "data", database_url=None)
        self.workspace: Workspace = open_workspace(settings, embedder=HashingEmbedder(), engine=self.engine)
        self.workspace.libraries.add(make_library(folder), "topics")
        self.service = self.workspace.service
        case = self.service.create(post_about("kettle"), mode=Mode.AUTOMATION, libraries=["topics"], by="ann")
        run(self.workspace, case.id, "gather", self.service.gather_steps(case.id))
        self.id = case.id

    @property
    def case(self) -> Case:
        return self.service.get(self.id)

    def use(self, evidence_id: str) -> None:
        self.service.open_passage(self.id, evidence_id, "ann")
        self.service.judge(self.id, evidence_id, Verdict.USE, "", "ann")

    def look(self, kind: FollowUpKind, about: str = "", libraries: Sequence[str] = ("topics",)) -> str:
        """Ask for a look and do it; gives what came of it."""
        self.service.follow_up(self.id, kind, "ann", about=about, libraries=libraries)
        run(self.workspace, self.id, "look", self.service.follow_up_steps(self.id))
        return self.case.follow_ups[-1].outcome


def ids(case: Case) -> list[str]:
    return [item.id for item in case.evidence]
