"""What a reader must know of a source stands beside it, the gravest first."""

from __future__ import annotations

from datetime import date

from crowdnotes.domain import UNDATED, DateOrigin, Post, ReadAs, Source
from pages.view.search_report import source_badges

POST = Post(text="Vitamin C heilt Erkältungen.", language="de")
DATED = Source(
    id="a",
    title="A page",
    url="https://a.example/x",
    published=date(2024, 3, 5),
    date_origin=DateOrigin.PAGE,
    language="en",
)


def badges(until: date | None = None, page: int | None = None, **changes: object) -> list[str]:
    shown = source_badges(DATED.model_copy(update=changes), POST, until, page).replace("\\", "")
    return [badge.split(": ", 1)[1].removesuffix("]") for badge in shown.split("] :")] if shown else []


def test_an_ordinary_source_has_none() -> None:
    assert badges() == []
    assert badges(language="de") == []
    assert badges(until=date(2024, 3, 5)) == []


def test_retracted_comes_first_and_is_red() -> None:
    found = badges(notices=("preprint", "expression of concern", "retracted"), read_as=ReadAs.ABSTRACT)
    assert [item.removesuffix("]") for item in found] == [
        "retracted", "expression of concern", "preprint", "abstract only",
    ]  # fmt: skip
    assert source_badges(DATED.model_copy(update={"notices": ("retracted",)}), POST, None).startswith(":red-badge[")


def test_what_is_later_than_the_cutoff_says_so() -> None:
    assert badges(until=date(2024, 3, 4)) == ["after the cutoff"]


def test_a_date_that_is_not_known_is_said_also_when_nobody_tells_where_it_is_from() -> None:
    assert badges(published=None) == ["date not known"]
    assert badges(date_origin=None) == ["date not known"]
    assert badges(published=None, notices=(UNDATED,)) == ["date not known"]


def test_a_source_that_cannot_be_linked_says_so() -> None:
    assert badges(url=None) == ["no link; X asks for one"]


def test_a_language_that_is_neither_the_posts_nor_english_is_named() -> None:
    assert badges(language="pt-BR") == ["Portuguese"]
    assert badges(language="xx") == ["language: xx"]


def test_a_page_of_a_pdf_is_told() -> None:
    assert badges(page=3) == ["page 3"]


def test_words_from_outside_stay_words() -> None:
    assert ":red[" not in source_badges(DATED.model_copy(update={"notices": (":red[x]",)}), POST, None)


def test_words_that_a_person_copied_are_marked_as_not_compared() -> None:
    assert badges(id="hand:1") == ["pasted by hand: not compared with the page"]
