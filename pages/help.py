"""The Help page: what the program does, its pages, words and keys, a bookmark for X, and the files in docs/."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import streamlit as st

from pages.common.components import bookmark, bookmarklet, scroll_into_view
from pages.common.layout import KEYS_CAPTION, list_keys_by_step
from pages.common.navigation import page_body
from pages.common.session import opened_by_link

_DOCS_FOLDER = Path(__file__).parents[1] / "docs"
_DOCUMENTS_FOR_USERS = ("presenting", "models", "search", "bridging", "crowd", "commands")
_DOCUMENT_LINK_PATTERN = re.compile(r"\]\((\w+)\.md(?:#[^)]*)?\)")
_FILE_LINK_PATTERN = re.compile(r"\[([^\]]+)\]\((?!https?:|help\?|#)[^)]*\)")
_OPENED_KEY, _OPENED_COUNT_KEY = "help-document", "help-documents-opened"
_PAGES = """
- **Draft**: from a post to a note and a decision.
- **Cases**: all your work. Open, share, export or delete it, or begin with a file of posts.
- **Queue** (teams): notes that wait for a moderator.
- **Supernote**: one better note made of those that a post already has.
- **Compare**: readers choose between two notes without knowing who wrote them.
- **Overview**: your work in numbers.
- **Libraries**: your own collections of sources, searched on this computer.
- **Algorithm**: see how X scores notes, and attack a note, among made-up raters.
- **Public data**: what X publishes. How one note was rated, days with many notes, and how late notes come.
"""
_GLOSSARY = """
- **AI**: a language model, on your computer or on a server. You can work without one.
- **Case**: a post with its sources, its note and your decision.
- **Check**: one of three questions about your note. Is it relevant, correct, helpful? One that is *uncertain* stops
  nothing: readers found some such notes helpful and others not.
- **Claim**: what the post says, as a statement that sources can settle.
- **NOT RUN**: a check that could not be made. It never counts as passed.
- **Side A, side B**: two groups of raters who usually disagree. Ratings alone show who is on which side.
- **Simulated readers** (the jury): made-up raters of both sides. They estimate whether X would show your note, not
  whether it is true.
- **Score** (note intercept): how helpful both sides find a note. X shows a note from 0.40 on.
- **Source**: a web page or document that we read.
- **Surge**: a day on which far more posts than usual got notes.
"""


@cache
def documents() -> dict[str, str]:
    """Return the title of each document, by its name."""
    others = sorted({path.stem for path in _DOCS_FOLDER.glob("*.md")} - {*_DOCUMENTS_FOR_USERS})
    names = (*_DOCUMENTS_FOR_USERS, *others)
    return {name: _read_document(name).split("\n", 1)[0].removeprefix("# ") for name in names}


def document(name: str) -> str:
    """Return its Markdown below the title. Links to other documents open in the app; links to files become words."""
    text = _DOCUMENT_LINK_PATTERN.sub(r"](help?document=\1)", _read_document(name).split("\n", 1)[1])
    return _FILE_LINK_PATTERN.sub(r"\1", text)


def _read_document(name: str) -> str:
    return (_DOCS_FOLDER / f"{name}.md").read_text(encoding="utf-8")


name = opened_by_link("document") or ""
if st.session_state.get(_OPENED_KEY) != name:
    st.session_state[_OPENED_KEY] = name
    st.session_state[_OPENED_COUNT_KEY] = st.session_state.get(_OPENED_COUNT_KEY, 0) + 1
if name in documents():
    with page_body(documents()[name], "From the documents of CrowdNotes."):
        # The page is the same one, so the browser keeps how far it was scrolled.
        scroll_into_view(f"document-{st.session_state[_OPENED_COUNT_KEY]}", name=documents()[name])
        st.page_link("pages/help.py", label="Back to Help", icon=":material/arrow_back:")
        st.markdown(document(name))
else:
    with page_body("Help", "What CrowdNotes does, its pages, words and keys, and a bookmark for X."):
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
        st.header("Pages", anchor=False)
        st.markdown(_PAGES)
        st.header("Words", anchor=False)
        st.markdown(_GLOSSARY)
        st.header("Keys of the Draft page", anchor=False)
        st.markdown("\n\n".join(list_keys_by_step()))
        st.caption(f"{KEYS_CAPTION} The arrow keys go through the demonstration. The queue lists keys of its own.")
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
        for heading, is_for_users in (("Read more", True), ("For teams and developers", False)):
            st.header(heading, anchor=False)
            for each, title in documents().items():
                if (each in _DOCUMENTS_FOR_USERS) is is_for_users:
                    link = {"document": each}
                    st.page_link("pages/help.py", label=title, icon=":material/description:", query_params=link)
