"""Notes under similar posts: signposts to pages. Their words are shown, and go nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from crowdnotes.domain import Case, EarlierNote, Hit
from crowdnotes.text.markdown import day, escaped
from crowdnotes.text.note_rules import without_urls
from crowdnotes.wording import say
from pages.common.components import badge, web_link
from pages.common.session import fold, workspace

_HOW = {"": "earlier_notes.not_known", "CURRENTLY_RATED_NOT_HELPFUL": "earlier_notes.not_helpful"}
_LONGEST = 400
_SHOWN = 10
_TITLE = 44
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
                        web_link(escaped(hit.title, _TITLE), hit.url)
        if len(found) > _SHOWN:
            st.caption(say("earlier_notes.more", n=len(found) - _SHOWN))


def note_words(note: EarlierNote) -> None:
    """How it stands with X, when it was written, and its words."""
    if note.shown is None:
        how = badge(
            "gray", "visibility_off" if note.status else "help", say(_HOW.get(note.status, "earlier_notes.not_shown"))
        )
    elif note.is_shown:
        how = badge("green", "visibility", say("earlier_notes.shown", day=day(note.shown)))
    else:
        how = badge("gray", "visibility_off", say("earlier_notes.no_longer", day=day(note.shown)))
    written = say("earlier_notes.written", day=day(note.written))
    st.markdown(f"{how} :small[:gray[{written}]]")
    st.markdown(f":small[{say('earlier_notes.words', words=escaped(without_urls(note.text), _LONGEST))}]")
