from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.evidence.reading.document import references_in, without

PROSE = "\n".join(
    f"Paragraph {number} says what the study found in several hundred patients over two years, in full sentences."
    for number in range(12)
)
LISTED = "\n".join(
    f"{number}. Smith J, Jones K. A trial of something. Lancet. 2019;3:{number}. doi:10.1/{number}"
    for number in range(8)
)


def drop_references(text: str) -> str:
    return without(text, references_in(text))


HEADINGS = (
    "References|REFERENCES:|## References|7. References|Bibliography|Works cited|Sources|Further reading|External links"
    "|See also|Footnotes|Notes|Einzelnachweise|Références|Referencias|参考文献"
)


@pytest.mark.parametrize("heading", HEADINGS.split("|"))
def test_a_closing_list_is_dropped_with_its_heading(heading: str) -> None:
    assert drop_references(f"{PROSE}\n{heading}\n{LISTED}") == PROSE


@pytest.mark.parametrize("heading", ["References", "Sources", "Notes", "See also"])
def test_a_heading_near_the_start_is_kept(heading: str) -> None:
    text = f"Title\n{heading}\n{PROSE}"
    assert drop_references(text) == text


@pytest.mark.parametrize("heading", ["Sources", "Notes", "See also"])
def test_prose_under_an_ordinary_heading_is_kept_even_at_the_end(heading: str) -> None:
    text = f"{PROSE}\n{PROSE}\n{heading}\n{PROSE}"
    assert drop_references(text) == text


def test_the_word_inside_a_sentence_is_no_heading() -> None:
    text = f"{PROSE}\nReferences to earlier work were checked by two people.\nSources say so."
    assert drop_references(text) == text


def test_a_long_list_that_starts_early_is_dropped() -> None:
    assert drop_references(f"{PROSE}\nReferences\n{LISTED}\n{LISTED}\n{LISTED}") == PROSE


def test_an_appendix_after_the_references_is_kept() -> None:
    appendix = "Appendix A\nThe questionnaire was given to all of the patients."
    assert drop_references(f"{PROSE}\nReferences\n{LISTED}\n{appendix}") == f"{PROSE}\n{appendix}"


def test_several_closing_sections_go_together() -> None:
    assert (
        drop_references(f"{PROSE}\nSee also\nVaccine\nTrial\nReferences\n{LISTED}\nExternal links\nWHO page") == PROSE
    )


@given(
    st.lists(
        st.sampled_from(
            ["References", "Sources", "Appendix", PROSE.split("\n")[0], "[1] https://a.example", "", "See also"]
        )
    )
)
def test_what_is_left_is_always_made_of_lines_that_were_there(lines: list[str]) -> None:
    text = "\n".join(lines)
    left = drop_references(text)
    assert len(left) <= len(text)
    assert set(left.split("\n")) <= set(lines) | {""}
