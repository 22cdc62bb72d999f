"""Sources that call themselves satire: only the sentence that says so may be relied on."""

from __future__ import annotations

import re

from crowdnotes.domain import Evidence
from crowdnotes.engines.local.publishers import publisher_name
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.stems import content_tokens

_SATIRE = re.compile(
    r"\b(?:satir(?:e|ical|ist\w*)|parod(?:y|ies)|spoof\w*|(?:purely|entirely|all) fictional|"
    r"for entertainment purposes only|humou?r (?:site|website|paper|magazine|column))\b",
    re.IGNORECASE,
)
_SELF = re.compile(
    r"\b(?:we|our|us|this (?:is|site|website|page|paper|newspaper|article|story|publication|account|magazine))\b",
    re.IGNORECASE,
)


def says_satire(sentence: str) -> bool:
    """Whether a sentence says of something that it is satire or parody."""
    return _SATIRE.search(sentence) is not None


def is_satirical(item: Evidence) -> bool:
    """Whether the source says of itself, in or around the passage, that it is satire.

    A page that reports on someone else's satire does not: the sentence must name the source or say "we".
    """
    source = item.source
    if says_satire(f"{source.title} {source.publisher or ''}"):
        return True
    name = source.publisher or publisher_name(source)
    own = {token.folded for token in content_tokens(name)}
    for text in (item.passage.text, item.passage.before, item.passage.after):
        if not _SATIRE.search(text):
            continue
        for span in split_sentences(text):
            sentence = text[span.start : span.end]
            words = {token.folded for token in content_tokens(sentence)}
            if says_satire(sentence) and (_SELF.search(sentence) or (own and own <= words)):
                return True
    return False
