"""What an edit changed."""

from __future__ import annotations

import pytest

from crowdnotes.errors import InputError
from crowdnotes.jury import changes
from tests.jury.models import small_jury


def test_a_better_version_says_what_rose() -> None:
    jury = small_jury()
    before, after = jury.compare(None, ["A divisive plus note on the clinic.", "A lovely note on the clinic."])
    said = changes(before, after)
    assert said[0].startswith("The intercept rose from")
    assert "The status went from NEEDS_MORE_RATINGS to CURRENTLY_RATED_HELPFUL." in said
    assert any(line.startswith("Side −:") for line in said)


def test_the_same_note_has_no_changes() -> None:
    verdict = small_jury().verdict(None, "A lovely note on the clinic.")
    assert changes(verdict, verdict) == ("The jury makes no difference between the two versions.",)


def test_different_juries_are_not_compared() -> None:
    jury = small_jury()
    with pytest.raises(InputError, match="different juries"):
        changes(jury.verdict(None, "A lovely note.", seed=1), jury.verdict(None, "A lovely note.", seed=2))
