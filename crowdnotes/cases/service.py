"""Everything that a page or a command may do with a case, each an atomic step on its newest version."""

from __future__ import annotations

import builtins
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime

from crowdnotes.cases import follow_up, intake, links, obstacles, workflow
from crowdnotes.cases.gathering import Tools
from crowdnotes.cases.intake import Attachment, checked_urls
from crowdnotes.cases.stages import StageRunner
from crowdnotes.cases.tag_suggestions import TagSuggestion, suggest_tags
from crowdnotes.domain import (
    Aim,
    Case,
    CaseStatus,
    CaseSummary,
    Classification,
    DecisionKind,
    Event,
    Evidence,
    FollowUpKind,
    FollowUpSearch,
    GateName,
    Hit,
    LinkCheck,
    LintWarning,
    Mode,
    Obstacle,
    ObstacleId,
    Quotation,
    SourceCategory,
    Support,
    Verdict,
)
from crowdnotes.engines.prompt_injection import holds_injection
from crowdnotes.errors import CaseNotFoundError, NewerCaseError
from crowdnotes.evidence.pictures import clean_picture, preview
from crowdnotes.evidence.provenance import categorise, fact_checker, fact_checks, hits_of, publisher_of
from crowdnotes.gates import GATES
from crowdnotes.gates.form import form_warnings
from crowdnotes.jobs import Step
from crowdnotes.jury.verdict import changes_by_edit


class CaseService:
    """Safe to share between threads. Every method raises WorkflowError, InputError or StoreError as named there."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._store = tools.store
        self._clock = tools.clock
        self._stages = StageRunner(tools)

    def _change(self, case_id: str, change: Callable[[Case, datetime], Case]) -> Case:
        return self._store.update(case_id, lambda case: change(case, self._clock()))

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
        post = intake.checked_post(text, url, author, self._tools.settings.max_post_characters)
        pictures = [intake.checked_image(item) for item in attached]
        case = Case(
            id=uuid.uuid4().hex[:12],
            created_at=at,
            updated_at=at,
            mode=mode,
            post=intake.with_images(post, tuple(image for image, _ in pictures)),
            urls=checked_urls(urls),
            libraries=tuple(dict.fromkeys(libraries)),
            services=tuple(dict.fromkeys(services)),
            until=until,
            events=(Event(at=at, by=by, kind="created", detail=mode.value),),
        )
        nowhere = intake.nowhere_to_look(intake.places_of(case)) if to_gather else None
        if nowhere is not None:
            raise nowhere
        return self._store.add(case, [content for _, content in pictures])

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
        post = intake.checked_post(text, url, None, self._tools.settings.max_post_characters, known)
        return self._change(case_id, lambda case, at: intake.change_post(case, post, by, at))

    # --- images, sources and passages ---

    def attach_image(self, case_id: str, content: bytes, name: str, by: str) -> Case:
        """Add an image to the post, cleaned (see `evidence.pictures`). Raises InputError for what is none."""
        image, clean = intake.checked_image(Attachment(content, name))
        self._store.put_image(case_id, clean)
        return self._change(case_id, lambda case, at: intake.attach_image(case, image, by, at))

    def remove_image(self, case_id: str, sha256: str, by: str) -> Case:
        """See `intake.remove_image`."""
        case = self._change(case_id, lambda case, at: intake.remove_image(case, sha256, by, at))
        self._store.remove_image(case_id, sha256)
        return case

    def describe_image(self, case_id: str, sha256: str, text: str, shows: str, by: str) -> Case:
        """See `intake.describe_image`."""
        return self._change(case_id, lambda case, at: intake.describe_image(case, sha256, text, shows, by, at))

    def image(self, sha256: str) -> bytes:
        """The bytes of an attached image. Raises StoreError when they are gone."""
        return self._store.image(sha256)

    def set_sources(
        self,
        case_id: str,
        *,
        mode: Mode,
        urls: Sequence[str],
        libraries: Sequence[str],
        services: Sequence[str],
        until: date | None,
        by: str,
    ) -> Case:
        """Say where the next gathering looks, and until which day. Passages that a person opened stay."""
        places = intake.Places(mode, checked_urls(urls), tuple(libraries), tuple(services), until)
        return self._change(case_id, lambda case, at: intake.change_sources(case, places, by, at))

    def add_passage_by_hand(self, case_id: str, *, url: str | None, title: str, text: str, by: str) -> Case:
        """A passage that the person copied from a page which the program could not read."""
        item = intake.passage_by_hand(url, title, text, self._tools.settings.evidence.categories)
        self._store.put_text(case_id, item.passage.text)
        return self._change(case_id, lambda case, at: intake.add_evidence(case, item, by, at))

    def follow_up(
        self,
        case_id: str,
        kind: FollowUpKind,
        by: str,
        *,
        about: str = "",
        libraries: Sequence[str] = (),
        services: Sequence[str] = (),
    ) -> Case:
        """See `follow_up.ask`: `follow_up_steps` then do it."""
        places = {"libraries": tuple(dict.fromkeys(libraries)), "services": tuple(dict.fromkeys(services))}

        def ask(case: Case, at: datetime) -> Case:
            asked = FollowUpSearch(id=uuid.uuid4().hex[:12], kind=kind, asked_at=at, by=by, about=about, **places)
            return follow_up.ask(case, asked)

        return self._change(case_id, ask)

    def bring_back(self, case_id: str, evidence_id: str, by: str) -> Case:
        """See `workflow.bring_back`."""
        return self._change(case_id, lambda case, at: workflow.bring_back(case, evidence_id, by, at))

    def bring_back_set(self, case_id: str, number: int, by: str) -> Case:
        """See `workflow.bring_back_set`."""
        return self._change(case_id, lambda case, at: workflow.bring_back_set(case, number, by, at))

    def open_passage(self, case_id: str, evidence_id: str, by: str) -> Case:
        """See `workflow.open_passage`."""
        return self._change(case_id, lambda case, at: workflow.open_passage(case, evidence_id, by, at))

    def judge(self, case_id: str, evidence_id: str, verdict: Verdict | None, reason: str, by: str) -> Case:
        """See `workflow.judge`."""
        return self._change(case_id, lambda case, at: workflow.judge(case, evidence_id, verdict, reason, by, at))

    # --- words ---

    def choose_candidate(self, case_id: str, sha256: str, by: str) -> Case:
        """See `workflow.choose_candidate`."""
        return self._change(case_id, lambda case, at: workflow.choose_candidate(case, sha256, by, at))

    def quote(self, case_id: str, quotation: Quotation, by: str) -> Case:
        """See `workflow.quote`."""
        return self._change(case_id, lambda case, at: workflow.quote(case, quotation, by, at))

    def compare_sentence(
        self, case_id: str, words: str, evidence_id: str, support: Support, by: str, *, doubts_settled: bool = False
    ) -> Case:
        """See `workflow.compare_sentence`."""

        def compare(case: Case, at: datetime) -> Case:
            return workflow.compare_sentence(case, words, evidence_id, support, by, at, doubts_settled=doubts_settled)

        return self._change(case_id, compare)

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
        overrides: Mapping[ObstacleId, str] | None = None,
        seen: str | None = None,
    ) -> Case:
        """See `obstacles.decide`."""
        return self._change(
            case_id,
            lambda case, at: obstacles.decide(case, kind, by, at, reason=reason, overrides=overrides, seen=seen),
        )

    def reopen(self, case_id: str, by: str) -> Case:
        """See `workflow.reopen`."""
        return self._change(case_id, lambda case, at: workflow.reopen(case, by, at))

    def obstacles(self, case: Case) -> tuple[Obstacle, ...]:
        """See `obstacles.obstacles`."""
        return obstacles.obstacles(case, self._clock())

    def form_warnings(self, case: Case) -> tuple[LintWarning, ...]:
        """See `quotes.form_warnings`; empty without a note."""
        return form_warnings(case.draft.text, case.post.as_read, case.used_evidence) if case.draft else ()

    def suggested_tags(self, case: Case) -> tuple[TagSuggestion, ...]:
        """See `tag_suggestions.suggest_tags`."""
        return suggest_tags(case)

    def jury_changes(self, case: Case) -> tuple[str, ...]:
        """See `verdict.changes_by_edit`."""
        return changes_by_edit(case)

    @property
    def gate_questions(self) -> dict[GateName, str]:
        """What each gate asks, as a person reads it."""
        return {name: gate.question for name, gate in GATES.items()}

    # --- what was found ---

    def can_gather(self, case: Case) -> bool:
        """Whether there is anywhere to look for evidence."""
        return intake.nowhere_to_look(intake.places_of(case)) is None

    def swappable(self, case: Case) -> frozenset[Aim]:
        """For which aims something was found that nobody has read yet."""
        return frozenset(aim for aim in Aim if follow_up.pool(case, aim))

    def hits(self, case: Case) -> builtins.list[Hit]:
        """See `provenance.hits_of`."""
        return hits_of(case)

    def fact_checks(self, case: Case) -> builtins.list[tuple[Hit, str | None]]:
        """Checks of the claim that any search found, each with who published it."""
        checks = fact_checks(hits_of(case))
        return [(hit, fact_checker(hit.url) or publisher_of(hit.url or "")) for hit in checks]

    def categories_found(self, case: Case) -> builtins.list[SourceCategory]:
        """The kind of each page that was found or brought; empty when nothing was searched."""
        hits, own = hits_of(case), self._tools.settings.evidence.categories
        return [*(hit.category for hit in hits), *(categorise(url, own) for url in case.urls)] if hits else []

    def holds_injection(self, item: Evidence) -> bool:
        """Whether words of a passage speak to programs; see `prompt_injection`."""
        return holds_injection(item.passage.text)

    def preview(self, content: bytes, name: str = "image") -> bytes:
        """A picture small enough for a page, cleaned first. Raises InputError for what is none."""
        return preview(clean_picture(content, name).content)

    def link_checks(self, case: Case) -> tuple[tuple[str, LinkCheck | None], ...]:
        """The links that the note cites, each with how it answered within the last day, if it was asked."""
        cited = links.cited_links(case.draft) if case.draft else ()
        return tuple((url, links.newest_check(case, url, self._clock())) for url in cited)

    # --- long work, as steps for a job runner ---

    def gather_steps(self, case_id: str) -> list[Step]:
        """From post to evidence; finished stages are kept."""
        return self._stages.gather(case_id)

    def follow_up_steps(self, case_id: str) -> list[Step]:
        """The follow-up search that was asked for, from where it stopped. Raises WorkflowError when none was."""
        return self._stages.follow_up(case_id)

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

    def every(self, search: str = "", status: CaseStatus | None = None) -> tuple[Sequence[Case], Mapping[str, str]]:
        """All cases that `list` gives, and by id why others cannot be read; none that was deleted meanwhile."""
        cases: dict[str, Case] = {}
        left_out: dict[str, str] = {}
        for summary in self.list(search, status, limit=self.count(search, status)):
            with suppress(CaseNotFoundError):
                try:
                    cases[summary.id] = self.get(summary.id)
                except NewerCaseError as error:
                    left_out[summary.id] = error.message
        return tuple(cases.values()), left_out

    def count(self, search: str = "", status: CaseStatus | None = None) -> int:
        """How many `list` would give without a limit."""
        return self._store.count(search=search, status=status)
