"""Entry: first sight, navigation, start-up. No logic."""

from __future__ import annotations

import gc

import streamlit as st

from pages.view.first_sight import first_sight, is_loaded

outline = first_sight()

# After the first sight: this imports the program, which takes seconds; a quarter more where each thousand new classes
# are looked through for garbage.
gc.disable()
from pages.view.components import menu_closes  # noqa: E402
from pages.view.session import chosen_page, load_models, show_notice, told, workspace  # noqa: E402

gc.enable()
page = chosen_page()
menu_closes()
try:
    workspace()
except Exception as error:  # noqa: BLE001 - told in words; without a workspace no page can work
    is_loaded(outline)
    show_notice(told(error))
    st.stop()
try:
    page.run()
finally:  # also where the page asked to be run again
    is_loaded(outline)
load_models()
