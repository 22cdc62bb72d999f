"""A reason needs words and letters enough, and what is missing is said in numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.cases.obstacles import is_reason, missing_from


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("bad bad bad bad", "2 more different words"),
        ("x", "2 more different words and 9 more letters"),
        ("wellmeant reason", "1 more different word"),
        ("fine as is", "2 more letters"),
        ("fine as it", "2 more letters"),
        ("it reads well", ""),
        ("这句话很清楚", ""),
    ],
)
def test_what_a_text_lacks_is_counted(text: str, missing: str) -> None:
    assert missing_from(text) == missing


@given(st.text(max_size=40), st.text(max_size=20))
def test_more_words_never_take_a_reason_away(text: str, more: str) -> None:
    assert not is_reason(text) or is_reason(f"{text} {more}")
