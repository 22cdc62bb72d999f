"""A trained model on disk: model.json (numbers and names) beside weights.npz (plain arrays, never pickle).

Weights are kept in half precision: they lose nothing that the measured figures would show.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crowdnotes.domain import JuryQuality
from crowdnotes.errors import ConfigurationError
from crowdnotes.jury import features as reading
from crowdnotes.jury.camp_model import CampModel, DividedShares
from crowdnotes.jury.heads import Blend, Channel, Head, Landmarks, VectorsHalf, WordsHalf
from crowdnotes.jury.leanings import shipped_leanings
from crowdnotes.jury.raters import SHIPPED_MODEL, Jurors
from crowdnotes.jury.rating_model import RatingModel
from crowdnotes.jury.reading_model import JuryModel, SideRaters
from crowdnotes.jury.votes import OrdinalModel

DESCRIPTION, WEIGHTS = "model.json", "weights.npz"
_HEADS = {CampModel: ("splits", "positive_likes", "joined"), RatingModel: ("appeal", "lean")}
_KINDS: dict[str, type[CampModel] | type[RatingModel]] = {"camps": CampModel, "ratings": RatingModel}
Arrays = dict[str, npt.NDArray[Any]]


def save_model(model: CampModel | RatingModel, folder: Path) -> None:
    """Write both files; the description holds the weights' sha256."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays: Arrays = {}
    content: dict[str, Any] = {
        "kind": next(kind for kind, made in _KINDS.items() if made is type(model)),
        "name": model.name,
        "features": reading.VERSION,
        "leanings_sha256": shipped_leanings().sha256,
        "embedder": model.embedder,
        "link": asdict(model.ordinal),
        "sides": {
            name: {"intercepts": side.intercepts.tolist(), "factors": side.factors.tolist()}
            for name, side in (("negative", model.sides.negative), ("positive", model.sides.positive))
        },
        "quality": model.quality.model_dump(),
        "heads": {name: _pack(name, getattr(model, name), arrays) for name in _HEADS[type(model)]},
        "sharpness": model.landmarks.sharpness,
    }
    arrays["landmarks/points"], arrays["landmarks/scales"] = model.landmarks.points, model.landmarks.scales
    if isinstance(model, CampModel):
        content["divided"] = asdict(model.divided)
    else:
        arrays["posts"] = model.post_weights
    halved: dict[str, Any] = {name: array.astype(np.float16) for name, array in arrays.items()}
    np.savez_compressed(folder / WEIGHTS, **halved)
    content["weights_sha256"] = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    (folder / DESCRIPTION).write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")


def load_model(folder: Path | None = None) -> JuryModel:
    """The model in a folder, or the shipped one. Raises ConfigurationError when its files are not as written."""
    return _load(SHIPPED_MODEL if folder is None else folder)


@lru_cache(maxsize=2)
def _load(folder: Path) -> JuryModel:
    try:
        content = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        raw = (folder / WEIGHTS).read_bytes()
    except (OSError, ValueError) as error:
        raise _damaged("cannot be read") from error
    if (content.get("features"), content.get("leanings_sha256")) != (reading.VERSION, shipped_leanings().sha256):
        raise _damaged("was trained for another version of the program")
    if hashlib.sha256(raw).hexdigest() != content["weights_sha256"]:
        raise _damaged("has weights that are not the ones described (their checksum differs)")
    with np.load(folder / WEIGHTS, allow_pickle=False) as stored:
        arrays = {name: stored[name].astype(np.float32) for name in stored.files}
    kind = _KINDS[content["kind"]]
    heads: dict[str, Any] = {name: _unpack(name, content["heads"][name], arrays) for name in _HEADS[kind]}
    common: dict[str, Any] = {
        "name": content["name"],
        "embedder": content["embedder"],
        "ordinal": OrdinalModel(**content["link"]),
        "sides": SideRaters(
            **{
                name: Jurors(np.asarray(side["intercepts"]), np.asarray(side["factors"]))
                for name, side in content["sides"].items()
            }
        ),
        "quality": JuryQuality.model_validate(content["quality"]),
        "landmarks": Landmarks(arrays["landmarks/points"], arrays["landmarks/scales"], content["sharpness"]),
    }
    if kind is CampModel:
        common["divided"] = DividedShares(**content["divided"])
    else:
        common["post_weights"] = arrays["posts"].astype(np.float64)
    return kind(**heads, **common)


def _pack(name: str, head: Head, arrays: Arrays) -> dict[str, Any]:
    for number, channel in enumerate(head.words.channels):
        arrays[f"{name}/{number}/squares"] = channel.squares
        arrays[f"{name}/{number}/products"] = channel.products
    arrays[f"{name}/vectors"] = head.vectors.coefficients
    return {
        "channels": [channel.block for channel in head.words.channels],
        "manner": head.words.manner.tolist(),
        "stances": head.words.stances.tolist(),
        "constants": [head.words.constant, head.vectors.constant],
        "both": asdict(head.both),
        "words_alone": asdict(head.words_alone),
    }


def _unpack(name: str, content: dict[str, Any], arrays: Arrays) -> Head:
    channels = tuple(
        Channel(block, arrays[f"{name}/{number}/squares"], arrays[f"{name}/{number}/products"])
        for number, block in enumerate(content["channels"])
    )
    words, vectors = content["constants"]
    return Head(
        WordsHalf(channels, np.asarray(content["manner"]), np.asarray(content["stances"]), words),
        VectorsHalf(arrays[f"{name}/vectors"].astype(np.float64), vectors),
        Blend(**content["both"]),
        Blend(**content["words_alone"]),
    )


def _damaged(what: str) -> ConfigurationError:
    return ConfigurationError(f"The jury's model {what}.", "Install the program again, or train it again.")
