"""Pages on loopback that are fetched through a cache."""

from __future__ import annotations

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crowdnotes.evidence.fetching import Fetcher
from crowdnotes.evidence.page_cache import PageCache
from crowdnotes.settings import FetchSettings

HTML = "<html><body><p>Vaccines are tested.</p></body></html>"


HOST = ("127.0.0.1",)


def caching_fetcher(cache: PageCache | None, max_bytes: int = 1_000_000) -> Fetcher:
    return Fetcher(FetchSettings(max_bytes=max_bytes, total_seconds=20.0), HOST, cache)


def serve_page(
    httpserver: HTTPServer, headers: dict[str, str], status: int = 200, path: str = "/page"
) -> list[Request]:
    seen: list[Request] = []

    def answer(request: Request) -> Response:
        seen.append(request)
        if "ETag" in headers and request.headers.get("If-None-Match") == headers["ETag"]:
            return Response(status=304, headers=headers)
        return Response(HTML, status=status, content_type="text/html", headers=headers)

    httpserver.expect_request(path).respond_with_handler(answer)
    return seen
