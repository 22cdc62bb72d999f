"""The embedder answers where it was asked, to the end; its cache stays small and never stops the work."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdnotes.domain import GateStatus, Post
from crowdnotes.engines.embedding import (
    THRESHOLDS_FILE,
    CachedEmbedder,
    FloatArray,
    MiniLMEmbedder,
    SentenceEmbedder,
    make_embedder,
)
from crowdnotes.engines.local.relevance import judge_relevance
from crowdnotes.errors import ModelFilesError
from crowdnotes.settings import Settings
from crowdnotes.storage import disk_cache
from crowdnotes.storage.disk_cache import DiskCache
from tests.fakes import HashingEmbedder, make_evidence, make_sentence_model


class _Counting(HashingEmbedder):
    """Knows how many texts reached the model."""

    def __init__(self) -> None:
        self.asked = 0

    def encode(self, texts: Sequence[str]) -> FloatArray:
        self.asked += len(texts)
        return super().encode(texts)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings.sqlite"


def _works(cached: CachedEmbedder) -> bool:
    return np.array_equal(cached.encode(["a b", "c", "a b"]), HashingEmbedder().encode(["a b", "c", "a b"]))


def test_a_text_reaches_the_model_once_also_after_a_restart(file: Path) -> None:
    inner = _Counting()
    assert _works(CachedEmbedder(inner, file))
    assert _works(CachedEmbedder(inner, file))
    assert inner.asked == 2


def test_a_text_is_as_near_in_other_letters_as_in_plain_ones(file: Path) -> None:
    cached = CachedEmbedder(_Counting(), file)
    one, other = cached.encode(["𝗰𝘂𝗿𝗲𝘀 𝗰𝗮𝗻𝗰𝗲𝗿", "cures cancer"])
    assert np.array_equal(one, other)


def test_a_damaged_file_is_made_anew_with_a_warning(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    file.parent.mkdir()
    file.write_bytes(b"not a database, but long enough to be looked at" * 50)
    inner = _Counting()
    cached = CachedEmbedder(inner, file)
    assert _works(cached)
    assert _works(cached)
    assert inner.asked == 2
    assert caplog.text.count("made anew") == 1


def test_damage_while_in_use_costs_no_more_than_the_vectors(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    cached = CachedEmbedder(HashingEmbedder(), file)
    cached.encode([f"text {n}" for n in range(300)])
    with file.open("r+b") as damaged:
        damaged.write(b"\xff" * file.stat().st_size)
    for shared in file.parent.glob("*-wal"):
        shared.write_bytes(b"")
    again = CachedEmbedder(HashingEmbedder(), file)
    assert _works(again)
    assert _works(again)
    assert "made anew" in caplog.text


def test_a_vector_of_another_length_is_computed_anew(file: Path) -> None:
    assert _works(CachedEmbedder(HashingEmbedder(), file))
    db = sqlite3.connect(file)
    db.execute("UPDATE vectors SET vector = x'0000'")
    db.commit()
    db.close()
    assert _works(CachedEmbedder(HashingEmbedder(), file))


def test_a_locked_file_is_named_once_and_done_without(
    file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_cache, "_LOCK_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(disk_cache, "_PAUSE_AFTER_FAILURE_SECONDS", 0.0)
    inner = _Counting()
    cached = CachedEmbedder(inner, file)
    cached.encode(["first"])
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert _works(cached)
    assert _works(cached)
    assert caplog.text.count("cannot be used (database is locked)") == 1
    holder.execute("ROLLBACK")
    holder.close()
    assert _works(cached)
    asked = inner.asked
    assert _works(cached)
    assert inner.asked == asked


def test_a_full_disk_is_named_once_and_done_without(
    file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(sqlite3.Connection):
        def executemany(self, sql: str, *rows: Any) -> sqlite3.Cursor:
            if sql.startswith("INSERT"):
                self.rollback()  # as SQLite does by itself
                raise sqlite3.OperationalError("database or disk is full")
            return super().executemany(sql, *rows)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Full))
    cached = CachedEmbedder(HashingEmbedder(), file)
    assert _works(cached)
    assert _works(cached)
    assert caplog.text.count("cannot be used (database or disk is full)") == 1


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    assert _works(CachedEmbedder(HashingEmbedder(), tmp_path / "file" / "cache.sqlite"))
    assert "cannot be used" in caplog.text


def test_the_vectors_longest_unused_go_first(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1_000))
    monkeypatch.setattr("crowdnotes.storage.disk_cache.time.time", lambda: next(clock))
    cache = DiskCache(file, 10, "a cache")
    keys = [bytes([n]) for n in range(11)]
    for key in keys[:10]:
        cache.put({key: b"v"})
    cache.get([keys[0]])
    cache.put({keys[10]: b"v"})
    kept = set(cache.get(keys))
    assert keys[0] in kept
    assert keys[10] in kept
    assert keys[1] not in kept
    assert len(kept) == 9


# Jobs are told to stop when the program ends; until then they are not to fail for want of vectors.
_AT_THE_END = """
import atexit
from pathlib import Path
import numpy as np
from crowdnotes.engines.embedding import MiniLMEmbedder

class Quick(MiniLMEmbedder):
    def _encode_batch(self, texts):
        return np.ones((len(texts), self.dimensions), dtype=np.float32)

embedder = Quick(Path("nowhere"))
embedder.encode(["early"])
atexit.register(lambda: print(embedder.encode(["late"]).shape))
"""


def test_threads_that_wait_for_each_other_leave_the_processor_to_others() -> None:
    program = "import os, crowdnotes; print(os.environ['OMP_WAIT_POLICY'])"
    for chosen, used in ((None, "PASSIVE"), ("ACTIVE", "ACTIVE")):
        env = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
        env |= {"OMP_WAIT_POLICY": chosen} if chosen else {}
        found = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
        assert found.stdout.strip() == used


def test_texts_are_embedded_while_the_program_ends() -> None:
    ended = subprocess.run([sys.executable, "-c", _AT_THE_END], capture_output=True, text=True, check=False)
    assert ended.stdout.strip() == "(1, 384)", ended.stderr


def test_a_model_that_is_not_there_is_told_where_it_was_asked(tmp_path: Path) -> None:
    embedder = MiniLMEmbedder(tmp_path)
    for _ in range(2):  # the thread outlives the first failure
        with pytest.raises(ModelFilesError):
            embedder.encode(["a text"])


_MEASURED = "relevant = 0.9\naddresses = 0.7\nrelated = 0.6\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "letters"
    make_sentence_model(folder)
    (folder / THRESHOLDS_FILE).write_text(_MEASURED, encoding="utf-8")
    return folder


def test_a_model_in_a_folder_is_used_with_its_own_thresholds(model: Path, tmp_path: Path) -> None:
    embedder = make_embedder(Settings(data_dir=tmp_path, embedder=model))
    assert embedder.name.startswith("letters@")
    assert embedder.encode(["one", "two"]).shape == (2, embedder.dimensions) == (2, 16)
    assert embedder.token_spans("ab") == [(0, 1), (1, 2)]
    evidence = [make_evidence(1, "Apples are fruit.")]
    judged = judge_relevance(embedder, Post(text="Apples are stones."), evidence)
    assert judged.status is not GateStatus.NOT_RUN
    assert judged.threshold == 0.9


@pytest.mark.parametrize("measured", [None, "relevant = 0.9", _MEASURED + "more = 1", "relevant = ", "\x00"])
def test_a_model_without_measured_thresholds_is_refused_with_what_to_write(
    model: Path, tmp_path: Path, measured: str | None
) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes((model / "model.safetensors").read_bytes())
    if measured is not None:
        (folder / THRESHOLDS_FILE).write_text(measured, encoding="utf-8")
    with pytest.raises(ModelFilesError, match="has no thresholds") as refused:
        SentenceEmbedder(folder)
    assert "relevant, addresses, related" in refused.value.next_step


def test_what_is_no_model_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / THRESHOLDS_FILE).write_text(_MEASURED, encoding="utf-8")
    with pytest.raises(ModelFilesError, match="read the embedding model's weights"):
        SentenceEmbedder(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ModelFilesError, match="We cannot read"):
        SentenceEmbedder(tmp_path).encode(["a text"])
