"""How likely X shows a note, read from note and post together: a head trained on notes of known status.

The reader that the helpfulness gate uses gives it its vectors. Beside these stand a few plain numbers that raters may
go by: how the note is written, and what post it stands under. Raters grew stricter in the middle of 2024, so a note is
judged by the raters of its time; a draft by those of today, who are taken to be as the newest known were.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdnotes.domain import JuryQuality, Post
from crowdnotes.engines.local import tone
from crowdnotes.engines.local.helpfulness import helpfulness_blocks
from crowdnotes.engines.local.trained_models import (
    Blocks,
    Head,
    linked_hosts,
    load_head,
    note_words,
    readable_note,
    readable_post,
    reader_for,
    word_counts,
)
from crowdnotes.errors import ModelFilesError
from crowdnotes.jury.raters import Floats
from crowdnotes.text.note_rules import NOTE_LIMIT, note_length
from crowdnotes.text.tokens import content_tokens, plain_post

if TYPE_CHECKING:
    from crowdnotes.engines.embedding import Embedder

SHOWN, SHOWN_FIGURES = "shown.skops", "shown.json"
_STRICTER_SINCE_MS = 1_719_792_000_000  # 1 July 2024
_HALF_YEAR_MS = 183 * 86_400_000
TODAY = 1.0
_REQUIRED_FIGURES = ("notes", "undated_intercept_auc", "newest_quarter_intercept_auc", "reached", "wrongly_reached")
_AUTHORITY_HOST = re.compile(r"(?:\.gov|\.edu|who\.int|nhs\.uk)$|\.gov\.")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_DENIAL_START = re.compile(r"\W*(?:no|false|this is false|this claim|there is no|not)\b", re.IGNORECASE)
_X_HOSTS = frozenset({"x.com", "twitter.com"})


def strictness(written_ms: int | None) -> float:
    """From -1 (raters before 2024) to 1 (since 2025, and where no time is known)."""
    return TODAY if written_ms is None else math.tanh((written_ms - _STRICTER_SINCE_MS) / _HALF_YEAR_MS)


def shown_blocks(
    reader: Embedder | None,
    fitted_to: str,
    pairs: Sequence[tuple[str | None, str]],
    written_ms: Sequence[int | None] | None = None,
) -> Blocks:
    """What the head looks at of each (post, note), and when it was written. What is missing tells nothing."""
    posts = [post or "" for post, _ in pairs]
    read = helpfulness_blocks(
        reader, fitted_to, [(Post(text=post or "-"), note) for post, (_, note) in zip(posts, pairs, strict=True)]
    )
    known = all(post is not None for post, _ in pairs)
    plain = [plain_post(post) for post in posts]
    under = [manner_of_post(post, words, note) for post, words, (_, note) in zip(posts, plain, pairs, strict=True)]
    alike = None if read["note"] is None or not known else np.einsum("nd,nd->n", read["note"], read["post"])[:, None]
    times = [strictness(moment) for moment in written_ms] if written_ms is not None else [TODAY] * len(pairs)
    return {
        "words": read["words"],
        "note": read["note"],
        "post": read["post"] if known else None,
        "manner": np.asarray([manner_of_note(note) for _, note in pairs]),
        "under": np.asarray(under) if known else None,
        "likeness": alike,
        "season": np.asarray(times)[:, None],
    }


def manner_of_note(note: str) -> list[float]:
    """Length, links, tone, figures and ease of reading."""
    words, hosts = note_words(note), linked_hosts(note)
    each = words.split()
    read = tone.reading(words)
    return [
        math.log1p(len(words)),
        note_length(html.unescape(note)) / NOTE_LIMIT,
        float(len(each)),
        float(len(hosts)),
        float(len(set(hosts))),
        float(any(_AUTHORITY_HOST.search(host) for host in hosts)),
        float(not _X_HOSTS.isdisjoint(hosts)),
        float(any("wikipedia" in host for host in hosts)),
        float(len(tone.loaded_words(note))),
        float(len(tone.insults(note))),
        float(len(tone.speculative_words(note))),
        float(len(tone.first_person(note))),
        float(len(tone.shouting(note))),
        float(len(tone.questions(note))),
        _measure_share(words, str.isdigit),
        float(bool(_YEAR.search(words))),
        float(words.count('"') + words.count("“")),
        float(words.count(",")),
        _measure_share(words, str.isupper),
        sum(map(len, each)) / max(1, len(each)),
        0.5 if read.ease is None else read.ease / 100,
        float(read.longest_words),
        float(bool(_DENIAL_START.match(words))),
    ]


def manner_of_post(post: str, plain: str, note: str) -> list[float]:
    """The post's length, links and shouting, and how many of the note's words it has; `plain` has no links."""
    words = {token.stem for token in content_tokens(note_words(note))}
    in_post = {token.stem for token in content_tokens(plain)}
    return [
        len(words & in_post) / max(1, len(words)),
        math.log1p(len(plain)),
        float("http" in post),
        float(plain.count("!") + plain.count("?")),
        _measure_share(plain, str.isupper),
    ]


def _measure_share(text: str, counts: Callable[[str], bool]) -> float:
    return sum(map(counts, text)) / max(1, len(text))


@dataclass(frozen=True)
class ShownHead:
    """The head, and the reader whose vectors it knows: without one it goes by words and manner alone."""

    head: Head
    reader: Embedder | None
    figures: Mapping[str, Any]

    def quality(self, known: JuryQuality) -> JuryQuality:
        """The model's measured quality with the head's."""
        auc, newest = self.figures["undated_intercept_auc"], self.figures["newest_quarter_intercept_auc"]
        told = (
            "{note} Its number was tested on {notes} health notes that it had not learned from. Of 100 pairs, one "
            "note that X showed and one that it turned down, it tells which is which in {auc:.0f} (in {newest:.0f} "
            "among the newest quarter). {reached:.0%} of the shown notes and {others:.0%} of the others reached 0.40. "
            "Other topics were not tested, nor the many notes on which X never decides."
        ).format(
            note=known.note,
            notes=self.figures["notes"],
            auc=100 * auc,
            newest=100 * newest,
            reached=self.figures["reached"],
            others=self.figures["wrongly_reached"],
        )
        return known.model_copy(update={"intercept_auc": auc, "note": told})

    def read(self, post: str | None, notes: Sequence[str]) -> Blocks:
        """Notes on one post, as if written today; the post is read once."""
        blocks = shown_blocks(None, self.head.embedder, [(post, note) for note in notes])
        if self.reader is None or self.reader.name != self.head.embedder:
            return blocks
        posts = [] if post is None else [readable_post(plain_post(post))]
        vectors = self.reader.encode([*map(readable_note, notes), *posts])
        own, above = np.split(vectors, [len(notes)])
        if post is None:
            return {**blocks, "note": own}
        return {**blocks, "note": own, "post": above.repeat(len(notes), axis=0), "likeness": own @ above.T}

    def reread(self, whole: Blocks, post: str | None, notes: Sequence[str]) -> Blocks:
        """Variants of the one note in `whole`, by words and manner; its vectors are kept, which saves seconds."""
        kept = {name: None if block is None else block.repeat(len(notes), axis=0) for name, block in whole.items()
                if name in ("note", "post", "likeness", "season")}  # fmt: skip
        under = None
        if post is not None:
            plain = plain_post(post)
            under = np.asarray([manner_of_post(post, plain, note) for note in notes])
        manner = np.asarray([manner_of_note(note) for note in notes])
        return {**kept, "words": word_counts(notes), "manner": manner, "under": under}

    def chances(self, blocks: Blocks) -> Floats:
        """That X shows each note, among notes on which it decides, (n,)."""
        return np.asarray(self.head.probabilities(blocks), dtype=np.float64)


def rows_of_blocks(blocks: Blocks, rows: Sequence[int]) -> Blocks:
    """Some of the notes."""
    return {name: None if block is None else block[list(rows)] for name, block in blocks.items()}


def open_shown(folder: Path, embedder: Embedder) -> ShownHead | None:
    """The head beside a model; None where there is none. Raises ModelFilesError when it is damaged."""
    if not (folder / SHOWN).is_file():
        return None
    return ShownHead(
        _load_shown_head(folder / SHOWN), reader_for(embedder), _load_shown_figures(folder / SHOWN_FIGURES)
    )


@lru_cache(maxsize=2)
def _load_shown_head(path: Path) -> Head:
    return load_head(path)


def _load_shown_figures(path: Path) -> Mapping[str, Any]:
    """What was measured of the head; a file that lacks a figure is damaged."""
    try:
        figures: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {name: figures[name] for name in _REQUIRED_FIGURES}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelFilesError(
            f"The jury's figures {path.name} are missing or damaged.",
            "Put the folder assets/jury back, for instance with `git checkout assets`, or train it again.",
        ) from error
