"""Made notes of the camp schema: which words divide, and whom, is known and stays over time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

_DAY = 2**22 * 86_400_000
_DIVIDES = "border senator verdict protest ballot".split()
_JOINS = "footage bridge weather stadium recipe".split()
_PLUS, _MINUS = "alpha arrow amber".split(), "breeze bronze beacon".split()
_REST = "the clip was taken in spring near town by someone who posted later with sound".split()


def camp_rows(count: int = 700, seed: int = 0) -> pd.DataFrame:
    """Notes, one a day or so; every fifth stands on the post of the one before."""
    chance = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        divides, plus = bool(chance.random() < 0.5), bool(chance.random() < 0.5)
        words = list(chance.permutation(_REST)[:8])
        words += list(chance.permutation(_DIVIDES if divides != (chance.random() < 0.1) else _JOINS)[:2])
        words += list(chance.permutation(_PLUS if plus != (chance.random() < 0.1) else _MINUS)[:2])
        high, low = chance.uniform(0.92, 1), chance.uniform(0, 0.08)
        shares = (high, low) if plus else (low, high)
        rows.append(
            {
                "note_id": 1_800_000_000_000_000_000 + number * _DAY // 24,
                "post_id": 1_700_000_000_000_000_000 + (number - number % 5 // 4),
                "text": " ".join(chance.permutation(words)),
                "kind": "polarising" if divides else "bridging",
                "approval_0": shares[0] if divides else np.nan,
                "approval_1": shares[1] if divides else np.nan,
                "raters_0": float(chance.integers(5, 200)) if divides else np.nan,
                "raters_1": float(chance.integers(5, 200)) if divides else np.nan,
                "bridge_score": float(np.sqrt(high * low)) if divides else chance.uniform(0.5, 0.9),
            }
        )
    return pd.DataFrame(rows)


def write_camps(path: Path, **how: int) -> Path:
    """The rows as a Parquet file."""
    camp_rows(**how).to_parquet(path)
    return path
