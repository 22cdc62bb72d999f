from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.evidence.provenance import is_archived, original_of

PAGE = "https://www.who.int/news/measles?x=1"


@pytest.mark.parametrize(
    "copy",
    [
        f"https://web.archive.org/web/20200101000000/{PAGE}",
        f"http://web.archive.org/web/2020id_/{PAGE}",
        f"https://web.archive.org/web/*/{PAGE}",
        "https://web.archive.org/web/2020/https:/www.who.int/news/measles?x=1",
        f"https://archive.ph/20200101/{PAGE}",
        f"https://archive.is/newest/{PAGE}",
        f"https://archive.today/o/AbCdE/{PAGE}",
        "https://archive.md/20200101/https%3A%2F%2Fwww.who.int%2Fnews%2Fmeasles?x=1",
    ],
)
def test_a_copy_names_its_original(copy: str) -> None:
    assert is_archived(copy)
    assert original_of(copy) == PAGE


def test_a_copy_without_a_scheme_is_completed_and_a_short_one_stays() -> None:
    assert original_of("https://web.archive.org/web/2020/who.int/x") == "http://who.int/x"
    assert is_archived("https://archive.ph/AbCdE")
    assert original_of("https://archive.ph/AbCdE") == "https://archive.ph/AbCdE"


@pytest.mark.parametrize("url", [PAGE, "https://archive.org/details/x", "https://web.archive.org/", "http://[", ""])
def test_anything_else_is_no_copy(url: str) -> None:
    assert not is_archived(url)
    assert original_of(url) == url


@given(st.text() | st.text().map("https://web.archive.org/web/2020/{}".format))
def test_any_text_has_an_original(url: str) -> None:
    assert original_of(url) or not url
