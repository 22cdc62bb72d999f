"""Entry: navigation, start-up. No logic."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.view.session import chosen_page, show_notice, told, workspace

_ASSETS = Path(__file__).parent / "assets"

page = chosen_page()
st.html(_ASSETS / "page.css")
st.logo(str(_ASSETS / "logo.svg"), size="large")
try:
    workspace()
except Exception as error:  # noqa: BLE001 - told in words; without a workspace no page can work
    show_notice(told(error))
    st.stop()
page.run()
