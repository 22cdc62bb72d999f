"""Words in quotation marks must stand in what was read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import LintLevel, Post
from crowdnotes.gates.quotes import unfound_quotes
from crowdnotes.testing import make_evidence

POST = Post(text="The minister said: the water is not safe to drink.")
EVIDENCE = [make_evidence(text="The agency wrote that “no sample held more lead than\nthe law allows – in any month”.")]


@pytest.mark.parametrize(
    "note",
    [
        'The agency: "no sample held more lead than the law allows".',
        "The agency: “No sample held more lead than the law allows - in any month.”",
        "The agency: “no sample … more lead than the law allows”.",
        "The post says “the water is not safe to drink”, but it is.",
        "So-called “lead water” is safe.",
        "No quotation at all.",
    ],
)
def test_words_that_stand_in_a_passage_or_the_post_may_be_quoted(note: str) -> None:
    assert unfound_quotes(note, POST, EVIDENCE) == ()


@pytest.mark.parametrize(
    "note",
    [
        "The agency: “no sample held any lead at all”.",
        "The agency: “the law allows … no sample held more lead”.",
        'The agency: "every sample held more lead than the law allows".',
    ],
)
def test_invented_words_in_quotation_marks_block(note: str) -> None:
    [warning] = unfound_quotes(note, POST, EVIDENCE)
    assert warning.level is LintLevel.BLOCKS
    assert warning.span is not None
    assert note[warning.span.start] in '“"'


def test_a_quotation_of_a_passage_that_is_not_in_use_blocks() -> None:
    assert unfound_quotes("The agency: “no sample held more lead than the law allows”.", POST, [])


@given(st.lists(st.from_regex(r"[a-z]{1,9}", fullmatch=True), min_size=6, max_size=40), st.data())
def test_any_stretch_of_a_passage_may_be_quoted(words: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words) - 4))
    end = data.draw(st.integers(start + 4, len(words)))
    note = f"They wrote: “{' '.join(words[start:end])}”."
    assert unfound_quotes(note, POST, [make_evidence(text=" ".join(words))]) == ()
