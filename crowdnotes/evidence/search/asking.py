"""What is searched for: the engine's diverse queries, or, to see what they are worth, the post alone."""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.domain import Claim, Post, Query
from crowdnotes.engines import Engine


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
