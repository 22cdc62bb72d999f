"""Entry. `streamlit run app.py` reads it once for the server (`app`), then once for each run of a page. No logic."""

from __future__ import annotations

import gc

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def show() -> None:
    """First sight, navigation, start-up."""
    from pages.common.first_sight import is_loaded, loading_screen

    outline = loading_screen()
    # After the first sight: this imports the program, which takes seconds; a quarter more where each thousand new
    # classes are looked through for garbage.
    gc.disable()
    from pages.common.components import close_phone_menu
    from pages.common.navigation import chosen_page, may_run
    from pages.common.session import draw_announcements, notice_for, show_notice
    from pages.common.shared_workspace import load_models

    gc.enable()
    page = chosen_page()
    close_phone_menu()
    try:
        is_in = may_run(page)
    except Exception as error:  # noqa: BLE001 - shown as a notice; without a workspace no page can work
        is_loaded(outline)
        show_notice(notice_for(error))
        st.stop()
    try:
        if is_in:
            page.run()
    finally:  # also where the page asked to be run again
        draw_announcements()
        is_loaded(outline)
    load_models()


if get_script_run_ctx(suppress_warning=True) is not None:
    show()
else:
    from pages.common.web_server import load_at_start, middleware, routes, secrets, set_logs

    set_logs()
    app = st.App(__file__, secrets=secrets(), lifespan=load_at_start, middleware=middleware(), routes=routes())
