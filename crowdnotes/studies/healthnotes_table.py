"""From posts to the rows of CrowdNotes+ Table 2: of each half, how many posts end with a note that passes.

As in the paper, a gate counts only after those before it, and of all posts: one without a note fails.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crowdnotes.domain import GateName, GateStatus
from crowdnotes.studies.healthnotes_results import Outcome, PostResult
from crowdnotes.studies.measures import wilson


@dataclass(frozen=True, slots=True)
class PassRate:
    """How many of a half's posts passed a gate."""

    passed: int
    of: int

    @property
    def percent(self) -> float | None:
        """In [0, 100], two decimals; None of no posts."""
        return round(100 * self.passed / self.of, 2) if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval in percent; (0, 100) of no posts."""
        low, high = wilson(self.passed, self.of)
        return round(100 * low, 2), round(100 * high, 2)


@dataclass(frozen=True, slots=True)
class HalfRow:
    """A half of the benchmark, or both: its posts by outcome, and the gates' pass rates."""

    name: str
    posts: int
    outcomes: Mapping[Outcome, int]
    rates: Mapping[GateName, PassRate]


def table_rows(results: Sequence[PostResult]) -> tuple[HalfRow, HalfRow, HalfRow]:
    """Helpful, not helpful (by the crowd's verdict on the contributor's note), and both together."""
    helpful = [result for result in results if result.is_helpful]
    others = [result for result in results if not result.is_helpful]
    return _row("helpful", helpful), _row("not helpful", others), _row("overall", results)


def table_csv(rows: Sequence[HalfRow]) -> str:
    """The rows with a header; percentages with Wilson's 95 % interval."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(as_record(rows[0])), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(as_record(row) for row in rows)
    return out.getvalue()


def as_record(row: HalfRow) -> dict[str, str | int | float | None]:
    """A row as flat names and values, for CSV and JSON."""
    record: dict[str, str | int | float | None] = {"half": row.name, "posts": row.posts}
    record |= {outcome.name.lower(): row.outcomes[outcome] for outcome in Outcome}
    for gate, rate in row.rates.items():
        low, high = rate.interval
        record |= {
            f"{gate.value}_passed": rate.passed,
            f"{gate.value}_percent": rate.percent,
            f"{gate.value}_low": low,
            f"{gate.value}_high": high,
        }
    return record


def _row(name: str, results: Sequence[PostResult]) -> HalfRow:
    counts = Counter(result.outcome for result in results)
    rates: dict[GateName, PassRate] = {}
    standing = list(results)
    for gate in GateName:
        standing = [result for result in standing if getattr(result, gate.value) is GateStatus.PASS]
        rates[gate] = PassRate(len(standing), len(results))
    return HalfRow(name, len(results), {outcome: counts[outcome] for outcome in Outcome}, rates)
