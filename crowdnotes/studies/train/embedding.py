"""Fine-tunes the embedding model by a low-rank change, so that its vectors tell what raters said of notes.

It is taught on camp notes and pilot notes, none of which is among the notes to be judged. Deterministic on one
machine: one thread, fixed seeds; the processor's own way of rounding bfloat16 may differ elsewhere. About half an hour
on one core for 20,000 notes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from crowdnotes.engines.embedding import Embedder, FloatArray, packaged_model_dir, verify_weights
from crowdnotes.engines.local.trained_models import Adapter, note_words, readable_note
from crowdnotes.errors import InputError
from crowdnotes.studies.data_files import OPINION_LABELS, SOURCED_LABEL, TRIVIAL_LABEL, HealthNote
from crowdnotes.studies.train.judges import near_any

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# Each question, and how much its loss counts: less where a model answered it, or few notes do.
QUESTIONS = {
    "both camps approve": 1.0,
    "approval": 1.0,
    "which camp approves": 0.5,
    "opinion or hostile": 1.0,
    "sourced fact": 0.5,
    "trivial": 0.5,
    "strength of agreement": 0.7,
    "helpful in the pilot": 1.0,
    "calls the post misleading": 0.5,
}
_MIN_RATINGS = 2  # of a pilot note; one rater is not a crowd


@dataclass(frozen=True, slots=True)
class Answered:
    """Texts as the reader takes them, and `answers` in [0, 1], shape (texts, questions), NaN where unknown."""

    texts: list[str]
    answers: npt.NDArray[np.float32]


def answered_questions(camp: pd.DataFrame, pilot: pd.DataFrame) -> Answered:
    """All camp notes, and the pilot's that were rated more than once."""
    pilot = pilot[pilot["ratings"] >= _MIN_RATINGS]
    agreed = camp["kind"].eq("bridging")
    label = camp["content_label"].where(agreed)
    told = {
        "both camps approve": agreed.astype(float),
        "approval": camp["global_approval"],
        "which camp approves": _mask_unknown(camp["approval_0"] > camp["approval_1"], ~agreed),
        "opinion or hostile": _mask_unknown(label.isin(OPINION_LABELS), label.notna()),
        "sourced fact": _mask_unknown(label.eq(SOURCED_LABEL), label.notna()),
        "trivial": _mask_unknown(label.eq(TRIVIAL_LABEL), label.notna()),
        "strength of agreement": 2 * camp["bridge_score"].where(agreed) - 1,  # it begins at one half
    }
    in_pilot = {
        "helpful in the pilot": pilot["helpful"],
        "calls the post misleading": pilot["misleading"].astype(float),
    }
    answers = np.full((len(camp) + len(pilot), len(QUESTIONS)), np.nan, dtype=np.float32)
    for column, name in enumerate(QUESTIONS):
        if name in told:
            answers[: len(camp), column] = told[name]
        else:
            answers[len(camp) :, column] = in_pilot[name]
    return Answered([readable_note(text) for text in [*camp["text"], *pilot["summary"]]], np.clip(answers, 0, 1))


def _mask_unknown(answer: pd.Series, where: pd.Series) -> pd.Series:
    return answer.astype(float).where(where)


_NON_WORD_PATTERN = re.compile(r"\W+")
_CAMP_VOTE_COLUMNS = ("approval_0", "approval_1", "bridge_score", "global_approval")
_CAMP_VOTE_FORM = "Beside text and kind it has each camp's approval, bridge_score and global_approval, from 0 to 1."
_PILOT_FORM = "The folder holds notes-00000.tsv and ratings-00000.tsv of X's public data, in the schema of 2021."


def read_pilot(folder: Path) -> pd.DataFrame:
    """Rated notes of the Birdwatch pilot: `summary`, `misleading`, `helpful` (share of ratings) and `ratings`.

    Raises InputError when the files are not there or not of that schema.
    """
    try:
        notes = pd.read_csv(folder / "notes-00000.tsv", sep="\t", usecols=["noteId", "classification", "summary"])
        ratings = pd.read_csv(folder / "ratings-00000.tsv", sep="\t", usecols=["noteId", "helpful"])
    except (OSError, ValueError) as error:
        raise InputError(f"The pilot's data in {folder.name} cannot be read.", _PILOT_FORM) from error
    counted = ratings.groupby("noteId")["helpful"].agg(["sum", "size"]).reset_index()
    table = notes.merge(counted, on="noteId").dropna(subset=["summary"])
    return pd.DataFrame(
        {
            "summary": table["summary"].astype(str),
            "misleading": table["classification"].eq("MISINFORMED_OR_POTENTIALLY_MISLEADING"),
            "helpful": (table["sum"] + 0.5) / (table["size"] + 1),  # a note with one rating is not all or nothing
            "ratings": table["size"],
        }
    )


def without_judged(camp: pd.DataFrame, notes: Sequence[HealthNote], embedder: Embedder) -> pd.DataFrame:
    """The camp notes that are not among the notes to be judged: by id, by their words, or nearly so.

    Raises InputError when the table does not tell how the camps voted.
    """
    missing = [column for column in _CAMP_VOTE_COLUMNS if column not in camp.columns]
    if missing:
        raise InputError(f"The table of camp notes lacks {', '.join(missing)}.", _CAMP_VOTE_FORM)
    known = {_normalise_words(note.note) for note in notes}
    judged = camp["note_id"].astype(str).isin([note.note_id for note in notes]) | camp["text"].map(
        _normalise_words
    ).isin(known)
    left = camp[~judged]
    others = embedder.encode([note_words(note.note) for note in notes])
    near = near_any(embedder.encode([note_words(text) for text in left["text"]]), others)
    return left[~near].reset_index(drop=True)


def _normalise_words(text: str) -> str:
    return _NON_WORD_PATTERN.sub(" ", text.lower()).strip()


RANK = 16
EPOCHS = 3
_BATCH_SIZE = 32
_MAX_TOKENS = 80  # a long note's length
_WINDOW_BATCHES = 20  # batches among which texts of like length are brought together
_MAX_LEARNING_RATE, _MAX_QUESTION_LEARNING_RATE = 6e-4, 2e-3  # learning rates
_WARM_UP_SHARE = 0.1  # share of the steps
_WEIGHT_DECAY, _MAX_GRADIENT_NORM = 0.01, 1.0
_PATH_SCALE = 2.0
_STEPS_PER_REPORT = 25
_VECTOR_SCALE = 8.0  # about the length of the model's vectors before they are made unit vectors


class _LowRankLinear(nn.Module):
    """A linear layer that stays as it is, and a thin path beside it that learns."""

    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.randn(RANK, base.in_features) / math.sqrt(base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, RANK))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        beside: torch.Tensor = (values @ self.down.T) @ self.up.T
        changed: torch.Tensor = self.base(values) + beside * _PATH_SCALE
        return changed


@contextmanager
def _fix_seed_and_threads() -> Iterator[None]:
    """One thread and a fixed seed, so that sums are added in one order; then both as they were."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            yield
    finally:
        torch.set_num_threads(threads)


@_fix_seed_and_threads()
def teach_reader(answered: Answered, progress: Callable[[str], None], epochs: int = EPOCHS) -> Adapter:
    """Fit the change, and the questions over its vectors: cross-entropy with the answers that are known."""
    chance = np.random.default_rng(0)
    model, tokenizer = _load_installed_model()
    changed = _replace_linear_layers(model)
    encoded = [tokenizer(text, truncation=True, max_length=_MAX_TOKENS)["input_ids"] for text in answered.texts]
    questions = nn.Linear(model.config.hidden_size, len(QUESTIONS))
    with torch.no_grad():
        questions.bias.copy_(torch.from_numpy(_compute_log_odds(answered.answers)))
    learning = [parameter for layer in changed.values() for parameter in (layer.up, layer.down)]
    rates = [_MAX_LEARNING_RATE, _MAX_QUESTION_LEARNING_RATE]
    optimiser = torch.optim.AdamW(
        [{"params": learning, "lr": rates[0]}, {"params": questions.parameters(), "lr": rates[1]}],
        weight_decay=_WEIGHT_DECAY,
    )
    steps = epochs * math.ceil(len(encoded) / _BATCH_SIZE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rates, total_steps=steps, pct_start=_WARM_UP_SHARE)
    weights = torch.tensor(list(QUESTIONS.values()))
    for step, rows in enumerate(_draw_batches(encoded, epochs, chance), 1):
        said = questions(_VECTOR_SCALE * _embed_tokens(model, [encoded[row] for row in rows]))
        answers = torch.from_numpy(answered.answers[rows])
        loss = nn.functional.binary_cross_entropy_with_logits(said, answers.nan_to_num(), reduction="none")
        optimiser.zero_grad()
        ((loss * ~answers.isnan() * weights).sum() / len(rows)).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(learning, _MAX_GRADIENT_NORM)
        optimiser.step()
        schedule.step()
        if step % _STEPS_PER_REPORT == 0 or step == steps:
            progress(f"step {step} of {steps}")
    return Adapter(
        {name: _round_to_half_precision(_PATH_SCALE * layer.up) for name, layer in changed.items()},
        {name: _round_to_half_precision(layer.down) for name, layer in changed.items()},
    )


def _load_installed_model() -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    folder = packaged_model_dir()
    verify_weights(folder)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call] # it draws over a command's output
    logging.set_verbosity_error()  # type: ignore[no-untyped-call] # the pooling layer that is not loaded is not used
    model = AutoModel.from_pretrained(folder, add_pooling_layer=False, local_files_only=True)
    return model, AutoTokenizer.from_pretrained(folder, local_files_only=True)


def _replace_linear_layers(model: PreTrainedModel) -> dict[str, _LowRankLinear]:
    """Each linear layer of the encoder gets its path; all else stands still."""
    model.requires_grad_(requires_grad=False)
    found = {name: layer for name, layer in model.named_modules() if isinstance(layer, nn.Linear)}
    changed = {name: _LowRankLinear(layer) for name, layer in found.items()}
    for name, layer in changed.items():
        parent, _, own = name.rpartition(".")
        setattr(model.get_submodule(parent), own, layer)
    return changed


def _embed_tokens(model: PreTrainedModel, encoded: Sequence[list[int]]) -> torch.Tensor:
    longest = max(len(tokens) for tokens in encoded)
    ids = torch.tensor([tokens + [0] * (longest - len(tokens)) for tokens in encoded])
    there = torch.tensor([[1] * len(tokens) + [0] * (longest - len(tokens)) for tokens in encoded])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        states = model(input_ids=ids, attention_mask=there).last_hidden_state
    shares = (there / there.sum(1, keepdim=True)).unsqueeze(-1)
    return nn.functional.normalize((states.float() * shares).sum(1), dim=1)


def _draw_batches(
    encoded: Sequence[list[int]], epochs: int, chance: np.random.Generator
) -> Iterator[npt.NDArray[np.int64]]:
    """Rows in random order, texts of like length together, which spends less on padding."""
    lengths = np.array([len(tokens) for tokens in encoded])
    for _ in range(epochs):
        order = chance.permutation(len(encoded))
        for start in range(0, len(order), _BATCH_SIZE * _WINDOW_BATCHES):
            window = order[start : start + _BATCH_SIZE * _WINDOW_BATCHES]
            window = window[np.argsort(lengths[window], kind="stable")]
            batches = [window[at : at + _BATCH_SIZE] for at in range(0, len(window), _BATCH_SIZE)]
            yield from (batches[at] for at in chance.permutation(len(batches)))


def _compute_log_odds(answers: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    known = np.sum(~np.isnan(answers), axis=0)
    share = (np.nansum(answers, axis=0) + 1) / (known + 2)
    return np.asarray(np.log(share / (1 - share)), dtype=np.float32)


def _round_to_half_precision(values: torch.Tensor) -> FloatArray:
    """As the file keeps them, so that what is measured is what is shipped."""
    return np.asarray(values.detach().numpy().astype(np.float16), dtype=np.float32)
