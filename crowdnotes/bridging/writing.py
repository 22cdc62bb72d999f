"""A fit to Parquet, under the names that the scorer's own files use."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crowdnotes.bridging.parameters import Factorization, SideParameters
from crowdnotes.errors import InputError


def write_fit(fit: Factorization, out: Path) -> tuple[Path, Path]:
    """Write notes.parquet (note_id, note_intercept, note_factor) and raters.parquet (rater_id, …) into a folder.

    With several factors the second and third are note_factor_2 and so on. Both files are whole or not there.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        return _write(fit.notes, "note", out), _write(fit.raters, "rater", out)
    except OSError as error:
        raise InputError(
            f"The folder {out} cannot be written: {error.strerror or error}.", "Choose another folder."
        ) from error


def _write(side: SideParameters, name: str, out: Path) -> Path:
    columns = {f"{name}_id": pa.array(side.ids.tolist()), f"{name}_intercept": pa.array(side.intercepts)}
    for k in range(side.factors.shape[1]):
        columns[f"{name}_factor" if k == 0 else f"{name}_factor_{k + 1}"] = pa.array(side.factors[:, k].copy())
    target = out / f"{name}s.parquet"
    unfinished = target.with_suffix(".unfinished")
    pq.write_table(pa.table(columns), unfinished)
    os.replace(unfinished, target)
    return target
