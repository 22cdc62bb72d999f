"""Everything that a page or a command may do with a case, each an atomic step on its newest version."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Concatenate

from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.cases import (
    actions,
    approval,
    blinding,
    follow_up_stages,
    intake,
    moderation,
    suggestions,
    supernote_actions,
    supernote_stages,
)
from crowdnotes.cases.agreement import agreement, read_pairs
from crowdnotes.cases.case_findings import CaseFindings
from crowdnotes.cases.intake import Attachment
from crowdnotes.cases.permissions import Action, Clock, P
from crowdnotes.cases.tag_suggestions import TagSuggestion, suggest_tags
from crowdnotes.domain import (
    FINDINGS,
    Act,
    Candidate,
    Case,
    CaseStatus,
    CaseSummary,
    DecisionKind,
    ExistingNote,
    Figure,
    GateName,
    LintWarning,
    Mode,
    Obstacle,
    ObstacleId,
    Pair,
    QueueItem,
    QueueQuery,
    Reading,
    ReadPair,
    Relationship,
    Support,
    Tombstone,
    effect_of_edit,
)
from crowdnotes.errors import CaseNotFoundError, NewerCaseError
from crowdnotes.notes import existing_notes, note_files
from crowdnotes.notes.gates import GATES, form_warnings
from crowdnotes.notes.ranking import random_candidate
from crowdnotes.text.table_files import decode_table


def _alias(action: Action[P]) -> Callable[Concatenate[CaseService, str, P], Case]:
    def method(service: CaseService, case_id: str, /, *args: P.args, **kwargs: P.kwargs) -> Case:
        return service._cases.apply(case_id, action, *args, **kwargs)

    method.__doc__ = action.rule.__doc__
    return method


class CaseService(CaseFindings):
    """What one person may do with cases. Safe to share between threads.

    Every method raises NotAllowedError, WorkflowError, InputError or StoreError as named there. A method that takes a
    case's id asks whether the person may; one that takes a case was given what another method let them read.
    """

    def require(self, act: Act, case_id: str | None = None) -> None:
        """Raise NotAllowedError where the person may not do that, to a case or to what all share."""
        self._cases.require(act, case_id)

    # --- cases ---

    def create(
        self,
        text: str,
        *,
        mode: Mode,
        url: str | None = None,
        urls: Sequence[str] = (),
        libraries: Sequence[str] = (),
        services: Sequence[str] = (),
        read_through: Sequence[str] | None = None,
        until: date | None = None,
        attached: Sequence[Attachment] = (),
        to_gather: bool = False,
        recorded_answers: bool = False,
        context: str = "",
        known_as: str | None = None,
    ) -> Case:
        """A new case on disk, with an id of its own or the one by which it is `known_as` before it is made.

        Raises InputError for an empty or over-long post, unusable sources or images.

        And, of a case `to_gather` for at once, when there is nowhere to look; nothing is written then. Without
        `read_through` the reading services are those that the setting names.
        """
        return intake.create_case(
            self._cases,
            text,
            mode=mode,
            url=url,
            urls=urls,
            libraries=libraries,
            services=services,
            read_through=read_through,
            until=until,
            attached=attached,
            to_gather=to_gather,
            recorded_answers=recorded_answers,
            context=context,
            known_as=known_as,
        )

    def create_supernote(
        self,
        text: str,
        *,
        notes: Sequence[ExistingNote],
        url: str | None = None,
        wanted: int | None = None,
        until: date | None = None,
    ) -> Case:
        """A new case that makes one note from these; the job "supernote" does it.

        A post whose `url` is known may be without words. `wanted` candidates, or as many as is set. Raises InputError
        as `create` does, without a note, and for a number of candidates that is not possible.
        """
        return supernote_actions.create_supernote(self._cases, text, notes=notes, url=url, wanted=wanted, until=until)

    def get(self, case_id: str) -> Case:
        """The newest version. Raises CaseNotFoundError."""
        return self._cases.get(case_id)

    def delete(self, case_id: str) -> None:
        """Remove a case for good, with its texts and its audit trail."""
        self._cases.delete(case_id)

    set_shared = _alias(actions.set_shared)

    # --- post and sources ---

    def edit_post(self, case_id: str, text: str, *, url: str | None = None, context: str | None = None) -> Case:
        """Change the post. The evidence was for another text: it goes on record and the search starts anew.

        Without a `context` the one it has stays.
        """
        return intake.edit_post(self._cases, case_id, text, url=url, context=context)

    write_anyway = _alias(intake.write_anyway)

    def use_own_engine(self, case_id: str) -> Case:
        """Let a demonstration ask the engine in use, for whoever may begin cases that do."""
        return actions.use_own_engine(self._cases, case_id)

    # --- images, sources and passages ---

    def attach_image(self, case_id: str, content: bytes, name: str) -> Case:
        """Add an image to the post, cleaned (see `evidence.images`). Raises InputError for what is none."""
        return intake.attach_image(self._cases, case_id, content, name)

    describe_image = _alias(intake.describe_image)

    remove_image = _alias(intake.remove_image)

    def image(self, case_id: str, sha256: str) -> bytes:
        """The bytes of an image of its post. Raises StoreError when they are gone."""
        return self._cases.image(case_id, sha256)

    set_sources = _alias(intake.set_sources)

    def add_passage_by_hand(self, case_id: str, *, url: str | None, title: str, text: str) -> Case:
        """A passage that the person copied from a page which the program could not read."""
        return intake.add_passage_by_hand(self._cases, case_id, url=url, title=title, text=text)

    follow_up = _alias(follow_up_stages.follow_up)

    restore_passage = _alias(actions.restore_passage)
    restore_evidence_set = _alias(actions.restore_evidence_set)
    open_passage = _alias(actions.open_passage)
    judge = _alias(actions.judge)

    # --- words ---

    choose_candidate = _alias(actions.choose_candidate)
    quote = _alias(actions.quote)
    compare_sentence = _alias(actions.compare_sentence)
    edit_draft = _alias(actions.edit_draft)
    undo_edit = _alias(actions.undo_edit)

    # --- one note from many, and suggestions ---

    set_notes = _alias(supernote_actions.set_notes)
    choose_note = _alias(supernote_actions.choose_note)
    set_candidate_count = _alias(supernote_actions.set_candidate_count)
    set_posted = _alias(supernote_actions.set_posted)
    use_candidate = _alias(supernote_actions.use_candidate)
    suggest = _alias(suggestions.suggest)
    answer_suggestion = _alias(suggestions.answer_suggestion)

    def watch(self, case_id: str, notes: Sequence[ExistingNote]) -> Case:
        """See `supernote_actions.add_newer_notes`; a case that was decided is reopened by it, by whoever may."""
        return supernote_actions.update_notes(self._cases, case_id, notes)

    notes_in_file = staticmethod(note_files.read_notes)
    pasted_notes = staticmethod(note_files.pasted_notes)

    @staticmethod
    def notes_of_post(data: Path, post_id: str) -> note_files.ReadNotes:
        """See `note_files.notes_of_post`."""
        from crowdnotes.notes.note_files import notes_of_post

        return notes_of_post(data, post_id)

    def lines_in_file(self, content: bytes) -> builtins.list[str]:
        """The lines of a text file in any usual encoding, without the quotation marks of a table around them."""
        lines = (line.strip().removeprefix('"').removesuffix('"') for line in decode_table(content)[0].splitlines())
        return [line for line in lines if line]

    def no_note_needed(self, case: Case) -> str:
        """See `existing_notes.no_note_needed`; "" of a case without notes."""
        return existing_notes.no_note_needed(case.supernote.notes) if case.supernote else ""

    def remarks_on_notes(self, case: Case) -> tuple[str, ...]:
        """See `existing_notes.remarks`."""
        return existing_notes.remarks(case.supernote.notes) if case.supernote else ()

    @property
    def most_candidates(self) -> int:
        """That one round can make."""
        return supernote_actions.MAX_WANTED

    def supernote_cost(self, case: Case) -> str:
        """What the next round is expected to take of a model, in words."""
        return supernote_stages.expected_cost(case, self._tools).as_text()

    def watched(self, case: Case) -> supernote_actions.SupernoteUpdate:
        """See `supernote_actions.supernote_update`."""
        return supernote_actions.supernote_update(case, THRESHOLDS.helpful_intercept)

    def random_candidate(self, case: Case, seed: int = 0) -> Candidate | None:
        """For the ablation: any candidate of the newest round that passed the filters, but the winner."""
        newest = supernote_actions.require_work(case).newest
        return random_candidate(newest, seed) if newest else None

    def now(self) -> datetime:
        """By the clock that everything on record goes by."""
        return self._tools.clock()

    # --- the moderators' desk ---

    def submit(self, case_id: str, message: str = "", *, readers: int = 1) -> Case:
        """See `moderation.submit`; with the setting `two_readers` two moderators or more have to read it."""
        return moderation.submit_case(self._cases, case_id, message, readers=readers)

    withdraw = _alias(moderation.withdraw)
    claim = _alias(moderation.claim)
    take_over = _alias(moderation.take_over)
    renew = _alias(moderation.renew)
    release = _alias(moderation.release)
    judge_pair = _alias(moderation.judge_pair)
    finish_reading = _alias(moderation.finish_reading)
    send_back = _alias(moderation.send_back)
    resolve_comment = _alias(moderation.resolve_comment)
    assign = _alias(moderation.assign)
    prioritise = _alias(moderation.prioritise)

    def set_readers(self, case_id: str, readers: int) -> Case:
        """See `moderation.set_readers`. InputError for fewer than the setting `two_readers` asks for."""
        return moderation.set_case_readers(self._cases, case_id, readers)

    waits_for_readers = staticmethod(blinding.waits_for_readers)
    readers_disagree = staticmethod(blinding.readers_disagree)
    counted_readings = staticmethod(blinding.counted_readings)
    remarks = staticmethod(blinding.remarks)

    def own_reading(self, case: Case) -> Reading | None:
        """The person's finished reading of the note as it is."""
        return blinding.reading_by(case, self.actor.key)

    def queue(
        self, asked: QueueQuery, limit: int, offset: int = 0
    ) -> tuple[builtins.list[QueueItem], int, dict[str, builtins.list[str]]]:
        """A page of the queue, how many lines it has in all, and by case who else has it open."""
        return moderation.queue_page(self._cases, asked, limit, offset)

    def claim_next(self) -> Case | None:
        """Claim the case that is the person's turn: what is assigned to them first; None where nothing waits."""
        return moderation.claim_next(
            self._cases,
        )

    def text_read_before(self, case: Case) -> str | None:
        """See `moderation.text_read_before`."""
        return moderation.text_read_before(case, self.actor.key)

    def what_changed(self, case: Case) -> str:
        """See `moderation.what_changed`."""
        return moderation.what_changed(case, self.actor.key)

    pairs = staticmethod(blinding.pairs)
    open_comments = staticmethod(moderation.open_comments)
    versions = staticmethod(moderation.versions)

    def finding(self, case: Case, pair: Pair) -> Support | None:
        """What the person found of a pair, one of `FINDINGS`; None before."""
        check = actions.own_check(case, self.actor.key, pair.words, pair.evidence_id)
        return check.support if check is not None and check.support in FINDINGS else None

    def agreement(self) -> tuple[dict[str, Figure], builtins.list[ReadPair]]:
        """See `agreement.agreement`, of the 2,000 newest cases that several have read; and what they found."""
        found = read_pairs(self._cases)
        return agreement(found), found

    def seen(self, case_id: str) -> Sequence[str]:
        """Note that the person has a case open; gives the names of others who have it open too."""
        return self._cases.note_presence(case_id)

    def database_now(self) -> datetime:
        """The clock that claims go by."""
        return self._cases.now(Clock.DATABASE)

    def tombstones(self) -> Sequence[Tombstone]:
        """Which cases were deleted, when and by whom; nothing of what they held."""
        return self._cases.tombstones()

    def expire(self, before: datetime) -> int:
        """Remove what was decided before then; how many cases. Their ids and when that was stay."""
        return self._cases.expire(before)

    # --- decision ---

    set_classification = _alias(actions.set_classification)
    match_claim = _alias(actions.match_claim)
    set_tags = _alias(actions.set_tags)  # who approves may add one
    tick_tag = _alias(actions.tick_tag)
    save_decision_text = _alias(actions.save_decision_text)

    def decide(
        self,
        case_id: str,
        kind: DecisionKind,
        *,
        reason: str = "",
        overrides: Mapping[ObstacleId, str] | None = None,
        seen: str | None = None,
    ) -> Case:
        """See `approval.decide`."""
        return approval.decide_case(self._cases, case_id, kind, reason=reason, overrides=overrides, seen=seen)

    reopen = _alias(actions.reopen)

    def obstacles(self, case: Case) -> tuple[Obstacle, ...]:
        """See `approval.obstacles`; before them, that somebody else has to decide."""
        return approval.obstacles_for(self._cases, case)

    def form_warnings(self, case: Case) -> tuple[LintWarning, ...]:
        """See `gates.form_warnings`; empty without a note."""
        return form_warnings(case.draft.text, case.post.as_read, case.used_evidence) if case.draft else ()

    def suggested_tags(self, case: Case) -> tuple[TagSuggestion, ...]:
        """See `tag_suggestions.suggest_tags`."""
        return suggest_tags(case)

    def jury_changes(self, case: Case) -> tuple[str, ...]:
        """What the last edit changed for the jury, in sentences; none where it cannot be told."""
        from crowdnotes.jury.verdict import changes

        effect = effect_of_edit(case)
        return changes(*effect.verdicts) if effect is not None and effect.verdicts is not None else ()

    @property
    def gate_questions(self) -> dict[GateName, str]:
        """What each gate asks, as a person reads it."""
        return {name: gate.question for name, gate in GATES.items()}

    # --- many cases ---

    def list(
        self,
        search: str = "",
        status: CaseStatus | None = None,
        limit: int = 200,
        offset: int = 0,
        *,
        whose: Relationship | None = None,
    ) -> list[CaseSummary]:
        """Cases, the newest change first; `search` is looked for in posts and notes. `whose`: one's own, or shared."""
        return list(self._cases.find(search, status, whose=whose, limit=limit, offset=offset).items)

    def every(
        self, search: str = "", status: CaseStatus | None = None, *, whose: Relationship | None = None
    ) -> tuple[Sequence[Case], Mapping[str, str]]:
        """All cases that `list` gives, and by id why others cannot be read; none that was deleted meanwhile."""
        cases: dict[str, Case] = {}
        left_out: dict[str, str] = {}
        for summary in self.list(search, status, limit=self.count(search, status, whose=whose), whose=whose):
            with suppress(CaseNotFoundError):
                try:
                    cases[summary.id] = self.get(summary.id)
                except NewerCaseError as error:
                    left_out[summary.id] = error.message
        return tuple(cases.values()), left_out

    def count(self, search: str = "", status: CaseStatus | None = None, *, whose: Relationship | None = None) -> int:
        """How many `list` would give without a limit."""
        return self._cases.find(search, status, whose=whose, limit=0).total
