"""Links as they are pasted: taken, completed, or refused with a sentence each."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.cases.intake import checked_urls, usable_urls
from crowdnotes.errors import InputError


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "https://[::1",
        "ftp://a.org/x",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://a b.org",
        "https://a.org:x",
    ],
)
def test_a_malformed_link_is_refused_in_a_sentence(url: str) -> None:
    with pytest.raises(InputError, match=r"“.*” is not (a web|an http)"):
        checked_urls([url])


def test_links_are_completed_and_taken_once() -> None:
    assert checked_urls(["a.org/x", " https://a.org/x ", "", "localhost.org:8080/y"]) == (
        "https://a.org/x",
        "https://localhost.org:8080/y",
    )


def test_of_pasted_lines_the_good_ones_are_taken_and_each_bad_one_says_why() -> None:
    urls, refused = usable_urls(["a.org/x", "see this page", "hello", "ftp://a.org", " https://a.org/x ", "b.org"])
    assert urls == ("https://a.org/x", "https://b.org")
    assert [(item.line, item.why.message) for item in refused] == [
        ("see this page", "“see this page” is not a web address."),
        ("hello", "“hello” is not a web address."),
        ("ftp://a.org", "“ftp://a.org” is not an http or https address."),
    ]


def test_an_endless_line_is_no_link() -> None:
    urls, (refused,) = usable_urls(["a:" + "." * 1_000_000])
    assert urls == ()
    assert refused.why.message.endswith("…” is too long for a web address.")


def test_links_past_the_most_a_case_takes_are_refused_one_by_one() -> None:
    urls, refused = usable_urls([f"a.org/{number}" for number in (*range(22), 3)])
    assert len(urls) == 20
    assert [item.line for item in refused] == ["a.org/20", "a.org/21"]
    assert "a case takes 20 links" in refused[0].why.message
    assert checked_urls(urls) == urls


@given(st.text(max_size=60))
def test_any_text_as_a_link_is_taken_or_refused_never_a_crash(text: str) -> None:
    with suppress(InputError):
        for url in checked_urls([text]):
            assert url.lower().startswith(("http://", "https://"))
