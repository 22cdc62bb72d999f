"""The Community Notes algorithm: public data, matrix factorization, notes scored with raters frozen, status.

`fit` and `score_notes` are the two solves; `read_public_data` and `load_ratings` bring the data in;
`decide` gives one note its status, `score_public_data` every note of a download.
"""

from __future__ import annotations

from crowdnotes.bridging.factorization import fit, fit_from_group
from crowdnotes.bridging.model import Factorization, Penalties, RatingTable, SideParameters, apply_filter
from crowdnotes.bridging.public_data import TableReport, read_public_data
from crowdnotes.bridging.public_scoring import PublicScores, score_public_data
from crowdnotes.bridging.ratings import Ratings, load_ratings
from crowdnotes.bridging.rules import decide
from crowdnotes.bridging.scoring import FrozenRaters, ScoredNotes, doubts, score_notes, score_votes
from crowdnotes.bridging.status import NoteSignals, NoteStatus, RuleName, Side, StatusResult

__all__ = [
    "Factorization",
    "FrozenRaters",
    "NoteSignals",
    "NoteStatus",
    "Penalties",
    "PublicScores",
    "RatingTable",
    "Ratings",
    "RuleName",
    "ScoredNotes",
    "Side",
    "SideParameters",
    "StatusResult",
    "TableReport",
    "apply_filter",
    "decide",
    "doubts",
    "fit",
    "fit_from_group",
    "load_ratings",
    "read_public_data",
    "score_notes",
    "score_public_data",
    "score_votes",
]
