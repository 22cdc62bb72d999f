"""What the helpfulness head says moved it."""

from __future__ import annotations

import pytest

from crowdnotes.engines.local.heads.head import Parts
from crowdnotes.engines.local.heads.reasons import reasons_for
from crowdnotes.engines.local.heads.samples import note_sample

_NOTE = "A review found no harm. https://www.who.int/review"


@pytest.mark.parametrize(("worth", "said"), [(0.4, "both camps approved"), (-0.4, "both camps seldom approved")])
def test_what_the_reader_and_the_readings_say_of_other_crowds_is_one_reason(worth: float, said: str) -> None:
    halves = {"reads: both camps approve": worth / 2, "note is read: both camps approve": worth / 2}
    parts = Parts(halves, {"words": {}, "post words": {}}, {}, likeness=0.0, score=worth, probability=0.5)
    (reason,) = reasons_for(_NOTE, note_sample(_NOTE, None), parts)
    assert said in reason.message
    assert reason.worth == pytest.approx(worth)
