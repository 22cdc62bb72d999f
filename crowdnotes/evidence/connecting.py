"""The way out to the network: each connection is resolved, checked and made here, under one deadline.

A network backend for httpcore, so that no redirect, retry or port can pass beside the guard: it
connects a plain socket to the very address that was checked, while the Host header, SNI and the
certificate stay those of the name. Every wait is cut into short slices, in which a cancelled job or
a passed deadline ends the exchange, however slowly the bytes drip.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import httpcore
import httpx

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.guard import IPAddress, resolve_public

_SLICE = 0.25  # seconds that a cancelled job waits at most
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
                # httpcore goes on to read: a server may answer and hang up before it has heard all.
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
            raise FetchError("The site did not finish its greeting in time.", FetchOutcome.TIMED_OUT) from error
        except OSError as error:
            self.close()
            raise FetchError("No secure connection could be made.", FetchOutcome.UNREACHABLE) from error
        return _Stream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object" and isinstance(self._sock, ssl.SSLSocket):
            return self._sock
        return None


class GuardedBackend(httpcore.NetworkBackend):
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
            try:
                return _Stream(self._connect(address, port), self._deadline)
            except TimeoutError:
                timed_out = True
            except OSError:
                timed_out = False
        if timed_out:
            raise FetchError(f"{host} does not answer.", FetchOutcome.TIMED_OUT)
        raise FetchError(f"{host} does not accept connections on port {port}.", FetchOutcome.UNREACHABLE)

    def _connect(self, address: IPAddress, port: int) -> socket.socket:
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.settimeout(min(self._connect_seconds, self._deadline.left()))
            sock.connect((str(address), port))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except BaseException:
            sock.close()
            raise
        return sock


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
    """One exchange over a GuardedBackend. It knows no proxies, keeps nothing alive and retries nothing."""

    def __init__(self, backend: GuardedBackend, ssl_context: ssl.SSLContext) -> None:
        self._backend = backend
        self._ssl_context = ssl_context

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """See `httpx.BaseTransport`; httpcore's exceptions pass through."""
        pool = httpcore.ConnectionPool(
            ssl_context=self._ssl_context, max_keepalive_connections=0, network_backend=self._backend
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
