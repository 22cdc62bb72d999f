"""Posts whose notes are not shown, each ready to be begun as a case: a note of one's own, or one made from theirs."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import streamlit as st

from crowdnotes.cases import supernote_actions
from crowdnotes.domain.supernote import has_insult
from crowdnotes.notes.note_files import read_notes
from crowdnotes.public_data.database import reading
from crowdnotes.public_data.open_posts import WaitingPost, Work, notes_as_json, work
from crowdnotes.public_data.posts import Filter
from crowdnotes.text.markdown import clip, day, escaped
from pages.common.chart_card import table_with_csv
from pages.common.components import first_shown, web_link
from pages.common.session import add_notice, cases, notices
from pages.supernote_parts.given_notes import keep_faults

_PAGE_SIZE = 8
_NOTICE_AREA = "waiting"


@st.fragment
def waiting_posts(index: Path, version: float, chosen: Filter, wanted: date | None) -> None:
    """Draw them: those of the day that is looked at, or with the switch, and without such a day, of all days."""
    head, everywhere = st.container(), True
    if wanted is not None:
        everywhere = st.toggle("Posts of all days", key="all_days", bind="query-params")
    of_day = f"Posts of {day(wanted)} without a shown note" if wanted is not None and not everywhere else ""
    head.header(of_day or "Posts without a shown note", anchor=False)
    found = _load_open_posts(str(index), version, chosen, None if everywhere else wanted)
    order = "Posts of the data's last 7 days come first, then more ratings" if everywhere else "More ratings come first"
    rule = f"{order}, then nearer to being shown." if found.posts else ""
    st.caption(escaped(f"{found.sentence} {rule}".strip()))
    notices(_NOTICE_AREA)
    if not found.posts:
        return
    first = first_shown(len(found.posts), _PAGE_SIZE, "waiting-page")
    for place, post in enumerate(found.posts[first : first + _PAGE_SIZE], start=first + 1):
        _draw_open_post(index, place, post)
    with st.expander("As a table", icon=":material/table:", key="waiting-fold"):
        table_with_csv(_build_posts_table(found), key="waiting", file=f"posts-{'all' if everywhere else wanted}")


@st.cache_data(show_spinner=False, max_entries=32)
def _load_open_posts(index: str, version: float, chosen: Filter, wanted: date | None) -> Work:
    del version
    with reading(Path(index)) as connection:
        return work(connection, chosen, None if wanted is None else (wanted,))


def _draw_open_post(index: Path, place: int, post: WaitingPost) -> None:
    with st.container(border=True, gap="xxsmall", key=f"waiting-{post.post}"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center", horizontal_alignment="distribute"):
            said = on_it(post.first_note)
            st.markdown(f"**{place}.** {escaped(said)}", width="content")
            web_link(f"Post {post.post}", post.url)
        st.caption(escaped(post.why))
        with st.container(horizontal=True, gap="small"):
            if st.button("Draft a note", key=f"draft-{post.post}", icon=":material/edit_note:"):
                # The post's words are not in the public data: its address waits in the box for them.
                st.switch_page("pages/draft.py", query_params={"url": post.url})
            if st.button("Make a supernote", key=f"supernote-{post.post}", icon=":material/hub:"):
                _begin_supernote(index, post)


SHOW_INSULTS_KEY = "show-insults"


def words_of(text: str) -> str:
    """Return the first words of a stranger's note on one line, without those that insult unless a person wants them."""
    if has_insult(text) and not st.session_state.get(SHOW_INSULTS_KEY):
        return "(a note with insults, hidden)"
    return clip(" ".join(text.split()), 90)


def on_it(words: str) -> str:
    """Return a note on a post, as the post's own words are not in the public data."""
    said = words_of(words)
    return f"A note on it: {said}" if said else "(note without words)"


def _begin_supernote(index: Path, post: WaitingPost) -> None:
    try:
        with reading(index) as connection:
            content = notes_as_json(connection, post.post)
        read = read_notes(content, "index.json")
        case = supernote_actions.create_supernote(cases(), "", notes=read.notes, url=post.url)
    except Exception as error:  # noqa: BLE001 - shown as a notice, as for every act
        add_notice(_NOTICE_AREA, error)
        st.rerun()
    keep_faults(case.id, read.faults)
    st.switch_page("pages/supernote.py", query_params={"case": case.id})


def _build_posts_table(found: Work) -> dict[str, list[object]]:
    posts = found.posts
    return {
        "Post": [post.url for post in posts],
        "Notes": [post.notes for post in posts],
        "Ratings": [post.ratings for post in posts],
        "Best score": [
            "no score yet" if post.best.intercept is None else f"{post.best.intercept:.3f}" for post in posts
        ],
        "Hours since the post": ["" if post.hours is None else f"{post.hours:.0f}" for post in posts],
        "Why": [post.why for post in posts],
    }
