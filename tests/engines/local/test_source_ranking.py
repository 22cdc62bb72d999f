"""What speaks for a search result besides its relevance."""

from __future__ import annotations

from datetime import date

import pytest

from crowdnotes.domain import Aim, Hit, SourceCategory
from crowdnotes.engines.local.source_ranking import TOWARDS, ranking_reasons

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
