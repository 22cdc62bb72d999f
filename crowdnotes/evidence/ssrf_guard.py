"""Which addresses may be read: http and https pages on the public internet, and no others.

Two questions, asked of every hop. `check_url`: is this a plain web address, written without tricks?
`resolve_public`: do all addresses behind its name lie on the public internet? The connection is then
made to one of the very addresses that were checked (`GuardedTransport`), so that a name which changes
its answer in between (DNS rebinding) reaches nothing.
Ranges: IANA special-purpose registries (RFC 6890), RFC 6052, 8215 (NAT64), 3056, 4380, 5214 (tunnels).
"""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpcore
import httpx
import idna

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError, InputError, UnsafeUrlError
from crowdnotes.text.urls import MAX_URL

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_DEFAULT_PORTS = {"http": 80, "https": 443}
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\\\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ud800-\udfff]")
# Names that belong to the machine or the local network, whatever a resolver says (RFC 6761, 6762, 8375).
_LOCAL_SUFFIXES = ("localhost", "local", "localdomain", "internal", "home.arpa", "lan")

# Beyond what `ipaddress` knows as private, shared or reserved:
_REFUSED_V4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "168.63.129.16/32",  # Azure's metadata address is in public space
        "192.0.0.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
# Only 2000::/3 is public unicast: ::1, v4-mapped and v4-compatible, both NAT64 prefixes, fc00::/7 with
# fd00:ec2::254, fe80::/10 and ff00::/8 all lie outside. These lie inside and are refused as well.
_PUBLIC_V6 = ipaddress.IPv6Network("2000::/3")
_REFUSED_V6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments; holds Teredo (2001::/32)
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "3fff::/20",
    )
)
_ISATAP = (0x00005EFE, 0x02005EFE)


@dataclass(frozen=True, slots=True)
class Target:
    """A web address that passed: `url` is what to ask for, `host` is ASCII, lowercase, without brackets."""

    url: str
    scheme: str
    host: str
    port: int


def check_url(url: str, allowed_hosts: Collection[str] = ()) -> Target:
    """Return the parsed, normalised target of a URL as a person typed it or a server redirected to.

    `allowed_hosts` are names, or "name:port", that may lie on a private network. Nothing is looked up.
    Raises InputError for what is not a web address, UnsafeUrlError for one that must not be read.
    """
    url = url.strip(" \t\r\n")
    shown = _shown(url)
    if not url:
        raise InputError("The link is empty.", "Paste a web address such as https://www.who.int/news.")
    if len(url) > MAX_URL:
        raise InputError(f"The link is too long: {len(url):,} characters, limit {MAX_URL:,}.")
    if _FORBIDDEN.search(url):
        raise _unsafe(f"“{shown}” has spaces, backslashes or invisible characters.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise InputError(f"“{shown}” is not a valid web address.", "Check it and paste it again.") from error
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        if "://" not in url and not re.match(r"(?i)(data|javascript|file|blob|about|mailto|ftp|vbscript):", url):
            raise InputError(f"“{shown}” is not a full web address.", "It should start with https://.")
        raise _unsafe(f"“{shown}” is not an http or https address.")
    if "@" in parts.netloc:
        raise _unsafe("The link has a user name or password in it.")
    host = _normal_host(parts.netloc, shown)
    port = _DEFAULT_PORTS[scheme] if port is None else port
    if port == 0:
        raise InputError(f"“{shown}” has port 0, which does not exist.")
    _refuse_by_name(host, port, allowed_hosts)
    bracketed = f"[{host}]" if ":" in host else host
    netloc = bracketed if port == _DEFAULT_PORTS[scheme] else f"{bracketed}:{port}"
    return Target(urlunsplit((scheme, netloc, parts.path or "/", parts.query, "")), scheme, host, port)


def resolve_public(host: str, port: int, allowed_hosts: Collection[str], seconds: float) -> list[IPAddress]:
    """Return the addresses behind a name, all of them checked; at most `seconds` are spent on the lookup.

    Raises UnsafeUrlError when a single one is not public (unless the host is allowed), FetchError
    when there is none or the lookup takes too long.
    """
    addresses = _lookup(host, port, seconds)
    if not _is_allowed(host, port, allowed_hosts):
        for address in addresses:
            if not is_public(address):
                raise _unsafe(f"{host} leads to {address}, which is not on the public internet.")
    return addresses


def is_public(address: IPAddress) -> bool:
    """Whether an address is ordinary public unicast: nothing private, special, or an IPv4 address in IPv6 dress."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not any(address in network for network in _REFUSED_V4)
    is_isatap = (int(address) >> 32) & 0xFFFFFFFF in _ISATAP
    in_public = address in _PUBLIC_V6 and not any(address in network for network in _REFUSED_V6)
    return in_public and not is_isatap and address.scope_id is None


def _unsafe(message: str) -> UnsafeUrlError:
    return UnsafeUrlError(message, FetchOutcome.REFUSED)


def _shown(url: str) -> str:
    """Return a URL fit for a message: visible characters only, cut short."""
    visible = _FORBIDDEN.sub("·", url)
    return visible if len(visible) <= 80 else f"{visible[:79]}…"


def _normal_host(netloc: str, shown: str) -> str:
    """Return the host as ASCII, lowercase; odd spellings that resolvers read as numbers are refused."""
    if netloc.startswith("["):
        literal, _, rest = netloc[1:].partition("]")
        if rest and not re.fullmatch(r":\d*", rest):
            raise InputError(f"“{shown}” is not a valid web address.", "Check it and paste it again.")
        return _ipv6(literal, shown)
    name = netloc.partition(":")[0]
    if "%" in name:
        raise _unsafe(f"“{shown}” has percent codes in its host name.")
    try:
        # UTS 46 also maps full-width and circled digits and dots, so that they meet the checks below.
        host = name.lower() if name.isascii() else idna.encode(name, uts46=True).decode("ascii")
        if "xn--" in host:
            idna.decode(host)  # what spells no name would break every client that shows it
    except (idna.IDNAError, UnicodeError) as error:
        raise InputError(f"“{shown}” has no valid host name.", "Check it and paste it again.") from error
    host = host.removesuffix(".")
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise InputError(f"“{shown}” has no valid host name.", "Check it and paste it again.")
    if re.fullmatch(r"\d+|0x[0-9a-f]*", labels[-1]) and not _is_dotted_quad(host):
        raise _unsafe(f"“{shown}” hides its server's address in a number.")
    return host


def _ipv6(literal: str, shown: str) -> str:
    try:
        address = ipaddress.IPv6Address(literal)
    except ValueError as error:
        raise InputError(f"“{shown}” has no valid host name.", "Check it and paste it again.") from error
    if address.scope_id is not None:
        raise _unsafe(f"“{shown}” is a local address.")
    return str(address)


def _is_dotted_quad(host: str) -> bool:
    try:
        return str(ipaddress.IPv4Address(host)) == host
    except ValueError:
        return False


def _refuse_by_name(host: str, port: int, allowed_hosts: Collection[str]) -> None:
    """Refuse what needs no lookup: addresses written out, and names of the local network."""
    if _is_allowed(host, port, allowed_hosts):
        return
    if _is_dotted_quad(host) or ":" in host:
        if not is_public(ipaddress.ip_address(host)):
            raise _unsafe(f"{host} is not on the public internet.")
    elif any(host == suffix or host.endswith(f".{suffix}") for suffix in _LOCAL_SUFFIXES):
        raise _unsafe(f"{host} is on this machine or its local network.")


def _is_allowed(host: str, port: int, allowed_hosts: Collection[str]) -> bool:
    bracketed = f"[{host}]" if ":" in host else host
    return not {host, bracketed, f"{bracketed}:{port}"}.isdisjoint(allowed_hosts)


def _lookup(host: str, port: int, seconds: float) -> list[IPAddress]:
    """Ask getaddrinfo in a thread of its own, because it knows no timeout; without repeats, in its order."""
    found: list[IPAddress] = []
    failed: list[Exception] = []

    def look() -> None:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.extend(ipaddress.ip_address(answer[4][0]) for answer in answers)
        except (OSError, ValueError) as error:  # no such name, or a name that cannot be asked for
            failed.append(error)

    thread = threading.Thread(target=look, daemon=True, name="crowdnotes-lookup")
    thread.start()
    thread.join(max(seconds, 0.0))
    if thread.is_alive():
        raise FetchError(f"Looking up {host} took too long.", FetchOutcome.TIMED_OUT)
    if failed or not found:
        raise FetchError(
            f"We cannot reach {host}. You may be offline, or it does not exist.",
            FetchOutcome.UNREACHABLE,
        )
    return list(dict.fromkeys(found))


_SLICE = 0.1  # seconds that a cancelled job waits at most
CONNECTION_ERRORS = (httpcore.NetworkError, httpcore.ProtocolError)
_MAX_ADDRESSES = 4  # tried in turn; a site with more gives them all in each answer


class Deadline:
    """The end of one exchange. `check` may raise to end it earlier (a cancelled job)."""

    def __init__(self, seconds: float, check: Callable[[], None]) -> None:
        self._seconds = seconds
        self._ends = time.monotonic() + seconds
        self._check = check

    def left(self) -> float:
        """Seconds left, above 0. Raises FetchError when there are none, and whatever `check` raises."""
        self._check()
        left = self._ends - time.monotonic()
        if left <= 0:
            raise FetchError(f"The site did not finish within {self._seconds:g} seconds.", FetchOutcome.TIMED_OUT)
        return left

    def check(self) -> None:
        """Raise when it has passed, for those who are given something to call."""
        self.left()


class _Stream(httpcore.NetworkStream):
    """A connected socket whose reads and writes obey the deadline."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 - the deadline rules
        while True:
            self._sock.settimeout(min(_SLICE, self._deadline.left()))
            try:
                return self._sock.recv(max_bytes)
            except TimeoutError:
                continue
            except OSError as error:
                raise httpcore.ReadError(str(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        while buffer:
            self._sock.settimeout(min(_SLICE, self._deadline.left()))
            try:
                buffer = buffer[self._sock.send(buffer) :]
            except TimeoutError:
                continue
            except OSError as error:
                # httpcore goes on to read: a server may answer and hang up before it has read all.
                raise httpcore.WriteError(str(error)) from error

    def close(self) -> None:
        self._sock.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        self._sock.settimeout(self._deadline.left())
        try:
            secured = ssl_context.wrap_socket(self._sock, server_hostname=server_hostname)
        except ssl.SSLCertVerificationError as error:
            self.close()
            raise FetchError(f"The certificate of {server_hostname} is not valid.", FetchOutcome.UNREACHABLE) from error
        except TimeoutError as error:
            self.close()
            raise FetchError("The site did not connect in time.", FetchOutcome.TIMED_OUT) from error
        except OSError as error:
            self.close()
            raise FetchError("We could not make a secure connection.", FetchOutcome.UNREACHABLE) from error
        return _Stream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object" and isinstance(self._sock, ssl.SSLSocket):
            return self._sock
        return None


class _Backend(httpcore.NetworkBackend):
    """Opens connections to public addresses only, or to hosts that settings allow."""

    def __init__(self, allowed_hosts: Collection[str], connect_seconds: float, deadline: Deadline) -> None:
        self._allowed_hosts = allowed_hosts
        self._connect_seconds = connect_seconds
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        """Resolve, check all addresses, and connect to the first of them that answers."""
        wait = min(self._connect_seconds, self._deadline.left())
        addresses = resolve_public(host, port, self._allowed_hosts, wait)[:_MAX_ADDRESSES]
        timed_out = False
        for address in addresses:
            sock = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6)
            try:
                sock.settimeout(min(self._connect_seconds, self._deadline.left()))
                sock.connect((str(address), port))
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return _Stream(sock, self._deadline)
            except OSError as error:
                sock.close()
                timed_out = isinstance(error, TimeoutError)
            except BaseException:
                sock.close()
                raise
        if timed_out:
            raise FetchError(f"{host} does not answer.", FetchOutcome.TIMED_OUT)
        raise FetchError(f"{host} refuses connections on port {port}.", FetchOutcome.UNREACHABLE)


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response, pool: httpcore.ConnectionPool) -> None:
        self._response = response
        self._pool = pool

    def __iter__(self) -> Iterator[bytes]:
        yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()
        self._pool.close()


class GuardedTransport(httpx.BaseTransport):
    """One exchange with a public host, or one that is allowed. No proxies, nothing kept alive, nothing retried.

    Used without a client, which would keep cookies and follow redirects. httpcore's `CONNECTION_ERRORS` pass through.
    """

    def __init__(self, allowed_hosts: Collection[str], connect_seconds: float, deadline: Deadline) -> None:
        self._backend = _Backend(allowed_hosts, connect_seconds, deadline)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """See `httpx.BaseTransport`."""
        request.headers["Connection"] = "close"
        pool = httpcore.ConnectionPool(
            ssl_context=_ssl_context(), max_keepalive_connections=0, network_backend=self._backend
        )
        try:
            response = pool.handle_request(
                httpcore.Request(
                    method=request.method,
                    url=httpcore.URL(
                        scheme=request.url.raw_scheme,
                        host=request.url.raw_host,
                        port=request.url.port,
                        target=request.url.raw_path,
                    ),
                    headers=request.headers.raw,
                    content=request.stream,
                )
            )
        except BaseException:
            pool.close()
            raise
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(response, pool),
            extensions=response.extensions,
        )


@cache
def _ssl_context() -> ssl.SSLContext:
    context = httpx.create_ssl_context(trust_env=False)
    # As urllib3 and http.client greet a server. ClinicalTrials.gov answers 403 to a greeting that it does not know:
    # https://github.com/genomoncology/biomcp/issues/87
    context.post_handshake_auth = True
    return context


def cancellable_sleep(seconds: float, check: Callable[[], None]) -> None:
    """Wait so long, calling `check` meanwhile; what it raises ends the pause."""
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        check()
        time.sleep(min(left, _SLICE))
