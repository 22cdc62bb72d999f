"""How much longer a whole automation case takes than its longest chain of dependent calls, and 100 supernotes.

The server answers every call after the same wait. The chain: claims with searches, the ranking, whether the passages
settle the claim, the notes, their revision, and the gates, which are asked side by side. Candidate supernotes are asked
for so many calls at a time: ideally they take as many waits as there are rounds of calls.
"""

from __future__ import annotations

import time
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from crowdnotes.cases import intake
from crowdnotes.cases.cases import Cases
from crowdnotes.domain import Case, ExistingNote, Mode, Post
from crowdnotes.engines import Brief, SupernoteBrief
from crowdnotes.engines.llm.engine import LLMEngine
from crowdnotes.engines.metering import completed_calls
from crowdnotes.errors import EngineError
from crowdnotes.settings import Settings
from crowdnotes.settings_sections import GateSettings, LlmSettings
from crowdnotes.workspace import Workspace, open_workspace, warm_up
from tests.cases.walk import run
from tests.fakes import HashingEmbedder
from tests.llm_server import LLMServer, Say, honest

_CHAIN = 6  # calls that wait for each other

# Words that a table of health pages has, and the made one too.
_FIRST_POST = "Doctors hate this: gout causes rashes overnight, and nobody tells you"
_POST = "They say asthma causes fatigue. My grandmother had asthma for 80 years and lived to 98."


def measure(data: Path, wait: float = 1.0) -> dict[str, object]:
    """Seconds of the case, of each stage and of the chain, the quotient, and the calls made."""
    with LLMServer(honest).running() as server, TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "table.parquet"
        pd.read_parquet(data).head(4_000).to_parquet(table)
        llm = LlmSettings(base_url=server.base_url, model="small", cache_mb=0)
        with open_workspace(Settings(data_dir=folder / "data", llm=llm)) as workspace:
            workspace.libraries.add(table, "bench")
            warm_up(workspace)
            _case(workspace, _FIRST_POST)  # a process that has run a case is warm; it is not counted
            server.requests.clear()
            server.answer = lambda body: Say(honest(body), wait=wait)
            begun = time.perf_counter()
            stages = _case(workspace, _POST).stages
            seconds = time.perf_counter() - begun
    chain = _CHAIN * wait
    return {
        "wait_seconds": wait,
        "case_seconds": round(seconds, 2),
        "chain_seconds": round(chain, 2),
        "stage_seconds": {stage.name.value: round(stage.seconds, 2) for stage in stages},
        "quotient": round(seconds / chain, 3),
        "calls": len(server.requests),
        "most_at_once": server.most_at_once,
    }


WANTED = 100
_TOLD = "Report {number} of May 2021 counted {number}00 of them, {number} more than in the year before."


def measure_supernotes(wait: float = 1.0, wanted: int = WANTED) -> dict[str, object]:
    """Seconds of `wanted` candidates from eight notes, several in a call or one, and the quotient to the ideal."""
    return {f"{count} in a call": _supernotes(count, wait, wanted) for count in (LlmSettings().supernote_candidates, 1)}


def _supernotes(count: int, wait: float, wanted: int) -> dict[str, object]:
    notes = [
        ExistingNote(id=f"N{number}", text=f"{_TOLD.format(number=number)} https://r.example.org/{number}")
        for number in range(1, 9)
    ]
    given = SupernoteBrief(Brief(Post(text=_POST), date(2021, 6, 1)), notes, (), 250)
    with LLMServer(lambda body: Say(honest(body), wait=wait)).running() as server, TemporaryDirectory() as folder:
        settings = LlmSettings(base_url=server.base_url, model="small", cache_mb=0)
        writer = LLMEngine(settings, GateSettings(), HashingEmbedder(), Path(folder)).supernotes
        if writer is None:
            raise RuntimeError("the engine writes no supernotes")
        writer.write(given, count)  # not counted, as above
        calls = wanted // count
        tasks = [partial(writer.write, given, count, variant=number) for number in range(calls)]
        begun = time.perf_counter()
        made = 0
        for _, answer in completed_calls(tasks, settings.at_once):
            if isinstance(answer, EngineError):
                raise answer
            made += len(answer.candidates)
        seconds = time.perf_counter() - begun
    ideal = -(-calls // settings.at_once) * wait
    return {
        "candidates": made,
        "calls": calls,
        "at_once": server.most_at_once,
        "seconds": round(seconds, 2),
        "ideal_seconds": ideal,
        "quotient": round(seconds / ideal, 3),
    }


def _case(workspace: Workspace, post: str) -> Case:
    cases: Cases = workspace.cases
    case = intake.create_case(cases, post, mode=Mode.AUTOMATION, libraries=["bench"])
    run(workspace, case.id, "gather", workspace.stages.gather_steps(case.id))
    run(workspace, case.id, "write", workspace.stages.write_steps(case.id, before_inspection=True))
    run(workspace, case.id, "assess", workspace.stages.assess_steps(case.id, before_inspection=True))
    assessment = cases.get(case.id).assessment
    if assessment is None or assessment.gates[2].status.value != "PASS":
        raise RuntimeError(f"the case did not go through all gates: {assessment}")
    return cases.get(case.id)
