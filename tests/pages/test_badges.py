"""What a reader must know of a source stands beside it, the gravest first."""

from __future__ import annotations

import ast
from datetime import date
from typing import Any

import pytest

from crowdnotes.domain import (
    BADLY_READABLE,
    PARTS_LEFT_OUT,
    UNDATED,
    DateOrigin,
    EarlierNote,
    FactCheck,
    Post,
    ReadAs,
    Source,
)
from pages.common.search_report import origin_badges, source_badges
from tests.pages.conftest import ROOT

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
    shown = source_badges(DATED.replace(**changes), POST, until, page).replace("\\", "")
    return [badge.split(": ", 1)[1].removesuffix("]") for badge in shown.split("] :")] if shown else []


@pytest.mark.parametrize(
    ("found", "changes"),
    [
        ([], {}),
        ([], {"language": "de"}),
        ([], {"until": date(2024, 3, 5)}),
        (["after the cutoff"], {"until": date(2024, 3, 4)}),
        (["no date"], {"published": None}),
        (["no date"], {"date_origin": None}),
        (["no date"], {"date_origin": DateOrigin.FILE, "until": date(2024, 3, 4)}),
        (["parts left out", "badly readable"], {"notices": (PARTS_LEFT_OUT, BADLY_READABLE)}),
        (["no date"], {"published": None, "notices": (UNDATED,)}),
        (["no link: X needs one"], {"url": None}),
        (["Portuguese"], {"language": "pt-BR"}),
        (["language: xx"], {"language": "xx"}),
        (["page 3"], {"page": 3}),
        (
            ["fact-check: False"],
            {"fact_checks": (FactCheck(claim="C", verdict="False"), FactCheck(claim="D", verdict="No"))},
        ),
        ([], {"fact_checks": (FactCheck(claim="C"),)}),
        (["pasted by hand: not compared with the page"], {"id": "hand:1"}),
        (["archived copy"], {"read_as": ReadAs.ARCHIVED}),
        (
            ["read through Reader: not compared with the page"],
            {"read_as": ReadAs.THROUGH, "read_through": "Reader"},
        ),
    ],
)
def test_a_source_says_what_is_not_ordinary_about_it(found: list[str], changes: dict[str, Any]) -> None:
    assert badges(**changes) == found


def test_a_source_that_the_post_refers_to_says_so_also_in_its_row() -> None:
    linking = Post(text="See http://www.a.example/x?utm_source=x")
    through = DATED.replace(read_as=ReadAs.THROUGH, read_through="Reader")
    row = origin_badges(through, linking, short=True)
    assert ["linked by the post" in row[0], row[1].endswith("read through Reader]")] == [True, True]
    assert origin_badges(DATED, POST) == []


def test_a_page_that_earlier_notes_cite_says_so_by_the_first_that_x_showed() -> None:
    notes = [EarlierNote(note=n, text="Words of a note.", written=date(2020 + n, 1, 2)) for n in (1, 2)]
    cited = DATED.replace(notes=(notes[0], notes[1].replace(shown=date(2022, 1, 3))))
    [badge] = origin_badges(cited, POST)
    assert "cited by a note that X showed under a similar post, 2022" in badge.replace("\\", "")
    [badge] = origin_badges(cited, POST, short=True)
    assert "cited by a note that X showed, 2022" in badge.replace("\\", "")


def test_retracted_comes_first_and_is_red() -> None:
    found = badges(notices=("preprint", "expression of concern", "retracted"), read_as=ReadAs.ABSTRACT)
    assert [item.removesuffix("]") for item in found] == [
        "retracted", "expression of concern", "preprint", "abstract only",
    ]  # fmt: skip
    assert source_badges(DATED.replace(notices=("retracted",)), POST, None).startswith(":red-badge[")


def test_words_from_outside_stay_words() -> None:
    assert ":red[" not in source_badges(DATED.replace(notices=(":red[x]",)), POST, None)


def test_the_words_of_a_badge_are_escaped_once() -> None:
    calls = (
        (file.name, node)
        for file in (ROOT / "pages").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "badge"
    )
    twice = [
        f"{name}:{call.lineno}"
        for name, call in calls
        for part in ast.walk(ast.Module([ast.Expr(one) for one in call.args], []))
        if isinstance(part, ast.Name) and part.id in {"escaped", "title", "source_title"}
    ]
    assert twice == []
