"""What is searched for: the engine's diverse queries, or, to see what they are worth, the post alone."""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.domain import Claim, Post, Query
from crowdnotes.engines import Engine
from crowdnotes.text.languages import language_of

_LATIN_ENDS = "\u0250"


def queries_for(
    engine: Engine, post: Post, claims: Sequence[Claim], limit: int, *, diverse: bool = True
) -> list[Query]:
    """At most `limit` queries of the engine; without `diverse` the post's text as the only one.

    The latter is for studies: CrowdNotes+ Table 3 takes the diverse queries away.
    """
    if diverse:
        return engine.queries(post, claims, limit)
    text = post.whole_text.strip()
    return [Query(text=text, purpose="the post itself", language=post.language)] if text else []


def languages_of(queries: Sequence[Query]) -> dict[str, str | None]:
    """The language of each query by its text, for services that have editions.

    As the engine says; where it does not and the letters are not Latin, as the text looks. Else None.
    """
    return {query.text: query.language or _by_letters(query.text) for query in queries}


def _by_letters(text: str) -> str | None:
    letters = [letter for letter in text if letter.isalpha()]
    latin = sum(letter < _LATIN_ENDS for letter in letters)
    return language_of(text) if latin * 2 < len(letters) else None
