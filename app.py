"""Entry: page config, navigation, start-up. No logic."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.view.session import chosen_page, show_notice, told, workspace

_ASSETS = Path(__file__).parent / "assets"

st.set_page_config(
    page_title="CrowdNotes", page_icon=str(_ASSETS / "icon.svg"), layout="wide", initial_sidebar_state="collapsed"
)
st.html(_ASSETS / "page.css")
st.logo(str(_ASSETS / "logo.svg"), size="large")
page = chosen_page()
try:
    workspace()
except Exception as error:  # noqa: BLE001 - told in words; without a workspace no page can work
    show_notice(told(error))
    st.stop()
page.run()
