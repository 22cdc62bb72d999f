"""Which posts are counted: of a language, of a health topic."""

from __future__ import annotations

from typing import Final

import streamlit as st

from crowdnotes.public_data.posts import HEALTH, Filter
from crowdnotes.public_data.topics import topic_names
from crowdnotes.text.languages import LANGUAGE_NAMES
from crowdnotes.wording import say

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
