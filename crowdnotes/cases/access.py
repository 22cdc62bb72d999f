"""The one way to stored cases: as somebody, and for an act that they may do.

Whatever works with cases (`service`, `stages`) has no other store than this, and each call of it names an act: none can
be forgotten. Changes are checked on the newest version, inside the step that keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from crowdnotes.cases.moderation import hide_other_reviews, require_editable
from crowdnotes.cases.permissions import require
from crowdnotes.cases.review_queue import Queue
from crowdnotes.cases.store import CaseOwnership, Store
from crowdnotes.domain import (
    Act,
    Actor,
    Case,
    CaseStatus,
    CaseSummary,
    CurrentUser,
    Owned,
    Relationship,
    Tombstone,
)
from crowdnotes.errors import StoreError, WorkflowError


class Access:
    """The store as one person may use it. Raises NotAllowedError, and what `Store` raises."""

    def __init__(self, store: Store, who: CurrentUser, *, four_eyes: bool) -> None:
        self._store = store
        self._who = who
        self._four_eyes = four_eyes

    @property
    def actor(self) -> Actor:
        """Who acts, with the role they have now."""
        return self._who()

    def require(self, act: Act, case: Owned | None = None) -> Actor:
        """The actor, who may do that to the case, or as for beginning one to none; else NotAllowedError."""
        actor = self._who()
        require(actor, act, case, four_eyes=self._four_eyes)
        return actor

    def add(self, case: Case, images: Sequence[bytes] = ()) -> Case:
        """See `Store.add`."""
        self.require(Act.PRACTISE if case.recorded_answers else Act.BEGIN)
        return self._store.add(case, images)

    def get(self, case_id: str, act: Act = Act.READ) -> Case:
        """The newest version, for what is to be done; without what it hides from the actor (`hide_other_reviews`)."""
        case = self._store.get(case_id)
        actor = self.require(act, case)
        return hide_other_reviews(case, actor) if act is Act.READ else case

    def update(
        self,
        act: Act,
        case_id: str,
        change: Callable[[Case, Actor], Case],
        images: Sequence[bytes] = (),
        *,
        by_reviewers: bool = False,
    ) -> Case:
        """See `Store.update`; `change` is told who acts. What edits the case is refused as `require_editable` says."""
        actor = self._who()

        def checked(newest: Case) -> Case:
            require(actor, act, newest, four_eyes=self._four_eyes)
            if act is Act.EDIT:
                require_editable(newest, actor, by_reviewers=by_reviewers)
            changed = change(newest, actor)
            if act is Act.JUDGE and changed.basis_sha256 != newest.basis_sha256:  # it edits what the note rests on
                require_editable(newest, actor)
            return changed

        return hide_other_reviews(self._store.update(case_id, checked, images), actor)

    def delete(self, case_id: str) -> None:
        """See `Store.delete`; also of a case that cannot be read. Nobody deletes one that a moderator has claimed."""
        actor = self._who()

        def check(kept: CaseOwnership) -> None:
            require(actor, Act.DELETE, kept)
            if kept.held_by:
                raise WorkflowError("claimed", f"{kept.held_by} is working on this case.", "Wait until they are done.")

        self._store.delete(case_id, check, by=actor)

    def list(
        self,
        search: str = "",
        status: CaseStatus | None = None,
        limit: int = 200,
        offset: int = 0,
        *,
        whose: Relationship | None = None,
    ) -> list[CaseSummary]:
        """See `Store.list`; the cases that the actor may read."""
        return self._store.list(search, status, limit, offset, reader=self._who(), whose=whose)

    def count(self, search: str = "", status: CaseStatus | None = None, *, whose: Relationship | None = None) -> int:
        """How many `list` would give without a limit."""
        return self._store.count(search, status, reader=self._who(), whose=whose)

    @property
    def queue(self) -> Queue:
        """For who may review. Raises NotAllowedError."""
        self.require(Act.REVIEW)
        return self._store.queue

    def now(self) -> datetime:
        """By the database's clock."""
        return self._store.queue.now()

    def seen(self, case_id: str) -> Sequence[str]:
        """Note that the actor has a case open that they may read; gives who else has."""
        self.get(case_id)
        return self._store.queue.seen(case_id, self._who())

    @property
    def without_own(self) -> bool:
        """Whether nobody reviews what they began."""
        return self._four_eyes

    def tombstones(self) -> Sequence[Tombstone]:
        """See `Store.tombstones`; for who may delete any case."""
        self.require(Act.SET_UP)
        return self._store.tombstones()

    def expire(self, before: datetime) -> int:
        """See `Store.expire`; for who may delete any case."""
        self.require(Act.SET_UP)
        return self._store.expire(before)

    def put_text(self, act: Act, case_id: str, text: str) -> str:
        """See `Store.put_text`."""
        self.get(case_id, act)
        return self._store.put_text(case_id, text)

    def image(self, case_id: str, sha256: str, act: Act = Act.READ) -> bytes:
        """An image of the case's post. Raises StoreError when the post has it no longer."""
        if all(image.sha256 != sha256 for image in self.get(case_id, act).post.images):
            raise StoreError("This image is no longer kept.", "Attach it again.")
        return self._store.image(sha256)
