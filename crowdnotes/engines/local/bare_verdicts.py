"""Sentences that only say "False.": no passage can carry them, so what follows decides.

They are never held against the note by themselves; that a verdict tells readers little is for the
helpfulness gate to say.
"""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.domain import SentenceSupport, Support
from crowdnotes.engines.local.polarity import negations
from crowdnotes.engines.local.repeating import corrects
from crowdnotes.engines.local.tone import BARE_VERDICT
from crowdnotes.settings import GateSettings

_SAY_MORE = "A verdict alone is not in any passage: add what is true, from a passage."


def is_bare_verdict(sentence: str) -> bool:
    """Whether a sentence says that something is false, or a joke, and nothing else."""
    return BARE_VERDICT.match(sentence) is not None


def with_verdicts_carried(
    settings: GateSettings, note: str, sentences: Sequence[SentenceSupport]
) -> tuple[SentenceSupport, ...]:
    """The same supports with each bare verdict judged by the next sentence.

    Supported when that one is and itself denies or corrects something; else partly, with a doubt that
    says what to add.
    """
    out = []
    for index, sentence in enumerate(sentences):
        if not is_bare_verdict(note[sentence.span.start : sentence.span.end]):
            out.append(sentence)
            continue
        after = sentences[index + 1] if index + 1 < len(sentences) else None
        words = note[after.span.start : after.span.end] if after else ""
        if after and after.support is Support.SUPPORTED and (negations(words) or corrects(words)):
            changes = {"support": Support.SUPPORTED, "score": after.score, "doubts": (), "doubted": ()}
            out.append(after.model_copy(update={**changes, "span": sentence.span}))
            continue
        changes = {
            "support": Support.PARTLY,
            "score": settings.partly,
            "evidence_id": None,
            "carrier": None,
            "doubts": (_SAY_MORE,),
            "doubted": (sentence.span,),
        }
        out.append(sentence.model_copy(update=changes))
    return tuple(out)
