"""Addresses that cannot be evidence, pages that look like them, which hits are worth reading, and near copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import SITE_CLOSED, TO_CONTENTS, TO_HOME, TO_SECTION, Hit, Post, Query
from crowdnotes.engines import Aim, Brief, Pick, Ranking
from crowdnotes.errors import EngineError, FetchError
from crowdnotes.evidence.duplicates import normalised, shingles, without_near_duplicates
from crowdnotes.evidence.reading.document import Document
from crowdnotes.evidence.selection import (
    PageKind,
    drop_unusable_hits,
    kind_of_address,
    pick_hits_to_rank,
    reason_to_skip,
    refuse_page,
    select_by_utility,
    why_astray,
)
from tests.fakes import ScriptedEngine, brief_of

CONTENTS = [
    "https://health.example.org/alzheimers/toc.html",
    "https://example.org/report/contents/",
    "https://example.org/sitemap.xml",
]
HOME = [
    "https://www.who.int/",
    "https://www.who.int/?utm_source=x&fbclid=1",
    "https://www.who.int/en/",
    "https://www.canada.ca/en.html",
    "https://www.example.org/en-us/home",
    "https://www.example.org/default.aspx",
    "https://web.archive.org/web/20200101000000/https://www.who.int/",
    "https://en.wikipedia.org/wiki/Main_Page",
    "https://www.who.int/index.html?lang=en",
    "https://de.wikipedia.org/wiki/Wikipedia:Hauptseite",
]
SEARCH = [
    "https://www.google.com/search?q=vaccines",
    "https://scholar.google.com/scholar?q=vaccines",
    "https://duckduckgo.com/?q=vaccines",
    "https://search.yahoo.com/search?p=vaccines",
    "https://www.baidu.com/s?wd=vaccines",
    "https://yandex.ru/search/?text=vaccines",
    "https://x.com/search?q=vaccines&src=typed_query",
    "https://www.youtube.com/results?search_query=vaccines",
    "https://pubmed.ncbi.nlm.nih.gov/?term=vaccines",
    "https://www.cdc.gov/search/?query=vaccines",
    "https://example.org/?s=vaccines",
    "https://en.wikipedia.org/wiki/Special:Search?search=vaccines",
    "https://europepmc.org/search?query=vaccines",
    "https://pmc.ncbi.nlm.nih.gov/?term=vaccines",
    "https://www.ncbi.nlm.nih.gov/pmc/?term=vaccines",
    "https://en.wikipedia.org/wiki/Special:Search/vaccine",
    "https://en.wikipedia.org/w/index.php?title=Special:Search&search=vaccine&fulltext=1",
    "https://www.amazon.com/s?k=vaccine",
    "https://journals.example.org/search-results?searchQuery=vaccine",
    "https://www.inserm.fr/recherche?q=vaccin",
    "https://www.example.org/results?query=vaccines",
]
LOG_IN = [
    "https://x.com/i/flow/login",
    "https://twitter.com/i/flow/login?redirect_after_login=%2Fwho",
    "https://accounts.google.com/v3/signin/identifier",
    "https://login.microsoftonline.com/common/oauth2/authorize",
    "https://www.linkedin.com/authwall?trk=x",
    "https://blog.example.org/wp-login.php?redirect_to=x",
    "https://idp.nature.com/authorize?response_type=cookie",
    "https://www.tandfonline.com/action/showLogin?uri=%2Fdoi%2Ffull%2F10.1%2Fx",
    "https://auth.example.org/realms/x?response_type=code",
    "https://accounts.example.org/",
]
PAGES = [
    "https://www.who.int/news/item/2024-01-01-measles",
    "https://en.wikipedia.org/w/index.php?title=Vaccine&oldid=12",
    "https://example.org/?p=1234",
    "https://example.org/index.php?id=77",
    "https://www.example.org/news/search-for-a-vaccine",
    "https://www.example.org/help/how-to-login-safely",
    "https://www.example.org/results/2024/trial",
    "https://pubmed.ncbi.nlm.nih.gov/31978945/",
    "https://www.youtube.com/watch?v=abc",
    "https://www.google.com/intl/en/about/products",
    "https://web.archive.org/web/20200101000000/https://www.who.int/news/measles",
    "https://archive.ph/AbCdE",
    "not a link",
    "",
    "http://[",
    "https://clinicaltrials.gov/study/NCT04381936/results",
    "https://www.recoverytrial.net/results",
    "https://www.clinicaltrialsregister.eu/ctr-search/trial/2020-001113-21/results",
    "https://www.inserm.fr/recherche",
    "https://www.recoverytrial.net/results?p=2",
    "https://bugs.example.org/?1234",
    "https://www.example.org/medical/def/checkpoint",
    "https://account.example.org/news/measles-outbreak",
    "https://auth.example.org/docs/how-tokens-work",
    "https://www.example.org/?article=12&lang=en",
]


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        (url, kind)
        for kind, urls in (
            (PageKind.HOME, HOME),
            (PageKind.SEARCH, SEARCH),
            (PageKind.LOG_IN, LOG_IN),
            (PageKind.CONTENTS, CONTENTS),
        )
        for url in urls
    ],
)
def test_what_is_no_evidence_is_told_by_its_address(url: str, kind: PageKind) -> None:
    assert kind_of_address(url) is kind
    assert reason_to_skip(url)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        (CONTENTS[0], TO_CONTENTS),
        ("http://nihseniorhealth.gov/gout/toc.html", SITE_CLOSED),
        ("https://www.cdc.gov/rabies/", TO_SECTION),
        (HOME[0], TO_HOME),
        ("https://www.cdc.gov/rabies/transmission/index.html", None),
        ("https://example.org/measles-in-2024", None),
        ("https://example.org/rabies?page=2", None),
    ],
)
def test_a_records_link_that_does_not_lead_to_its_words_is_named(url: str, says: str | None) -> None:
    assert why_astray(url) == says


@pytest.mark.parametrize("url", PAGES)
def test_an_ordinary_page_is_worth_fetching(url: str) -> None:
    assert reason_to_skip(url) is None


@given(st.text() | st.from_regex(r"https?://[a-z.]{1,9}(/[\w?=&%.-]{0,20}){0,3}", fullmatch=True))
def test_any_text_has_a_kind_or_none(url: str) -> None:
    assert kind_of_address(url) in (None, *PageKind)


def test_a_page_with_hardly_more_than_a_password_form_is_none() -> None:
    url = "https://news.example.org/2020/story"
    form = Document("t", "Welcome back. Enter your password.", asks_for_password=True)
    with pytest.raises(FetchError, match="password"):
        refuse_page(url, url, form)
    refuse_page(url, url, Document("t", "Words. " * 500, asks_for_password=True))
    refuse_page(url, url, Document("t", "A short statement on the matter."))


def test_hits_that_cannot_be_evidence_are_not_chosen_from() -> None:
    def hit(url: str | None, library: str | None = None) -> Hit:
        return Hit(provider="p", title="t", snippet="s", query="q", url=url, library=library, record=1)

    kept = [hit("https://a.example.org/story"), hit("https://a.example.org/", "medquad"), hit(None)]
    assert drop_unusable_hits([hit("https://a.example.org/"), *kept, hit("https://www.bing.com/search?q=x")]) == kept


def test_an_endless_address_is_left_to_the_guard() -> None:
    assert kind_of_address("https://www.google.com/search?q=" + "a" * 4_096) is None


BRIEF = brief_of(Post(text="A claim."))
HITS = [Hit(provider="p", title=f"hit {n}", snippet="", query="q") for n in range(4)]


class _Ranks(ScriptedEngine):
    def __init__(self, *indices: int) -> None:
        super().__init__()
        self._picks = tuple(Pick(index, f"place {place}") for place, index in enumerate(indices, 1))

    def rank(
        self,
        brief: Brief,
        candidates: Sequence[Hit],
        chosen: Sequence[Hit],
        quota: int,
        *,
        spare: int = 0,
        aim: Aim = Aim.JUDGE,
    ) -> Ranking:
        return Ranking(self._picks, "The others repeat it.")


def test_the_hits_are_chosen_in_the_engines_order_and_where_too_few_help_the_reason_is_kept() -> None:
    selection = select_by_utility(_Ranks(2, 3, 0), BRIEF, HITS, quota=3)
    assert selection.rest == ""
    chosen = [(item.hit.title, item.why) for item in selection.chosen]
    assert chosen == [("hit 2", "place 1"), ("hit 3", "place 2"), ("hit 0", "place 3")]
    ended = select_by_utility(_Ranks(1), BRIEF, HITS, quota=3)
    assert (len(ended.chosen), ended.rest) == (1, "The others repeat it.")
    assert select_by_utility(_Ranks(), BRIEF, [], quota=3).chosen == ()


@pytest.mark.parametrize("indices", [(-1,), (4,), (1, 2, 1)], ids=["before", "behind", "twice"])
def test_a_pick_that_was_not_offered_or_was_taken_already_is_refused(indices: tuple[int, ...]) -> None:
    with pytest.raises(EngineError, match="did not offer"):
        select_by_utility(_Ranks(*indices), BRIEF, HITS, quota=3)


LONG = " ".join(f"word{i}" for i in range(100))


def test_case_punctuation_and_spacing_make_no_difference() -> None:
    assert normalised("Heart  attack!") == normalised("heart attack")
    assert normalised("ＡＢＣ, def") == "abc def"


def test_a_near_copy_goes_and_the_first_stays() -> None:
    near = LONG.replace("word50", "changed")
    assert without_near_duplicates([LONG, near, "something else entirely here"], str) == [
        LONG,
        "something else entirely here",
    ]


def test_texts_on_the_same_subject_both_stay() -> None:
    texts = ["Measles is caused by a virus that spreads.", "Measles is prevented by a vaccine that is safe."]
    assert without_near_duplicates(texts, str) == texts


def test_it_stops_at_the_limit() -> None:
    assert without_near_duplicates(["one thing", "two things", "three things"], str, 2) == ["one thing", "two things"]


@given(st.lists(st.text()))
def test_no_two_that_stay_are_near_and_a_second_pass_changes_nothing(texts: list[str]) -> None:
    kept = without_near_duplicates(texts, str)
    assert without_near_duplicates(kept, str) == kept
    if texts:
        assert kept[0] == texts[0]


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_near_copy_is_one_whichever_text_comes_first(a: str, b: str) -> None:
    sets = shingles(a), shingles(b)
    near = len(sets[0] & sets[1]) >= 0.8 * len(sets[0] | sets[1])
    assert len(without_near_duplicates([a, b], str)) == len(without_near_duplicates([b, a], str)) == (1 if near else 2)


MUMPS = brief_of(Post(text="They hide what causes mumps!"))


def _page(title: str, url: str = "", record: int | None = None) -> Hit:
    library = "health" if record is not None else None
    return Hit(provider="p", title=title, snippet="", query="q", url=url or None, library=library, record=record)


def test_a_model_is_offered_at_most_two_results_of_one_topic() -> None:
    site = "https://health.example.org"
    treated = _page("What are the treatments for Mumps ?", f"{site}/mumps-treatment")
    causes = _page("What causes Mumps ?", f"{site}/mumps-causes")
    mumps = [
        _page("What is (are) Mumps ?", f"{site}/mumps"),
        treated,
        _page("Mumps: symptoms", f"{site}/signs"),
        causes,
    ]
    records = [_page(title, f"{site}/toc", number) for number, title in enumerate(("Ageing", "Falls", "Sleep"))]
    elsewhere = _page("Mumps: symptoms", "https://clinic.example.net/mumps")
    diabetes = [_page(f"What is type {number} diabetes?", f"{site}/diabetes-{number}") for number in (1, 2, 3)]
    others = [_page(f"Page {name}", f"{site}/{name}") for name in "abcd"]
    offered = pick_hits_to_rank(MUMPS, [*mumps, *records, elsewhere, *diabetes, *others])
    assert offered == [mumps[0], causes, *records[:2], elsewhere, *diabetes, *others]


def test_where_topics_are_too_few_for_the_list_more_of_each_are_offered_and_never_more_than_it_takes() -> None:
    records = [_page("A long report", "https://report.example.org/whole", number) for number in range(30)]
    assert pick_hits_to_rank(MUMPS, records) == records[:14]
    two = [_page(f"The {name} report", "", number) for number in range(20) for name in ("north", "south")]
    assert pick_hits_to_rank(MUMPS, two) == two[:14]
    assert pick_hits_to_rank(MUMPS, two, 12) == two[:12]


class _Offered(ScriptedEngine):
    def rank(self, brief: Brief, candidates: Sequence[Hit], *rest: Any, **more: Any) -> Ranking:
        """The last one."""
        return Ranking((Pick(len(candidates) - 1, "why"),), queries=(Query(text="mumps", purpose="p"),))


def test_a_pick_is_of_the_list_that_the_model_was_offered() -> None:
    hits = [_page("Mumps", "https://health.example.org/mumps", number) for number in range(5)]
    hits += [_page(f"Page {name}", f"https://health.example.org/{name}") for name in "abcdefghi"]
    engine = _Offered()
    engine.uses_language_model = True
    selection = select_by_utility(engine, MUMPS, [*hits[5:], *hits[:5]], 3)
    assert [item.hit for item in selection.chosen] == [hits[1]]
    assert [query.text for query in selection.queries] == ["mumps"]
