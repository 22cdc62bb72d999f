"""The overview of many cases: for each chart its numbers, its sentence, and what is not counted.

It shows times, outcomes, sources, mending, agreement and cost. Medians and counts are given with their n; of fewer than
five cases there is no median, and each is listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from statistics import median

from crowdnotes.domain import QUEUE_STATES, DecisionKind, GateName, GateStatus, PrincipleName, SourceCategory, Usage
from crowdnotes.domain.assessment import SIDES_DIFFER_FROM
from crowdnotes.reports.case_figures import LINKS, OPEN, CaseFigures, Course, JuryFigures
from crowdnotes.wording import fill, plural

_MIN_AGREEMENT_NOTES = 10  # notes: of fewer, how often checks and simulated readers agree says nothing
MIN_CASES = 5  # cases: no median and no pattern is shown for fewer
_WEEK = timedelta(days=7)
ENDINGS = {**{kind.value: kind.as_text for kind in DecisionKind}, OPEN: OPEN}
_LABEL_BY_STEP = {
    "queries": "thinking of searches",
    "utility": "choosing sources",
    "writing": "writing",
    "judging": "judging",
}
_MAX_DAYS, _MAX_WEEKS, _MAX_MONTHS = (
    21,
    26,
    36,
)  # the longest time that is shown day by day, week by week, month by month


@dataclass(frozen=True, slots=True)
class Filter:
    """Which cases are counted: begun since that moment, ended so (one of ENDINGS), with this engine at work."""

    since: datetime | None = None
    ended: str | None = None
    engine: str | None = None
    demonstrations: bool = False

    def keeps(self, case: CaseFigures) -> bool:
        """Return whether the case is counted."""
        return (
            (self.since is None or case.begun >= self.since)
            and (self.ended is None or case.ended == self.ended)
            and (self.engine is None or self.engine in case.engines)
            and (self.demonstrations or not case.demonstration)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A chart of `n` things. `more`: a second sentence, or "". `not_counted`: how many cases are left out, and why."""

    title: str
    sentence: str
    n: int
    more: str = ""
    not_counted: tuple[str, ...] = ()

    @property
    def is_drawn(self) -> bool:
        """Whether there is something to draw with the sentence."""
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
    periods = _split_into_periods([case.begun.date() for case in cases])
    few = f"{_format_case_count(len(cases))}: too few to say what is usual." if len(cases) < MIN_CASES else ""
    return Overview(
        cases=len(cases),
        remark=few,
        times=_build_times(cases),
        trend=_build_trend(cases, periods),
        endings=_build_endings(cases, periods),
        gates=_build_gates(cases),
        mended=_build_fixed_notes(cases),
        sources=_build_sources(cases),
        readers=_build_readers(cases),
        cost=_build_cost(cases, periods),
    )


def queue_sentence(figures: Iterable[CaseFigures], now: datetime) -> str:
    """Return how many cases the moderators have, sent back and decided of late; "" where none was ever sent to them."""
    sent = [case for case in figures if case.queue is not None]
    by_state = Counter(case.queue for case in sent)
    parts = [f"{by_state[state]:,} {state.as_text}" for state in QUEUE_STATES]
    decided = sum(case.decided_at is not None and case.decided_at > now - _WEEK for case in sent)
    return f"{', '.join(parts)}, {decided:,} decided in the last 7 days." if sent else ""


def in_time(minutes: float) -> str:
    """For example 40 seconds, 12 minutes, 3.5 hours, 2.0 days."""
    if minutes < 1:
        return plural(round(60 * minutes), "1 second", "{n:,} seconds")
    if minutes < 90:
        return plural(round(minutes), "1 minute", "{n:,} minutes")
    hours = minutes / 60
    return f"{hours:.1f} hours" if hours < 36 else f"{hours / 24:.1f} days"


# --- time ---


def _build_times(cases: Sequence[CaseFigures]) -> Spread:
    evidence, words, approved = (
        _collect_known(cases, of)
        for of in (lambda case: case.until_evidence, lambda case: case.until_words, lambda case: case.until_approved)
    )
    if not approved:
        sentence = "No note is approved yet."
    elif len(approved) < MIN_CASES:
        each = _join_with_and([in_time(one) for one in sorted(approved)])
        sentence = f"From post to approved note: {each} (n = {len(approved)})."
    else:
        sentence = f"Half of the notes were approved within {in_time(median(approved))} (n = {len(approved)})."
    enough = len(words) >= MIN_CASES
    first = f"First draft after {in_time(median(words))} (n = {len(words)})." if enough else ""
    return Spread(
        title="Time from post to note",
        sentence=sentence,
        n=len(approved),
        more=f"{first} Breaks are included.".strip() if approved else first,
        not_counted=_explain_not_counted(
            {("1 case without an approved note", "{n:,} cases without an approved note"): len(cases) - len(approved)}
        ),
        groups=(
            ("Evidence found", evidence),
            ("First words", words),
            ("Approved", approved),
        ),
    )


def _build_trend(cases: Sequence[CaseFigures], periods: Sequence[_Period]) -> Spread:
    approved = [case for case in cases if case.until_approved is not None]
    groups = tuple(
        (
            period.name,
            _collect_known([case for case in approved if period.holds(case)], lambda case: case.until_approved),
        )
        for period in periods
    )
    halves = approved[: len(approved) // 2], approved[len(approved) // 2 :]
    levels: list[tuple[int, int, float]] = []
    if not approved:
        sentence = "No note is approved yet."
    elif len(halves[0]) < MIN_CASES:
        notes = plural(len(approved), "1 approved note", "{n} approved notes")
        sentence = f"{notes}: too few to say whether it got faster."
    else:
        for half in halves:
            places = [place for place, period in enumerate(periods) if any(map(period.holds, half))]
            levels.append((places[0], places[-1], median(_collect_known(half, lambda case: case.until_approved))))
        was, now = (in_time(level) for *_, level in levels)
        change = f"down from {was}" if levels[1][2] < levels[0][2] else f"up from {was}"
        change = "as before" if was == now else change
        older, newer = map(len, halves)
        sentence = f"Half of the newer notes took up to {now}, {change} for the older ones (n = {older} and {newer})."
    return Spread(
        title="Time to an approved note, over time",
        sentence=sentence,
        n=len(approved),
        not_counted=_explain_not_counted(
            {("1 case without an approved note", "{n:,} cases without an approved note"): len(cases) - len(approved)}
        ),
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


def _split_into_periods(days: Sequence[date]) -> list[_Period]:
    """Days, weeks, months or years without gaps from the first of these days to the last: at most some 36 of them."""
    if not days:
        return []
    first, last = min(days), max(days)
    span = (last - first).days
    if span <= _MAX_DAYS:
        every = [first + timedelta(days=number) for number in range(span + 1)]
        return [_Period(f"{day.day} {day:%b}", day, day) for day in every]
    if span <= 7 * _MAX_WEEKS:
        monday = first - timedelta(days=first.weekday())
        mondays = [monday + timedelta(weeks=number) for number in range((last - monday).days // 7 + 1)]
        return [_Period(f"{day.day} {day:%b}", day, day + timedelta(days=6)) for day in mondays]
    months = 1 if span <= 31 * _MAX_MONTHS else 12
    begins = [date(first.year, first.month if months == 1 else 1, 1)]
    while begins[-1] <= last:
        place = begins[-1].year * 12 + begins[-1].month - 1 + months
        begins.append(date(place // 12, place % 12 + 1, 1))
    name = "%b %Y" if months == 1 else "%Y"
    return [_Period(f"{begin:{name}}", begin, after - timedelta(days=1)) for begin, after in pairwise(begins)]


# --- counts ---


def _build_endings(cases: Sequence[CaseFigures], periods: Sequence[_Period]) -> Counted:
    totals = Counter(case.ended for case in cases)
    approved, still = totals[DecisionKind.APPROVED], totals[OPEN]
    without = len(cases) - approved - still
    endings = [f"{approved} of {_format_case_count(len(cases))} ended with an approved note"]
    endings += [f"{without} without one"] if without else []
    endings += [plural(still, "1 is open", "{n} are open")] if still else []
    by_ending = _sum_by_period(periods, cases, tuple(ENDINGS), lambda case, ending: float(case.ended == ending))
    return Counted(
        title="How cases ended",
        sentence=f"{', '.join(endings)}." if cases else "There are no cases.",
        n=len(cases),
        bars=tuple(period.name for period in periods),
        parts=tuple((ENDINGS[ending], values) for ending, values in by_ending),
        unit="cases",
    )


def _build_gates(cases: Sequence[CaseFigures]) -> Counted:
    scored = [case.gates for case in cases if case.gates is not None]
    failed = Counter(name for gates in scored for name, status in gates.items() if status is GateStatus.FAIL)
    passed = sum(all(status is GateStatus.PASS for status in gates.values()) for gates in scored)
    sentence = plural(
        passed,
        "1 of {scored} passes all three checks",
        "{n} of {scored} pass all three checks",
        scored=plural(len(scored), "1 scored note", "{n:,} scored notes"),
    )
    if failed:
        most = max(failed.values())
        names = _join_with_and([name.as_text for name in GateName if failed[name] == most])
        sentence += f"; {names} stopped the most ({most})"
    notes = [case for case in cases if case.has_note]
    return Counted(
        title="Results of the three checks",
        sentence=f"{sentence}." if scored else "No note has been scored yet.",
        n=len(scored),
        not_counted=_explain_not_counted(
            {
                ("1 case without a note", "{n:,} cases without a note"): len(cases) - len(notes),
                ("1 case not scored, or changed since", "{n:,} cases not scored, or changed since"): len(notes)
                - len(scored),
            }
        ),
        bars=tuple(name.as_text.capitalize() for name in GateName),
        parts=tuple(
            (status.as_text, tuple(float(sum(gates[name] is status for gates in scored)) for name in GateName))
            for status in GateStatus
        ),
        unit="notes",
    )


def _build_fixed_notes(cases: Sequence[CaseFigures]) -> Counted:
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
        each = " each" if len(names) > 1 else ""
        which = f", most often {_join_with_and(names)} ({most}{each})" if most else ""
        checks = plural(totals.total(), "1 check that did not pass", "{n:,} checks that did not pass")
        sentence = plural(
            totals[Course.MENDED],
            "1 of {checks} was fixed{most}.",
            "{n} of {checks} were fixed{most}.",
            checks=checks,
            most=which,
        )
    kept = [case.kept_sentences for case in cases if case.kept_sentences is not None]
    kept_words = ""
    if kept:
        stayed, written = (sum(pair[place] for pair in kept) for place in (0, 1))
        notes = plural(len(kept), "1 approved note", "{n:,} approved notes")
        sentences = plural(written, "1 sentence", "{n:,} sentences")
        kept_words = f"{stayed} of {sentences} that CrowdNotes wrote are in {notes} word for word."
    return Counted(
        title="What was fixed after a failed check",
        sentence=sentence if any(case.has_note for case in cases) else "There is no note yet.",
        n=totals.total(),
        more=kept_words,
        bars=tuple(name.capitalize() for name in there),
        parts=tuple(
            (course.as_text, tuple(float(by_check[name][course]) for name in there)) for course in Course if there
        ),
        unit="checks",
    )


def _build_sources(cases: Sequence[CaseFigures]) -> Counted:
    shown, used = (
        sum((Counter(dict(of)) for of in sets), Counter[SourceCategory]())
        for sets in ([case.shown for case in cases], [case.used for case in cases])
    )
    several = len(shown) > 1  # a bar of one kind says no more than the sentence
    sentence = "No source is in use yet."
    if used:
        top = max(used.values())
        most = [kind.as_text for kind in SourceCategory if used[kind] == top]
        share = round(100 * top / used.total())
        passages = plural(used.total(), "1 source", "{n:,} sources")
        each = " each" if len(most) > 1 else ""
        sentence = f"Most used: {_join_with_and(most)}, {top}{each} of {passages} in use ({share} %)."
    return Counted(
        title="Kinds of sources",
        sentence=sentence,
        n=used.total(),
        not_counted=_explain_not_counted(
            {("1 case without a source", "{n:,} cases without a source"): sum(not case.shown for case in cases)}
        ),
        bars=("Shown", "In use") if several else (),
        parts=tuple((kind.as_text, (float(shown[kind]), float(used[kind]))) for kind in SourceCategory if several),
        unit="sources",
    )


def _build_readers(cases: Sequence[CaseFigures]) -> Sides:
    juries = [case.jury for case in cases if case.jury is not None]
    by_side = {
        "the sides agree": [jury for jury in juries if abs(jury.negative - jury.positive) < SIDES_DIFFER_FROM],
        "side A finds it more helpful": [jury for jury in juries if jury.negative - jury.positive >= SIDES_DIFFER_FROM],
        "side B finds it more helpful": [jury for jury in juries if jury.positive - jury.negative >= SIDES_DIFFER_FROM],
    }
    agree = len(by_side["the sides agree"])
    both = [jury for jury in juries if jury.gates_pass is not None]
    reached = sum(jury.reached for jury in juries)
    nothing = sum(case.jury_means_nothing for case in cases)
    sentence = "The simulated readers have not seen a note yet."
    if juries:
        notes = plural(len(juries), "1 note", "{n:,} notes")
        reach = "reaches" if reached < 2 else "reach"
        sentence = (
            f"Sides A and B of the simulated readers agree on {agree} of {notes}; {reached or 'none'} {reach} "
            "the line to be shown."
        )
    return Sides(
        title="Agreement of readers (a simulation)",
        sentence=sentence,
        n=len(juries),
        more=_compare_checks_and_readers(both) if len(both) >= _MIN_AGREEMENT_NOTES else "",
        not_counted=_explain_not_counted(
            {
                ("1 case has no estimate", "{n:,} cases have no estimate"): len(cases) - len(juries) - nothing,
                ("1 case where the estimate means nothing", "{n:,} cases where the estimate means nothing"): nothing,
            }
        ),
        notes=tuple((jury.negative, jury.positive, jury.reached) for jury in juries),
        sums=tuple((name, len(them), sum(jury.reached for jury in them)) for name, them in by_side.items()),
    )


def _compare_checks_and_readers(judged: Sequence[JuryFigures]) -> str:
    """Return how many notes pass the checks, and which of them readers would show: two questions, not one."""
    passed = [jury for jury in judged if jury.gates_pass]
    reached = sum(jury.reached for jury in passed)
    return (
        f"Of {len(judged)} notes that every check judged, {len(passed)} pass; {reached or 'none'} of these "
        f"{'reaches' if reached < 2 else 'reach'} the line too. Checks ask whether a note is supported and clear, "
        "simulated readers whether both sides like it."
    )


# --- cost ---


def _build_cost(cases: Sequence[CaseFigures], periods: Sequence[_Period]) -> Counted:
    """In US cents where every price is known, else in tokens."""
    spent = [(case, sum(case.usage.values(), Usage())) for case in cases]
    asked = [(case, used) for case, used in spent if used.calls or used.cached]
    priced = [(case, used) for case, used in asked if not used.unpriced]
    in_money = bool(priced)
    counted = priced if in_money else asked
    steps = {step for case, _ in counted for step in case.usage}
    ordered = [*(step for step in _LABEL_BY_STEP if step in steps), *sorted(steps - _LABEL_BY_STEP.keys())]

    def of(used: Usage) -> float:
        return 100 * used.dollars if in_money else float(used.tokens)

    each = sorted(of(used) for _, used in counted)
    words = _format_cents if in_money else _format_tokens
    is_free = in_money and not any(each)  # as recorded answers are
    unknown = len(asked) - len(counted)
    if is_free and unknown:
        cases_of_no_price = plural(unknown, "1 case, whose price is not known", "{n:,} cases, whose price is not known")
        sentence = f"No AI costs so far, apart from {cases_of_no_price}."
    elif not asked or is_free:
        sentence = "No AI costs so far."
    elif len(each) < MIN_CASES:
        sentence = f"Cases cost {_join_with_and([words(one) for one in each])} (n = {len(each)})."
    else:
        half, total = words(median(each)), words(sum(each))
        sentence = f"Half of the cases cost {half} or less (n = {len(each)}), all together {total}."
    by_step = _sum_by_period(
        periods, [case for case, _ in counted], ordered, lambda case, step: of(case.usage.get(step, Usage()))
    )
    return Counted(
        title="Cost",
        sentence=sentence,
        n=len(counted),
        more="Some costs are estimated." if any(used.estimated for _, used in counted) else "",
        not_counted=_explain_not_counted(
            {
                ("1 case without AI", "{n:,} cases without AI"): len(cases) - len(asked),
                ("1 case whose price is not known", "{n:,} cases whose price is not known"): unknown,
            }
        ),
        bars=tuple(period.name for period in periods) if counted and not is_free else (),
        parts=tuple((_LABEL_BY_STEP.get(step, step), values) for step, values in by_step),
        unit="US cents" if in_money else "tokens",
    )


def _format_cents(cents: float) -> str:
    return f"{cents / 100:.2f} US dollars" if cents >= 100 else f"{cents:.2g} US cents"


def _format_tokens(tokens: float) -> str:
    return plural(round(tokens), "1 token", "{n:,} tokens")


def _format_case_count(number: int) -> str:
    return plural(number, "1 case", "{n:,} cases")


# --- words and sums ---


def _collect_known(cases: Sequence[CaseFigures], of: Callable[[CaseFigures], float | None]) -> tuple[float, ...]:
    return tuple(value for case in cases if (value := of(case)) is not None)


def _sum_by_period(
    periods: Sequence[_Period],
    cases: Sequence[CaseFigures],
    names: Sequence[str],
    amount: Callable[[CaseFigures, str], float],
) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """For each name its sum in each period."""
    held = [[case for case in cases if period.holds(case)] for period in periods]
    return tuple((name, tuple(sum(amount(case, name) for case in there) for there in held)) for name in names)


def _explain_not_counted(counts: dict[tuple[str, str], int]) -> tuple[str, ...]:
    return tuple(fill(why, n=number) for why, number in counts.items() if number)


def _join_with_and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
