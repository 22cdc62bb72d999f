"""What of a passage may be quoted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.engines.local.quotable import statements

LIST = (
    "Studies have shown that some factors do not matter. "
    "The following do not affect the risk of breast cancer:    - Having an abortion.    - Using a deodorant.    "
    "- Taking statins.\n   Regular exercise is linked to a lower risk of breast cancer."
)


def test_a_list_item_stands_with_its_lead_in_or_not_at_all() -> None:
    texts = [statement.text for statement in statements(LIST)]
    assert "The following do not affect the risk of breast cancer: using a deodorant." in texts
    assert not [text for text in texts if text.startswith("Using")]


def test_what_follows_a_list_stands_for_itself() -> None:
    last = statements(LIST)[-1]
    assert (last.text, last.is_item) == ("Regular exercise is linked to a lower risk of breast cancer.", False)


def test_an_item_that_is_a_sentence_is_not_quoted_without_the_line_that_denies_it() -> None:
    passage = "These are myths that many people believe:  - Deodorants cause cancer of the breast in women."
    assert statements(passage) == ()


def test_abbreviations_keep_their_capitals() -> None:
    items = [each.text for each in statements("The vaccine can cause problems in people with:  - HIV infection.")]
    assert items == ["The vaccine can cause problems in people with: HIV infection."]


@given(st.text(max_size=400))
def test_no_passage_breaks_it(passage: str) -> None:
    assert all(statement.text.strip() for statement in statements(passage))
