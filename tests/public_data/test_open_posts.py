"""Posts whose notes are not shown: which they are, in what order and why, and their notes as a Supernote takes them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from crowdnotes.bridging.columns import RATINGS
from crowdnotes.bridging.model import NoteStatus
from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.errors import InputError
from crowdnotes.notes.note_files import read_notes
from crowdnotes.public_data.database import reading
from crowdnotes.public_data.loading import snowflake
from crowdnotes.public_data.open_posts import Work, notes_as_json, work
from crowdnotes.public_data.posts import Filter
from crowdnotes.public_data.story import busiest_notes, story
from tests.bridging.made import write_tsv
from tests.public_data.made import HOUR, WRITTEN, indexed, made_index, note_row, write_history, write_notes

_DAY = 24 * HOUR


def _post(days_before: float) -> int:
    return int(snowflake(np.array([WRITTEN - int(days_before * _DAY)]))[0])


def _status(note: int, status: str) -> dict[str, object]:
    times = dict.fromkeys(("createdAtMillis", "timestampMillisOfCurrentStatus"), WRITTEN)
    return {"noteId": note, "currentStatus": status, **times}


def _index(folder: Path, posts: dict[int, int], *, shown: int = 0, fine: int = 0) -> Path:
    """Posts, each with so many ratings of its one note; one whose note is shown, one whose note calls it fine."""
    notes = {post: post + 1 for post in posts}
    kinds = {fine: "NOT_MISLEADING"}
    write_notes(
        folder / "public" / "notes-00000.tsv",
        *(
            note_row(notes[post], tweetId=post, **{"classification": kinds[post]} if post in kinds else {})
            for post in posts
        ),
    )
    write_history(
        folder / "public" / "noteStatusHistory-00000.tsv",
        *(_status(notes[post], "CURRENTLY_RATED_HELPFUL" if post == shown else "NEEDS_MORE_RATINGS") for post in posts),
    )
    rows = [
        {
            "noteId": notes[post],
            "raterParticipantId": f"{rater:064X}",
            "createdAtMillis": WRITTEN + rater,
            "helpfulnessLevel": "HELPFUL",
            "helpfulClear": 1,
        }
        for post, ratings in posts.items()
        for rater in range(ratings)
    ]
    write_tsv(folder / "public" / "ratings-00000.tsv", RATINGS.columns, rows)
    indexed(folder / "public", folder / "crowd.duckdb")
    return folder / "crowd.duckdb"


def _work(index: Path, **more: object) -> Work:
    with reading(index) as connection:
        return work(connection, Filter(), more.get("days"), THRESHOLDS)  # type: ignore[arg-type]


def test_new_posts_come_first_then_those_with_more_ratings_and_each_says_why(tmp_path: Path) -> None:
    old, busy, quiet = _post(30), _post(2), _post(1)
    found = _work(_index(tmp_path, {old: 9, busy: 4, quiet: 2}))
    assert [post.post for post in found.posts] == [busy, quiet, old]
    assert (found.waiting, [round(post.hours or 0) for post in found.posts]) == (3, [48, 24, 720])
    assert found.posts[0].why == (
        "The post is 2 days old when the data ends: posts of the data's last 7 days come first. 1 note, 4 ratings. Its "
        "notes have no score: "
        "we do not know the sides of raters. The index has too few ratings for that. Add more days."
    )
    assert "30 days old when the data ends: it comes after the posts of the data's last 7 days." in found.posts[2].why
    assert found.posts[0].url == f"https://x.com/i/status/{busy}"


def test_a_post_with_a_shown_note_and_one_that_nobody_calls_misleading_are_left_out(tmp_path: Path) -> None:
    shown, fine, waits = _post(1), _post(2), _post(3)
    found = _work(_index(tmp_path, {shown: 3, fine: 3, waits: 1}, shown=shown, fine=fine))
    assert [post.post for post in found.posts] == [waits]


def test_of_made_up_data_the_best_note_s_score_stands_beside_its_line_or_why_there_is_none() -> None:
    index, planted = made_index()
    found = _work(index, days=[planted.surge_day])
    assert {post.posted_at.date() for post in found.posts if post.posted_at} == {planted.surge_day}
    assert [post.ratings for post in found.posts] == sorted((post.ratings for post in found.posts), reverse=True)
    three_days = [planted.surge_day + timedelta(days=days) for days in (1, 2, 3)]  # so few that all are listed
    posts = (*found.posts, *_work(index, days=three_days).posts)
    scored = [post for post in posts if post.best.intercept is not None]
    rest = [post.best for post in posts if post.best.intercept is None]
    assert scored
    assert rest
    assert all("of the 0.40 needed" in post.why or "(0.40 needed)" in post.why for post in scored)
    assert all(best.raters < 5 and f"sides of {best.raters} of the 5 raters" in best.not_run for best in rest)
    with reading(index) as connection:
        (told,) = [one.score for one in [story(connection, str(scored[0].best.note), THRESHOLDS)] if one.score]
    assert told.now.intercept == pytest.approx(scored[0].best.intercept)


@pytest.mark.deep
def test_where_x_says_nothing_a_note_that_the_rules_show_counts_as_shown(tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    for file in (made_index()[0].parent / "public").glob("[nr][oa]t*s-*"):  # notes and ratings, no status history
        (tmp_path / "public" / file.name).symlink_to(file)
    indexed(tmp_path / "public", tmp_path / "crowd.duckdb")
    found = _work(tmp_path / "crowd.duckdb")
    with reading(tmp_path / "crowd.duckdb") as connection:
        told = [story(connection, str(note), THRESHOLDS) for note, _, _ in busiest_notes(connection, 30)]
    shown = {one.post for one in told if one.score and one.score.now.status is NoteStatus.HELPFUL}
    assert shown
    assert not shown & {post.post for post in found.posts}
    assert found.posts[-1].ratings < min(one.levels.n for one in told)
    assert found.waiting is None
    assert "does not say what X shows" in found.sentence


def test_a_day_without_posts_and_no_day_at_all_say_so(tmp_path: Path) -> None:
    index = _index(tmp_path, {_post(1): 2})
    assert _work(index, days=[]).sentence.startswith("There is no surge")
    index, planted = made_index()
    assert _work(index, days=[planted.surge_day.replace(year=2020)]).posts == ()


def test_the_notes_of_a_post_come_with_their_ratings_status_and_tags(tmp_path: Path) -> None:
    post = _post(1)
    with reading(_index(tmp_path, {post: 3})) as connection:
        (note,) = read_notes(notes_as_json(connection, post), "index.json").notes
        with pytest.raises(InputError, match="no note on post 12"):
            notes_as_json(connection, 12)
    assert (note.note_id, note.status, note.ratings.helpful) == (str(post + 1), "NEEDS_MORE_RATINGS", 3)
    assert note.ratings.tags == {"helpfulClear": 3}
    assert note.text.endswith("https://example.org/1")
