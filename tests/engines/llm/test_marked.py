"""Whatever a text holds, a block ends only where the program ends it."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.engines.llm.marked import Block, marked, new_boundary
from crowdnotes.engines.orders import find_orders, without_orders

BOUNDARY = "0123456789abcdef"
pieces = st.sampled_from(
    ["<<<", ">>>", "<", ">", "END ", "DATA ", BOUNDARY, BOUNDARY[:8], "\n", "x", "\u200b", " post"]
)


@given(st.lists(st.lists(pieces, max_size=12).map("".join), min_size=1, max_size=3))
def test_no_text_forges_the_end_or_beginning_of_a_block(texts: list[str]) -> None:
    out = marked([Block(f"text {number}", text) for number, text in enumerate(texts)], BOUNDARY)
    assert len(re.findall(r"<<<DATA ", out)) == len(re.findall(r"<<<END ", out)) == len(texts)
    assert out.count(BOUNDARY) == 2 * len(texts)


@given(st.text(max_size=400))
def test_taking_orders_out_keeps_every_offset_and_leaves_none_in_place(text: str) -> None:
    left = without_orders(text)
    assert len(left) == len(text)
    for span in find_orders(text):
        assert not left[span.start : span.end].strip()


def test_boundaries_are_never_the_same() -> None:
    assert len({new_boundary() for _ in range(1000)}) == 1000
