"""Sentences that a person may quote: those that speak most to the post, whole, the one that denies it first.

No sentence is joined, cut or reworded: in the trial of that, notes came to support the falsehood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from crowdnotes.domain import Evidence, Post, Quotation, Span
from crowdnotes.embedding import Embedder
from crowdnotes.engines.local.relevance import asked_of, is_satire_unsaid, nearest_to
from crowdnotes.engines.local.tone import denies
from crowdnotes.text.note_rules import NOTE_LIMIT, URL_WEIGHT
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.stems import content_stems, content_tokens, plain_post

_STOPS = ".!…。！۔\"'”’)"  # without one it is a heading, a question, or cut off at the passage's edge
# Says something of what the sentence before it names, which the quotation would lack.
_LEANS_BACK = re.compile(
    r"(?:this|these|that|those|it|they|them|he|she|its|their|his|her|such|but|however|also|for example)\b",
    re.IGNORECASE,
)
_FEWEST_WORDS = 4  # of content; a heading has fewer
_MOST_CHARACTERS = NOTE_LIMIT - URL_WEIGHT - len("“” ")  # longer ones fit into no note
_SHARED = 0.25  # worth of naming all that the claim names, beside the cosine
_DENIES = 0.08  # worth of denying what the claim says


def find_quotations(embedder: Embedder, post: Post, evidence: Sequence[Evidence], most: int) -> tuple[Quotation, ...]:
    """At most `most`, of passages that are no satire; none for a post without words."""
    question = plain_post(post.whole_text)
    usable = [(item, span) for item in evidence if not is_satire_unsaid(item) for span in _sentences(item.passage.text)]
    if not question or not usable:
        return ()
    asked = asked_of(post, question)
    texts = [item.passage.text[span.start : span.end] for item, span in usable]
    near = nearest_to(embedder, asked, texts)
    claimed = content_stems("\n".join(asked[1:] or asked))
    said_no = denies(asked[1] if len(asked) > 1 else question)
    worth = []
    for text, cosine in zip(texts, near, strict=True):
        shared = len(content_stems(text) & claimed) / (len(claimed) or 1)
        worth.append(float(cosine) + _SHARED * shared + _DENIES * (denies(text) != said_no))
    best = sorted(range(len(texts)), key=lambda row: -worth[row])
    first_of = {text: row for row, text in reversed(list(enumerate(texts)))}  # the same words in two passages
    chosen = [row for row in best if first_of[texts[row]] == row][:most]
    chosen.sort(key=lambda row: denies(texts[row]) == said_no)
    return tuple(Quotation(evidence_id=usable[row][0].id, span=usable[row][1]) for row in chosen)


def _sentences(passage: str) -> list[Span]:
    """Those that state something by themselves: no question, no heading, no line that leads into a list."""
    return [
        span
        for span in split_sentences(passage)
        if span.end - span.start <= _MOST_CHARACTERS
        and passage[span.end - 1] in _STOPS
        and not _LEANS_BACK.match(passage, span.start)
        and len(content_tokens(passage[span.start : span.end])) >= _FEWEST_WORDS
    ]
