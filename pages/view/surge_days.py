"""Surges on the screen: posts a day, the marked days with their words, and the posts of one."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import streamlit as st

from crowdnotes.public_data.database import reading
from crowdnotes.public_data.posts import Filter, gather_posts
from crowdnotes.public_data.surges import SurgePost, Surges, Term, posts_of_day, surges, trending
from crowdnotes.text.markdown import day, escaped
from crowdnotes.wording import say
from pages.common.chart_card import picture_card, table_with_csv
from pages.public_data_parts.open_posts import on_it, waiting_posts
from pages.public_data_parts.time_charts import posts_a_day
from pages.view.crowd_filter import crowd_filter

_MOST_POSTS = 20


def surge_days(index: Path) -> None:
    """Draw them."""
    chosen, version = crowd_filter(), index.stat().st_mtime
    found = _surges(str(index), version, chosen)
    if found.first_day is None or found.not_run:
        st.info(escaped(found.not_run), icon=":material/info:")
        if found.first_day is None:
            waiting_posts(index, version, chosen, None)
            return
    days = [str(found.first_day + timedelta(days=place)) for place in range(len(found.per_day))]
    foot = [say("surge_days.foot", n=found.posts, counted=found.counted)]
    picture_card(
        "surges",
        title=say("surge_days.title"),
        sentence=found.sentence or found.not_run,
        draw=lambda key: posts_a_day(found, days, alt=f"{say('surge_days.title')}. {found.sentence}", key=key),
        rows={
            say("surge_days.day"): days,
            say("surge_days.posts"): list(found.per_day),
            say("surge_days.mean"): [_number(value) for value in found.mean],
            say("surge_days.line"): [_number(value) for value in found.line],
        },
        file="surges",
        foot=foot,
    )
    left_out = [
        say("surge_days.not_dated", n=found.not_dated) if found.not_dated else "",
        say("surge_days.earlier", n=found.earlier) if found.earlier else "",
    ]
    told = [found.largest_other, say("surge_days.how", drawn=len(days)), *left_out]
    st.caption(escaped(" ".join(filter(None, told))))
    if not found.surges:
        waiting_posts(index, version, chosen, None)
        return
    strongest = sorted(found.surges, key=lambda surge: surge.mean - surge.posts)
    marked = {surge.day: surge for surge in strongest}
    wanted = st.selectbox(
        say("surge_days.choose"),
        list(marked),
        format_func=lambda at: f"{day(at)}: {say('surge_days.posts_on', n=marked[at].posts)}",
        key="surge",
        width=360,
    )
    if wanted is not None:
        _one_day(index, version, chosen, wanted)


@st.cache_data(show_spinner=False, max_entries=32)
def _surges(index: str, version: float, chosen: Filter) -> Surges:
    del version
    with reading(Path(index)) as connection:
        return surges(connection, chosen)


@st.cache_data(show_spinner=False, max_entries=64)
def _day_of(index: str, version: float, chosen: Filter, wanted: date) -> tuple[tuple[Term, ...], tuple[SurgePost, ...]]:
    del version
    with reading(Path(index)) as connection:
        gather_posts(connection, chosen)
        return trending(connection, wanted), posts_of_day(connection, wanted)


def _one_day(index: Path, version: float, chosen: Filter, wanted: date) -> None:
    terms, posts = _day_of(str(index), version, chosen, wanted)
    st.header(say("surge_days.words", day=day(wanted)), anchor=False)
    if terms:
        table_with_csv(
            {
                say("surge_days.word"): [term.term for term in terms],
                say("surge_days.in_three"): [f"{term.posts} / {term.of_posts}" for term in terms],
                say("surge_days.before"): [f"{term.before} / {term.of_before}" for term in terms],
            },
            key="surge-words",
            file=f"words-{wanted}",
        )
    else:
        st.caption(say("surge_days.no_words"))
    waiting_posts(index, version, chosen, wanted)
    st.header(say("surge_days.posts_of", day=day(wanted)), anchor=False)
    with st.container(gap="xxsmall"):
        for post in posts[:_MOST_POSTS]:
            shown = say("surge_days.shown") if post.shown else say("surge_days.not_shown")
            numbers = f"{say('surge_days.notes', n=post.notes)}, {say('note_story.ratings', n=post.ratings)}, {shown}"
            st.button(
                escaped(f"{on_it(post.first_note)} ({numbers})"),
                key=f"post-{post.post}",
                on_click=_open,
                args=(post.post,),
                type="tertiary",
                icon=":material/auto_stories:",
            )


def _open(post: int) -> None:
    st.session_state["view"] = "note"
    st.session_state["note"] = st.query_params["note"] = str(post)  # its box is not here yet to put it in the address


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
