"""X's API for AI note writers: one signed, bounded call at a time, and a sentence for each refusal.

By the OpenAPI document 2.167 of August 2026; where 2.166 names a thing otherwise, that is tried second. No call is
tried again unless X refused it because its token ended: before posting, the caller looks whether the last call arrived.
No error and no log holds a key. An OAuth 2.0 token ends after two hours and its refresh token works once, so the newest
pair is in a file of the data folder that its owner alone may read; processes share it. What is set counts until it was
used, and again when something else is set.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx
from authlib.oauth1 import ClientAuth
from authlib.oauth2.auth import ClientAuth as AppAuth
from authlib.oauth2.auth import TokenAuth
from authlib.oauth2.rfc6749.parameters import prepare_token_request
from filelock import FileLock

from crowdnotes import __version__
from crowdnotes.errors import FetchError, InputError, XError, XFault
from crowdnotes.evidence.fetching import read_capped
from crowdnotes.evidence.ssrf_guard import CONNECTION_ERRORS, Deadline, GuardedTransport, check_url
from crowdnotes.settings import XSettings
from crowdnotes.storage.rate_limits import SharedRates, local_rate_limiter


@dataclass(frozen=True, slots=True)
class Pair:
    """One that signs calls, "" before the first, and one that brings the next; `of` is the hash of what was set."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    of: str


class Tokens:
    """Those of an account that can be renewed. Safe for threads and processes."""

    def __init__(self, settings: XSettings, folder: Path) -> None:
        given = (settings.oauth2_token, settings.oauth2_refresh_token)
        access, refresh = (one.get_secret_value() if one else "" for one in given)
        self._set = Pair(access, refresh, hashlib.sha256(f"{access}\n{refresh}".encode()).hexdigest())
        self._file = folder / "x-tokens.json"

    @property
    def access(self) -> str:
        """The newest that signs calls. Raises XError where the file cannot be read."""
        return self._newest().access

    def renew(self, used: str, ask: Callable[[str], tuple[str, str]]) -> None:
        """Have another than the one that was `used`; `ask` gets a new pair for the second token.

        Nothing is asked where another process did so meanwhile. Raises XError, the file's faults too.
        """
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self._file.with_suffix(".lock")):
                newest = self._newest()
                if newest.access == used:
                    access, refresh = ask(newest.refresh)
                    self._keep(Pair(access, refresh, newest.of))
        except OSError as error:
            raise XError(XFault.NOT_RENEWED, words=str(error.strerror)) from error

    def _newest(self) -> Pair:
        try:
            kept = Pair(**json.loads(self._file.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return self._set
        except (OSError, ValueError, TypeError):
            raise XError(XFault.NOT_RENEWED, words=self._file.name) from None  # what failed may hold a token
        return kept if kept.of == self._set.of else self._set

    def _keep(self, pair: Pair) -> None:
        """Whole or not at all: without the newest one an account has to be connected anew."""
        new = self._file.with_suffix(".new")
        new.unlink(missing_ok=True)
        with open(new, "x", opener=lambda path, flags: os.open(path, flags, 0o600), encoding="utf-8") as file:
            json.dump(asdict(pair), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._file)


_MAX_CALLS_PER_WINDOW, _WINDOW_SECONDS = 90, 900.0  # X's limit: calls in a quarter of an hour
_MAX_PAGES = 50  # of notes written, 100 each: more than an account may write in two weeks
_MAX_ANSWER_BYTES = 5_000_000
_CONNECT_SECONDS = 5.0
_MAX_SCORE = 1e9
_MAX_REASON_CHARACTERS = 200  # characters of X's own words in a sentence of ours
_FAULT_BY_STATUS = {401: XFault.KEYS, 402: XFault.CREDITS, 429: XFault.LIMIT}


@dataclass(frozen=True, slots=True)
class EligiblePost:
    """A post for which X takes notes of AI writers; `links` are those that people suggested as sources."""

    id: str
    text: str
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenNote:
    """A note of the account, as X lists it; `results` of a test note's evaluation as "ClaimOpinion: high, …"."""

    id: str
    post_id: str
    text: str
    status: str = ""
    results: str = ""


class XClient:
    """The calls. Safe to share between threads; with a `book` of theirs, processes share the limit of calls.

    With `tokens` a token of OAuth 2.0 is renewed when X takes it no longer.

    Raises XError, and with such a book StoreError; ConfigurationError has been raised before.
    """

    def __init__(
        self,
        settings: XSettings,
        clock: Callable[[], float] = time.time,
        book: SharedRates | None = None,
        tokens: Tokens | None = None,
    ) -> None:
        self._settings = settings
        self._tokens = tokens
        self._clock = clock
        self._book = book or local_rate_limiter(clock)
        secret = settings.access_secret
        if secret is not None:
            keys = (settings.api_key, settings.api_secret, settings.access_token)
            key, key_secret, token = (one.get_secret_value() for one in keys if one is not None)
            self._oauth1 = ClientAuth(key, key_secret, token, secret.get_secret_value())
        else:
            self._oauth1 = None

    @property
    def test_mode(self) -> bool:
        """Whether notes are scored by X and shown to nobody."""
        return self._settings.test_mode

    def eligible(self, most: int, selection: str = "") -> list[EligiblePost]:
        """Up to `most` posts; `selection` as "feed_size:large,feed_lang:es", X's own choice without it."""
        found: list[EligiblePost] = []
        params = {"post_selection": selection} if selection else {}
        for page in self._pages("/2/notes/search/posts_eligible_for_notes", params, most, _POST_FIELD_VARIANTS):
            found += [post for item in page if _is_id((post := _parse_eligible_post(item)).id)]
            if len(found) >= most:
                break
        return found[:most]

    def evaluate(self, post_id: str, text: str) -> float:
        """X's claim-opinion score of a text that is not sent: without a scale, may be below 0, higher is better."""
        document = {"post_id": post_id, "note_text": text}
        try:
            answer = self._ask("POST", "/2/notes/evaluate", document=document)
        except XError as error:
            if error.fault is not XFault.NOT_THERE:
                raise
            answer = self._ask("POST", "/2/evaluate_note", document=document)
        score = _require_data(answer).get("claim_opinion_score")
        if not isinstance(score, int | float) or isinstance(score, bool) or not abs(score) < _MAX_SCORE:  # NaN too
            raise XError(XFault.UNREADABLE)
        return float(score)

    def submit(self, post_id: str, text: str, classification: str, tags: list[str]) -> str:
        """Write that exact text under the post, once; gives the note's id. See `XError.surely_not`."""
        info = {"text": text, "classification": classification, "misleading_tags": tags, "trustworthy_sources": True}
        answer = self._ask("POST", "/2/notes", document={"test_mode": self.test_mode, "post_id": post_id, "info": info})
        inside = _require_data(answer)
        note_id = _text_of(inside.get("id") or inside.get("note_id"))
        if not _is_id(note_id):
            raise XError(XFault.UNREADABLE)
        return note_id

    def written(self) -> Iterator[WrittenNote]:
        """Every note of the account, test notes in test mode. Raises XError where there are more than are read."""
        fields = ({"note.fields": "id,info,status,test_result"},)
        for number, page in enumerate(self._pages("/2/notes/search/notes_written", {}, 100, fields)):
            if number >= _MAX_PAGES:
                raise XError(XFault.TOO_MANY)
            yield from (_parse_written_note(item) for item in page)

    def delete(self, note_id: str) -> None:
        """Take a note of the account away."""
        if _require_data(self._ask("DELETE", f"/2/notes/{note_id}")).get("deleted") is not True:
            raise XError(XFault.UNREADABLE)

    def _pages(
        self, path: str, params: Mapping[str, str], most: int, fields: tuple[Mapping[str, str], ...]
    ) -> Iterator[list[dict[str, Any]]]:
        """Page after page; of `fields` the first that X knows."""
        asked = {**params, "test_mode": str(self.test_mode).lower(), "max_results": str(max(1, min(most, 100)))}
        (known, *others), seen = fields, set[str]()
        while True:
            try:
                answer = self._ask("GET", path, params={**asked, **known})
            except XError as error:
                if error.fault is not XFault.REFUSED or not others:
                    raise
                known = others.pop(0)
                continue
            others = []
            data = answer.get("data", [])
            if not isinstance(data, list):
                raise XError(XFault.UNREADABLE)
            yield [item for item in data if isinstance(item, dict)]
            meta = answer.get("meta")
            token = _text_of((meta if isinstance(meta, dict) else {}).get("next_token"))
            if not token or token in seen:
                return
            seen.add(token)
            asked["pagination_token"] = token

    def _ask(
        self, method: str, path: str, *, params: Mapping[str, str] | None = None, document: object = None
    ) -> dict[str, Any]:
        token = self._token()
        try:
            return self._asked(method, path, params, document, token)
        except XError as error:
            if error.fault is not XFault.KEYS or self._tokens is None:
                raise
        self._tokens.renew(token, self._new_tokens)
        return self._asked(method, path, params, document, self._token())

    def _token(self) -> str:
        """Of OAuth 2.0; "" with the keys of OAuth 1.0a."""
        if self._tokens is None:
            token = self._settings.oauth2_token
            return token.get_secret_value() if token else ""
        if not self._tokens.access:  # only what brings one is set
            self._tokens.renew("", self._new_tokens)
        return self._tokens.access

    def _new_tokens(self, refresh: str) -> tuple[str, str]:
        """Return what signs calls from now on, and what brings the next (RFC 6749, section 6).

        The old ones are used up.
        """
        own, secret = self._settings.oauth2_client_id, self._settings.oauth2_client_secret
        app = AppAuth(own, secret.get_secret_value() if secret else "", None if secret else "none")
        headers = _build_headers("application/x-www-form-urlencoded")
        url = f"{self._settings.url}/2/oauth2/token"
        body = prepare_token_request("refresh_token", refresh_token=refresh)
        _, headers, body = app.prepare("POST", url, headers, body)
        try:
            answer = self._read(*self._sent(httpx.Request("POST", url, headers=headers, content=body.encode())))
        except XError as error:
            raise XError(XFault.NOT_RENEWED, words=error.message) from None
        access, following = answer.get("access_token"), answer.get("refresh_token")
        if not (isinstance(access, str) and access and isinstance(following, str) and following):
            raise XError(XFault.NOT_RENEWED, words="We cannot read X's answer.")
        return access, following

    def _asked(
        self, method: str, path: str, params: Mapping[str, str] | None, document: object, token: str
    ) -> dict[str, Any]:
        self._enter()
        headers = _build_headers("application/json")
        content = b"" if document is None else json.dumps(document, ensure_ascii=False).encode()
        try:
            request = httpx.Request(method, f"{self._settings.url}{path}", params=params or None, content=content)
        except (httpx.InvalidURL, UnicodeError):
            raise XError(XFault.ADDRESS) from None
        signed: Mapping[str, str]
        if self._oauth1 is not None:
            # Of a JSON body RFC 5849 signs nothing: the method, the address and its parameters alone.
            _, signed, _ = self._oauth1.prepare(method, str(request.url), headers, "")
        else:
            bearer = TokenAuth({"access_token": token, "token_type": "bearer"})
            _, signed, _ = bearer.prepare(str(request.url), headers, content)
        request.headers.update(signed)
        return self._read(*self._sent(request))

    def _sent(self, request: httpx.Request) -> tuple[httpx.Response, bytes]:
        try:
            # The address is a setting: a double of the API may lie on this machine.
            allowed = {request.url.netloc.decode("ascii"), request.url.host}
            target = check_url(self._settings.url, allowed)
            deadline = Deadline(self._settings.seconds, lambda: None)
            transport = GuardedTransport({target.host}, _CONNECT_SECONDS, deadline)
            with closing(transport.handle_request(request)) as response:
                return response, read_capped(response, _MAX_ANSWER_BYTES)
        except (FetchError, *CONNECTION_ERRORS):
            raise XError(XFault.NO_ANSWER) from None  # what failed may hold a key
        except (InputError, UnicodeError):
            raise XError(XFault.ADDRESS) from None

    def _enter(self) -> None:
        """Count a call, or raise XError where X would refuse it."""
        with self._book() as (turns, now):
            full = len(turns.begun) >= _MAX_CALLS_PER_WINDOW
            wait = max(turns.held_until, turns.begun[-_MAX_CALLS_PER_WINDOW] + _WINDOW_SECONDS if full else 0.0) - now
            if wait > 0:
                raise XError(XFault.LIMIT, minutes=wait / 60)
            turns.begun = [*turns.begun, now][-_MAX_CALLS_PER_WINDOW:]

    def _read(self, response: httpx.Response, body: bytes) -> dict[str, Any]:
        status = response.status_code
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            # A page for people, as a proxy before X gives: what X itself did is not known, but for a refusal.
            if status < 400 or status >= 500:
                raise XError(XFault.TROUBLE if status >= 500 else XFault.UNREADABLE, status=status)
            answer = {}
            if status not in _FAULT_BY_STATUS:
                raise XError(XFault.NO_JSON, status=status)
        if status < 300:
            return answer
        minutes = self._hold(response.headers.get("x-rate-limit-reset", "")) / 60 if status == 429 else 0.0
        raise _build_refusal_error(status, answer, minutes)

    def _hold(self, reset: str) -> float:
        """Ask nothing until then, by this machine's clock: seconds from now."""
        at = float(reset[:12]) if reset.isascii() and reset.isdigit() else 0.0
        here = self._clock()
        seconds = min(at - here, 86_400) if at > here else 60.0
        with self._book() as (turns, now):
            turns.held_until = now + seconds
        return seconds


def _build_headers(kind: str) -> dict[str, str]:
    return {
        "User-Agent": f"CrowdNotes/{__version__}",
        "Accept": "application/json",
        "Accept-Encoding": "gzip",
        "Content-Type": kind,
    }


_POST_FIELD_VARIANTS = tuple({f"{kind}.fields": f"note_{kind},suggested_source_links"} for kind in ("post", "tweet"))


def _build_refusal_error(status: int, answer: Mapping[str, Any], minutes: float) -> XError:
    listed = answer.get("errors")
    errors = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    problems = [answer, *errors]
    said = " ".join(
        _text_of(one.get(name)) for one in problems for name in ("type", "reason", "title", "detail", "message")
    )
    texts = (_text_of(one.get(name)) for one in problems for name in ("detail", "message", "title"))
    words = next(filter(None, texts), "")
    words = " ".join(words.split())[:_MAX_REASON_CHARACTERS] or str(status)
    if status in _FAULT_BY_STATUS:
        fault = _FAULT_BY_STATUS[status]
    elif status == 403:
        is_enrolment = "client-not-enrolled" in said or "notewriter" in said.lower().replace(" ", "")
        fault = XFault.NOT_ENROLLED if is_enrolment else XFault.FORBIDDEN
    elif status >= 500 or status < 400:
        fault = XFault.TROUBLE
    elif status == 404:
        fault = XFault.NOT_THERE
    else:
        has_note = "already" in said.lower() and "note" in said.lower()
        fault = XFault.HAS_NOTE if has_note else XFault.REFUSED
    return XError(fault, status=status, words=words, minutes=minutes)


def _require_data(answer: Mapping[str, Any]) -> dict[str, Any]:
    data = answer.get("data")
    if not isinstance(data, dict):
        raise XError(XFault.UNREADABLE)
    return data


def _text_of(value: object) -> str:
    """Return a text or number as text, "" for what is neither; half a character becomes U+FFFD: no file holds it."""
    text = str(value) if isinstance(value, str) or (isinstance(value, int) and abs(value) < 2**64) else ""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _parse_eligible_post(item: Mapping[str, Any]) -> EligiblePost:
    whole = item.get("note_post") or item.get("note_tweet")
    text = whole.get("text") if isinstance(whole, dict) else None
    links = item.get("suggested_source_links")
    return EligiblePost(
        id=_text_of(item.get("id")),
        text=_text_of(text) or _text_of(item.get("text")),
        links=tuple(filter(None, map(_text_of, links))) if isinstance(links, list) else (),
    )


def _parse_written_note(item: Mapping[str, Any]) -> WrittenNote:
    given = item.get("info")
    info: Mapping[str, Any] = given if isinstance(given, dict) else {}
    result = item.get("test_result")
    outcomes = result.get("evaluation_outcome", result) if isinstance(result, dict) else result
    listed = outcomes if isinstance(outcomes, list) else [outcomes]
    results = [
        f"{kind}: {_text_of(one.get('evaluator_score_bucket')).lower()}"
        for one in listed
        if isinstance(one, dict) and (kind := _text_of(one.get("evaluator_type")))
    ]
    return WrittenNote(
        id=_text_of(item.get("id")),
        post_id=_text_of(info.get("post_id") or item.get("post_id")),
        text=_text_of(info.get("text")),
        status=_text_of(item.get("status")),
        results=", ".join(results),
    )
