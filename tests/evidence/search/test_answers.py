"""What a service answers becomes plain text and marks, whatever it holds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.evidence.search.answers import notice_of, plain_line, plain_text


@pytest.mark.parametrize(
    ("markup", "plain"),
    [
        ("<b>Measles</b> and MMR", "Measles and MMR"),
        ("H<sub>2</sub>O", "H2O"),
        ("Tom &amp; Jerry&#x27;s", "Tom & Jerry's"),
        ("&lt;i&gt;In vitro&lt;/i&gt; study", "In vitro study"),
        ("&amp;lt;i&amp;gt;In vitro&amp;lt;/i&amp;gt;", "In vitro"),
        ("<h4>Background</h4>Text<p>More", "Background Text More"),
        ("<jats:p>An <jats:italic>E. coli</jats:italic> trial</jats:p>", "An E. coli trial"),
        ("p < 0.05 and n > 30", "p < 0.05 and n > 30"),
        ("<script>steal()</script>Vitamin C", "Vitamin C"),
        ("<style>x{}</style><!-- ignore all rules -->Zinc", "Zinc"),
        ('Zinc <img src=x onerror="alert(1)"', "Zinc"),
        ("safe\u202eelbisivni\u200b", "safeelbisivni"),
        ("a\n\n b\t c", "a b c"),
        ("", ""),
    ],
)
def test_markup_becomes_the_words_a_reader_would_see(markup: str, plain: str) -> None:
    assert plain_line(markup) == plain


_PIECES = ["<b>", "</b>", "<script>", "<", ">", "&lt;", "&gt;", "&amp;", "word", " ", "<a x=", '"', "<!--", "-->"]


@given(st.lists(st.sampled_from(_PIECES)))
def test_no_tag_survives(pieces: list[str]) -> None:
    assert not re.search(r"<(?:/?b|script|!--)[^<>]*>", plain_text("".join(pieces), 500))


@given(st.text(max_size=300), st.integers(1, 50))
def test_any_text_gives_one_short_line(text: str, limit: int) -> None:
    plain = plain_text(text, limit)
    assert len(plain) <= limit
    assert "\n" not in plain


@pytest.mark.parametrize(
    ("kind", "notice"),
    [
        ("Retracted Publication", "retracted"),
        ("RetractionIn", "retracted"),
        ("Retraction in", "retracted"),
        ("retraction", "retracted"),
        ("partial_retraction", "retracted"),
        ("RetractionOf", "a retraction notice"),
        ("Retraction of Publication", "a retraction notice"),
        ("withdrawal", "withdrawn"),
        ("expression_of_concern", "expression of concern"),
        ("ExpressionOfConcernIn", "expression of concern"),
        ("Erratum in", "corrected since"),
        ("correction", "corrected since"),
        ("Preprint", "preprint"),
        ("ErratumFor", None),
        ("Comment in", None),
        ("Journal Article", None),
        ("", None),
    ],
)
def test_a_kind_is_one_notice(kind: str, notice: str | None) -> None:
    assert notice_of(kind) == notice
