"""Everything that a page or a command may do with a case, each an atomic step on its newest version."""

from __future__ import annotations

import builtins
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Concatenate, ParamSpec

from crowdnotes.cases import (
    actions,
    approval,
    follow_up_stages,
    intake,
    moderation,
    suggestions,
    supernote_actions,
    supernote_stages,
)
from crowdnotes.cases.agreement import agreement, units
from crowdnotes.cases.case_findings import CaseFindings
from crowdnotes.cases.intake import Attachment, checked_urls
from crowdnotes.cases.permissions import require
from crowdnotes.cases.tag_suggestions import TagSuggestion, suggest_tags
from crowdnotes.domain import (
    FINDINGS,
    Act,
    Actor,
    Candidate,
    Case,
    CaseStatus,
    CaseSummary,
    DecisionKind,
    Event,
    ExistingNote,
    Figure,
    FollowUpKind,
    FollowUpSearch,
    GateName,
    LintWarning,
    Mode,
    Obstacle,
    ObstacleId,
    ObstacleKind,
    Pair,
    Person,
    QueueItem,
    QueueQuery,
    Reading,
    ReadPair,
    Relationship,
    SupernoteWork,
    Support,
    Tombstone,
    effect_of_edit,
    may,
    refusal,
)
from crowdnotes.errors import CaseNotFoundError, InputError, NewerCaseError, WorkflowError
from crowdnotes.notes import existing_notes, note_files
from crowdnotes.notes.gates import GATES, form_warnings
from crowdnotes.notes.ranking import random_candidate
from crowdnotes.text.table_files import decode_table

P = ParamSpec("P")


def _build_case_method(
    act: Act, rule: Callable[Concatenate[Case, datetime, Person, P], Case], by_reviewers: bool = False
) -> Callable[Concatenate[CaseService, str, P], Case]:
    """A method that does to the newest version of a case, by its id, what the rule says; for whoever may.

    `by_reviewers`: moderators too while they have the case, see `moderation.require_editable`.
    """

    def method(service: CaseService, case_id: str, /, *args: P.args, **kwargs: P.kwargs) -> Case:
        at = service._tools.clock
        return service._cases.update(
            act, case_id, lambda case, by: rule(case, at(), by, *args, **kwargs), by_reviewers=by_reviewers
        )

    method.__doc__ = rule.__doc__
    return method


def _build_desk_method(
    act: Act, rule: Callable[Concatenate[Case, datetime, Person, P], Case]
) -> Callable[Concatenate[CaseService, str, P], Case]:
    """The same by the database's clock: machines whose clocks differ agree on how long a claim lasts."""

    def method(service: CaseService, case_id: str, /, *args: P.args, **kwargs: P.kwargs) -> Case:
        return service._act_at_desk(act, rule, case_id, *args, **kwargs)

    method.__doc__ = rule.__doc__
    return method


def new_case_id() -> str:
    """One that no case has."""
    return uuid.uuid4().hex[:12]


class CaseService(CaseFindings):
    """What one person may do with cases. Safe to share between threads.

    Every method raises NotAllowedError, WorkflowError, InputError or StoreError as named there. A method that takes a
    case's id asks whether the person may; one that takes a case was given what another method let them read.
    """

    def _act(
        self,
        act: Act,
        rule: Callable[Concatenate[Case, datetime, Person, P], Case],
        case_id: str,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Case:
        at = self._tools.clock
        return self._cases.update(act, case_id, lambda case, by: rule(case, at(), by, *args, **kwargs))

    def _act_at_desk(
        self,
        act: Act,
        rule: Callable[Concatenate[Case, datetime, Person, P], Case],
        case_id: str,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Case:
        at = self._cases.now()
        return self._cases.update(act, case_id, lambda case, by: rule(case, at, by, *args, **kwargs))

    def require(self, act: Act, case_id: str | None = None) -> None:
        """Raise NotAllowedError where the person may not do that, to a case or to what all share."""
        if case_id is None:
            self._cases.require(act)
        else:
            self._cases.get(case_id, act)

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
        at, by = self._tools.clock(), self._cases.require(Act.PRACTISE if recorded_answers else Act.BEGIN)
        post = intake.checked_post(text, url, self._tools.settings.max_post_characters, context=context)
        pictures = [intake.checked_image(item) for item in attached]
        how = mode.as_text + ("; a demonstration with recorded answers of a language model" if recorded_answers else "")
        case = Case(
            id=known_as or new_case_id(),
            created_at=at,
            updated_at=at,
            owner=by.person,
            mode=mode,
            post=intake.with_images(post, tuple(image for image, _ in pictures)),
            urls=checked_urls(urls),
            libraries=tuple(dict.fromkeys(libraries)),
            services=tuple(dict.fromkeys(services)),
            read_through=tuple(self._tools.settings.search.reading_services if read_through is None else read_through),
            until=until,
            recorded_answers=recorded_answers,
            events=(Event(at=at, by=by.name, by_key=by.key, kind="created", detail=how),),
        )
        nowhere = intake.missing_scope_error(intake.search_scope_of(case)) if to_gather else None
        if nowhere is not None:
            raise nowhere
        return self._cases.add(case, [content for _, content in pictures])

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
        at, settings, by = self._tools.clock(), self._tools.settings, self._cases.require(Act.BEGIN)
        case = Case(
            id=new_case_id(),
            created_at=at,
            updated_at=at,
            owner=by.person,
            mode=Mode.AUGMENTATION,
            post=intake.checked_post(text, url, settings.max_post_characters, has_notes=True),
            until=until,
            supernote=SupernoteWork(),
            events=(Event(at=at, by=by.name, by_key=by.key, kind="created", detail="from notes"),),
        )
        case = supernote_actions.set_notes(case, at, by, notes)
        return self._cases.add(
            supernote_actions.set_candidate_count(
                case, at, by, settings.supernote.candidates if wanted is None else wanted
            )
        )

    def get(self, case_id: str) -> Case:
        """The newest version. Raises CaseNotFoundError."""
        return self._cases.get(case_id)

    def delete(self, case_id: str) -> None:
        """Remove a case for good, with its texts and its audit trail."""
        self._cases.delete(case_id)

    set_shared = _build_case_method(Act.SHARE, actions.set_shared)

    # --- post and sources ---

    def edit_post(self, case_id: str, text: str, *, url: str | None = None, context: str | None = None) -> Case:
        """Change the post. The evidence was for another text: it goes on record and the search starts anew.

        Without a `context` the one it has stays.
        """
        case, limit = self._cases.get(case_id, Act.EDIT), self._tools.settings.max_post_characters
        context = case.post.context if context is None else context
        has_notes = case.supernote is not None
        post = intake.checked_post(text, url, limit, case.post.url, has_notes=has_notes, context=context)
        return self._act(Act.EDIT, intake.change_post, case_id, post)

    write_anyway = _build_case_method(Act.EDIT, intake.write_anyway)

    def use_own_engine(self, case_id: str) -> Case:
        """Let a demonstration ask the engine in use, for whoever may begin cases that do."""
        self._cases.require(Act.BEGIN)
        return self._act(Act.EDIT, actions.use_own_engine, case_id)

    # --- images, sources and passages ---

    def attach_image(self, case_id: str, content: bytes, name: str) -> Case:
        """Add an image to the post, cleaned (see `evidence.images`). Raises InputError for what is none."""
        self.require(Act.EDIT, case_id)  # before the file is read
        image, clean = intake.checked_image(Attachment(content, name))
        at = self._tools.clock()
        return self._cases.update(Act.EDIT, case_id, lambda case, by: intake.attach_image(case, at, by, image), [clean])

    describe_image = _build_case_method(Act.EDIT, intake.describe_image)

    remove_image = _build_case_method(Act.EDIT, intake.remove_image)

    def image(self, case_id: str, sha256: str) -> bytes:
        """The bytes of an image of its post. Raises StoreError when they are gone."""
        return self._cases.image(case_id, sha256)

    def set_sources(
        self,
        case_id: str,
        *,
        mode: Mode,
        urls: Sequence[str],
        libraries: Sequence[str],
        services: Sequence[str],
        until: date | None,
        own_words: str = "",
        read_through: Sequence[str] = (),
    ) -> Case:
        """Say where the next gathering looks, for what and until which day. Passages that a person opened stay."""
        places = intake.SearchScope(
            mode,
            checked_urls(urls),
            tuple(libraries),
            tuple(services),
            until,
            own_words.strip(),
            tuple(read_through),
        )
        return self._act(Act.EDIT, intake.change_sources, case_id, places)

    def add_passage_by_hand(self, case_id: str, *, url: str | None, title: str, text: str) -> Case:
        """A passage that the person copied from a page which the program could not read."""
        item = intake.passage_by_hand(url, title, text, self._tools.settings.evidence.categories)
        self._cases.put_text(Act.EDIT, case_id, item.passage.text)
        return self._act(Act.EDIT, intake.add_evidence, case_id, item)

    def follow_up(
        self,
        case_id: str,
        kind: FollowUpKind,
        *,
        about: str = "",
        libraries: Sequence[str] = (),
        services: Sequence[str] = (),
        own_words: str = "",
    ) -> Case:
        """See `follow_up_stages.ask`: `follow_up_steps` then do it."""
        places = {"libraries": tuple(dict.fromkeys(libraries)), "services": tuple(dict.fromkeys(services))}
        asked = FollowUpSearch(
            id=uuid.uuid4().hex[:12],
            kind=kind,
            asked_at=self._tools.clock(),
            by=self.actor.name,
            about=about,
            own_words=own_words,
            **places,
        )

        def ask(case: Case, by: Actor) -> Case:
            moderation.require_editable(case, by)
            return follow_up_stages.ask(case, by, asked)

        return self._cases.update(Act.WORK, case_id, ask)

    restore_passage = _build_case_method(Act.EDIT, actions.restore_passage)
    restore_evidence_set = _build_case_method(Act.EDIT, actions.restore_evidence_set)
    open_passage = _build_case_method(Act.JUDGE, actions.open_passage)
    judge = _build_case_method(Act.JUDGE, actions.judge)

    # --- words ---

    choose_candidate = _build_case_method(Act.EDIT, actions.choose_candidate)
    quote = _build_case_method(Act.EDIT, actions.quote)
    compare_sentence = _build_case_method(Act.JUDGE, actions.compare_sentence)
    edit_draft = _build_case_method(Act.EDIT, actions.edit_draft)
    undo_edit = _build_case_method(Act.EDIT, actions.undo_edit)

    # --- one note from many, and suggestions ---

    set_notes = _build_case_method(Act.EDIT, supernote_actions.set_notes)
    choose_note = _build_case_method(Act.EDIT, supernote_actions.choose_note)
    set_candidate_count = _build_case_method(Act.EDIT, supernote_actions.set_candidate_count)
    set_posted = _build_case_method(Act.EDIT, supernote_actions.set_posted)
    use_candidate = _build_case_method(Act.EDIT, supernote_actions.use_candidate)
    suggest = _build_case_method(Act.SUGGEST, suggestions.suggest)
    answer_suggestion = _build_case_method(Act.EDIT, suggestions.answer_suggestion)

    def watch(self, case_id: str, notes: Sequence[ExistingNote]) -> Case:
        """See `supernote_actions.add_newer_notes`; a case that was decided is reopened by it, by whoever may."""

        def change(case: Case, by: Actor) -> Case:
            if case.decision is not None:
                require(by, Act.REOPEN, case)
            return supernote_actions.add_newer_notes(case, self._tools.clock(), by, notes)

        return self._cases.update(Act.EDIT, case_id, change)

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
        return supernote_actions.supernote_update(case, self._tools.settings.bridging.helpful_intercept)

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
        readers = max(readers, 2 if self._tools.settings.two_readers else 1)
        return self._act_at_desk(Act.SUBMIT, moderation.submit, case_id, message, readers=readers)

    withdraw = _build_desk_method(Act.SUBMIT, moderation.withdraw)
    claim = _build_desk_method(Act.REVIEW, moderation.claim)
    take_over = _build_desk_method(Act.REVIEW, moderation.take_over)
    renew = _build_desk_method(Act.REVIEW, moderation.renew)
    release = _build_desk_method(Act.REVIEW, moderation.release)
    judge_pair = _build_desk_method(Act.REVIEW, moderation.judge_pair)
    finish_reading = _build_desk_method(Act.REVIEW, moderation.finish_reading)
    send_back = _build_desk_method(Act.REVIEW, moderation.send_back)
    resolve_comment = _build_desk_method(Act.REVIEW, moderation.resolve_comment)
    assign = _build_desk_method(Act.ASSIGN, moderation.assign)
    prioritise = _build_desk_method(Act.ASSIGN, moderation.prioritise)

    def set_readers(self, case_id: str, readers: int) -> Case:
        """See `moderation.set_readers`. InputError for fewer than the setting `two_readers` asks for."""
        if readers < 2 and self._tools.settings.two_readers:
            raise InputError("Two moderators read every case here.")
        return self._act_at_desk(Act.ASSIGN, moderation.set_readers, case_id, readers)

    waits_for_readers = staticmethod(moderation.waits_for_readers)
    readers_disagree = staticmethod(moderation.readers_disagree)
    counted_readings = staticmethod(moderation.counted_readings)

    def own_reading(self, case: Case) -> Reading | None:
        """The person's finished reading of the note as it is."""
        return moderation.reading_by(case, self.actor.key)

    def queue(
        self, asked: QueueQuery, limit: int, offset: int = 0
    ) -> tuple[builtins.list[QueueItem], int, dict[str, builtins.list[str]]]:
        """A page of the queue, how many lines it has in all, and by case who else has it open."""
        queue, who = self._cases.queue, self.actor
        asked = replace(asked, without_own=self._cases.without_own)
        items = queue.items(who, asked, limit, offset)
        return items, queue.count(who, asked), queue.looking([item.case_id for item in items], who)

    def claim_next(self) -> Case | None:
        """Claim the case that is the person's turn: what is assigned to them first; None where nothing waits."""
        for case_id in self._cases.queue.next_for(self.actor, without_own=self._cases.without_own):
            with suppress(WorkflowError, CaseNotFoundError):  # somebody was faster
                return self.claim(case_id)
        return None

    def text_read_before(self, case: Case) -> str | None:
        """See `moderation.text_read_before`."""
        return moderation.text_read_before(case, self.actor.key)

    def what_changed(self, case: Case) -> str:
        """See `moderation.what_changed`."""
        return moderation.what_changed(case, self.actor.key)

    pairs = staticmethod(moderation.pairs)
    open_comments = staticmethod(moderation.open_comments)
    versions = staticmethod(moderation.versions)

    def finding(self, case: Case, pair: Pair) -> Support | None:
        """What the person found of a pair, one of `FINDINGS`; None before."""
        check = actions.own_check(case, self.actor.key, pair.words, pair.evidence_id)
        return check.support if check is not None and check.support in FINDINGS else None

    def agreement(self) -> tuple[dict[str, Figure], builtins.list[ReadPair]]:
        """See `agreement.agreement`, of the 2,000 newest cases that several have read; and what they found."""
        found = units(self.get(case_id) for case_id in self._cases.queue.read_ids(2_000))
        return agreement(found), found

    def seen(self, case_id: str) -> Sequence[str]:
        """Note that the person has a case open; gives the names of others who have it open too."""
        return self._cases.seen(case_id)

    def database_now(self) -> datetime:
        """The clock that claims go by."""
        return self._cases.now()

    def tombstones(self) -> Sequence[Tombstone]:
        """Which cases were deleted, when and by whom; nothing of what they held."""
        return self._cases.tombstones()

    def expire(self, before: datetime) -> int:
        """Remove what was decided before then; how many cases. Their ids and when that was stay."""
        return self._cases.expire(before)

    # --- decision ---

    set_classification = _build_case_method(Act.EDIT, actions.set_classification)
    match_claim = _build_case_method(Act.JUDGE, actions.match_claim)
    set_tags = _build_case_method(Act.EDIT, actions.set_tags, by_reviewers=True)  # who approves may add one
    tick_tag = _build_case_method(Act.EDIT, actions.tick_tag, by_reviewers=True)
    save_decision_text = _build_case_method(Act.DECIDE, actions.save_decision_text)

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
        at, readers = self._tools.clock, self._readers_of_every_case

        def end(case: Case, by: Actor) -> Case:
            return approval.decide(case, at(), by, kind, reason=reason, overrides=overrides, seen=seen, readers=readers)

        return self._cases.update(Act.DECIDE, case_id, end)

    @property
    def _readers_of_every_case(self) -> int:
        settings = self._tools.settings
        return 2 if settings.two_readers and settings.has_desk else 1

    reopen = _build_case_method(Act.REOPEN, actions.reopen)

    def obstacles(self, case: Case) -> tuple[Obstacle, ...]:
        """See `approval.obstacles`; before them, that somebody else has to decide."""
        actor, four_eyes = self.actor, self._tools.settings.four_eyes
        found = approval.obstacles(case, self._tools.clock(), actor, readers=self._readers_of_every_case)
        if may(actor, Act.DECIDE, case, four_eyes=four_eyes):
            return found
        why = refusal(Act.DECIDE, case, four_eyes=may(actor, Act.DECIDE, case))
        return (Obstacle(id=ObstacleId(kind=ObstacleKind.NOT_YOURS), sentence=why), *found)

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
        return self._cases.list(search, status, limit, offset, whose=whose)

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
        return self._cases.count(search, status, whose=whose)
