"""From sources to words: evidence sets, candidate notes, and what carries each sentence."""

from crowdnotes.drafting.candidates import Drafted, write_candidates
from crowdnotes.drafting.evidence_set import ReadSource, build_evidence

__all__ = ["Drafted", "ReadSource", "build_evidence", "write_candidates"]
