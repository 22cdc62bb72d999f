"""The container files name what is there. No image is built here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import yaml
from starlette.applications import Starlette
from starlette.testclient import TestClient
from typer.testing import CliRunner

from crowdnotes.cli.main import app
from crowdnotes.settings import Settings
from crowdnotes.storage.database import open_database
from pages.view import session
from pages.view.serving import routes

_ROOT = Path(__file__).parents[1]
_LINES = re.sub(r"\\\n", " ", (_ROOT / "Dockerfile").read_text(encoding="utf-8")).splitlines()
_COMPOSE: dict[str, Any] = yaml.safe_load((_ROOT / "compose.yaml").read_text(encoding="utf-8"))


def test_the_image_copies_what_is_there_takes_the_pinned_torch_and_is_not_root() -> None:
    copied = [word for line in _LINES if line.startswith("COPY") for word in line.split()[1:-1]]
    assert [name for name in copied if not (_ROOT / name).exists()] == []
    assert {"app.py", "crowdnotes", "pages", "assets", "docs", ".streamlit"} <= set(copied)
    torch = next(line for line in (_ROOT / "requirements.txt").read_text().splitlines() if line.startswith("torch"))
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
    monkeypatch.setattr(session, "shared_workspace", lambda: MagicMock(opened=MagicMock(settings=settings)))
    client = TestClient(Starlette(routes=routes()))
    assert client.get("/healthz").text == "ok"
    assert (client.get("/readyz").status_code, client.get("/readyz").text) == (503, "unavailable")  # it has no tables
    open_database(settings.resolved_database_url).dispose()
    assert client.get("/readyz").status_code == 200
