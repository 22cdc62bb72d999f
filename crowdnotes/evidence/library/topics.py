"""Finding records whose title means the same in other words.

A post says "jab" and "heart inflammation", the library says "vaccine" and "myocarditis": words
alone never meet. Titles are few and short enough to embed while a library is added; texts are not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from crowdnotes.embedding import Embedder, FloatArray
from crowdnotes.text.stems import STOP_WORDS, words

MOST_TOPICS = 20_000  # about 45 s of embedding on two cores; records beyond are found by their words
_TEMPLATE_SHARE = 0.04  # a word in more titles than this is a form ("What are the symptoms of …"), no topic
_TEMPLATES_FROM = 200  # titles; of fewer, a share says nothing
_BATCH = 256


def topics_of(titles: Sequence[str]) -> list[str]:
    """What each title is about: its words without stop words and without the library's own templates.

    "What are the symptoms of X?" and "Is X inherited?" share the topic "x", which is embedded once.
    """
    split = [[word.casefold() for word in words(title)] for title in titles]
    counts = Counter(word for title in split for word in set(title))
    most = _TEMPLATE_SHARE * len(titles) if len(titles) >= _TEMPLATES_FROM else len(titles)
    return [" ".join(w for w in title if counts[w] <= most and w not in STOP_WORDS[0]) for title in split]


def embed_topics(
    topics: Sequence[str], embedder: Embedder, progress: Callable[[float], None]
) -> tuple[FloatArray, list[int | None]]:
    """Vectors of the distinct topics, shape (n, dimensions), and for each topic given its row or None.

    Empty topics, and those past the first `MOST_TOPICS` distinct ones, have no row. `progress`
    hears the share done, in [0, 1].
    """
    rows: dict[str, int] = {}
    for topic in topics:
        if topic and len(rows) < MOST_TOPICS:
            rows.setdefault(topic, len(rows))
    # Batches of like length waste no padding.
    order = sorted(rows, key=lambda topic: (len(topic), topic))
    vectors = np.zeros((len(rows), embedder.dimensions), dtype=np.float32)
    for begin in range(0, len(order), _BATCH):
        batch = order[begin : begin + _BATCH]
        vectors[[rows[topic] for topic in batch]] = embedder.encode(batch)
        progress((begin + len(batch)) / len(order))
    return vectors, [rows.get(topic) for topic in topics]


def nearest_topics(vectors: FloatArray, target: FloatArray, count: int) -> list[int]:
    """The rows most similar to the target, best first."""
    similarity = vectors @ target
    return [int(row) for row in np.argsort(-similarity, kind="stable")[:count]]
