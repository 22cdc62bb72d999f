"""`crowdnotes bench healthnotes`: whole cases over a small library, stopped, resumed and told as they ended."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from crowdnotes import workspace
from crowdnotes.cli.healthnotes_cases import links_of
from crowdnotes.domain import GateName, Post, Query
from crowdnotes.engines import SearchPlan, WriterAnswer
from crowdnotes.errors import ConfigurationError, EngineError, InputError, ModelServerError
from crowdnotes.studies.data_files import HealthNote
from crowdnotes.testing import HashingEmbedder, LiveLinks
from tests.cases.walk import small_workspace
from tests.cli.healthnotes_runs import WritingEngine, as_json, bench, commands_with, lines_of, notes_file
from tests.llm_server import LLMServer, honest

_DATED = ("--library", "topics", "--library-date", "topics=2019-10-22")


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WritingEngine:
    return commands_with(WritingEngine(), tmp_path, monkeypatch)


def test_every_post_gets_a_note_and_the_folder_its_table_and_page(tmp_path: Path, engine: WritingEngine) -> None:
    answer = as_json(bench(tmp_path, *_DATED, "--json"))
    assert answer["posts"] == 4
    assert answer["halves"]["helpful"]["helpfulness_percent"] == 100.0
    assert answer["halves"]["not_helpful"]["posts"] == 2
    assert answer["run"]["library_dates"] == {"topics": "2019-10-22"}
    assert [line["outcome"] for line in lines_of(tmp_path)] == ["a note was judged"] * 4
    assert "kettle" in lines_of(tmp_path)[0]["note"]
    assert (tmp_path / "run" / "table.csv").read_text(encoding="utf-8").startswith("half,posts,judged")
    assert "<h1>HealthNotes: automation</h1>" in (tmp_path / "run" / "page.html").read_text(encoding="utf-8")


def test_the_cases_of_a_run_are_not_among_the_persons_own(tmp_path: Path, engine: WritingEngine) -> None:
    as_json(bench(tmp_path, *_DATED, "--json"))
    with small_workspace(tmp_path) as own:
        assert own.service.list() == []


def test_a_gate_that_fails_shows_in_the_rates_and_as_text(tmp_path: Path, engine: WritingEngine) -> None:
    engine.fails_at = GateName.CORRECTNESS
    result = bench(tmp_path, *_DATED)
    assert result.exit_code == 0
    overall = next(line for line in result.stdout.splitlines() if line.startswith("overall"))
    assert "100.0 (51–100)" in overall
    assert overall.count("0.0 (0–49)") == 2
    assert "correctness: as scripted" in result.stderr


def test_records_without_a_date_are_left_out_unless_the_librarys_own_is_given(
    tmp_path: Path, engine: WritingEngine
) -> None:
    answer = as_json(bench(tmp_path, "--library", "topics", "--json"))
    assert answer["halves"]["overall"]["no_evidence"] == 4
    assert answer["halves"]["overall"]["relevance_percent"] == 0.0
    assert any("undated" in caution for caution in answer["cautions"])
    later = ("--library", "topics", "--library-date", "topics=2025-01-01", "--out", str(tmp_path / "later"))
    assert as_json(bench(tmp_path, *later, "--json"))["halves"]["overall"]["no_evidence"] == 4


def test_a_stopped_run_goes_on_and_nothing_half_done_is_kept(tmp_path: Path, engine: WritingEngine) -> None:
    def stop(post: Post) -> None:
        if "orchard" in post.text:
            raise KeyboardInterrupt

    engine.before_writing = stop
    stopped = bench(tmp_path, *_DATED)
    assert stopped.exit_code == 130
    assert "goes on from here" in stopped.stderr
    assert len(lines_of(tmp_path)) == 2
    assert "Not finished: 2 of 4 posts." in (tmp_path / "run" / "page.html").read_text(encoding="utf-8")
    engine.before_writing = lambda _: None
    engine.judged.clear()
    resumed = bench(tmp_path, *_DATED, "--json")
    assert "2 of 4 posts are finished already" in resumed.stderr
    assert len(engine.judged) == 2 * len(GateName)
    assert as_json(resumed)["posts"] == 4


def test_a_server_that_is_gone_ends_the_run_with_its_sentence_and_keeps_what_is_done(
    tmp_path: Path, engine: WritingEngine
) -> None:
    def gone(post: Post) -> None:
        if "lantern" in post.text:
            raise ModelServerError("The server does not answer.")

    engine.before_writing = gone
    assert isinstance(bench(tmp_path, *_DATED).exception, ModelServerError)
    assert [line["note_id"] for line in lines_of(tmp_path)] == ["1"]


def test_an_answer_of_no_use_is_a_post_that_could_not_be_run_and_is_tried_again(
    tmp_path: Path, engine: WritingEngine
) -> None:
    def broken(_: Post) -> None:
        raise EngineError("The engine wrote more than fits into a note.")

    engine.before_writing = broken
    assert as_json(bench(tmp_path, *_DATED, "--limit", "1", "--json"))["halves"]["overall"]["failed"] == 1
    engine.before_writing = lambda _: None
    assert as_json(bench(tmp_path, *_DATED, "--limit", "1", "--json"))["halves"]["overall"]["judged"] == 1


def test_a_judge_that_breaks_is_not_a_failing_note(tmp_path: Path, engine: WritingEngine) -> None:
    engine.breaks_at = GateName.HELPFULNESS
    overall = as_json(bench(tmp_path, *_DATED, "--json"))["halves"]["overall"]
    assert (overall["failed"], overall["judged"], overall["correctness_percent"]) == (4, 0, 100.0)


def test_an_engine_that_abstains_is_counted_as_such(
    tmp_path: Path, engine: WritingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "write", lambda *_, **__: WriterAnswer((), "Not needed."))
    overall = as_json(bench(tmp_path, *_DATED, "--json"))["halves"]["overall"]
    assert (overall["abstained"], overall["relevance_percent"]) == (4, 0.0)
    assert lines_of(tmp_path)[0]["reason"] == "Not needed."


def test_other_options_in_the_same_folder_are_refused(tmp_path: Path, engine: WritingEngine) -> None:
    as_json(bench(tmp_path, *_DATED, "--limit", "1", "--json"))
    refused = bench(tmp_path, *_DATED, "--no-utility", "--no-query-diversity")
    assert isinstance(refused.exception, InputError)
    assert "(query diversity, utility)" in str(refused.exception)


def test_the_parts_of_table_3_can_be_taken_away(
    tmp_path: Path, engine: WritingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("this part is switched off")

    astray = SearchPlan(queries=(Query(text="submarine", purpose="what no record has"),))
    monkeypatch.setattr(engine, "plan", lambda *_: astray)  # the post itself is searched for in its place
    monkeypatch.setattr(engine, "rank", refuse)
    answer = as_json(bench(tmp_path, *_DATED, "--no-utility", "--no-query-diversity", "--limit", "2", "--json"))
    assert answer["halves"]["overall"]["judged"] == 2


def test_augmentation_reads_the_links_of_the_contributors_note(tmp_path: Path, engine: WritingEngine) -> None:
    answer = as_json(bench(tmp_path, "--limit", "1", "--json", mode="augmentation"))
    assert answer["halves"]["helpful"]["judged"] == 1
    assert "https://a.example.org/kettle" in lines_of(tmp_path)[0]["note"]


@pytest.mark.parametrize(
    ("note", "why"), [("See https://gone.example.org/x", "1 unreachable"), ("No link here.", "has no link")]
)
def test_links_that_cannot_be_read_are_told_as_no_evidence(
    tmp_path: Path, engine: WritingEngine, note: str, why: str
) -> None:
    result = bench(tmp_path, "--json", mode="augmentation", data=notes_file(tmp_path, 2, note))
    assert as_json(result)["halves"]["overall"]["no_evidence"] == 2
    assert why in result.stderr


def test_links_are_found_in_the_form_in_which_x_stores_a_note() -> None:
    note = HealthNote.model_validate(
        {
            "note_id": 1,
            "post": "p",
            "note": "cdc.gov says  https://a.org/?x=1&amp;y=2",
            "status": "CURRENTLY_RATED_HELPFUL",
        }
    )
    assert links_of(note) == ["https://a.org/?x=1&y=2"]


@pytest.mark.parametrize(
    ("mode", "words", "sentence"),
    [
        ("automation", (), "There is nothing to search"),
        ("automation", ("--library", "nope"), "There is no library “nope”"),
        ("automation", ("--service", "nope"), "There is no service “nope”"),
        ("automation", ("--library", "topics", "--library-date", "topics"), "not a library and a day"),
        ("automation", ("--library", "topics", "--library-date", "a=2020-01-01"), "is not searched"),
        ("augmentation", ("--library", "topics"), "searches nothing"),
        ("augmentation", ("--no-utility",), "searches nothing"),
    ],
)
def test_words_that_do_not_fit_are_refused(
    tmp_path: Path, engine: WritingEngine, mode: str, words: Sequence[str], sentence: str
) -> None:
    refused = bench(tmp_path, *words, mode=mode)
    assert isinstance(refused.exception, InputError)
    assert sentence in str(refused.exception)


def test_automation_needs_the_time_of_every_note(tmp_path: Path, engine: WritingEngine) -> None:
    data = tmp_path / "undated.jsonl"
    data.write_text('{"note_id": 7, "post": "p", "note": "n", "status": "CURRENTLY_RATED_HELPFUL"}', encoding="utf-8")
    assert "Note 7 has no created_at_ms" in str(bench(tmp_path, *_DATED, data=data).exception)


def test_the_language_model_is_refused_when_none_is_set(tmp_path: Path, engine: WritingEngine) -> None:
    assert isinstance(bench(tmp_path, *_DATED, "--engine", "llm").exception, ConfigurationError)


def test_a_language_model_is_named_with_its_prompts_and_a_rerun_asks_it_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDNOTES_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CROWDNOTES_LLM_MODEL", "small")
    small_workspace(tmp_path).close()
    opened = partial(workspace.open_workspace, embedder=HashingEmbedder(), links=LiveLinks())
    monkeypatch.setattr(workspace, "open_workspace", opened)
    with LLMServer(honest).running() as server:
        monkeypatch.setenv("CROWDNOTES_LLM_BASE_URL", server.base_url)
        answer = as_json(bench(tmp_path, *_DATED, "--engine", "llm", "--limit", "2", "--json"))
        asked = len(server.requests)
        again = as_json(bench(tmp_path, *_DATED, "--engine", "llm", "--limit", "2", "--json"))
        refused = bench(tmp_path, *_DATED, "--engine", "local", "--limit", "2")
    assert answer["run"]["engine"]["writing"].startswith("llm:small ")
    assert answer["halves"]["overall"]["judged"] == 2
    assert not any("trained on" in caution for caution in answer["cautions"])
    assert asked == len(server.requests) > 0
    assert again == answer
    assert "(engine)" in str(refused.exception)
