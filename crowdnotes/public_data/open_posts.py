"""Posts that have notes of which none is shown, those on which a note would matter most first.

The order is one rule: posts of the last seven days, then the others; among them those with the most ratings; of as
many, the one whose best note is nearer to being shown. docs/crowd.md: how it was measured against ratings alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from crowdnotes.bridging.columns import DAY_MS, HOUR_MS
from crowdnotes.bridging.model import NoteStatus
from crowdnotes.bridging.scoring import Extremes, score_as_rated
from crowdnotes.bridging.thresholds import THRESHOLDS, Thresholds
from crowdnotes.domain import FrozenModel
from crowdnotes.errors import InputError
from crowdnotes.public_data.database import TAGS, Connection, columns, how_many
from crowdnotes.public_data.indexing import last_fit
from crowdnotes.public_data.posts import Filter, gather_posts
from crowdnotes.public_data.replay import Moment, Replay, replay
from crowdnotes.text.markdown import day, in_figures
from crowdnotes.text.note_rules import without_urls, x_storage_form
from crowdnotes.wording import fill, plural

FRESH_DAYS = 7
_MAX_LISTED_POSTS = 50
_MAX_SCORED_POSTS = 4 * _MAX_LISTED_POSTS  # those whose notes our own reckoning shows are left out of them


class BestNote(FrozenModel):
    """The score of the post's best note by the index's fit; None, with the reason, where no note can be scored.

    held_back: why it is not shown although its score reaches the line; "" where it does not.
    raters: how many of its raters the fit knows, of the note that most of them rated where none can be scored.
    """

    note: int | None = None
    intercept: float | None = None
    needed: float
    raters: int = 0
    not_run: str = ""
    held_back: str = ""


class WaitingPost(FrozenModel):
    """A post whose notes are not shown. hours: from it to the end of the data; None where its id has no time."""

    post: int
    url: str
    posted_at: datetime | None
    hours: float | None
    language: str | None
    notes: int
    ratings: int
    best: BestNote
    first_note: str
    why: str


class Work(FrozenModel):
    """Up to fifty of them. days: whose posts are meant; None for all. until: the newest note or rating of the index.

    waiting: how many there are; None where the index has no status history: of posts that are not looked at it is not
    known then whether a note is shown.
    """

    counted: str
    days: tuple[date, ...] | None
    until: datetime
    waiting: int | None
    posts: tuple[WaitingPost, ...]
    sentence: str


# Posts with a shown note, and those that every note calls fine, are few: cheaper to find than the rest.
_WAITING_POSTS_SQL = """
CREATE OR REPLACE TEMP TABLE waiting AS SELECT post, posted, notes, language FROM chosen ANTI JOIN (
    SELECT post FROM notes SEMI JOIN (SELECT note FROM history WHERE status = $shown) USING (note)
    UNION ALL SELECT post FROM notes SEMI JOIN (SELECT post FROM notes WHERE NOT misleading) USING (post)
        GROUP BY post HAVING bool_and(misleading IS FALSE)
) USING (post) WHERE $days IS NULL OR posted // $day_ms IN (SELECT unnest($days))
"""
# New posts come first: where they fill the list, the ratings of the others are not counted.
_MOST_RATED_SQL = """
WITH wanted AS (SELECT * FROM waiting WHERE (SELECT count(*) < $most FROM waiting WHERE posted >= $fresh)
    OR posted >= $fresh),
rated AS (SELECT post, count(*) AS ratings FROM ratings JOIN (SELECT note, post FROM notes SEMI JOIN wanted
    USING (post)) USING (note) GROUP BY post)
SELECT post, posted, notes, coalesce(ratings, 0) AS n, language FROM wanted LEFT JOIN rated USING (post)
ORDER BY coalesce(posted >= $fresh, false) DESC, n DESC, post LIMIT $most
"""
_KNOWN_RATINGS_SQL = """
SELECT theirs.post, theirs.note, status IS NOT NULL AS on_x, level / 2.0 AS helpful, intercept, factor
FROM ratings JOIN raters USING (rater) JOIN (
    SELECT note, post FROM notes WHERE misleading IS NOT FALSE AND post IN (SELECT unnest(?))
) AS theirs USING (note) LEFT JOIN history USING (note) ORDER BY theirs.note
"""
_NEWEST_SQL = "SELECT greatest((SELECT max(written) FROM notes), (SELECT max(rated) FROM ratings), 0)"
_FIRST_TEXT_SQL = """
SELECT post, arg_min(text, coalesce(written, note)) FROM notes
WHERE misleading IS NOT FALSE AND post IN (SELECT unnest($posts)) GROUP BY post
"""


def work(
    connection: Connection, chosen: Filter, days: Sequence[date] | None, thresholds: Thresholds = THRESHOLDS
) -> Work:
    """Return the posts of some days, or of all, that have notes calling them misleading of which none is shown.

    Shown is what X says; where it says nothing of a note, what the rules say of its ratings. Raises InputError where
    the index has no notes.
    """
    gather_posts(connection, chosen)
    until = how_many(connection, _NEWEST_SQL)
    numbers = None if days is None else [(day - date(1970, 1, 1)).days for day in days]
    connection.execute(_WAITING_POSTS_SQL, {"days": numbers, "day_ms": DAY_MS, "shown": NoteStatus.HELPFUL.value})
    rows = connection.execute(
        _MOST_RATED_SQL, {"fresh": until - FRESH_DAYS * DAY_MS, "most": _MAX_SCORED_POSTS}
    ).fetchall()
    posts = [row[0] for row in rows]
    best = _find_best_notes(connection, posts, thresholds)
    words = dict(connection.execute(_FIRST_TEXT_SQL, {"posts": posts}).fetchall())
    several = days is None or len(days) > 1
    found = [
        _build_waiting_post(row, best[row[0]], words[row[0]] or "", until, several) for row in rows if row[0] in best
    ]
    found.sort(key=_build_post_sort_key)
    has_history = how_many(connection, "SELECT count(*) FROM (SELECT 1 FROM history LIMIT 1)") > 0
    waiting = how_many(connection, "SELECT count(*) FROM waiting") if has_history else None
    return Work(
        counted=chosen.as_text,
        days=None if days is None else tuple(days),
        until=_convert_ms(until),
        waiting=waiting,
        posts=tuple(found[:_MAX_LISTED_POSTS]),
        sentence=_write_open_posts_sentence(
            waiting, min(len(found), _MAX_LISTED_POSTS), until, some_days=days is None or len(days) > 0
        ),
    )


def span_sentence(connection: Connection) -> str:
    """Return from when to when the data is, by its notes and ratings; "" where nothing has a date."""
    first = how_many(connection, "SELECT coalesce(min(written), 0) FROM notes")
    if not first:
        return ""
    return f"Notes and ratings from {day(_convert_ms(first))} to {day(_convert_ms(how_many(connection, _NEWEST_SQL)))}."


def post_url(post: int) -> str:
    """Return the address of a post whose author is not known."""
    return f"https://x.com/i/status/{post}"


def notes_as_json(connection: Connection, post: int) -> bytes:
    """Return the notes on a post with their ratings, as a file for a Supernote.

    Raises InputError where there is none.
    """
    ticked = ", ".join(f"count(*) FILTER (tags >> {place} & 1 = 1)" for place in range(len(TAGS)))
    rows = connection.execute(
        f"""
        SELECT notes.note, text, misleading, notes.written, status, coalesce(helpful, 0), coalesce(somewhat, 0),
            coalesce(not_helpful, 0), coalesce(tags, [])
        FROM notes LEFT JOIN history USING (note) LEFT JOIN (
            SELECT note, count(*) FILTER (level = 2) AS helpful, count(*) FILTER (level = 1) AS somewhat,
                count(*) FILTER (level = 0) AS not_helpful, [{ticked}] AS tags
            FROM ratings WHERE note IN (SELECT note FROM notes WHERE post = $post) GROUP BY note
        ) USING (note) WHERE post = $post ORDER BY notes.note
        """,
        {"post": post},
    ).fetchall()
    if not rows:
        raise InputError(f"The index has no note on post {post}.", "Add newer files, or choose another post.")
    return json.dumps(
        [
            {
                "noteId": str(note),
                "text": x_storage_form(text or ""),
                "misleading": misleading is not False,
                "createdAt": written,
                "status": status,
                "helpful": helpful,
                "somewhatHelpful": somewhat,
                "notHelpful": not_helpful,
                "tags": {tag: number for tag, number in zip(TAGS, tags, strict=False) if number},
            }
            for note, text, misleading, written, status, helpful, somewhat, not_helpful, tags in rows
        ]
    ).encode()


def _find_best_notes(connection: Connection, posts: list[int], thresholds: Thresholds) -> dict[int, BestNote]:
    """Return the best note of each post; posts whose note is shown, by the rules alone, are left out."""
    line, least = thresholds.helpful_intercept, thresholds.min_raters_per_note
    fit = last_fit(connection)
    if fit.not_run:
        nothing = BestNote(
            needed=line,
            not_run=f"Its notes have no score: we do not know the sides of raters. {fit.not_run}",
        )
        return dict.fromkeys(posts, nothing)
    best = dict.fromkeys(posts, _build_unscored_note(0, line, least))
    rows = columns(connection, _KNOWN_RATINGS_SQL, [posts])
    (extremes,) = connection.execute("SELECT min(intercept), min(factor), max(factor) FROM raters").fetchall()
    held = Extremes(fit.global_intercept, fit.ratings_per_note, *extremes)
    notes, begins, counts = np.unique(rows["note"], return_index=True, return_counts=True)
    for note, begin, known in zip(notes.tolist(), begins.tolist(), counts.tolist(), strict=True):
        post, those = int(rows["post"][begin]), slice(begin, begin + known)
        if post not in best:
            continue  # another of its notes is shown
        if known < least:
            if best[post].intercept is None and known > best[post].raters:
                best[post] = _build_unscored_note(known, line, least)
            continue
        helpful, intercepts, factors = (rows[name][those] for name in ("helpful", "intercept", "factor"))
        intercept = float(score_as_rated(helpful, intercepts, factors, held)[0][-1])
        is_best = best[post].intercept is None or intercept > (best[post].intercept or 0)
        # A replay is slow: only notes that may be shown by our reckoning, or whose reason is printed, get one.
        asked = intercept >= line and (is_best or not rows["on_x"][begin])
        now = _replay_to_now(connection, note, thresholds) if asked else None
        is_shown = now is not None and now.status is NoteStatus.HELPFUL
        if is_shown and not rows["on_x"][begin]:
            del best[post]
        elif is_best:
            why = "" if now is None else "X has not shown it so far." if is_shown else now.why
            best[post] = BestNote(note=note, intercept=intercept, needed=line, raters=known, held_back=why)
    return best


def _replay_to_now(connection: Connection, note: int, thresholds: Thresholds) -> Moment | None:
    replayed = replay(connection, note, misleading=True, thresholds=thresholds)
    return replayed.moment(len(replayed)) if isinstance(replayed, Replay) else None


def _build_unscored_note(raters: int, line: float, least: int) -> BestNote:
    return BestNote(
        needed=line,
        raters=raters,
        not_run=f"No score yet: we know the sides of {raters} of the {least} raters that it takes.",
    )


def _build_waiting_post(row: tuple[Any, ...], best: BestNote, words: str, until: int, several: bool) -> WaitingPost:
    post, posted, notes, ratings, language = row
    hours = None if posted is None else (until - posted) / HOUR_MS
    return WaitingPost(
        post=post,
        url=post_url(post),
        posted_at=None if posted is None else _convert_ms(posted),
        hours=hours,
        language=language,
        notes=notes,
        ratings=ratings,
        best=best,
        first_note=without_urls(x_storage_form(words)),
        why=_explain_place(notes, ratings, hours, best, several),
    )


def _build_post_sort_key(post: WaitingPost) -> tuple[bool, int, float, int]:
    """Return the posts in the order that the head of this file explains."""
    away = float("inf") if post.best.intercept is None else abs(post.best.needed - post.best.intercept)
    return not _is_fresh(post.hours), -post.ratings, away, post.post


def _is_fresh(hours: float | None) -> bool:
    return hours is not None and hours <= FRESH_DAYS * 24


def _explain_place(notes: int, ratings: int, hours: float | None, best: BestNote, several: bool) -> str:
    """Explain a post's place in the list; among posts of one day the age does not matter."""
    if hours is None:
        age = "We do not know the post's age, so it comes after the new ones."
    else:
        old = (
            plural(round(hours), "{n} hour", "{n} hours")
            if hours < 48
            else plural(round(hours / 24), "{n} day", "{n} days")
        )
        age = f"The post is {old} old when the data ends"
        order = (
            f"posts of the data's last {FRESH_DAYS} days come first."
            if _is_fresh(hours)
            else f"it comes after the posts of the data's last {FRESH_DAYS} days."
        )
        age = f"{age}: {order}" if several else f"{age}."
    if best.intercept is None:
        score = best.not_run
    else:
        said = (
            "The best note scores {score} ({needed} needed), but is not shown: {why}"
            if best.intercept >= best.needed
            else "The best note scores {score} of the {needed} needed."
        )
        figures = in_figures(best.intercept, best.needed), in_figures(best.needed, best.needed)
        score = fill(said, score=figures[0], needed=figures[1], why=best.held_back)
    counted = plural(notes, "{n} note", "{n} notes")
    return f"{age} {plural(ratings, '{notes}, {n:,} rating.', '{notes}, {n:,} ratings.', notes=counted)} {score}"


def _write_open_posts_sentence(waiting: int | None, listed: int, until: int, *, some_days: bool) -> str:
    if not listed:
        return (
            "Every post here that has notes has one that is shown."
            if some_days
            else "There is no surge, so no post to list. Ask for all days."
        )
    end = f"The data ends on {day(_convert_ms(until))}."
    if waiting is None:
        return f"The first {listed}, by these ratings: the data does not say what X shows. {end}"
    many = plural(waiting, "1 post has notes, none of them shown", "{n:,} posts have notes, none of them shown")
    return f"{many}; these are the first {listed}. {end}" if waiting > listed else f"{many}. {end}"


def _convert_ms(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
