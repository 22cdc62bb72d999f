"""Searches made from a post's own words."""

from __future__ import annotations

from crowdnotes.domain import Aim, Post
from crowdnotes.engines.local.health_terms import find_topics
from crowdnotes.engines.local.queries import build_queries, find_claims

POST = Post(
    text="The vaxx causes heart attacks in kids!! Share before they delete it @bob https://t.co/abc #StopTheVaxx"
)


def test_queries_differ_and_each_has_its_own_purpose() -> None:
    queries = build_queries(POST, find_claims(POST), 5)
    assert len(queries) == 5
    assert len({query.text.lower() for query in queries}) == 5
    assert len({query.purpose for query in queries}) == 5


def test_one_query_speaks_as_medical_sources_do() -> None:
    texts = " | ".join(query.text for query in build_queries(POST, find_claims(POST), 5))
    assert "myocardial infarction" in texts


def test_links_and_mentions_are_not_searched_for() -> None:
    texts = " ".join(query.text for query in build_queries(POST, find_claims(POST), 8))
    assert "t.co" not in texts
    assert "bob" not in texts


def test_words_that_only_say_how_somebody_speaks_are_not_searched_for() -> None:
    post = Post(text="Honestly, the new health minister banned all vaccines tbh.")
    texts = " ".join(query.text for query in build_queries(post, find_claims(post), 8)).lower()
    assert "health minister banned all vaccines" in texts
    assert "honestly" not in texts
    assert "tbh" not in texts


def test_no_query_is_longer_than_a_search_box_takes() -> None:
    post = Post(text="Vaccinecausescancer" * 1_300)
    assert all(len(query.text) <= 160 and len(query.purpose) <= 160 for query in build_queries(post, [], 5))


def test_a_post_without_words_gives_no_query() -> None:
    assert build_queries(Post(text="😀 https://t.co/abc @bob"), [], 5) == []


def test_a_limit_is_kept() -> None:
    assert len(build_queries(POST, find_claims(POST), 2)) == 2
    assert build_queries(POST, find_claims(POST), 0) == []


def test_the_denial_the_authority_and_the_study_have_queries_of_their_own() -> None:
    post = Post(text="The measles vaccine causes autism in toddlers.")
    texts = [query.text for query in build_queries(post, find_claims(post), 8)]
    assert "no evidence that The measles vaccine causes autism in toddlers" in texts
    assert any(text.startswith("CDC ") for text in texts)
    assert any("systematic review" in text for text in texts)


def test_the_other_side_is_searched_for_in_words_that_support_the_claim() -> None:
    texts = [query.text for query in build_queries(POST, find_claims(POST), 5, aim=Aim.OTHER_SIDE)]
    assert texts
    assert not any("no evidence" in text for text in texts)


def test_more_like_a_passage_is_searched_for_in_its_own_terms() -> None:
    queries = build_queries(POST, find_claims(POST), 4, like="Myocarditis after a dose is rare and mostly mild.")
    assert any("myocarditis" in query.text.casefold() for query in queries)
    assert all("more" in query.purpose for query in queries)


def test_health_terms_outrank_chatter() -> None:
    best = find_topics("Wow guys, check this amazing thread: measles vaccine and autism, really crazy stuff")[0]
    assert "measles" in best.text or "autism" in best.text


def test_the_authority_stays_whole_beside_the_subject() -> None:
    post = Post(text="Soursop leaves cure prostate cancer.")
    texts = [query.text for query in build_queries(post, find_claims(post), 8)]
    assert any(text.startswith("National Cancer Institute prostate") for text in texts)


def test_nothing_unknown_gets_an_overview() -> None:
    post = Post(text="Biden wants to replace lead pipes.")
    assert not any(query.purpose.startswith("overview") for query in build_queries(post, find_claims(post), 8))


def test_what_is_said_of_a_disease_is_searched_and_only_medical_words_are_called_medical() -> None:
    post = Post(text="Doctors are furious! Local mom found out: fibromyalgia is highly contagious.")
    queries = build_queries(post, find_claims(post), 8)
    medical = [query.text for query in queries if "medical" in query.purpose]
    assert medical == ["fibromyalgia contagious"]
    assert not any(query.purpose.startswith("overview") and "fibromyalgia" not in query.text for query in queries)
    cut = Post(text=f"Insomnia {'really never keeps anybody in Leeds awake ' * 4} and is contagious.")
    assert any("contagious" in query.text for query in build_queries(cut, find_claims(cut), 8))


def test_a_post_without_medical_words_is_searched_in_its_own_words() -> None:
    post = Post(text="Biden wants to replace lead pipes.")
    queries = build_queries(post, find_claims(post), 8)
    assert not any("WHO" in query.text or "medical" in query.purpose for query in queries)
    assert all("pipes" in query.text for query in queries)


def test_an_overview_is_searched_by_the_name_alone_without_words_that_judge_or_stray() -> None:
    post = Post(text="These terrible Vaccines! Eggs cause strokes, and the whole happy letter explains why it exists.")
    texts = [query.text for query in build_queries(post, find_claims(post), 8)][1:]
    said = " ".join(text for text in texts if "no evidence" not in text)
    assert not any(word in said for word in ("What is", "terrible", "happy", "explains", "exists"))
    assert {text.lower() for text in texts} & {"vaccines", "eggs"}


def test_a_post_in_other_letters_is_searched_like_one_in_plain_ones() -> None:
    def searched(text: str) -> list[tuple[str, str | None]]:
        post = Post(text=text)
        return [(query.text, query.language) for query in build_queries(post, find_claims(post), 8)]

    plain = searched("Vaccines cause autism in children.")
    assert searched("𝗩𝗮𝗰𝗰𝗶𝗻𝗲𝘀 𝗰𝗮𝘂𝘀𝗲 𝗮𝘂𝘁𝗶𝘀𝗺 𝗶𝗻 𝗰𝗵𝗶𝗹𝗱𝗿𝗲𝗻.") == plain
    assert searched("Vаccinеs cаusе autіsm in сhіldrеn.") == plain
    assert searched("Vac\u200bcines ca\u200buse au\u200btism in chil\u200bdren.") == plain
