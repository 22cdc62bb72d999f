"""Configure the web server before the first page: who may be served, and how people sign in.

Streamlit does the sign-in (`st.login`, OpenID Connect). `Door` comes before it: it brings a person back to where they
came from, and to a sentence where Streamlit would leave them with nothing.
"""

from __future__ import annotations

import importlib
import logging
import re
import sys
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import SplitResult, parse_qs, parse_qsl, quote, unquote, urlencode, urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request, cookie_parser
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import logger

from crowdnotes.errors import ConfigurationError, CrowdNotesError
from crowdnotes.logs import log_as_json
from crowdnotes.settings import Settings, SignIn, load_settings

_log = logging.getLogger(__name__)
OUTCOME, UNREACHABLE, FAILED = "sign-in", "unreachable", "failed"
"""In the address, behind a sign-in that came to nothing."""
VISITOR_COOKIE = "crowdnotes_visitor"
USER_COOKIE = "_streamlit_user"  # Streamlit's own: who is signed in
_RETURN_COOKIE = "crowdnotes_back"
_RETURN_COOKIE_SECONDS = 900  # for signing in at the provider
_LOGIN_PATH, _CALLBACK_PATH = "/auth/login", "/oauth2callback"  # Streamlit's
Change = Callable[[Message, MutableHeaders], None]
_MAX_RETURN_CHARACTERS = 1_500  # characters of an address to come back to; browsers keep 4,096 bytes of a cookie


def secrets() -> dict[str, Any]:
    """Return what Streamlit reads for `st.login`. Ends the start with a sentence where strangers would be let in."""
    sign_in = _settings().sign_in
    if sign_in.way is not SignIn.OPENID or sign_in.client_secret is None or sign_in.cookie_secret is None:
        return {}
    return {
        "auth": {
            "redirect_uri": f"{sign_in.public_url}/oauth2callback",
            "cookie_secret": sign_in.cookie_secret.get_secret_value(),
            "client_id": sign_in.client_id,
            "client_secret": sign_in.client_secret.get_secret_value(),
            "server_metadata_url": sign_in.metadata_url,
            "client_kwargs": {"scope": " ".join(("openid", "profile"))},  # no e-mail address: it is not asked for
        }
    }


def set_logs() -> None:
    """As lines of JSON, where that is set: those of Streamlit and its server too, which have handlers of their own."""
    if not _settings().log_json:
        return

    def as_all_others(log: logging.Logger) -> None:
        log.handlers.clear()
        log.propagate = log.name != "uvicorn.access"  # it would log every request, without its address

    log_as_json()
    logger.setup_formatter = as_all_others  # type: ignore[assignment] # its argument has another name
    logger.update_formatter()


def middleware() -> list[Middleware]:
    """Return what every request goes through first."""
    return [Middleware(Door, settings=_settings())]


def routes() -> list[Route]:
    """Return routes for those who watch the server: /healthz, the process answers; /readyz, the database does too."""
    return [Route("/healthz", _healthz), Route("/readyz", _readyz)]


async def _healthz(_: Request) -> Response:
    return PlainTextResponse("ok")


def _readyz(_: Request) -> Response:
    """Open the workspace if nobody did, which brings the database up to date. Why it is not ready is in the log."""
    from crowdnotes.workspace import check_readiness
    from pages.common.shared_workspace import shared_workspace

    try:
        warning = check_readiness(shared_workspace().opened.settings)
    except CrowdNotesError as error:
        _log.warning("not ready: %s", error)
        return PlainTextResponse("unavailable", status_code=503)
    return PlainTextResponse("\n".join(filter(None, ("ok", warning))))


def _settings() -> Settings:
    try:
        settings = load_settings()
        settings.require_safe_address(st.get_option("server.address"))
    except ConfigurationError as error:
        sys.exit(f"CrowdNotes: {error}")
    return settings


@asynccontextmanager
async def load_at_start(_: st.App) -> AsyncIterator[None]:
    """Load the program and its models while the browser still loads its part, not once a page asks for them."""
    threading.Thread(target=_load, name="load", daemon=True).start()
    yield


def _load() -> None:
    from pages.common.shared_workspace import load_models

    importlib.import_module("pages.common.navigation")  # with all that the first page needs
    with suppress(CrowdNotesError):  # the first page says it, and tries again
        load_models()


class Door:
    """ASGI middleware, see above."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and change what the sign-in answers."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            # Whatever the setting says, another server may have bound the program elsewhere.
            self._settings.require_safe_address((scope.get("server") or ("localhost",))[0])
        except ConfigurationError as error:
            await PlainTextResponse(str(error), status_code=403)(scope, receive, send)
            return
        change = self._change(scope) if scope["type"] == "http" else None
        await self._app(scope, receive, send if change is None else _send_with_change(change, send))

    def _change(self, scope: Scope) -> Change | None:
        way, path, headers = self._settings.sign_in.way, scope["path"], Headers(scope=scope)
        if way is SignIn.DEMO and visitor_in(_parse_cookies(headers)) is None:
            return _set_visitor_cookie
        if way is not SignIn.OPENID:
            return None
        if path.endswith(_LOGIN_PATH):
            origin = urlsplit(self._settings.sign_in.public_url or "")
            return partial(_remember_return_path, path.removesuffix(_LOGIN_PATH), _find_return_path(headers, origin))
        if path.endswith(_CALLBACK_PATH):
            asked = parse_qs(scope["query_string"].decode("latin-1"))
            back = _validate_local_path(unquote(_parse_cookies(headers).get(_RETURN_COOKIE, "")))
            return partial(
                _redirect_after_sign_in, path.removesuffix(_CALLBACK_PATH), back, bool({"code", "error"} & asked.keys())
            )
        return None


def visitor_in(cookies: Mapping[str, str]) -> str | None:
    """Return the number of a demo's visitor, which nobody can guess."""
    given = cookies.get(VISITOR_COOKIE, "")
    return given if re.fullmatch(r"[0-9a-f]{32}", given) else None


def _send_with_change(change: Change, send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            change(message, MutableHeaders(scope=message))
        await send(message)

    return sent


def _set_visitor_cookie(_: Message, headers: MutableHeaders) -> None:
    _set_cookie(headers, VISITOR_COOKIE, uuid.uuid4().hex, "/", None)


def _remember_return_path(base: str, back: str | None, message: Message, headers: MutableHeaders) -> None:
    """Remember where the person was; where the provider did not answer, say so on the page."""
    if message["status"] >= 400:
        message["status"] = 302
        headers["location"] = _set_outcome_in_path(back or f"{base}/", UNREACHABLE)
    elif back is not None:
        _set_cookie(headers, _RETURN_COOKIE, quote(back, safe=""), base + _CALLBACK_PATH, _RETURN_COOKIE_SECONDS)


def _redirect_after_sign_in(
    base: str, back: str | None, was_asked: bool, message: Message, headers: MutableHeaders
) -> None:
    """To where the person was, if they are signed in now. A sign-out comes by here too, and asks nothing."""
    del message
    if any(_is_cookie_set(line, USER_COOKIE) for line in headers.getlist("set-cookie")):
        headers["location"] = back or f"{base}/"
        _set_cookie(headers, _RETURN_COOKIE, "", base + _CALLBACK_PATH, 0)
    elif was_asked:
        headers["location"] = _set_outcome_in_path(back or f"{base}/", FAILED)


def _set_cookie(headers: MutableHeaders, name: str, value: str, path: str, seconds: int | None) -> None:
    made = Response()
    made.set_cookie(name, value, max_age=seconds, path=path, httponly=True, samesite="lax")
    headers.append("set-cookie", made.headers["set-cookie"])


def _find_return_path(headers: Headers, origin: SplitResult) -> str | None:
    referer = urlsplit(headers.get("referer", ""))
    if (referer.scheme, referer.netloc) != (origin.scheme, origin.netloc):
        return None
    return _validate_local_path(_set_outcome_in_path(referer.geturl(), ""))


def _set_outcome_in_path(address: str, outcome: str) -> str:
    """Return the path with that outcome in it, or without any."""
    parts = urlsplit(address)
    asked = [(name, value) for name, value in parse_qsl(parts.query) if name != OUTCOME]
    query = urlencode([*asked, (OUTCOME, outcome)] if outcome else asked)
    return f"{parts.path}?{query}" if query else parts.path


def _validate_local_path(path: str) -> str | None:
    """Return a path on this server, so that nobody is sent elsewhere; None for anything else."""
    is_here = re.fullmatch(r"/(?![/\\])[!-\[\]-~]*", path) is not None
    return path if is_here and len(path) <= _MAX_RETURN_CHARACTERS else None


def _parse_cookies(headers: Headers) -> dict[str, str]:
    return cookie_parser(headers.get("cookie", ""))


def _is_cookie_set(line: str, name: str) -> bool:
    """Return whether this header sets the cookie; one that is taken away has no value."""
    return re.match(rf'{name}=(?!""|;|$)', line) is not None
