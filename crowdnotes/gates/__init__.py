"""The gates, in order, and the checks beside them."""

from crowdnotes.gates.assess import GATES, assess, run_gates

__all__ = ["GATES", "assess", "run_gates"]
