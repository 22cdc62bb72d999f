"""The verdict on a note."""

from __future__ import annotations

import pytest

from crowdnotes.domain import JuryVerdict, text_sha256
from crowdnotes.errors import InputError
from crowdnotes.jury import Sampling
from tests.jury.models import QUALITY, small_jury

_JOINS = "A lovely note about the clinic that closed in spring."
_DIVIDES = "A divisive plus note about the clinic that closed."


def test_the_same_text_and_seed_give_the_same_verdict_and_another_seed_is_another_jury() -> None:
    jury = small_jury()
    assert jury.verdict("post", _JOINS) == small_jury().verdict("post", _JOINS)
    assert jury.verdict(None, _JOINS, seed=1).note_intercept != jury.verdict(None, _JOINS, seed=2).note_intercept


def test_a_note_that_both_sides_like_would_be_shown() -> None:
    verdict = small_jury().verdict(None, _JOINS)
    assert verdict.status == "CURRENTLY_RATED_HELPFUL"
    assert verdict.decided_by.rule == "GeneralCRH"
    assert verdict.note_intercept >= verdict.helpful_line == 0.40
    assert verdict.blocked_by == ()
    assert verdict.sentence.startswith("Both sides would mostly find this note helpful")


def test_a_note_that_one_side_likes_is_blocked_with_reasons() -> None:
    verdict = small_jury().verdict(None, _DIVIDES)
    assert verdict.status == "NEEDS_MORE_RATINGS"
    assert {word.rule for word in verdict.blocked_by} == {"GeneralCRH", "RejectLowIntercept"}
    assert all(word.reason for word in verdict.blocked_by)
    assert verdict.note_factor > 0.5
    assert verdict.positive.helpful > 8 * verdict.negative.helpful
    assert verdict.splits is not None
    assert verdict.splits > 0.9
    assert verdict.sentence.startswith("People on side B would mostly find this note helpful; people on side A")


def test_a_note_that_nobody_likes_is_not_helpful() -> None:
    verdict = small_jury(joined=0.1).verdict(None, _JOINS)
    assert verdict.status == "CURRENTLY_RATED_NOT_HELPFUL"
    assert verdict.sentence == "Neither side would find this note helpful."


def test_every_juror_is_counted_once_and_a_polarised_jury_has_as_many_of_each_side() -> None:
    verdict = small_jury().verdict(None, _JOINS, jurors=777)
    assert verdict.negative.jurors + verdict.positive.jurors == verdict.jurors == 777
    polarised = small_jury().verdict(None, _JOINS, sampling=Sampling.POLARISED)
    assert polarised.negative.jurors == polarised.positive.jurors == 500


def test_the_audience_of_a_one_sided_note_is_mostly_of_the_other_side() -> None:
    jury = small_jury()
    pool, audience = (jury.verdict(None, _DIVIDES, sampling=how) for how in (Sampling.UNIFORM, Sampling.AUDIENCE))
    assert audience.negative.jurors > pool.negative.jurors + 50


def test_the_interval_holds_the_shown_jury_and_narrows_with_more_jurors() -> None:
    jury = small_jury()
    few, many = (jury.verdict(None, _JOINS, jurors=number).intercept_interval for number in (50, 5_000))
    assert few.high - few.low > 3 * (many.high - many.low)
    verdict = jury.verdict(None, _JOINS)
    assert verdict.intercept_interval.low < verdict.note_intercept < verdict.intercept_interval.high


def test_a_verdict_is_bound_to_its_texts_carries_the_models_quality_and_names_rules_that_jurors_cannot_answer() -> None:
    verdict = small_jury().verdict("The post.", _JOINS)
    assert verdict.text_sha256 == text_sha256(_JOINS)
    assert verdict.post_sha256 == text_sha256("The post.")
    assert verdict.quality == QUALITY
    assert "TagFilter (needs the raters' tags)" in verdict.not_applied
    assert any(said.startswith("NoCorrelatedIntercept") for said in verdict.not_applied)


def test_candidates_are_told_apart_by_their_words_alone() -> None:
    jury = small_jury()
    alone = jury.verdict(None, _JOINS, explain=False)
    together = [one for one in jury.compare(None, [_DIVIDES, _JOINS, _JOINS]) if isinstance(one, JuryVerdict)]
    assert together[1].positive == together[2].positive == alone.positive
    assert together[1].note_intercept == pytest.approx(alone.note_intercept, abs=1e-12)
    assert together[0].note_intercept < together[1].note_intercept


@pytest.mark.parametrize(
    ("text", "jurors", "words"),
    [
        ("", 5, "no note"),
        (" \n ", 5, "no note"),
        ("https://example.org/a", 5, "no words"),
        ("!!! ???", 5, "no words"),
        ("word " * 3_000, 5, "280"),
        (_JOINS, 0, "at least one juror"),
    ],
)
def test_a_text_without_words_or_far_beyond_a_note_and_a_jury_of_nobody_are_refused(
    text: str, jurors: int, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        small_jury().verdict(None, text, jurors=jurors)


def test_one_note_without_words_does_not_end_the_comparison() -> None:
    jury = small_jury()
    first, refused, last = jury.compare(None, [_JOINS, "https://example.org/a", _DIVIDES])
    assert isinstance(refused, InputError)
    assert "no words" in refused.message
    assert isinstance(first, JuryVerdict)
    assert isinstance(last, JuryVerdict)
    assert (first, last) == jury.compare(None, [_JOINS, _DIVIDES])
    assert all(isinstance(one, InputError) for one in jury.compare(None, ["", "!!!"]))


def test_one_juror_alone_makes_a_verdict() -> None:
    verdict = small_jury().verdict(None, _JOINS, jurors=1)
    assert verdict.sentence.startswith("These simulated readers are only")
    assert verdict.status == "NEEDS_MORE_RATINGS"


def test_many_candidates_can_be_ranked_without_reasons() -> None:
    jury = small_jury()
    outcome = jury.rank(jury.model.predict(jury.features_of([_DIVIDES, _JOINS])))
    assert outcome.intercepts[1] > outcome.intercepts[0]
    assert outcome.ratings.shape == (2, 1000)


def test_another_embedder_is_not_mixed_with_the_models_own() -> None:
    class Other:
        name = "other"
        dimensions = 3

    jury = small_jury()
    other = type(jury)(jury.model, jury.pool, Other(), jury.settings, jury.crowd)  # type: ignore[arg-type]
    verdict = other.verdict(None, _JOINS)
    assert any("embedding model" in caution for caution in verdict.cautions)
