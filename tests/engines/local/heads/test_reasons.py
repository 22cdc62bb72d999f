"""What the helpfulness head says moved it."""

from __future__ import annotations

import pytest

from crowdnotes.engines.local.heads.grams import place_of, word_spans
from crowdnotes.engines.local.heads.head import Parts
from crowdnotes.engines.local.heads.reasons import reasons_for
from crowdnotes.engines.local.heads.samples import note_sample

_NOTE = "A review found no harm. https://www.who.int/review"


@pytest.mark.parametrize(("worth", "said"), [(0.4, "both camps approved"), (-0.4, "both camps seldom approved")])
def test_what_the_reader_and_the_readings_say_of_other_crowds_is_one_reason(worth: float, said: str) -> None:
    halves = {"reads: both camps approve": worth / 2, "note is read: both camps approve": worth / 2}
    parts = Parts(halves, {"words": {}, "post words": {}}, {}, likeness=0.0, score=worth, probability=0.5)
    (reason,) = reasons_for("", _NOTE, note_sample(_NOTE, None), parts)
    assert said in reason.message
    assert reason.worth == pytest.approx(worth)


@pytest.mark.parametrize(
    ("post", "named"),
    [("Arsenic is in all wells.", ["“clearly”", "“proven”"]), ("It is proven!", ["“clearly”"])],
)
def test_advice_on_wording_names_words_of_manner_that_the_post_has_not(post: str, named: list[str]) -> None:
    note = "Arsenic is clearly a proven poison, says the Public Institute. https://www.who.int/review"
    words = {place_of(word): -0.2 for word, _ in word_spans(note)}
    parts = Parts({}, {"words": words, "post words": {}}, {}, likeness=0.0, score=-1.0, probability=0.3)
    found = reasons_for(post, note, note_sample(note, None), parts)
    (reason,) = (reason for reason in found if reason.message.startswith("notes with such words"))
    assert reason.message == f"notes with such words were rated lower: {', '.join(named)}"
    assert reason.worth == pytest.approx(-0.2 * len(named))
