"""How long gathering takes from services that answer after 300 ms, against the longest chain of waits; ten at once."""

from __future__ import annotations

import json
import math
import statistics
import tempfile
import time
from pathlib import Path

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
AT_ONCE = 10
_REQUESTS = {"pubmed": 2}  # which papers, then their abstracts: one must wait for the other
_APART = {"crossref": 1.1}  # seconds between two requests that the service allows


def measure() -> dict[str, object]:
    """Seconds of one case, of ten at once, and of the waits that no program can do without."""
    with tempfile.TemporaryDirectory() as folder, running(DELAY, PAGE_BYTES) as services:
        settings = Settings(
            data_dir=Path(folder),
            search=services.search,
            evidence=EvidenceSettings(queries=QUERIES, quota=PAGES),
        )
        with open_workspace(settings, fetcher=services.fetcher) as workspace:
            warm_up(workspace)
            _gather(workspace, [POSTS[0]])
            alone = [_gather(workspace, [post]) for post in POSTS[1:4]]
            together = _gather(
                workspace, [f"{post} ({number})" for number, post in enumerate(POSTS, start=1)][:AT_ONCE]
            )
            ideal = _ideal(workspace)
        return {
            "one_case_seconds_median": round(statistics.median(alone), 2),
            "one_case_seconds_worst": round(max(alone), 2),
            "longest_chain_of_waits_seconds": round(ideal, 2),
            "ratio_to_the_ideal": round(statistics.median(alone) / ideal, 2),
            "ten_at_once_seconds": round(together, 2),
            "ten_at_once_ratio": round(together / statistics.median(alone), 2),
            "requests": services.asked(),
        }


def _ideal(workspace: Workspace) -> float:
    """The slowest provider's requests, those one after another that must be, at its pace, and then one page."""
    return max(_chain(provider) for provider in _providers(workspace)) + DELAY


def _chain(provider: SearchProvider) -> float:
    rounds = (
        1 if hasattr(provider, "search_together") else math.ceil(min(QUERIES, provider.most_queries) / provider.at_once)
    )
    return rounds * _REQUESTS.get(provider.name, 1) * DELAY + (rounds - 1) * max(
        0.0, _APART.get(provider.name, 0.0) - DELAY
    )


def _providers(workspace: Workspace) -> list[SearchProvider]:
    from crowdnotes.evidence.search import make_providers

    return [one for one in make_providers(workspace.settings, workspace.libraries) if one.name in SERVICES]


def _gather(workspace: Workspace, posts: list[str]) -> float:
    service, runner = workspace.service, workspace.runner
    begun = time.perf_counter()
    jobs = []
    for post in posts:
        case = service.create(post, mode=Mode.AUTOMATION, services=SERVICES)
        jobs.append((case.id, runner.start(case.id, "gather", service.gather_steps(case.id)).id))
    for case_id, job_id in jobs:
        job = runner.wait(job_id, timeout=300)
        if job.state is not JobState.DONE:
            raise RuntimeError(f"gathering ended {job.state.value}: {job.current}")
        case = service.get(case_id)
        if len(case.evidence) != PAGES or any(outcome.state.value != "answered" for outcome in case.outcomes):
            raise RuntimeError(f"{len(case.evidence)} passages; {[o.sentence for o in case.outcomes]}")
    return time.perf_counter() - begun


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
