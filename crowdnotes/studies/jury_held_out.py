"""Numbers of held-out notes, so that the pinned figures can be checked anywhere: hashed features and votes, no text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from crowdnotes.errors import ConfigurationError
from crowdnotes.jury.camp_model import CampModel
from crowdnotes.jury.features import BITS, Features
from crowdnotes.jury.model_file import load_model
from crowdnotes.studies.camp_notes import CampNotes
from crowdnotes.studies.jury_bench import CampFigures, measure_camps

_FILE = "notes.npz"


def save_held_out(read: Features, notes: CampNotes, folder: Path) -> None:
    """Write features and votes of notes, without ids and text."""
    arrays: dict[str, Any] = {
        "manner": read.manner.astype(np.float32),
        "stances": read.stances.astype(np.float32),
        "vectors": read.vectors.astype(np.float16),
        "divides": notes.divides,
        "approvals": notes.approvals.astype(np.float32),
        "raters": notes.raters.astype(np.float32),
    }
    for name, block in read.blocks.items():
        arrays[f"{name}/columns"] = block.indices.astype(np.int32)
        arrays[f"{name}/rows"] = block.indptr.astype(np.int32)
    np.savez_compressed(folder / _FILE, **arrays)


def measure_held_out(folder: Path) -> CampFigures:
    """Measure the twin in `folder` on the notes beside it. Raises ConfigurationError when a file is damaged."""
    model = load_model(folder)
    if not isinstance(model, CampModel):
        raise ConfigurationError("The held-out twin is not a model of camps.", "Train the jury again.")
    try:
        with np.load(folder / _FILE, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (OSError, ValueError) as error:
        raise ConfigurationError("The held-out notes cannot be read.", "Install the program again.") from error
    count = len(arrays["divides"])
    blocks = {
        name: csr_matrix(
            (
                np.ones(len(arrays[f"{name}/columns"]), dtype=np.float32),
                arrays[f"{name}/columns"],
                arrays[f"{name}/rows"],
            ),
            shape=(count, 1 << bits),
        )
        for name, bits in BITS.items()
    }
    read = Features(
        blocks,
        arrays["manner"].astype(np.float64),
        arrays["stances"].astype(np.float64),
        arrays["vectors"].astype(np.float32),
    )
    return measure_camps(
        model,
        model.read_camps(read),
        arrays["divides"],
        arrays["approvals"].astype(np.float64),
        arrays["raters"].astype(np.float64),
        {},
    )
