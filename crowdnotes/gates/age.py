"""Whether a source may be out of date: a person who compares a sentence with it is asked whether it still holds.

An undated page that was true when it was written ("there is no vaccine") carries a sentence word for word. A model is
told the dates and weighs them; without one a person must, once for each source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from crowdnotes.domain import Evidence, SentenceSupport, Source
from crowdnotes.engines import Brief
from crowdnotes.wording import say

_YEARS = 5  # a source older than that may be out of date on what is so now; the models' rules have the same
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def asking_age(
    sentences: Sequence[SentenceSupport], note: str, evidence: Sequence[Evidence], brief: Brief
) -> tuple[SentenceSupport, ...]:
    """The sentences, the first that rests on an old or undated source with a hint that asks whether it still holds.

    One that names a year says itself since when it is so, or when it was.
    """
    posted = brief.post.posted_at.date() if brief.post.posted_at else brief.today
    asked = {item.id: hint for item in evidence if (hint := _hint(item.source, posted))}
    out = []
    for sentence in sentences:
        names_year = _YEAR.search(sentence.words_in(note)) is not None
        hint = "" if names_year else asked.pop(sentence.evidence_id or "", "")
        out.append(sentence.model_copy(update={"doubts": (*sentence.doubts, hint)}) if hint else sentence)
    return tuple(out)


def _hint(source: Source, posted: date) -> str:
    if source.year is None:
        return say("age.undated")
    return say("age.old", year=source.year) if posted.year - source.year > _YEARS else ""
