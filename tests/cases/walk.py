"""A whole case over a small library, for tests: fakes for thinking and vectors, everything else real."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

from crowdnotes.cases import actions, approval, intake
from crowdnotes.domain import (
    AnswerKind,
    Case,
    DecisionKind,
    Draft,
    Evidence,
    Mode,
    PassageAnswer,
    Query,
    Settlement,
    Verdict,
    text_sha256,
)
from crowdnotes.engines import Brief, FurtherSearch, Revision, WriterAnswer, Written
from crowdnotes.jobs import JobRecord, JobState, Step
from crowdnotes.settings import Settings
from crowdnotes.text.note_rules import without_urls
from crowdnotes.workspace import Workspace, open_workspace
from tests.fakes import HashingEmbedder, LiveLinks, ScriptedEngine, actor
from tests.shared import PATIENCE, put_tables

TOPICS = tuple("kettle lantern orchard pebble quarry ribbon saddle timber umbrella velvet walnut yeast".split())


def post_about(topic: str) -> str:
    """A post that only one record of the library answers."""
    return f"They never tell you that the {topic} makes people ill!"


class TopicEngine(ScriptedEngine):
    """Writes the first passage's own first sentence, so that a note shows whose evidence it was made from."""

    def write(
        self, brief: Brief, evidence: Sequence[Evidence], budget: int, count: int, *, earlier: Sequence[str] = ()
    ) -> WriterAnswer:
        """One note."""
        sentence = evidence[0].passage.text.split(". ")[0].rstrip(".")
        return WriterAnswer((Written(f"According to the record, {sentence}.", (evidence[0].id,)),))


class ThinkingEngine(TopicEngine):
    """As a language model: says which passages settle the claim, searches for what is missing, betters the note.

    A passage with `states` in it states what settles the claim: all of them where that is "". `looks_for` is the
    search for what is missing.
    """

    uses_language_model = True

    def __init__(self, states: str = "", looks_for: str = "") -> None:
        super().__init__()
        self.states, self.looks_for = states, looks_for
        self.asked: list[list[str]] = []
        self.earlier: list[list[str]] = []
        self.revises: Callable[[], None] = lambda: None

    def settle(self, brief: Brief, evidence: Sequence[Evidence], limit: int) -> FurtherSearch:
        """Notes which passages nobody had asked about."""
        before = brief.settlement
        self.asked.append([item.id for item in evidence if before is None or before.of(item) is None])
        found = tuple(
            PassageAnswer(
                evidence_id=item.id,
                passage_sha256=text_sha256(item.passage.text),
                answer=AnswerKind.STATED if self.states in item.passage.text else AnswerKind.NONE,
            )
            for item in evidence
        )
        settlement = Settlement(passages=found, missing=self.looks_for, engine=self.name)
        is_settled = bool(settlement.stated(evidence))
        queries = (Query(text=self.looks_for, purpose="what is missing"),) if self.looks_for and not is_settled else ()
        return FurtherSearch(settlement, queries)

    def write(
        self, brief: Brief, evidence: Sequence[Evidence], budget: int, count: int, *, earlier: Sequence[str] = ()
    ) -> WriterAnswer:
        """Notes what was proposed before, and says something else."""
        self.earlier.append(list(earlier))
        (written,) = super().write(brief, evidence, budget, count).candidates
        return WriterAnswer((written, Written(f"Note {len(self.earlier)} says it otherwise.", written.evidence_ids)))

    def revise(self, brief: Brief, evidence: Sequence[Evidence], notes: Sequence[Draft], budget: int) -> Revision:
        """The last note first, the first one bettered."""
        self.revises()
        order = tuple(reversed(range(len(notes))))
        final = Written(f"{without_urls(notes[0].text).strip()} It was watched.", notes[0].evidence_ids)
        return Revision(order, (("It breaks off.",), *((),) * (len(notes) - 1)), final, "Said for how long.")


def make_library(folder: Path) -> Path:
    """A table of one record a topic."""
    table = folder / "topics.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["title", "text", "url"])
        for topic in TOPICS:
            text = f"A review of the {topic} found no illness in people. The {topic} was watched for years."
            writer.writerow([f"About the {topic}", text, f"https://records.example.net/{topic}"])
    return table


def small_workspace(folder: Path, links: LiveLinks | None = None, engine: ScriptedEngine | None = None) -> Workspace:
    """A workspace with the library "topics"; opening the same folder again finds it there."""
    settings = Settings(data_dir=folder / "data", database_url=None)
    engine, links = engine or TopicEngine(), links or LiveLinks()
    put_tables(folder / "data" / "crowdnotes.sqlite")
    workspace = open_workspace(settings, embedder=HashingEmbedder(), engine=engine, links=links)
    if not workspace.libraries.list():
        workspace.libraries.add(make_library(folder), "topics")
    return workspace


def run(workspace: Workspace, case_id: str, kind: str, steps: list[Step]) -> JobRecord:
    """Run steps to their end."""
    job = workspace.runner.wait(workspace.runner.start(case_id, kind, steps).id, timeout=PATIENCE)
    assert job.state is JobState.DONE, job
    return job


class Told:
    """The progress of a step that is run by itself: what it told, and `at_check` for what happens meanwhile."""

    def __init__(self, at_check: Callable[[], object] = lambda: None) -> None:
        self.notes: list[str] = []
        self._at_check = at_check

    def count(self, done: int, total: int, note: str = "") -> None:
        """Keep it."""
        self.notes.append(f"{done}/{total} {note}")

    def check(self) -> None:
        """Let happen what the test wants."""
        self._at_check()


def gather(workspace: Workspace, case_id: str) -> Case:
    """Run what gathering is left to do; the case as it is then."""
    run(workspace, case_id, "gather", workspace.stages.gather_steps(case_id))
    return workspace.cases.get(case_id)


def use(workspace: Workspace, case_id: str, evidence_id: str) -> None:
    """Open a passage and put it to use, as a person does."""
    workspace.cases.apply(case_id, actions.open_passage, evidence_id)
    workspace.cases.apply(case_id, actions.judge, evidence_id, Verdict.USE, "")


def only_link(workspace: Workspace, case_id: str, url: str) -> None:
    """Choose one link in the place of all that was searched."""
    chosen: dict[str, list[str]] = {"urls": [url], "libraries": [], "services": []}
    workspace.cases.apply(case_id, intake.set_sources, mode=Mode.AUGMENTATION, **chosen, own_words="", until=None)


def new_case(workspace: Workspace, topic: str) -> Case:
    """A case that awaits gathering."""
    return intake.create_case(workspace.cases, post_about(topic), mode=Mode.AUTOMATION, libraries=["topics"])


def draft_and_approve(workspace: Workspace, topic: str, by: str) -> Case:
    """All of it, as a person would do it by the page's calls."""
    workspace = workspace.acting_as(lambda: actor(by))
    cases = workspace.cases
    case = new_case(workspace, topic)
    use(workspace, case.id, gather(workspace, case.id).evidence[0].id)
    run(workspace, case.id, "write", workspace.stages.write_steps(case.id))
    case = cases.get(case.id)
    assert case.draft is not None
    case = cases.apply(case.id, actions.edit_draft, f"In short: {case.draft.text}", based_on=case.draft.sha256)
    run(workspace, case.id, "assess", workspace.stages.assess_steps(case.id))
    cases.apply(case.id, actions.set_tags, ["misleadingFactualError"])
    case = cases.get(case.id)
    assert case.draft is not None
    return approval.decide_case(cases, case.id, DecisionKind.APPROVED, seen=case.draft.sha256)
