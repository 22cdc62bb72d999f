"""Which search result to read next."""

from __future__ import annotations

from crowdnotes.domain import Hit, Post
from crowdnotes.engines.local import LocalEngine

POST = Post(text="The measles vaccine causes autism in children.")


def _hit(title: str, snippet: str, url: str | None = None) -> Hit:
    return Hit(provider="test", title=title, snippet=snippet, query="q", url=url)


CLOSE = _hit(
    "Measles vaccine and autism", "The measles vaccine does not cause autism in children.", "https://a.example.org/1"
)
OTHER = _hit("Autism in children", "What causes autism in children is studied.", "https://b.example.org/2")
FAR = _hit("Football results", "Tonight's scores")


def test_the_closest_result_is_picked_with_a_reason(engine: LocalEngine) -> None:
    pick = engine.pick(POST, [FAR, OTHER, CLOSE], [])
    assert pick is not None
    assert pick.index == 2
    assert "similarity to the post" in pick.why


def test_a_repetition_of_what_is_chosen_waits(engine: LocalEngine) -> None:
    pick = engine.pick(POST, [CLOSE, OTHER], [CLOSE])
    assert pick is not None
    assert pick.index == 1
    assert "not chosen yet" in pick.why


def test_nothing_relevant_means_no_pick(engine: LocalEngine) -> None:
    assert engine.pick(POST, [FAR], []) is None
    assert engine.pick(POST, [], []) is None
    assert engine.pick(Post(text="😀"), [CLOSE], []) is None


def test_a_public_body_wins_only_a_tie(engine: LocalEngine) -> None:
    public = CLOSE.model_copy(update={"url": "https://health.example.gov/1"})
    off_topic = FAR.model_copy(update={"url": "https://health.example.gov/2"})
    tie = engine.pick(POST, [CLOSE, public], [])
    far = engine.pick(POST, [off_topic, CLOSE], [])
    assert tie is not None
    assert tie.index == 1
    assert far is not None
    assert far.index == 1


def test_a_broken_url_is_no_obstacle(engine: LocalEngine) -> None:
    assert engine.pick(POST, [CLOSE.model_copy(update={"url": "https://[bad"})], []) is not None
