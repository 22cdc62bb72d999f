"""Links, papers and trials that a post refers to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.text.urls import is_web_address, references_in


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("Read https://www.bmj.com/a, now (https://t.co/Abc).", ["https://www.bmj.com/a", "https://t.co/Abc"]),
        ("see nature.com/articles/x1 or visit cdc.gov", ["https://nature.com/articles/x1"]),
        ("doi:10.1056/NEJMoa2034577, they say", ["https://doi.org/10.1056/nejmoa2034577"]),
        ("https://doi.org/10.1056/NEJMoa2034577 10.1056/NEJMoa2034577", ["https://doi.org/10.1056/NEJMoa2034577"]),
        ("Trial nct04368728; PMID: 33301246", ["https://clinicaltrials.gov/study/NCT04368728", "https://pubmed.ncbi.nlm.nih.gov/33301246/"]),
        ("PMC7745181 and arXiv:2401.01234v2", ["https://pmc.ncbi.nlm.nih.gov/articles/PMC7745181/", "https://arxiv.org/abs/2401.01234"]),
        ("https://x.com/a/status/1 pic.twitter.com/abc https://twitter.com/a/status/2", []),
        ("https://a.example/i.png https://a.example/film.MP4?x=1", []),
        ("10.5 million people, 10.1000 at once", []),
        ("https://a.org/1 https://a.org/2 https://a.org/3 https://a.org/4", [f"https://a.org/{n}" for n in (1, 2, 3)]),
        ("", []),
    ],
)  # fmt: skip
def test_what_a_post_refers_to_is_found_once(text: str, addresses: list[str]) -> None:
    assert list(references_in(text)) == addresses


@given(st.text(max_size=300))
def test_whatever_is_written_at_most_three_addresses_come_of_it(text: str) -> None:
    found = references_in(f"{text} https://example.org/a 10.1000/x")
    assert 1 <= len(found) <= 3
    assert all(link.lower().startswith(("http://", "https://")) for link in found)
    assert all(is_web_address(link) for link in found if link.startswith("https://doi.org"))
