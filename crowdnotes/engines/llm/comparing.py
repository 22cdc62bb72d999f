"""A model as a blind reader of two notes, for studies: asked in both orders, since the order may decide."""

from __future__ import annotations

from typing import Literal

from crowdnotes.domain import Post
from crowdnotes.engines.base import EngineStep
from crowdnotes.engines.llm.asking import Asker, Block, post_block, question
from crowdnotes.engines.llm.parsing import Answer

Preferred = Literal["left", "right", "tie"]


class ComparisonAnswer(Answer):
    """See comparison.md."""

    why: str = ""
    accuracy: Preferred
    directness: Preferred
    sources: Preferred
    neutrality: Preferred
    brevity: Preferred
    overall: Preferred


def compare(asker: Asker, post: Post, left: str, right: str) -> ComparisonAnswer:
    """Which of two notes the model prefers, by criterion. Raises EngineError."""
    blocks = [post_block(post), Block("left note", left), Block("right note", right)]
    return asker.ask(question(EngineStep.JUDGING, "comparison", ComparisonAnswer, blocks)).value
