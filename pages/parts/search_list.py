"""The searches themselves: the words that leave this machine, what each is for, and in which language."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from crowdnotes.domain import Query
from crowdnotes.evidence.search.asking import languages_of
from pages.parts.badges import language_name
from pages.parts.text import count, plain


def search_list(searches: Sequence[Query]) -> None:
    """One a line: the words and the purpose. The language at each where they differ, else once above."""
    if not searches:
        return
    codes = languages_of(searches)
    spoken = [plain(language_name(codes.get(search.text)), 40) for search in searches]
    is_one = len(set(spoken)) == 1
    rows = [f":small[:gray[{count(len(searches), 'search', 'searches')}, {spoken[0]}]]"] if is_one else []
    for search, language in zip(searches, spoken, strict=True):
        beside = "" if is_one else f" · {language}"
        rows.append(f":small[“{plain(search.text, 300)}” :gray[{plain(search.purpose, 160)}{beside}]]")
    st.markdown("  \n".join(rows))
