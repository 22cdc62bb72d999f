"""The app itself: a page rerun with a loaded case, and the server's memory after ten cases.

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
from pathlib import Path

import httpx

from crowdnotes.domain import Mode, Verdict
from crowdnotes.settings import Settings
from crowdnotes.workspace import open_workspace
from tests.bench.bench_draft import POSTS

_ROOT = Path(__file__).parent.parent.parent
_RERUNS = 20


def measure(data: Path) -> dict[str, float]:
    """Median and worst seconds of a rerun of the Draft page, and megabytes resident, with ten cases made and shown."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder))
        with open_workspace(settings) as workspace:
            workspace.libraries.add(data, "bench")
        port = _free_port()
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.enableAgentApi=true"]
        command += ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
        environment = {**os.environ, "CROWDNOTES_DATA_DIR": folder}
        with subprocess.Popen(
            command, cwd=_ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as server:
            try:
                return _drive(f"http://127.0.0.1:{port}", settings, server.pid)
            finally:
                server.terminate()


def _drive(base: str, settings: Settings, pid: int) -> dict[str, float]:
    with httpx.Client(base_url=base, timeout=120, trust_env=False) as client:
        _wait_until_up(client)
        cases = _make_cases(settings)
        seconds: list[float] = []
        for case_id in cases:
            shown = _interact(client, {"query_params": {"case": [case_id]}})
            session = shown["session_id"]
            for _ in range(_RERUNS // len(cases) + 1):
                begun = time.perf_counter()
                _interact(client, {"session_id": session})
                seconds.append(time.perf_counter() - begun)
        return {
            "rerun_seconds_median": round(statistics.median(seconds), 4),
            "rerun_seconds_worst": round(max(seconds), 4),
            "resident_megabytes": round(_resident_kilobytes(pid) / 1024, 1),
            "cases": len(cases),
        }


def _make_cases(settings: Settings) -> list[str]:
    made: list[str] = []
    with open_workspace(settings) as workspace:
        service, runner = workspace.service, workspace.runner
        for post in POSTS:
            case = service.create(post, mode=Mode.AUTOMATION, libraries=["bench"], by="bench")
            runner.wait(runner.start(case.id, "gather", service.gather_steps(case.id, "bench")).id, timeout=120)
            for item in service.get(case.id).evidence[:2]:
                service.open_passage(case.id, item.id, "bench")
                service.judge(case.id, item.id, Verdict.USE, "", "bench")
            if service.get(case.id).used_evidence:
                runner.wait(runner.start(case.id, "write", service.write_steps(case.id, "bench")).id, timeout=120)
            if service.get(case.id).draft is not None:
                runner.wait(runner.start(case.id, "assess", service.assess_steps(case.id, "bench")).id, timeout=120)
            made.append(case.id)
    return made


def _interact(client: httpx.Client, request: dict[str, object]) -> dict[str, str]:
    answer = client.post("/_stcore/agent/interact", json=request)
    answer.raise_for_status()
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
