"""What earlier programs stored is opened, shown and gone on with; what a newer one stored is left alone.

`stored/v<document version>.sqlite.gz` are whole databases. v0 is of the program before documents had a version: 34
cases at every stage, made with the demonstration pack. v4 are five supernotes, made with the fakes of
`test_supernote.py`: begun, stopped while a model wrote, with suggestions, posted and watched, approved.
"""

from __future__ import annotations

import copy
import gzip
import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, MetaData, create_engine, insert, make_url, select, text, update

from crowdnotes.cases import actions, approval, supernote_actions
from crowdnotes.cases.export import cases_csv, to_json, to_markdown
from crowdnotes.cases.store import Store
from crowdnotes.domain import (
    DOCUMENT_VERSION,
    PROGRAM,
    Case,
    CaseStatus,
    DecisionKind,
    GateName,
    GateStatus,
    Outcome,
    PrincipleName,
    SuggestionAnswer,
    Verdict,
    upgraded,
    version_of,
)
from crowdnotes.domain.document_upgrades import STEPS
from crowdnotes.errors import NewerCaseError, StoreError
from crowdnotes.settings import Settings
from crowdnotes.storage.database import alembic_config, connect, open_database, reading, writing
from crowdnotes.storage.tables import cases
from crowdnotes.workspace import Workspace, open_workspace
from tests.cases.test_supernote_actions import NEWER, NOTES, Web
from tests.cases.walk import run
from tests.fakes import HashingEmbedder, LiveLinks, ScriptedEngine

COUNT = 34
STORED = Path(__file__).parent / "stored"


def unpacked(folder: Path, name: str = "v0") -> Path:
    """The database as a file in `folder`."""
    path = folder / "crowdnotes.sqlite"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.decompress((STORED / f"{name}.sqlite.gz").read_bytes()))
    return path


def documents(folder: Path) -> list[dict[str, Any]]:
    """Every stored case of `unpacked(folder)`."""
    with sqlite3.connect(unpacked(folder)) as connection:
        return [json.loads(row[0]) for row in connection.execute("SELECT document FROM cases ORDER BY created_at")]


@pytest.fixture
def stored_file(tmp_path: Path) -> Iterator[Engine]:
    """The stored cases as an earlier program left them, in a file: how a document is read is no matter of the kind."""
    unpacked(tmp_path)
    engine = open_database(f"sqlite:///{tmp_path / 'crowdnotes.sqlite'}")
    yield engine
    engine.dispose()


@pytest.fixture
def stored(database_url: str, tmp_path: Path) -> Iterator[Engine]:
    """The stored cases in a database of each kind, as an earlier program left it."""
    if make_url(database_url).get_backend_name() == "sqlite":
        unpacked(tmp_path / "data")
    else:
        _copied(create_engine(f"sqlite:///{unpacked(tmp_path)}"), connect(database_url))
    engine = open_database(database_url)
    yield engine
    engine.dispose()


def _copied(source: Engine, target: Engine) -> None:
    """The rows of an earlier program's database, in one of another kind as that program made it."""
    config, before, after = alembic_config(), MetaData(), MetaData()
    with source.connect() as reader, writing(target) as writer:
        before.reflect(reader)
        config.attributes["connection"] = writer
        command.upgrade(config, "0003")
        after.reflect(writer)
        for table in after.sorted_tables:
            if table.name != "alembic_version":
                for row in reader.execute(select(before.tables[table.name])).mappings():
                    writer.execute(insert(table), {name: _in_utc(value) for name, value in row.items()})
    source.dispose()
    target.dispose()


def _in_utc(value: object) -> object:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Today's program, opened on the data folder of an earlier one."""
    unpacked(tmp_path)
    settings = Settings(data_dir=tmp_path, database_url=None)
    with open_workspace(settings, embedder=HashingEmbedder(), engine=ScriptedEngine(), links=LiveLinks()) as opened:
        yield opened


def test_every_stored_case_opens_with_its_texts_and_is_exported(stored: Engine) -> None:
    store = Store(stored)
    listed = store.list(limit=1_000)
    assert (len(listed), store.count()) == (COUNT, COUNT)
    found = [store.get(item.id) for item in listed]
    assert [(item.status, item.decision) for item in listed] == [
        (case.status, case.decision.kind if case.decision else None) for case in found
    ]
    for item, case in zip(listed, found, strict=True):
        assert item.outcome == (case.decision.as_text if case.decision else case.status.as_text)
        assert (item.note_excerpt != "", item.supernote) == (case.draft is not None, case.supernote is not None)
    assert any(item.overrides for item in listed)
    assert {case.status for case in found} == set(CaseStatus)
    assert {item.verdict for case in found for item in case.evidence if item.reviews} == {*Verdict, None}
    assert {case.decision.kind for case in found if case.decision} == set(DecisionKind)
    for case in found:
        assert case.owner_key == "local owner"
        assert {event.by_key for event in case.events} <= {"local owner", PROGRAM.key}
        for review in (review for item in case.evidence for review in item.reviews):
            assert (review.reader.key, review.verdict is None) == (case.owner_key, review.judged_at is None)
        sources = (*case.sources, *(item.source for item in case.evidence))
        for source in sources:
            assert source.text_sha256 is None or len(store.text(source.text_sha256)) == source.characters
        assert all(store.image(image.sha256) for image in case.post.images)
        assert json.loads(to_json(case))["events"][-1]["kind"] == case.events[-1].kind
        assert case.id in to_markdown(case)
    assert cases_csv(found).count("\r\n") == COUNT + 1


def test_a_stored_case_that_is_changed_is_kept_in_the_newest_form(stored_file: Engine) -> None:
    store = Store(stored_file)
    for item in store.list(limit=1_000):
        changed = store.update(item.id, lambda case: case.replace(tags=("seen",)))
        assert store.get(item.id) == changed
        with reading(stored_file) as connection:
            document = connection.scalar(select(cases.c.document).where(cases.c.id == item.id))
        assert document is not None
        assert version_of(json.loads(document)) == DOCUMENT_VERSION


def test_every_stored_case_goes_on_to_a_decision(workspace: Workspace) -> None:
    cases = workspace.cases
    went_on = 0
    for item in cases.find(limit=1_000):
        case = cases.apply(item.id, actions.reopen) if item.decision else cases.get(item.id)
        if not case.evidence:
            approval.decide_case(cases, case.id, DecisionKind.REJECTED)
            continue
        for passage in case.evidence:
            cases.apply(case.id, actions.open_passage, passage.id)
            cases.apply(case.id, actions.judge, passage.id, Verdict.USE, "")
        shown = case.draft.sha256 if case.draft else None
        note = f"The page says otherwise. {case.evidence[0].source.url}"
        case = cases.apply(case.id, actions.edit_draft, note, based_on=shown)
        run(workspace, case.id, "assess", workspace.stages.assess_steps(case.id, scores_only=True))
        cases.apply(case.id, actions.set_tags, ["misleadingFactualError"] * (case.classification.name == "MISLEADING"))
        reason = "Read again by a person, and it holds."
        case = cases.get(case.id)
        checks = {item.id: reason for item in approval.obstacles_for(cases, case) if item.id.is_overridable}
        assert case.draft is not None
        decided = approval.decide_case(cases, case.id, DecisionKind.APPROVED, overrides=checks, seen=case.draft.sha256)
        assert decided.status is CaseStatus.DECIDED
        went_on += 1
    assert went_on == 26


def test_a_stored_follow_up_that_was_stopped_goes_on_and_a_killed_gathering_too(workspace: Workspace) -> None:
    cases = workspace.cases
    found = [cases.get(item.id) for item in cases.find(limit=1_000)]
    stopped = next(case for case in found if any(asked.finished_at is None for asked in case.follow_ups))
    run(workspace, stopped.id, "follow_up", workspace.stages.follow_up_steps(stopped.id))
    assert all(asked.finished_at for asked in cases.get(stopped.id).follow_ups)
    killed = next(case for case in found if case.stages and not case.sources)
    job = workspace.runner.latest(killed.id)
    assert job is not None
    assert not job.state.under_way
    again = run(workspace, killed.id, "gather", workspace.stages.gather_steps(killed.id))
    assert [step.state.value for step in again.steps] == ["kept", "kept", "done", "done"]


def test_stored_supernotes_are_exported_and_newer_notes_go_on_in_them(tmp_path: Path) -> None:
    unpacked(tmp_path, "v4")
    settings = Settings(data_dir=tmp_path, database_url=None)
    fakes: dict[str, Any] = {"embedder": HashingEmbedder(), "engine": ScriptedEngine(), "fetcher": Web()}
    with open_workspace(settings, links=LiveLinks(), **fakes) as opened:
        cases = opened.cases
        found = [cases.get(item.id) for item in cases.find()]
        rounds = [len(case.supernote.rounds) for case in found if case.supernote]
        answers = [item.answer for case in found for item in case.suggestions]
        assert (sorted(rounds), answers) == ([0, 1, 1, 1, 2], [SuggestionAnswer.YES, SuggestionAnswer.NO, None])
        for case in found:
            assert case.id in to_markdown(case)
            supernote_actions.update_notes(cases, case.id, [*NOTES, NEWER])
            run(opened, case.id, "supernote", opened.stages.supernote_steps(case.id))
            after = cases.get(case.id)
            assert after.draft is not None
            assert after.supernote is not None
            assert "N4" in {note.id for note in after.supernote.used}
            assert supernote_actions.supernote_update(after).changes == "Nothing has changed"


def _set_document(engine: Engine, case_id: str, **changes: Any) -> str:
    with writing(engine) as connection:
        document = connection.scalar(select(cases.c.document).where(cases.c.id == case_id))
        changed = json.dumps(json.loads(document or "") | changes)
        connection.execute(update(cases).where(cases.c.id == case_id).values(document=changed))
    return changed


def test_a_case_of_a_newer_program_is_named_and_left_untouched(stored_file: Engine) -> None:
    store = Store(stored_file)
    newer, other = (item.id for item in store.list(limit=2))
    document = _set_document(stored_file, newer, document_version=DOCUMENT_VERSION + 1, wisdom={"since": 2030})
    with pytest.raises(NewerCaseError, match=r"newer version.* Update CrowdNotes"):
        store.get(newer)
    with pytest.raises(NewerCaseError):
        store.update(newer, lambda case: case.replace(tags=("x",)))
    with reading(stored_file) as connection:
        assert connection.scalar(select(cases.c.document).where(cases.c.id == newer)) == document
    assert {newer, other} <= {item.id for item in store.list(limit=1_000)}
    assert store.get(other).id == other


def test_a_damaged_case_is_a_sentence(stored_file: Engine) -> None:
    store = Store(stored_file)
    damaged = store.list(limit=1)[0].id
    overrides = '{"decision": {"overrides": [{"check": null}]}}'
    versions = ('{"document_version": "x"}', '{"document_version": null}')
    for document in ("{not json", "[]", "null", '{"assessment": {}}', *versions, overrides):
        with writing(stored_file) as connection:
            connection.execute(update(cases).where(cases.c.id == damaged).values(document=document))
        with pytest.raises(StoreError, match="cannot read"):
            store.get(damaged)


def test_the_list_shows_the_rest_when_only_a_newer_program_has_a_word_for_one(stored_file: Engine) -> None:
    store = Store(stored_file)
    first = store.list(limit=1)[0].id
    with writing(stored_file) as connection:
        connection.execute(text("UPDATE cases SET status = 'published' WHERE id = :id"), {"id": first})
    assert (len(store.list(limit=1_000)), store.count()) == (COUNT - 1, COUNT - 1)


@pytest.fixture(scope="module")
def all_documents(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return documents(tmp_path_factory.mktemp("stored"))


_OPTIONAL = sorted(name for name, field in Case.model_fields.items() if not field.is_required())


@given(st.data())
def test_an_upgrade_is_total_repeatable_and_leaves_the_old_document_alone(
    all_documents: list[dict[str, Any]], data: st.DataObject
) -> None:
    old = dict(all_documents[data.draw(st.integers(0, COUNT - 1))])
    for name in data.draw(st.sets(st.sampled_from(_OPTIONAL))):
        old.pop(name, None)
    before = copy.deepcopy(old)
    new = upgraded(old)
    assert old == before
    assert upgraded(new) == new
    assert Case.model_validate(new).document_version == DOCUMENT_VERSION == len(STEPS)


def test_sentences_of_earlier_programs_tell_how_stages_and_decisions_ended(stored_file: Engine) -> None:
    store = Store(stored_file)
    found = [store.get(item.id) for item in store.list(limit=1_000)]
    assert {stage.outcome for case in found for stage in case.stages} == {Outcome.DONE}
    for case in found:
        decided = [event.result for event in case.events if event.kind == "decided"]
        assert decided[-1:] == ([case.decision.kind.value] if case.decision else decided[-1:])
        scored = [event.verdicts for event in case.events if event.kind == "stage assess"]
        assert all([name for name, _ in found] == list(GateName) for found in scored)


@pytest.mark.parametrize(
    ("name", "summary", "outcome", "reason"),
    [
        ("jury", "NOT RUN: there is no note.", Outcome.NOT_RUN, "there is no note."),
        ("revise", "NOT RUN, so the first is shown: It said: no.", Outcome.NOT_RUN, "It said: no."),
        ("jury", "simulated note intercept 0.4; candidates NOT RUN: 1 (Too long.)", Outcome.DONE, ""),
        ("draft", "No note: Not needed: the post is satire.", Outcome.DONE, "Not needed: the post is satire."),
        ("settle", "There is nothing to settle", Outcome.NOT_NEEDED, "There is nothing to settle"),
        ("links", "The note has no link", Outcome.NOT_NEEDED, "The note has no link"),
        ("read", "0 read, 1 could not be read", Outcome.DONE, ""),
    ],
)
def test_a_sentence_of_a_stored_stage_is_read_once(
    all_documents: list[dict[str, Any]], name: str, summary: str, outcome: Outcome, reason: str
) -> None:
    document = copy.deepcopy(all_documents[0])
    stage = {"name": name, "finished_at": "2026-01-02T00:00:00Z", "seconds": 1.0, "summary": summary, "engine": "x"}
    document["stages"] = [stage]
    (stored,) = Case.model_validate(upgraded(document)).stages
    assert (stored.outcome, stored.reason, stored.summary) == (outcome, reason, summary)


@pytest.mark.parametrize(
    ("detail", "left", "archive"),
    [
        ("No page (404). The Wayback Machine has no copy.", "No page (404).", "The Wayback Machine has no copy."),
        (
            "No. The Wayback Machine has no copy up to 4 March 2023. Reader was asked to read it: Too often.",
            "No. Reader was asked to read it: Too often.",
            "The Wayback Machine has no copy up to 4 March 2023.",
        ),
        (
            "The Wayback Machine was asked for a copy: It did not answer in time.",
            "",
            "The Wayback Machine was asked for a copy: It did not answer in time.",
        ),
        ("There is no page at this address (404).", "There is no page at this address (404).", ""),
    ],
)
def test_what_the_archive_said_of_a_stored_source_has_its_own_field(
    all_documents: list[dict[str, Any]], detail: str, left: str, archive: str
) -> None:
    document = copy.deepcopy(all_documents[0])
    failed = {"id": "S1", "title": "A page", "outcome": "not found", "outcome_detail": detail}
    document["sources"] = [failed, failed | {"id": "S2", "outcome": "read"}]
    source, read = Case.model_validate(upgraded(document)).sources
    assert (source.outcome_detail, source.archive_detail) == (left, archive)
    assert (read.outcome_detail, read.archive_detail) == (detail, "")


def test_sentences_of_stored_events_are_read_once(all_documents: list[dict[str, Any]]) -> None:
    document = upgraded(all_documents[0])
    said = [
        ("decided", "no note needed approved of by nobody"),
        ("claim matched", "same claim: https://a.example/x: y"),
        ("claim matched", "none: A title"),
        ("stage assess", "relevance PASS, correctness FAIL, helpfulness NOT RUN. Mended: correctness PASS"),
    ]
    document["events"] = [
        {"at": "2026-01-02T00:00:00Z", "by": "ann", "by_key": "local owner", "kind": kind, "detail": detail}
        for kind, detail in said
    ]
    document["document_version"] = 7
    events = Case.model_validate(upgraded(document)).events
    assert [(event.subject, event.result) for event in events[:3]] == [
        ("", "not needed"),
        ("https://a.example/x: y", "same claim"),
        ("A title", ""),
    ]
    assert events[3].verdicts == (
        ("relevance", GateStatus.PASS),
        ("correctness", GateStatus.FAIL),
        ("helpfulness", GateStatus.NOT_RUN),
        ("correctness", GateStatus.PASS),
    )


def test_the_key_sentences_of_a_stored_passage_keep_their_places(all_documents: list[dict[str, Any]]) -> None:
    document = upgraded(next(document for document in all_documents if document.get("evidence")))
    evidence = copy.deepcopy(document["evidence"])
    for item in evidence:
        item["passage"].pop("key_sentences", None)
        item["passage"]["telling"] = [{"start": 0, "end": 3}]
    document |= {"document_version": 7, "evidence": evidence, "earlier_evidence": [{"evidence": evidence}]}
    case = Case.model_validate(upgraded(document))
    for item in (*case.evidence, *case.earlier_evidence[0].evidence):
        assert [(span.start, span.end) for span in item.passage.key_sentences] == [(0, 3)]


def _scored(all_documents: list[dict[str, Any]]) -> dict[str, Any]:
    return copy.deepcopy(next(document for document in all_documents if document.get("assessment")))


def test_a_gate_that_came_later_was_not_run(all_documents: list[dict[str, Any]]) -> None:
    document = _scored(all_documents)
    del document["assessment"]["gates"][1]
    assessment = Case.model_validate(upgraded(document)).assessment
    assert assessment is not None
    assert [result.gate for result in assessment.gates] == list(GateName)
    late = assessment.gate(GateName.CORRECTNESS)
    assert (late.status, late.probability) == (GateStatus.NOT_RUN, None)
    assert "newer than the score" in late.reason


def test_results_of_gates_and_principles_that_are_gone_are_left_out(all_documents: list[dict[str, Any]]) -> None:
    document = _scored(all_documents)
    judged = document["assessment"]
    judged["gates"].append(judged["gates"][0] | {"gate": "elegance"})
    judged["principles"].append(judged["principles"][0] | {"principle": "rhymes"})
    document["earlier_assessments"] = [copy.deepcopy(judged)]
    case = Case.model_validate(upgraded(document))
    assert case.assessment is not None
    for assessment in (case.assessment, *case.earlier_assessments):
        assert [result.gate for result in assessment.gates] == list(GateName)
        then = [name for name in PrincipleName if name is not PrincipleName.WANTED]  # which was not asked yet
        assert [result.principle for result in assessment.principles] == then


def test_what_was_passed_over_keeps_its_words(all_documents: list[dict[str, Any]]) -> None:
    document = _scored(all_documents)
    document["assessment"]["gates"][0]["status"], document["assessment"]["gates"][1]["status"] = "FAIL", "NOT_RUN"
    checks = ("relevance", "correctness", "link:https://a.example/x:1", "live:cdc.gov/x")
    overrides = [{"check": check, "reason": "Read on paper."} for check in checks]
    document["decision"] = {"kind": "approved", "by": "ann", "at": "2026-01-02T00:00:00Z", "overrides": overrides}
    document["decision_words"] = {"word": "Well.", "relevance a-b": "It is.", "live:cdc.gov/x a-b": "It was."}
    case = Case.model_validate(upgraded(document))
    assert case.decision is not None
    assert [item.obstacle.although() for item in case.decision.overrides] == [
        "the relevance check did not pass",
        "the correctness check was not run",
        "we did not read the page behind https://a.example/x:1",
        "the link cdc.gov/x did not respond",
    ]
    assert case.decision_words == {
        "word": "Well.",
        "gate failed relevance a-b": "It is.",
        "link not found to answer cdc.gov/x a-b": "It was.",
    }
