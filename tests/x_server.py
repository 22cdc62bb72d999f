"""A double of X's API for note writers on loopback, by the OpenAPI document 2.167, with its refusals and limits.

Signatures of OAuth 1.0a are checked by RFC 5849 here, without the library that makes them.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

KEYS = {"api_key": "app", "api_secret": "app&secret", "access_token": "7-user", "access_secret": "user secret"}
TOKEN = "user-token"
APP = {"oauth2_client_id": "the-app", "oauth2_client_secret": "of the app"}
SEARCH = "/2/notes/search/posts_eligible_for_notes"
Answer = tuple[int, dict[str, Any] | bytes, dict[str, str]]


def problem(status: int, detail: str, kind: str = "about:blank", **headers: str) -> Answer:
    """An answer that refuses, as RFC 7807 has it."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"title": "No", "type": kind, "detail": detail, "status": status}, named


REFUSALS: dict[str, Callable[[], Answer]] = {
    "keys": lambda: problem(401, "Unauthorized"),
    "credits": lambda: problem(402, "No credits.", "https://api.x.com/2/problems/credits-depleted"),
    "not_enrolled": lambda: problem(403, "Enrol.", "https://api.x.com/2/problems/client-not-enrolled"),
    "forbidden": lambda: problem(403, "Your app may only read."),
    "limit": lambda: problem(429, "Too Many Requests", x_rate_limit_reset=str(int(time.time()) + 300)),
    "refused": lambda: problem(400, "One or more parameters to your request was invalid."),
    "not_there": lambda: problem(404, "Not found"),
    "no_json": lambda: (403, b"<html>Are you a robot?</html>", {}),
    "trouble": lambda: problem(503, "Over capacity"),
    "unreadable": lambda: (200, b"<html>Hello</html>", {}),
}


class XServer:
    """`posts` are eligible, `notes` were written. `meanwhile` may answer in the place of the server, or before it."""

    def __init__(self, *, allowed: int = 90) -> None:
        self.posts: list[dict[str, Any]] = [{"id": str(100 + number), "text": f"Post {number}"} for number in range(5)]
        self.notes: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str, dict[str, str], Any]] = []
        self.meanwhile: Callable[[str, str], Answer | None] = lambda method, path: None
        self.after: Callable[[str, str], Answer | None] = lambda method, path: None
        self.allowed = allowed
        self.token, self.refresh = TOKEN, "renews-1"
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                server._serve(self)

            do_POST = do_DELETE = do_GET  # noqa: N815

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def posted(self) -> list[Any]:
        """What was to be written, call by call."""
        return [body for method, path, _, body in self.asked if (method, path) == ("POST", "/2/notes")]

    @contextmanager
    def running(self) -> Iterator[XServer]:
        thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            self._http.server_close()
            thread.join()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        params = dict(parse_qsl(parts.query))
        length = int(handler.headers.get("Content-Length") or 0)
        sent = handler.rfile.read(length)
        is_form = handler.headers.get("Content-Type") == "application/x-www-form-urlencoded"
        body = dict(parse_qsl(sent.decode())) if is_form else json.loads(sent) if length else None
        signature = handler.headers.get("Authorization", "")
        with self._lock:
            self.asked.append((handler.command, parts.path, params, body))
            many = len(self.asked) > self.allowed
        status, said, headers = (
            (REFUSALS["limit"]() if many else None)
            or self.meanwhile(handler.command, parts.path)
            or (self._renewed(body, signature) if parts.path == "/2/oauth2/token" else None)
            or (None if self._knows(handler, signature) else REFUSALS["keys"]())
            or self._answer(handler.command, parts.path, params, body)
        )
        status, said, headers = self.after(handler.command, parts.path) or (status, said, headers)
        content = said if isinstance(said, bytes) else json.dumps(said).encode()
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    def _knows(self, handler: BaseHTTPRequestHandler, signature: str) -> bool:
        if signature.startswith("Bearer "):
            return signature == f"Bearer {self.token}"
        given = {name: unquote(value) for name, value in re.findall(r'(\w+)="([^"]*)"', signature)}
        signed = given.pop("oauth_signature", "")
        expected = oauth1_signature(handler.command, f"{self.url}{handler.path}", given)
        known = (given.get("oauth_consumer_key"), given.get("oauth_token")) == (KEYS["api_key"], KEYS["access_token"])
        return known and hmac.compare_digest(signed, expected)

    def _renewed(self, form: Any, signature: str) -> Answer:
        """Two new tokens for the second one, which is taken once (RFC 6749, section 6)."""
        app = base64.b64encode(":".join(APP.values()).encode()).decode()
        is_app = signature == f"Basic {app}" or form.get("client_id") == APP["oauth2_client_id"]
        with self._lock:
            if not is_app or form.get("grant_type") != "refresh_token" or form.get("refresh_token") != self.refresh:
                return 400, {"error": "invalid_request", "message": "Value passed for the token was invalid."}, {}
            number = int(self.refresh.rpartition("-")[2]) + 1
            self.token, self.refresh = f"{TOKEN}-{number}", f"renews-{number}"
            given = {"access_token": self.token, "refresh_token": self.refresh}
        return 200, {"token_type": "bearer", "expires_in": 7200, "scope": "offline.access", **given}, {}

    def _answer(self, method: str, path: str, params: dict[str, str], body: Any) -> Answer:
        if method == "GET" and params.get("test_mode") not in ("true", "false"):
            return REFUSALS["refused"]()
        if (method, path) == ("GET", SEARCH):
            return self._page(self.posts, params)
        if (method, path) == ("GET", "/2/notes/search/notes_written"):
            wanted = params["test_mode"] == "true"
            mine = [{k: v for k, v in note.items() if k != "test"} for note in self.notes if note["test"] is wanted]
            return self._page(mine, params)
        if (method, path) == ("POST", "/2/notes/evaluate"):
            return (200, {"data": {"claim_opinion_score": 1.25}}, {}) if set(body) == _EVALUATED else problem(400, "no")
        if (method, path) == ("POST", "/2/notes"):
            return self._write(body)
        if method == "DELETE":
            left = [note for note in self.notes if f"/2/notes/{note['id']}" != path]
            found, self.notes = len(left) < len(self.notes), left
            return (200, {"data": {"deleted": True}}, {}) if found else REFUSALS["not_there"]()
        return REFUSALS["not_there"]()

    def _write(self, body: Any) -> Answer:
        info = body.get("info", {})
        if set(body) != {"test_mode", "post_id", "info"} or set(info) != _INFO or "http" not in info["text"]:
            return problem(400, "One or more parameters to your request was invalid.")
        misled = info["classification"] == "misinformed_or_potentially_misleading"
        if misled is not bool(info["misleading_tags"]) or not _TAGS.issuperset(info["misleading_tags"]):
            return problem(400, "misleading_tags")
        with self._lock:
            for note in self.notes:
                if (note["info"]["post_id"], note["test"]) == (body["post_id"], body["test_mode"]):
                    return problem(400, f"User already created a note {note['id']} for this post.")
            note_id = str(9000 + len(self.notes))
            kept = {"id": note_id, "test": body["test_mode"], "info": info | {"post_id": body["post_id"]}}
            self.notes.insert(0, kept | {"status": "needs_more_ratings"})
        return 201, {"data": {"id": note_id}}, {}

    @staticmethod
    def _page(items: list[dict[str, Any]], params: dict[str, str]) -> Answer:
        start, size = int(params.get("pagination_token", "0")), int(params["max_results"])
        page, meta = items[start : start + size], {"result_count": len(items[start : start + size])}
        more = {"next_token": str(start + size)} if start + size < len(items) else {}
        return 200, {"data": page, "meta": meta | more}, {}


def oauth1_signature(method: str, url: str, oauth: dict[str, str]) -> str:
    """HMAC-SHA1 by RFC 5849, 3.4, with the keys of `KEYS`; of a JSON body nothing is signed."""
    parts = urlsplit(url)
    pairs = [*parse_qsl(parts.query, keep_blank_values=True), *oauth.items()]
    normal = "&".join(f"{key}={value}" for key, value in sorted((_quoted(k), _quoted(v)) for k, v in pairs))
    base = "&".join(map(_quoted, (method, f"{parts.scheme}://{parts.netloc}{parts.path}", normal)))
    key = f"{_quoted(KEYS['api_secret'])}&{_quoted(KEYS['access_secret'])}"
    return base64.b64encode(hmac.new(key.encode(), base.encode(), hashlib.sha1).digest()).decode()


def _quoted(value: str) -> str:
    return quote(value, safe="-._~")


_EVALUATED = {"post_id", "note_text"}
_INFO = {"text", "classification", "misleading_tags", "trustworthy_sources"}
_TAGS = frozenset(
    "disputed_claim_as_fact factual_error manipulated_media misinterpreted_satire missing_important_context "
    "outdated_information other".split()
)
