"""A page that was invented for an example, as the program reads it: its address leads nowhere else."""

from __future__ import annotations

import streamlit as st

from crowdnotes.errors import InputError
from crowdnotes.evidence.demo_pages import page_of
from crowdnotes.text.markdown import day, escaped, exact
from pages.common.components import outside_text
from pages.common.navigation import page_body
from pages.common.session import workspace

_TEXT_WIDTH = 760  # pixels: lines as long as those of a page

with page_body("An invented page", "As CrowdNotes reads it. It is not on the web."):
    page = page_of(st.query_params.get("page"))
    if page is None:
        raise InputError("There is no example page at this address.", "Open it again from its source.")
    source, text = workspace().reader.read(page.url, "example")
    st.warning(
        "Publisher, places and events are invented. Never cite it.",
        icon=":material/school:",
    )
    with st.container(border=True, gap="small", width=_TEXT_WIDTH):
        st.header(escaped(source.title), anchor=False)
        facts = [exact(page.url), escaped(source.publisher or "")]
        facts.append(day(source.published) if source.published else "")
        st.caption(" · ".join(filter(None, facts)))
        paragraphs = (text or source.outcome_detail).removeprefix(source.title).strip().replace("\n", "\n\n")
        outside_text(paragraphs, look="plain", key="example-text")
