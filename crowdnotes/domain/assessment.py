"""What is judged, always of one exact text: gates, principles, form, links, and what a simulated jury says.

Sides of the jury are named neutrally: "side −" are raters with a factor below 0, "side +" those from 0 up.
Statuses and rules carry the public data's own names (`bridging.model`, `bridging.rules`).
"""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from math import prod
from typing import Self

from pydantic import Field, field_validator

from crowdnotes.domain.base import FrozenModel, LabelledEnum, Span
from crowdnotes.domain.note import SentenceSupport


class GateName(LabelledEnum):
    """The three stages of CrowdNotes+ 4.3, in order."""

    RELEVANCE = "relevance"
    CORRECTNESS = "correctness"
    HELPFULNESS = "helpfulness"


class GateStatus(LabelledEnum):
    """NOT_RUN is neither a pass nor a fail: the gate gave no verdict, and `reason` says why."""

    PASS = "PASS", "passed"
    FAIL = "FAIL", "failed"
    NOT_RUN = "NOT_RUN", "not run"

    @property
    def in_record(self) -> str:
        """The name in the audit trail and the export: "NOT RUN"."""
        return self.value.replace("_", " ")


BY_PERSON = "person"
"""The `judge` of a gate that waits for a person's comparison, or rests on it."""


class Finding(FrozenModel):
    """A detail of a verdict: about one passage or some words of the note.

    `by_rule`: the program found it by itself.
    """

    message: str
    evidence_id: str | None = None
    span: Span | None = None
    ok: bool = False
    by_rule: bool = False


class GateResult(FrozenModel):
    """One gate's verdict. `score` is in [0, 1] on the engine's own scale; `threshold` is its line.

    `probability` is the judge's own, in [0, 1], that the gate passes; None when it gives none. `marked` are the texts
    that, by the judge, speak to a program instead of people: ids of passages, and "post". `judge` names who judged, if
    not the engine. `sentences` says what supports each sentence, where the judge says so. `uncertain`: it passes, but
    only because the judge is not sure enough to fail it; `reason` says so.
    """

    gate: GateName
    status: GateStatus
    uncertain: bool = False
    reason: str
    score: float | None = None
    threshold: float | None = None
    probability: float | None = Field(None, ge=0, le=1)
    findings: tuple[Finding, ...] = ()
    marked: tuple[str, ...] = ()
    judge: str = ""
    sentences: tuple[SentenceSupport, ...] = ()

    @classmethod
    def not_run(cls, gate: GateName, reason: str) -> Self:
        """Return the result of a gate that gave no verdict, and why."""
        return cls(gate=gate, status=GateStatus.NOT_RUN, reason=reason)

    @property
    def as_text(self) -> str:
        """How it ended, in a few words: "failed"."""
        return "uncertain" if self.uncertain else self.status.as_text


class PrincipleName(LabelledEnum):
    """Supernotes 2.2 and the tags that raters use; `WANTED` is about the post as much as about the note."""

    NEUTRAL = "neutral language"
    NO_SPECULATION = "no opinion or speculation"
    ADDRESSES_CLAIM = "directly addresses the claim"
    SOURCES_SUPPORT = "sources support it"
    CONTEXT = "important context"
    READABLE = "easy to understand"
    WANTED = "wanted by raters"


class PrincipleResult(FrozenModel):
    """One principle check; `findings` point at the words it objects to, `rewrite` is a note without them, or "".

    If it passes, the findings are remarks, which a person may judge otherwise. `probability` is the judge's own, in [0,
    1], that the principle is kept; None when it gives none.
    """

    principle: PrincipleName
    status: GateStatus
    reason: str
    findings: tuple[Finding, ...] = ()
    rewrite: str = ""
    probability: float | None = Field(None, ge=0, le=1)

    @classmethod
    def not_run(cls, principle: PrincipleName, reason: str) -> Self:
        """Return the result of a principle that could not be judged, and why."""
        return cls(principle=principle, status=GateStatus.NOT_RUN, reason=reason)


class LintLevel(StrEnum):
    """BLOCKS stops approval; WARNS does not."""

    BLOCKS = "blocks"
    WARNS = "warns"


class LintWarning(FrozenModel):
    """Something about the note's form that X, or a reader, would stumble over."""

    code: str
    message: str
    level: LintLevel
    span: Span | None = None


class LinkState(LabelledEnum):
    """How a cited link answered. X's own evaluator asks for a 200 within a few tries."""

    LIVE = "live"
    BLOCKED = "blocked"
    DEAD = "dead"
    UNREACHABLE = "unreachable"
    REFUSED = "refused as unsafe"


class LinkCheck(FrozenModel):
    """One cited link and its answer: `status` is the last HTTP status, None when none came.

    `archived_url` is a copy of a page that is gone, if an archive has one that is not later than `until`.
    """

    url: str
    state: LinkState
    checked_at: datetime
    tries: int = Field(ge=1)
    status: int | None = None
    sentence: str = ""
    archived_url: str | None = None
    until: date | None = None

    @property
    def as_text(self) -> str:
        """In a few words: "responds", "dead (404)"."""
        if self.state is LinkState.LIVE:
            return "responds"
        word = self.state.as_text
        return f"{word} ({self.status})" if self.status is not None else word

    @property
    def is_gone(self) -> bool:
        """Whether the page is unavailable, so that an archive's copy is used instead."""
        return self.state in {LinkState.DEAD, LinkState.UNREACHABLE}


class Assessment(FrozenModel):
    """The judgement of one exact text over one exact set of passages.

    It has a result of every gate, in order. A gate is NOT_RUN if it was added to the program later, or if one before it
    did not pass; `held` then keeps what it found. `basis_sha256` is of the passages in use: the judgement is stale
    after another choice of passages, as after an edit of the text.
    """

    text_sha256: str
    basis_sha256: str
    gates: tuple[GateResult, ...]
    held: tuple[GateResult, ...] = ()
    principles: tuple[PrincipleResult, ...]
    sentences: tuple[SentenceSupport, ...]
    lint: tuple[LintWarning, ...]
    engine: str
    prompt_version: str | None = None
    assessed_at: datetime
    seconds: float = 0.0

    @field_validator("gates")
    @classmethod
    def _all_gates(cls, given: tuple[GateResult, ...]) -> tuple[GateResult, ...]:
        results = {result.gate: result for result in given}
        if len(results) < len(given):
            raise ValueError("an assessment has one result of each gate")
        late = "This check is newer than the score. Score again."
        return tuple(results.get(name) or GateResult.not_run(name, late) for name in GateName)

    @property
    def probability(self) -> float | None:
        """That the note passes all three (CrowdNotes+ 4.3, equation 1); None while one of them has none."""
        parts = [result.probability for result in self.gates]
        known = [part for part in parts if part is not None]
        return prod(known) if len(known) == len(parts) else None

    @property
    def marked(self) -> frozenset[str]:
        """What speaks to a program, by a judge: ids of passages, and "post"."""
        return frozenset(name for result in self.found for name in result.marked)

    @property
    def found(self) -> tuple[GateResult, ...]:
        """What each gate found, in order, also what is held back."""
        held = {result.gate: result for result in self.held}
        return tuple(held.get(result.gate, result) for result in self.gates)

    @property
    def is_compared_by_person(self) -> bool:
        """Whether a person judges correctness, sentence by sentence."""
        return any(result.gate is GateName.CORRECTNESS and result.judge == BY_PERSON for result in self.found)

    def gate(self, name: GateName) -> GateResult:
        """Return the result of one gate; every assessment has all of them."""
        return next(result for result in self.gates if result.gate is name)


class Interval(FrozenModel):
    """The middle 90 % of repeated juries."""

    low: float
    high: float


class SideVotes(FrozenModel):
    """How the jurors of one side rated; `side` is "−" or "+"."""

    side: str
    helpful: int = Field(ge=0)
    somewhat_helpful: int = Field(ge=0)
    not_helpful: int = Field(ge=0)

    @property
    def jurors(self) -> int:
        """All jurors of the side."""
        return self.helpful + self.somewhat_helpful + self.not_helpful

    @property
    def people(self) -> str:
        """Their name on the screen: the sides, raters who usually disagree, have letters for names."""
        return "people on side A" if self.side == "−" else "people on side B"

    @property
    def of_100(self) -> tuple[int, int, int]:
        """Helpful, somewhat and not helpful in 100, which is their sum; all 0 without jurors."""
        counts = (self.helpful, self.somewhat_helpful, self.not_helpful)
        if not self.jurors:
            return (0, 0, 0)
        whole = [100 * count // self.jurors for count in counts]
        # Rounding down leaves a rest; the largest remainders get it.
        by_rest = sorted(range(3), key=lambda at: -(100 * counts[at] % self.jurors))
        for at in by_rest[: 100 - sum(whole)]:
            whole[at] += 1
        return (whole[0], whole[1], whole[2])

    @property
    def mean(self) -> float | None:
        """The mean rating in [0, 1], somewhat helpful as a half; None without jurors."""
        return (self.helpful + self.somewhat_helpful / 2) / self.jurors if self.jurors else None


class Influence(FrozenModel):
    """The effect of some words: each side's chance of "helpful" with them minus without them, in [-1, 1].

    `span` is in the note. `whole_sentence`: it is a sentence, not a single word.
    """

    span: Span
    words: str
    on_negative: float
    on_positive: float
    whole_sentence: bool = False


class RuleWord(FrozenModel):
    """A status rule's name and its sentence."""

    rule: str
    reason: str


class JuryQuality(FrozenModel):
    """Measured quality of the model behind the jury, on notes newer than those it learned from.

    None where its data cannot show it. `note` is one sentence for the person who reads. intercept_auc: how well the
    intercept separates notes that X showed from those that it turned down, by words alone.
    """

    data: str
    notes: int
    polarising_auc: float | None = None
    camp_auc: float | None = None
    rating_auc: float | None = None
    expected_calibration_error: float | None = None
    intercept_auc: float | None = None
    note: str


def in_100(chance: float) -> int:
    """Return a chance as a number in 100, rounded to five: more is not known of one note."""
    return max(5, min(95, 5 * round(20 * chance)))


class NoteChange(FrozenModel):
    """A change of a note, worded to begin a sentence, and the chance in [0, 1] that X then shows it."""

    what: str
    chance_of_shown: float


class JuryVerdict(FrozenModel):
    """A simulation: how seeded jurors rated one exact text, and what the algorithm makes of it.

    The intercept is a careful one: two of three such notes reach it. chance_of_shown: the share of such notes that X
    shows, of those on which it decides; None without a head that predicts it. With the head the intervals hold nine in
    ten of what the note may become; without it only chance counts (other jurors, other ratings). helpful_line: the note
    intercept that CURRENTLY_RATED_HELPFUL takes. splits: the chance that the note divides the sides, where the model
    gives it. cautions: what makes this verdict weaker than usual. best_change: the change that raises that share most,
    of those that the head sees; None where none raises it visibly. means_nothing: the text is so unlike all that the
    jury learned from that no sentence may rest on its numbers.
    """

    text_sha256: str
    post_sha256: str | None
    jurors: int = Field(ge=1)
    seed: int
    sampling: str
    note_intercept: float
    intercept_interval: Interval
    note_factor: float
    factor_interval: Interval
    helpful_line: float
    status: str
    decided_by: RuleWord
    blocked_by: tuple[RuleWord, ...]
    not_applied: tuple[str, ...]
    negative: SideVotes
    positive: SideVotes
    splits: float | None
    chance_of_shown: float | None = None
    best_change: NoteChange | None = None
    influences: tuple[Influence, ...]
    sentence: str
    cautions: tuple[str, ...]
    means_nothing: bool = False
    model: str
    quality: JuryQuality

    @property
    def shown_of_100(self) -> int | None:
        """How many of 100 such notes X shows, of those on which it decides."""
        return None if self.chance_of_shown is None else in_100(self.chance_of_shown)

    @property
    def reaches_line(self) -> bool:
        """Whether the note intercept is one that shows a note."""
        return self.note_intercept >= self.helpful_line

    @property
    def outlook(self) -> str:
        """The chance that X shows it, no surer than the simulation can be: "a fair chance"."""
        if self.status == "CURRENTLY_RATED_NOT_HELPFUL":
            return "hardly any chance"
        if not self.is_promising:
            return "a low chance"
        return "a fair chance" if self.is_undecided else "a good chance"

    @property
    def is_promising(self) -> bool:
        """Whether the chance is a fair or a good one."""
        if self.status == "CURRENTLY_RATED_NOT_HELPFUL":
            return False
        return self._is_open or self.status == "CURRENTLY_RATED_HELPFUL"

    @property
    def is_undecided(self) -> bool:
        """Whether the chance is a fair one, neither good nor low."""
        return self.is_promising and self._is_open

    @property
    def _is_open(self) -> bool:
        if self.shown_of_100 is not None:  # the intercept is a careful one: an even chance is below the line
            return not self.reaches_line and self.shown_of_100 >= _MIN_SHOWN_OF_100_FOR_EVEN
        return self.intercept_interval.low < self.helpful_line <= self.intercept_interval.high

    @property
    def outlook_and_why(self) -> str:
        """The outlook in sentences: the chance, which side likes the note less, and what would raise it most."""
        shown = f": X shows about {self.shown_of_100} in 100 notes like it" if self.shown_of_100 is not None else ""
        return f"Simulated readers give it {self.outlook}{self._doubt or shown}.{self._harsher}{self._advice}"

    @property
    def _doubt(self) -> str:
        if self.status == "CURRENTLY_RATED_NOT_HELPFUL":
            return ": X would probably rate it not helpful"
        if self.reaches_line and self.status == "NEEDS_MORE_RATINGS":
            return ", though its score is high enough"
        if self.shown_of_100 is None and self._is_open:
            return ": with some simulated readers X would show it, with others not"
        return ""

    @property
    def _harsher(self) -> str:
        low, high = self.negative.mean, self.positive.mean
        if low is None or high is None or abs(low - high) < SIDES_DIFFER_FROM:
            return ""
        harsher = self.positive if high < low else self.negative
        return f" P{harsher.people[1:]} would like it less."

    @property
    def _advice(self) -> str:
        if self.best_change is None or self.reaches_line:
            return ""
        return f" {self.best_change.what} would help most: about {in_100(self.best_change.chance_of_shown)} in 100."


SIDES_DIFFER_FROM = 0.15  # between the mean ratings of two sides; under it they agree
_MIN_SHOWN_OF_100_FOR_EVEN = 40  # of 100 such notes; with fewer the chance is not even
_TRUTH_GATES = frozenset({GateName.RELEVANCE, GateName.CORRECTNESS})


def why_no_chance(assessment: Assessment) -> str:
    """Return in a sentence why nothing of what simulated readers say may be shown yet; "" when it may.

    They judge words alone, and a note that says more than its sources pleases them. So they wait until correctness
    passed, and until X can take the note.
    """
    stopped = next((gate for gate in assessment.gates if gate.status is not GateStatus.PASS), None)
    if stopped is not None and stopped.gate in _TRUTH_GATES:
        if stopped.status is GateStatus.NOT_RUN and stopped.judge == BY_PERSON:
            return "You see their chance after you compared the sentences with their sources."
        return f"They judge only words: you see their chance once {stopped.gate.as_text} passes."
    form = next((warning.message for warning in assessment.lint if warning.level is LintLevel.BLOCKS), "")
    return f"X cannot take this note yet. {form}" if form else ""


def gates_and_jury(assessment: Assessment, verdict: JuryVerdict) -> tuple[str, str]:
    """Return what the gates say and then what the jury says, "" where it has to wait. Both must be of one text."""
    stopped = next((gate for gate in assessment.gates if gate.status is not GateStatus.PASS), None)
    if stopped is not None:
        name = stopped.gate.as_text
        failed = stopped.status is GateStatus.FAIL
        return f"It did not pass {name}: fix that first." if failed else f"Not checked yet: {name}.", ""
    uncertain = " and ".join(gate.gate.as_text for gate in assessment.gates if gate.uncertain)
    passed = f"No check failed ({uncertain} is uncertain)." if uncertain else "All three checks pass."
    if why := why_no_chance(assessment):
        return passed, why
    return passed, "Simulated readers cannot judge this text." if verdict.means_nothing else verdict.outlook_and_why
