"""The kinds of source: of what was found, and of what was chosen to be read, whether or not it could be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import streamlit as st

from crowdnotes.domain import Case, SourceCategory
from crowdnotes.evidence.provenance import categorise
from pages.parts.plots import Part, stacked_shares
from pages.parts.search_report import all_hits
from pages.parts.session import workspace


def category_mix(case: Case) -> None:
    """Two bars, found and chosen, over the seven kinds of source. Nothing without a search."""
    hits = all_hits(case)
    if not hits or not case.sources:
        return
    own = workspace().settings.evidence.categories
    found = Counter([*(hit.category for hit in hits), *(categorise(url, own) for url in case.urls)])
    chosen = Counter(source.category for source in case.sources)
    with st.container(key="category-mix", gap="xsmall"):
        st.caption("Kinds of source, found → chosen to be read")
        stacked_shares(
            [f"{found.total()} found", f"{chosen.total()} chosen"],
            [Part(kind.value, (found[kind], chosen[kind])) for kind in SourceCategory],
            alt=f"Kinds of source. {_in_words('Found', found)} {_in_words('Chosen', chosen)}",
            between=" → ",
            key=f"category-mix-{case.id}",
        )


def _in_words(what: str, counts: Counter[SourceCategory]) -> str:
    kinds: Iterable[tuple[SourceCategory, int]] = sorted(counts.items(), key=lambda pair: -pair[1])
    return f"{what}: {', '.join(f'{number} {kind.value}' for kind, number in kinds)}."
