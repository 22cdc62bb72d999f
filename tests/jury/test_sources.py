"""Where links lead."""

from __future__ import annotations

import pytest

from crowdnotes.jury.sources import sources_of


@pytest.mark.parametrize(
    ("note", "found"),
    [
        ("See https://www.Example.org/a and https://m.example.com/b", ["example.org", "example.com"]),
        ("See https://x.com/SomeOne/status/1", ["x.com", "@someone"]),
        ("See https://twitter.com", ["twitter.com"]),
        ("No link at all.", []),
    ],
)
def test_hosts_and_accounts_come_in_order(note: str, found: list[str]) -> None:
    assert sources_of(note) == found
