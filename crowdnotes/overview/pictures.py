"""What many cases come to: a picture's numbers, the sentence that they tell, and who could not be counted and why.

Medians and counts, each with its n; of fewer than five there is no median, they are told one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from statistics import median

from crowdnotes.domain import DecisionKind, GateName, GateStatus, PrincipleName, SourceCategory, Usage
from crowdnotes.overview.case_figures import LINKS, OPEN, CaseFigures, Course
from crowdnotes.text.markdown import count

FEW = 5  # cases: of fewer, no median is told, and no pattern seen
ENDINGS = (*(kind.value for kind in DecisionKind), OPEN)
_STEPS = {"queries": "thinking of searches", "utility": "choosing sources", "writing": "writing", "judging": "judging"}
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
    few = f"{count(len(cases), 'case')}: too few to tell how it usually goes." if len(cases) < FEW else ""
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
        return count(round(60 * minutes), "second")
    if minutes < 90:
        return count(round(minutes), "minute")
    return f"{minutes / 60:.1f} hours" if minutes < 36 * 60 else f"{minutes / 60 / 24:.1f} days"


# --- time ---


def _times(cases: Sequence[CaseFigures]) -> Spread:
    evidence, words, approved = (
        _known(cases, of)
        for of in (lambda case: case.until_evidence, lambda case: case.until_words, lambda case: case.until_approved)
    )
    if not approved:
        sentence = "No note was approved yet."
    elif len(approved) < FEW:
        each = _listed([in_time(one) for one in sorted(approved)])
        sentence = f"From post to approved note it took {each} (n = {len(approved)})."
    else:
        sentence = (
            f"Half of the notes were approved within {in_time(median(approved))} after the post was pasted"
            f" (n = {len(approved)})."
        )
    first = f"The first words stood after {in_time(median(words))} (n = {len(words)})." if len(words) >= FEW else ""
    return Spread(
        title="Time from post to note",
        sentence=sentence,
        n=len(approved),
        beside=f"{first} Pauses and nights count.".strip() if approved else first,
        not_counted=_reasons({"without an approved note": len(cases) - len(approved)}),
        groups=(("Evidence found", evidence), ("First words", words), ("Approved", approved)),
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
        sentence = "No note was approved yet."
    elif len(halves[0]) < FEW:
        sentence = f"{count(len(approved), 'approved note')}: too few to say whether it got faster."
    else:
        for half in halves:
            places = [place for place, period in enumerate(periods) if any(map(period.holds, half))]
            levels.append((places[0], places[-1], median(_known(half, lambda case: case.until_approved))))
        was, now = (in_time(level) for *_, level in levels)
        change = "as before" if was == now else f"{'down' if levels[1][2] < levels[0][2] else 'up'} from {was}"
        sizes = " and ".join(str(len(half)) for half in halves)
        sentence = f"Half of the newer notes took up to {now}, {change} for the older ones (n = {sizes})."
    return Spread(
        title="Time to an approved note, as cases came",
        sentence=sentence,
        n=len(approved),
        not_counted=_reasons({"without an approved note": len(cases) - len(approved)}),
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
    ended = f"{approved} of {count(len(cases), 'case')} ended with an approved note"
    others = [f"{without} without one" if without else "", f"{still} {_are(still)} open" if still else ""]
    return Counted(
        title="How cases ended",
        sentence=f"{', '.join([ended, *filter(None, others)])}." if cases else "There is no case.",
        n=len(cases),
        bars=tuple(period.name for period in periods),
        parts=_by_period(periods, cases, ENDINGS, lambda case, ending: float(case.ended == ending)),
        unit="cases",
    )


_GATE_WORDS = {GateStatus.PASS: "passed", GateStatus.FAIL: "failed", GateStatus.NOT_RUN: "not run"}


def _gates(cases: Sequence[CaseFigures]) -> Counted:
    scored = [case.gates for case in cases if case.gates is not None]
    failed = Counter(name for gates in scored for name, status in gates.items() if status is GateStatus.FAIL)
    passed = sum(all(status is GateStatus.PASS for status in gates.values()) for gates in scored)
    sentence = f"{passed} of {count(len(scored), 'scored note')} {'passes' if passed == 1 else 'pass'} all three checks"
    if failed:
        most = max(failed.values())
        sentence += f"; {_listed([name.value for name in GateName if failed[name] == most])} stopped the most ({most})"
    notes = [case for case in cases if case.has_note]
    return Counted(
        title="Results of the three checks",
        sentence=f"{sentence}." if scored else "No note has been scored yet.",
        n=len(scored),
        not_counted=_reasons(
            {
                "without a note": len(cases) - len(notes),
                "not scored, or changed since": len(notes) - len(scored),
            }
        ),
        bars=tuple(name.value.capitalize() for name in GateName),
        parts=tuple(
            (word, tuple(float(sum(gates[name] is status for gates in scored)) for name in GateName))
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
    sentence = "No check failed."
    if there:
        most = max(by_check[name][Course.MENDED] for name in there)
        names = [name for name in there if by_check[name][Course.MENDED] == most]
        which = f", most often {_listed(names)} ({most}{' each' if len(names) > 1 else ''})" if most else ""
        did = f"{totals[Course.MENDED]} of {count(totals.total(), 'check')} that did not pass"
        sentence = f"{did} {'was' if totals[Course.MENDED] == 1 else 'were'} mended{which}."
    kept = [case.kept_sentences for case in cases if case.kept_sentences is not None]
    beside = ""
    if kept:
        stayed, written = (sum(pair[place] for pair in kept) for place in (0, 1))
        notes = count(len(kept), "approved note")
        beside = f"{stayed} of {count(written, 'sentence')} that CrowdNotes wrote are in {notes} word for word."
    return Counted(
        title="Where notes were mended",
        sentence=sentence if any(case.has_note for case in cases) else "There is no note yet.",
        n=totals.total(),
        beside=beside,
        bars=tuple(name.capitalize() for name in there),
        parts=tuple(
            (course.value, tuple(float(by_check[name][course]) for name in there)) for course in Course if there
        ),
        unit="checks",
    )


def _sources(cases: Sequence[CaseFigures]) -> Counted:
    shown, used = (
        sum((Counter(dict(of)) for of in sets), Counter[SourceCategory]())
        for sets in ([case.shown for case in cases], [case.used for case in cases])
    )
    sentence = "No source is in use yet."
    if used:
        top = max(used.values())
        most = [kind.value for kind in SourceCategory if used[kind] == top]
        share = round(100 * top / used.total())
        each = " each" if len(most) > 1 else ""
        sentence = f"Most used: {_listed(most)}, {top}{each} of {count(used.total(), 'passage')} in use ({share} %)."
    return Counted(
        title="Kinds of sources",
        sentence=sentence,
        n=used.total(),
        not_counted=_reasons({"without a passage": sum(not case.shown for case in cases)}),
        bars=("Shown", "In use") if shown else (),
        parts=tuple((kind.value, (float(shown[kind]), float(used[kind]))) for kind in SourceCategory if shown),
        unit="passages",
    )


def _readers(cases: Sequence[CaseFigures]) -> Sides:
    juries = [case.jury for case in cases if case.jury is not None]
    by_side = {
        "the sides agree": [jury for jury in juries if abs(jury.negative - jury.positive) <= _APART],
        "one side finds it more helpful": [jury for jury in juries if jury.negative - jury.positive > _APART],
        "the other side finds it more helpful": [jury for jury in juries if jury.positive - jury.negative > _APART],
    }
    agree = len(by_side["the sides agree"])
    both = [jury for jury in juries if jury.gates_pass is not None]
    same = sum(jury.gates_pass == jury.reached for jury in both)
    reached = sum(jury.reached for jury in juries)
    nothing = sum(case.jury_means_nothing for case in cases)
    return Sides(
        title="Agreement of readers (a simulation)",
        sentence=(
            f"The two sides of the simulated jury agree on {agree} of {count(len(juries), 'note')}; "
            f"{reached or 'none'} {'reaches' if reached < 2 else 'reach'} the line to be shown."
            if juries
            else "No note has been before the simulated jury."
        ),
        n=len(juries),
        beside=f"Checks and jury agree on {same} of {len(both)}." if both else "",
        not_counted=_reasons(
            {
                "not before the jury": len(cases) - len(juries) - nothing,
                "where its numbers mean nothing": nothing,
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
    if not asked:
        sentence = "No language model was asked: no cost."
    elif len(each) < FEW:
        sentence = f"Cases cost {_listed([words(one) for one in each])} (n = {len(each)})."
    else:
        half, total = words(median(each)), words(sum(each))
        sentence = f"Half of the cases cost {half} or less (n = {len(each)}), all together {total}."
    by_step = _by_period(
        periods, [case for case, _ in counted], ordered, lambda case, step: of(case.usage.get(step, Usage()))
    )
    return Counted(
        title="Cost",
        sentence=sentence,
        n=len(counted),
        beside="Of some, the server gave no counts: estimated." if any(used.estimated for _, used in counted) else "",
        not_counted=_reasons(
            {
                "without a language model": len(cases) - len(asked),
                "whose price is not known": len(asked) - len(counted),
            }
        ),
        bars=tuple(period.name for period in periods) if counted else (),
        parts=tuple((_STEPS.get(step, step), values) for step, values in by_step),
        unit="US cents" if in_money else "tokens",
    )


def _cents(cents: float) -> str:
    return f"{cents / 100:.2f} US dollars" if cents >= 100 else f"{cents:.2g} US cents"


def _tokens(tokens: float) -> str:
    return count(round(tokens), "token")


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
    return tuple(f"{count(number, 'case')} {why}" for why, number in counts.items() if number)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
