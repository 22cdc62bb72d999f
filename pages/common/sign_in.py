"""Who is at the screen: signed in, on the way to it, or kept out."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from crowdnotes.cases.accounts import person_of, proxied, visitor
from crowdnotes.domain import Person
from crowdnotes.errors import NotAllowedError
from crowdnotes.settings import Settings, SignIn
from crowdnotes.wording import say
from crowdnotes.workspace import Workspace
from pages.common.web_server import FAILED, OUTCOME, UNREACHABLE, USER_COOKIE, visitor_in

COMPARISON = "comparison"  # in the address of a participant, who needs no account
_PARTICIPANT, _FOR_PARTICIPANTS = visitor("participant"), ("compare", "example")
_SEEN = "signed-in-as"
_OUTCOMES = {UNREACHABLE: "sign_in.unreachable", FAILED: "sign_in.failed"}
_NEEDS = {
    SignIn.OPENID: "sign_in.needed",
    SignIn.PROXY: "sign_in.proxy_silent",
    SignIn.DEMO: "sign_in.needs_cookie",
}


def at_the_screen(settings: Settings) -> Person | None:
    """Who uses this tab, as the provider, the proxy or the demo's cookie says; None for the owner of this machine.

    Raises NotAllowedError where nobody is signed in, InputError where what was told of them is of no use.
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
    raise NotAllowedError("sign-in", say(_NEEDS[way]))


def has_accounts(settings: Settings) -> bool:
    """Whether people sign in, and an admin says what each may do."""
    return settings.sign_in.way in (SignIn.OPENID, SignIn.PROXY)


def let_in(opened: Workspace, page: str) -> bool:
    """Whether that page may be run for whoever is at the screen; where nobody is, the sign-in is shown.

    Raises NotAllowedError for who was kept out.
    """
    settings = opened.settings
    if settings.sign_in.way is SignIn.OPENID and not st.user.get("is_logged_in") and COMPARISON not in st.query_params:
        _sign_in(settings)
        return False
    person = at_the_screen(settings)
    if person == _PARTICIPANT:
        return page in _FOR_PARTICIPANTS or settings.participants_only
    if settings.sign_in.way is SignIn.DEMO and _SEEN not in st.session_state:
        opened.forget_visitors()
        st.session_state[_SEEN] = person
    if person is not None and has_accounts(settings):
        if st.session_state.get(_SEEN) != person:
            opened.people.seen(person, settings.sign_in.first_role)
            st.session_state[_SEEN] = person
        opened.people.actor(person)
    st.query_params.pop(OUTCOME, None)
    return True


def sign_out(settings: Settings) -> None:
    """The button that ends it here; a proxy's people sign out there."""
    if settings.sign_in.way is SignIn.OPENID and st.button(say("sign_in.out"), icon=":material/logout:"):
        st.logout()


def _sign_in(settings: Settings) -> None:
    """The way in, and what went wrong with the last one."""
    with st.container(horizontal_alignment="center"), st.container(width=_WIDTH):
        st.title(say("sign_in.title"), anchor=False)
        public = urlsplit(settings.sign_in.public_url or "")
        here = urlsplit(st.context.url or "")
        if here.netloc and (here.scheme, here.netloc) != (public.scheme, public.netloc):
            words = say("sign_in.other_address", here=f"{here.scheme}://{here.netloc}", there=public.geturl())
            st.error(words, icon=":material/error:")
            return
        outcome = _OUTCOMES.get(st.query_params.get(OUTCOME, ""))
        if outcome is None and USER_COOKIE in st.context.cookies:
            outcome = "sign_in.expired"
        if outcome is not None:
            st.error(say(outcome), icon=":material/error:")
        st.markdown(say("sign_in.about"))
        if st.button(say("sign_in.button"), type="primary", icon=":material/login:"):
            st.login()


_WIDTH = 560  # pixels
