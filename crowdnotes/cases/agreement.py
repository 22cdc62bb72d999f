"""How far moderators who read the same case agree on what they found: percent, Cohen's kappa, Krippendorff's alpha.

A unit is one sentence with one passage in one submission; its values are what each reader found, blind. Intervals hold
95 %, by drawing cases anew: findings on one case are alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import numpy as np

from crowdnotes.cases.cases import Cases
from crowdnotes.domain import Case, Figure, Reading, ReadPair, Support

_BOOTSTRAP_DRAWS = 1_000
_MAX_CASES = 2_000
_MIN_CASES = 5  # cases; with fewer neither an interval nor a figure against chance is reliable


def units(cases: Iterable[Case]) -> list[ReadPair]:
    """Return every pair of which two or more moderators found something, for the same text and post.

    Only the first finding of each moderator counts: later ones may be influenced by the others'. Readings after a
    decision are left out: while the case was decided, moderators could see what the earlier readers found. So are those
    of people who had seen it, whatever an admin admitted.
    """
    made: list[ReadPair] = []
    for case in cases:
        by_text: dict[tuple[str, str], list[Reading]] = {}
        for reading in sorted(case.desk.all_readings, key=lambda it: it.at):
            by_text.setdefault((reading.text_sha256, reading.post_sha256), []).append(reading)
        informed = {event.by_key for event in case.events if event.kind == "shown"}
        ends = [event.at for event in case.events if event.kind == "decided"]
        for of_text in by_text.values():
            readings = [
                it
                for it in of_text
                if not any(of_text[0].at <= end < it.at for end in ends) and it.reader.key not in informed
            ]
            pairs = dict.fromkeys(pair for reading in readings for pair in reading.by_pair)
            for words, evidence_id in pairs:
                pair = (words, evidence_id)
                first: dict[str, tuple[str, Support]] = {}
                for reading in readings:
                    if pair in reading.by_pair:
                        first.setdefault(reading.reader.key, (reading.reader.name, reading.by_pair[pair]))
                if len(first) > 1:
                    made.append(ReadPair(case.id, words, evidence_id, tuple(first.values())))
    return made


def read_pairs(cases: Cases) -> list[ReadPair]:
    """Return the units of the 2,000 newest cases that several moderators have read, for who may review."""
    return units(cases.get(case_id, only_counted=True) for case_id in cases.queue.read_ids(_MAX_CASES))


def agreement(found: Sequence[ReadPair]) -> dict[str, Figure]:
    """Return the three figures by their names. Kappa is of the first two readers of each pair, alpha of all."""
    return {
        "Same finding": _measure_with_interval(found, _compute_percent_agreement, against_chance=False),
        "Cohen's kappa": _measure_with_interval(found, _compute_cohens_kappa, against_chance=True),
        "Krippendorff's alpha": _measure_with_interval(found, _compute_krippendorffs_alpha, against_chance=True),
    }


def _measure_with_interval(
    found: Sequence[ReadPair], of: Callable[[Sequence[ReadPair]], float | None], *, against_chance: bool
) -> Figure:
    n = len(found)
    if not n:
        return Figure(n=0, not_run="No case has two readers yet.")
    by_case: dict[str, list[ReadPair]] = {}
    for unit in found:
        by_case.setdefault(unit.case_id, []).append(unit)
    groups = list(by_case.values())
    if len(groups) < _MIN_CASES:
        if against_chance:
            return Figure(n=n, not_run=f"It takes {_MIN_CASES} cases with two readers.")
        return Figure(n=n, value=of(found), how=f"No interval below {_MIN_CASES} cases.")
    value = of(found)
    if value is None:
        return Figure(n=n, not_run="All readers always agreed, so agreement by chance cannot be estimated.")
    chance = np.random.default_rng(0)
    drawn = (chance.integers(len(groups), size=len(groups)) for _ in range(_BOOTSTRAP_DRAWS))
    values = [of([unit for place in places for unit in groups[place]]) for places in drawn]
    low, high = np.quantile([it for it in values if it is not None], [0.025, 0.975])
    return Figure(n=n, value=value, low=float(low), high=float(high), how="95 % interval, by drawing cases anew.")


def _compute_percent_agreement(found: Sequence[ReadPair]) -> float:
    """Return the share of pairs of readers of the same unit that found the same."""
    alike = [one is other for unit in found for one, other in combinations(unit.values, 2)]
    return sum(alike) / len(alike)


def _compute_cohens_kappa(found: Sequence[ReadPair]) -> float | None:
    """Cohen (1960): agreement beyond what the first and the second readers' habits would give by chance."""
    first, second = [unit.values[0] for unit in found], [unit.values[1] for unit in found]
    n = len(found)
    observed = sum(one is other for one, other in zip(first, second, strict=True)) / n
    habits = Counter(first), Counter(second)
    expected = sum(habits[0][support] * habits[1][support] for support in Support) / n**2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def _compute_krippendorffs_alpha(found: Sequence[ReadPair]) -> float | None:
    """Krippendorff (2004), nominal, over any number of readers: 1 less observed over expected disagreement."""
    totals: Counter[Support] = Counter()
    observed = 0.0
    for unit in found:
        counts, m = Counter(unit.values), len(unit.found)
        totals += counts
        observed += sum(count * (m - count) for count in counts.values()) / (m - 1)
    n = totals.total()
    expected = sum(count * (n - count) for count in totals.values()) / (n - 1)
    return None if not expected else 1 - observed / expected
