"""Somebody goes: they get all that is on record of them, and then no table holds a trace."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, MetaData, insert, select

from crowdnotes.cases import moderation
from crowdnotes.cases.accounts import People, proxied
from crowdnotes.cases.actions import compare_sentence, match_claim, open_passage
from crowdnotes.cases.blinding import pairs
from crowdnotes.cases.export import to_json, to_markdown
from crowdnotes.cases.store import Store
from crowdnotes.cases.suggestions import answer_suggestion, suggest
from crowdnotes.domain import (
    Account,
    Actor,
    Case,
    ClaimMatch,
    Comment,
    Decision,
    DecisionKind,
    DeskState,
    Draft,
    QueueQuery,
    QueueScope,
    Role,
    SuggestionAnswer,
    Support,
)
from crowdnotes.errors import InputError, NotAllowedError, WorkflowError
from crowdnotes.jobs import JobState
from crowdnotes.jobs.records import JobRecord, JobTable
from crowdnotes.storage.database import writing
from crowdnotes.storage.tables import people as people_table
from tests.cases.test_moderation import ANN, BOB, CLEO, NOTE, NOW, drafted, waiting_assessment
from tests.fakes import actor

ZOE = Actor(issuer="https://id.example.org", subject='z"7391', name="Zoë Unmistakable", role=Role.MODERATOR)
ALMOST = ZOE.replace(subject='z"73912', name="Somebody Else")
_TRACE = re.compile(r"Unmistakable|z\\*\"7391(?!2)")


def _of_another(case_id: str) -> Case:
    """Ann's case, in which Zoë did all that a moderator does."""
    case = moderation.assign(moderation.submit(drafted(case_id), NOW, ANN), NOW, BOB, ZOE.person)
    case = open_passage(moderation.claim(case, NOW, ZOE), NOW, ZOE, "E1")
    case = moderation.judge_pair(case, NOW, ZOE, NOTE, "E1", Support.SUPPORTED)
    case = moderation.send_back(case, NOW, ZOE, [Comment("Say which drink.", "E1")], "Nearly.")
    for name in ("S1", "S2"):
        case = answer_suggestion(case, NOW, ANN, name, SuggestionAnswer.NO, "It says so.")
    case = moderation.claim(moderation.submit(case, NOW, ANN), NOW, ZOE)
    case = moderation.take_over(case, NOW, BOB)
    decision = Decision(kind=DecisionKind.REJECTED, by=ZOE.name, by_key=ZOE.key, at=NOW, reason="Too thin.")
    return case.replace(decision=decision)


@pytest.fixture
def people(engine: Engine) -> People:
    """All tables that a person leaves something in, filled."""
    store, found = Store(engine), People(engine, lambda: NOW, lambda: actor("root"))
    for person in (ZOE, ALMOST, BOB):
        found.seen(person, "moderator")
    store.add(drafted("own").replace(owner=ZOE.person))
    store.add(drafted("shared").replace(owner=ZOE.person, shared=True))
    store.add(_of_another("anns"))
    store.add(drafted("almost").replace(owner=ALMOST.person))
    store.add(drafted("deleted"))
    store.delete("deleted", by=ZOE)
    store.queue.seen("anns", ZOE)
    done, under_way = JobState.DONE, JobState.RUNNING
    for who, case_id, state in ((ZOE, "anns", done), (ZOE, "shared", under_way), (ALMOST, "anns", done)):
        job = JobRecord(
            id=f"{who.subject[-4:]} {case_id}",
            case_id=case_id,
            kind="links",
            state=state,
            steps=(),
            started_at=NOW + timedelta(seconds=1),
            updated_at=NOW,
            owner="elsewhere:1:x",
            by=who.name,
            by_key=who.key,
        )
        JobTable(engine).add(job)
    return found


def _tables(engine: Engine) -> dict[str, list[Any]]:
    every = MetaData()
    every.reflect(engine)
    with engine.connect() as connection:
        return {table.name: [tuple(row) for row in connection.execute(select(table))] for table in every.sorted_tables}


def test_no_table_holds_a_trace_of_who_was_erased_and_their_acts_stay(engine: Engine, people: People) -> None:
    traces = {name for name, rows in _tables(engine).items() if _TRACE.search(str(rows))}
    assert traces == {"cases", "queue", "people", "jobs", "tombstones", "presence"}
    assert people.erase(ZOE) == (1, 2)
    assert {name: rows for name, rows in _tables(engine).items() if _TRACE.search(str(rows))} == {}
    store = Store(engine)
    case = store.get("anns")
    assert case.decision is not None
    assert (case.decision.by, case.outcome_line) == ("someone who left", "someone who left: Too thin.")
    assert [check.support for check in case.sentence_checks] == [Support.SUPPORTED]
    assert {event.by for event in case.events} == {"ann", "bob", "someone who left"}
    assert "from someone who left" in {event.detail for event in case.events}
    assert store.get("shared").owner is None
    assert {stone.case_id for stone in store.tombstones()} == {"own", "deleted"}
    job = JobTable(engine).latest("shared")
    assert job is not None
    assert job.state is JobState.CANCELLED
    assert store.get("almost").owner == ALMOST.person
    assert JobTable(engine).get("3912 anns").by == ALMOST.name
    with pytest.raises(InputError, match="Nobody"):
        people.erase(ZOE)


def test_all_that_is_on_record_of_somebody_is_handed_out(people: People) -> None:
    found = json.loads(people.exported(ZOE))
    assert found["account"]["name"] == ZOE.name
    assert {case["id"] for case in found["cases"]} == {"own", "shared"}
    told = found["elsewhere"]["anns"]
    whats = {record["where"].rsplit("/", 1)[0] for record in told}
    assert {"/events", "/suggestions", "/sentence_checks", "/desk/returns", "/evidence/0/reviews"} <= whats
    assert "Say which drink." in json.dumps(told)
    assert "It says so." not in json.dumps([record for record in told if record["where"].startswith("/events")])
    assert len(found["jobs"]) == 2
    assert [stone["case_id"] for stone in found["deleted"]] == ["deleted"]


@pytest.mark.parametrize("kept_out", [True, False])
def test_who_was_erased_does_not_come_back_by_a_sign_in_from_before(people: People, kept_out: bool) -> None:
    people.set_disabled(ZOE, disabled=kept_out)
    people.erase(ZOE)
    people.seen(ZOE, "moderator", NOW - timedelta(days=1))
    with pytest.raises(NotAllowedError):
        people.actor(ZOE)
    assert ZOE.name not in {account.name for account in people.everybody()}
    people.seen(ZOE, "contributor", NOW + timedelta(days=1))  # signed in anew
    if kept_out:
        with pytest.raises(NotAllowedError, match="took your access away"):
            people.actor(ZOE)
        assert ZOE.name not in {account.name for account in people.everybody()}
        people.set_disabled(ZOE, disabled=False)
        people.seen(ZOE, "contributor", NOW + timedelta(days=1))
    assert people.actor(ZOE).role is Role.CONTRIBUTOR


def test_an_erasure_takes_the_name_out_of_stored_sentences_and_nothing_from_a_namesake(
    engine: Engine, people: People
) -> None:
    max_, other = (actor("max", Role.MODERATOR).replace(subject=name) for name in ("m1", "m2"))
    first, second = "The review found no link.", "It had 12 trials."
    note = f"{first} {second}"
    draft = drafted("checked", passages=2)
    case = draft.replace(
        draft=Draft(text=note, evidence_ids=("E1", "E2"), engine="person", written_at=NOW),
        assessment=waiting_assessment(draft, note, {first: "E1", second: "E2"}),
    )
    case = compare_sentence(case, NOW, max_, first, "E1", Support.SUPPORTED)
    case = compare_sentence(case, NOW, other, second, "E2", Support.SUPPORTED)
    case = suggest(suggest(case, NOW, max_, ["Say when."]), NOW, other, ["Say where."])
    case = answer_suggestion(case, NOW, max_, "S2", SuggestionAnswer.NO, "No.")
    case = answer_suggestion(case, NOW, other, "S1", SuggestionAnswer.NO, "No.")
    assert "Checked by max." in to_markdown(case)
    Store(engine).add(case)
    people.erase(max_)
    kept = Store(engine).get("checked")
    assert kept.assessment is not None
    assert [sentence.by for sentence in kept.assessment.sentences] == ["someone who left", "max"]
    assert "Checked by max, someone who left." in to_markdown(kept)
    assert [(item.by, item.answered_by) for item in kept.suggestions] == [
        ("someone who left", "max"),
        ("max", "someone who left"),
    ]
    people.erase(other)
    assert "max" not in to_json(Store(engine).get("checked"))


def test_an_erasure_takes_no_case_from_a_moderator_who_is_at_it(engine: Engine, people: People) -> None:
    sent = moderation.submit(drafted("sent").replace(owner=ZOE.person), NOW, ZOE)
    store = Store(engine)
    store.add(moderation.claim(sent, store.queue.now(), BOB))
    with pytest.raises(WorkflowError, match="bob is working on a case"):
        people.erase(ZOE)
    assert store.get("own").owner == ZOE.person  # nothing was erased
    store.update("sent", lambda case: moderation.release(case, store.queue.now(), BOB))
    assert people.erase(ZOE)[0] == 2


def test_of_a_case_that_moderators_reviewed_their_part_stays_without_what_its_author_wrote(
    engine: Engine, people: People
) -> None:
    author = "Whom the author quotes"
    case = drafted("sent").replace(owner=ZOE.person)
    evidence = tuple(
        item.replace(reviews=tuple(it.replace(reader=ZOE.person, reason=author) for it in item.reviews))
        for item in case.evidence
    )
    note = f"{NOTE} {author}."
    draft = Draft(text=note, evidence_ids=("E1", "E2"), engine="person", written_at=NOW)
    case = case.replace(evidence=evidence, draft=draft, revisions=(draft,), own_words=author, urls=(author,))
    case = case.replace(assessment=waiting_assessment(case, note, {f"{author}.": "E1"}))
    case = match_claim(case, NOW, ZOE, author, ClaimMatch.OTHER)
    case = moderation.submit(case, NOW, ZOE, author, readers=2)
    case = moderation.claim(case, NOW, BOB)
    for pair in pairs(case):
        case = moderation.judge_pair(case, NOW, BOB, pair.words, pair.evidence_id, Support.PARTLY)
    case = moderation.finish_reading(case, NOW, BOB)
    case = moderation.send_back(moderation.claim(case, NOW, CLEO), NOW, CLEO, [Comment("Whom?", "E1", author)], "Soon.")
    case = answer_suggestion(case, NOW, ZOE, "S1", SuggestionAnswer.NO, author)
    store = Store(engine)
    store.add(case)
    assert people.erase(ZOE) == (1, 3)  # "own" is removed
    kept = store.get("sent")
    assert author not in to_json(kept)
    assert "The note was erased with all that its author wrote." in to_markdown(kept)
    [reading] = kept.desk.earlier_readings or kept.desk.readings
    assert [(it.words, it.support) for it in reading.findings] == [
        ("sentence 1", Support.PARTLY),
        ("sentence 2", Support.PARTLY),
    ]
    assert {review.reader.name for item in kept.evidence for review in item.reviews} == {"bob"}
    assert [item.text for item in kept.suggestions] == ["Whom?", "Soon."]
    assert (kept.desk.returns[0].words, kept.desk.returns[0].note) == ("Soon.", "")
    assert (kept.owner, kept.desk_state) == (None, DeskState.DRAFTING)
    assert store.queue.items(BOB, QueueQuery(QueueScope.ALL), 9) == []
    assert store.get("sent") == Case.model_validate(kept.model_dump(mode="json"))


def test_an_export_shows_nothing_that_an_admin_who_reads_too_may_not_know_yet(engine: Engine, people: People) -> None:
    case = moderation.claim(moderation.submit(drafted("sent"), NOW, ANN, readers=2), NOW, ZOE)
    Store(engine).add(moderation.judge_pair(case, NOW, ZOE, NOTE, "E1", Support.UNSUPPORTED))
    found = json.loads(people.exported(ZOE))
    assert found["not_shown"] == ["sent"]
    assert "not supported" not in json.dumps(found["elsewhere"]["sent"])


def test_only_an_admin_hands_out_and_erases_and_the_last_one_stays(engine: Engine, people: People) -> None:
    moderator = people.acting_as(lambda: BOB)
    for refused in (moderator.exported, moderator.erase):
        with pytest.raises(NotAllowedError):
            refused(ZOE)
    people.set_role(ZOE, Role.ADMIN)
    with pytest.raises(InputError, match="only admin"):
        people.erase(ZOE)
    assert Store(engine).get("own").owner == ZOE.person


def test_whoever_a_proxy_writes_in_other_letters_is_one_person(engine: Engine) -> None:
    people = People(engine, lambda: NOW, lambda: actor("root"))
    people.seen(actor("root"), "admin")
    for name in ("Ann", "ann", "ＡＮＮ", "Straße", "STRASSE"):
        people.seen(proxied(name), "contributor")
    assert {people.actor(proxied(name)).key for name in ("ANN", "ann")} == {"proxy ann"}
    assert [account.subject for account in people.everybody() if account.issuer == "proxy"] == ["strasse", "ann"]
    people.set_role(proxied("aNN"), Role.MODERATOR)
    assert people.actor(proxied("Ann")).role is Role.MODERATOR
    people.set_disabled(proxied("Ann"), disabled=True)
    people.erase(proxied("ANN"))
    people.seen(proxied("ann"), "contributor")
    with pytest.raises(NotAllowedError, match="took your access away"):
        people.actor(proxied("aNn"))


def test_an_account_from_before_is_found_in_other_letters_and_one_that_is_kept_out_first(engine: Engine) -> None:
    people = People(engine, lambda: NOW, lambda: actor("root"))
    rows = [
        Account(issuer="proxy", subject=name, name=name, role=role, disabled_at=out, first_seen=NOW, last_seen=NOW)
        for name, role, out in (("Ann", Role.MODERATOR, None), ("Bob", Role.VIEWER, None), ("bob", Role.VIEWER, NOW))
    ]
    with writing(engine) as connection:
        connection.execute(insert(people_table), [row.model_dump() for row in rows])
    assert people.actor(proxied("ann")).key == "proxy Ann"
    with pytest.raises(NotAllowedError):
        people.actor(proxied("Bob"))
