"""How good a ranking is, by graded judgements: three figures of information retrieval.

A ranking is a list of record numbers, best first. `grades` maps the records that were judged to 0 (no
help), 1 (helps somewhat) or 2 (directly helpful); a record that is not in it was not judged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

DIRECTLY_HELPFUL = 2


def ndcg(ranking: Sequence[int], grades: Mapping[int, int], at: int = 10) -> float | None:
    """Discounted cumulative gain over the best possible, in [0, 1] (Järvelin and Kekäläinen, 2002).

    Records that nobody judged are taken out of the ranking first (Sakai, 2007): being unknown is not
    being bad. The gain is the grade, the discount log2(rank + 1). None when no grade is above 0.
    """
    best = _gain(sorted(grades.values(), reverse=True)[:at])
    if best == 0:
        return None
    return _gain([grades[record] for record in ranking if record in grades][:at]) / best


def recall(ranking: Sequence[int], grades: Mapping[int, int], at: int = 10) -> float | None:
    """The share of the directly helpful records that stand among the first `at`, judged or not; None without any."""
    helpful = {record for record, grade in grades.items() if grade == DIRECTLY_HELPFUL}
    return len(helpful.intersection(ranking[:at])) / len(helpful) if helpful else None


def reciprocal_rank(ranking: Sequence[int], grades: Mapping[int, int]) -> float | None:
    """1 over the rank of the first directly helpful record, 0 when it is not ranked; None without any."""
    if DIRECTLY_HELPFUL not in grades.values():
        return None
    return next((1 / rank for rank, record in enumerate(ranking, 1) if grades.get(record) == DIRECTLY_HELPFUL), 0.0)


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))
