"""The Help page: what the program does, its keys, a bookmark for posts on X, and the files in docs/."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import streamlit as st

from pages.common.components import bookmark, bookmarklet
from pages.common.layout import KEYS_CAPTION, keys_in_words
from pages.common.navigation import page_body
from pages.common.session import opened_by_link

_DOCS_FOLDER = Path(__file__).parents[1] / "docs"
_DOCUMENTS_FOR_USERS = (
    "models",
    "people",
    "presenting",
    "settings",
)  # first; the others are for those who change the program
_DOCUMENT_LINK_PATTERN = re.compile(r"\]\((\w+)\.md(?:#[^)]*)?\)")


@cache
def documents() -> dict[str, str]:
    """Return the title of each document, by its name."""
    names = sorted(
        (path.stem for path in _DOCS_FOLDER.glob("*.md")), key=lambda name: (name not in _DOCUMENTS_FOR_USERS, name)
    )
    return {name: _read_document(name).split("\n", 1)[0].removeprefix("# ") for name in names}


def document(name: str) -> str:
    """Its Markdown below the title; links to other documents lead to them in the app."""
    return _DOCUMENT_LINK_PATTERN.sub(r"](help?document=\1)", _read_document(name).split("\n", 1)[1])


def _read_document(name: str) -> str:
    return (_DOCS_FOLDER / f"{name}.md").read_text(encoding="utf-8")


name = opened_by_link("document") or ""
if name in documents():
    with page_body(documents()[name], "From the documents of CrowdNotes."):
        st.page_link("pages/help.py", label="Back to Help", icon=":material/arrow_back:")
        st.markdown(document(name))
else:
    with page_body("Help", "What CrowdNotes does, its keys, and a bookmark for X."):
        st.markdown(
            "CrowdNotes helps you write a Community Note: a short correction, with sources, under a misleading post on "
            "X.\n\n"
            "- It finds sources; you choose which to use.\n"
            "- It checks your note: does a source support every sentence, and would readers of different views find it "
            "helpful?\n"
            "- You decide: approve the note, or say that none is needed or that there is not enough evidence.\n"
        )
        st.header("Five steps", anchor=False)
        st.markdown(
            "1. **Post.** Paste the post. Its address on X and links to sources can go into the same box.\n"
            "2. **Sources.** Read what we found. Use a source in the note, mark it *read, not cited*, or reject it.\n"
            "3. **Note.** Write the note or choose a draft. X allows 280 characters; a link counts as 1.\n"
            "4. **Scores.** Three checks, in order: relevant, correct, helpful. Simulated readers then estimate how "
            "people may rate it.\n"
            "5. **Decide.** Approve the note and take it to X, or say why there is none.\n"
        )
        st.header("Keys", anchor=False)
        st.markdown(keys_in_words())
        st.caption(KEYS_CAPTION)
        st.header("Bring a post over from X", anchor=False)
        st.markdown(
            "1. Drag this link to the bookmarks bar of your browser.\n"
            "2. On X, select the words of a post.\n"
            "3. Open the bookmark. The text and address of the post are filled in here; then press *Find evidence*.\n"
        )
        root = (st.context.url or "").rstrip("/").removesuffix("/help")  # which Streamlit takes off now and then
        address = bookmarklet(f"{root}/")
        bookmark("Check this post", address)
        st.caption("Cannot drag it? Make a bookmark with this address. It brings up to 5,000 characters.")
        st.code(address, language=None, wrap_lines=True)
        st.header("Read more", anchor=False)
        for each, title in documents().items():
            link = {"document": each}
            st.page_link("pages/help.py", label=title, icon=":material/description:", query_params=link)
