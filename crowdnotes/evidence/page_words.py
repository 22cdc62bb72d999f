"""All words of a page in reading order, for pages in which no main part stands out."""

from __future__ import annotations

import re
from typing import Any

from lxml.etree import iterwalk  # type: ignore[import-untyped]  # its stubs cover too little to bring them

_LEFT_OUT = frozenset("script style template head svg iframe object select noscript nav footer".split())
_BLOCKS = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "section", "article", "td", "dd", "dt"})


def all_words(tree: Any) -> str:
    """The words of an lxml tree, one line a block, without those of menus and footers."""
    pieces: list[str] = []
    walk = iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event == "start":
            if element.tag in _LEFT_OUT:
                walk.skip_subtree()
                continue
            if element.tag in _BLOCKS:
                pieces.append("\n")
            pieces.append(element.text or "")
        elif element is not tree:
            pieces.append(element.tail or "")
    return re.sub(r"\n\s*", "\n", "".join(pieces))
