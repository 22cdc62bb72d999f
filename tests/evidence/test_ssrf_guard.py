from __future__ import annotations

import ipaddress
import re
import socket
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError, InputError, UnsafeUrlError
from crowdnotes.evidence.fetching import Fetcher
from crowdnotes.evidence.ssrf_guard import check_url, is_public, resolve_public
from crowdnotes.settings_sections import FetchSettings
from tests.evidence.conftest import Serve
from tests.evidence.hostile_urls import HOSTILE_URLS
from tests.shared import PATIENCE

Addresses = Callable[..., list[tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[str, int]]]]


def _answer(*addresses: str) -> Addresses:
    return lambda host, port, **_: [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses
    ]


@pytest.fixture
def connects(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    seen: list[object] = []

    def record(_: socket.socket, address: object) -> None:
        seen.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", record)
    return seen


@pytest.mark.parametrize("url", HOSTILE_URLS)
def test_a_hostile_url_reaches_no_connection(url: str, connects: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    # Whatever the name looks like, the worst resolver there is sends it to this machine.
    monkeypatch.setattr(socket, "getaddrinfo", _answer("127.0.0.1"))
    with pytest.raises((UnsafeUrlError, InputError)):
        check_url(url)
    page = Fetcher(FetchSettings()).fetch(url)
    assert connects == []
    assert page.outcome in (FetchOutcome.REFUSED, FetchOutcome.UNREACHABLE)
    assert page.detail


@pytest.mark.parametrize(
    ("url", "normal", "host", "port"),
    [
        ("https://www.who.int/news?a=b#c", "https://www.who.int/news?a=b", "www.who.int", 443),
        ("  HTTP://WWW.Who.INT ", "http://www.who.int/", "www.who.int", 80),
        ("https://who.int.:443/", "https://who.int/", "who.int", 443),
        ("http://example.org:8080/x", "http://example.org:8080/x", "example.org", 8080),
        ("https://münchen.de/", "https://xn--mnchen-3ya.de/", "xn--mnchen-3ya.de", 443),
        ("https://93.184.215.14/", "https://93.184.215.14/", "93.184.215.14", 443),
        ("https://[2606:4700:0::1]/", "https://[2606:4700::1]/", "2606:4700::1", 443),
        ("https://en.wikipedia.org/wiki/Café_(x)", "https://en.wikipedia.org/wiki/Café_(x)", "en.wikipedia.org", 443),
    ],
)
def test_a_public_url_is_normalised(url: str, normal: str, host: str, port: int) -> None:
    target = check_url(url)
    assert (target.url, target.host, target.port) == (normal, host, port)


def test_the_table_of_hostile_addresses_holds_no_repeats() -> None:
    assert len(HOSTILE_URLS) == len(set(HOSTILE_URLS)) > 150


@pytest.mark.parametrize("url", HOSTILE_URLS)
def test_a_redirect_to_a_hostile_url_leaves_the_site_that_sent_it_alone(
    url: str, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = re.sub(rb"[\x00\r\n]", b"", url.encode("utf-8", "surrogatepass"))  # which no header can hold
    answer = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n"
    port = int(serve(lambda to: to.sendall(answer)).rsplit(":", 1)[1].strip("/"))
    went: set[object] = set()
    connect = socket.socket.connect

    def only_there(sock: socket.socket, address: object) -> None:
        went.add(address)
        connect(sock, ("127.0.0.1", port))

    monkeypatch.setattr(socket.socket, "connect", only_there)
    monkeypatch.setattr(socket, "getaddrinfo", _answer("127.0.0.1"))
    page = Fetcher(FetchSettings(), (f"127.0.0.1:{port}",)).fetch(f"http://127.0.0.1:{port}/")
    assert went == {("127.0.0.1", port)}
    assert page.outcome in (FetchOutcome.REFUSED, FetchOutcome.UNREACHABLE)
    assert page.detail


def test_a_private_host_can_be_allowed_by_name_or_by_name_and_port() -> None:
    assert check_url("http://wiki.local/", ("wiki.local",)).host == "wiki.local"
    assert check_url("http://WIKI.local:8080/", ("wiki.local:8080",)).port == 8080
    assert check_url("http://[::1]:9/", ("[::1]:9",)).host == "::1"
    with pytest.raises(UnsafeUrlError):
        check_url("http://wiki.local:22/", ("wiki.local:8080",))
    with pytest.raises(UnsafeUrlError):
        check_url("http://evil.wiki.local/", ("wiki.local",))


def test_a_word_without_a_scheme_and_an_overlong_url_are_input_errors_that_say_why() -> None:
    for url, says in (("cdc.gov/flu", "https://"), ("https://who.int/" + "a" * 100_000, "too long")):
        with pytest.raises(InputError, match=says):
            check_url(url)


@pytest.mark.parametrize(
    "addresses",
    [
        ("10.0.0.1",),
        ("93.184.215.14", "127.0.0.1"),
        ("93.184.215.14", "192.168.0.1"),
        ("::ffff:10.0.0.1",),
        ("fe80::1%lo",),
    ],
)
def test_one_private_address_among_the_answers_refuses_the_name_and_nothing_is_connected_to(
    addresses: tuple[str, ...], connects: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", _answer(*addresses))
    with pytest.raises(UnsafeUrlError) as refused:
        resolve_public("rebind.example.org", 443, (), 1.0)
    assert refused.value.outcome is FetchOutcome.REFUSED
    assert Fetcher(FetchSettings()).fetch("https://rebind.example.org/").outcome is FetchOutcome.REFUSED
    assert connects == []


def test_a_name_that_changes_its_answer_connects_to_the_checked_address_only(
    connects: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["93.184.215.14", *["127.0.0.1"] * 50])

    def rebinding(host: str, port: int, **_: object) -> object:
        return _answer(next(answers))(host, port)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    page = Fetcher(FetchSettings()).fetch("http://rebind.example.org/")
    assert connects == [("93.184.215.14", 80)]
    assert page.outcome is FetchOutcome.UNREACHABLE


def test_a_lookup_that_hangs_times_out_and_a_name_without_a_server_is_unreachable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given_up = threading.Event()

    def slow(*_: object, **__: object) -> list[object]:
        given_up.wait(PATIENCE)
        return []

    def unknown(*_: object, **__: object) -> object:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    with pytest.raises(FetchError) as failed:
        resolve_public("slow.example.org", 443, (), 0.05)
    given_up.set()
    assert failed.value.outcome is FetchOutcome.TIMED_OUT
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(FetchError, match=r"We cannot reach nosuch\.example\. You may be offline, or it does not exist"):
        resolve_public("nosuch.example", 443, (), 1.0)


@given(
    st.text()
    | st.text().map("http://{}".format)
    | st.from_regex(r"https?://[\w.:@%\[\]\\-]{1,40}(/\w*)?", fullmatch=True)
)
def test_any_text_is_either_a_target_or_a_sentence(text: str) -> None:
    try:
        target = check_url(text)
    except (UnsafeUrlError, InputError) as error:
        assert error.message
        assert not any(character in error.message for character in "\x00\n\u202e")
    else:
        assert target.url.startswith(f"{target.scheme}://")
        assert target.host.isascii()
        assert check_url(target.url) == target


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_in_ipv6_dress_is_never_public(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    for prefix in ("::ffff:0:0", "::", "64:ff9b::", "64:ff9b:1::", "2a00:1450::5efe:0:0", "2a00:1450::200:5efe:0:0"):
        assert not is_public(ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) | number))
    assert not is_public(ipaddress.IPv6Address((0x2002 << 112) | (number << 80)))


@given(st.ip_addresses())
def test_whatever_python_calls_not_global_is_refused(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert not is_public(address)
