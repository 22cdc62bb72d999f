"""`crowdnotes models`: what is at hand, and keys, without a key on the screen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line import Ended, crowdnotes
from tests.engines.llm.test_self_test import weak
from tests.keyrings import MemoryKeyring, using
from tests.llm_server import LLMServer, honest


@pytest.fixture(autouse=True)
def _keyring() -> Iterator[None]:
    with using(MemoryKeyring()):
        yield


def _run(folder: Path, *words: str, stdin: str = "", **variables: str) -> Ended:
    return crowdnotes(folder, "models", *words, stdin=stdin, **variables)


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
    assert "cannot reach the AI server" in ended.stderr
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


def test_the_model_that_is_set_is_tested_and_its_faults_are_told(tmp_path: Path) -> None:
    with LLMServer(weak).running() as server:
        variables = {"CROWDNOTES_LLM_BASE_URL": server.base_url, "CROWDNOTES_LLM_MODEL": "small"}
        told = json.loads(_run(tmp_path, "test", "--json", **variables).stdout)
        assert (told["of"], told["is_weak"]) == (20, True)
        words = _run(tmp_path, "test", **variables).stdout
    assert f"small on {server.base_url}: {told['right']} of 20" in words
    assert "Weak: it does not copy words letter for letter" in words
    ended = _run(tmp_path, "test")
    assert ended.returncode != 0
    assert "No AI is set up" in ended.stderr


def test_answers_for_the_demonstration_are_recorded_from_a_model_alone(tmp_path: Path) -> None:
    ended = _run(tmp_path, "record")
    assert ended.returncode == 1
    assert "No AI is set up." in ended.stderr
