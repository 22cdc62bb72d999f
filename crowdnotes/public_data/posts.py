"""The posts of the index that are counted: all, or those of a language or a health topic.

A post has the language of its first note and the topics of all its notes: its own words are not in the public data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from crowdnotes.bridging.columns import DAY_MS
from crowdnotes.errors import InputError
from crowdnotes.public_data.database import Connection, how_many
from crowdnotes.public_data.topics import topic_names

YOUNG_DAYS = 14  # then X locks a status; a younger note may still get its first
HEALTH = "health"  # any of the seven topics
LAST_LOAD = "SELECT coalesce(max(load), 0) FROM loads"
_INSERT_POSTS_SQL = """
INSERT INTO posts
SELECT post, any_value(posted), min(notes.written), min(first_at), arg_min(language, coalesce(notes.written, note)),
    bit_or(coalesce(topics, 0)), count(*), count(history.note),
    count(*) FILTER (history.note IS NOT NULL AND first_at IS NULL),
    count(*) FILTER (history.note IS NOT NULL AND first_at IS NULL AND notes.written > $young)
FROM notes LEFT JOIN history USING (note)
WHERE post IS NOT NULL AND {which} GROUP BY post
"""
# Besides what was loaded: a note that was young may have come of age.
_CHANGED_POSTS_SQL = """
CREATE OR REPLACE TEMP TABLE changed AS
SELECT post FROM posts WHERE young > 0 UNION SELECT post FROM touched WHERE post IS NOT NULL
"""
_FEW_CHANGED_SQL = "SELECT (SELECT count(*) FROM changed) * 4 < (SELECT count(*) FROM posts)"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which posts: of a language (ISO 639-1), of a topic (its name, its number from 1, or "health" for any of them)."""

    language: str | None = None
    topic: str | None = None

    def __post_init__(self) -> None:
        """Raise InputError for what is no language code."""
        if self.language is not None and not re.fullmatch("[a-z]{2}", self.language):
            raise InputError(f"“{self.language[:60]}” is no language.", "Use two letters, for example en, es or ja.")

    @property
    def topics(self) -> int | None:
        """The topics as bits; None for all posts. Raises InputError for what is no topic."""
        if self.topic is None:
            return None
        names = topic_names()
        if self.topic == HEALTH:
            return (1 << len(names)) - 1
        for place, name in enumerate(names):
            if self.topic in (name, str(place + 1)):
                return 1 << place
        listed = "; ".join(f"{place} {name}" for place, name in enumerate(names, 1))
        raise InputError(f"“{self.topic[:60]}” is no topic.", f"Use “{HEALTH}” for any, or one of: {listed}.")

    @property
    def as_text(self) -> str:
        """What is counted, for a heading."""
        topic = "any health topic" if self.topic == HEALTH else self.topic
        return ", ".join(filter(None, [self.language or "", topic])) or "all posts"


def make_posts(connection: Connection, before: int) -> None:
    """Make the posts anew that were loaded since, or of which notes or status were; all, if it was cut short before.

    Of each post: when it was made, its first note, the first verdict of any of its notes, how many notes it has, of how
    many the history is known, how many of those never left "needs more ratings", and how many of these are young: under
    14 days older than the newest note.

    before: the last load before the folder's; the table `touched` lists the posts that the folder touched.
    """
    load, made = how_many(connection, LAST_LOAD), how_many(connection, "SELECT coalesce(max(load), -1) FROM posts_made")
    if load == made:
        return
    connection.begin()
    try:
        newest = how_many(connection, "SELECT coalesce(max(written), 0) FROM notes")
        which = "true"
        connection.execute(_CHANGED_POSTS_SQL)
        if made == before and how_many(connection, _FEW_CHANGED_SQL):
            which = "post IN (SELECT post FROM changed)"
        connection.execute(f"DELETE FROM posts WHERE {which}; DELETE FROM posts_made")
        connection.execute(_INSERT_POSTS_SQL.format(which=which), {"young": newest - YOUNG_DAYS * DAY_MS})
        connection.execute("INSERT INTO posts_made VALUES (?)", [load])
        connection.commit()
    except BaseException:
        connection.rollback()
        raise


def gather_posts(connection: Connection, chosen: Filter) -> int:
    """Create the temporary view `chosen` of the posts to count, with the columns of `posts`; return how many.

    Raises InputError where the index has no notes.
    """
    if not how_many(connection, "SELECT count(*) FROM (SELECT 1 FROM posts LIMIT 1)"):
        raise InputError("The index has no notes.", "Add the notes files.")
    language = f"language = '{chosen.language}'" if chosen.language else "true"
    topics = f"topics & {chosen.topics} <> 0" if chosen.topics else "true"
    connection.execute(f"CREATE OR REPLACE TEMP VIEW chosen AS SELECT * FROM posts WHERE {language} AND {topics}")
    return how_many(connection, "SELECT count(*) FROM chosen")
