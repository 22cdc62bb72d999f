"""Train the jury on camps: three heads, calibrated on newer notes than those that they were fitted to.

Newer notes count more (topics come and go): a note's weight halves with every `half_life_days`. Which side likes
a note is also learned from written statements, for the news that had no votes yet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crowdnotes.domain import JuryQuality
from crowdnotes.errors import InputError
from crowdnotes.jury.camp_model import CampModel, DividedShares
from crowdnotes.jury.features import Features
from crowdnotes.jury.heads import Blend, Head, Landmarks
from crowdnotes.jury.reading_model import SideRaters
from crowdnotes.jury.votes import OrdinalModel
from crowdnotes.studies.camp_notes import CampNotes
from crowdnotes.studies.jury_halves import Mapped, WordsRecipe, blends, choose_landmarks, learn_vectors, learn_words
from crowdnotes.studies.jury_statements import Statements

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Progress = Callable[[str], None]
_LEAST_NOTES = 60  # of each answer; below that nothing is learned that would hold
_IDF = (("words", "idf"), ("letters", "idf"), ("sources", "idf"))


@dataclass(frozen=True)
class CampRecipe:
    """Every choice of the training; the defaults did best on splits of the older notes (see the model card).

    statement_weight: of each written statement, beside the mean weight of the divided notes.
    """

    half_life_days: float = 400.0
    calibration_share: float = 0.25
    landmarks: tuple[int, int] = (2400, 600)  # notes that divide, and that do not
    sharpness: float = 1.0
    landmark_stances: float = 0.12
    statement_weight: float = 0.35
    splits: WordsRecipe = field(default_factory=lambda: WordsRecipe(_IDF, 2.0, stances=0.04))
    positive_likes: WordsRecipe = field(
        default_factory=lambda: WordsRecipe(
            (("words", "ratio"), ("words", "idf"), ("sources", "ratio"), ("kinds", "ratio"), ("frames", "ratio")),
            1.0,
            manner=0.03,
            stances=0.05,
        )
    )
    joined: WordsRecipe = field(default_factory=lambda: WordsRecipe(_IDF, 0.5))
    vectors_strength: float = 4.0
    positive_likes_vectors_strength: float = 5.0


@dataclass(frozen=True)
class _Task:
    """One head's question: of which notes, with which answer, by which recipe."""

    of: Bools
    target: Floats
    recipe: WordsRecipe
    vectors_strength: float


def train_camp_model(
    notes: CampNotes,
    read: Features,
    statements: Statements,
    *,
    name: str,
    embedder: str,
    sides: SideRaters,
    ordinal: OrdinalModel,
    quality: JuryQuality,
    recipe: CampRecipe | None = None,
    progress: Progress = lambda line: None,  # noqa: ARG005
) -> CampModel:
    """Learn from notes in order of time and their features, row by row, and from statements.

    Raises InputError when one of the answers is too rare to learn from.
    """
    recipe = recipe or CampRecipe()
    _check(notes)
    older = np.arange(len(notes)) < round(len(notes) * (1 - recipe.calibration_share))
    newer = ~older
    older &= ~np.isin(notes.posts, notes.posts[newer])
    early = _landmarks(notes, read, older, recipe)
    landmarks = _landmarks(notes, read, np.ones(len(notes), dtype=bool), recipe)
    tasks = _tasks(notes, statements, recipe)
    weight = 0.5 ** ((notes.days[-1] - notes.days) / recipe.half_life_days)
    of_statement = recipe.statement_weight * weight[notes.divides].mean()
    weight = np.concatenate((weight, np.full(len(statements), of_statement)))
    read = read.and_rows(statements.read)
    older, newer = _with(older, statements, True), _with(newer, statements, False)
    maps = (Mapped.of(read, early), Mapped.of(read, landmarks))
    heads = {}
    for head, task in tasks.items():
        progress(f"learning {head}")
        blend = _calibrate(task, read, maps[0], weight, older, newer)
        heads[head] = _learn(task, read, maps[1], weight, blend)
    shares = notes.approvals[notes.divides]
    return CampModel(
        name=name,
        embedder=embedder,
        splits=heads["splits"],
        positive_likes=heads["positive_likes"],
        joined=heads["joined"],
        landmarks=landmarks,
        divided=DividedShares(float(shares.max(axis=1).mean()), float(shares.min(axis=1).mean())),
        sides=sides,
        ordinal=ordinal,
        quality=quality,
    )


def _tasks(notes: CampNotes, statements: Statements, recipe: CampRecipe) -> dict[str, _Task]:
    """The three heads' questions, over the notes and then the statements, which tell of sides alone."""
    everything = np.ones(len(notes), dtype=bool)
    none = np.zeros(len(statements))
    strength = recipe.vectors_strength
    return {
        "splits": _Task(
            _with(everything, statements, False), np.concatenate((notes.divides, none)), recipe.splits, strength
        ),
        "positive_likes": _Task(
            _with(notes.divides, statements, True),
            np.concatenate((notes.positive_likes, statements.positive)).astype(np.float64),
            recipe.positive_likes,
            recipe.positive_likes_vectors_strength,
        ),
        "joined": _Task(
            _with(~notes.divides, statements, False),
            np.concatenate((np.nan_to_num(notes.joined), none)),
            recipe.joined,
            strength,
        ),
    }


def _with(of_notes: Bools, statements: Statements, of_statements: bool) -> Bools:
    return np.concatenate((of_notes, np.full(len(statements), of_statements)))


def _landmarks(notes: CampNotes, read: Features, of: Bools, recipe: CampRecipe) -> Landmarks:
    return choose_landmarks(
        read.rows(of), notes.divides[of], recipe.landmarks, recipe.sharpness, recipe.landmark_stances
    )


def _calibrate(
    task: _Task, read: Features, mapped: Mapped, weight: Floats, older: Bools, newer: Bools
) -> tuple[Blend, Blend]:
    """Fit on the older notes, blend on the newer ones."""
    first, then = task.of & older, task.of & newer
    words = learn_words(read.rows(first), task.target[first], weight[first], task.recipe)
    vectors = learn_vectors(mapped, first, task.target, weight, task.vectors_strength)
    by_meaning = vectors.score(mapped, then)
    return blends(words.score(read.rows(then)), by_meaning, task.target[then], weight[then])


def _learn(task: _Task, read: Features, mapped: Mapped, weight: Floats, blend: tuple[Blend, Blend]) -> Head:
    words = learn_words(read.rows(task.of), task.target[task.of], weight[task.of], task.recipe)
    vectors = learn_vectors(mapped, task.of, task.target, weight, task.vectors_strength)
    return Head(words, vectors.on_landmarks(mapped), *blend)


def _check(notes: CampNotes) -> None:
    likes = notes.positive_likes[notes.divides]
    numbers = {
        "notes that join the camps": int((~notes.divides).sum()),
        "divided notes that side + likes": int(likes.sum()),
        "divided notes that side − likes": int((~likes).sum()),
    }
    for what, number in numbers.items():
        if number < _LEAST_NOTES:
            raise InputError(f"There are only {number} {what}; it takes {_LEAST_NOTES}.", "Train on more notes.")
