"""Which declarations of a page's own styles hold for an element."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html  # type: ignore[import-untyped]  # its stubs cover too little to bring them

from crowdnotes.evidence.reading.hidden_text import StyleSheets


def _style(css: str, element: str = '<p class="a b" id="y">w</p>', around: str = "<div class=c>{}</div>") -> str:
    tree = html.document_fromstring(f"<html><head><style>{css}</style></head><body>{around.format(element)}</body>")
    return StyleSheets(tree).style_of(next(tree.iter("p"))).get("display", "")


@pytest.mark.parametrize(
    ("css", "display"),
    [
        (".a{display:none}", "none"),
        (".a{display:none} .a{display:block}", "block"),
        (".a{display:block} .a{color:red} .a{display:none}", "none"),
        (".a.b{display:block} .a{display:none}", "block"),
        ("p.a.b#y{display:none}", "none"),
        (".a.z{display:none}", ""),
        ("h1.a{display:none}", ""),
        ("#y{display:none} .a.b{display:block}", "none"),
        (".a{display:none!important} .a.b{display:block}", "none"),
        (".a{display:none} .b{display:block} .a{color:red}", "block"),
    ],
)
def test_the_strongest_of_the_last_rules_that_match_wins(css: str, display: str) -> None:
    assert _style(css) == display


@pytest.mark.parametrize(
    "css",
    [
        ".c .a{display:block}",
        ".c > .a{display:block}",
        ".a[open]{display:block}",
        ".a:not(.z, .x){display:block}",
        "@media (min-width: 600px){.a{display:block}}",
        "@supports (display:grid){.a{display:block}}",
    ],
)
def test_a_rule_that_may_hold_shows_again_what_a_simple_one_hides(css: str) -> None:
    assert _style(f".a{{display:none}} {css}") == "block"


@pytest.mark.parametrize(
    "css",
    [
        ".nowhere .a{display:block}",
        ".a:hover{display:block}",
        ".a::before{display:block}",
        ".a:before{display:block}",
        "@media print{.a{display:block}}",
        ".c .z{display:block}",
        "",
    ],
)
def test_a_rule_that_cannot_hold_shows_nothing(css: str) -> None:
    assert _style(f".a{{display:none}} {css}") == "none"


@pytest.mark.parametrize("css", [".c .a{display:none}", ".a[x]{display:none}", "@media (width:1px){.a{display:none}}"])
def test_a_rule_that_may_not_hold_hides_nothing(css: str) -> None:
    assert _style(css) == ""


def test_an_inline_style_is_stronger_than_a_rule_unless_that_is_important() -> None:
    inline = '<p class=a style="display:block">w</p>'
    assert _style(".a{display:none}", inline) == "block"
    assert _style(".a{display:none!important}", inline) == "none"
    assert _style(".a{display:block!important}", '<p class=a style="display:none!important">w</p>') == "none"


def test_rules_of_the_same_selector_are_kept_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdnotes.evidence.reading.hidden_text._MAX_RULES", 1)
    assert _style(".a{color:red}" * 1_000 + ".a{display:none}") == "none"
    assert _style(".a{color:red} .b{display:none}") == ""


@settings(max_examples=200, deadline=None)
@given(st.text("ab.#:[]>+~*,(){} @!not-display:none\\\"'", max_size=60))
def test_any_style_sheet_leaves_a_style(css: str) -> None:
    assert isinstance(_style(css), str)
