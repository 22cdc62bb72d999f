"""Which search result to read next, and what speaks for one besides its relevance."""

from __future__ import annotations

from datetime import date

import pytest

from crowdnotes.domain import Aim, Hit, Post, SourceCategory
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.source_ranking import TOWARDS, ranking_reasons
from tests.fakes import brief_of

TODAY = date(2026, 1, 1)
CLAIM = "Coffee causes stroke."


def _weight(aim: Aim = Aim.JUDGE, **of: object) -> float:
    hit = Hit.model_validate({"provider": "p", "title": "A title", "snippet": "", "query": "q"} | of)
    return sum(reason.weight for reason in ranking_reasons(hit, aim, TODAY, [CLAIM]))


def test_a_health_authority_counts_more_than_a_portal_and_social_media_least() -> None:
    weights = [_weight(category=kind) for kind in (SourceCategory.HEALTH_AUTHORITY, SourceCategory.HEALTH_PORTAL)]
    assert weights[0] > weights[1] > _weight() > _weight(category=SourceCategory.SOCIAL)


def test_the_paper_itself_counts_more_than_its_press_release() -> None:
    paper = _weight(category=SourceCategory.RESEARCH, doi="10.1/2")
    assert paper > _weight(category=SourceCategory.RESEARCH, url="https://www.eurekalert.org/news-releases/1")


@pytest.mark.parametrize("notice", ["retracted", "withdrawn"])
def test_no_authority_outweighs_a_retraction(notice: str) -> None:
    assert _weight(category=SourceCategory.RESEARCH, doi="10.1/2", notices=(notice,)) < -0.4


def test_a_preprint_counts_somewhat_less() -> None:
    assert -0.1 < _weight(notices=("preprint",)) < 0


def test_recent_counts_more_than_old_and_without_a_date_nothing() -> None:
    assert _weight(published=date(2025, 1, 1)) > _weight() > _weight(published=date(2005, 1, 1))


def test_hard_words_count_against_a_result() -> None:
    easy = "The flu shot is safe. Most people feel fine. Some have a sore arm for a day or two at most."
    hard = "Immunohistochemical characterization demonstrated overexpression. " * 4
    assert _weight(snippet=easy) > 0 > _weight(snippet=hard)


def test_the_other_side_prefers_what_speaks_for_the_claim() -> None:
    supports = {"snippet": "Coffee was associated with an increased risk of stroke."}
    denies = {"snippet": "Coffee does not cause stroke; it is a myth."}
    assert _weight(Aim.OTHER_SIDE, **supports) > 0 > _weight(Aim.OTHER_SIDE, **denies)
    assert _weight(Aim.JUDGE, **supports) == _weight(Aim.JUDGE, **denies) == 0


@pytest.mark.parametrize(
    ("title", "snippet", "speaks"),
    [
        ("Tetanus vaccines", "They can help protect you. Tetanus can lead to locking of the jaw.", False),
        ("Autism", "Older fathers were linked to an increased risk of autism.", False),
        ("Vaccines", "An increased risk of autism was reported.", True),
    ],
)
def test_what_shares_only_the_subject_is_not_said_to_speak_for_the_claim(
    title: str, snippet: str, speaks: bool
) -> None:
    hit = Hit(provider="p", title=title, snippet=snippet, query="q")
    found = ranking_reasons(hit, Aim.OTHER_SIDE, None, ["Vaccines cause autism."])
    assert (TOWARDS in found) is speaks


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
    assert " match (0." in pick.why


def test_a_repetition_of_what_is_chosen_waits(engine: LocalEngine) -> None:
    (pick,) = engine.rank(BRIEF, [CLOSE, OTHER], [CLOSE], 1).picks
    assert pick.index == 1
    assert "says more about" in pick.why or " match (" in pick.why


def test_nothing_relevant_means_no_pick_and_says_why(engine: LocalEngine) -> None:
    none = engine.rank(BRIEF, [FAR], [], 1)
    assert (none.picks, none.rest) == ((), "No other result is close to the post.")
    assert engine.rank(BRIEF, [], [], 1).picks == ()
    assert engine.rank(brief_of(Post(text="😀")), [CLOSE], [], 1).picks == ()


def test_a_health_authority_wins_only_a_tie(engine: LocalEngine) -> None:
    authority = CLOSE.replace(category=SourceCategory.HEALTH_AUTHORITY)
    off_topic = FAR.replace(category=SourceCategory.HEALTH_AUTHORITY)
    (tie,) = engine.rank(BRIEF, [CLOSE, authority], [], 1).picks
    (far,) = engine.rank(BRIEF, [off_topic, CLOSE], [], 1).picks
    assert tie.index == 1
    assert "from a health authority" in tie.why
    assert far.index == 1


def test_a_broken_url_is_no_obstacle(engine: LocalEngine) -> None:
    assert engine.rank(BRIEF, [CLOSE.replace(url="https://[bad")], [], 1).picks


def test_the_other_side_is_never_one_that_speaks_against_the_claim(engine: LocalEngine) -> None:
    none = engine.rank(BRIEF, [CLOSE], [], 1, aim=Aim.OTHER_SIDE)
    assert (none.picks, none.rest) == ((), "No other result supports the claim.")
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
