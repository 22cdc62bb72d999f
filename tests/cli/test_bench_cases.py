"""`crowdnotes bench healthnotes`, `notes` and `compare`: whole cases over a small library, stopped and resumed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crowdnotes import workspace
from crowdnotes.cli.bench_cases import links_of
from crowdnotes.cli.main import app
from crowdnotes.domain import Evidence, FetchOutcome, GateName, Post, Query
from crowdnotes.engines import Brief, SearchPlan, WriterAnswer
from crowdnotes.errors import ConfigurationError, EngineError, InputError, ModelServerError
from crowdnotes.evidence.fetching import Page, no_check
from crowdnotes.evidence.reading.document import HTML
from crowdnotes.studies.bench.notes import CRITERIA, find_deciding
from crowdnotes.studies.data_files import DecidingSentence, HealthNote
from crowdnotes.workspace import open_workspace
from tests.cases.walk import TOPICS, TopicEngine, post_about, small_workspace
from tests.fakes import HashingEmbedder, LiveLinks
from tests.llm_server import LLMServer, honest, honest_answer
from tests.shared import put_tables

_MARCH_2024 = 1_709_300_000_000


class WritingEngine(TopicEngine):
    """Does `before_writing` first, which may raise."""

    before_writing: Callable[[Post], None] = staticmethod(lambda _: None)

    def write(
        self, brief: Brief, evidence: Sequence[Evidence], budget: int, count: int, *, earlier: Sequence[str] = ()
    ) -> WriterAnswer:
        self.before_writing(brief.post)
        return super().write(brief, evidence, budget, count, earlier=earlier)


class KettleWeb:
    """Pages about the kettle; those of another host are not there."""

    def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
        if "gone" in url:
            return Page(url, url, FetchOutcome.UNREACHABLE, datetime.now(UTC), detail="No answer.")
        words = "<p>A review of the kettle found no illness in people. The kettle was watched for years.</p>" * 3
        body = f"<html><head><title>Kettle</title></head><body><article>{words}</article></body></html>"
        return Page(url, url, FetchOutcome.READ, datetime.now(UTC), HTML, "utf-8", body.encode())


@pytest.fixture(scope="module")
def with_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the library "topics" and the empty tables of a run: each test gets a copy."""
    folder = tmp_path_factory.mktemp("topics")
    small_workspace(folder).close()
    put_tables(folder / "run" / "cases.sqlite")
    return folder


@pytest.fixture
def engine(with_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WritingEngine:
    """Commands get this engine, with fakes around it, and the library "topics"."""
    made = WritingEngine()
    monkeypatch.setenv("CROWDNOTES_DATA_DIR", str(tmp_path / "data"))
    shutil.copytree(with_library, tmp_path, dirs_exist_ok=True)
    opened = partial(
        workspace.open_workspace, embedder=HashingEmbedder(), engine=made, fetcher=KettleWeb(), links=LiveLinks()
    )
    monkeypatch.setattr(workspace, "open_workspace", opened)
    return made


def notes_file(folder: Path, count: int = 4, note: str = "No illness was found. https://a.example.org/kettle") -> Path:
    rows = [
        {
            "note_id": str(number),
            "post": post_about(topic),
            "note": note,
            "created_at_ms": _MARCH_2024,
            "status": "CURRENTLY_RATED_HELPFUL" if number % 2 else "CURRENTLY_RATED_NOT_HELPFUL",
        }
        for number, topic in enumerate(TOPICS[:count], 1)
    ]
    path = folder / "notes.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def _command(*words: str | Path) -> Any:
    return CliRunner().invoke(app, ["bench", *map(str, words)])


def bench(folder: Path, *words: str, mode: str = "automation", data: Path | None = None) -> Any:
    return _command(
        "healthnotes", "--data", data or notes_file(folder), "--mode", mode, "--out", folder / "run", *words
    )


def _notes(folder: Path, *words: str) -> Any:
    return _command("notes", "--data", notes_file(folder, 3), "--out", folder / "run", "--library", "topics", *words)


def _compare(folder: Path, *words: str) -> Any:
    return _command("compare", "--run", folder / "run", *words)


def as_json(result: Any) -> Any:
    assert result.exit_code == 0, (result.stderr, result.exception)
    return json.loads(result.stdout)


def lines_of(folder: Path, name: str = "posts.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "run" / name).read_text(encoding="utf-8").splitlines()]


_DATED = ("--library", "topics", "--library-date", "topics=2019-10-22")


def test_every_post_gets_a_note_and_the_folder_its_table(tmp_path: Path, engine: WritingEngine) -> None:
    answer = as_json(bench(tmp_path, *_DATED, "--json"))
    assert answer["posts"] == 4
    assert answer["halves"]["helpful"]["helpfulness_percent"] == 100.0
    assert answer["halves"]["not_helpful"]["posts"] == 2
    assert answer["run"]["library_dates"] == {"topics": "2019-10-22"}
    assert [line["outcome"] for line in lines_of(tmp_path)] == ["a note was judged"] * 4
    assert "kettle" in lines_of(tmp_path)[0]["note"]
    assert (tmp_path / "run" / "table.csv").read_text(encoding="utf-8").startswith("half,posts,judged")
    with small_workspace(tmp_path) as own:  # the cases of a run are not among the person's own
        assert own.cases.find() == []


def test_a_gate_that_fails_shows_in_the_rates_and_as_text(tmp_path: Path, engine: WritingEngine) -> None:
    engine.fails_at = GateName.CORRECTNESS
    result = bench(tmp_path, *_DATED)
    assert result.exit_code == 0
    overall = next(line for line in result.stdout.splitlines() if line.startswith("overall"))
    assert "100.00 (51–100)" in overall
    assert overall.count("0.00 (0–49)") == 2
    assert "correctness: as scripted" in result.stderr


def test_records_without_a_date_are_left_out_unless_the_librarys_own_is_given(
    tmp_path: Path, engine: WritingEngine
) -> None:
    two = ("--library", "topics", "--limit", "2", "--json")
    answer = as_json(bench(tmp_path, *two))
    assert answer["halves"]["overall"]["no_evidence"] == 2
    assert answer["halves"]["overall"]["relevance_percent"] == 0.0
    assert any("undated" in caution for caution in answer["cautions"])
    later = ("--library-date", "topics=2025-01-01", "--out", str(tmp_path / "later"))
    assert as_json(bench(tmp_path, *two, *later))["halves"]["overall"]["no_evidence"] == 2


def test_a_stopped_run_goes_on_and_nothing_half_done_is_kept(tmp_path: Path, engine: WritingEngine) -> None:
    def stop(post: Post) -> None:
        if "orchard" in post.text:
            raise KeyboardInterrupt

    engine.before_writing = stop
    stopped = bench(tmp_path, *_DATED)
    assert stopped.exit_code == 130
    assert "repeat the command to go on" in stopped.stderr
    assert len(lines_of(tmp_path)) == 2
    assert ",2,2," in (tmp_path / "run" / "table.csv").read_text(encoding="utf-8").splitlines()[-1]
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
        raise EngineError("The AI wrote too much for a note.")

    engine.before_writing = broken
    assert as_json(bench(tmp_path, *_DATED, "--limit", "1", "--json"))["halves"]["overall"]["failed"] == 1
    engine.before_writing = lambda _: None
    assert as_json(bench(tmp_path, *_DATED, "--limit", "1", "--json"))["halves"]["overall"]["judged"] == 1


def test_a_judge_that_breaks_is_not_a_failing_note(tmp_path: Path, engine: WritingEngine) -> None:
    engine.breaks_at = GateName.HELPFULNESS
    overall = as_json(bench(tmp_path, *_DATED, "--limit", "2", "--json"))["halves"]["overall"]
    assert (overall["failed"], overall["judged"], overall["correctness_percent"]) == (2, 0, 100.0)


def test_an_engine_that_abstains_is_counted_as_such(
    tmp_path: Path, engine: WritingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "write", lambda *_, **__: WriterAnswer((), "Not needed."))
    overall = as_json(bench(tmp_path, *_DATED, "--limit", "2", "--json"))["halves"]["overall"]
    assert (overall["abstained"], overall["relevance_percent"]) == (2, 0.0)
    assert lines_of(tmp_path)[0]["reason"] == "Not needed."


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
        ("automation", (), "Where should we search"),
        ("automation", ("--library", "nope"), "There is no library “nope”"),
        ("automation", ("--service", "nope"), "“nope” is not a search service"),
        ("automation", ("--library", "topics", "--library-date", "topics"), "is not NAME=DAY"),
        ("automation", ("--library", "topics", "--library-date", "a=2020-01-01"), "do not search it"),
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
    assert not any("learned from" in caution for caution in answer["cautions"])
    assert asked == len(server.requests) > 0
    assert again == answer
    assert "(engine)" in str(refused.exception)


def test_a_note_for_every_post_beside_the_human_one_with_what_it_took(tmp_path: Path, engine: WritingEngine) -> None:
    found = as_json(_notes(tmp_path, "--json"))
    assert (found["posts"], found["notes"], found["pass_all_gates"]) == (3, 3, 3)
    assert found["calls"] == {"mean": 0, "most": 0}
    rows = lines_of(tmp_path, "notes.jsonl")
    assert all(row["note"] and row["human"].startswith("No illness") for row in rows)
    # What is finished is not written again.
    engine.before_writing = lambda _: pytest.fail("asked again")
    assert as_json(_notes(tmp_path, "--json"))["notes"] == 3


def test_it_counts_how_far_a_sentence_that_decides_came_where_the_data_names_one(
    tmp_path: Path, engine: WritingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = notes_file(tmp_path, 3)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows[0]["deciding"] = [{"sentence": "Nobody wrote this."}, {"sentence": "a review of the Kettle found NO illness"}]
    rows[1]["deciding"] = [{"sentence": "Nobody wrote this.", "url": "https://records.example.net/lantern"}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    def picks_one(body: Any) -> str:
        answer = honest_answer(body)
        return json.dumps({**answer, "picks": answer["picks"][:1]} if "picks" in answer else answer)

    def counted(out: str) -> dict[str, int]:
        words = ("notes", "--data", path, "--out", tmp_path / out, "--library", "topics", "--json")
        return dict(as_json(_command(*words))["deciding_sentence"])

    assert counted("local") == {"posts": 2, "in the hits": 1, "in the passages": 1}
    opened = partial(open_workspace, embedder=HashingEmbedder(), links=LiveLinks())
    monkeypatch.setattr(workspace, "open_workspace", opened)
    with LLMServer(picks_one).running() as server:
        monkeypatch.setenv("CROWDNOTES_LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("CROWDNOTES_LLM_MODEL", "small")
        found = counted("model")
    assert found == {
        "posts": 2,
        "in the hits": 1,
        "among the 14 offered": 1,
        "visible in its line": 1,
        "in the passages": 1,
        "before the writer": 1,
    }


def test_a_sentence_that_decides_is_found_whatever_its_signs_and_on_a_page_that_is_not_read_by_its_address() -> None:
    decides = [
        DecidingSentence(sentence="“Garlic cures no flu.”", url="https://www.health.example.org/garlic?utm_source=x")
    ]
    texts = {
        "words": [("It is said that\nGARLIC cures\nno flu, ever.", "")],
        "parts of words": [("Garlic cures no fluff.", "")],
        "page": [("Garlic: what we know", "http://health.example.org/garlic")],
        "another page": [("Garlic", "https://health.example.org/onion")],
    }
    found = find_deciding(decides, texts)
    assert found == {"words": True, "parts of words": False, "page": True, "another page": False}
    assert find_deciding([], texts) == {}


def test_notes_of_another_engine_or_library_are_not_mixed_into_a_run(tmp_path: Path, engine: WritingEngine) -> None:
    as_json(_notes(tmp_path, "--json"))
    engine.name = "another"
    refused = _notes(tmp_path)
    assert isinstance(refused.exception, InputError)
    assert "holds a run with other options (engine)" in str(refused.exception)
    assert len(lines_of(tmp_path, "notes.jsonl")) == 3


def test_without_votes_it_writes_blind_pairs_and_with_votes_it_counts_them(
    tmp_path: Path, engine: WritingEngine
) -> None:
    as_json(_notes(tmp_path, "--json"))
    assert as_json(_compare(tmp_path, "--json")) == {"pairs": 3, "win_rate": {}}
    pairs = lines_of(tmp_path, "pairs.jsonl")
    assert all("example.org" not in json.dumps(pair) for pair in pairs)
    votes = tmp_path / "votes.jsonl"
    own = ["left" if not pair["left"].startswith("No illness") else "right" for pair in pairs]
    lines = [
        json.dumps({"pair": pair["pair"], "reader": "ann", "votes": {"overall": side}})
        for pair, side in zip(pairs, own, strict=True)
    ]
    votes.write_text("\n".join(lines), encoding="utf-8")
    found = as_json(_compare(tmp_path, "--votes", str(votes), "--json"))
    assert found["win_rate"]["overall"] == {"rate": 1.0, "low": 1.0, "high": 1.0, "votes": 3}
    assert "overall: 100 %" in _compare(tmp_path, "--votes", str(votes)).stdout


def test_votes_that_are_none_and_a_folder_that_holds_no_run_are_named(tmp_path: Path, engine: WritingEngine) -> None:
    as_json(_notes(tmp_path, "--json"))
    votes = tmp_path / "votes.jsonl"
    votes.write_text('{"pair": "x", "votes": {"overall": "mine"}}', encoding="utf-8")
    assert "line 1" in str(_compare(tmp_path, "--votes", str(votes)).exception)
    assert "cannot be read" in str(_compare(tmp_path / "elsewhere").exception)
    nowhere = _command("notes", "--data", notes_file(tmp_path), "--out", tmp_path / "x")
    assert "Where should we search" in str(nowhere.exception)


def test_a_model_judges_each_pair_in_both_orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDNOTES_DATA_DIR", str(tmp_path / "data"))
    run = tmp_path / "run"
    run.mkdir()
    row = {
        "note_id": "1",
        "is_helpful": True,
        "outcome": "a note was judged",
        "post": "A post.",
        "human": "It does not. https://a.example.org",
        "note": "No study found it.",
    }
    gates = dict.fromkeys(("relevance", "correctness", "helpfulness"), "PASS")
    (run / "notes.jsonl").write_text(json.dumps({**row, "gates": gates}), encoding="utf-8")
    no_model = _compare(tmp_path, "--judge")
    assert "No AI is set up" in str(no_model.exception)

    def prefers_the_left(body: Any) -> str:
        return json.dumps({"why": "", **dict.fromkeys(CRITERIA, "left")}) if "left note" in str(body) else honest(body)

    with LLMServer(prefers_the_left).running() as server:
        monkeypatch.setenv("CROWDNOTES_LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("CROWDNOTES_LLM_MODEL", "small")
        found = as_json(_compare(tmp_path, "--judge", "--json"))
    assert found["win_rate"]["overall"] == {"rate": 0.5, "low": 0.5, "high": 0.5, "votes": 1}
