"""The result of a study of sources, kept for the Overview page: a sentence, and figures next to the paper's table 4."""

from __future__ import annotations

import tomllib
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from crowdnotes.domain import FrozenModel, SourceCategory
from crowdnotes.errors import InputError

_STUDY_FILE = "utility.json"


class Won(FrozenModel):
    """Of `pairs` how many the program's sources won, lost and tied, and the share that they won, ties half (95 %)."""

    pairs: int
    won: int
    lost: int
    tied: int
    rate: float
    low: float
    high: float


class LostPair(FrozenModel):
    """A pair that the program's sources lost, and what was said of it."""

    note_id: str
    why: tuple[str, ...]


class UtilityStudy(FrozenModel):
    """A study's result. wins: "all", "helpful", "not helpful": by X's verdict on the contributor's note.

    with_none: all, those for which the program found nothing counted as lost. kinds: of the sources of the posts that
    were compared, how many the program chose and how many people cited. pages: pairs that were shown with passages.
    prompt_version: of the question to a model; "" where people judged.
    """

    made_at: datetime
    data: str
    places: tuple[str, ...]
    chosen_by: str
    judged_by: tuple[str, ...]
    prompt_version: str
    posts: int
    uncited: int
    nothing_found: int
    compared: int
    pages: int
    wins: dict[str, Won]
    with_none: float | None
    kinds: dict[SourceCategory, tuple[int, int]]
    lost: tuple[LostPair, ...]


def save_study(data_dir: Path, found: UtilityStudy) -> Path:
    """Keep it where the Overview page finds it. Raises InputError where it cannot be written."""
    file = data_dir / _STUDY_FILE
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file.name} cannot be written ({error.strerror}).", "Free some disk space.") from error
    return file


def saved_study(data_dir: Path) -> UtilityStudy | None:
    """Return the study that was kept; None where there is none. Raises InputError for a file that is none."""
    try:
        return UtilityStudy.model_validate_json((data_dir / _STUDY_FILE).read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise InputError(
            f"The result in {_STUDY_FILE} cannot be read.",
            "Delete it, or run `crowdnotes bench utility` again with --save.",
        ) from error


_LABEL_BY_GROUP = {
    "all": "CrowdNotes here",
    "helpful": "of these, where the note is rated helpful",
    "not helpful": "of these, where the note is rated not helpful",
}


def utility_verdict(found: UtilityStudy) -> str:
    """Whose sources were of more use, with the interval."""
    won = found.wins["all"]
    verdict = "chance" if won.low <= 0.5 <= won.high else "better" if won.rate > 0.5 else "worse"
    share, low, high = (f"{value:.0%}" for value in (won.rate, won.low, won.high))
    result = (
        f"In {share} of {won.pairs} pairs the sources of CrowdNotes were of more use ({low} to {high}, a tie "
        "counts half)."
    )
    return f"{result} {_SENTENCE_BY_VERDICT[verdict]}"


_SENTENCE_BY_VERDICT = {
    "better": "That is more often than chance explains.",
    "worse": "That is less often than chance explains.",
    "chance": "Chance alone could explain that.",
}


def utility_table(found: UtilityStudy) -> dict[str, list[object]]:
    """In percent of the pairs how many were won, lost and tied: here, and what the paper measured."""
    rows: list[tuple[str, object, float, float, float]] = []
    for group, won in found.wins.items():
        shares = (100 * number / won.pairs for number in (won.won, won.lost, won.tied))
        rows.append((_LABEL_BY_GROUP[group], won.pairs, *shares))  # type: ignore[arg-type]
    for known in published()["utility"]:
        name = f"{known['name']}, in the CrowdNotes+ paper"
        rows.append((name, known["pairs"], known["won"], known["lost"], known["tied"]))
    who, pairs, *shares_of = zip(*rows, strict=True)
    names = ("Won", "Lost", "Tied")
    return {
        "Who chose the sources": list(who),
        "Pairs": list(pairs),
        **{name: [f"{share:.0f} %" for share in column] for name, column in zip(names, shares_of, strict=True)},
    }


@cache
def published() -> dict[str, Any]:
    """Return the paper's figures, from the table next to this file."""
    return tomllib.loads(Path(__file__).with_name("utility_published.toml").read_text("utf-8"))
