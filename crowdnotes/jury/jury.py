"""The jury: one note's verdict, or several candidates' side by side.

A verdict is a simulation by a model that read texts and votes of the past; each carries the model's
measured quality, and every place that shows it must say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.domain import Influence, JuryQuality, JuryVerdict, NoteChange
from crowdnotes.errors import InputError
from crowdnotes.jury.model import SHIPPED_MODEL, Features, JuryModel, features, load_model
from crowdnotes.jury.raters import Floats, RaterPool, Sampling, own_pool, sample_raters, shipped_pool
from crowdnotes.jury.shown_odds import ShownHead, open_shown, rows_of_blocks
from crowdnotes.jury.verdict import best_change, cautions, check_note, influences, is_unfamiliar, verdict_of
from crowdnotes.jury.votes import Crowd, Predictions, Votes, careful_intercepts, possible_intercepts, simulate_votes
from crowdnotes.settings_sections import JurySettings

if TYPE_CHECKING:
    from crowdnotes.engines.embedding import Embedder
    from crowdnotes.engines.local.trained_models import Blocks


@dataclass(frozen=True)
class Jury:
    """Model and raters put together once; safe to share between threads.

    shown: how likely X shows a note, which sets the intercept; without it the model's own appeal does. crowd: the
    pool in few raters.
    """

    model: JuryModel
    pool: RaterPool
    embedder: Embedder
    settings: JurySettings
    crowd: Crowd
    shown: ShownHead | None = None

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
        """Return what a seeded jury says of one note; the same text, seed and number give the same verdict.

        jurors, seed: as set, if None. explain: also find the words that move the sides (up to a second).
        Raises InputError for a note without words, or far longer than any note.
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
        """Return verdicts on several notes on one post, in the order given, or the error why a note has none.

        All have the same jurors and the same luck, so that only the notes' words differ
        (but for AUDIENCE, where each note has its own viewers).
        """
        size = self.settings.jurors if jurors is None else jurors
        number = self.settings.seed if seed is None else seed
        if size < 1 or number < 0:
            raise InputError("A jury needs at least one juror, and a seed from 0 up.", "Give whole numbers.")
        refused = [_get_note_error(text) for text in candidates]
        texts = [text for text, error in zip(candidates, refused, strict=True) if error is None]
        if not texts:
            return tuple(error for error in refused if error is not None)
        post = (post_text or "").strip() or None
        read = self._read(post, texts)
        predicted = self._predicted(read)
        familiar = self.model.rarity.familiarity(read.notes.hashed)
        juries = self._juries(predicted, size, number, sampling)

        def verdict(row: int) -> JuryVerdict:
            explained = self._explained(post, texts[row], read.only(row)) if explain else ()
            change = self._find_best_change(post, texts[row], read.only(row)) if explain else None
            return verdict_of(
                texts[row],
                post,
                juries[row],
                seed=number,
                sampling=sampling.value,
                splits=None if predicted.splits is None else float(predicted.splits[row]),
                chance_of_shown=None if predicted.shown is None else float(predicted.shown[row]),
                best_change=change,
                influences=explained,
                cautions=cautions(texts[row], self.settings, vectors=self.has_vectors, familiar=float(familiar[row])),
                means_nothing=is_unfamiliar(float(familiar[row]), self.settings),
                model=self.model.name,
                quality=self.quality,
            )

        rows = iter(range(len(texts)))
        return tuple(verdict(next(rows)) if error is None else error for error in refused)

    def with_chances(self, read: Features, shown: Floats) -> Predictions:
        """Return appeal and lean of notes, of any posts, whose chances of being shown (n,) are known."""
        predicted = replace(self.model.predict(read), shown=shown)
        return self._at(predicted, careful_intercepts(shown, THRESHOLDS.helpful_intercept))

    def rank(self, predicted: Predictions) -> Votes:
        """Judge predicted notes by one jury: their intercepts alone, without intervals or reasons."""
        chance = np.random.default_rng(self.settings.seed)
        sampled = sample_raters(self.pool, self.settings.jurors, chance)
        return simulate_votes(predicted, sampled, self.model.ordinal, self.settings, chance)

    @property
    def quality(self) -> JuryQuality:
        """What was measured of the model, and of the head where there is one."""
        return self.model.quality if self.shown is None else self.shown.quality(self.model.quality)

    @property
    def has_vectors(self) -> bool:
        """Whether the embedder at hand is the one that the model was trained with."""
        return self.embedder.name == self.model.embedder

    def features_of(self, texts: Sequence[str]) -> Features:
        """Return what the model reads of texts, with vectors where the embedder is its own."""
        return features(texts, self.embedder if self.has_vectors else None)

    def _read(self, post: str | None, texts: Sequence[str]) -> _JuryInput:
        posts = None
        if post is not None and self.model.reads_post:
            posts = self.features_of([post]).rows(np.zeros(len(texts), dtype=np.intp))
        return _JuryInput(self.features_of(texts), posts, None if self.shown is None else self.shown.read(post, texts))

    def _reread(self, post: str | None, texts: Sequence[str], whole: _JuryInput) -> _JuryInput:
        """Variants of one note, by words alone."""
        same = np.zeros(len(texts), dtype=np.intp)
        notes = features(texts, None).with_vectors(whole.notes.vectors[same])
        blocks = None if self.shown is None else self.shown.read(post, texts)
        return _JuryInput(notes, None if whole.posts is None else whole.posts.rows(same), blocks)

    def _predicted(self, read: _JuryInput) -> Predictions:
        predicted = self.model.predict(read.notes, read.posts)
        if self.shown is None or read.blocks is None:
            return predicted
        chances = self.shown.chances(read.blocks)
        return self._at(replace(predicted, shown=chances), careful_intercepts(chances, THRESHOLDS.helpful_intercept))

    def _at(self, predicted: Predictions, intercepts: Floats) -> Predictions:
        """Return the same notes, of such appeal that they come out at these intercepts (n,)."""
        appeal = self.crowd.appeal(intercepts, predicted.lean, self._gap(predicted), self.model.ordinal)
        return replace(predicted, appeal=appeal)

    def _gap(self, predicted: Predictions) -> Floats:
        shares = self.model.side_shares(predicted)
        gap: Floats = shares[:, 1] - shares[:, 0]
        return gap

    def _possible(self, predicted: Predictions) -> list[Predictions]:
        """Return what each repeat judges: first the note with the shown intercept, then with others it may have."""
        if predicted.shown is None:
            return [predicted] * self.settings.repeats
        line, others = THRESHOLDS.helpful_intercept, self.settings.repeats - 1
        intercepts = possible_intercepts(predicted.shown, line, others)
        appeals = self.crowd.appeals(intercepts, predicted.lean, self._gap(predicted), self.model.ordinal)
        return [predicted, *(replace(predicted, appeal=appeal) for appeal in appeals)]

    def _explained(self, post: str | None, text: str, whole: _JuryInput) -> tuple[Influence, ...]:
        def shares(read: _JuryInput) -> Floats:
            return self.model.side_shares(self._predicted(read))

        return influences(
            text,
            lambda texts: shares(self._reread(post, texts, whole)),
            lambda texts: shares(self._read(post, texts)),
        )

    def _find_best_change(self, post: str | None, text: str, whole: _JuryInput) -> NoteChange | None:
        head, blocks = self.shown, whole.blocks
        if head is None or blocks is None:
            return None
        chance = float(head.chances(blocks)[0])
        return best_change(text, chance, lambda texts: head.chances(head.read(post, texts)))

    def _juries(self, predicted: Predictions, size: int, seed: int, sampling: Sampling) -> list[list[Votes]]:
        """Per note its juries, the first being the one whose votes are shown: [n][repeats]."""
        juries: list[list[Votes]] = [[] for _ in range(len(predicted))]
        notes = range(len(predicted))
        for repeat, possible in enumerate(self._possible(predicted)):
            if sampling is Sampling.AUDIENCE:
                for row in notes:
                    chance = np.random.default_rng([seed, repeat])
                    note = possible.only(row)
                    negative, positive = self.model.side_shares(note)[0]
                    tilt = float(self.settings.like_minded * (negative - positive))
                    jurors = sample_raters(self.pool, size, chance, sampling, audience_tilt=tilt)
                    juries[row].append(simulate_votes(note, jurors, self.model.ordinal, self.settings, chance))
                continue
            chance = np.random.default_rng([seed, repeat])
            jurors = sample_raters(self.pool, size, chance, sampling)
            votes = simulate_votes(possible, jurors, self.model.ordinal, self.settings, chance)
            for row in notes:
                juries[row].append(votes.only(row))
        return juries


def open_jury(settings: JurySettings, embedder: Embedder) -> Jury:
    """Return the jury by the settings: the shipped model and pool, or one's own.

    Raises ConfigurationError when the model's files are damaged, InputError for a pool that cannot be used.
    """
    pool = shipped_pool() if settings.raters is None else own_pool(settings.raters)
    shown = open_shown(settings.model or SHIPPED_MODEL)
    return Jury(load_model(settings.model), pool, embedder, settings, Crowd.of(pool, settings), shown)


@dataclass(frozen=True)
class _JuryInput:
    """What is read of n notes on one post: for the model, and for the head that predicts what X shows."""

    notes: Features
    posts: Features | None
    blocks: Blocks | None

    def only(self, row: int) -> _JuryInput:
        one = np.asarray([row])
        blocks = None if self.blocks is None else rows_of_blocks(self.blocks, [row])
        return _JuryInput(self.notes.rows(one), None if self.posts is None else self.posts.rows(one), blocks)


def _get_note_error(text: str) -> InputError | None:
    """Return why a note cannot be judged, if it cannot."""
    try:
        check_note(text)
    except InputError as error:
        return error
    return None
