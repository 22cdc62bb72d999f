"""Who is at the screen: signed in, on the way to it, or kept out."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from crowdnotes.cases.accounts import person_of, proxied, signed_in_at, visitor
from crowdnotes.domain import Person
from crowdnotes.errors import NotAllowedError
from crowdnotes.settings import Settings, SignIn
from crowdnotes.workspace import Workspace
from pages.common.first_sight import name_tab
from pages.common.web_server import FAILED, OUTCOME, UNREACHABLE, USER_COOKIE, visitor_in

COMPARISON = "comparison"  # in the address of a participant, who needs no account
_PARTICIPANT, _PARTICIPANT_PAGES = visitor("participant"), ("compare", "example")
_SIGNED_IN_KEY = "signed-in-as"
_MESSAGE_BY_OUTCOME = {
    UNREACHABLE: "The sign-in service did not respond. Try again in a few minutes.",
    FAILED: "The sign-in was not completed. Try again.",
}
_MESSAGE_BY_SIGN_IN_WAY = {
    SignIn.OPENID: "You are not signed in. Load this page again to sign in.",
    SignIn.PROXY: "You are not signed in. Sign in at the server in front of CrowdNotes.",
    SignIn.DEMO: "This demo needs a cookie to keep your cases. Allow it and load the page again.",
}


def signed_in_person(settings: Settings) -> Person | None:
    """Who uses this tab, as the provider, the proxy or the demo's cookie says; None for the owner of this machine.

    Raises NotAllowedError where nobody is signed in, InputError where what the provider said of them is of no use.
    """
    way, header = settings.sign_in.way, settings.sign_in.user_header
    if way is SignIn.OPENID and st.user.get("is_logged_in"):
        return person_of(st.user.to_dict())
    if header and (name := st.context.headers.get(header)):
        return proxied(name)
    if way is SignIn.DEMO and (number := visitor_in(st.context.cookies)):
        return visitor(number)
    if settings.participants_only or (COMPARISON in st.query_params and way is not SignIn.NOBODY):
        return _PARTICIPANT
    if way is SignIn.NOBODY:
        return None
    raise NotAllowedError("sign-in", _MESSAGE_BY_SIGN_IN_WAY[way])


def has_accounts(settings: Settings) -> bool:
    """Return whether people sign in, and an admin says what each may do."""
    return settings.sign_in.way in (SignIn.OPENID, SignIn.PROXY)


def require_sign_in(opened: Workspace, page: str) -> bool:
    """Return whether the person at the screen may see that page; where nobody is signed in, show the sign-in.

    Raises NotAllowedError for who was kept out.
    """
    settings = opened.settings
    if settings.sign_in.way is SignIn.OPENID and not st.user.get("is_logged_in") and COMPARISON not in st.query_params:
        _draw_sign_in(settings)
        return False
    person = signed_in_person(settings)
    if person == _PARTICIPANT:
        return page in _PARTICIPANT_PAGES or settings.participants_only
    if settings.sign_in.way is SignIn.DEMO and _SIGNED_IN_KEY not in st.session_state:
        opened.forget_visitors()
        st.session_state[_SIGNED_IN_KEY] = person
    if person is not None and has_accounts(settings):
        if st.session_state.get(_SIGNED_IN_KEY) != person:
            since = signed_in_at(st.user.to_dict()) if settings.sign_in.way is SignIn.OPENID else None
            opened.people.seen(person, settings.sign_in.first_role, since)
            st.session_state[_SIGNED_IN_KEY] = person
        opened.people.actor(person)
    st.query_params.pop(OUTCOME, None)
    return True


def sign_out(settings: Settings) -> None:
    """Draw the button that ends it here; a proxy's people sign out there."""
    if settings.sign_in.way is SignIn.OPENID and st.button("Sign out", icon=":material/logout:"):
        st.logout()


def _draw_sign_in(settings: Settings) -> None:
    """Draw the way in, and what went wrong with the last one."""
    name_tab("Sign in")
    with st.container(horizontal_alignment="center"), st.container(width=_FORM_WIDTH):
        st.title("Sign in", anchor=False)
        public = urlsplit(settings.sign_in.public_url or "")
        here = urlsplit(st.context.url or "")
        if here.netloc and (here.scheme, here.netloc) != (public.scheme, public.netloc):
            words = f"You came by {here.scheme}://{here.netloc}, where nobody can sign in. Go to {public.geturl()}"
            st.error(words, icon=":material/error:")
            return
        outcome = _MESSAGE_BY_OUTCOME.get(st.query_params.get(OUTCOME, ""))
        if outcome is None and USER_COOKIE in st.context.cookies:
            outcome = "Your sign-in has expired. Sign in again."
        if outcome is not None:
            st.error(outcome, icon=":material/error:")
        st.markdown("You will come back to this page.")
        if st.button("Sign in", type="primary", icon=":material/login:"):
            st.login()


_FORM_WIDTH = 560  # pixels
