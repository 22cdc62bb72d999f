"""From a note's text to its appeal and lean: what is read of it, the jury's trained models, and how they lie on disk.

Of a text: hashed words, letters and link hosts, and an embedding. Hashing keeps no vocabulary: the trained weights hold
no words of anybody's note. Links count twice: by where they lead (host, account) and by the words in their path, which
often repeat a headline.

A model is a few scores, linear in the same columns: the hashed ones by rarity, each kind brought to length one, and how
near the note's vector is to those of other notes. A `CampModel` learned from votes of two camps, without any single
rater's: does a note divide the camps, and which camp then likes it? The mixture gives each side's chance of "helpful",
and the two chances fix the note's appeal and lean. A `RatingModel` learned from single ratings of X's public data: it
scores appeal and lean straight away, and may read the post.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from crowdnotes.domain import JuryQuality
from crowdnotes.errors import ConfigurationError
from crowdnotes.jury.raters import ASSETS, Floats, Jurors
from crowdnotes.jury.votes import OrdinalModel, Predictions, Sides
from crowdnotes.text.note_rules import find_urls, without_urls

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from crowdnotes.engines.embedding import Embedder

VERSION = 4
_HASH_BITS = {"words": 18, "letters": 18, "hosts": 14}
_WORD_OR_MARK = r"(?u)\b\w+\b|[!?]"
_HOST_PATTERN = re.compile(r"^https?://(?:www\.|m\.|mobile\.|amp\.|en\.m\.)?([^/?#]+)(?:/([^/?#]+))?", re.IGNORECASE)
_X_HOSTS = frozenset({"x.com", "twitter.com"})


def _build_block_slices() -> dict[str, slice]:
    ends = np.cumsum([1 << bits for bits in _HASH_BITS.values()])
    return {
        name: slice(int(end) - (1 << bits), int(end))
        for (name, bits), end in zip(_HASH_BITS.items(), ends, strict=True)
    }


BLOCKS = _build_block_slices()  # the columns of each kind
COLUMNS = max(block.stop for block in BLOCKS.values())


@dataclass(frozen=True)
class Features:
    """Of n notes: hashed presence (n, COLUMNS), and unit vectors (n, d), or (n, 0) where there is no embedder."""

    hashed: csr_matrix
    vectors: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return int(self.hashed.shape[0])

    def rows(self, chosen: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> Features:
        """Return some of the notes."""
        return Features(self.hashed[chosen], self.vectors[chosen])

    def with_vectors(self, vectors: npt.NDArray[np.float32]) -> Features:
        """Return the same words with other vectors."""
        return Features(self.hashed, vectors)

    def without_vectors(self) -> Features:
        """Return the same words for a model whose embedder is not at hand."""
        return self.with_vectors(np.zeros((len(self), 0), dtype=np.float32))


def features(notes: Sequence[str], embedder: Embedder | None) -> Features:
    """Read notes. Without an embedder the vectors have no columns (`with_vectors` adds them)."""
    if embedder is None:
        vectors = np.zeros((len(notes), 0), dtype=np.float32)
    else:
        vectors = embedder.encode([without_urls(note) for note in notes])
    return Features(_hash_notes(notes), vectors)


def hosts_of(note: str) -> list[str]:
    """Hosts without www., and "@account" after the host of each link to a post on X; in lower case, in order."""
    found = []
    for url in find_urls(note):
        parts = _HOST_PATTERN.match(url.url if url.has_scheme else f"https://{url.url}")
        if parts is None:
            continue
        host = parts[1].lower()
        found.append(host)
        if host in _X_HOSTS and parts[2]:
            found.append(f"@{parts[2].lower()}")
    return found


def _hash_notes(notes: Sequence[str]) -> csr_matrix:
    from scipy.sparse import csr_matrix, hstack

    if not notes:  # scikit-learn cannot hash nothing
        return csr_matrix((0, COLUMNS), dtype=np.float32)
    from sklearn.feature_extraction.text import HashingVectorizer

    def block(name: str, texts: Sequence[str], **how: object) -> csr_matrix:
        return HashingVectorizer(
            n_features=1 << _HASH_BITS[name], alternate_sign=False, norm=None, binary=True, dtype=np.float32, **how
        ).transform(texts)

    texts = [f"{without_urls(note)} . {_extract_path_words(note)}" for note in notes]
    return hstack(
        (
            block("words", texts, token_pattern=_WORD_OR_MARK, ngram_range=(1, 2)),
            block("letters", texts, analyzer="char_wb", ngram_range=(2, 5)),
            block("hosts", notes, analyzer=hosts_of),
        )
    ).tocsr()


def _extract_path_words(note: str) -> str:
    paths = (re.sub(r"^https?://[^/]*", "", url.url.lower()) for url in find_urls(note))
    return " ".join(word for path in paths for word in re.findall(r"[a-z]{2,}", path))


SHIPPED_MODEL = ASSETS / "model"
DESCRIPTION, WEIGHTS = "model.json", "weights.npz"
Singles = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Rarity:
    """How much each hashed column counts, (COLUMNS,): rare ones more, those of fewer than two notes nothing."""

    weights: Singles

    @classmethod
    def of(cls, hashed: csr_matrix) -> Rarity:
        """Learned from notes."""
        seen = np.asarray((hashed > 0).sum(axis=0)).ravel()
        rare = np.log((1 + hashed.shape[0]) / (1 + seen)) + 1
        # Half precision from the start, so that what is measured is what is saved.
        return cls(np.where(seen < 2, 0, rare).astype(np.float16).astype(np.float32))

    def apply(self, hashed: csr_matrix) -> csr_matrix:
        """Rows of rarity, each kind of column brought to length one."""
        from scipy.sparse import diags, hstack
        from sklearn.preprocessing import normalize

        parts = [normalize(hashed[:, block] @ diags(self.weights[block])) for block in BLOCKS.values()]
        return hstack(parts).tocsr()

    def familiarity(self, hashed: csr_matrix) -> Floats:
        """Return the share of each note's words and pairs of words that two notes or more had, (n,); 0 without any."""
        words = hashed[:, BLOCKS["words"]]
        known = np.asarray(words @ (self.weights[BLOCKS["words"]] > 0).astype(np.float64))
        entries = np.diff(words.indptr)
        share: Floats = np.divide(known, entries, out=np.zeros(len(entries)), where=entries > 0)
        return share


@dataclass(frozen=True)
class Landmarks:
    """Notes that others are near to: unit vectors (l, d), and the sharpness of exp(-sharpness |x - y|^2)."""

    points: Singles
    sharpness: float

    def near(self, vectors: Singles) -> Floats:
        """Nearness of unit vectors (n, d) to the landmarks, (n, l)."""
        near: Floats = np.exp(-2 * self.sharpness * (1 - vectors @ self.points.T)).astype(np.float64)
        return near


@dataclass(frozen=True)
class Score:
    """One log odds: weights of the hashed columns (COLUMNS,) and of nearness to each landmark (l,), and a constant.

    alone: constant and slope of the hashed columns' part for a note without a vector.
    """

    hashed: Singles
    meaning: Singles
    constant: float
    alone: tuple[float, float] = (0.0, 1.0)

    def log_odds(self, weighed: csr_matrix, near: Floats | None) -> Floats:
        """Of columns that `Rarity.apply` weighed and nearness (n, l), None without vectors: (n,)."""
        by_words: Floats = (weighed @ self.hashed).astype(np.float64)
        if near is None:
            return self.alone[0] + self.alone[1] * by_words
        total: Floats = self.constant + by_words + near @ self.meaning
        return total


@dataclass(frozen=True)
class JuryModel(ABC):
    """What every model of the jury has. embedder: whose vectors it knows. sides: the raters of its training."""

    name: str
    embedder: str
    rarity: Rarity
    landmarks: Landmarks
    scores: Mapping[str, Score]
    ordinal: OrdinalModel
    sides: Sides
    quality: JuryQuality

    @property
    def reads_post(self) -> bool:
        """Whether the post's text counts."""
        return False

    @abstractmethod
    def predict(self, notes: Features, posts: Features | None = None) -> Predictions:
        """Appeal and lean of notes; those without vectors are read by words, letters and hosts alone.

        posts: of the notes' posts, row by row, for a model that reads them; None where there is no post.
        """

    def score(self, notes: Features) -> dict[str, Floats]:
        """Every score's log odds, (n,) each."""
        weighed = self.rarity.apply(notes.hashed)
        near = self.landmarks.near(notes.vectors) if notes.vectors.shape[1] else None
        return {name: score.log_odds(weighed, near) for name, score in self.scores.items()}

    def side_shares(self, predicted: Predictions) -> Floats:
        """Return the mean P(helpful) on each side, − then +: (n, 2)."""
        return self.sides.shares(predicted, self.ordinal)


@dataclass(frozen=True)
class CampModel(JuryModel):
    """See the module's words.

    likes, dislikes: shares of helpful votes on a divided note in the camp that likes it, and in the other.
    joined: the share on both sides of a note that does not divide.
    """

    likes: float
    dislikes: float
    joined: float

    def camp_chances(self, notes: Features) -> CampChances:
        """Return whether the sides divide over each note, and whether side + is then the one that likes it."""
        scores = self.score(notes)
        return CampChances(expit(scores["splits"]), expit(scores["positive_likes"]))

    def camp_shares(self, camps: CampChances) -> Floats:
        """Return the share of helpful votes expected on each side, − then +: (n, 2)."""
        positive = self.dislikes + camps.positive_likes * (self.likes - self.dislikes)
        divided = np.column_stack((self.likes + self.dislikes - positive, positive))
        splits = camps.splits[:, None]
        return (1 - splits) * self.joined + splits * divided

    def predict(self, notes: Features, posts: Features | None = None) -> Predictions:  # noqa: ARG002 - reads no posts
        """See `JuryModel.predict`."""
        camps = self.camp_chances(notes)
        return Predictions(*self.sides.appeal_and_lean(self.camp_shares(camps), self.ordinal), camps.splits)


@dataclass(frozen=True)
class CampChances:
    """Of n notes, (n,) each: the chance that the sides divide, and that side + is then the one that likes it."""

    splits: Floats
    positive_likes: Floats


@dataclass(frozen=True)
class RatingModel(JuryModel):
    """See the module's words.

    post_weights (d + 1, 2): of the post's vector and of note and post's likeness, on appeal and lean;
    no rows when it was trained without posts.
    """

    post_weights: Floats

    @property
    def reads_post(self) -> bool:
        """See `JuryModel`."""
        return bool(len(self.post_weights))

    def predict(self, notes: Features, posts: Features | None = None) -> Predictions:
        """See `JuryModel.predict`. A post counts only where both vectors are there."""
        scores = self.score(notes)
        both = np.column_stack((scores["appeal"], scores["lean"]))
        if posts is not None and self.reads_post and notes.vectors.shape[1]:
            both = both + post_columns(notes, posts) @ self.post_weights
        return Predictions(both[:, 0], both[:, 1])


def post_columns(notes: Features, posts: Features) -> Floats:
    """Return what is read of posts, (n, d + 1): their vectors, and their likeness to the notes."""
    likeness = np.einsum("nd,nd->n", notes.vectors, posts.vectors)
    return np.column_stack((posts.vectors, likeness)).astype(np.float64)


_MODEL_BY_KIND: dict[str, type[CampModel] | type[RatingModel]] = {"camps": CampModel, "ratings": RatingModel}


def save_model(model: CampModel | RatingModel, folder: Path) -> None:
    """Write model.json (numbers and names) and weights.npz (plain arrays in half precision, never pickle)."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, npt.NDArray[Any]] = {"rarity": model.rarity.weights, "landmarks": model.landmarks.points}
    for name, score in model.scores.items():
        arrays |= {f"{name}/hashed": score.hashed, f"{name}/meaning": score.meaning}
    content: dict[str, Any] = {
        "kind": next(kind for kind, made in _MODEL_BY_KIND.items() if made is type(model)),
        "name": model.name,
        "features": VERSION,
        "embedder": model.embedder,
        "ordinal": asdict(model.ordinal),
        "sides": {
            name: {"intercepts": side.intercepts.tolist(), "factors": side.factors.tolist()}
            for name, side in (("negative", model.sides.negative), ("positive", model.sides.positive))
        },
        "quality": model.quality.model_dump(),
        "sharpness": model.landmarks.sharpness,
        "constants": {name: [score.constant, *score.alone] for name, score in model.scores.items()},
    }
    if isinstance(model, CampModel):
        content["shares"] = {"likes": model.likes, "dislikes": model.dislikes, "joined": model.joined}
    else:
        arrays["posts"] = model.post_weights
    halved: dict[str, Any] = {name: array.astype(np.float16) for name, array in arrays.items()}
    np.savez_compressed(folder / WEIGHTS, **halved)
    content["weights_sha256"] = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    (folder / DESCRIPTION).write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")


def load_model(folder: Path | None = None) -> CampModel | RatingModel:
    """Return the model in a folder, or the shipped one. Raises ConfigurationError when its files are not as written."""
    return _load_cached_model(SHIPPED_MODEL if folder is None else folder)


@lru_cache(maxsize=2)
def _load_cached_model(folder: Path) -> CampModel | RatingModel:
    try:
        content = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        raw = (folder / WEIGHTS).read_bytes()
    except (OSError, ValueError) as error:
        raise _build_damaged_error("The jury's model cannot be read.") from error
    if content.get("features") != VERSION:
        raise _build_damaged_error("The jury's model was trained for another version of the program.")
    if hashlib.sha256(raw).hexdigest() != content["weights_sha256"]:
        raise _build_damaged_error(
            "The jury's model has weights that are not the ones described (their checksum differs)."
        )
    with np.load(folder / WEIGHTS, allow_pickle=False) as stored:
        arrays = {name: stored[name].astype(np.float32) for name in stored.files}
    kind = _MODEL_BY_KIND[content["kind"]]
    own: dict[str, Any] = content["shares"] if kind is CampModel else {"post_weights": arrays["posts"].astype(float)}
    return kind(
        name=content["name"],
        embedder=content["embedder"],
        rarity=Rarity(arrays["rarity"]),
        landmarks=Landmarks(arrays["landmarks"], content["sharpness"]),
        scores={
            name: Score(arrays[f"{name}/hashed"], arrays[f"{name}/meaning"], constant, (alone, slope))
            for name, (constant, alone, slope) in content["constants"].items()
        },
        ordinal=OrdinalModel(**content["ordinal"]),
        sides=Sides(
            **{
                name: Jurors(np.asarray(side["intercepts"]), np.asarray(side["factors"]))
                for name, side in content["sides"].items()
            }
        ),
        quality=JuryQuality.model_validate(content["quality"]),
        **own,
    )


def _build_damaged_error(what: str) -> ConfigurationError:
    return ConfigurationError(what, "Install the program again, or train it again.")
