"""What new notes and ratings change, and whether a posted supernote is worth replacing."""

from __future__ import annotations

import pytest

from crowdnotes.domain import CrowdStatus, ExistingNote, PostedNote, Ratings
from crowdnotes.notes.existing_notes import changes, crosses, renumbered, unchanged_candidates, worth_replacing
from crowdnotes.notes.ranking import ranked
from tests.notes.made import AT, NOTES, candidate, jury, round_of

ONE = candidate(("The photo was taken in Brazil in 2019.", "N1"))
BOTH = candidate(("The photo was taken in Brazil in 2019.", "N1"), ("Police confirmed no arrests.", "N2"))


def test_notes_keep_their_ids_by_xs_id_or_words_and_what_a_person_chose() -> None:
    before = [
        ExistingNote(id="N1", note_id="7", text="Old words.", chosen=False),
        ExistingNote(id="N2", text="Same words."),
    ]
    after = renumbered(
        before,
        [
            ExistingNote(id="N1", text="A new one."),
            ExistingNote(id="N2", text="same  words.", ratings=Ratings(helpful=1)),
            ExistingNote(id="N3", note_id="7", text="New words."),
        ],
    )
    assert [(note.id, note.chosen) for note in after] == [("N3", None), ("N2", None), ("N1", False)]
    found = changes(before, after)
    assert (found.new, found.reworded, found.gone) == (("N3",), ("N2", "N1"), ())
    assert "N3: new" in found.as_text
    assert changes(before, before).as_text == "Nothing has changed"


def test_new_ratings_alone_ask_for_no_new_candidates() -> None:
    after = [note.replace(status=CrowdStatus.HELPFUL) for note in NOTES]
    found = changes(NOTES, after)
    assert (found.rated, found.new, found.reworded) == (("N1", "N2", "N3"), (), ())


def test_candidates_of_notes_that_changed_or_went_do_not_stay() -> None:
    done = ranked(round_of(ONE, BOTH), jury(), None)
    reworded = [NOTES[0], NOTES[1].replace(text="Other words.")]
    assert [(item.text, item.score) for item in unchanged_candidates(done, reworded)] == [(ONE.text, None)]
    assert unchanged_candidates(done, [NOTES[0].replace(chosen=False), NOTES[1]]) == ()
    assert len(unchanged_candidates(done, NOTES)) == 2


def test_whether_the_winner_crosses_the_line() -> None:
    assert crosses(ranked(round_of(ONE), jury(), None), 0.40) is True
    assert crosses(ranked(round_of(ONE), jury(joined=0.2), None), 0.40) is False
    assert crosses(round_of(), 0.40) is None


def _posted(helpful: int, not_helpful: int, *, sides: bool = True, **changes: object) -> PostedNote:
    half = Ratings(helpful=helpful // 2, not_helpful=not_helpful // 2)
    rest = Ratings(helpful=helpful - half.helpful, not_helpful=not_helpful - half.not_helpful)
    where = (
        {"negative": half, "positive": rest}
        if sides
        else {"unknown_side": Ratings(helpful=helpful, not_helpful=not_helpful)}
    )
    return PostedNote(text="What was posted.", at=AT, **where).replace(**changes)


@pytest.mark.parametrize(
    ("posted", "worth", "said"),
    [
        (_posted(0, 0, status=CrowdStatus.NEEDS_MORE_RATINGS), None, "Replace it only if the new note corrects"),
        (_posted(0, 1), False, "only 1 rating. Wait for more."),
        (_posted(0, 3), False, "only 3 ratings. Wait for more."),
        (_posted(3, 0), False, "only 3 ratings. Wait for more."),
        (_posted(0, 4), True, "0%"),
        (_posted(0, 2, status=CrowdStatus.NOT_HELPFUL), True, "nothing to lose"),
        (_posted(0, 0), None, "not known"),
        (_posted(15, 5), False, "75%"),
        (_posted(8, 12), True, "40%"),
        (_posted(12, 8), False, "60%"),
        (_posted(200, 101), True, "301"),
        (_posted(25, 15, intercept=0.34), True, "0.34"),
        (_posted(25, 15, intercept=0.36), False, "0.36"),
        (_posted(25, 15), None, "not known"),
        (_posted(25, 15, intercept=0.2, sides=False), None, "not known"),
        (_posted(200, 200, status=CrowdStatus.HELPFUL), False, "shows it"),
        (_posted(1, 9, status=CrowdStatus.NOT_HELPFUL), True, "nothing to lose"),
        (_posted(0, 0, text=BOTH.text), False, "still the best"),
    ],
)
def test_replacing_is_worth_it_by_the_thresholds_of_the_collaborative_generator(
    posted: PostedNote, worth: bool | None, said: str
) -> None:
    done = ranked(round_of(BOTH), jury(), None)
    found, reason = worth_replacing(posted, done)
    assert found is worth
    assert said in reason


def test_a_winner_that_the_jury_does_not_prefer_or_none_replaces_nothing() -> None:
    divisive = candidate(("A divisive plus photo is what this is.", "N3"))
    done = ranked(round_of(divisive, BOTH), jury(), None)
    worse = done.replace(winner=divisive.sha256)
    found, reason = worth_replacing(_posted(0, 0, text=BOTH.text), worse)
    assert found is False
    assert "No gain: simulated readers give the new note" in reason
    assert worth_replacing(_posted(0, 0), round_of())[0] is False
