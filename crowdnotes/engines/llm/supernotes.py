"""One candidate supernote from several notes (Supernotes 2.1 and 3): their facts, none of their links or tempers."""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.domain import Post
from crowdnotes.engines.base import EngineStep, WriterAnswer, Written
from crowdnotes.engines.llm.asking import Asker
from crowdnotes.engines.llm.forms import SupernoteAnswer
from crowdnotes.engines.llm.marked import Block
from crowdnotes.engines.llm.note_rules import clean_note, echoes_orders, known_ids
from crowdnotes.engines.llm.questions import post_block, question
from crowdnotes.engines.llm.quotes import plain
from crowdnotes.engines.llm.writing import fitted
from crowdnotes.errors import AnswerUnreadableError
from crowdnotes.text.note_rules import without_urls

_SPARE = 20
_ANGLES = (
    "",
    "Keep to the single fact that most of the notes give.",
    "Take the most precise figure or date that the notes give.",
    "Say in the plainest words what is so, for a reader who knows nothing of the matter.",
)


def write_supernote(
    asker: Asker, post: Post, notes: Sequence[str], budget: int, variant: int, temperature: float
) -> WriterAnswer:
    """One note of at most `budget` characters, without links; `evidence_ids` are "N1", "N2", … by place in `notes`.

    Questions with another `variant` are worded another way. Raises EngineError.
    """
    offered = [f"N{number}" for number in range(1, len(notes) + 1)]
    texts = [post.whole_text, *notes]

    def check(answer: SupernoteAnswer) -> None:
        if answer.decision == "note":
            known_ids(answer.note_ids, offered)
            if echoes_orders(clean_note(answer.note, offered), texts):
                raise AnswerUnreadableError("The model passed on words that speak to a model.")

    blocks = [Block(f"note {name}", without_urls(note)) for name, note in zip(offered, notes, strict=True)]
    asked = question(
        EngineStep.WRITING,
        "supernote",
        SupernoteAnswer,
        [post_block(post), *blocks],
        values={"budget": budget, "target": max(1, budget - _SPARE), "angle": _ANGLES[variant % len(_ANGLES)]},
        check=check,
        temperature=temperature,
        variant=variant,
    )
    answer = asker.ask(asked).value
    if answer.decision != "note":
        return WriterAnswer(abstained=plain(answer.reason, 260) or "The notes hold no fact that answers the claim.")
    text = fitted(asker, clean_note(answer.note, offered), offered, texts, budget)
    return WriterAnswer((Written(text, known_ids(answer.note_ids, offered) or tuple(offered)),))
