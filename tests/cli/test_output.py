"""Text from outside cannot steer the terminal that it is printed on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.cli.output import print_text, printable, progress


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;a new window title\x07text", "text"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jgone", "gone"),
        ("\x1bcreset", "reset"),
        ("over\rwritten", "overwritten"),
        ("be\x08ll\x07", "bell"),
        ("\u202edesrever", "desrever"),
        ("a\tb\r\nc\nd é 中 👍🏽", "a\tb\r\nc\nd é 中 👍🏽"),
        ("\x1b]never closed\nnext line", "\nnext line"),
    ],
)
def test_what_a_terminal_would_obey_is_left_out(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]) | st.sampled_from("\x1b\x9b[]m;\x07\r"), max_size=60))
def test_nothing_is_left_that_a_terminal_would_obey(text: str) -> None:
    assert not any((c < " " and c not in "\t\n\r") or "\x7f" <= c <= "\x9f" for c in printable(text))


def test_plain_text_and_progress_are_both_printable(capsys: pytest.CaptureFixture[str]) -> None:
    print_text("a\x1b[2Jb")
    progress("c\x1b[2Jd")
    assert capsys.readouterr() == ("ab\n", "cd\n")
