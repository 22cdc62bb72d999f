"""Notes under similar posts: signposts to pages. Their words are shown, and go nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from crowdnotes.domain import Case, EarlierNote, Hit
from crowdnotes.text.markdown import day, escaped, host
from crowdnotes.text.note_rules import without_urls
from crowdnotes.words import say
from pages.view.components import web_link
from pages.view.session import fold, workspace

_LONGEST = 400
_SHOWN = 10
_LINKS = 3


def earlier_notes(case: Case) -> None:
    """Folded: the notes by which pages were found, those that X showed first. Nothing where there are none."""
    found = workspace().service.earlier_notes(case)
    if found:
        fold(say("earlier_notes.title", n=len(found)), f"notes-{case.id}", "signpost", partial(_notes, found))


def _notes(found: Sequence[tuple[EarlierNote, tuple[Hit, ...]]]) -> None:
    with st.container(key="earlier-notes", gap="small"):
        st.caption(say("earlier_notes.about"))
        for note, pages in found[:_SHOWN]:
            with st.container(gap=None):
                note_words(note)
                with st.container(horizontal=True, gap="small"):
                    for hit in pages[:_LINKS]:
                        web_link(escaped(host(hit.url), 40), hit.url)
        if len(found) > _SHOWN:
            st.caption(say("earlier_notes.more", n=len(found) - _SHOWN))


def note_words(note: EarlierNote) -> None:
    """How it stands with X, when it was written, and its words."""
    if note.shown is not None:
        how = f":green-badge[:material/visibility: {say('earlier_notes.shown', day=day(note.shown))}]"
    else:
        how = f":gray-badge[{say('earlier_notes.not_shown' if note.status else 'earlier_notes.not_known')}]"
    written = say("earlier_notes.written", day=day(note.written))
    st.markdown(f"{how} :small[:gray[{written}]]")
    st.markdown(f":small[“{escaped(without_urls(note.text), _LONGEST)}”]")
