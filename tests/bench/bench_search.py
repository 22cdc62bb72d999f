"""How long gathering takes from services that answer after a set wait, against the longest chain of waits."""

from __future__ import annotations

import json
import math
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from crowdnotes.cases import intake
from crowdnotes.domain import Mode
from crowdnotes.evidence.search import SearchProvider
from crowdnotes.jobs import JobState
from crowdnotes.settings import Settings
from crowdnotes.settings_sections import EvidenceSettings
from crowdnotes.workspace import Workspace, open_workspace, warm_up
from tests.bench.bench_draft import POSTS
from tests.bench.services import SERVICES, running

DELAY = 0.3  # seconds until a service or a site answers
PAGE_BYTES = 200_000
QUERIES = 8
PAGES = 6
_REQUESTS = {"pubmed": 2}  # which papers, then their abstracts: one must wait for the other
_APART = {"crossref": 1.1}  # seconds between two requests that the service allows


def measure(
    delay: float = DELAY, posts: Sequence[str] = POSTS, services: Sequence[str] = SERVICES
) -> dict[str, object]:
    """Seconds of one case, of all at once, and of the waits that no program can do without."""
    with tempfile.TemporaryDirectory() as folder, running(delay, PAGE_BYTES) as made:
        settings = Settings(
            data_dir=Path(folder),
            search=made.search,
            evidence=EvidenceSettings(queries=QUERIES, quota=PAGES),
        )
        with open_workspace(settings, fetcher=made.fetcher) as workspace:
            warm_up(workspace)
            _gather(workspace, [posts[0]], services)
            alone = [_gather(workspace, [post], services) for post in posts[1:4]]
            together = _gather(workspace, [f"{post} (again)" for post in posts], services)
            ideal = _ideal(workspace, delay, services)
        return {
            "one_case_seconds_median": round(statistics.median(alone), 2),
            "one_case_seconds_worst": round(max(alone), 2),
            "longest_chain_of_waits_seconds": round(ideal, 2),
            "ratio_to_the_ideal": round(statistics.median(alone) / ideal, 2),
            "cases_at_once": len(posts),
            "at_once_seconds": round(together, 2),
            "at_once_ratio": round(together / statistics.median(alone), 2),
            "requests": made.asked(),
        }


def _ideal(workspace: Workspace, delay: float, services: Sequence[str]) -> float:
    """The slowest provider's requests, those one after another that must be, at its pace, and then one page."""
    return max(_chain(provider, delay) for provider in _providers(workspace, services)) + delay


def _chain(provider: SearchProvider, delay: float) -> float:
    rounds = (
        1 if hasattr(provider, "search_together") else math.ceil(min(QUERIES, provider.most_queries) / provider.at_once)
    )
    return rounds * _REQUESTS.get(provider.name, 1) * delay + (rounds - 1) * max(
        0.0, _APART.get(provider.name, 0.0) - delay
    )


def _providers(workspace: Workspace, services: Sequence[str]) -> list[SearchProvider]:
    from crowdnotes.evidence.search import make_providers

    return [one for one in make_providers(workspace.settings, workspace.libraries) if one.name in services]


def _gather(workspace: Workspace, posts: Sequence[str], services: Sequence[str]) -> float:
    cases, runner = workspace.cases, workspace.runner
    begun = time.perf_counter()
    jobs = []
    for post in posts:
        case = intake.create_case(cases, post, mode=Mode.AUTOMATION, services=services)
        jobs.append((case.id, runner.start(case.id, "gather", workspace.stages.gather_steps(case.id)).id))
    for case_id, job_id in jobs:
        job = runner.wait(job_id, timeout=300)
        if job.state is not JobState.DONE:
            raise RuntimeError(f"gathering ended {job.state.value}: {job.current}")
        case = cases.get(case_id)
        if len(case.evidence) != PAGES or any(outcome.state.value != "answered" for outcome in case.outcomes):
            raise RuntimeError(f"{len(case.evidence)} passages; {[o.sentence for o in case.outcomes]}")
    return time.perf_counter() - begun


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
