"""A case: the making of one note, from the post to the decision, with its audit trail.

Also what the last change of its note did: words, gates and the jury's number, before and after.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from pydantic import Field

from crowdnotes.domain.approval import Override
from crowdnotes.domain.assessment import (
    Assessment,
    JuryVerdict,
    LinkCheck,
    gates_and_jury,
    why_no_chance,
)
from crowdnotes.domain.base import FrozenModel
from crowdnotes.domain.case_state import CaseStatus, DecisionKind, describe_ending, find_state
from crowdnotes.domain.document_upgrades import DOCUMENT_VERSION
from crowdnotes.domain.evidence import (
    Aim,
    ClaimMatch,
    Evidence,
    EvidenceSet,
    FetchOutcome,
    Hit,
    ProviderOutcome,
    Query,
    Settlement,
    Source,
    basis_sha256,
)
from crowdnotes.domain.moderation import DeskState, DeskWork
from crowdnotes.domain.note import Classification, Draft, Quotation, SentenceCheck, SentenceSupport
from crowdnotes.domain.people import Person
from crowdnotes.domain.post import Claim, Mode, NoteWanted, Post
from crowdnotes.domain.stages import GateVerdicts, Outcome, StageName, StageRecord
from crowdnotes.domain.supernote import Suggestion, SupernoteRound, SupernoteWork
from crowdnotes.wording import plural


class Decision(FrozenModel):
    """Who decided what, when, why, and on which exact text; `by_key` is the `Person.key` of who did."""

    kind: DecisionKind
    by: str
    by_key: str = ""
    at: datetime
    reason: str = ""
    text_sha256: str | None = None
    overrides: tuple[Override, ...] = ()

    @property
    def as_text(self) -> str:
        """How the case ended, overrides included: "approved", "approved with 1 exception"."""
        return describe_ending(self.kind, len(self.overrides))


class Usage(FrozenModel):
    """What one call, one step or one case used. Sums with "+".

    `calls` went to a server, `cached` were answered from the local cache and cost nothing. `seconds` add
    up calls that ran side by side. `dollars` is of the calls whose price is known; `unpriced` counts the
    others, so that 0 is never shown for "unknown". `estimated` says that a server gave no token counts. `chain` is how
    many calls had to wait for each other.
    """

    calls: int = Field(0, ge=0)
    cached: int = Field(0, ge=0)
    input_tokens: int = Field(0, ge=0)
    output_tokens: int = Field(0, ge=0)
    seconds: float = Field(0.0, ge=0)
    dollars: float = Field(0.0, ge=0)
    unpriced: int = Field(0, ge=0)
    estimated: bool = False
    chain: int = Field(0, ge=0)

    @property
    def tokens(self) -> int:
        """Read and written together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        sums = {name: value + getattr(other, name) for name, value in self if name != "estimated"}
        return Usage(**sums, estimated=self.estimated or other.estimated)

    def as_text(self) -> str:
        """One line for a person, as in "12 calls, 31,000 tokens, 0.0042 US dollars"."""
        if not self.calls:
            return (
                plural(self.cached, "no cost: 1 saved answer used", "no cost: {n} saved answers used")
                if self.cached
                else "no cost"
            )
        parts = [plural(self.calls, "1 call", "{n} calls")]
        parts.append(f"about {self.tokens:,} tokens" if self.estimated else f"{self.tokens:,} tokens")
        if self.unpriced < self.calls:
            parts.append(f"{self.dollars:.4f} US dollars" if self.dollars else "no charge")
        if self.unpriced:
            every = self.unpriced == self.calls
            parts.append("price unknown" if every else f"price of {self.unpriced} calls unknown")
        return ", ".join(parts)


class FollowUpKind(StrEnum):
    """What a person may ask for after the first search; the program asks for SETTLE by itself, once."""

    SETTLE = "what would settle it"
    MORE_LIKE = "more like this"
    OTHER_SIDE = "the other side"
    LINK = "a link added"
    SWAP = "swapped out"
    AGAIN = "asked again"

    @property
    def searches(self) -> bool:
        """Whether libraries and services are asked, rather than a link or what was found before."""
        return self not in {FollowUpKind.LINK, FollowUpKind.SWAP}


class FollowUpSearch(FrozenModel):
    """One follow-up search: what was asked for, its progress, and its result.

    `aim` is what its passages are for. `about` is the passage's id (MORE_LIKE, SWAP), the link (LINK), or the service
    that was too slow (AGAIN). `libraries` and `services` are where it searches; `own_words` are searched as typed.
    `stages` are finished ones, so that a stopped search resumes after them. `outcome` is the result for people, `added`
    the new passages; `finished_at` is None while it is under way or stopped.
    """

    id: str
    kind: FollowUpKind
    asked_at: datetime
    by: str
    aim: Aim = Aim.JUDGE
    about: str = ""
    libraries: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    own_words: str = ""
    queries: tuple[Query, ...] = ()
    hits: tuple[Hit, ...] = ()
    outcomes: tuple[ProviderOutcome, ...] = ()
    sources: tuple[Source, ...] = ()
    reasons: dict[str, str] = Field(default_factory=dict)
    stages: tuple[StageRecord, ...] = ()
    outcome: str = ""
    added: tuple[str, ...] = ()
    finished_at: datetime | None = None

    @property
    def search_not_run(self) -> bool:
        """Whether its search could not run, which is not the same as having found nothing."""
        return any(stage.name is StageName.SEARCH and stage.outcome is Outcome.NOT_RUN for stage in self.stages)

    @property
    def as_text(self) -> str:
        """For instance "more like E2", "the other side", "a link added: https://…", "E3 swapped"."""
        return {
            FollowUpKind.SETTLE: "what would settle the claim",
            FollowUpKind.MORE_LIKE: f"more like {self.about}",
            FollowUpKind.OTHER_SIDE: "the other side",
            FollowUpKind.LINK: f"a link added: {self.about}",
            FollowUpKind.SWAP: f"{self.about} swapped",
            FollowUpKind.AGAIN: f"{self.about} searched again",
        }[self.kind]


class Event(FrozenModel):
    """A line of the audit trail: by whom, with the name of that time and their `Person.key`.

    `detail` is for people. Code reads other fields: `subject` is what it is about (a fact-check's link), `result` a
    stored value (a kind of decision, a match, "" for none), `verdicts` what gates found.
    """

    at: datetime
    by: str
    by_key: str = ""
    kind: str
    detail: str = ""
    subject: str = ""
    result: str = ""
    verdicts: GateVerdicts = ()

    @property
    def as_text(self) -> str:
        """What was done, as a person reads it: "Note edited"."""
        return _EVENT_TEXT.get(self.kind, self.kind)  # a newer program may have stored other kinds


_EVENT_TEXT = {
    "being sent to X": "Being sent to X",
    "sent to X": "Sent to X",
    "not taken by X": "Not taken by X",
    "status on X": "Status on X",
    "deleted on X": "Deleted on X",
    "claim matched": "Fact-check compared with the claim",
    "created": "Created",
    "post changed": "Post changed",
    "post address changed": "Address of the post changed",
    "image attached": "Image added",
    "image removed": "Image removed",
    "image read": "Image read",
    "image not read": "Image not read",
    "sources set": "Sources set",
    "passage copied in": "Source pasted",
    "follow-up search": "Further search",
    "follow-up search queries": "Further search: words chosen",
    "follow-up search search": "Further search: searched",
    "follow-up search read": "Further search: pages read",
    "follow-up search ended": "Further search ended",
    "passage opened": "Source opened",
    "passage judged": "Source decided",
    "passage brought back": "Source brought back",
    "evidence brought back": "Sources brought back",
    "written anyway": "Note wanted anyway",
    "note edited": "Note edited",
    "candidate chosen": "Draft chosen",
    "edit undone": "Edit undone",
    "sentence compared": "Sentence checked",
    "classified": "Kind of note chosen",
    "tags chosen": "Tags chosen",
    "decided": "Decided",
    "reopened": "Reopened",
    "recorded answers left": "Recorded answers no longer used",
    "notes set": "Notes changed",
    "note chosen": "Note chosen",
    "candidates wanted": "Number of drafts changed",
    "posted note told": "Status of the posted note changed",
    "suggestion made": "Suggestion made",
    "shared": "Shared with everybody",
    "no longer shared": "No longer shared",
    "suggestion answered": "Suggestion answered",
    "submitted": "Sent to the moderators",
    "withdrawn": "Taken back from the moderators",
    "claimed": "Claimed",
    "taken over": "Taken over",
    "released": "Released",
    "sent back": "Sent back",
    "assigned": "Assigned",
    "put first": "Put first",
    "no longer first": "No longer put first",
    "readers wanted": "Number of readers changed",
    "read through": "Read",
    "not shown": "Not shown",
    "shown": "Shown",
    "readers admitted": "Readers admitted who saw what others found",
    "author erased": "Author erased",
}


class TypedWords(FrozenModel):
    """What one person has written so far in one field towards the decision; `by_key` is their `Person.key`."""

    by_key: str
    field: str
    text: str


class Case(FrozenModel):
    """All of one note's making, from the post to the decision.

    `document_version` is of its stored form (see `upgraded`), `version` counts its changes; `owner` is who began it,
    None where that person was erased, and `shared` whether they share it with everybody;
    `services` are the online providers to ask, with a person's `own_words` in the place of the program's if there are
    any; `read_through` are the reading services, by name, that may get the link of a page that cannot be read;
    `until` is the day that evidence must not be later than,
    `outcomes` how each provider's search ended; `claim_matches` are, by link (or title) of a fact-check, whether a
    person finds that it checks the post's claim; `reasons` say by source id why it was chosen;
    `wanted` is whether raters would want a note, as a model expects, and `anyway` that the person wants to write one
    all the same; `settlement` is what a model says the passages give for the claim;
    `candidates` are what the engine wrote, `quotations` the sentences that it offers; `sentence_checks` what a person
    found when they compared sentences with passages, the newest last; `revisions` the texts that an edit
    replaced, oldest first, for undo;
    `earlier_assessments` of other texts or passages, newest last; `jury` what simulated juries said of the
    draft and candidates, the draft's last; `usage` what each step asked of a language model; `link_checks` how
    the note's links answered when last asked; `earlier_evidence` are the sets of passages that were replaced or
    added to, oldest first; `follow_ups` the follow-up searches; `typed_words` what each person has written towards the
    decision so far, `decision_words` what earlier programs kept of that, by field; `supernote` what is made from the
    notes that the post has, in a case that began with them; `suggestions` readers' comments on its notes, oldest
    first; `desk` what the moderators do with it; in a demonstration with `recorded_answers` a language model's
    answers are those that were recorded for it.
    """

    document_version: int = DOCUMENT_VERSION
    id: str
    created_at: datetime
    updated_at: datetime
    version: int = 0
    owner: Person | None = None
    shared: bool = False
    mode: Mode
    post: Post
    urls: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    own_words: str = ""
    read_through: tuple[str, ...] = ()
    until: date | None = None
    outcomes: tuple[ProviderOutcome, ...] = ()
    claims: tuple[Claim, ...] = ()
    wanted: NoteWanted | None = None
    anyway: bool = False
    queries: tuple[Query, ...] = ()
    hits: tuple[Hit, ...] = ()
    claim_matches: dict[str, ClaimMatch] = Field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    reasons: dict[str, str] = Field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    settlement: Settlement | None = None
    draft: Draft | None = None
    candidates: tuple[Draft, ...] = ()
    quotations: tuple[Quotation, ...] = ()
    sentence_checks: tuple[SentenceCheck, ...] = ()
    revisions: tuple[Draft, ...] = ()
    earlier_evidence: tuple[EvidenceSet, ...] = ()
    follow_ups: tuple[FollowUpSearch, ...] = ()
    assessment: Assessment | None = None
    earlier_assessments: tuple[Assessment, ...] = ()
    link_checks: tuple[LinkCheck, ...] = ()
    jury: tuple[JuryVerdict, ...] = ()
    usage: dict[str, Usage] = Field(default_factory=dict)
    classification: Classification = Classification.MISLEADING
    tags: tuple[str, ...] = ()
    decision_words: dict[str, str] = Field(default_factory=dict)
    typed_words: tuple[TypedWords, ...] = ()
    decision: Decision | None = None
    stages: tuple[StageRecord, ...] = ()
    events: tuple[Event, ...] = ()
    supernote: SupernoteWork | None = None
    suggestions: tuple[Suggestion, ...] = ()
    desk: DeskWork = DeskWork()
    recorded_answers: bool = False

    @property
    def owner_key(self) -> str | None:
        """See `domain.permissions.Owned`."""
        return self.owner.key if self.owner else None

    @property
    def finished_round(self) -> SupernoteRound | None:
        """The newest round of a supernote, once all of it is filtered and ranked."""
        newest = self.supernote.newest if self.supernote else None
        ended = next((stage.finished_at for stage in self.stages if stage.name is StageName.CREDIT), None)
        return newest if newest is not None and ended is not None and ended >= newest.made_at else None

    def words_of(self, key: str, field: str) -> str:
        """Return what the person with that `Person.key` has written in a field towards the decision."""
        own = (item.text for item in self.typed_words if (item.by_key, item.field) == (key, field))
        return next(own, self.decision_words.get(field, ""))

    def evidence_by_id(self, evidence_id: str) -> Evidence | None:
        """Return the evidence with that id, or None."""
        return next((item for item in self.evidence if item.id == evidence_id), None)

    @property
    def next_evidence_number(self) -> int:
        """The number of the next passage: an id is never used again, even for a removed passage."""
        sets = (self.evidence, *(earlier.evidence for earlier in self.earlier_evidence))
        return 1 + max((item.number for items in sets for item in items), default=0)

    @property
    def searched(self) -> bool:
        """Whether the recorded search is the one that the case asks for now."""
        return self.mode is Mode.AUTOMATION and any(stage.name is StageName.SEARCH for stage in self.stages)

    @property
    def unwanted(self) -> NoteWanted | None:
        """Why a search or note waits until a person wants a note all the same; else None."""
        asked = self.anyway or self.own_words or self.mode is not Mode.AUTOMATION
        return self.wanted if self.wanted is not None and self.wanted.stops_the_search and not asked else None

    @property
    def open_search(self) -> FollowUpSearch | None:
        """The follow-up search that is under way or was stopped, if there is one."""
        return next((asked for asked in reversed(self.follow_ups) if asked.finished_at is None), None)

    @property
    def taken_away(self) -> tuple[Evidence, ...]:
        """Passages that were removed, each as it was last, by their number."""
        newest = {item.id: item for earlier in self.earlier_evidence for item in earlier.evidence}
        present = {item.source.id for item in self.evidence}
        gone = (item for item in newest.values() if item.source.id not in present)
        return tuple(sorted(gone, key=lambda item: item.number))

    @property
    def read_sources(self) -> tuple[Source, ...]:
        """The sources that were read, without those that were swapped out."""
        gone = {item.source.id for item in self.taken_away}
        return tuple(it for it in self.sources if it.outcome is FetchOutcome.READ and it.id not in gone)

    def verdict_on(self, text_sha256: str) -> JuryVerdict | None:
        """Return the jury's newest verdict on a text."""
        return next((item for item in reversed(self.jury) if item.text_sha256 == text_sha256), None)

    @property
    def judging_evidence(self) -> tuple[Evidence, ...]:
        """The passages found to judge the claim by; those of the other side count once a person chooses them."""
        return tuple(item for item in self.evidence if item.aim is Aim.JUDGE)

    @property
    def used_evidence(self) -> tuple[Evidence, ...]:
        """What a person opened and chose to use."""
        return tuple(item for item in self.evidence if item.used)

    @property
    def used(self) -> Usage:
        """What the whole case used of a language model so far."""
        return sum(self.usage.values(), Usage())

    @property
    def basis_sha256(self) -> str:
        """Identity of the passages in use; see `Assessment.basis_sha256`."""
        return basis_sha256(self.used_evidence)

    @property
    def scoring_basis(self) -> str:
        """Identity of what a scoring judges: the note and the passages in use."""
        return f"{self.draft.sha256 if self.draft else ''} {self.basis_sha256}"

    @property
    def assessment_is_current(self) -> bool:
        """Whether the assessment judged this very text over these very passages."""
        return (
            self.draft is not None
            and self.assessment is not None
            and self.assessment.text_sha256 == self.draft.sha256
            and self.assessment.basis_sha256 == self.basis_sha256
        )

    @property
    def sentences(self) -> tuple[SentenceSupport, ...]:
        """What supports each sentence of the draft, as last found for this very text; empty after an edit."""
        if self.draft is None:
            return ()
        if self.assessment is not None and self.assessment.text_sha256 == self.draft.sha256:
            return self.assessment.sentences
        return self.draft.sentences

    def has_open_hint(self, sentence: SentenceSupport) -> bool:
        """Whether a person judges here, and a supported sentence has an open hint, so that it does not count yet."""
        return self.assessment is not None and self.assessment.is_compared_by_person and sentence.has_open_hint

    @property
    def why_no_chance(self) -> str:
        """Why nothing that simulated readers say of the draft may be shown yet, see `why_no_chance`; "" if it may."""
        if self.assessment is None or not self.assessment_is_current:
            return "Score the note first."
        return why_no_chance(self.assessment)

    def scores_of(self, text_sha256: str) -> Assessment | None:
        """Return the newest assessment of a text; None where it was never scored."""
        scored = (self.assessment, *reversed(self.earlier_assessments))
        return next((item for item in scored if item is not None and item.text_sha256 == text_sha256), None)

    @property
    def agreement(self) -> tuple[str, ...]:
        """What gates and jury say together of the draft; nothing unless both judged this very text."""
        verdict = self.verdict_on(self.draft.sha256) if self.draft else None
        if verdict is None or self.assessment is None or not self.assessment_is_current:
            return ()
        return tuple(filter(None, gates_and_jury(self.assessment, verdict)))

    @property
    def desk_state(self) -> DeskState:
        """Whether its author or the moderators have it."""
        if self.decision is not None:
            return DeskState.DECIDED
        return DeskState.IN_REVIEW if self.desk.lease is not None else self.desk.state

    @property
    def outcome_line(self) -> str:
        """How it ended and why, for its author, in a line: a decision or the last return; else ""."""
        back = self.desk.returns[-1] if self.desk.returns else None
        if self.decision is not None:
            return f"{self.decision.by}: {self.decision.reason}" if self.decision.reason else ""
        if self.desk.state is not DeskState.RETURNED or back is None:
            return ""
        asked = sum(item.waits for item in self.suggestions if item.owed)
        return f"{back.by.name}: {back.words or plural(asked, '1 comment to answer', '{n} comments to answer')}"

    @property
    def status(self) -> CaseStatus:
        """Derived, so that it can never disagree with what the case holds."""
        if self.decision is not None:
            return CaseStatus.DECIDED
        if not self.evidence:
            return CaseStatus.NEW
        if not self.used_evidence:
            return CaseStatus.AWAITING_INSPECTION
        return CaseStatus.AWAITING_DECISION if self.assessment_is_current else CaseStatus.DRAFTING

    @property
    def outcome(self) -> str:
        """How it ended, overrides included, or its state."""
        if self.decision is not None:
            return self.decision.as_text
        return find_state(self.status, self.desk_state, None).as_text


@dataclass(frozen=True, slots=True)
class EditEffect:
    """Two texts that were scored one after the other, and what is on record of both.

    `scores` and `verdicts` hold the older and the newer. No `verdicts` where one of the two texts has none, where
    different juries sat, or where nothing may be shown of one of them (`why_no_chance`).
    """

    before: Draft
    after: Draft
    scores: tuple[Assessment, Assessment]
    verdicts: tuple[JuryVerdict, JuryVerdict] | None


def effect_of_edit(case: Case) -> EditEffect | None:
    """Compare the current draft with the newest earlier text that was judged; None without such a text."""
    now = case.draft
    if now is None:
        return None
    for before in reversed(case.revisions):
        if before.sha256 == now.sha256:
            continue
        scores = _find_assessments(case, before, now)
        if scores is not None:
            hidden = case.why_no_chance or why_no_chance(scores[0])
            return EditEffect(before, now, scores, None if hidden else _find_verdicts_of_same_jury(case, before, now))
    return None


def _find_assessments(case: Case, before: Draft, now: Draft) -> tuple[Assessment, Assessment] | None:
    of_before = (item for item in reversed(case.earlier_assessments) if item.text_sha256 == before.sha256)
    old, new = next(of_before, None), case.assessment
    return (old, new) if old is not None and new is not None and new.text_sha256 == now.sha256 else None


def _find_verdicts_of_same_jury(case: Case, before: Draft, now: Draft) -> tuple[JuryVerdict, JuryVerdict] | None:
    """Return verdicts of one jury: another would judge the same text differently."""
    old, new = case.verdict_on(before.sha256), case.verdict_on(now.sha256)
    if (
        old is None
        or new is None
        or _identify_jury(old) != _identify_jury(new)
        or old.means_nothing
        or new.means_nothing
    ):
        return None
    return old, new


def _identify_jury(verdict: JuryVerdict) -> tuple[int, int, str, str]:
    return verdict.seed, verdict.jurors, verdict.sampling, verdict.model
