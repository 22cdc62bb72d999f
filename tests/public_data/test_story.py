"""A note's story: its score as ratings came in, the rating at which its status changed, and plain words for it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdnotes.bridging.model import NoteStatus, RuleName
from crowdnotes.bridging.public_scoring import score_public_data
from crowdnotes.bridging.scoring import Extremes
from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.errors import InputError
from crowdnotes.public_data.database import TAGS, Connection, reading, writing
from crowdnotes.public_data.indexing import last_fit
from crowdnotes.public_data.note_statuses import verdicts
from crowdnotes.public_data.replay import (
    Levels,
    Moment,
    Recorded,
    Replay,
    ScoreStory,
    Which,
    fewer,
    replay,
    score_story,
)
from crowdnotes.public_data.sides import sides
from crowdnotes.public_data.story import (
    Story,
    explain_story,
    notes_of_status,
    notes_to_begin_with,
    notes_with_words,
    story,
    taken_down_notes,
    why_differs,
)
from tests.bridging.made import rating_row, write_ratings
from tests.public_data.made import HOUR, POST, WRITTEN, indexed, made_index, note_row, write_history, write_notes

_LINES = THRESHOLDS
_FIT = Extremes(global_intercept=0.2, ratings_per_note=10, least_intercept=-0.3, least_factor=-0.8, most_factor=0.8)
_LIKED = sum(1 << TAGS.index(tag) for tag in ("helpfulClear", "helpfulGoodSources"))


def _replayed(levels: Sequence[int], known: bool = True, sides: int = 2) -> ScoreStory:
    return score_story(_ratings(levels, known, sides))


def _ratings(levels: Sequence[int], known: bool = True, sides: int = 2) -> Replay:
    """Ratings a second apart, by raters of either side in turn, or of one side; helpful ones with two tags."""
    level = np.asarray(levels)
    rows = {
        "rated": WRITTEN + 1000 * np.arange(len(level)),
        "level": level,
        "tags": np.where(level == 2, _LIKED, 0),
        "known": np.full(len(level), known),
        "intercept": np.zeros(len(level)),
        "factor": np.where(np.arange(len(level)) % sides, 0.5, -0.5),
        "usual": np.zeros(len(level)),
        "busy": np.zeros(len(level), dtype=bool),
        "sampled": np.zeros(len(level)),
        "left_out": np.zeros(len(level), dtype=bool),
    }
    return Replay(rows, _FIT, True, _LINES, "", None)


def _busiest(connection: Connection, most: int = 1) -> list[int]:
    rows = connection.execute("SELECT note FROM ratings GROUP BY note ORDER BY count(*) DESC, note LIMIT ?", [most])
    return [note for (note,) in rows.fetchall()]


def test_a_note_that_both_sides_like_is_shown_with_the_fourth_rating_of_the_smaller_side() -> None:
    told = _replayed([2] * 20)
    (change,) = told.changes
    assert (change.ratings, change.after, change.decided_by) == (8, NoteStatus.HELPFUL, RuleName.GENERAL_HELPFUL)
    assert any(number.startswith("note intercept 0.6") for number in change.numbers)
    assert "score was high enough earlier, but this still held it back: one side brings only 3" in change.why
    assert told.moments[6].why == "One side brings only 3 helpful ratings beyond its not-helpful ones; it takes 4."
    assert told.now.intercept == pytest.approx(0.8 * 20 / (20 + 0.15 * 10))
    assert (told.now.minus, told.now.plus) == (Levels(helpful=10), Levels(helpful=10))


def test_a_status_that_falls_says_which_number_crossed_which_line() -> None:
    told = _replayed([2] * 10 + [0] * 10)
    assert [change.after for change in told.changes] == [NoteStatus.HELPFUL, NoteStatus.NEEDS_MORE_RATINGS]
    assert told.changes[1].ratings == 13  # of the first 13, six and four net helpful: one side falls under 4
    assert "3 helpful ratings" in told.changes[1].why


def test_a_note_that_waits_with_a_low_score_says_which_lines_to_not_helpful_it_has_not_passed() -> None:
    told = _replayed([0] * 5, sides=1)
    assert (told.now.status, (told.now.intercept or 0) < 0) == (NoteStatus.NEEDS_MORE_RATINGS, True)
    assert "rated low (score -0." in told.not_sunk
    assert "disliked on both sides (raters on the smaller side 0, at least 3 needed)" in told.not_sunk
    assert _replayed([2] * 20).not_sunk == ""


def test_where_a_rating_less_changes_the_status_the_rule_is_named_and_helpful_ratings_are_not_called_unhelpful() -> (
    None
):
    less = fewer(_ratings([2] * 8), 1, Which.UNHELPFUL)
    assert less is not None
    assert less.sentence.startswith("Without the lowest 1 rating its status changes: waiting for more ratings.")
    assert less.sentence.endswith("One side brings only 3 helpful ratings beyond its not-helpful ones; it takes 4.")
    drawn = fewer(_ratings([2] * 8), 1, Which.RANDOM)
    assert drawn is not None
    assert drawn.sentence.endswith("The rule “too few helpful ratings from one side” decides most of these.")
    none = fewer(_ratings([2] * 8), 5, Which.HELPFUL)
    assert none is not None
    assert none.sentence.endswith("It then has no score: we know the side of too few raters.")


def test_notes_of_each_status_are_offered_to_begin_with() -> None:
    with reading(made_index()[0]) as connection:
        statuses = dict(connection.execute("SELECT note, status FROM scores").fetchall())
        for status in (NoteStatus.HELPFUL, NoteStatus.NOT_HELPFUL, NoteStatus.NEEDS_MORE_RATINGS):
            found = notes_of_status(connection, status)
            assert len(found) == 3
            assert {statuses[note] for note, _, _ in found} == {status.value}
        assert "Notes with the most ratings:" not in notes_to_begin_with(connection)


def test_the_reason_of_a_not_helpful_note_stands_in_its_first_sentences() -> None:
    with reading(made_index()[0]) as connection:
        ((note, _, _),) = notes_of_status(connection, NoteStatus.NOT_HELPFUL, 1)
        told = story(connection, str(note), _LINES)
    assert told.score is not None
    assert told.sentences is not None
    assert told.score.now.status is NoteStatus.NOT_HELPFUL
    assert told.score.now.why in told.sentences.details[0]


def test_many_changes_are_told_by_the_first_and_the_last_and_where_x_differs_it_says_why() -> None:
    score = _replayed([2] * 8 + [0] * 4 + [2] * 40 + [0] * 40)
    assert len(score.changes) > 2
    with reading(made_index()[0]) as connection:
        told = story(connection, str(_busiest(connection)[0]), _LINES)
    other = next(status for status in NoteStatus if status is not score.now.status)
    for status in (other, score.now.status):
        on_x = (Recorded(event="now", at=told.written_at, status=status, decided_by="", recomputed=None),)
        said = explain_story(told.replace(score=score, on_x=on_x), _LINES)
        assert said.changes.startswith(
            f"By the ratings as they came in, its status changed {len(score.changes)} times: first on"
        )
        assert said.changes.count(", with ") == 2
        assert ("X and this page can differ" in said.paragraph) is (status is other)


def test_of_a_hundred_thousand_ratings_a_change_is_found_to_the_rating() -> None:
    told = _replayed([2] * 50_001 + [0] * 49_999)
    assert len(told.moments) <= 201
    assert [change.ratings for change in told.changes][:1] == [8]
    assert told.first is not None
    assert told.first.ratings == 50
    fallen = told.changes[1]
    score = 0.8 * 50_001 - 0.2 * (fallen.ratings - 50_001)
    assert score / (fallen.ratings + 1.5) < 0.39 <= (score + 0.2) / (fallen.ratings + 0.5)


def test_one_rating_or_raters_that_nobody_knows_give_no_score() -> None:
    one, unknown = _replayed([2]), _replayed([2] * 60, known=False)
    assert (one.now.intercept, one.first, one.changes) == (None, None, ())
    assert unknown.now.intercept is None
    assert unknown.now.unknown == Levels(helpful=60)
    assert any("TagFilter" in rule for rule in one.not_applied)


@pytest.mark.deep
def test_the_score_after_all_ratings_is_that_of_the_whole_algorithm() -> None:
    index, _ = made_index()
    of_all = {one.note_id: one for one in score_public_data(index.parent / "public", _LINES).statuses}
    with reading(index) as connection:
        for note in _busiest(connection, 12):
            told = story(connection, str(note), _LINES)
            assert told.score is not None
            assert told.score.now.intercept == pytest.approx(of_all[note].note_intercept, abs=1e-4)
            assert told.score.now.factor == pytest.approx(of_all[note].note_factor, abs=1e-4)
            assert told.score.now.ratings == told.levels.n == of_all[note].ratings + told.score.now.left_out.n
            assert told.score.now.left_out.n > 0
            assert told.score.now.status is of_all[note].status
            assert told.score.not_applied == (
                "doubts about facts and sources (needs the diligence model, not computed here) [FilterLowDiligence]",
                "carried by raters who act together (needs which raters act together, not computed here) "
                "[NoCorrelatedIntercept]",
            )


def test_a_note_is_found_by_its_id_and_by_its_post_and_its_story_is_plain() -> None:
    index, _ = made_index()
    with reading(index) as connection:
        (note,) = _busiest(connection)
        told = story(connection, str(note), _LINES)
        by_post = [
            story(connection, form.format(told.post), _LINES) for form in ("{}", "https://x.com/a/status/{}?s=1")
        ]
    assert by_post == [told, told]
    assert told.note in [other.note for other in told.notes_on_post]
    assert told.by_ai is not None
    assert (told.on_x_not_run, told.score_not_run, told.first_not_run) == ("", "", "")
    for words in ("wrote this note on", "people rated it", "on side A", "0.40 is needed", "is kept fixed", "X "):
        assert words in told.paragraph
    assert "_" not in told.paragraph  # no name of a status or a rule


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """One note with two ratings, one of them without a time, and what X recorded of it; a deleted note with one."""
    data = tmp_path / "public"
    write_notes(data / "notes-00000.tsv", note_row(1, summary="It is &amp;quot;so&amp;quot;. https://a.example/b"))
    write_history(
        data / "noteStatusHistory-00000.tsv",
        {
            "noteId": 1,
            "createdAtMillis": WRITTEN,
            "timestampMillisOfFirstNonNMRStatus": WRITTEN + 2 * HOUR,
            "firstNonNMRStatus": "CURRENTLY_RATED_HELPFUL",
            "timestampMillisOfLatestNonNMRStatus": WRITTEN + 2 * HOUR,
            "mostRecentNonNMRStatus": "CURRENTLY_RATED_HELPFUL",
            "timestampMillisOfCurrentStatus": WRITTEN + 3 * HOUR,
            "currentStatus": "NEEDS_MORE_RATINGS",
            "currentDecidedBy": "CoreModel (v1.1)",
        },
    )
    times: dict[str, Any] = {"createdAtMillis": WRITTEN + HOUR}
    rows = [
        rating_row(1, "A", **times),
        rating_row(1, "B", "NOT_HELPFUL", createdAtMillis=5),
        rating_row(2, "A", **times),
    ]
    write_ratings(data / "ratings-00000.tsv", rows)
    indexed(data, tmp_path / "crowd.duckdb")
    return tmp_path / "crowd.duckdb"


def _story(index: Path, wanted: str) -> Story:
    with reading(index) as connection:
        return story(connection, wanted, _LINES)


def test_what_x_recorded_stands_beside_and_where_raters_are_not_fitted_that_is_said(index: Path) -> None:
    told = _story(index, f"https://x.com/i/web/status/{POST}")
    assert told.text == 'It is "so". https://a.example/b'
    assert (told.levels, told.not_dated) == (Levels(helpful=1, not_helpful=1), 1)
    assert (told.score, told.by_ai) == (None, None)
    assert told.score_not_run.startswith("It has no score: we do not know the sides of raters.")
    assert told.first_not_run == "From 50 ratings on, we compare the first 50 with all."
    assert [(one.event, one.status) for one in told.on_x] == [
        ("verdict", "CURRENTLY_RATED_HELPFUL"),
        ("now", "NEEDS_MORE_RATINGS"),
    ]
    assert "X recorded it as shown on the post on 15 June 2025" in told.paragraph
    assert "We cannot show how its score came about." in told.paragraph


def test_a_note_that_x_showed_and_took_down_is_offered_to_begin_with(index: Path) -> None:
    with reading(index) as connection:
        assert taken_down_notes(connection) == [(1, 2, 'It is "so".')]
        assert notes_to_begin_with(connection)["Notes with the most ratings:"], "without a fit no status is known"


def test_a_deleted_note_keeps_its_ratings_and_an_unknown_one_is_refused(index: Path) -> None:
    deleted = _story(index, "2")
    assert (deleted.post, deleted.text, deleted.levels.n) == (None, "", 1)
    assert "gone from the public data" in deleted.paragraph
    for wanted, said in (
        ("3", "Note or post 3 is not in the index"),
        ("https://x.com/a", "is no note or post"),
        ("9" * 19, "is no"),
    ):
        with pytest.raises(InputError, match=said):
            _story(index, wanted)


def test_words_find_notes_and_fewer_ratings_change_what_hangs_on_them() -> None:
    with reading(made_index()[0]) as connection:
        (note,) = _busiest(connection)
        found = replay(connection, note, misleading=True, thresholds=_LINES)
        assert isinstance(found, Replay)
        best, worst = fewer(found, 10, Which.HELPFUL), fewer(found, 10, Which.UNHELPFUL)
        assert best is not None
        assert worst is not None
        assert best.score is not None
        assert (best.scores[0] or 0) < best.score < (worst.scores[0] or 0)
        drawn = fewer(found, 1, Which.RANDOM)
        assert drawn is not None
        assert f"tried 100 times, its status changes {drawn.changed} times" in drawn.sentence
        assert fewer(found, len(found), Which.RANDOM) is None
        text = story(connection, str(note), _LINES).text
        assert note in [one[0] for one in notes_with_words(connection, text[:30].upper(), 2_000)]
        assert notes_with_words(connection, "100%_!") == []
        counted = verdicts(connection, _LINES)
        assert counted is not None
        (_, lower), (_, higher) = counted.shown_at
        assert lower > counted.reckoned[0] > higher
        assert counted.reach == counted.reckoned[0] + sum(held for _, held in counted.held)
        assert f"{_LINES.helpful_intercept + 0.05:.2f} {higher:,}" in counted.about_line
        alike = counted.replace(shown_at=((0.35, counted.reckoned[0]), (0.45, counted.reckoned[0])))
        assert "Here it makes no difference" in alike.about_line


def test_the_planted_sides_stand_apart_and_notes_at_both_ends_are_offered() -> None:
    with reading(made_index()[0]) as connection:
        found = sides(connection)
        assert found is not None
        assert sum(found.bars.values()) == last_fit(connection).raters
        middle, furthest = found.bars.get(-1, 0) + found.bars.get(0, 0), max(found.bars.values())
        assert middle < furthest
        factors = dict(connection.execute("SELECT note, factor FROM scores").fetchall())
        assert max(factors[note] for note, _, _ in found.minus) < 0 < min(factors[note] for note, _, _ in found.plus)
        assert len(found.across) == 3


def test_where_few_notes_divide_none_is_said_to_show_a_side_and_no_note_is_in_two_lists(tmp_path: Path) -> None:
    with writing(tmp_path / "crowd.duckdb") as connection:
        connection.execute("INSERT INTO raters (rater, factor) VALUES (1, -0.5), (2, 0.5)")
        factors = (-0.9, -0.6, -0.4, -0.2, 0.0, 0.1, 0.2, 0.3, 0.9)
        for note, factor in enumerate(factors):
            connection.execute("INSERT INTO notes (note, text) VALUES (?, 'Words.')", [note])
            connection.execute("INSERT INTO scores (note, intercept, factor) VALUES (?, 0.1, ?)", [note, factor])
            connection.execute("INSERT INTO ratings (note, rater) VALUES (?, 1)", [note])
        found = sides(connection)
    assert found is not None
    assert [note for note, _, _ in found.minus] == [0, 1, 2]
    assert [note for note, _, _ in found.across] == [3, 4, 5]
    assert found.plus == (), "two notes are too few"


def test_where_x_and_the_page_differ_what_the_data_says_of_it_comes_first() -> None:
    now = _moment(90, NoteStatus.NEEDS_MORE_RATINGS)
    shown = {"at": datetime(2025, 5, 7, tzinfo=UTC), "status": NoteStatus.HELPFUL.value}
    then = _moment(40, NoteStatus.HELPFUL)
    locked = Recorded(event="lock", decided_by="", recomputed=then, **shown)
    first = why_differs((locked,), now)
    assert first.startswith("X locked its status on 7 May 2025")
    assert "By the 40 ratings until then we come to the same as X; the 50 since then" in first
    other = Recorded(event="now", decided_by="ExpansionModel (v1.1)", recomputed=None, **shown)
    assert why_differs((other,), now).startswith("At X another model decided: ExpansionModel")


@pytest.mark.parametrize(
    ("decided_by", "said"),
    [
        ("GroupModel33NMR (v1.1)", "At X another model decided: GroupModel33NMR (v1.1)."),
        ("CoreWithTopicsModel (v1.1)", "At X another model decided: CoreWithTopicsModel (v1.1)."),
        ("GaussianModel (v1.0)", "At X another model decided: GaussianModel (v1.0)."),
        ("MetaInitialNMR (v1.0)", "None of X's models had scored it."),
        ("NmrDueToMinStableCrhTime (v1.0)", "X held the status back for a while"),
        ("ScoringDriftGuard (v1.0)", "X kept the status that it had locked."),
        ("InsufficientExplanation (v1.0)", "X took the status back because raters ticked too few reasons."),
        ("PopulationSampledIntercept (v1.0)", "X took the status back because people whom it drew at random"),
        ("SomethingNew (v2.0)", "At X a rule decided that we do not know: SomethingNew (v2.0)."),
        ("CoreModel (v1.1)", "X and this page can differ"),
        ("", "X and this page can differ"),
    ],
)
def test_a_rule_that_decided_at_x_is_not_called_another_model(decided_by: str, said: str) -> None:
    shown = {"at": datetime(2025, 5, 7, tzinfo=UTC), "status": NoteStatus.HELPFUL.value}
    on_x = (
        Recorded(event="now", decided_by=decided_by, recomputed=None, **shown),
        Recorded(event="verdict", decided_by="", recomputed=None, **shown),
    )
    assert why_differs(on_x, _moment(90, NoteStatus.NEEDS_MORE_RATINGS)).startswith(said)


def _index_of_one(tmp_path: Path, note: dict[str, object], history: dict[str, object]) -> Path:
    data = tmp_path / "public"
    write_notes(data / "notes-00000.tsv", note_row(1, **note))
    write_history(data / "noteStatusHistory-00000.tsv", {"noteId": 1, "createdAtMillis": WRITTEN, **history})
    write_ratings(data / "ratings-00000.tsv", [rating_row(1, "A", createdAtMillis=WRITTEN + HOUR)])
    indexed(data, tmp_path / "crowd.duckdb")
    return tmp_path / "crowd.duckdb"


def test_who_decided_is_told_of_a_verdict_that_is_the_status_of_now(tmp_path: Path) -> None:
    status, at = "CURRENTLY_RATED_HELPFUL", WRITTEN + 2 * HOUR
    history = {
        "timestampMillisOfFirstNonNMRStatus": at,
        "firstNonNMRStatus": status,
        "timestampMillisOfCurrentStatus": at,
        "currentStatus": status,
        "timestampMillisOfStatusLock": at,
        "lockedStatus": status,
        "currentDecidedBy": "GroupModel07 (v1.1)",
    }
    (told,) = _story(_index_of_one(tmp_path, {}, history), "1").on_x
    assert (told.event, told.decided_by) == ("verdict", "GroupModel07 (v1.1)")


@pytest.mark.parametrize(
    ("flag", "words"),
    [("1", "X's own AI wrote this note on 15 June 2025"), ("0", "A contributor wrote"), ("", "A contributor wrote")],
)
def test_a_collaborative_note_is_not_said_to_be_a_contributors(tmp_path: Path, flag: str, words: str) -> None:
    told = _story(_index_of_one(tmp_path, {"isCollaborativeNote": flag}, {"currentStatus": ""}), "1")
    assert told.collaborative is {"1": True, "0": False, "": None}[flag]
    assert told.paragraph.startswith(words)
    assert ("from what contributors asked for and suggested" in told.paragraph) is (flag == "1")


@pytest.mark.parametrize(("time", "foreseen"), [(WRITTEN, True), (-WRITTEN, True), (-1, False), ("", False)])
def test_what_x_foresaw_from_early_ratings_is_told_while_it_holds_and_afterwards(
    tmp_path: Path, time: object, foreseen: bool
) -> None:
    history = {
        "timestampMillisOfCurrentStatus": WRITTEN,
        "currentStatus": "NEEDS_MORE_RATINGS",
        "abovePcrhThresholdTime": time,
    }
    told = _story(_index_of_one(tmp_path, {}, history), "1")
    assert (told.foreseen_at == datetime.fromtimestamp(WRITTEN / 1000, UTC)) is foreseen
    assert ("on 15 June 2025, that it would be shown" in told.paragraph) is foreseen


def test_ratings_of_groups_that_core_leaves_out_are_told_apart_and_do_not_move_the_score() -> None:
    rows: dict[str, Any] = {
        "rated": WRITTEN + 1000 * np.arange(20),
        "level": np.r_[np.full(10, 2), np.zeros(10)],
        "tags": np.where(np.arange(20) < 10, _LIKED, 0),
        "known": np.ones(20, dtype=bool),
        "intercept": np.zeros(20),
        "factor": np.where(np.arange(20) % 2, 0.5, -0.5),
        "usual": np.zeros(20),
        "busy": np.zeros(20, dtype=bool),
        "sampled": np.full(20, -1),
        "left_out": np.arange(20) >= 10,
    }
    told = score_story(Replay(rows, _FIT, True, _LINES, "", None, by_group=True))
    assert told.now.intercept == pytest.approx(_replayed([2] * 10).now.intercept)
    assert told.now.status is NoteStatus.HELPFUL
    assert (told.now.left_out, told.now.unknown) == (Levels(not_helpful=10), Levels())
    assert any("PopulationSampledIntercept" in rule for rule in told.not_applied)
    more = {name: np.append(column, column[-1]) for name, column in rows.items()}
    (_, change) = score_story(Replay(more, _FIT, True, _LINES, "", None, by_group=True)).changes
    assert (change.after, change.decided_by) == (NoteStatus.NEEDS_MORE_RATINGS, RuleName.CAPTURE)
    rows["sampled"] = np.where(np.arange(20) < 10, 1, 0)
    rows["left_out"] = np.zeros(20, dtype=bool)
    liked = score_story(Replay({**rows, "level": np.full(20, 2)}, _FIT, True, _LINES, "", None)).now
    assert liked.status is NoteStatus.HELPFUL
    low = np.r_[np.zeros(10), np.full(10, 2), np.full(40, 2)]
    long = {name: np.resize(column, 60) for name, column in rows.items()}
    long |= {"rated": WRITTEN + 1000 * np.arange(60), "level": low, "tags": np.full(60, _LIKED)}
    long["sampled"] = np.where(np.arange(60) < 10, 1, 0)
    taken = score_story(Replay(long, _FIT, True, _LINES, "", None)).now
    assert (taken.status, taken.decided_by) == (NoteStatus.NEEDS_MORE_RATINGS, RuleName.SAMPLED)


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ((30, 22, 48), (30, 22, 48), "Neither side liked it much"),
        ((30, 50, 20), (30, 50, 20), "both found it at least somewhat helpful"),
        ((60, 40, 0), (97, 3, 0), "both liked it"),
        ((52, 0, 48), (97, 3, 0), "disagreed on it too"),
    ],
)
def test_what_is_said_of_the_sides_fits_how_many_found_it_not_helpful(
    one: tuple[int, int, int], other: tuple[int, int, int], said: str
) -> None:
    score = _replayed([2] * 20)
    with reading(made_index()[0]) as connection:
        told = story(connection, str(_busiest(connection)[0]), _LINES)
    minus, plus = (Levels(helpful=of[0], somewhat=of[1], not_helpful=of[2]) for of in (one, other))
    now = _moment(200, NoteStatus.NEEDS_MORE_RATINGS).replace(minus=minus, plus=plus)
    told = told.replace(score=score.replace(now=now))
    assert said in explain_story(told, _LINES).sides


def _moment(ratings: int, status: NoteStatus) -> Moment:
    none = Levels()
    return Moment(
        at=None, ratings=ratings, minus=none, plus=none, unknown=none, intercept=0.4, factor=0.0, status=status,
        decided_by=RuleName.INITIAL, why="", why_besides_score="",
    )  # fmt: skip
