"""Delays on the screen: how late first notes and verdicts come, by topic, language or month."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from crowdnotes.public_data.database import reading
from crowdnotes.public_data.delays import Delay, Delays, Hours, delays
from crowdnotes.public_data.posts import Filter
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import say
from pages.common.chart_card import picture_card
from pages.public_data_parts.time_charts import hours_by_group, in_hours
from pages.view.crowd_filter import crowd_filter

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
