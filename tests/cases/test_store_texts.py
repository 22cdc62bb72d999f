"""Texts and images that cases share: kept once, exactly, and as long as a case has them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, select, update

from crowdnotes.cases.store import SqlStore
from crowdnotes.domain import (
    Case,
    EvidenceSet,
    Image,
    Post,
    text_sha256,
)
from crowdnotes.errors import StoreError
from crowdnotes.storage import tables
from crowdnotes.storage.database import reading, writing
from tests.cases.made import evidence, make_case, source, trail, with_event


@pytest.fixture
def store(engine: Engine) -> SqlStore:
    return SqlStore(engine)


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
