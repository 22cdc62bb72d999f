"""What many cases come to: a picture's numbers, the sentence that they tell, and who could not be counted and why.

Medians and counts, each with its n; of fewer than five there is no median, they are told one by one.

Many cases at one look: times, outcomes, sources, mending, agreement and cost, each with what it tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from statistics import median

from crowdnotes.domain import DecisionKind, GateName, GateStatus, PrincipleName, SourceCategory, Usage
from crowdnotes.reports.case_figures import LINKS, OPEN, CaseFigures, Course
from crowdnotes.wording import name_of, say

FEW = 5  # cases: of fewer, no median is told, and no pattern seen
ENDINGS = (*(kind.value for kind in DecisionKind), OPEN)
_STEPS = {
    "queries": "overview_pictures.queries",
    "utility": "overview_pictures.utility",
    "writing": "overview_pictures.writing",
    "judging": "overview_pictures.judging",
}
_APART = 0.15  # of the mean rating: sides further apart than this do not agree; as in `domain.judgement`
_DAYS, _WEEKS, _MONTHS = 21, 26, 36  # the longest time that is shown day by day, week by week, month by month


@dataclass(frozen=True, slots=True)
class Filter:
    """Which cases are counted: begun since that moment, ended so (one of ENDINGS), with this engine at work."""

    since: datetime | None = None
    ended: str | None = None
    engine: str | None = None
    demonstrations: bool = False

    def keeps(self, case: CaseFigures) -> bool:
        """Whether the case is counted."""
        return (
            (self.since is None or case.begun >= self.since)
            and (self.ended is None or case.ended == self.ended)
            and (self.engine is None or self.engine in case.engines)
            and (self.demonstrations or not case.demonstration)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What `n` things tell: `sentence`, and `beside` what else. `not_counted`: how many cases were not, and why."""

    title: str
    sentence: str
    n: int
    beside: str = ""
    not_counted: tuple[str, ...] = ()

    @property
    def is_drawn(self) -> bool:
        """Whether there is something to draw beside the sentence."""
        return self.n > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread(Picture):
    """In each group (by name) one number a case; minutes. `levels`: medians of a run of groups, from place to place."""

    groups: tuple[tuple[str, tuple[float, ...]], ...]
    levels: tuple[tuple[int, int, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted(Picture):
    """In each bar (by name) how many there are of each part; of `unit`."""

    bars: tuple[str, ...]
    parts: tuple[tuple[str, tuple[float, ...]], ...]
    unit: str

    @property
    def is_drawn(self) -> bool:
        """Not where the sentence says as much as the one bar would."""
        return self.n > 0 and bool(self.bars)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides(Picture):
    """For each note the mean rating of side − and of side +, in [0, 1], and whether it reaches the line to be shown.

    `sums` are how many notes the sides agree on, and how many each finds more helpful; of these, how many reach it.
    """

    notes: tuple[tuple[float, float, bool], ...]
    sums: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """All pictures over `cases` cases. `remark` says that they are few; "" else."""

    cases: int
    remark: str
    times: Spread
    trend: Spread
    endings: Counted
    gates: Counted
    mended: Counted
    sources: Counted
    readers: Sides
    cost: Counted

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """In the order in which they are looked at."""
        times, counts = (self.times, self.trend), (self.endings, self.gates, self.mended, self.sources)
        return (*times, *counts, self.readers, self.cost)


def overview(figures: Iterable[CaseFigures]) -> Overview:
    """Count them; they are filtered already."""
    cases = sorted(figures, key=lambda case: case.begun)
    periods = _periods([case.begun.date() for case in cases])
    few = say("overview_pictures.few", cases=_cases(len(cases))) if len(cases) < FEW else ""
    return Overview(
        cases=len(cases),
        remark=few,
        times=_times(cases),
        trend=_trend(cases, periods),
        endings=_endings(cases, periods),
        gates=_gates(cases),
        mended=_mended(cases),
        sources=_sources(cases),
        readers=_readers(cases),
        cost=_cost(cases, periods),
    )


def in_time(minutes: float) -> str:
    """For example 40 seconds, 12 minutes, 3.5 hours, 2.0 days."""
    if minutes < 1:
        return say("overview_pictures.seconds", n=round(60 * minutes))
    if minutes < 90:
        return say("overview_pictures.minutes", n=round(minutes))
    hours = minutes / 60
    return say("overview_pictures.hours", hours=hours) if hours < 36 else say("overview_pictures.days", days=hours / 24)


# --- time ---


def _times(cases: Sequence[CaseFigures]) -> Spread:
    evidence, words, approved = (
        _known(cases, of)
        for of in (lambda case: case.until_evidence, lambda case: case.until_words, lambda case: case.until_approved)
    )
    if not approved:
        sentence = say("overview_pictures.no_approved")
    elif len(approved) < FEW:
        each = _listed([in_time(one) for one in sorted(approved)])
        sentence = say("overview_pictures.took", times=each, n=len(approved))
    else:
        sentence = say("overview_pictures.half_took", time=in_time(median(approved)), n=len(approved))
    enough = len(words) >= FEW
    first = say("overview_pictures.first_words_after", time=in_time(median(words)), n=len(words)) if enough else ""
    return Spread(
        title=say("overview_pictures.time"),
        sentence=sentence,
        n=len(approved),
        beside=say("overview_pictures.nights", first=first).strip() if approved else first,
        not_counted=_reasons({"overview_pictures.not_approved": len(cases) - len(approved)}),
        groups=(
            (say("overview_pictures.evidence_found"), evidence),
            (say("overview_pictures.first_words"), words),
            (say("overview_pictures.approved"), approved),
        ),
    )


def _trend(cases: Sequence[CaseFigures], periods: Sequence[_Period]) -> Spread:
    approved = [case for case in cases if case.until_approved is not None]
    groups = tuple(
        (period.name, _known([case for case in approved if period.holds(case)], lambda case: case.until_approved))
        for period in periods
    )
    halves = approved[: len(approved) // 2], approved[len(approved) // 2 :]
    levels: list[tuple[int, int, float]] = []
    if not approved:
        sentence = say("overview_pictures.no_approved")
    elif len(halves[0]) < FEW:
        sentence = say("overview_pictures.few_approved", n=len(approved))
    else:
        for half in halves:
            places = [place for place, period in enumerate(periods) if any(map(period.holds, half))]
            levels.append((places[0], places[-1], median(_known(half, lambda case: case.until_approved))))
        was, now = (in_time(level) for *_, level in levels)
        change = (
            say("overview_pictures.down", time=was)
            if levels[1][2] < levels[0][2]
            else say("overview_pictures.up", time=was)
        )
        change = say("overview_pictures.as_before") if was == now else change
        older, newer = map(len, halves)
        sentence = say("overview_pictures.newer", time=now, change=change, older=older, newer=newer)
    return Spread(
        title=say("overview_pictures.trend"),
        sentence=sentence,
        n=len(approved),
        not_counted=_reasons({"overview_pictures.not_approved": len(cases) - len(approved)}),
        groups=groups if approved else (),
        levels=tuple(levels),
    )


@dataclass(frozen=True, slots=True)
class _Period:
    name: str
    first: date
    last: date

    def holds(self, case: CaseFigures) -> bool:
        return self.first <= case.begun.date() <= self.last


def _periods(days: Sequence[date]) -> list[_Period]:
    """Days, weeks, months or years without gaps from the first of these days to the last: at most some 36 of them."""
    if not days:
        return []
    first, last = min(days), max(days)
    span = (last - first).days
    if span <= _DAYS:
        every = [first + timedelta(days=number) for number in range(span + 1)]
        return [_Period(f"{day.day} {day:%b}", day, day) for day in every]
    if span <= 7 * _WEEKS:
        monday = first - timedelta(days=first.weekday())
        mondays = [monday + timedelta(weeks=number) for number in range((last - monday).days // 7 + 1)]
        return [_Period(f"{day.day} {day:%b}", day, day + timedelta(days=6)) for day in mondays]
    months = 1 if span <= 31 * _MONTHS else 12
    begins = [date(first.year, first.month if months == 1 else 1, 1)]
    while begins[-1] <= last:
        place = begins[-1].year * 12 + begins[-1].month - 1 + months
        begins.append(date(place // 12, place % 12 + 1, 1))
    name = "%b %Y" if months == 1 else "%Y"
    return [_Period(f"{begin:{name}}", begin, after - timedelta(days=1)) for begin, after in pairwise(begins)]


# --- counts ---


def _endings(cases: Sequence[CaseFigures], periods: Sequence[_Period]) -> Counted:
    totals = Counter(case.ended for case in cases)
    approved, still = totals[DecisionKind.APPROVED], totals[OPEN]
    without = len(cases) - approved - still
    told = [say("overview_pictures.ended_approved", approved=approved, cases=_cases(len(cases)))]
    told += [say("overview_pictures.ended_without", n=without)] if without else []
    told += [say("overview_pictures.still_open", n=still)] if still else []
    by_ending = _by_period(periods, cases, ENDINGS, lambda case, ending: float(case.ended == ending))
    return Counted(
        title=say("overview_pictures.ended"),
        sentence=f"{', '.join(told)}." if cases else say("overview_pictures.no_case"),
        n=len(cases),
        bars=tuple(period.name for period in periods),
        parts=tuple((name_of("kinds", ending), values) for ending, values in by_ending),
        unit="cases",
    )


_GATE_WORDS = {
    GateStatus.PASS: "overview_pictures.passed",
    GateStatus.FAIL: "overview_pictures.failed",
    GateStatus.NOT_RUN: "overview_pictures.not_run",
}


def _gates(cases: Sequence[CaseFigures]) -> Counted:
    scored = [case.gates for case in cases if case.gates is not None]
    failed = Counter(name for gates in scored for name, status in gates.items() if status is GateStatus.FAIL)
    passed = sum(all(status is GateStatus.PASS for status in gates.values()) for gates in scored)
    sentence = say("overview_pictures.all_passed", n=passed, scored=say("overview_pictures.scored", n=len(scored)))
    if failed:
        most = max(failed.values())
        names = _listed([name.in_words for name in GateName if failed[name] == most])
        sentence += say("overview_pictures.stopped_most", checks=names, n=most)
    notes = [case for case in cases if case.has_note]
    return Counted(
        title=say("overview_pictures.checks"),
        sentence=f"{sentence}." if scored else say("overview_pictures.no_score"),
        n=len(scored),
        not_counted=_reasons(
            {
                "overview_pictures.without_note": len(cases) - len(notes),
                "overview_pictures.not_scored": len(notes) - len(scored),
            }
        ),
        bars=tuple(name.in_words.capitalize() for name in GateName),
        parts=tuple(
            (say(word), tuple(float(sum(gates[name] is status for gates in scored)) for name in GateName))
            for status, word in _GATE_WORDS.items()
        ),
        unit="notes",
    )


def _mended(cases: Sequence[CaseFigures]) -> Counted:
    by_check = {
        name: Counter(case.courses[name] for case in cases if name in case.courses)
        for name in (*(gate.value for gate in GateName), *(principle.value for principle in PrincipleName), LINKS)
    }
    there = sorted((name for name in by_check if by_check[name]), key=lambda name: -by_check[name].total())
    totals = sum((by_check[name] for name in there), Counter[Course]())
    sentence = say("overview_pictures.none_failed")
    if there:
        most = max(by_check[name][Course.MENDED] for name in there)
        names = [name_of("kinds", name) for name in there if by_check[name][Course.MENDED] == most]
        often = "overview_pictures.most_often_each" if len(names) > 1 else "overview_pictures.most_often"
        which = say(often, checks=_listed(names), n=most) if most else ""
        checks = say("overview_pictures.not_passed", n=totals.total())
        sentence = say("overview_pictures.were_mended", n=totals[Course.MENDED], checks=checks, most=which)
    kept = [case.kept_sentences for case in cases if case.kept_sentences is not None]
    beside = ""
    if kept:
        stayed, written = (sum(pair[place] for pair in kept) for place in (0, 1))
        notes, sentences = (
            say("overview_pictures.approved_notes", n=len(kept)),
            say("overview_pictures.sentences", n=written),
        )
        beside = say("overview_pictures.kept", kept=stayed, sentences=sentences, notes=notes)
    return Counted(
        title=say("overview_pictures.mended"),
        sentence=sentence if any(case.has_note for case in cases) else say("overview_pictures.no_note"),
        n=totals.total(),
        beside=beside,
        bars=tuple(name_of("kinds", name).capitalize() for name in there),
        parts=tuple(
            (course.in_words, tuple(float(by_check[name][course]) for name in there)) for course in Course if there
        ),
        unit="checks",
    )


def _sources(cases: Sequence[CaseFigures]) -> Counted:
    shown, used = (
        sum((Counter(dict(of)) for of in sets), Counter[SourceCategory]())
        for sets in ([case.shown for case in cases], [case.used for case in cases])
    )
    several = len(shown) > 1  # a bar of one kind tells nothing that the sentence does not
    sentence = say("overview_pictures.no_source")
    if used:
        top = max(used.values())
        most = [kind.in_words for kind in SourceCategory if used[kind] == top]
        share = round(100 * top / used.total())
        passages = say("overview_pictures.passages", n=used.total())
        name = "overview_pictures.most_used_each" if len(most) > 1 else "overview_pictures.most_used"
        sentence = say(name, kinds=_listed(most), n=top, passages=passages, share=share)
    return Counted(
        title=say("overview_pictures.kinds"),
        sentence=sentence,
        n=used.total(),
        not_counted=_reasons({"overview_pictures.without_passage": sum(not case.shown for case in cases)}),
        bars=(say("overview_pictures.shown"), say("overview_pictures.in_use")) if several else (),
        parts=tuple((kind.in_words, (float(shown[kind]), float(used[kind]))) for kind in SourceCategory if several),
        unit="passages",
    )


def _readers(cases: Sequence[CaseFigures]) -> Sides:
    juries = [case.jury for case in cases if case.jury is not None]
    by_side = {
        say("overview_pictures.sides_agree"): [jury for jury in juries if abs(jury.negative - jury.positive) <= _APART],
        say("overview_pictures.one_side_more"): [jury for jury in juries if jury.negative - jury.positive > _APART],
        say("overview_pictures.other_side_more"): [jury for jury in juries if jury.positive - jury.negative > _APART],
    }
    agree = len(by_side[say("overview_pictures.sides_agree")])
    both = [jury for jury in juries if jury.gates_pass is not None]
    same = sum(jury.gates_pass == jury.reached for jury in both)
    reached = sum(jury.reached for jury in juries)
    nothing = sum(case.jury_means_nothing for case in cases)
    sentence = say("overview_pictures.no_jury")
    if juries:
        name = "overview_pictures.agree_one" if reached < 2 else "overview_pictures.agree"
        notes = say("overview_pictures.notes", n=len(juries))
        sentence = say(name, agree=agree, notes=notes, reached=reached or say("overview_pictures.none"))
    return Sides(
        title=say("overview_pictures.readers"),
        sentence=sentence,
        n=len(juries),
        beside=say("overview_pictures.checks_and_jury", same=same, n=len(both)) if both else "",
        not_counted=_reasons(
            {
                "overview_pictures.not_before_jury": len(cases) - len(juries) - nothing,
                "overview_pictures.means_nothing": nothing,
            }
        ),
        notes=tuple((jury.negative, jury.positive, jury.reached) for jury in juries),
        sums=tuple((name, len(them), sum(jury.reached for jury in them)) for name, them in by_side.items()),
    )


# --- cost ---


def _cost(cases: Sequence[CaseFigures], periods: Sequence[_Period]) -> Counted:
    """In US cents where every price is known, else in tokens."""
    spent = [(case, sum(case.usage.values(), Usage())) for case in cases]
    asked = [(case, used) for case, used in spent if used.calls or used.cached]
    priced = [(case, used) for case, used in asked if not used.unpriced]
    in_money = bool(priced)
    counted = priced if in_money else asked
    steps = {step for case, _ in counted for step in case.usage}
    ordered = [*(step for step in _STEPS if step in steps), *sorted(steps - _STEPS.keys())]

    def of(used: Usage) -> float:
        return 100 * used.dollars if in_money else float(used.tokens)

    each = sorted(of(used) for _, used in counted)
    words = _cents if in_money else _tokens
    is_free = len(counted) == len(asked) and in_money and not any(each)  # as recorded answers are
    if not asked or is_free:
        sentence = say("overview_pictures.no_cost")
    elif len(each) < FEW:
        sentence = say("overview_pictures.cost_each", costs=_listed([words(one) for one in each]), n=len(each))
    else:
        half, total = words(median(each)), words(sum(each))
        sentence = say("overview_pictures.half_cost", half=half, n=len(each), total=total)
    by_step = _by_period(
        periods, [case for case, _ in counted], ordered, lambda case, step: of(case.usage.get(step, Usage()))
    )
    return Counted(
        title=say("overview_pictures.cost"),
        sentence=sentence,
        n=len(counted),
        beside=say("overview_pictures.estimated") if any(used.estimated for _, used in counted) else "",
        not_counted=_reasons(
            {
                "overview_pictures.without_model": len(cases) - len(asked),
                "overview_pictures.price_unknown": len(asked) - len(counted),
            }
        ),
        bars=tuple(period.name for period in periods) if counted and not is_free else (),
        parts=tuple((say(_STEPS[step]) if step in _STEPS else step, values) for step, values in by_step),
        unit="US cents" if in_money else "tokens",
    )


def _cents(cents: float) -> str:
    return (
        say("overview_pictures.dollars", dollars=cents / 100)
        if cents >= 100
        else say("overview_pictures.cents", cents=cents)
    )


def _tokens(tokens: float) -> str:
    return say("overview_pictures.tokens", n=round(tokens))


def _cases(number: int) -> str:
    return say("overview_pictures.cases", n=number)


# --- words and sums ---


def _known(cases: Sequence[CaseFigures], of: Callable[[CaseFigures], float | None]) -> tuple[float, ...]:
    return tuple(value for case in cases if (value := of(case)) is not None)


def _by_period(
    periods: Sequence[_Period],
    cases: Sequence[CaseFigures],
    names: Sequence[str],
    amount: Callable[[CaseFigures, str], float],
) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """For each name its sum in each period."""
    held = [[case for case in cases if period.holds(case)] for period in periods]
    return tuple((name, tuple(sum(amount(case, name) for case in there) for there in held)) for name in names)


def _reasons(counts: dict[str, int]) -> tuple[str, ...]:
    return tuple(say(why, n=number) for why, number in counts.items() if number)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else say("overview_pictures.list", first=", ".join(names[:-1]), last=names[-1])
