"""Everything that a page or a command may do with a case, each an atomic step on its newest version."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime

from crowdnotes.cases import approval, images, intake, links, workflow
from crowdnotes.cases.evidence_acts import EvidenceActs
from crowdnotes.cases.images import Attachment
from crowdnotes.cases.pasted_links import checked_urls
from crowdnotes.cases.stages import StageRunner
from crowdnotes.cases.store import CaseSummary, Store
from crowdnotes.domain import (
    Case,
    CaseStatus,
    Classification,
    DecisionKind,
    Event,
    LinkCheck,
    Mode,
    SourceCategory,
)
from crowdnotes.errors import WorkflowError
from crowdnotes.jobs import Step

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


class CaseService(EvidenceActs):
    """Safe to share between threads. Every method raises WorkflowError, InputError or StoreError as named there."""

    def __init__(
        self,
        store: Store,
        stages: StageRunner,
        *,
        max_post_characters: int,
        categories: Mapping[str, SourceCategory],
        clock: Clock = system_clock,
    ) -> None:
        super().__init__(store, clock, categories)
        self._stages = stages
        self._max_post_characters = max_post_characters

    # --- cases ---

    def create(
        self,
        text: str,
        *,
        mode: Mode,
        by: str,
        url: str | None = None,
        author: str | None = None,
        urls: Sequence[str] = (),
        libraries: Sequence[str] = (),
        services: Sequence[str] = (),
        until: date | None = None,
        attached: Sequence[Attachment] = (),
        to_gather: bool = False,
    ) -> Case:
        """A new case on disk. Raises InputError for an empty or over-long post, unusable sources or images.

        And, of a case `to_gather` for at once, when there is nowhere to look; nothing is written then.
        """
        at = self._clock()
        post = intake.checked_post(text, url, author, self._max_post_characters)
        pictures = [images.checked_image(item) for item in attached]
        case = Case(
            id=uuid.uuid4().hex[:12],
            created_at=at,
            updated_at=at,
            mode=mode,
            post=images.with_images(post, tuple(image for image, _ in pictures)),
            urls=checked_urls(urls),
            libraries=tuple(dict.fromkeys(libraries)),
            services=tuple(dict.fromkeys(services)),
            until=until,
            events=(Event(at=at, by=by, kind="created", detail=mode.value),),
        )
        nowhere = intake.nowhere_to_look(intake.places_of(case)) if to_gather else None
        if nowhere is not None:
            raise nowhere
        for _, content in pictures:
            self._store.put_image(content)
        self._store.add(case)
        return case

    def get(self, case_id: str) -> Case:
        """The newest version. Raises CaseNotFoundError."""
        return self._store.get(case_id)

    def delete(self, case_id: str) -> None:
        """Remove a case for good, with its texts and its audit trail."""
        self._store.delete(case_id)

    # --- post and sources ---

    def edit_post(self, case_id: str, text: str, by: str, *, url: str | None = None) -> Case:
        """Change the post. The evidence was for another text: it goes on record and the search starts anew."""
        known = self._store.get(case_id).post.url
        post = intake.checked_post(text, url, None, self._max_post_characters, known)
        return self._change(case_id, lambda case, at: intake.change_post(case, post, by, at))

    # --- words ---

    def choose_candidate(self, case_id: str, sha256: str, by: str) -> Case:
        """See `workflow.choose_candidate`."""
        return self._change(case_id, lambda case, at: workflow.choose_candidate(case, sha256, by, at))

    def edit_draft(self, case_id: str, text: str, by: str, *, based_on: str | None) -> Case:
        """See `workflow.edit_draft`."""
        return self._change(case_id, lambda case, at: workflow.edit_draft(case, text, by, at, based_on=based_on))

    def undo_edit(self, case_id: str, by: str) -> Case:
        """See `workflow.undo_edit`."""
        return self._change(case_id, lambda case, at: workflow.undo_edit(case, by, at))

    # --- decision ---

    def set_classification(self, case_id: str, classification: Classification, by: str) -> Case:
        """See `workflow.set_classification`."""
        return self._change(case_id, lambda case, at: workflow.set_classification(case, classification, by, at))

    def set_tags(self, case_id: str, tags: Sequence[str], by: str) -> Case:
        """See `workflow.set_tags`."""
        return self._change(case_id, lambda case, at: workflow.set_tags(case, tags, by, at))

    def tick_tag(self, case_id: str, tag: str, by: str, *, ticked: bool) -> Case:
        """Tick or untick one tag beside those of the newest version; see `workflow.set_tags`."""

        def change(case: Case, at: datetime) -> Case:
            others = tuple(other for other in case.tags if other != tag)
            return workflow.set_tags(case, (*others, tag) if ticked else others, by, at)

        return self._change(case_id, change)

    def keep_decision_words(self, case_id: str, field: str, text: str) -> Case:
        """See `workflow.keep_decision_words`."""
        return self._change(case_id, lambda case, at: workflow.keep_decision_words(case, field, text, at))

    def decide(
        self,
        case_id: str,
        kind: DecisionKind,
        by: str,
        *,
        reason: str = "",
        overrides: Mapping[str, str] | None = None,
        seen: str | None = None,
    ) -> Case:
        """See `approval.decide`."""
        return self._change(
            case_id,
            lambda case, at: approval.decide(case, kind, by, at, reason=reason, overrides=overrides, seen=seen),
        )

    def reopen(self, case_id: str, by: str) -> Case:
        """See `workflow.reopen`."""
        return self._change(case_id, lambda case, at: workflow.reopen(case, by, at))

    def obstacles(self, case: Case, overrides: Mapping[str, str] | None = None) -> list[WorkflowError]:
        """See `approval.obstacles`."""
        return approval.obstacles(case, self._clock(), overrides)

    def link_checks(self, case: Case) -> tuple[tuple[str, LinkCheck | None], ...]:
        """The links that the note cites, each with how it answered within the last day, if it was asked."""
        cited = links.cited_links(case.draft) if case.draft else ()
        return tuple((url, links.newest_check(case, url, self._clock())) for url in cited)

    # --- long work, as steps for a job runner ---

    def gather_steps(self, case_id: str) -> list[Step]:
        """From post to evidence; finished stages are kept."""
        return self._stages.gather(case_id)

    def second_look_steps(self, case_id: str) -> list[Step]:
        """The second look that was asked for, from where it stopped. Raises WorkflowError when none was."""
        return self._stages.look(case_id)

    def write_steps(self, case_id: str, *, before_inspection: bool = False) -> list[Step]:
        """Candidate notes from the passages in use; `before_inspection` proposes from all of them."""
        return self._stages.write(case_id, before_inspection=before_inspection)

    def assess_steps(self, case_id: str, *, before_inspection: bool = False, scores_only: bool = False) -> list[Step]:
        """Gates, principles and lint of the current text; the jury and its links, unless `scores_only`.

        `before_inspection` judges over the passages that the text cites.
        """
        return self._stages.assess(case_id, before_inspection=before_inspection, scores_only=scores_only)

    def check_link_steps(self, case_id: str) -> list[Step]:
        """Every link of the note asked again, also those that were asked just now."""
        return self._stages.check_links(case_id)

    def list(
        self, search: str = "", status: CaseStatus | None = None, limit: int = 200, offset: int = 0
    ) -> list[CaseSummary]:
        """Cases, the newest change first; `search` is looked for in posts and notes."""
        return self._store.list(search=search, status=status, limit=limit, offset=offset)

    def count(self, search: str = "", status: CaseStatus | None = None) -> int:
        """How many `list` would give without a limit."""
        return self._store.count(search=search, status=status)
