"""Two views of the public data: days with many posts that got notes, and how late notes come.

Both count the posts of the chosen language and health topic.
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
from crowdnotes.wording import plural
from pages.common.chart_card import picture_card, table_with_csv
from pages.public_data_parts.open_posts import on_it, waiting_posts
from pages.public_data_parts.time_charts import hours_by_group, in_hours, posts_a_day

_BIND_TO_ADDRESS: Final = "query-params"


def crowd_filter() -> Filter:
    """Draw the two boxes; what is chosen stays in the address."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        language = st.selectbox(
            "Language",
            sorted(LANGUAGE_NAMES, key=LANGUAGE_NAMES.__getitem__),
            index=None,
            placeholder="All languages",
            format_func=LANGUAGE_NAMES.__getitem__,
            key="language",
            width=220,
            bind=_BIND_TO_ADDRESS,
        )
        topic = st.selectbox(
            "Topic",
            [HEALTH, *topic_names()],
            index=None,
            placeholder="All topics",
            format_func=lambda name: "Any health topic" if name == HEALTH else name.capitalize(),
            key="topic",
            width=360,
            bind=_BIND_TO_ADDRESS,
        )
    return Filter(language, topic)


_MAX_MONTHS = 18


def late_notes(index: Path) -> None:
    """Draw them."""
    chosen = crowd_filter()
    found = _load_delays(str(index), index.stat().st_mtime, chosen)
    by = st.segmented_control(
        "Compare by",
        ["month", "topic", "language"],
        default="month",
        required=True,
        format_func=lambda one: _LABEL_BY_GROUPING[one],
        key="by",
        bind="query-params",
    )
    every = {"month": found.by_month, "topic": found.by_topic, "language": found.by_language}[by or "month"]
    groups = [found.overall, *(every[-_MAX_MONTHS:] if by == "month" else every)]
    foot = [f"CrowdNotes, {found.posts:,} posts in X's public data ({found.counted})"]
    for key, title, hours in (
        ("first", "From the post to its first note", [group.to_first_note for group in groups]),
        ("verdict", "From the first note to the first verdict", [group.to_verdict for group in groups]),
    ):
        _draw_delay_card(key, title, groups, hours, foot)
    _draw_share_never_decided(groups)
    left_out = [
        _name_left_out("without a date", found.not_dated),
        _name_left_out("younger than the note", found.backwards),
    ]
    st.caption(escaped(" ".join(filter(None, left_out))))


def _name_left_out(which: str, posts: int) -> str:
    return f"Not counted: {plural(posts, '1 post', '{n:,} posts')} {which}." if posts else ""


_LABEL_BY_GROUPING = {"month": "Month", "topic": "Topic", "language": "Language"}


@st.cache_data(show_spinner=False, max_entries=32)
def _load_delays(index: str, version: float, chosen: Filter) -> Delays:
    del version
    with reading(Path(index)) as connection:
        return delays(connection, chosen)


def _draw_delay_card(key: str, title: str, groups: list[Delay], hours: list[Hours], foot: list[str]) -> None:
    overall = hours[0]
    if overall.p50 is None or overall.p90 is None:
        st.info(escaped(f"{title}: {overall.not_run}"), icon=":material/info:")
        return
    half, most = in_hours(overall.p50), in_hours(overall.p90)
    sentence = f"Half of {overall.n:,} posts that got one waited under {half}, nine in ten under {most}."
    names = [group.name for group in groups]
    picture_card(
        f"delays-{key}",
        title=title,
        sentence=sentence,
        draw=lambda plot: hours_by_group(list(zip(names, hours, strict=True)), alt=f"{title}. {sentence}", key=plot),
        rows={
            "Group": names,
            "Posts": [one.n for one in hours],
            **{
                f"{name[1:]}% within (hours)": [_format_number(getattr(one, name)) for one in hours]
                for name in ("p25", "p50", "p75", "p90")
            },
            "Never left “needs more ratings”": [
                "" if group.never.share is None else f"{group.never.share:.0%} / {group.never.n:,}" for group in groups
            ],
        },
        file=f"delays-{key}",
        signs="◆━─",
        foot=foot,
    )


def _draw_share_never_decided(groups: list[Delay]) -> None:
    """Say which share never left "needs more ratings"."""
    overall = groups[0].never
    if overall.share is None:
        return
    st.caption(
        escaped(
            f"{overall.share:.0%} of {overall.n:,} notes never left “needs more ratings”. {overall.young:,} of "
            "these are under 14 days old and still may."
        )
    )


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


_MAX_POSTS = 20


def surge_days(index: Path) -> None:
    """Draw them."""
    chosen, version = crowd_filter(), index.stat().st_mtime
    found = _load_surges(str(index), version, chosen)
    if found.first_day is None or found.not_run:
        st.info(escaped(found.not_run), icon=":material/info:")
        if found.first_day is None:
            waiting_posts(index, version, chosen, None)
            return
    days = [str(found.first_day + timedelta(days=place)) for place in range(len(found.per_day))]
    foot = [f"CrowdNotes, {found.posts:,} posts in X's public data ({found.counted})"]
    picture_card(
        "surges",
        title="Posts with notes, by day",
        sentence=found.sentence or found.not_run,
        draw=lambda key: posts_a_day(found, days, alt=f"Posts with notes, by day. {found.sentence}", key=key),
        rows={
            "Day": days,
            "Posts": list(found.per_day),
            "Mean before": [_format_number(value) for value in found.mean],
            "Line": [_format_number(value) for value in found.line],
        },
        file="surges",
        foot=foot,
        signs="━┅┈◆" if found.surges else "━┅┈",
    )
    left_out = [
        _name_left_out("without a date", found.not_dated),
        _name_left_out("older than the first note", found.earlier),
    ]
    st.caption(escaped(found.largest_other))
    notes = [
        (
            "A surge is a day with 5 posts or more, above the dotted line: the mean of the 28 days before plus 2.5 "
            "standard deviations. By chance about 1 day in 100 is one. Many notes can also mean many note writers."
        ),
        *left_out,
    ]
    with st.expander("What is a surge?", icon=":material/info:"):
        for said in filter(None, notes):
            st.markdown(f":small[{escaped(said)}]")
    if not found.surges:
        waiting_posts(index, version, chosen, None)
        return
    strongest = sorted(found.surges, key=lambda surge: surge.mean - surge.posts)
    marked = {surge.day: surge for surge in strongest}
    wanted = st.selectbox(
        "Surge",
        list(marked),
        format_func=lambda at: f"{day(at)}: {plural(marked[at].posts, '{n:,} post', '{n:,} posts')}",
        key="surge",
        width=360,
    )
    if wanted is not None:
        _draw_day(index, version, chosen, wanted)


@st.cache_data(show_spinner=False, max_entries=32)
def _load_surges(index: str, version: float, chosen: Filter) -> Surges:
    del version
    with reading(Path(index)) as connection:
        return surges(connection, chosen)


@st.cache_data(show_spinner=False, max_entries=64)
def _load_day(
    index: str, version: float, chosen: Filter, wanted: date
) -> tuple[tuple[Term, ...], tuple[SurgePost, ...]]:
    del version
    with reading(Path(index)) as connection:
        gather_posts(connection, chosen)
        return trending(connection, wanted), posts_of_day(connection, wanted)


def _draw_day(index: Path, version: float, chosen: Filter, wanted: date) -> None:
    terms, posts = _load_day(str(index), version, chosen, wanted)
    st.header(f"Words in the notes around {day(wanted)}", anchor=False)
    if terms:
        table_with_csv(
            {
                "Word": [term.term for term in terms],
                "Posts in 3 days": [f"{term.posts} / {term.of_posts}" for term in terms],
                "Posts in the 28 days before": [f"{term.before} / {term.of_before}" for term in terms],
            },
            key="surge-words",
            file=f"words-{wanted}",
        )
    else:
        st.caption("No word is typical of this day.")
    waiting_posts(index, version, chosen, wanted)
    with st.expander(f"All posts of {day(wanted)}, most ratings first", icon=":material/list:"):
        for post in posts[:_MAX_POSTS]:
            shown = "a note is shown" if post.shown else "no note is shown"
            numbers = (
                f"{plural(post.notes, '{n} note', '{n} notes')}, "
                f"{plural(post.ratings, '{n:,} rating', '{n:,} ratings')}, {shown}"
            )
            st.button(
                escaped(f"{on_it(post.first_note)} ({numbers})"),
                key=f"post-{post.post}",
                on_click=_open_post_story,
                args=(post.post,),
                type="tertiary",
                icon=":material/auto_stories:",
            )


def _open_post_story(post: int) -> None:
    st.session_state["view"] = "note"
    st.session_state["note"] = st.query_params["note"] = str(post)  # its box is not here yet to put it in the address
