"""Where the jury's shipped files lie."""

from __future__ import annotations

from pathlib import Path

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "jury"
SHIPPED_RATERS = ASSETS / "raters.json"
SHIPPED_MODEL = ASSETS / "model"
LEANINGS = ASSETS / "leanings"
