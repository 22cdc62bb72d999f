"""Text from outside as marked data: between lines that it cannot forge, without orders and invisible letters."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from crowdnotes.engines.orders import visible, without_orders

_FENCE = re.compile(r"<{3,}|>{3,}")
_NOTHING = "(nothing)"


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of data. `label` is the program's own ("passage E1"); `text` may come from anywhere.

    Text that is `cleared` was put together by the program from pieces without orders.
    """

    label: str
    text: str
    cleared: bool = False


def new_boundary() -> str:
    """A word that no text can know beforehand: 64 random bits."""
    return secrets.token_hex(8)


def marked(blocks: Sequence[Block], boundary: str) -> str:
    """The blocks, each between a line that opens and one that closes it, both with the boundary.

    What could be taken for such a line is broken inside the text, so a block ends only where the program
    ends it.
    """
    return "\n\n".join(
        f"<<<DATA {boundary} {block.label}>>>\n{_inside(block, boundary)}\n<<<END {boundary}>>>" for block in blocks
    )


def _inside(block: Block, boundary: str) -> str:
    text = visible(block.text if block.cleared else without_orders(block.text))
    text = _FENCE.sub(lambda match: " ".join(match.group()), text).replace(boundary, "")
    return re.sub(r"[ \t]{3,}", "  ", text).strip() or _NOTHING
