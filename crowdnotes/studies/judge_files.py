"""The files of the trained judges: weights, held-out figures, and the cards that tell what a judge can do.

`figures.json` pins what was measured and the SHA-256 of the weights it was measured on; a check fails when
the two part, or a figure falls.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crowdnotes.engines.local.heads.head import JUDGES
from crowdnotes.errors import InputError, ModelFilesError

FIGURES = "figures.json"
HELD_OUT = "{}-held-out.npz"
_TABLE = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HeldOutVerdicts:
    """What a judge said of notes it had not seen, as numbers: `marks` of their ids, probabilities, labels."""

    marks: npt.NDArray[np.uint64]
    probabilities: npt.NDArray[np.float64]
    labels: npt.NDArray[np.bool_]

    def by_mark(self) -> dict[int, float]:
        """Probability by mark."""
        return dict(zip(self.marks.tolist(), self.probabilities.tolist(), strict=True))


def write_held_out(folder: Path, judge: str, verdicts: HeldOutVerdicts) -> None:
    """Write a judge's held-out verdicts as plain arrays."""
    np.savez_compressed(
        folder / HELD_OUT.format(judge),
        allow_pickle=False,
        marks=verdicts.marks,
        probabilities=verdicts.probabilities.astype(np.float32),
        labels=verdicts.labels,
    )


def read_held_out(judge: str, folder: Path = JUDGES) -> HeldOutVerdicts:
    """What `write_held_out` wrote. Raises ModelFilesError when it is missing or damaged."""
    try:
        with np.load(folder / HELD_OUT.format(judge), allow_pickle=False) as file:
            return HeldOutVerdicts(file["marks"], file["probabilities"].astype(np.float64), file["labels"])
    except (OSError, ValueError, KeyError) as error:
        raise ModelFilesError(
            f"The held-out verdicts of the judge {judge} are missing or damaged.",
            "Put the folder assets/judges back, or train the judge again.",
        ) from error


def pin(folder: Path, judge: str, figures: Mapping[str, object], weights: Sequence[str]) -> None:
    """Write a judge's figures, with the SHA-256 of its weight files, into `figures.json` and its card."""
    path = folder / FIGURES
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    sums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in weights}
    known[judge] = {**figures, "weights_sha256": sums}
    path.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    card = JUDGES / f"{judge}.md"
    rows = "".join(f"| {name.replace('_', ' ')} | {_shown(value)} |\n" for name, value in figures.items())
    text = _TABLE.sub(lambda _: f"| figure | value |\n|---|---|\n{rows}", card.read_text(encoding="utf-8"))
    (folder / card.name).write_text(text, encoding="utf-8")


def made_folder(folder: Path) -> Path:
    """The folder, made when it is missing. Raises InputError when it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made ({error.strerror}).", "Give another --out.") from error
    return folder


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_shown(each)}" for name, each in value.items())
    return ", ".join(_shown(each) for each in value) if isinstance(value, list) else str(value)
