"""Surges on the screen: posts a day, the marked days with their words, and the posts of one.

Which posts are counted: of a language, of a health topic.

Delays on the screen: how late first notes and verdicts come, by topic, language or month.
"""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Final

import streamlit as st

from crowdnotes.public_data.database import reading
from crowdnotes.public_data.delays import Delay, Delays, Hours, delays
from crowdnotes.public_data.posts import HEALTH, Filter, gather_posts
from crowdnotes.public_data.surges import SurgePost, Surges, Term, posts_of_day, surges, trending
from crowdnotes.public_data.topics import topic_names
from crowdnotes.text.languages import LANGUAGE_NAMES
from crowdnotes.text.markdown import day, escaped
from crowdnotes.wording import say
from pages.common.chart_card import picture_card, table_with_csv
from pages.public_data_parts.open_posts import on_it, waiting_posts
from pages.public_data_parts.time_charts import hours_by_group, in_hours, posts_a_day

_BOUND: Final = "query-params"


def crowd_filter() -> Filter:
    """Draw the two boxes; what is chosen stays in the address."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        language = st.selectbox(
            say("crowd_filter.language"),
            sorted(LANGUAGE_NAMES, key=LANGUAGE_NAMES.__getitem__),
            index=None,
            placeholder=say("crowd_filter.every_language"),
            format_func=LANGUAGE_NAMES.__getitem__,
            key="language",
            width=220,
            bind=_BOUND,
        )
        topic = st.selectbox(
            say("crowd_filter.topic"),
            [HEALTH, *topic_names()],
            index=None,
            placeholder=say("crowd_filter.every_topic"),
            format_func=lambda name: say("crowd_filter.health") if name == HEALTH else name.capitalize(),
            key="topic",
            width=360,
            bind=_BOUND,
        )
    return Filter(language, topic)


_MOST_MONTHS = 18


def late_notes(index: Path) -> None:
    """Draw them."""
    chosen = crowd_filter()
    found = _delays(str(index), index.stat().st_mtime, chosen)
    st.markdown(f"**{escaped(found.sentence)}**")
    by = st.segmented_control(
        say("late_notes.by"),
        ["month", "topic", "language"],
        default="month",
        required=True,
        format_func=lambda one: say(_BY[one]),
        key="by",
        bind="query-params",
    )
    every = {"month": found.by_month, "topic": found.by_topic, "language": found.by_language}[by or "month"]
    groups = [found.overall, *(every[-_MOST_MONTHS:] if by == "month" else every)]
    foot = [say("surge_days.foot", n=found.posts, counted=found.counted)]
    for key, title, hours in (
        ("first", say("late_notes.first"), [group.to_first_note for group in groups]),
        ("verdict", say("late_notes.verdict"), [group.to_verdict for group in groups]),
    ):
        _card(key, title, groups, hours, foot)
    _never(groups)
    left_out = [
        say("surge_days.not_dated", n=found.not_dated) if found.not_dated else "",
        say("late_notes.backwards", n=found.backwards) if found.backwards else "",
    ]
    st.caption(escaped(" ".join(filter(None, left_out))))


_BY = {"month": "late_notes.month", "topic": "late_notes.topic", "language": "late_notes.language"}


@st.cache_data(show_spinner=False, max_entries=32)
def _delays(index: str, version: float, chosen: Filter) -> Delays:
    del version
    with reading(Path(index)) as connection:
        return delays(connection, chosen)


def _card(key: str, title: str, groups: list[Delay], hours: list[Hours], foot: list[str]) -> None:
    overall = hours[0]
    if overall.p50 is None or overall.p90 is None:
        st.info(escaped(f"{title}: {overall.not_run}"), icon=":material/info:")
        return
    sentence = say("late_notes.sentence", half=in_hours(overall.p50), most=in_hours(overall.p90), n=f"{overall.n:,}")
    names = [group.name for group in groups]
    picture_card(
        f"delays-{key}",
        title=title,
        sentence=sentence,
        draw=lambda plot: hours_by_group(list(zip(names, hours, strict=True)), alt=f"{title}. {sentence}", key=plot),
        rows={
            say("late_notes.group"): names,
            say("late_notes.posts"): [one.n for one in hours],
            **{
                say("late_notes.percent", percent=name[1:]): [_number(getattr(one, name)) for one in hours]
                for name in ("p25", "p50", "p75", "p90")
            },
            say("late_notes.never_left"): [
                "" if group.never.share is None else f"{group.never.share:.0%} / {group.never.n:,}" for group in groups
            ],
        },
        file=f"delays-{key}",
        signs="◆━─",
        foot=foot,
    )


def _never(groups: list[Delay]) -> None:
    """The share that never left "needs more ratings", in words."""
    overall = groups[0].never
    if overall.share is None:
        return
    st.caption(
        escaped(say("late_notes.never", share=f"{overall.share:.0%}", n=f"{overall.n:,}", young=f"{overall.young:,}"))
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


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
