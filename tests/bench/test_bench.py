"""Every part of `make bench` runs and prints its figures, here on a little data, so what they are says nothing."""

from __future__ import annotations

import json

import pytest

from tests.bench.__main__ import PARTS, Amounts, main
from tests.bench.bench_draft import POSTS
from tests.bench.services import SERVICES

_A_LITTLE = Amounts(
    documents=20,
    library_sizes=(3,),
    posts=POSTS[:3],
    app_posts=POSTS[:1],
    services=tuple(name for name in SERVICES if name != "crossref"),  # which may be asked once a second only
    search_wait=0.01,
    model_wait=0.01,
    supernote_candidates=5,
    fitted_ratings=(2_000, 4_000),
    read_ratings=1_000,
    indexed_ratings=(2_000, 4_000),
    jury_notes=(200,),
    repeats=1,
)
_FIGURES = {
    "library": "records add first_search repeated_search five_queries_and_post six_passages megabytes seconds cpu",
    "search": "one_case_seconds_median one_case_seconds_worst longest_chain_of_waits_seconds ratio_to_the_ideal "
    "cases_at_once at_once_seconds at_once_ratio requests",
    "draft": "records draft_seconds_median draft_seconds_worst rescore_seconds_median rescore_seconds_worst",
    "app": "evidence_seconds_median rerun_seconds_median rerun_seconds_worst resident_megabytes cases",
    "llm": "wait_seconds case_seconds chain_seconds stage_seconds quotient calls most_at_once",
    "supernotes": "candidates calls at_once seconds ideal_seconds quotient",
    "bridging": "fit ratings seconds first_seconds cpu_seconds sweeps peak_megabytes fit_growth "
    "projection_200_million gigabytes read rows",
    "public_data": "sizes times ratings index_cpu peak_megabytes megabytes_of_disk next_day_cpu story_cpu surges_cpu "
    "delays_cpu",
    "jury": "read_one_note_seconds score_one_read_note_seconds texts_of_100_candidates_seconds "
    "100_candidates_1000_jurors_seconds of_which_jury_and_aggregation_seconds "
    "verdict_with_interval_and_reasons_seconds public_path notes ratings helpful_auc best_possible_auc "
    "expected_calibration_error seconds",
    "supernote": "candidates before_the_jury made_seconds filtered_seconds ranked_seconds seconds",
}


@pytest.mark.deep
@pytest.mark.parametrize("part", PARTS)
def test_each_part_prints_its_figures(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--only", part], _A_LITTLE)
    missing = set(_FIGURES[part].split()) - _names(json.loads(capsys.readouterr().out)[part])
    assert not missing


def _names(figures: object) -> set[str]:
    """Every name in a document, at any depth."""
    if isinstance(figures, dict):
        return set(figures).union(*map(_names, figures.values()))
    return set().union(*map(_names, figures)) if isinstance(figures, list) else set()
