"""The one entry to stored cases: as one person, for an act that they may do, on the newest version.

Pages, commands and stages reach the store only through this, and each call names an act, so that no permission is
forgotten. Changes are checked inside the step that stores them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from crowdnotes.cases.blinding import hide_other_reviews, record_sight
from crowdnotes.cases.permissions import Action, Clock, P, require, require_editable
from crowdnotes.cases.review_queue import Queue
from crowdnotes.cases.store import CaseOwnership, Store
from crowdnotes.domain import (
    Act,
    Actor,
    Case,
    CaseState,
    CaseSummary,
    CurrentUser,
    DeskState,
    Relationship,
    Tombstone,
    Usage,
    may,
)
from crowdnotes.errors import CaseNotFoundError, NewerCaseError, StoreError, WorkflowError
from crowdnotes.jobs import Fence
from crowdnotes.settings import Settings


class Cases:
    """Stored cases as one person may use them; their role is looked up at every act. Safe to share between threads.

    Every method raises NotAllowedError, and what `Store` raises.
    """

    def __init__(
        self, store: Store, current_user: CurrentUser, now: Callable[[], datetime], settings: Settings
    ) -> None:
        self._store = store
        self._current_user = current_user
        self._now = now
        self.settings = settings

    def with_fence(self, fence: Fence) -> Cases:
        """Return the cases for a job: what it changes is refused, by JobCancelled, once another worker took it over."""
        return Cases(self._store.with_fence(fence), self._current_user, self._now, self.settings)

    @property
    def job_id(self) -> str:
        """The job behind whose fence this is; "" where a person works."""
        return self._store.job_id

    @property
    def actor(self) -> Actor:
        """Who acts, with the role they have now."""
        return self._current_user()

    def now(self, clock: Clock = Clock.APP) -> datetime:
        """Return the time that everything on record goes by, or that claims go by (the database's)."""
        return self._now() if clock is Clock.APP else self._store.queue.now()

    def require(self, permission: Act, case_id: str | None = None) -> Actor:
        """Return the actor, who may do that to the case, or to what all share."""
        actor = self._current_user()
        require(
            actor,
            permission,
            None if case_id is None else self._store.get(case_id),
            four_eyes=self.settings.four_eyes,
        )
        return actor

    # --- one case ---

    def add(self, case: Case, images: Sequence[bytes] = ()) -> Case:
        """Keep a new case with the images of its post, and return it as kept."""
        self.require(Act.PRACTISE if case.recorded_answers else Act.BEGIN)
        return self._store.add(case, images)

    def get(self, case_id: str, permission: Act = Act.READ, *, only_counted: bool = False) -> Case:
        """Return the newest version; to be read it lacks what it hides from the actor (`hide_other_reviews`).

        A moderator who sees others' findings without a reading of their own goes on record (`record_sight`), unless the
        case is `only_counted`: nothing of it is shown but its post, how it ended, marks of its row, and figures.
        """
        case, actor = self._store.get(case_id), self._current_user()
        require(actor, permission, case, four_eyes=self.settings.four_eyes)
        if permission is not Act.READ:
            return case
        if not only_counted and record_sight(case, case.updated_at, actor) is not case:
            case = self._store.update(case_id, lambda newest: record_sight(newest, self._now(), actor))
        return hide_other_reviews(case, actor)

    def apply(self, case_id: str, action: Action[P], /, *args: P.args, **kwargs: P.kwargs) -> Case:
        """Apply an action to the newest version, and return the next one without what it hides from the actor."""
        # Read the time before the transaction begins.
        claimed_at = self.now(Clock.DATABASE) if action.clock is Clock.DATABASE else None

        def change(newest: Case, by: Actor) -> Case:
            return action.rule(newest, claimed_at or self._now(), by, *args, **kwargs)

        return self.update(action.permission, case_id, change, by_reviewers=action.by_reviewers)

    def update(
        self,
        permission: Act,
        case_id: str,
        change: Callable[[Case, Actor], Case],
        images: Sequence[bytes] = (),
        *,
        by_reviewers: bool = False,
    ) -> Case:
        """Apply a change that is no action: of a stage, with the bytes of `images`, or by the settings.

        Edits of a case that is with the moderators are refused, see `require_editable`.
        """
        actor = self._current_user()

        def checked(newest: Case) -> Case:
            require(actor, permission, newest, four_eyes=self.settings.four_eyes)
            if permission is Act.EDIT or by_reviewers:
                require_editable(newest, actor, by_reviewers=by_reviewers)
            changed = change(newest, actor)
            if permission is Act.JUDGE and changed.basis_sha256 != newest.basis_sha256:  # an edit of the note's basis
                require_editable(newest, actor)
            return changed

        return hide_other_reviews(self._store.update(case_id, checked, images), actor)

    def delete(self, case_id: str) -> None:
        """Remove a case for good, also one that cannot be read; nobody deletes one that a moderator has claimed."""
        actor = self._current_user()

        def check(kept: CaseOwnership) -> None:
            require(actor, Act.DELETE, kept)
            if kept.held_by:
                raise WorkflowError("claimed", f"{kept.held_by} is working on this case.", "Wait for them.")

        self._store.delete(case_id, check, by=actor)

    def put_text(self, permission: Act, case_id: str, text: str) -> str:
        """Keep a source's text for a case and return its sha256."""
        self.get(case_id, permission)
        return self._store.put_text(case_id, text)

    def texts(self, permission: Act, case_id: str, sha256s: Iterable[str]) -> dict[str, str]:
        """Return texts of a case's sources by their sha256. Raises StoreError when one is no longer kept."""
        self.get(case_id, permission)
        return {sha256: self._store.text(sha256) for sha256 in sha256s}

    def kept_texts(self, permission: Act, case_id: str, sha256s: Iterable[str]) -> frozenset[str]:
        """Return which of these texts of a case's sources are still kept, without reading them."""
        self.get(case_id, permission)
        return frozenset(sha256 for sha256 in sha256s if self._store.has_text(sha256))

    def image(self, case_id: str, sha256: str, permission: Act = Act.READ) -> bytes:
        """Return an image of the case's post. Raises StoreError when the post has it no longer."""
        if all(image.sha256 != sha256 for image in self.get(case_id, permission, only_counted=True).post.images):
            raise StoreError("We no longer have this image.", "Attach it again.")
        return self._store.image(sha256)

    def add_usage(self, case_id: str, by_step: Mapping[str, Usage], chain: int) -> None:
        """Add what a job asked of a model, and its longest `chain` of calls.

        No permission or fence is checked: usage counts even if the person may no longer work on the case.
        """

        def change(case: Case) -> Case:
            usage = dict(case.usage)
            for name, used in by_step.items():
                usage[name] = usage.get(name, Usage()) + used
            last = next(reversed(usage))
            usage[last] = usage[last] + Usage(chain=chain)  # of the work as a whole
            return case.replace(usage=usage)

        self._store.with_fence(None).update(case_id, change)

    def note_presence(self, case_id: str) -> Sequence[str]:
        """Note that the actor has a case open that they may read; return the names of others who have."""
        self.get(case_id)
        return self._store.queue.seen(case_id, self._current_user())

    def end_presence(self, case_id: str) -> None:
        """Note that the actor does not have a case open any more that they may read."""
        self.require(Act.READ, case_id)
        self._store.queue.left(case_id, self._current_user())

    # --- many cases ---

    def find(
        self,
        search: str = "",
        state: CaseState | None = None,
        *,
        whose: Relationship | str | None = None,
        limit: int | None = 200,
        offset: int = 0,
    ) -> list[CaseSummary]:
        """Return the cases that the actor may read, the newest change first; without a `limit` all.

        All words of `search` occur in the post or the note. `whose`: one's own, shared, or those of the person with
        that `Person.key`. Moderators do not get the comment with which another person's case was sent back.
        """
        actor = self._current_user()
        found = self._store.list(search, state, limit, offset, reader=actor, whose=whose)
        if not may(actor, Act.REVIEW):
            return found
        return [
            it.replace(outcome_line="") if it.desk is DeskState.RETURNED and it.owner != actor.key else it
            for it in found
        ]

    def count(
        self, search: str = "", state: CaseState | None = None, *, whose: Relationship | str | None = None
    ) -> int:
        """Return how many cases `find` gives without a limit."""
        return self._store.count(search, state, reader=self._current_user(), whose=whose)

    def owners(self) -> frozenset[str]:
        """Return the `Person.key` of everybody who began a case that the actor may read."""
        return self._store.owners(self._current_user())

    def read_all(
        self, search: str = "", state: CaseState | None = None, *, whose: Relationship | str | None = None
    ) -> tuple[Sequence[Case], Mapping[str, str]]:
        """Return all cases that `find` gives, and by id why others cannot be read; none that was deleted meanwhile."""
        cases: dict[str, Case] = {}
        left_out: dict[str, str] = {}
        for summary in self.find(search, state, whose=whose, limit=None):
            with suppress(CaseNotFoundError):
                try:
                    cases[summary.id] = self.get(summary.id)
                except NewerCaseError as error:
                    left_out[summary.id] = error.message
        return tuple(cases.values()), left_out

    @property
    def queue(self) -> Queue:
        """The moderators' queue, for who may review."""
        self.require(Act.REVIEW)
        return self._store.queue

    def tombstones(self) -> Sequence[Tombstone]:
        """Return which cases were deleted, when and by whom, and nothing of what they held."""
        self.require(Act.SET_UP)
        return self._store.tombstones()

    def delete_decided_before(self, before: datetime) -> int:
        """Remove what was decided before then, and return how many cases. Their ids and the time stay on record."""
        self.require(Act.SET_UP)
        return self._store.delete_decided_before(before)
