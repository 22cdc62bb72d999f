"""Rankings are merged: each page once, the best first, with what every provider knew of it."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.merging import merge
from crowdnotes.text.urls import identities


def _hit(url: str, provider: str = "a", **more: object) -> Hit:
    return Hit.model_validate({"provider": provider, "title": url, "snippet": "", "query": "q", "url": url, **more})


def test_records_of_one_library_stay_apart_though_they_share_an_address() -> None:
    url = "https://health.example.gov/measles"
    rows = [_hit(url, library="l", record=n, title=f"Question {n}?") for n in (1, 2)]
    merged = merge([[rows], [[_hit(url, "web")]]])
    assert sorted(hit.record or 0 for hit in merged) == [1, 2]
    assert sum("web" in hit.also_found_by for hit in merged) == 1


def test_a_page_that_several_providers_found_comes_first() -> None:
    merged = merge([
        [[_hit("https://one.org/1"), _hit("https://both.org/")]],
        [[_hit("https://two.org/2", "b"), _hit("http://www.both.org/?utm_source=x", "b")]],
    ])  # fmt: skip
    assert merged[0].url == "https://both.org/"
    assert merged[0].also_found_by == ("b",)
    assert merged[0].score == 1.0
    assert len(merged) == 3


def test_a_provider_with_many_queries_has_no_more_votes() -> None:
    many = [[_hit("https://many.org/")], [_hit("https://many.org/")], [_hit("https://many.org/")]]
    scores = {hit.url: hit.score for hit in merge([many, [[_hit("https://one.org/", "b")]]])}
    assert scores["https://many.org/"] == scores["https://one.org/"]


def test_the_first_of_one_of_many_queries_stands_above_the_second_of_another_provider() -> None:
    many = [[_hit(f"https://many.org/{n}")] for n in range(8)]
    one = [[_hit("https://one.org/1", "b"), *(_hit(f"https://one.org/{n}", "b") for n in range(2, 9))]]
    order = [hit.url for hit in merge([many, one])]
    assert order.index("https://many.org/0") < order.index("https://one.org/2")
    assert set(order[:8]) == {f"https://many.org/{n}" for n in range(4)} | {f"https://one.org/{n}" for n in range(1, 5)}


def test_a_part_of_a_text_from_another_provider_is_a_copy_of_it() -> None:
    words = " ".join(f"word{n}" for n in range(120))
    whole, part = _hit("https://a.org/1", title="T", snippet=words), _hit("https://b.org/2", "b", title="T")
    part = part.model_copy(update={"snippet": words[200:500]})
    assert len(merge([[[whole]], [[part]]])) == 1
    assert len(merge([[[whole, part.model_copy(update={"provider": "a"})]]])) == 2


def test_a_doi_joins_what_two_addresses_hold_apart() -> None:
    merged = merge([
        [[_hit("https://pubmed.ncbi.nlm.nih.gov/1/", snippet="The abstract.", notices=("retracted",))]],
        [[_hit("https://doi.org/10.1000/x", "b", doi="10.1000/x", published=date(2020, 5, 1))]],
        [[_hit("https://pubmed.ncbi.nlm.nih.gov/1/", "c", doi="10.1000/X")]],
    ])  # fmt: skip
    assert len(merged) == 1
    assert merged[0].snippet == "The abstract."
    assert (merged[0].published, merged[0].doi) == (date(2020, 5, 1), "10.1000/x")
    assert merged[0].notices == ("retracted",)
    assert set(merged[0].also_found_by) == {"b", "c"}


_ABSTRACT = "Measles vaccination was not followed by autism in a cohort of half a million children born in Denmark."


def test_a_copy_of_the_text_elsewhere_is_left_out() -> None:
    merged = merge([
        [[_hit("https://agency.org/a", title="Vaccines and autism", snippet=_ABSTRACT)]],
        [[_hit("https://mirror.org/a", "b", title="Vaccines and autism", snippet=_ABSTRACT + " Mirror.")]],
    ])  # fmt: skip
    assert [hit.url for hit in merged] == ["https://agency.org/a"]
    assert merged[0].also_found_by == ("b",)


def test_a_published_paper_stays_rather_than_its_preprint_and_takes_no_mark_from_it() -> None:
    merged = merge([
        [[_hit("https://doi.org/10.1101/1", doi="10.1101/1", title="T", snippet=_ABSTRACT, notices=("preprint",))]],
        [[_hit("https://doi.org/10.1000/2", "b", doi="10.1000/2", title="T", snippet=_ABSTRACT)]],
    ])  # fmt: skip
    paper = next(hit for hit in merged if hit.snippet)
    assert (paper.doi, paper.notices) == ("10.1000/2", ())


def test_short_texts_that_agree_are_different_pages() -> None:
    hits = [_hit(f"https://{name}.org/measles", title="Measles", snippet="") for name in ("a", "b")]
    assert len(merge([[hits]])) == 2


_URLS = st.sampled_from([f"https://site{n}.org/{page}" for n in range(4) for page in "xyz"])
_HITS = st.builds(
    lambda url, doi: _hit(url, doi=doi), _URLS, st.sampled_from([None, "10.1000/1", "10.1000/2", "10.1000/3"])
)
_RANKINGS = st.lists(st.lists(st.lists(_HITS, max_size=6), max_size=3), max_size=3)


@given(_RANKINGS)
def test_nothing_is_lost_nothing_comes_twice_and_the_order_is_the_scores(providers: list[list[list[Hit]]]) -> None:
    merged = merge(providers)
    given_urls = {hit.url for rankings in providers for ranking in rankings for hit in ranking}
    assert {hit.url for hit in merged} <= given_urls
    keys = [identities(hit) for hit in merged]
    assert all(not a & b for i, a in enumerate(keys) for b in keys[i + 1 :])
    scores = [hit.score for hit in merged]
    assert scores == sorted(scores, reverse=True)
    assert not merged or scores[0] == 1.0
    assert bool(merged) == bool(given_urls)


@given(_RANKINGS)
def test_merging_what_is_merged_changes_no_page(providers: list[list[list[Hit]]]) -> None:
    merged = merge(providers)
    assert [hit.url for hit in merge([[merged]])] == [hit.url for hit in merged]
