"""Sentences that only say "False.": no passage can carry them, so the rest of the note decides.

The post is not at hand here. That "False." answers it can only be seen from another sentence, which
the passages carry and which itself denies, corrects or limits something.
"""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.domain import SentenceSupport, Support
from crowdnotes.engines.local.polarity import negations
from crowdnotes.engines.local.repeating import corrects
from crowdnotes.engines.local.tone import BARE_VERDICT

_SAY_WHAT = "Nothing in the note says what is wrong; add what the evidence says instead."


def is_bare_verdict(sentence: str) -> bool:
    """Whether a sentence says that something is false, or a joke, and nothing else."""
    return BARE_VERDICT.match(sentence) is not None


def with_verdicts_carried(note: str, sentences: Sequence[SentenceSupport]) -> tuple[SentenceSupport, ...]:
    """The same supports with each bare verdict judged by the other sentences of the note.

    Supported as the first of them that is supported and denies, corrects or limits something, before
    or after it; unsupported without one, with a doubt at the verdict that says what to add.
    """
    says_what = next((sentence for sentence in sentences if _says_what_is_wrong(note, sentence)), None)
    return tuple(
        _carried(sentence, says_what) if is_bare_verdict(_words(note, sentence)) else sentence for sentence in sentences
    )


def _says_what_is_wrong(note: str, sentence: SentenceSupport) -> bool:
    words = _words(note, sentence)
    if sentence.support is not Support.SUPPORTED or is_bare_verdict(words):
        return False
    return bool(negations(words)) or corrects(words)


def _carried(verdict: SentenceSupport, by: SentenceSupport | None) -> SentenceSupport:
    if by is None:
        return SentenceSupport(
            span=verdict.span, support=Support.UNSUPPORTED, score=0.0, doubts=(_SAY_WHAT,), doubted=(verdict.span,)
        )
    return by.model_copy(update={"span": verdict.span, "doubts": (), "doubted": ()})


def _words(note: str, sentence: SentenceSupport) -> str:
    return note[sentence.span.start : sentence.span.end]
