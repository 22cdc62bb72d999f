"""How long a local draft and a re-scoring take, process warm, over libraries of growing size."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from crowdnotes.cases import actions, intake
from crowdnotes.cases.cases import Cases
from crowdnotes.domain import Mode, Verdict
from crowdnotes.settings import Settings
from crowdnotes.workspace import Workspace, open_workspace, warm_up
from tests.cases.walk import run

# Written for this benchmark, in the manner of real posts: a name, a jab, and seldom the medical term.
POSTS = (
    "They told us the flu shot was safe. My neighbour got the flu FROM the shot. Wake up people!!",
    "Doctors hate this: lemon juice dissolves kidney stones overnight, no surgery needed",
    "Type 2 diabetes is caused by eating too much sugar, nothing else. Stop blaming genes.",
    "BREAKING: hospitals now refuse insulin to anyone over 65. Share before they delete this",
    "Antibiotics cure the common cold in two days, pharma just wants you to suffer",
    "So now they say coffee causes heart attacks? My grandma drank 8 cups a day and lived to 98",
    "Shingles only happens to old people, young people can NOT get it",
    "High blood pressure has clear symptoms. If you feel fine, you are fine. Stop taking the pills!",
    "Children with asthma must never do sports, it damages the lungs for good",
    "Parkinson's is contagious, scientists in Sweden proved it and nobody reports it",
)


def measure(data: Path, sizes: Sequence[int | None], posts: Sequence[str] = POSTS) -> dict[str, object]:
    """Seconds by library size; the first two posts warm the process and are not counted."""
    return {str(size or "all"): _measure_one(data, size, posts) for size in sizes}


def _measure_one(data: Path, size: int | None, posts: Sequence[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.parquet"
        frame = pd.read_parquet(data)
        (frame if size is None else frame.head(size)).to_parquet(table)
        with open_workspace(Settings(data_dir=Path(folder) / "data")) as workspace:
            workspace.libraries.add(table, "bench")
            warm_up(workspace)
            drafts: list[float] = []
            rescores: list[float] = []
            for number, post in enumerate(posts):
                seconds, case_id = _draft(workspace, post)
                rescored = _rescore(workspace, case_id)
                if number >= 2:
                    drafts.append(seconds)
                    rescores.extend(rescored)
        return {
            "records": len(frame) if size is None else size,
            "draft_seconds_median": round(statistics.median(drafts), 3),
            "draft_seconds_worst": round(max(drafts), 3),
            "rescore_seconds_median": round(statistics.median(rescores), 3) if rescores else float("nan"),
            "rescore_seconds_worst": round(max(rescores), 3) if rescores else float("nan"),
        }


def _draft(workspace: Workspace, post: str) -> tuple[float, str]:
    cases = workspace.cases
    begun = time.perf_counter()
    case = intake.create_case(cases, post, mode=Mode.AUTOMATION, libraries=["bench"])
    run(workspace, case.id, "gather", workspace.stages.gather_steps(case.id))
    if cases.get(case.id).evidence:
        run(workspace, case.id, "write", workspace.stages.write_steps(case.id, before_inspection=True))
        run(workspace, case.id, "assess", workspace.stages.assess_steps(case.id, before_inspection=True))
    return time.perf_counter() - begun, case.id


def _rescore(workspace: Workspace, case_id: str) -> list[float]:
    """Write a note on the first passage, score it, change its first words, and measure how long scoring takes again."""
    cases: Cases = workspace.cases
    case = cases.get(case_id)
    if not case.evidence:
        return []
    first = case.evidence[0]
    cases.apply(case_id, actions.open_passage, first.id)
    cases.apply(case_id, actions.judge, first.id, Verdict.USE, "")
    note = f"{first.passage.text[:200]} {first.source.url or ''}"
    written = cases.apply(case_id, actions.edit_draft, note, based_on=case.draft.sha256 if case.draft else None)
    run(workspace, case_id, "assess", workspace.stages.assess_steps(case_id))
    cases.apply(
        case_id, actions.edit_draft, f"In fact: {note}", based_on=written.draft.sha256 if written.draft else None
    )
    begun = time.perf_counter()
    run(workspace, case_id, "assess", workspace.stages.assess_steps(case_id, scores_only=True))
    return [time.perf_counter() - begun]
