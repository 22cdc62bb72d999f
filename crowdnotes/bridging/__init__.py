"""The Community Notes algorithm: public data, matrix factorization, notes scored with raters frozen, status.

`factorization.fit` and `scoring.score_notes` are the two solves; `public_files` and `ratings` bring the data in;
`rules.decide` gives one note its status, `public_scoring` every note of a download.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from platformdirs import user_cache_path


@cache
def compiled_code_folder() -> Path | None:
    """Return where numba keeps compiled loops, looked for as numba does; None where it may write nowhere."""
    named = os.environ.get("NUMBA_CACHE_DIR", "")
    places = [*([Path(named)] if named else []), Path(__file__).parent / "__pycache__"]
    with suppress(RuntimeError):  # a user without a home
        places.append(user_cache_path("numba", appauthor=False))
    return next((place for place in places if _can_write(place)), None)


def has_kept_code() -> bool:
    """Return whether the compiled loops are kept, so that none has to be compiled."""
    folder = compiled_code_folder()
    return folder is not None and any(folder.rglob("solver.*.nbi"))


def compiled_code_warning() -> str:
    """Return a warning that compiled loops cannot be kept; "" where they can."""
    if compiled_code_folder() is not None:
        return ""
    return (
        "Each start takes half a minute longer, as what the Algorithm page compiles cannot be kept. Set "
        "NUMBA_CACHE_DIR to a folder that can be written."
    )


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True
