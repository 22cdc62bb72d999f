"""X's API, asked over loopback: signatures, pages, limits, and a sentence for each refusal."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import Engine

from crowdnotes.errors import X_FAULT_TEXT, ConfigurationError, XError, XFault
from crowdnotes.settings import XSettings, load_settings
from crowdnotes.storage.rate_limits import shared_rate_limiter
from crowdnotes.x_api.client import Tokens, XClient
from tests.x_server import APP, KEYS, REFUSALS, SEARCH, TOKEN, XServer, problem

_SURELY_NOT = {"no_answer": False, "trouble": False, "unreadable": False}


@pytest.fixture
def server() -> Iterator[XServer]:
    with XServer().running() as running:
        yield running


def client_of(server: XServer, **changes: object) -> XClient:
    return XClient(XSettings.model_validate({**KEYS, "url": server.url, **changes}))


def test_both_ways_to_sign_are_understood_and_wrong_keys_are_not(server: XServer) -> None:
    found = client_of(server).eligible(2, "feed_size:large,feed_lang:es")
    assert [post.id for post in found] == ["100", "101"]
    assert server.asked[0][2]["post_selection"] == "feed_size:large,feed_lang:es"
    by_token = XClient(XSettings.model_validate({"oauth2_token": TOKEN, "url": server.url}))
    assert by_token.evaluate("100", "A note “with” quotes. https://e.example") == 1.25
    for wrong in (client_of(server, access_secret="other"), client_of(server, api_key="other")):
        with pytest.raises(XError) as raised:
            wrong.evaluate("100", "A note")
        assert raised.value.fault is XFault.KEYS


@pytest.mark.parametrize("app", [APP, {"oauth2_client_id": APP["oauth2_client_id"]}])
def test_a_token_that_ended_is_renewed_once_for_all_processes(
    server: XServer, tmp_path: Path, app: dict[str, str]
) -> None:
    given = {"oauth2_token": TOKEN, "oauth2_refresh_token": server.refresh, **app, "url": server.url}
    settings = XSettings.model_validate(given)

    def client(settings: XSettings = settings) -> XClient:
        return XClient(settings, tokens=Tokens(settings, tmp_path / "data"))

    assert client().evaluate("100", "A note") == 1.25
    server.token = "another"  # two hours later
    with ThreadPoolExecutor(4) as pool:
        scores = list(pool.map(lambda one: one.evaluate("100", "A note"), [client() for _ in range(4)]))
    renewals = [path for _, path, *_ in server.asked if path == "/2/oauth2/token"]
    assert (scores, len(renewals)) == ([1.25] * 4, 1)
    [kept] = (tmp_path / "data").glob("*.json")
    assert kept.stat().st_mode & 0o077 == 0
    server.token = "a third"  # and again, after a restart
    assert client().evaluate("100", "A note") == 1.25
    # Connected anew, with what X gave then; without an access token the first call brings one.
    server.refresh = "renews-70"
    anew = XSettings.model_validate({**app, "oauth2_refresh_token": "renews-70", "url": server.url})
    assert client(anew).evaluate("100", "A note") == 1.25


def test_a_token_that_cannot_be_renewed_is_told_without_it_and_nothing_was_sent(
    server: XServer, tmp_path: Path
) -> None:
    given = {"oauth2_token": "old", "oauth2_refresh_token": "used-up", **APP, "url": server.url}
    settings = XSettings.model_validate(given)
    client = XClient(settings, tokens=Tokens(settings, tmp_path))
    for meanwhile in (lambda *_: None, lambda _, path: REFUSALS["trouble"]() if "oauth2" in path else None):
        server.meanwhile = meanwhile
        with pytest.raises(XError, match="did not renew") as raised:
            client.submit("100", "A note https://e.example", "misinformed_or_potentially_misleading", ["other"])
        assert (raised.value.fault, raised.value.surely_not) == (XFault.NOT_RENEWED, True)
        assert "used-up" not in f"{raised.value} {raised.value.next_step}"
    (tmp_path / "x-tokens.json").write_text("{")
    with pytest.raises(XError, match=r"x-tokens\.json"):
        client.evaluate("100", "A note")
    assert server.notes == []


def test_pages_are_followed_to_their_end(server: XServer) -> None:
    whole = {"text": "All of it"}
    server.posts = [{"id": str(number), "text": "Post", "note_post": whole} for number in range(120)]
    found = client_of(server).eligible(110)
    assert (len(found), found[0].text, len(server.asked)) == (110, "All of it", 2)


def test_what_the_older_document_calls_otherwise_is_asked_second(server: XServer) -> None:
    def old(method: str, path: str) -> tuple[int, dict[str, object] | bytes, dict[str, str]] | None:
        if path == SEARCH and "post.fields" in server.asked[-1][2]:
            return REFUSALS["refused"]()
        if path == "/2/notes/evaluate":
            return REFUSALS["not_there"]()
        return (200, {"data": {"claim_opinion_score": -2}}, {}) if path == "/2/evaluate_note" else None

    server.meanwhile = old
    client = client_of(server)
    assert len(client.eligible(10)) == 5
    assert client.evaluate("100", "A note") == -2


@pytest.mark.parametrize("test_mode", [True, False])
def test_a_note_is_written_listed_and_deleted_in_its_mode(server: XServer, test_mode: bool) -> None:
    client, other = client_of(server, test_mode=test_mode), client_of(server, test_mode=not test_mode)
    text = "It is not so. https://e.example/1"
    note_id = client.submit("100", text, "misinformed_or_potentially_misleading", ["factual_error"])
    assert server.posted[0]["test_mode"] is test_mode
    server.notes[0]["test_result"] = {
        "evaluation_outcome": [{"evaluator_type": "UrlValidity", "evaluator_score_bucket": "High"}]
    }
    [note] = client.written()
    assert (note.id, note.post_id, note.text, note.results) == (note_id, "100", text, "UrlValidity: high")
    assert list(other.written()) == []
    client.delete(note_id)
    assert list(client.written()) == []


@pytest.mark.parametrize("name", REFUSALS)
def test_each_refusal_is_a_sentence_of_its_own_and_holds_no_key(server: XServer, name: str) -> None:
    server.meanwhile = lambda method, path: REFUSALS[name]()
    with pytest.raises(XError) as raised:
        client_of(server).submit("100", "Text. https://e.example", "not_misleading", [])
    error = raised.value
    assert error.fault.value == name
    assert error.surely_not is _SURELY_NOT.get(name, True)
    assert error.message.startswith(X_FAULT_TEXT[XFault(name)][0].split("{", maxsplit=1)[0])
    assert error.next_step
    assert not any(secret in repr(error.__dict__) for secret in KEYS.values() if len(secret) > 3)


def test_a_server_that_is_not_there_may_have_taken_it(server: XServer) -> None:
    with pytest.raises(XError) as raised:
        client_of(server, url="http://127.0.0.1:9").submit("100", "Text", "not_misleading", [])
    assert (raised.value.fault, raised.value.surely_not) == (XFault.NO_ANSWER, False)


def test_after_a_limit_nothing_is_asked_until_x_says_so() -> None:
    now = [1_000.0]
    with XServer().running() as server:
        client = XClient(XSettings.model_validate({**KEYS, "url": server.url}), clock=lambda: now[0])
        server.meanwhile = lambda method, path: problem(429, "", x_rate_limit_reset="1600")
        for _ in range(2):
            with pytest.raises(XError, match="10 minutes"):
                client.evaluate("1", "Note")
        assert len(server.asked) == 1
        server.meanwhile = lambda method, path: None
        now[0] = 1_601.0
        assert client.evaluate("1", "Note") == 1.25


def test_the_limit_of_calls_is_kept_before_x_has_to(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> None:
    monkeypatch.setattr("crowdnotes.x_api.client._MAX_CALLS_PER_WINDOW", 3)
    with XServer(allowed=3).running() as server:
        settings = XSettings.model_validate({**KEYS, "url": server.url})
        first, second = (
            XClient(settings, book=shared_rate_limiter(engine, "calls")) for _ in range(2)
        )  # a process each
        for client in (first, second, first):
            client.evaluate("1", "Note")
        with pytest.raises(XError) as raised:
            second.evaluate("1", "Note")
        assert (raised.value.fault, len(server.asked)) == (XFault.LIMIT, 3)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"API_KEY": "k"}, "CROWDNOTES_X_API_SECRET"),
        ({**{name.upper(): "k" for name in KEYS}, "OAUTH2_TOKEN": "t"}, "not both"),
        ({"OAUTH2_REFRESH_TOKEN": "t"}, "CROWDNOTES_X_OAUTH2_CLIENT_ID"),
        ({"URL": "http://api.example.org"}, "https"),
    ],
)
def test_half_set_keys_and_open_addresses_stop_the_start(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], told: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"CROWDNOTES_X_{name}", value)
    with pytest.raises(ConfigurationError, match=told):
        load_settings()


@pytest.mark.parametrize(
    "answer",
    [
        {"data": [{"id": {"a": 1}, "text": [1], "suggested_source_links": [5, {}]}], "meta": [1]},
        {"data": [{"id": 5, "note_post": "x"}], "meta": "x"},
        {"data": [None, 7], "meta": 5},
        {"data": {"claim_opinion_score": 10**400}},
        {"data": {"claim_opinion_score": float("nan")}},
        {"data": 5, "errors": 5},
    ],
    ids=range(6),
)
def test_junk_in_an_answer_is_passed_over_or_ends_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, answer: dict[str, object]
) -> None:
    client = XClient(XSettings.model_validate({**KEYS, "url": "http://127.0.0.1:9"}))
    monkeypatch.setattr(client, "_ask", lambda *_, **__: answer)
    for ask in (
        lambda: client.eligible(5),
        lambda: list(client.written()),
        lambda: client.evaluate("1", "A note."),
        lambda: client.submit("1", "A note.", "c", []),
        lambda: client.delete("1"),
    ):
        with suppress(XError):
            ask()
    with pytest.raises(XError):
        client.evaluate("1", "A note.")


def test_only_posts_that_can_be_named_and_written_down_are_eligible(monkeypatch: pytest.MonkeyPatch) -> None:
    client = XClient(XSettings.model_validate({**KEYS, "url": "http://127.0.0.1:9"}))
    posts = [{"id": "7", "text": "Half \ud83d a sign"}, {"text": "No id"}, {"id": "\ud800"}, {"id": "a/b"}, {}]
    monkeypatch.setattr(client, "_ask", lambda *_, **__: {"data": posts})
    assert [(post.id, post.text) for post in client.eligible(5)] == [("7", "Half \ufffd a sign")]


def test_a_wait_of_a_minute_is_told_in_seconds() -> None:
    assert str(XError(XFault.LIMIT, minutes=1)).startswith("X accepts no more calls for 60 seconds.")
