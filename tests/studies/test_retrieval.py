"""Three ways to rank a small library that is made here."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from crowdnotes.engines.local import LocalEngine
from crowdnotes.errors import InputError, LibraryError
from crowdnotes.evidence.library import Libraries
from crowdnotes.settings_sections import EvidenceSettings
from crowdnotes.studies.bench.retrieval import engine_ranking, measure_retrieval
from crowdnotes.studies.data_files import JudgedPost
from tests.fakes import HashingEmbedder

ROWS = [
    (
        "What is myocardial infarction?",
        "A myocardial infarction is the death of muscle without blood. Smoking is a cause.",
    ),
    ("What is influenza?", "Influenza is a respiratory infection. A vaccine lowers the chance of catching it."),
    ("Who attacks the garden?", "Slugs attack the heart of a lettuce before anybody in the neighbourhood is awake."),
    ("What is measles?", "Measles is a virus that spreads through the air. Two doses of vaccine prevent it."),
]
POST = JudgedPost.model_validate(
    {
        "note_id": "1",
        "post": "My neighbour had a heart attack from garden lettuce, wake up!",
        "judged": [{"record": 0, "grade": 2}, {"record": 2, "grade": 0}],
    }
)


@pytest.fixture
def libraries(tmp_path: Path) -> Libraries:
    table = tmp_path / "made.parquet"
    pd.DataFrame(ROWS, columns=["question", "answer"]).to_parquet(table)
    made = Libraries(tmp_path / "libraries", HashingEmbedder())
    made.add(table, "made")
    return made


def _measure(libraries: Libraries, *posts: JudgedPost, library: str = "made", plain: bool = False) -> dict[str, Any]:
    engine = LocalEngine(HashingEmbedder())
    return measure_retrieval(
        posts,
        engine,
        HashingEmbedder(),
        libraries,
        library,
        EvidenceSettings(),
        diverse=not plain,
        by_utility=not plain,
    )


def test_the_engine_finds_by_the_medical_term_what_the_posts_words_do_not(libraries: Libraries) -> None:
    report = _measure(libraries, POST)
    assert (report["n"], report["with_helpful"]) == (1, 1)
    assert list(report["runs"]) == ["fulltext", "embedding", "engine"]
    assert report["runs"]["fulltext"]["mrr"] == 0
    assert report["runs"]["engine"]["mrr"] > 0


def test_only_the_ways_that_are_named_are_measured_and_none_that_is_unknown(libraries: Libraries) -> None:
    engine = LocalEngine(HashingEmbedder())
    measure = partial(measure_retrieval, [POST], engine, HashingEmbedder(), libraries, "made", EvidenceSettings())
    assert list(measure(runs=["engine", "fulltext"])["runs"]) == ["fulltext", "engine"]
    for runs in ([], ["engine", "astrology"]):
        with pytest.raises(InputError, match="embedding"):
            measure(runs=runs)


def test_a_ranking_names_each_record_once(libraries: Libraries) -> None:
    engine = LocalEngine(HashingEmbedder())
    ranking = engine_ranking(POST.post, engine, libraries, "made", EvidenceSettings())
    assert len(ranking) == len(set(ranking)) > 0


def test_without_diverse_queries_the_medical_term_is_not_looked_for(libraries: Libraries) -> None:
    with_queries = _measure(libraries, POST)["runs"]["engine"]
    without = _measure(libraries, POST, plain=True)["runs"]["engine"]
    assert without["mrr"] < with_queries["mrr"]


def test_a_record_past_the_end_of_the_library_is_named(libraries: Libraries) -> None:
    beyond = POST.model_copy(update={"judged": (POST.judged[0].model_copy(update={"record": 4}),)})
    with pytest.raises(InputError, match="Record 4 is judged, but the library “made” was made from 4 rows"):
        _measure(libraries, beyond)


def test_posts_without_anything_to_find_and_a_missing_library_are_refused(libraries: Libraries) -> None:
    nothing = POST.model_copy(update={"judged": (POST.judged[1],)})
    with pytest.raises(InputError, match="grade 2"):
        _measure(libraries, nothing)
    with pytest.raises(LibraryError, match="no library"):
        _measure(libraries, POST, library="other")
