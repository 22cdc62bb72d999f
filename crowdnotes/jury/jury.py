"""The jury: one note's verdict, or several candidates' side by side.

A verdict is a simulation by a model that read texts and votes of the past; each carries the model's
measured quality, and every place that shows it must say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crowdnotes.domain import JuryVerdict
from crowdnotes.errors import InputError
from crowdnotes.jury.features import Features, features
from crowdnotes.jury.influence import influences
from crowdnotes.jury.model import JuryModel, load_model
from crowdnotes.jury.raters import RaterPool, Sampling, own_pool, sample_raters, shipped_pool
from crowdnotes.jury.verdict import cautions, check_note, is_unfamiliar, verdict_of
from crowdnotes.jury.votes import Predictions, Votes, simulate_votes
from crowdnotes.settings import BridgingSettings, JurySettings

if TYPE_CHECKING:
    from crowdnotes.embedding import Embedder


@dataclass(frozen=True)
class Jury:
    """Model, raters and thresholds put together once; safe to share between threads."""

    model: JuryModel
    pool: RaterPool
    embedder: Embedder
    settings: JurySettings
    bridging: BridgingSettings

    def verdict(
        self,
        post_text: str | None,
        note_text: str,
        *,
        jurors: int | None = None,
        seed: int | None = None,
        sampling: Sampling = Sampling.UNIFORM,
        explain: bool = True,
    ) -> JuryVerdict:
        """What a seeded jury says of one note; the same text, seed and number give the same verdict.

        jurors, seed: the settings' without. explain: also find the words that move the sides (up to a
        second). Raises InputError for a note without words, or far longer than any note.
        """
        (found,) = self.compare(post_text, [note_text], jurors=jurors, seed=seed, sampling=sampling, explain=explain)
        if isinstance(found, InputError):
            raise found
        return found

    def compare(
        self,
        post_text: str | None,
        candidates: Sequence[str],
        *,
        jurors: int | None = None,
        seed: int | None = None,
        sampling: Sampling = Sampling.UNIFORM,
        explain: bool = False,
    ) -> tuple[JuryVerdict | InputError, ...]:
        """Verdicts on several notes on one post, in the order given; in a note's place the error why it has none.

        All stand before the same jurors with the same luck, so that only the notes' words differ
        (but for AUDIENCE, where each note has its own viewers).
        """
        size = self.settings.jurors if jurors is None else jurors
        number = self.settings.seed if seed is None else seed
        if size < 1 or number < 0:
            raise InputError("A jury needs at least one juror, and a seed from 0 up.", "Give whole numbers.")
        refused = [_refusal(text, self.settings) for text in candidates]
        texts = [text for text, error in zip(candidates, refused, strict=True) if error is None]
        if not texts:
            return tuple(error for error in refused if error is not None)
        post = (post_text or "").strip() or None
        read, posts = self._read(texts), self._read_post(post, len(texts))
        predicted = self.model.predict(read, posts)
        familiar = self.model.rarity.familiarity(read.hashed)
        juries = self._juries(predicted, size, number, sampling)
        embedder = self.embedder if self.has_vectors else None

        def verdict(row: int) -> JuryVerdict:
            one = np.asarray([row])
            its_post = None if posts is None else posts.rows(one)
            explained = influences(texts[row], read.rows(one), its_post, self.model, embedder) if explain else ()
            return verdict_of(
                texts[row],
                post,
                juries[row],
                self.bridging,
                seed=number,
                sampling=sampling.value,
                splits=None if predicted.splits is None else float(predicted.splits[row]),
                influences=explained,
                cautions=cautions(texts[row], self.settings, vectors=self.has_vectors, familiar=float(familiar[row])),
                means_nothing=is_unfamiliar(float(familiar[row]), self.settings),
                model=self.model.name,
                quality=self.model.quality,
            )

        rows = iter(range(len(texts)))
        return tuple(verdict(next(rows)) if error is None else error for error in refused)

    def predict(self, post_text: str | None, notes: Sequence[str]) -> Predictions:
        """Appeal and lean of notes on one post, for those who rank many candidates (`rank`)."""
        for text in notes:
            check_note(text, self.settings)
        return self.model.predict(self._read(notes), self._read_post((post_text or "").strip() or None, len(notes)))

    def rank(self, predicted: Predictions, *, jurors: int | None = None, seed: int | None = None) -> Votes:
        """Notes that were predicted before one jury: their intercepts alone, without intervals or reasons."""
        chance = np.random.default_rng(self.settings.seed if seed is None else seed)
        sampled = sample_raters(self.pool, jurors or self.settings.jurors, chance)
        return simulate_votes(predicted, sampled, self.model.ordinal, self.settings, chance)

    @property
    def has_vectors(self) -> bool:
        """Whether the embedder at hand is the one that the model was trained with."""
        return self.embedder.name == self.model.embedder

    def _read(self, texts: Sequence[str]) -> Features:
        return features(texts, self.embedder if self.has_vectors else None)

    def _read_post(self, post: str | None, count: int) -> Features | None:
        if post is None or not self.model.reads_post:
            return None
        return self._read([post]).rows(np.zeros(count, dtype=np.intp))

    def _juries(self, predicted: Predictions, size: int, seed: int, sampling: Sampling) -> list[list[Votes]]:
        """Per note its juries, the first being the one whose votes are shown: [n][repeats]."""
        juries: list[list[Votes]] = [[] for _ in range(len(predicted))]
        notes = range(len(predicted))
        for repeat in range(self.settings.repeats):
            if sampling is Sampling.AUDIENCE:
                for row in notes:
                    chance = np.random.default_rng([seed, repeat])
                    note = predicted.only(row)
                    negative, positive = self.model.side_shares(note)[0]
                    tilt = float(self.settings.like_minded * (negative - positive))
                    jurors = sample_raters(self.pool, size, chance, sampling, audience_tilt=tilt)
                    juries[row].append(simulate_votes(note, jurors, self.model.ordinal, self.settings, chance))
                continue
            chance = np.random.default_rng([seed, repeat])
            jurors = sample_raters(self.pool, size, chance, sampling)
            votes = simulate_votes(predicted, jurors, self.model.ordinal, self.settings, chance)
            for row in notes:
                juries[row].append(votes.only(row))
        return juries


def open_jury(settings: JurySettings, bridging: BridgingSettings, embedder: Embedder) -> Jury:
    """The jury by the settings: the shipped model and pool, or one's own.

    Raises ConfigurationError when the model's files are damaged, InputError for a pool that cannot be used.
    """
    pool = shipped_pool() if settings.raters is None else own_pool(settings.raters)
    return Jury(load_model(settings.model), pool, embedder, settings, bridging)


def _refusal(text: str, settings: JurySettings) -> InputError | None:
    """Why a note cannot be judged, if it cannot."""
    try:
        check_note(text, settings)
    except InputError as error:
        return error
    return None
