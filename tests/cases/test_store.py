"""None"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, insert, select, update

from crowdnotes.cases.store import SqlStore
from crowdnotes.domain import (
    Case,
    CaseStatus,
    Decision,
    DecisionKind,
    Draft,
    Event,
    EvidenceSet,
    Image,
    Mode,
    Post,
    text_sha256,
)
from crowdnotes.errors import CaseNotFoundError, StoreError, WorkflowError
from crowdnotes.storage import tables
from crowdnotes.storage.database import reading, writing
from tests.cases.made import START, evidence, make_case, source, trail, with_event


@pytest.fixture
def store(engine: Engine) -> SqlStore:
    return SqlStore(engine)


def draft(text: str) -> Draft:
    return Draft(text=text, engine="local", written_at=START)


def test_a_case_comes_back_as_it_was_kept(store: SqlStore) -> None:
    case = make_case(draft=draft("No. https://example.org"), evidence=(evidence(source(store, "words")),))
    assert store.add(case) == case
    assert store.get("c1") == case


def test_a_case_cannot_be_added_twice(store: SqlStore) -> None:
    store.add(make_case())
    with pytest.raises(StoreError, match="already"):
        store.add(make_case(text="Another post."))
    assert store.get("c1") == make_case()


def test_an_unknown_case_is_said_to_be_missing(store: SqlStore) -> None:
    for case_id in ("nope", "", "\x00", "\ud800", "x" * 1_000, "' OR 1=1 --"):
        with pytest.raises(CaseNotFoundError):
            store.get(case_id)
        with pytest.raises(CaseNotFoundError):
            store.update(case_id, lambda case: case)
        with pytest.raises(CaseNotFoundError):
            store.delete(case_id)


def test_a_change_makes_the_next_version_and_adds_to_the_trail(store: SqlStore, engine: Engine) -> None:
    store.add(make_case())
    changed = store.update("c1", lambda case: with_event(case, "edited", tags=("a",)))
    assert (changed.version, changed.tags) == (1, ("a",))
    assert store.get("c1") == changed
    assert trail(engine) == [(1, "created"), (2, "edited")]


def test_a_change_that_raises_leaves_everything_as_it_was(store: SqlStore, engine: Engine) -> None:
    store.add(make_case())

    def refuse(case: Case) -> Case:
        raise WorkflowError("unopened", "Not yet.")

    with pytest.raises(WorkflowError):
        store.update("c1", refuse)
    assert store.get("c1") == make_case()
    assert trail(engine) == [(1, "created")]


def test_a_change_that_changes_nothing_makes_no_version(store: SqlStore) -> None:
    store.add(make_case())
    assert store.update("c1", lambda case: case).version == 0
    assert store.get("c1").version == 0


@pytest.mark.parametrize("changes", [{"events": ()}, {"id": "c2"}])
def test_the_audit_trail_and_the_id_cannot_be_rewritten(store: SqlStore, changes: dict[str, object]) -> None:
    store.add(make_case())
    with pytest.raises(ValueError, match="audit trail"):
        store.update("c1", lambda case: case.model_copy(update=changes))
    assert store.get("c1") == make_case()


def test_cases_are_listed_newest_first_and_in_pages(store: SqlStore) -> None:
    for minute, case_id in enumerate(["old", "middle", "new"]):
        store.add(make_case(case_id, minutes=minute))
    assert [line.id for line in store.list()] == ["new", "middle", "old"]
    assert [line.id for line in store.list(limit=1, offset=1)] == ["middle"]
    assert store.count() == 3


def test_a_change_brings_a_case_to_the_top_of_the_list(store: SqlStore) -> None:
    for minute, case_id in enumerate(["old", "middle", "new"]):
        store.add(make_case(case_id, minutes=minute))
    store.update("old", lambda case: case.model_copy(update={"updated_at": START + timedelta(hours=1)}))
    assert [line.id for line in store.list()] == ["old", "new", "middle"]


def test_cases_changed_at_the_same_moment_keep_one_order(store: SqlStore) -> None:
    for case_id in ("b", "c", "a"):
        store.add(make_case(case_id))
    assert [line.id for line in store.list()] == ["c", "b", "a"]


def test_a_line_of_the_list_tells_what_the_case_is(store: SqlStore) -> None:
    decision = Decision(kind=DecisionKind.NOT_NEEDED, by="ada", at=START)
    store.add(make_case(text="Much\n\n  white \t space " + "x" * 400, decision=decision))
    (line,) = store.list()
    assert line.post_excerpt == "Much white space " + "x" * 142 + "…"
    assert (line.status, line.decision, line.mode) == (CaseStatus.DECIDED, DecisionKind.NOT_NEEDED, Mode.AUTOMATION)
    assert (line.created_at, line.updated_at) == (START, START)


def test_the_excerpt_of_a_long_post_ends_at_a_word(store: SqlStore) -> None:
    store.add(make_case(text="medicine " * 40))
    excerpt = store.list()[0].post_excerpt
    assert excerpt.endswith("medicine…")
    assert 150 <= len(excerpt) <= 160


def test_cases_are_found_by_status(store: SqlStore) -> None:
    store.add(make_case("new"))
    store.add(make_case("gathered", evidence=(evidence(source(store, "words")),)))
    assert [line.id for line in store.list(status=CaseStatus.AWAITING_INSPECTION)] == ["gathered"]
    assert store.count(status=CaseStatus.NEW) == 1


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("ÄPFEL", ["post"]),
        ("äpfel kosten", ["post"]),
        ("  strasse ", ["draft"]),
        ("100%", ["post"]),
        ("0% o", []),
        ("a_c", ["draft"]),
        ("a/", []),
        ("\\", []),
        ("'; DROP TABLE cases; --", []),
        ("\x00", []),
        ("x" * 100_000, []),
        ("", ["draft", "post"]),
    ],
)
def test_search_looks_for_the_very_words_in_posts_and_drafts(store: SqlStore, search: str, found: list[str]) -> None:
    store.add(make_case("post", "Äpfel kosten 100% mehr"))
    store.add(make_case("draft", "Something abc else", minutes=1, draft=draft("In der Straße: a_c")))
    assert [line.id for line in store.list(search)] == found
    assert store.count(search) == len(found)


def test_search_follows_the_newest_draft(store: SqlStore) -> None:
    store.add(make_case(draft=draft("first words")))
    store.update("c1", lambda case: with_event(case, "edited", draft=draft("second words")))
    assert (store.count("first"), store.count("second")) == (0, 1)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec="utf-8"), max_size=300))
def test_any_text_in_a_case_comes_back_exactly(store: SqlStore, text: str) -> None:
    case = make_case(text=text, events=(Event(at=START, by=text, kind="created", detail=text),))
    store.add(case)
    assert store.get("c1") == case
    store.list(search=text)
    store.delete("c1")


def test_a_lone_surrogate_in_a_case_reads_as_the_replacement_character(store: SqlStore) -> None:
    kept = store.add(make_case(text="a\ud800b \x00 😀", tags=("\udfff",)))
    assert (kept.post.text, kept.tags) == ("a\ufffdb \x00 😀", ("\ufffd",))
    assert store.get("c1") == kept
    assert store.update("c1", lambda case: with_event(case, "\ud83d")) == store.get("c1")


def test_html_and_a_hundred_thousand_characters_are_just_text(store: SqlStore) -> None:
    text = "<script>alert('x')</script>" + "\u0300z" * 50_000
    store.add(make_case(text=text))
    assert store.get("c1").post.text == text


def test_a_document_of_another_version_is_explained(store: SqlStore, engine: Engine) -> None:
    store.add(make_case())
    with writing(engine) as connection:
        connection.execute(update(tables.cases).values(document='{"id": "c1", "hologram": true}'))
    with pytest.raises(StoreError, match="cannot read"):
        store.get("c1")


def test_deleting_a_case_deletes_its_jobs(store: SqlStore, engine: Engine) -> None:
    store.add(make_case())
    job = {"id": "j1", "case_id": "c1", "started_at": START, "owner": "h:1:t", "heartbeat": time.time()}
    with writing(engine) as connection:
        connection.execute(insert(tables.jobs).values(**job, under_way=False, cancel_asked=False, document="{}"))
    store.delete("c1")
    with reading(engine) as connection:
        assert connection.execute(select(tables.jobs)).all() == []


def test_deleting_a_case_removes_all_that_was_kept_for_it_alone(store: SqlStore, engine: Engine) -> None:
    own, shared, replaced = (source(store, text) for text in ("own", "shared", "replaced"))
    store.add(make_case("c1", sources=(own, shared), earlier_evidence=(EvidenceSet(evidence=(evidence(replaced),)),)))
    store.add(make_case("c2", sources=(shared,)))
    store.delete("c1")
    assert store.text(shared.text_sha256 or "") == "shared"
    for gone in (own, replaced):
        with pytest.raises(StoreError, match="no longer kept"):
            store.text(gone.text_sha256 or "")
    assert trail(engine, "c1") == []
    assert [line.id for line in store.list()] == ["c2"]
    store.delete("c2")
    with pytest.raises(StoreError):
        store.text(shared.text_sha256 or "")


def test_a_text_that_a_run_has_put_but_not_yet_claimed_survives_a_deletion_for_a_day(
    store: SqlStore, engine: Engine
) -> None:
    fresh, left_over = store.put_text("fresh"), store.put_text("left over")
    with writing(engine) as connection:
        old = update(tables.source_texts).where(tables.source_texts.c.sha256 == left_over)
        connection.execute(old.values(stored_at=datetime.now(UTC) - timedelta(days=2)))
    store.add(make_case())
    store.delete("c1")
    assert store.text(fresh) == "fresh"
    with pytest.raises(StoreError):
        store.text(left_over)


def test_a_text_that_another_run_has_put_again_survives_the_case_that_had_it_first(store: SqlStore) -> None:
    store.add(make_case("c1", sources=(source(store, "shared"),)))
    reread = source(store, "shared")  # by the run of a case that has not claimed it yet
    store.delete("c1")
    store.add(make_case("c2", sources=(reread,)))
    assert store.text(reread.text_sha256 or "") == "shared"
    store.delete("c2")
    with pytest.raises(StoreError):
        store.text(reread.text_sha256 or "")


def with_image(store: SqlStore, content: bytes, case_id: str = "c1") -> Case:
    image = Image(sha256=store.put_image(content), media_type="image/png", name="a.png", width=1, height=1)
    return make_case(case_id).model_copy(update={"post": Post(text="See.", images=(image,))})


def test_an_image_is_kept_exactly_and_goes_with_the_last_case_that_has_it(store: SqlStore) -> None:
    content = bytes(range(256)) * 100
    sha256 = store.add(with_image(store, content, "c1")).post.images[0].sha256
    store.add(with_image(store, content, "c2"))
    store.update("c1", lambda case: with_event(case, "image removed", post=Post(text="See.")))
    assert store.image(sha256) == content
    store.delete("c1")
    assert store.image(sha256) == content
    store.delete("c2")
    with pytest.raises(StoreError, match="no longer kept"):
        store.image(sha256)


def test_an_image_that_is_taken_off_its_only_case_is_gone_at_once(store: SqlStore) -> None:
    sha256 = store.add(with_image(store, b"picture")).post.images[0].sha256
    store.update("c1", lambda case: with_event(case, "image removed", post=Post(text="See.")))
    with pytest.raises(StoreError, match="no longer kept"):
        store.image(sha256)


def test_a_text_follows_its_case_when_the_sources_change(store: SqlStore) -> None:
    first, second = source(store, "first"), source(store, "second")
    store.add(make_case(sources=(first,)))
    store.update("c1", lambda case: with_event(case, "gathered", sources=(first, second)))
    store.delete("c1")
    for gone in (first, second):
        with pytest.raises(StoreError):
            store.text(gone.text_sha256 or "")


def test_a_text_is_kept_once_and_exactly(store: SqlStore, engine: Engine) -> None:
    text = "NUL \x00, a lone surrogate \ud800, 😀 and \u202eright to left\r\n" * 1_000
    assert store.put_text(text) == store.put_text(text) == text_sha256(text)
    assert store.text(text_sha256(text)) == text
    with reading(engine) as connection:
        assert len(connection.execute(select(tables.source_texts.c.sha256)).all()) == 1
