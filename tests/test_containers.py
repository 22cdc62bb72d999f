"""The container files name what is there, and their steps make an app that starts. No image is built here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sysconfig
import time
import venv
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import jsonschema
import pytest
import yaml
from starlette.applications import Starlette
from starlette.testclient import TestClient
from typer.testing import CliRunner

from crowdnotes import bridging
from crowdnotes.cli.main import app
from crowdnotes.settings import Settings
from crowdnotes.storage.database import open_database
from pages.common import shared_workspace
from pages.common.web_server import routes
from tests.journeys.conftest import free_port

_ROOT = Path(__file__).parents[1]
_LINES = re.sub(r"\\\n", " ", (_ROOT / "Dockerfile").read_text(encoding="utf-8")).splitlines()
_COMPOSE: dict[str, Any] = yaml.safe_load((_ROOT / "compose.yaml").read_text(encoding="utf-8"))


def test_the_image_copies_what_is_there_takes_the_pinned_torch_and_is_not_root() -> None:
    copied = [word for line in _LINES if line.startswith("COPY") for word in line.split()[1:-1]]
    assert [name for name in copied if not (_ROOT / name).exists()] == []
    assert {"app.py", "crowdnotes", "pages", "assets", "docs", ".streamlit"} <= set(copied)
    torch = next(
        line for line in (_ROOT / "requirements.txt").read_text().splitlines() if line.startswith("torch")
    ).split()[0]
    assert any(torch in line.split() for line in _LINES if line.startswith("RUN pip"))
    user = _LINES.index("USER crowdnotes")
    assert not any(line.startswith(("USER", "RUN")) for line in _LINES[user + 1 :])
    assert _LINES[-1].startswith('CMD ["streamlit", "run", "app.py"')


def test_the_services_name_volumes_files_and_each_other_as_they_are() -> None:
    services = _COMPOSE["services"]
    assert set(services) == {"database", "app", "worker", "searxng"}
    for service in services.values():
        assert "image" in service
        assert set(service.get("depends_on", {})) <= set(services)
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert (_ROOT / source).is_file() if source.startswith(".") else source in _COMPOSE["volumes"]
    assert [name for name, service in services.items() if "ports" in service] == ["app"]
    assert all(port.startswith("127.0.0.1:") for port in services["app"]["ports"])
    assert services["app"]["volumes"] == services["worker"]["volumes"]


def test_the_services_are_as_the_specification_of_compose_has_them() -> None:
    schema = json.loads((_ROOT / "tests" / "compose-spec.json").read_text(encoding="utf-8"))
    checked = jsonschema.Draft7Validator(schema)
    assert [error.message for error in checked.iter_errors(_COMPOSE)] == []
    assert not checked.is_valid({"services": {"app": {"image": "crowdnotes", "port": ["8501"]}}})


@pytest.mark.deep
def test_the_steps_of_the_image_make_an_app_that_gets_ready_in_a_clean_folder(tmp_path: Path) -> None:
    """All but the system's packages; those of Python are the ones installed here, and nothing else of this folder."""
    app_, python = tmp_path / "app", tmp_path / "python"
    app_.mkdir()
    venv.create(python, with_pip=True)
    [packages] = (python / "lib").glob("python*/site-packages")
    for older in packages.glob("setuptools*"):  # than the one that the installed packages ask for
        shutil.rmtree(older)
    (packages / "here.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    port = str(free_port())
    variables = {
        "PATH": f"{python / 'bin'}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip's way to say that there is none
        "CROWDNOTES_SIGN_IN_DEMO": "true",  # elsewhere than at a local address it starts for nobody else
    }
    commands: list[list[str]] = []
    for step, _, given in (line.partition(" ") for line in _LINES):
        if step == "COPY":
            *sources, target = given.split()
            for source in (_ROOT / name for name in sources):
                if source.is_dir():
                    shutil.copytree(source, app_ / target, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(source, app_ / target)
        elif step == "RUN" and given.startswith("pip"):
            subprocess.run(["sh", "-ec", given], cwd=app_, env=variables, check=True)
        elif step == "ENV":
            variables |= dict(pair.split("=") for pair in given.replace("/data", str(tmp_path / "data")).split())
        elif step in ("CMD", "HEALTHCHECK"):
            commands.append(json.loads(given[given.index("[") :].replace("8501", port)))
    is_healthy, start = commands
    subprocess.run(["crowdnotes", "worker", "--help"], cwd=tmp_path, env=variables, check=True)
    start = ["python", "-m", *start]  # streamlit's script is of the Python that has it installed
    with subprocess.Popen(start, cwd=app_, env=variables) as server:
        try:
            for _ in range(120):
                asked = subprocess.run(is_healthy, env=variables, stderr=subprocess.DEVNULL, check=False)
                if server.poll() is not None or asked.returncode == 0:
                    break
                time.sleep(1)
            assert server.poll() is None
            subprocess.run(is_healthy, env=variables, check=True)
        finally:
            server.terminate()


def test_the_worker_and_the_settings_are_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    program, *words = _COMPOSE["services"]["worker"]["command"]
    assert program == "crowdnotes"
    assert CliRunner().invoke(app, [*words, "--help"]).exit_code == 0
    for name, value in _COMPOSE["services"]["app"]["environment"].items():
        monkeypatch.setenv(name, value.replace("${POSTGRES_PASSWORD}", "secret"))
    settings = Settings()
    assert settings.workers == 0
    assert settings.resolved_database_url == "postgresql://crowdnotes:secret@database/crowdnotes"
    assert str(settings.search.model_dump()).count("http://searxng:8080") == 1


def test_the_server_says_that_it_lives_and_whether_it_is_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(data_dir=tmp_path, database_url=None)
    monkeypatch.setattr(shared_workspace, "shared_workspace", lambda: MagicMock(opened=MagicMock(settings=settings)))
    client = TestClient(Starlette(routes=routes()))
    assert client.get("/healthz").text == "ok"
    assert (client.get("/readyz").status_code, client.get("/readyz").text) == (503, "unavailable")  # it has no tables
    open_database(settings.resolved_database_url).dispose()
    assert client.get("/readyz").status_code == 200
    monkeypatch.setattr(bridging, "compiled_code_folder", lambda: None)
    without_a_home = client.get("/readyz")
    assert (without_a_home.status_code, without_a_home.text[:3]) == (200, "ok\n")
    assert "NUMBA_CACHE_DIR" in without_a_home.text
