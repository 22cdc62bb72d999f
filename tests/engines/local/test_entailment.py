"""A reading model: loaded from a folder, measured, and only then a judge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.domain import BY_PERSON, GateResult, GateStatus, Support
from crowdnotes.engines.embedding import FloatArray, weights_sha256
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.entailment import READER_FILE, NliReader, clauses_of, fetch_reader
from crowdnotes.errors import ModelFilesError
from crowdnotes.studies.bench.judges import calibrate
from crowdnotes.studies.data_files import DistortionRow
from tests.fakes import HashingEmbedder, make_evidence, make_reader_model

PASSAGE = "The review found no link between the drink and the illness. It ran for ten years."
TRUE, FALSE = "The review found no link.", "The drink is deadly."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny-nli"
    make_reader_model(folder)
    return folder


class KnowingReader(NliReader):
    """Its weights are a file of nothing; "deadly" is contradicted by everything and all else entailed."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "model.safetensors").write_bytes(b"none")
        super().__init__(folder)

    def chances(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        return np.array([[0.0, 0.9] if "deadly" in said else [0.9, 0.0] for _, said in pairs], dtype=np.float32)


def _rows(count: int) -> list[DistortionRow]:
    return [
        DistortionRow(id=str(n), passage=f"{PASSAGE} {n}.", note=note, label=label)
        for n in range(count)
        for note, label in ((TRUE, "faithful"), (FALSE, "distorted"))
    ]


def test_a_model_in_a_folder_gives_chances_of_both_labels_whatever_their_places(made: Path) -> None:
    found = NliReader(made).chances([(PASSAGE, TRUE), (PASSAGE, FALSE)])
    assert found.shape == (2, 2)
    assert ((found > 0) & (found.sum(axis=1, keepdims=True) < 1)).all()


def test_a_model_of_other_labels_and_a_folder_without_one_are_refused(tmp_path: Path) -> None:
    make_reader_model(tmp_path / "stars", ("one star", "two stars", "three stars"))
    with pytest.raises(ModelFilesError, match="one star"):
        NliReader(tmp_path / "stars").chances([("a", "b")])
    with pytest.raises(ModelFilesError):
        NliReader(tmp_path)


def test_until_it_was_measured_it_gives_hints_and_a_person_decides(tmp_path: Path) -> None:
    engine = LocalEngine(HashingEmbedder(), reader=KnowingReader(tmp_path / "m"))
    evidence = [make_evidence(text=PASSAGE)]
    support = engine.support(f"{TRUE} {FALSE}", evidence)
    assert ["otherwise" in " ".join(item.doubts) for item in support] == [False, True]
    result = engine.correctness(f"{TRUE} {FALSE}", evidence, support)
    assert (result.status, result.judge) == (GateStatus.NOT_RUN, BY_PERSON)


def test_a_measured_reader_judges_names_what_carries_each_sentence_and_tells_its_quality(tmp_path: Path) -> None:
    reader = KnowingReader(tmp_path / "m")
    measured = calibrate(reader, HashingEmbedder(), _rows(50))
    assert (measured.auc, measured.notes) == (1.0, 100)
    engine = LocalEngine(HashingEmbedder(), reader=KnowingReader(tmp_path / "m"))
    evidence = [make_evidence(text=PASSAGE)]

    def judged(note: str) -> GateResult:
        return engine.correctness(note, evidence, engine.support(note, evidence))

    good, bad = judged(TRUE), judged(f"{TRUE} {FALSE}")
    assert (good.status, bad.status) == (GateStatus.PASS, GateStatus.FAIL)
    assert "one of two notes in 100%" in good.reason
    assert good.judge.startswith("the reading model m, picks the sound one of two notes in 100% of cases")
    assert [item.support for item in bad.sentences] == [Support.SUPPORTED, Support.UNSUPPORTED]
    (carried, _) = bad.sentences
    assert carried.carrier is not None
    assert PASSAGE[carried.carrier.start : carried.carrier.end]
    assert [finding.evidence_id for finding in bad.findings] == ["E1"]


@pytest.mark.parametrize(("auc_low", "notes"), [(0.52, 200), (0.68, 20)], ids=["chance", "few notes"])
def test_a_reader_that_may_be_no_better_than_chance_judges_nothing_nor_one_whose_weights_changed(
    tmp_path: Path, auc_low: float, notes: int
) -> None:
    reader = KnowingReader(tmp_path / "m")
    reader.keep(threshold=0.5, auc=0.7, auc_low=auc_low, auc_high=0.9, notes=notes)
    engine = LocalEngine(HashingEmbedder(), reader=reader)
    evidence = [make_evidence(text=PASSAGE)]
    assert engine.correctness(TRUE, evidence, engine.support(TRUE, evidence)).judge == BY_PERSON
    (tmp_path / "m" / "model.safetensors").write_bytes(b"other")
    assert NliReader(tmp_path / "m").calibration is None
    (tmp_path / "m" / READER_FILE).write_text("threshold = high")
    with pytest.raises(ModelFilesError, match="calibrate"):
        NliReader(tmp_path / "m")


def test_a_sentence_has_clauses_only_where_more_than_one_says_something() -> None:
    assert clauses_of("It binds lead in the blood, and it removes mercury from the brain.") == [
        "It binds lead in the blood",
        "it removes mercury from the brain",
    ]
    assert clauses_of("It is safe, but slow.") == []
    assert clauses_of("") == []


def test_a_model_is_fetched_as_safetensors_alone_with_its_revision_and_licence(
    httpserver: HTTPServer, made: Path, tmp_path: Path
) -> None:
    commit, name = "a" * 40, "maker/tiny-nli"
    names = [*(file.name for file in made.iterdir()), "pytorch_model.bin"]
    about: dict[str, object] = {"id": name, "sha": commit, "siblings": [{"rfilename": file} for file in names]}
    about |= {"cardData": {"license": "apache-2.0"}}
    httpserver.expect_request(f"/api/models/{name}/revision/main").respond_with_json(about)
    tree = [{"type": "file", "path": file, "size": 1, "oid": "0" * 40} for file in names]
    httpserver.expect_request(f"/api/models/{name}/tree/{commit}").respond_with_json(tree)
    httpserver.expect_request("/api/models/maker/none/revision/main").respond_with_data(
        "", status=404, headers={"X-Error-Code": "RepoNotFound"}
    )
    for file in made.iterdir():
        httpserver.expect_request(f"/{name}/resolve/{commit}/{file.name}").respond_with_data(
            file.read_bytes(), headers={"ETag": f'"{file.name}"', "X-Repo-Commit": commit}
        )
    found = fetch_reader(name, "main", tmp_path / "here", endpoint=httpserver.url_for("").rstrip("/"))
    assert (found.revision, found.licence, found.sha256) == (commit, "apache-2.0", weights_sha256(made))
    assert NliReader(found.folder).chances([("a", "b")]).shape == (1, 2)
    assert not any("pytorch_model" in request.path for request, _ in httpserver.log)
    with pytest.raises(ModelFilesError, match="could not fetch"):
        fetch_reader("maker/none", "main", tmp_path / "there", endpoint=httpserver.url_for("").rstrip("/"))
