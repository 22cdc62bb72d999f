"""What the program does, its keys, a bookmark that brings posts over from X, and the documents to read on.

The documents in docs/, to be read in the app.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import streamlit as st

from crowdnotes.wording import say
from pages.common.components import bookmark, bookmarklet
from pages.common.layout import keys_in_words
from pages.common.navigation import page_body

_FOLDER = Path(__file__).parents[1] / "docs"
_FOR_USERS = ("models", "people", "presenting", "settings")  # first; the others are for those who change the program
_LINK = re.compile(r"\]\((\w+)\.md(?:#[^)]*)?\)")


@cache
def documents() -> dict[str, str]:
    """The title of each document, by its name."""
    names = sorted((path.stem for path in _FOLDER.glob("*.md")), key=lambda name: (name not in _FOR_USERS, name))
    return {name: _text(name).split("\n", 1)[0].removeprefix("# ") for name in names}


def document(name: str) -> str:
    """Its Markdown below the title; links to other documents lead to them in the app."""
    return _LINK.sub(r"](help?document=\1)", _text(name).split("\n", 1)[1])


def _text(name: str) -> str:
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8")


name = st.query_params.get("document", "")
if name in documents():
    with page_body(documents()[name], say("help.document_about")):
        st.page_link("pages/help.py", label=say("help.back"), icon=":material/arrow_back:")
        st.markdown(document(name))
else:
    with page_body(say("help.title"), say("help.about")):
        st.markdown(say("help.what"))
        st.header(say("help.steps_title"), anchor=False)
        st.markdown(say("help.steps"))
        st.header(say("help.keys_title"), anchor=False)
        st.markdown(keys_in_words())
        st.caption(say("keys.typing"))
        st.header(say("help.bookmark_title"), anchor=False)
        st.markdown(say("help.bookmark"))
        root = (st.context.url or "").rstrip("/").removesuffix("/help")  # which Streamlit takes off now and then
        address = bookmarklet(f"{root}/")
        bookmark(say("help.bookmark_label"), address)
        st.caption(say("help.bookmark_by_hand"))
        st.code(address, language=None, wrap_lines=True)
        st.header(say("help.documents_title"), anchor=False)
        for each, title in documents().items():
            link = {"document": each}
            st.page_link("pages/help.py", label=title, icon=":material/description:", query_params=link)
