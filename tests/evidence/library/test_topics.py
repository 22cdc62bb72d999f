import numpy as np

from crowdnotes.evidence.library import search
from crowdnotes.evidence.library.search import embed_topics, nearest_topics, topics_of
from crowdnotes.testing import HashingEmbedder


def test_what_most_titles_share_is_no_topic() -> None:
    titles = [f"What are the symptoms of disease{i} ?" for i in range(300)]
    assert topics_of(titles)[:2] == ["disease0", "disease1"]


def test_few_titles_lose_only_stop_words() -> None:
    assert topics_of(["What is flu?", "What is a cold?"]) == ["flu", "cold"]


def test_equal_topics_share_a_row_and_empty_ones_have_none() -> None:
    heard: list[float] = []
    vectors, rows = embed_topics(["flu", "", "cold", "flu"], HashingEmbedder(), heard.append)
    assert rows == [0, None, 1, 0]
    assert vectors.shape == (2, 256)
    assert heard[-1] == 1
    assert nearest_topics(vectors, HashingEmbedder().encode(["the cold"])[0], 1) == [1]


def test_no_titles_give_no_vectors() -> None:
    vectors, rows = embed_topics([], HashingEmbedder(), lambda share: None)
    assert vectors.shape == (0, 256)
    assert rows == []


def test_past_the_limit_records_have_no_topic() -> None:
    many = [f"t{i}" for i in range(search.MOST_TOPICS + 5)]
    vectors, rows = embed_topics(many, HashingEmbedder(), lambda share: None)
    assert len(vectors) == search.MOST_TOPICS
    assert rows[-1] is None
    assert np.isfinite(vectors).all()
