"""Which search result to read next."""

from __future__ import annotations

from crowdnotes.domain import Aim, Hit, Post, SourceCategory
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.source_ranking import TOWARDS
from crowdnotes.testing import brief_of

BRIEF = brief_of(Post(text="The measles vaccine causes autism in children."))


def _hit(title: str, snippet: str, url: str | None = None) -> Hit:
    return Hit(provider="test", title=title, snippet=snippet, query="q", url=url)


CLOSE = _hit(
    "Measles vaccine and autism", "The measles vaccine does not cause autism in children.", "https://a.example.org/1"
)
OTHER = _hit("Autism in children", "What causes autism in children is studied.", "https://b.example.org/2")
FAR = _hit("Football results", "Tonight's scores")


def test_the_closest_result_is_picked_with_a_reason(engine: LocalEngine) -> None:
    (pick,) = engine.rank(BRIEF, [FAR, OTHER, CLOSE], [], 1).picks
    assert pick.index == 2
    assert "similarity to the post" in pick.why


def test_a_repetition_of_what_is_chosen_waits(engine: LocalEngine) -> None:
    (pick,) = engine.rank(BRIEF, [CLOSE, OTHER], [CLOSE], 1).picks
    assert pick.index == 1
    assert "than what is chosen" in pick.why or "similarity" in pick.why


def test_nothing_relevant_means_no_pick_and_says_why(engine: LocalEngine) -> None:
    none = engine.rank(BRIEF, [FAR], [], 1)
    assert (none.picks, none.rest) == ((), "None of the results that are left is close to the post in meaning.")
    assert engine.rank(BRIEF, [], [], 1).picks == ()
    assert engine.rank(brief_of(Post(text="😀")), [CLOSE], [], 1).picks == ()


def test_a_health_authority_wins_only_a_tie(engine: LocalEngine) -> None:
    authority = CLOSE.model_copy(update={"category": SourceCategory.HEALTH_AUTHORITY})
    off_topic = FAR.model_copy(update={"category": SourceCategory.HEALTH_AUTHORITY})
    (tie,) = engine.rank(BRIEF, [CLOSE, authority], [], 1).picks
    (far,) = engine.rank(BRIEF, [off_topic, CLOSE], [], 1).picks
    assert tie.index == 1
    assert "from a health authority" in tie.why
    assert far.index == 1


def test_a_retracted_paper_waits_behind_a_weaker_result(engine: LocalEngine) -> None:
    retracted = CLOSE.model_copy(update={"notices": ("retracted",)})
    (pick,) = engine.rank(BRIEF, [retracted, OTHER], [], 1).picks
    assert pick.index == 1


def test_the_other_side_prefers_what_speaks_for_the_claim(engine: LocalEngine) -> None:
    supports = _hit("Measles vaccine and autism", "The measles vaccine was linked to autism in children, it reported.")
    (pick,) = engine.rank(BRIEF, [CLOSE, supports], [], 1, aim=Aim.OTHER_SIDE).picks
    assert pick.index == 1


def test_a_broken_url_is_no_obstacle(engine: LocalEngine) -> None:
    assert engine.rank(BRIEF, [CLOSE.model_copy(update={"url": "https://[bad"})], [], 1).picks


def test_the_other_side_is_never_one_that_speaks_against_the_claim(engine: LocalEngine) -> None:
    none = engine.rank(BRIEF, [CLOSE], [], 1, aim=Aim.OTHER_SIDE)
    assert (none.picks, none.rest) == ((), "None of the results that are left speaks for the post's claim.")
    # Nor one that says nothing of it.
    assert engine.rank(BRIEF, [CLOSE, OTHER], [], 1, aim=Aim.OTHER_SIDE).picks == ()


def test_for_a_post_in_another_language_a_result_must_speak_for_its_claim_too(engine: LocalEngine) -> None:
    post = Post(text="Las vacunas causan autismo en los niños pequeños, dicen los médicos #vaccines #autism")
    subject = _hit("Tetanus vaccines", "Vaccines can help protect children from tetanus.")
    claim = _hit("Vaccines and autism", "Vaccines were linked to autism in children.")
    (pick,) = engine.rank(brief_of(post), [subject, claim], [], 1, aim=Aim.OTHER_SIDE).picks
    assert TOWARDS.words in pick.why
    assert engine.rank(brief_of(post), [subject], [], 1, aim=Aim.OTHER_SIDE).picks == ()


def test_several_are_picked_one_after_the_other_each_once(engine: LocalEngine) -> None:
    ranking = engine.rank(BRIEF, [FAR, OTHER, CLOSE], [], 3)
    assert [pick.index for pick in ranking.picks] == [2, 1]
    assert "close to the post" in ranking.rest
