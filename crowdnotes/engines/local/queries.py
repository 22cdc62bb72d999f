"""A post's searches: in English, and for a post in another language in that one too."""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.domain import Aim, Claim, Post, Query
from crowdnotes.engines.local import foreign_queries
from crowdnotes.engines.local.english_queries import for_the_claim, more_like, to_judge
from crowdnotes.engines.local.query_words import distinct
from crowdnotes.engines.local.topics import find_topics
from crowdnotes.text.languages import language_of

_ENGLISH = "en"


def build_queries(
    post: Post, claims: Sequence[Claim], limit: int, *, aim: Aim = Aim.JUDGE, like: str = ""
) -> list[Query]:
    """At most `limit` queries, each with the purpose that sets it apart; empty when nothing can be searched.

    With Aim.OTHER_SIDE they look for what speaks for the claim; with `like`, for more passages of its kind.
    A post whose language is not known is searched as an English one.
    """
    text = post.whole_text
    topics = find_topics(text)
    if not topics or limit <= 0:
        return []
    language = (post.language or language_of(text) or _ENGLISH).split("-")[0].lower()
    if {language, language_of(like) or _ENGLISH} != {_ENGLISH}:
        found = foreign_queries.build(text, claims, language, aim, like)
    elif like:
        found = more_like(topics[0].official, like)
    elif aim is Aim.OTHER_SIDE:
        found = for_the_claim(topics, claims, text)
    else:
        found = to_judge(topics, claims, text)
    return distinct(found)[:limit]
