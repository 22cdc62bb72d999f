"""Trains the readings: how crowds and judges of other notes would take a note, by its words.

Features of the helpfulness head, never its target: fitted to camp notes and to the Birdwatch pilot, without
any note that is to be judged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, Ridge

from crowdnotes.embedding import Embedder
from crowdnotes.engines.local.heads.readings import Readings
from crowdnotes.engines.local.heads.samples import note_grams, note_words
from crowdnotes.errors import InputError
from crowdnotes.studies.camp_notes import OPINION_LABELS, SOURCED_LABEL, TRIVIAL_LABEL
from crowdnotes.studies.data_files import HealthNote
from crowdnotes.studies.head_fitting import gram_matrix, rarity_of
from crowdnotes.studies.near_duplicates import near_any

_ROUNDS = 200
_RAREST = 3  # texts; rarer grams would be learned by heart
_PENALTY = 3.0
_MARKS = re.compile(r"\W+")
_VOTES = ("approval_0", "approval_1", "bridge_score", "global_approval")
_VOTES_FORM = "Beside text and kind it has each camp's approval, bridge_score and global_approval, from 0 to 1."
_PILOT_FORM = "The folder holds notes-00000.tsv and ratings-00000.tsv of X's public data, in the schema of 2021."


def read_pilot(folder: Path) -> pd.DataFrame:
    """Rated notes of the Birdwatch pilot: `summary`, `misleading`, `helpful` (share of ratings) and `ratings`.

    Raises InputError when the files are not there or not of that schema.
    """
    try:
        notes = pd.read_csv(folder / "notes-00000.tsv", sep="\t", usecols=["noteId", "classification", "summary"])
        ratings = pd.read_csv(folder / "ratings-00000.tsv", sep="\t", usecols=["noteId", "helpful"])
    except (OSError, ValueError) as error:
        raise InputError(f"The pilot's data in {folder.name} cannot be read.", _PILOT_FORM) from error
    counted = ratings.groupby("noteId")["helpful"].agg(["sum", "size"]).reset_index()
    table = notes.merge(counted, on="noteId").dropna(subset=["summary"])
    return pd.DataFrame(
        {
            "summary": table["summary"].astype(str),
            "misleading": table["classification"].eq("MISINFORMED_OR_POTENTIALLY_MISLEADING"),
            "helpful": (table["sum"] + 0.5) / (table["size"] + 1),  # a note with one rating is not all or nothing
            "ratings": table["size"],
        }
    )


def without_judged(camp: pd.DataFrame, notes: Sequence[HealthNote], embedder: Embedder) -> pd.DataFrame:
    """The camp notes that are not among the notes to be judged: by id, by their words, or nearly so.

    Raises InputError when the table does not tell how the camps voted.
    """
    missing = [column for column in _VOTES if column not in camp.columns]
    if missing:
        raise InputError(f"The table of camp notes lacks {', '.join(missing)}.", _VOTES_FORM)
    known = {_words(note.note) for note in notes}
    judged = camp["note_id"].astype(str).isin([note.note_id for note in notes]) | camp["text"].map(_words).isin(known)
    left = camp[~judged]
    others = embedder.encode([note_words(note.note) for note in notes])
    near = near_any(embedder.encode([note_words(text) for text in left["text"]]), others)
    return left[~near].reset_index(drop=True)


def train_readings(camp: pd.DataFrame, pilot: pd.DataFrame) -> Readings:
    """One linear head a question, all over the same hashed words."""
    camp_grams = [note_grams(text) for text in camp["text"]]
    pilot_grams = [note_grams(text) for text in pilot["summary"]]
    rarity = rarity_of([*camp_grams, *pilot_grams], _RAREST)
    all_camp, in_pilot = gram_matrix(camp_grams, rarity), gram_matrix(pilot_grams, rarity)
    bridging = camp["kind"].eq("bridging").to_numpy()
    agreed, disputed = camp[bridging], camp[~bridging]
    on_agreed, on_disputed = all_camp[bridging], all_camp[~bridging]

    def says(strength: float) -> LogisticRegression:
        return LogisticRegression(C=strength, max_iter=_ROUNDS)

    label = agreed["content_label"]
    models: dict[str, LogisticRegression | Ridge] = {
        "both camps approve": says(1).fit(all_camp, bridging),
        "sourced fact": says(2).fit(on_agreed, label.eq(SOURCED_LABEL)),
        "opinion or hostile": says(2).fit(on_agreed, label.isin(OPINION_LABELS)),
        "trivial": says(2).fit(on_agreed, label.eq(TRIVIAL_LABEL)),
        "strength of agreement": Ridge(alpha=_PENALTY).fit(on_agreed, agreed["bridge_score"]),
        "approval where camps agree": Ridge(alpha=_PENALTY).fit(on_agreed, agreed["global_approval"]),
        "which camp approves": says(2).fit(on_disputed, disputed["approval_0"] > disputed["approval_1"]),
        "approval where camps disagree": Ridge(alpha=_PENALTY).fit(on_disputed, disputed["global_approval"]),
        "helpful in the pilot": Ridge(alpha=_PENALTY).fit(
            in_pilot, pilot["helpful"], sample_weight=np.sqrt(pilot["ratings"])
        ),
        "calls the post misleading": says(2).fit(in_pilot, pilot["misleading"]),
    }
    return Readings(
        names=tuple(f"reads: {name}" for name in models),
        rarity=rarity,
        weights=np.array([np.ravel(model.coef_) for model in models.values()], dtype=np.float32),
        bias=np.array([float(np.ravel(model.intercept_)[0]) for model in models.values()], dtype=np.float32),
    )


def _words(text: str) -> str:
    return _MARKS.sub(" ", text.lower()).strip()
