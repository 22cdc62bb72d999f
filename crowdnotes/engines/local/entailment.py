"""A small reading model for correctness: natural language inference by a sentence-transformers `CrossEncoder`.

It compares each sentence of a note, and each clause, with the nearest sentences of the passages. Its answer is no
verdict until it was measured: `crowdnotes models calibrate reader` stores, next to the weights, its threshold and how
well it separates faithful notes from distorted ones. Without that, or if it is no better than chance, it gives hints
and a person decides.
"""

from __future__ import annotations

import re
import threading
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from crowdnotes.domain import Evidence, Finding, GateName, GateResult, GateStatus, SentenceSupport, Span, Support
from crowdnotes.engines.embedding import Embedder, FloatArray, weights_sha256
from crowdnotes.errors import ModelFilesError
from crowdnotes.text.sentences import split_sentences

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

READER_FILE = "crowdnotes-reader.toml"
_CHANCE_LEVEL = 0.5
# The interval must lie above it: an untrained model, by lengths alone, got 0.56 (0.52 to 0.60) on 160 notes.
_MIN_AUC = 0.6
_MIN_NOTES = 100  # on twenty, an untrained model got an AUC of 0.73 by chance, and a narrow interval
_MAX_PREMISES = 12  # compared with each sentence: all of six passages would take half a minute
_MAX_PREMISE_CHARACTERS = 600  # characters of a premise; models read 512 tokens of both together
_CLAUSE_BREAK = re.compile(
    r"(?:[;:]|,\s++(?:and|but|so|while|because|which|although)\b|(?<=\s)(?:but|while|although)\s)\s*", re.IGNORECASE
)
_MIN_CLAUSE_CHARACTERS = 20
_SHORT_NAME_BY_LABEL = {"entailment": "entail", "contradiction": "contra"}


class Calibration(BaseModel):
    """The measured quality of one model; holds only for the weights with this checksum."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    weights_sha256: str
    threshold: float = Field(ge=0, le=1, description="of a sentence's score")
    auc: float = Field(ge=0, le=1)
    auc_low: float = Field(ge=0, le=1)
    auc_high: float = Field(ge=0, le=1)
    notes: int = Field(gt=0)

    @property
    def is_reliable(self) -> bool:
        """Whether it does clearly better than chance, with its interval, on enough notes to say so."""
        return self.auc_low > _MIN_AUC and self.notes >= _MIN_NOTES

    @property
    def as_text(self) -> str:
        """As in "picks the sound one of two notes in 72% of cases (65% to 79%, chance is 50%), on 160 notes"."""
        return (
            f"picks the sound one of two notes in {self.auc:.0%} of cases ({self.auc_low:.0%} to {self.auc_high:.0%}, "
            f"chance is 50%), on {self.notes} notes"
        )


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """The model's result for one sentence: chances in [0, 1], and which words of a passage support or deny it."""

    entailed: float
    contradicted: float
    carrier: tuple[str, Span] | None
    denier: tuple[str, Span] | None

    @property
    def score(self) -> float:
        """In [0, 1]: 1 for entailed and contradicted nowhere."""
        return (self.entailed + 1.0 - self.contradicted) / 2


class NliReader:
    """A model in a folder, on the CPU, its weights as safetensors. Safe to share between threads.

    Raises ModelFilesError if the folder holds no such model, or one whose labels are not those of inference.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self._sha256 = weights_sha256(folder)
        self.calibration = self._read_calibration()
        self._model: CrossEncoder | None = None
        self._places: dict[str, int] = {}
        self._lock = threading.Lock()

    def _read_calibration(self) -> Calibration | None:
        path = self.folder / READER_FILE
        if not path.exists():
            return None
        try:
            found = Calibration.model_validate(tomllib.loads(path.read_text("utf-8")))
        except (OSError, ValueError, ValidationError) as error:
            raise ModelFilesError(
                f"We cannot read {path}.", "Delete it, then run `crowdnotes models calibrate reader` again."
            ) from error
        return found if found.weights_sha256 == self._sha256 else None

    def keep(self, **measured: float) -> Calibration:
        """Store the measured quality next to the weights, and use it from now on."""
        found = Calibration.model_validate({"weights_sha256": self._sha256, **measured})
        lines = [f'{name} = "{value}"' if isinstance(value, str) else f"{name} = {value}" for name, value in found]
        (self.folder / READER_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.calibration = found
        return found

    def chances(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """Return the chances that the first text of a pair entails and contradicts the second; shape (pairs, 2)."""
        if not pairs:
            return np.zeros((0, 2), dtype=np.float32)
        with self._lock:
            model = self._load_model()
            found = model.predict(list(pairs), batch_size=16, apply_softmax=True, show_progress_bar=False)
        return np.asarray(found, dtype=np.float32)[:, [self._places["entail"], self._places["contra"]]]

    def _load_model(self) -> CrossEncoder:
        if self._model is None:
            from sentence_transformers import CrossEncoder
            from transformers.utils import logging

            logging.disable_progress_bar()  # type: ignore[no-untyped-call] # it draws over a command's output
            try:
                model = CrossEncoder(
                    str(self.folder),
                    device="cpu",
                    local_files_only=True,
                    trust_remote_code=False,
                    model_kwargs={"use_safetensors": True},
                )
            except (OSError, ValueError, KeyError) as error:
                raise ModelFilesError(f"We cannot read the reading model in {self.folder}: {error}.") from error
            labels = {str(name).lower(): int(place) for place, name in (model.config.id2label or {}).items()}
            self._places = {short: labels[name] for name, short in _SHORT_NAME_BY_LABEL.items() if name in labels}
            if len(self._places) < len(_SHORT_NAME_BY_LABEL):
                raise ModelFilesError(
                    "The model in {folder} is not made to compare texts: its labels are {labels}.".format(
                        folder=self.folder, labels=", ".join(labels) or "unnamed"
                    ),
                    "Use one with entailment and contradiction, such as cross-encoder/nli-deberta-v3-xsmall.",
                )
            self._model = model
        return self._model


def read_sentences(
    reader: NliReader, embedder: Embedder, sentences: Sequence[str], evidence: Sequence[Evidence]
) -> list[SentenceReading]:
    """Return the model's result for each sentence of a note; without passages nothing supports one."""
    premises = [(item.id, span, item.passage.text) for item in evidence for span in _list_premises(item.passage.text)]
    if not premises or not sentences:
        return [SentenceReading(0.0, 0.0, None, None) for _ in sentences]
    texts = [text[span.start : span.end][:_MAX_PREMISE_CHARACTERS] for _, span, text in premises]
    vectors = embedder.encode([*sentences, *texts])
    near = vectors[: len(sentences)] @ vectors[len(sentences) :].T
    asked: list[tuple[int, int, int]] = []  # sentence, part of it (0 the whole), premise
    pairs: list[tuple[str, str]] = []
    for row, sentence in enumerate(sentences):
        for place in np.argsort(-near[row], kind="stable")[:_MAX_PREMISES]:
            for part, words in enumerate([sentence, *clauses_of(sentence)]):
                asked.append((row, part, int(place)))
                pairs.append((texts[int(place)], words))
    chances = reader.chances(pairs)
    return [_build_sentence_reading(row, asked, chances, premises) for row in range(len(sentences))]


def clauses_of(sentence: str) -> list[str]:
    """Return the clauses of a sentence; none for a sentence in one piece."""
    parts = [part.strip(" ,;:.") for part in _CLAUSE_BREAK.split(sentence)]
    said = [part for part in parts if len(part) >= _MIN_CLAUSE_CHARACTERS]
    return said if len(said) > 1 else []


def _list_premises(text: str) -> list[Span]:
    """Return each sentence, and each pair of neighbours: a note often joins both."""
    single = list(split_sentences(text))
    return [*single, *(Span(start=a.start, end=b.end) for a, b in pairwise(single))]


def _build_sentence_reading(
    row: int,
    asked: Sequence[tuple[int, int, int]],
    chances: FloatArray,
    premises: Sequence[tuple[str, Span, str]],
) -> SentenceReading:
    by_part: dict[int, list[int]] = {}
    for number, (of, part, _) in enumerate(asked):
        if of == row:
            by_part.setdefault(part, []).append(number)
    best = {part: max(numbers, key=lambda n: float(chances[n, 0])) for part, numbers in by_part.items()}
    whole = float(chances[best[0], 0])
    parts = [float(chances[number, 0]) for part, number in best.items() if part]
    entailed = max(whole, min(parts)) if parts else whole
    against = max((n for numbers in by_part.values() for n in numbers), key=lambda n: float(chances[n, 1]))
    carrier, denier = premises[asked[best[0]][2]], premises[asked[against][2]]
    return SentenceReading(entailed, float(chances[against, 1]), (carrier[0], carrier[1]), (denier[0], denier[1]))


def with_hints(
    reader: NliReader, embedder: Embedder, note: str, support: Sequence[SentenceSupport], evidence: Sequence[Evidence]
) -> tuple[SentenceSupport, ...]:
    """Return the sentences, with a hint where a passage rather denies than supports one."""
    found = read_sentences(reader, embedder, [item.words_in(note) for item in support], evidence)
    return tuple(_add_denial_hint(item, reading) for item, reading in zip(support, found, strict=True))


def _add_denial_hint(item: SentenceSupport, reading: SentenceReading) -> SentenceSupport:
    if reading.denier is None or reading.contradicted <= max(reading.entailed, _CHANCE_LEVEL):
        return item
    hint = f"The reading model finds that {reading.denier[0]} says otherwise."
    return item.replace(doubts=(*item.doubts, hint), doubted=(*item.doubted, item.span))


def judge_by_reader(
    reader: NliReader,
    calibration: Calibration,
    embedder: Embedder,
    note: str,
    evidence: Sequence[Evidence],
    support: Sequence[SentenceSupport],
) -> GateResult:
    """Return PASS if each sentence's score reaches the threshold; the reason says how good the model is."""
    found = read_sentences(reader, embedder, [item.words_in(note) for item in support], evidence)
    by = f"the reading model {reader.name}"
    sentences: list[SentenceSupport] = []
    findings: list[Finding] = []
    for item, reading in zip(support, found, strict=True):
        carried = reading.score >= calibration.threshold
        denied = not carried and reading.contradicted > reading.entailed
        place = reading.denier if denied else reading.carrier
        update: dict[str, object] = {"support": Support.SUPPORTED if carried else Support.UNSUPPORTED, "by": by}
        if carried and place is not None:
            update |= {"evidence_id": place[0], "carrier": place[1]}
        sentences.append(item.replace(**update))
        if not carried:
            name = place[0] if denied and place is not None else None
            message = f"{name} says otherwise." if name else "No source says this."
            findings.append(Finding(message=message, evidence_id=name, span=item.span))
    score = min(reading.score for reading in found)
    outcome = "Each sentence is supported"
    if findings:
        outcome = f"{len(findings)} of {len(found)} sentences not supported"
    return GateResult(
        gate=GateName.CORRECTNESS,
        status=GateStatus.FAIL if findings else GateStatus.PASS,
        reason=f"{outcome}, as {by} reads it ({calibration.as_text}).",
        score=score,
        threshold=calibration.threshold,
        findings=tuple(findings),
        judge=f"{by}, {calibration.as_text}",
        sentences=tuple(sentences),
    )


# What a tokenizer and a model need, at the top of the repository: no code, no other formats of the weights.
_MODEL_FILES = (
    "model.safetensors",
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
)
_OPTIONAL_MODEL_FILES = (
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spm.model",
    "sentencepiece.bpe.model",
)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A fetched model: its folder, and what it is exactly."""

    folder: Path
    name: str
    revision: str
    sha256: str
    licence: str


def fetch_reader(name: str, revision: str, folder: Path, endpoint: str | None = None) -> Fetched:
    """Fetch one revision into `folder`. Raises ModelFilesError if it cannot be fetched."""
    import httpx2
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        info = HfApi(endpoint=endpoint, token=False).model_info(name, revision=revision)
        there = {file.rfilename for file in info.siblings or ()}
        if "model.safetensors" not in there:
            raise ModelFilesError(f"{name} has no weights as safetensors.", "Choose another model or revision.")
        snapshot_download(
            name,
            revision=info.sha,
            local_dir=folder,
            allow_patterns=[*_MODEL_FILES, *_OPTIONAL_MODEL_FILES],
            endpoint=endpoint,
            token=False,
        )
    except (HfHubHTTPError, HFValidationError, httpx2.HTTPError, OSError, ValueError) as error:
        raise ModelFilesError(
            f"We could not fetch {name} ({type(error).__name__}).",
            "Check the name and the connection, or name a folder with the model's files.",
        ) from error
    card = info.card_data
    licence = str((card.get("license") if card is not None else None) or "not stated")
    return Fetched(folder, name, info.sha or revision, weights_sha256(folder), licence)
