"""The store of cases: whole cases, their texts, many writers at once."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, insert, select, text, update

from crowdnotes.cases.store import Store
from crowdnotes.domain import (
    CASE_STATES,
    Act,
    Case,
    CaseState,
    CaseStatus,
    Decision,
    DecisionKind,
    DeskState,
    DeskWork,
    Draft,
    Event,
    Image,
    Lease,
    Mode,
    ObstacleId,
    ObstacleKind,
    Override,
    Post,
    Role,
    may,
    text_sha256,
)
from crowdnotes.errors import CaseNotFoundError, StoreError, WorkflowError
from crowdnotes.storage import tables
from crowdnotes.storage.database import migrate, reading, writing
from tests.fakes import actor, make_evidence

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


def make_case(case_id: str = "c1", text: str = "Vaccines contain chips.", minutes: int = 0, **changes: object) -> Case:
    at = START + timedelta(minutes=minutes)
    event = Event(at=at, by="ada", kind="created")
    case = Case(id=case_id, created_at=at, updated_at=at, mode=Mode.AUTOMATION, post=Post(text=text), events=(event,))
    return case.replace(**changes)


def with_event(case: Case, kind: str, **changes: object) -> Case:
    event = Event(at=START, by="ada", kind=kind)
    return case.replace(**changes, events=(*case.events, event))


@pytest.fixture
def store(engine: Engine) -> Store:
    return Store(engine)


def draft(text: str) -> Draft:
    return Draft(text=text, engine="local", written_at=START)


def test_a_case_comes_back_as_it_was_kept_and_cannot_be_added_twice(store: Store) -> None:
    case = make_case(draft=draft("No. https://example.org"), evidence=(make_evidence(1),))
    assert store.add(case) == case
    with pytest.raises(StoreError, match="already"):
        store.add(make_case(text="Another post."))
    assert store.get("c1") == case


def test_an_unknown_case_is_said_to_be_missing(store: Store) -> None:
    for case_id in ("nope", "", "\x00", "\ud800", "x" * 1_000, "' OR 1=1 --"):
        with pytest.raises(CaseNotFoundError):
            store.get(case_id)
        with pytest.raises(CaseNotFoundError):
            store.update(case_id, lambda case: case)
        with pytest.raises(CaseNotFoundError):
            store.delete(case_id)


def test_a_change_makes_the_next_version_and_adds_to_the_trail(store: Store) -> None:
    store.add(make_case())
    changed = store.update("c1", lambda case: with_event(case, "edited", tags=("a",)))
    assert (changed.version, changed.tags) == (1, ("a",))
    assert store.get("c1") == changed
    assert [event.kind for event in changed.events] == ["created", "edited"]


def test_a_change_that_raises_changes_nothing_or_rewrites_the_trail_or_the_id_leaves_everything_as_it_was(
    store: Store,
) -> None:
    def refuse(case: Case) -> Case:
        raise WorkflowError("unopened", "Not yet.")

    store.add(make_case())
    with pytest.raises(WorkflowError):
        store.update("c1", refuse)
    for changes in ({"events": ()}, {"id": "c2"}):
        with pytest.raises(ValueError, match="audit trail"):
            store.update("c1", lambda case: case.replace(**changes))  # noqa: B023 - called at once
    assert store.update("c1", lambda case: case).version == 0
    assert store.get("c1") == make_case()


def test_cases_are_listed_by_their_last_change_newest_first_and_in_pages(store: Store) -> None:
    for minute, case_id in enumerate(["old", "middle", "new"]):
        store.add(make_case(case_id, minutes=minute))
    assert [line.id for line in store.list()] == ["new", "middle", "old"]
    assert [line.id for line in store.list(limit=1, offset=1)] == ["middle"]
    assert store.count() == 3
    store.update("old", lambda case: case.replace(updated_at=START + timedelta(hours=1)))
    assert [line.id for line in store.list()] == ["old", "new", "middle"]


def test_a_line_of_the_list_tells_what_the_case_is_and_its_excerpt_ends_at_a_word(store: Store) -> None:
    decision = Decision(kind=DecisionKind.NOT_NEEDED, by="ada", at=START)
    store.add(make_case(text="Much\n\n  white \t space " + "x" * 400, decision=decision))
    (line,) = store.list()
    assert line.post_excerpt == "Much white space " + "x" * 142 + "…"
    assert (line.status, line.decision, line.mode) == (CaseStatus.DECIDED, DecisionKind.NOT_NEEDED, Mode.AUTOMATION)
    assert (line.created_at, line.updated_at) == (START, START)
    assert (line.note_excerpt, line.supernote, line.outcome) == ("", False, "no note needed")
    begun = line.replace(status=CaseStatus.NEW, decision=None)
    assert begun.outcome == "no sources yet"
    with_notes = begun.replace(supernote=True, note_excerpt="")
    assert with_notes.outcome == "supernote not chosen yet"
    assert with_notes.replace(note_excerpt="Taken.").outcome == "no sources yet"
    store.add(make_case("words", text="medicine " * 40))
    [excerpt] = [line.post_excerpt for line in store.list() if line.id == "words"]
    assert excerpt.endswith("medicine…")
    assert 150 <= len(excerpt) <= 160


def test_an_override_is_told_in_the_list(store: Store) -> None:
    passed_over = Override(obstacle=ObstacleId(kind=ObstacleKind.GATE_FAILED, subject="relevance"), reason="it fits")
    decision = Decision(kind=DecisionKind.APPROVED, by="ada", at=START, overrides=(passed_over,))
    store.add(make_case(draft=draft("No.  It\nis not."), decision=decision))
    (line,) = store.list()
    assert (line.outcome, line.note_excerpt) == ("approved with 1 exception", "No. It is not.")
    assert line.outcome == store.get("c1").decision.as_text  # type: ignore[union-attr]


def test_the_list_of_an_earlier_program_counts_each_override_that_the_decision_lists(
    store: Store, engine: Engine
) -> None:
    gates = (ObstacleKind.GATE_FAILED, "relevance"), (ObstacleKind.GATE_NOT_RUN, "correctness")
    passed_over = tuple(
        Override(obstacle=ObstacleId(kind=kind, subject=subject), reason="it fits") for kind, subject in gates
    )
    decision = Decision(kind=DecisionKind.APPROVED, by="ada", at=START, overrides=passed_over)
    store.add(make_case(decision=decision))
    with writing(engine) as connection:
        connection.execute(update(tables.cases).values(overrides=1))
        connection.execute(text("UPDATE alembic_version SET version_num = '0019'"))
    migrate(engine)
    assert [line.outcome for line in store.list()] == ["approved with 2 exceptions"]


def test_each_case_is_found_by_its_own_state_and_a_decided_one_also_by_that(store: Store) -> None:
    ann, sent = actor("ann").person, DeskWork(state=DeskState.SUBMITTED, submitted_at=START)
    held = sent.replace(lease=Lease(holder=ann, since=START, until=START))
    cases = [
        store.add(make_case("new")),
        store.add(make_case("gathered", evidence=(make_evidence(1),))),
        store.add(make_case("sent", evidence=(make_evidence(1),), desk=sent)),
        store.add(make_case("held", desk=held)),
        store.add(make_case("back", desk=sent.replace(state=DeskState.RETURNED))),
        *(
            store.add(make_case(kind.name, desk=sent, decision=Decision(kind=kind, by="ada", at=START)))
            for kind in DecisionKind
        ),
    ]
    found = {state: {line.id for line in store.list(state=state)} for state in CASE_STATES}
    expected: dict[CaseState, set[str]] = {
        CaseStatus.NEW: {"new"},
        CaseStatus.AWAITING_INSPECTION: {"gathered"},
        CaseStatus.DRAFTING: set(),
        CaseStatus.AWAITING_DECISION: set(),
        DeskState.SUBMITTED: {"sent"},
        DeskState.IN_REVIEW: {"held"},
        DeskState.RETURNED: {"back"},
        CaseStatus.DECIDED: {kind.name for kind in DecisionKind},
        **{kind: {kind.name} for kind in DecisionKind},
    }
    assert found == expected
    assert all(store.count(state=state) == len(ids) for state, ids in found.items())
    lines = {line.id: line for line in store.list()}
    assert [lines[case.id].outcome for case in cases] == [case.outcome for case in cases]
    assert len({state.as_text for state in CASE_STATES}) == len(CASE_STATES), "the address names a state by its words"


FOUND_BY_SEARCH = {
    "ÄPFEL": ["post"],
    "äpfel kosten": ["post"],
    "mehr apfel": ["post"],
    '"mehr äpfel"': [],
    "“äpfel  kosten” mehr": ["post"],
    "äpfel mehr abc": [],
    "resume’s zoe": ["draft"],
    "  strasse ": ["draft"],
    "100%": ["post"],
    '"0% o"': [],
    "a_c": ["draft"],
    "a/": [],
    "\\": [],
    "'; DROP TABLE cases; --": [],
    "\x00": [],
    "x" * 100_000: [],
    "": ["draft", "post"],
}


def test_search_looks_for_all_words_in_any_order_in_posts_and_drafts(store: Store) -> None:
    store.add(make_case("post", "Äpfel kosten 100% mehr"))
    store.add(make_case("draft", "Zoë's résumé's abc", minutes=1, draft=draft("In der Straße: a_c")))
    assert {search: [line.id for line in store.list(search)] for search in FOUND_BY_SEARCH} == FOUND_BY_SEARCH
    counts = {search: len(found) for search, found in FOUND_BY_SEARCH.items()}
    assert {search: store.count(search) for search in FOUND_BY_SEARCH} == counts


def test_search_follows_the_newest_draft(store: Store) -> None:
    store.add(make_case(draft=draft("first words")))
    store.update("c1", lambda case: with_event(case, "edited", draft=draft("second words")))
    assert (store.count("first"), store.count("second")) == (0, 1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_any_text_in_a_case_comes_back_exactly(store: Store, text: str) -> None:
    case = make_case(text=text, events=(Event(at=START, by=text, kind="created", detail=text),))
    store.add(case)
    assert store.get("c1") == case
    store.list(search=text)
    store.delete("c1")


def test_a_lone_surrogate_in_a_case_reads_as_the_replacement_character(store: Store) -> None:
    kept = store.add(make_case(text="a\ud800b \x00 😀", tags=("\udfff",)))
    assert (kept.post.text, kept.tags) == ("a\ufffdb \x00 😀", ("\ufffd",))
    assert store.get("c1") == kept
    assert store.update("c1", lambda case: with_event(case, "\ud83d")) == store.get("c1")


def test_a_document_of_another_version_is_explained(store: Store, engine: Engine) -> None:
    store.add(make_case())
    with writing(engine) as connection:
        connection.execute(update(tables.cases).values(document='{"id": "c1", "hologram": true}'))
    with pytest.raises(StoreError, match="cannot read"):
        store.get("c1")


def test_deleting_a_case_deletes_its_jobs(store: Store, engine: Engine) -> None:
    store.add(make_case())
    job = {"id": "j1", "case_id": "c1", "started_at": START, "owner": "h:1:t", "heartbeat": time.time()}
    with writing(engine) as connection:
        connection.execute(insert(tables.jobs).values(**job, under_way=False, cancel_asked=False, document="{}"))
    store.delete("c1")
    with reading(engine) as connection:
        assert connection.execute(select(tables.jobs)).all() == []


def test_a_text_and_an_image_are_kept_exactly_and_once_and_go_with_their_case_alone(
    store: Store, engine: Engine
) -> None:
    text = "NUL \x00, a lone surrogate \ud800, 😀 and \u202eright to left\r\n" * 1_000
    picture, other = bytes(range(256)) * 100, b"another"
    shown = hashlib.sha256(picture).hexdigest()
    for case_id in ("c1", "c2"):
        store.add(make_case(case_id), [picture, other])
        assert [store.put_text(case_id, text) for _ in range(2)] == [text_sha256(text)] * 2
    with reading(engine) as connection:
        assert len(connection.execute(select(tables.contents)).all()) == 6
    store.delete("c1")
    assert (store.text(text_sha256(text)), store.image(shown)) == (text, picture)
    image = Image(sha256=hashlib.sha256(other).hexdigest(), name="a.png", media_type="image/png", width=1, height=1)
    bare = store.get("c2").post

    def shown_with(*images: Image) -> Callable[[Case], Case]:
        return lambda case: case.replace(post=bare.replace(images=images))

    store.update("c2", shown_with(image), [other])
    assert store.image(image.sha256) == other
    store.update("c2", shown_with())
    with pytest.raises(StoreError, match="no longer have this image"):
        store.image(hashlib.sha256(other).hexdigest())
    store.delete("c2")
    with pytest.raises(StoreError, match="no longer have the text"):
        store.text(text_sha256(text))
    with pytest.raises(StoreError, match="no longer have this image"):
        store.image(shown)


def test_nothing_is_kept_for_a_case_that_was_deleted_meanwhile(store: Store) -> None:
    with pytest.raises(CaseNotFoundError):
        store.put_text("c1", "read too late")


def test_eight_threads_lose_no_change_and_mix_nothing_up(store: Store) -> None:
    store.add(make_case("shared"))
    start = threading.Barrier(8)

    def session(number: int) -> None:
        mine = f"case {number}"
        start.wait()
        store.add(make_case(mine, text=mine))
        for turn in range(5):
            store.update("shared", lambda case: with_event(case, f"{number}/{turn}"))  # noqa: B023 - called at once
            store.update(mine, lambda case: with_event(case, f"{mine}/{turn}"))  # noqa: B023
            assert store.get(mine).post.text == mine

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(session, range(8)))
    shared = store.get("shared")
    assert shared.version == 40
    assert {event.kind for event in shared.events[1:]} == {f"{n}/{turn}" for n in range(8) for turn in range(5)}
    for number in range(8):
        kinds = [event.kind for event in store.get(f"case {number}").events[1:]]
        assert kinds == [f"case {number}/{turn}" for turn in range(5)]


def test_a_list_holds_what_its_reader_may_open_and_no_more(store: Store) -> None:
    owners = {"nobodys": None, "anns": actor("ann").person, "bobs": actor("bob").person}
    kept = [
        store.add(make_case(f"{name}-{shared}", owner=owner, shared=shared))
        for name, owner in owners.items()
        for shared in (True, False)
    ]
    readers = [actor("ann", role) for role in Role]
    for reader in readers:
        expected = {case.id for case in kept if may(reader, Act.READ, case)}
        assert {item.id for item in store.list(reader=reader)} == expected
        assert store.count(reader=reader) == store.count("vaccines", reader=reader) == len(expected)
        assert store.count("kettle", reader=reader) == 0
        assert len(store.list(limit=1, reader=reader)) == 1
        assert store.owners(reader) == {case.owner_key for case in kept if case.id in expected} - {None}
    assert {item.id for item in store.list(reader=readers[-1], whose=actor("bob").key)} == {"bobs-True", "bobs-False"}
    assert [item.id for item in store.list(reader=readers[0], whose=actor("bob").key)] == ["bobs-True"]
    opened = store.update("bobs-False", lambda case: case.replace(shared=True))
    for reader in readers:
        assert opened.id in {item.id for item in store.list(reader=reader)}
