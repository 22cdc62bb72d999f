"""A planted surge is found, with its words and posts; where nothing can be said, that is said."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from crowdnotes.errors import InputError
from crowdnotes.public_data.database import reading
from crowdnotes.public_data.loading import snowflake
from crowdnotes.public_data.posts import Filter
from crowdnotes.public_data.surges import posts_of_day, surges, trending
from crowdnotes.text.markdown import day
from tests.public_data.made import indexed, made_index, note_row, write_notes

_FIRST = datetime(2025, 3, 1, 12, tzinfo=UTC)


def _index(folder: Path, per_day: list[int], text: str = "The photo is old.") -> Path:
    """So many posts a day from 1 March 2025, a note on each."""
    rows = []
    for days, posts in enumerate(per_day):
        at = int((_FIRST + timedelta(days=days)).timestamp() * 1000)
        for number in range(posts):
            post = int(snowflake(np.array([at + number]))[0])
            rows.append(note_row(post + 7, tweetId=post, createdAtMillis=at + 9_000, summary=text))
    write_notes(folder / "public" / "notes-00000.tsv", *rows)
    indexed(folder / "public", folder / "crowd.duckdb")
    return folder / "crowd.duckdb"


def test_the_planted_surge_is_the_strongest_with_its_words_and_its_posts() -> None:
    index, planted = made_index()
    with reading(index) as connection:
        found = surges(connection, Filter(), with_terms=1)
        strongest = max(found.surges, key=lambda surge: surge.posts - surge.mean)
        posts = posts_of_day(connection, planted.surge_day)
    assert (strongest.day, strongest.posts) == (planted.surge_day, planted.surge_posts)
    assert planted.surge_word in {term.term for term in strongest.terms or ()}
    assert day(planted.surge_day) in found.sentence
    assert (found.posts, found.not_dated) == (planted.posts, 0)
    assert len(posts) == 50
    assert all(post.posted_at.date() == planted.surge_day for post in posts)
    assert [post.ratings for post in posts] == sorted((post.ratings for post in posts), reverse=True)


def test_a_filter_by_language_or_topic_counts_only_those_posts() -> None:
    index, planted = made_index()
    with reading(index) as connection:
        everything, spanish = surges(connection, Filter()), surges(connection, Filter("es"))
        health = surges(connection, Filter("en", "health"), with_terms=1)
        assert 0 < spanish.posts < health.posts < everything.posts
        assert planted.surge_day not in {surge.day for surge in spanish.surges}
        assert planted.surge_day in {surge.day for surge in health.surges}


@pytest.mark.parametrize(("last", "marked"), [(11, []), (12, [date(2025, 3, 29)])])
def test_a_day_is_marked_above_two_and_a_half_deviations_of_the_28_days_before(
    tmp_path: Path, last: int, marked: list[date]
) -> None:
    index = _index(tmp_path, [8, 10] * 14 + [last])  # mean 9, deviation 1.02: the line is at 11.5
    with reading(index) as connection:
        assert [surge.day for surge in surges(connection, Filter()).surges] == marked


@pytest.mark.parametrize(
    ("per_day", "said"),
    [
        ([8, 10] * 14 + [11], "is no surge: after 28 days with 9.0 a day"),
        ([8, 40] * 14 + [11], "is among the first 28"),
        ([0, 0] * 14 + [1] + [0] * 40 + [4], "has under 5"),
        ([8, 8] * 14 + [12, 8], "8 posts, is among the first 28"),
    ],
)
def test_why_the_largest_other_day_does_not_stand_out_is_told(tmp_path: Path, per_day: list[int], said: str) -> None:
    with reading(_index(tmp_path, per_day)) as connection:
        assert said in surges(connection, Filter()).largest_other


def test_under_five_posts_are_no_surge_however_few_are_usual(tmp_path: Path) -> None:
    with reading(_index(tmp_path, [0, 1] * 14 + [4])) as connection:
        assert surges(connection, Filter()).surges == ()


def test_words_that_notes_use_every_day_do_not_trend(tmp_path: Path) -> None:
    index = _index(tmp_path, [6] * 29 + [40])
    with reading(index) as connection:
        (surge,) = surges(connection, Filter(), with_terms=1).surges
        assert surge.terms == ()
        assert trending(connection, date(2020, 1, 1)) == ()


def test_where_nothing_can_be_said_that_is_said(tmp_path: Path) -> None:
    with reading(_index(tmp_path, [5] * 28)) as connection:
        assert surges(connection, Filter()).not_run == "It takes 29 days of posts to find a surge. Add more days."
    write_notes(tmp_path / "b" / "notes-00000.tsv", note_row(1, tweetId=12))
    indexed(tmp_path / "b", tmp_path / "b.duckdb")
    with reading(tmp_path / "b.duckdb") as connection:
        nothing = surges(connection, Filter())
    assert (nothing.not_dated, nothing.not_run) == (
        1,
        "No post has a time since notes are written, so there is no surge to look for.",
    )


@pytest.mark.parametrize("wrong", [{"topic": "sport"}, {"topic": "8"}, {"language": "English"}])
def test_what_is_no_topic_or_language_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(InputError, match="is no"):
        _ = Filter(**wrong).topics
