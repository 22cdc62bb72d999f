"""The jury's order, the best existing note, credit, and the candidate by chance."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from crowdnotes.domain import Classification, CrowdStatus, ExistingNote, FilterName, JuryVerdict, Ratings
from crowdnotes.domain.supernote import MAX_TIED_GAP
from crowdnotes.errors import InputError
from crowdnotes.evidence.demo_pages import example_with_notes
from crowdnotes.jury import Jury
from crowdnotes.jury.jury import open_jury
from crowdnotes.notes.candidates import merged
from crowdnotes.notes.ranking import best_existing, random_candidate, ranked, with_winner
from crowdnotes.notes.sentence_candidates import whole_sentences
from crowdnotes.settings_sections import JurySettings
from tests.notes.made import NOTES, candidate, jury, round_of
from tests.shared import minilm

BY_JURY = "the simulated readers"

GOOD = candidate(("The photo was taken in Brazil in 2019.", "N1"), ("Police confirmed no arrests.", "N2"))
DIVISIVE = candidate(("A divisive plus photo is what this is.", "N3"))
FAILED = candidate(("A vile photo.", "N1"), failed=FilterName.NEUTRAL, why="vile")


def test_what_passed_is_ranked_with_all_notes_before_one_jury_and_the_first_wins() -> None:
    done = ranked(round_of(DIVISIVE, FAILED, GOOD), jury(), None)
    assert [item.text for item in done.candidates] == [GOOD.text, DIVISIVE.text, FAILED.text]
    first, second, failed = done.candidates
    assert first.score is not None
    assert second.score is not None
    assert failed.score is None
    assert first.score.intercept > second.score.intercept
    assert (done.winning, done.judged) == (first, BY_JURY)
    assert set(done.existing) == {"N1", "N2", "N3"}
    assert done == ranked(round_of(DIVISIVE, FAILED, GOOD), jury(), None)


def test_a_text_that_the_jury_has_heard_is_not_read_again_but_by_another_jury(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, part, heard = ranked(round_of(GOOD, DIVISIVE), jury(), None), ranked(round_of(DIVISIVE), jury(), None), []

    def compare(self: Jury, post: str | None, texts: Sequence[str]) -> tuple[JuryVerdict | InputError, ...]:
        heard.append(list(texts))
        return before(self, post, texts)

    before = Jury.compare
    monkeypatch.setattr(Jury, "compare", compare)
    joined = part.replace(candidates=(*part.candidates, GOOD))
    scores = [
        [item.score.intercept for item in done.candidates if item.score]
        for done in (whole, ranked(joined, jury(), None))
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)
    ranked(joined.replace(measured="of another"), jury(), None)
    assert [len(texts) for texts in heard] == [1, 5]


def test_what_the_jury_cannot_tell_apart_is_decided_by_the_ratings_of_the_notes() -> None:
    liked = candidate(("The photo was taken in Brazil in 2019.", "N1"))
    unrated = candidate(("Police confirmed no arrests were made.", "N2"))
    for pair in ((liked, unrated), (unrated, liked)):
        done = ranked(round_of(*pair), jury(), None)
        scores = [item.score.intercept for item in done.candidates if item.score]
        assert abs(scores[0] - scores[1]) < 0.1
        assert done.winner == liked.sha256
        assert done.judged == "the ratings of its notes, among 2 too close for the simulated readers"


def test_a_text_that_the_jury_cannot_read_stays_at_the_end_without_a_score() -> None:
    unreadable = candidate(("...", "N1"), text="https://news.example.org/photo")
    done = ranked(round_of(unreadable, GOOD), jury(), None)
    assert [item.score is None for item in done.candidates] == [False, True]


def test_the_shipped_example_gives_a_note_that_beats_the_best_on_the_post() -> None:
    notes, post = example_with_notes().notes, example_with_notes().post.text
    used = [note for note in notes if note.is_used]
    made = round_of(*merged(whole_sentences(used, 100, 0, embedder=minilm()))[0], notes=notes)
    done = ranked(made, open_jury(JurySettings(), minilm()), post)
    assert done.winning is not None
    assert done.winning.score is not None
    assert done.winning in done.tied
    assert done.winning.score.intercept > done.existing[done.best_existing or ""].intercept + MAX_TIED_GAP
    assert all(item.loss is None or item.loss > -MAX_TIED_GAP for item in done.credits), (
        "no note would better be left out"
    )


def test_without_candidates_there_is_no_winner_and_the_notes_are_scored_all_the_same() -> None:
    done = ranked(round_of(FAILED), jury(), None)
    assert (done.winner, done.judged, done.credits) == (None, "", ())
    assert len(done.existing) == 3
    assert random_candidate(done, 0) is None


def test_credit_shares_the_words_and_tells_what_is_lost_without_a_note() -> None:
    done = ranked(round_of(GOOD, DIVISIVE), jury(), None)
    assert [item.note for item in done.credits] == ["N1", "N2"]
    assert [item.share for item in done.credits] == pytest.approx([8 / 12, 4 / 12])
    assert done.winning is not None
    assert done.winning.score is not None
    divisive = done.candidates[1].score
    assert divisive is not None
    assert {item.without for item in done.credits} == {divisive.intercept}
    assert {item.loss for item in done.credits} == {done.winning.score.intercept - divisive.intercept}
    other = with_winner(done, DIVISIVE.sha256, "a judge")
    assert [item.note for item in other.credits] == ["N3"]
    assert other.judged == "a judge"
    mute = divisive.replace(means_nothing=True)
    other = with_winner(
        done.replace(candidates=(done.candidates[0], DIVISIVE.replace(score=mute))),
        DIVISIVE.sha256,
        "a judge",
    )
    assert [item.loss for item in other.credits] == [None]


def test_by_chance_comes_another_candidate_that_passed() -> None:
    done = ranked(round_of(GOOD, DIVISIVE, FAILED), jury(), None)
    assert {item.text for seed in range(9) if (item := random_candidate(done, seed))} == {DIVISIVE.text}


def _rated(name: str, helpful: int, not_helpful: int, **changes: object) -> ExistingNote:
    note = ExistingNote(id=name, text="x", ratings=Ratings(helpful=helpful, not_helpful=not_helpful))
    return note.replace(**changes)


def test_the_best_existing_note_is_by_real_ratings_where_there_are_enough_else_by_the_jury() -> None:
    few, many, bad = _rated("N1", 2, 0), _rated("N2", 30, 6), _rated("N3", 1, 9)
    fine = _rated("N4", 50, 0, classification=Classification.NOT_MISLEADING)
    assert best_existing([few, many, bad, fine], {}) == ("N2", "its 36 ratings")
    shown = _rated("N5", 4, 2, status=CrowdStatus.HELPFUL)
    assert best_existing([many, shown], {})[0] == "N5"
    scores = ranked(round_of(GOOD), jury(), None).existing
    best, by = best_existing(NOTES[1:], scores)
    assert by == BY_JURY
    assert best == max(("N2", "N3"), key=lambda name: scores[name].intercept)
    assert best_existing([few], {}) == ("N1", "its place: few or none have rated it")
    assert best_existing([], {}) == (None, "")
