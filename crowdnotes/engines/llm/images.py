"""What a picture says and shows, by a model that sees."""

from __future__ import annotations

import base64

from crowdnotes.engines.base import EngineStep, ImageReading
from crowdnotes.engines.llm.asking import Asker
from crowdnotes.engines.llm.forms import ImageAnswer
from crowdnotes.engines.llm.marked import Block
from crowdnotes.engines.llm.questions import question
from crowdnotes.engines.llm.quotes import plain
from crowdnotes.engines.orders import visible
from crowdnotes.errors import EngineError

_TYPES = {"image/png", "image/jpeg", "image/webp", "image/gif"}
_MOST_BYTES = 8_000_000
_LONGEST_TEXT = 6_000


def read_image(asker: Asker, content: bytes, media_type: str) -> ImageReading:
    """The words in it and what it shows. Raises EngineError for a kind or size that servers do not take."""
    if media_type not in _TYPES or not content:
        raise EngineError("The model cannot read this kind of picture.", "Type what the picture says.")
    if len(content) > _MOST_BYTES:
        raise EngineError("The picture is too large for the model.", "Type what the picture says.")
    address = f"data:{media_type};base64,{base64.b64encode(content).decode()}"
    blocks = [Block("picture", "The picture is attached.", cleared=True)]
    answer = asker.ask(question(EngineStep.QUERIES, "image", ImageAnswer, blocks, image=address)).value
    return ImageReading(text=visible(answer.text)[:_LONGEST_TEXT].strip(), shows=plain(answer.shows, 600))
