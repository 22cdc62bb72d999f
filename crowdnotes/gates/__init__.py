"""The three gates, in order, and the checks beside them."""

from crowdnotes.gates.assess import assess
from crowdnotes.gates.hierarchy import run_gates

__all__ = ["assess", "run_gates"]
