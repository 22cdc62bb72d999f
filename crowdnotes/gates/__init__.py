"""The gates that a note must pass, one question each, and the checks beside them."""

from crowdnotes.gates.assess import GATES, assess, run_gates

__all__ = ["GATES", "assess", "run_gates"]
