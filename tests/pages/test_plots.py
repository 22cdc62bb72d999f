"""Numbers in bars can be read on whatever colour they stand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pages.view.plots import _ink_on


@given(st.integers(min_value=0, max_value=0xFFFFFF))
def test_ink_has_the_contrast_that_small_words_need_on_any_colour(number: int) -> None:
    colour = f"#{number:06x}"
    lighter, darker = sorted((luminance(colour), luminance(_ink_on(colour))), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
