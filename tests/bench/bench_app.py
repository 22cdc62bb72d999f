"""The app itself: a page rerun with a loaded case, and the server's memory after all cases.

Drives a real server through Streamlit's agent API, which runs the page without a browser.
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

from crowdnotes.domain import Mode
from crowdnotes.jobs import JobState
from crowdnotes.settings import Settings
from crowdnotes.workspace import Workspace, open_workspace
from pages.common.where_to_look import MODE_LABELS
from tests.bench.bench_draft import POSTS

_ROOT = Path(__file__).parent.parent.parent
_RERUNS_A_CASE = 5


def measure(data: Path, posts: Sequence[str] = POSTS) -> dict[str, float]:
    """Seconds of a rerun of the Draft page, and megabytes resident, with a case for each post made and shown."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder))
        with open_workspace(settings) as workspace:
            workspace.libraries.add(data, "bench")
        port = _free_port()
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.enableAgentApi=true"]
        command += ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
        environment = {**os.environ, "CROWDNOTES_DATA_DIR": folder, "CROWDNOTES_SEARCH_SERVICES": "[]"}
        with subprocess.Popen(
            command, cwd=_ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as server:
            try:
                return _drive(f"http://127.0.0.1:{port}", settings, server.pid, posts)
            finally:
                server.terminate()


def _drive(base: str, settings: Settings, pid: int, posts: Sequence[str]) -> dict[str, float]:
    with httpx.Client(base_url=base, timeout=120, trust_env=False) as client, open_workspace(settings) as workspace:
        _wait_until_up(client)
        waiting: list[float] = []
        reruns: list[float] = []
        for post in posts:
            case_id, session = _draft(client, workspace, post, waiting)
            for _ in range(_RERUNS_A_CASE):
                begun = time.perf_counter()
                _interact(client, {"session_id": session, "query_params": {"case": [case_id]}})
                reruns.append(time.perf_counter() - begun)
        return {
            "evidence_seconds_median": round(statistics.median(waiting), 3),
            "rerun_seconds_median": round(statistics.median(reruns), 4),
            "rerun_seconds_worst": round(max(reruns), 4),
            "resident_megabytes": round(_resident_kilobytes(pid) / 1024, 1),
            "cases": len(posts),
        }


def _draft(client: httpx.Client, workspace: Workspace, post: str, waiting: list[float]) -> tuple[str, str]:
    """A case by the page's own widgets: search, open and tick two passages, let it write and score."""
    session = _interact(client, {})["session_id"]
    _interact(client, {"session_id": session, "widget_state": {"new-post-mode": MODE_LABELS[Mode.AUTOMATION]}})
    begun = time.perf_counter()
    _interact(client, {"session_id": session, "widget_state": {"new-post-text": post}, "trigger": {"key": "start"}})
    case_id = workspace.cases.find(limit=1)[0].id
    _wait_for_job(workspace, case_id)
    waiting.append(time.perf_counter() - begun)
    _interact(client, {"session_id": session})
    for item in workspace.cases.get(case_id).evidence[:2]:
        key = f"{case_id}-{item.id}"
        _interact(client, {"session_id": session, "trigger": {"key": f"read-{key}"}})
        _interact(client, {"session_id": session, "widget_state": {f"use-{key}": True}})
    if workspace.cases.get(case_id).used_evidence:
        _interact(client, {"session_id": session, "trigger": {"key": "write"}})
        _wait_for_job(workspace, case_id)
    return case_id, session


def _wait_for_job(workspace: Workspace, case_id: str) -> None:
    job = workspace.runner.latest(case_id)
    if job is None:
        raise RuntimeError("the page started no work")
    ended = workspace.runner.wait(job.id, timeout=120)
    if ended.state is not JobState.DONE:
        raise RuntimeError(f"{ended.kind} ended {ended.state.value}")


def _interact(client: httpx.Client, request: dict[str, object]) -> dict[str, str]:
    answer = client.post("/_stcore/agent/interact", json=request)
    if answer.is_error:
        raise RuntimeError(f"the page refused {request}: {answer.text}")
    shown: dict[str, str] = answer.json()
    return shown


def _wait_until_up(client: httpx.Client) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if client.get("/_stcore/health").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise TimeoutError("the app did not come up within a minute")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _resident_kilobytes(pid: int) -> int:
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(shown.stdout)
