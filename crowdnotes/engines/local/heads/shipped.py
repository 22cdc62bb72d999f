"""The heads that come with the program, read once each from assets/judges."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from crowdnotes.engines.local.heads.head import Head, load_head
from crowdnotes.engines.local.heads.readings import Readings, load_readings

JUDGES = Path(__file__).resolve().parents[4] / "assets" / "judges"
HELPFULNESS, OPINION, READINGS = "helpfulness.npz", "principles.npz", "readings.npz"


@cache
def helpfulness_head() -> Head:
    """Helpful or not, from post and note. Raises ModelFilesError when it is missing or damaged."""
    return load_head(JUDGES / HELPFULNESS)


@cache
def opinion_head() -> Head:
    """Opinion or hostility against the rest, from a note. Raises ModelFilesError likewise."""
    return load_head(JUDGES / OPINION)


@cache
def readings() -> Readings:
    """How other crowds and judges would read a note. Raises ModelFilesError likewise."""
    return load_readings(JUDGES / READINGS)
