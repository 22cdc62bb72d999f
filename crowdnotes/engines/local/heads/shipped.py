"""The heads that come with the program, read once each from assets/judges."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from crowdnotes.embedding import Embedder, MiniLMEmbedder
from crowdnotes.engines.local.heads.head import Head, load_head
from crowdnotes.engines.local.heads.note_reader import NoteReader, load_note_reader
from crowdnotes.engines.local.heads.readings import Readings, load_readings

JUDGES = Path(__file__).resolve().parents[4] / "assets" / "judges"
HELPFULNESS, OPINION, READINGS, READER = "helpfulness.npz", "principles.npz", "readings.npz", "reader.npz"


@cache
def helpfulness_head() -> Head:
    """Helpful or not, from post and note. Raises ModelFilesError when it is missing or damaged."""
    return load_head(JUDGES / HELPFULNESS)


@cache
def opinion_head() -> Head:
    """Opinion or hostility against the rest, from a note. Raises ModelFilesError likewise."""
    return load_head(JUDGES / OPINION)


@cache
def readings() -> Readings:
    """How other crowds and judges would read a note. Raises ModelFilesError likewise."""
    return load_readings(JUDGES / READINGS)


def note_reader_for(embedder: Embedder) -> NoteReader | None:
    """The taught reader, a change of MiniLM; None with another model, beside which a second one would be loaded.

    Raises ModelFilesError when it is missing or damaged.
    """
    return _reader() if embedder.name == MiniLMEmbedder.name else None


@cache
def _reader() -> NoteReader:
    return load_note_reader(JUDGES / READER)
