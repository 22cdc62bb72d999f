"""`crowdnotes models`: what is at hand, and keys, without a key on the screen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.llm_server import LLMServer, honest

_ROOT = Path(__file__).parents[2]
_KEYRING = """
import keyring.backend
from pathlib import Path

class Keyring(keyring.backend.KeyringBackend):
    priority = 1
    place = Path(__file__).with_name("kept")
    def get_password(self, service, username):
        return self.place.read_text() if self.place.exists() else None
    def set_password(self, service, username, password):
        self.place.write_text(password)
    def delete_password(self, service, username):
        if not self.place.exists():
            raise keyring.errors.PasswordDeleteError("none")
        self.place.unlink()
"""


def _run(folder: Path, *words: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_keyring.py").write_text(_KEYRING)
    environment = {
        **os.environ,
        "CROWDNOTES_DATA_DIR": str(folder / "data"),
        "PYTHONPATH": f"{_ROOT}:{folder}",
        "PYTHON_KEYRING_BACKEND": "test_keyring.Keyring",
        **variables,
    }
    command = [sys.executable, "-m", "crowdnotes", "models", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, input=stdin, capture_output=True, text=True, check=False, timeout=60
    )


def test_the_server_that_is_set_is_listed_with_its_models(tmp_path: Path) -> None:
    with LLMServer(honest).running() as server:
        ended = _run(tmp_path, "--json", CROWDNOTES_LLM_BASE_URL=server.base_url)
    told = json.loads(ended.stdout)
    assert told["engine"] == "llm"
    assert told["servers"][0]["models"] == ["large", "small"]
    assert told["servers"][0]["is_set"] is True


def test_a_server_that_is_down_is_told_with_a_sentence(tmp_path: Path) -> None:
    ended = _run(tmp_path, CROWDNOTES_LLM_BASE_URL="http://127.0.0.1:1/v1")
    assert ended.returncode == 0
    assert "could not be reached" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_key_is_kept_used_and_removed_and_never_printed(tmp_path: Path) -> None:
    with LLMServer(honest).running() as server:
        kept = _run(tmp_path, "key", "set", server.base_url, stdin="sk-very-secret-1\n")
        listed = _run(tmp_path, CROWDNOTES_LLM_BASE_URL=server.base_url)
        removed = _run(tmp_path, "key", "remove", server.base_url)
        again = _run(tmp_path, "key", "remove", server.base_url)
    assert "is in the keyring" in kept.stdout
    assert "was removed" in removed.stdout
    assert "There was no key" in again.stdout
    assert all("sk-very-secret-1" not in ended.stdout + ended.stderr for ended in (kept, listed, removed, again))


def test_a_wrong_address_or_no_key_is_refused_with_a_sentence(tmp_path: Path) -> None:
    wrong = _run(tmp_path, "key", "set", "api.example.org", stdin="sk-1\n")
    empty = _run(tmp_path, "key", "set", "https://api.example.org/v1", stdin="\n")
    assert (wrong.returncode, empty.returncode) == (1, 1)
    assert "not a server's address" in wrong.stderr
    assert "No key was given" in empty.stderr


def test_a_bad_setting_is_named(tmp_path: Path) -> None:
    ended = _run(tmp_path, CROWDNOTES_LLM_BASE_URL="https://me:secret@api.example.org/v1")
    assert ended.returncode == 1
    assert "CROWDNOTES_LLM_BASE_URL" in ended.stderr
    assert "secret" not in ended.stderr
