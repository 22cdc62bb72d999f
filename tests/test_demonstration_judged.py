"""What the local engine writes and judges for the demonstration examples, with the real model."""

from __future__ import annotations

import pytest

from crowdnotes.demonstration import DemonstrationFetcher, Example, WalkedPath
from crowdnotes.domain import Evidence, GateStatus, Source
from crowdnotes.engines.local.engine import LocalEngine
from crowdnotes.evidence.fetching import Fetcher
from crowdnotes.evidence.passages import best_passage
from crowdnotes.evidence.reading.document import read_page
from crowdnotes.gates import run_gates
from crowdnotes.settings import FetchSettings, GateSettings
from crowdnotes.text.note_rules import NOTE_LIMIT
from tests.demonstrated import EXAMPLES, each_example
from tests.shared import minilm


@pytest.mark.model
@pytest.mark.filterwarnings("ignore")
def test_the_local_review_catches_the_note_that_says_more_than_its_source() -> None:
    example = next(example for example in EXAMPLES if example.path is WalkedPath.OVERSTATED_SOURCE)
    assert example.tempting_note is not None
    embedder = minilm()
    document = read_page(DemonstrationFetcher(Fetcher(FetchSettings())).fetch(example.urls[0]))
    passage = best_passage(document.text, example.post.text, embedder)
    source = Source(id="S1", title=document.title, url=example.urls[0], publisher=document.publisher)
    evidence = [Evidence(id="E1", source=source, passage=passage, rank=1, why="")]
    engine = LocalEngine(embedder, GateSettings())
    gates = run_gates(
        engine, example.post, example.tempting_note, evidence, engine.support(example.tempting_note, evidence)
    )
    assert [gate.status for gate in gates] == [GateStatus.PASS, GateStatus.FAIL, GateStatus.NOT_RUN]


@pytest.mark.model
@pytest.mark.filterwarnings("ignore")
@each_example
def test_the_local_writer_abstains_where_no_note_is_due_and_writes_where_one_is(example: Example) -> None:
    embedder = minilm()
    evidence = []
    for number, url in enumerate(example.urls, start=1):
        document = read_page(DemonstrationFetcher(Fetcher(FetchSettings())).fetch(url))
        source = Source(id=f"S{number}", title=document.title, url=url, publisher=document.publisher)
        passage = best_passage(document.text, example.post.text, embedder)
        evidence.append(Evidence(id=f"E{number}", source=source, passage=passage, rank=number, why=""))
    engine = LocalEngine(embedder, GateSettings())
    answer = engine.write(example.post, evidence, NOTE_LIMIT - 4, 3)
    silent = {WalkedPath.NOT_NEEDED, WalkedPath.INSUFFICIENT_EVIDENCE}
    assert bool(answer.candidates) is (example.path not in silent)
    if example.path not in silent:
        assert engine.relevance(example.post, evidence).status is GateStatus.PASS
