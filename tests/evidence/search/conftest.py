"""A service on loopback, asked without real pauses between tries, and one way to ask any provider."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.domain import Hit
from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.search.provider import SearchProvider
from crowdnotes.evidence.search.service import Pace, Pacer, Service

MakeService = Callable[..., Service]


def ask(
    provider: SearchProvider, query: str, limit: int = 5, until: date | None = None, language: str | None = None
) -> list[Hit]:
    """What the provider finds for one query."""
    return provider.search(query, limit=limit, until=until, language=language, check=no_check)


@pytest.fixture
def make_service(httpserver: HTTPServer) -> MakeService:
    """`make_service(base_url=…, headers=…)`: the test's own server without them."""

    def make(
        base_url: str | None = None, headers: dict[str, str] | None = None, request_seconds: float = 5.0
    ) -> Service:
        return Service(
            base_url=base_url or httpserver.url_for(""),
            pacer=Pacer(Pace(1000, 1.0, 10)),
            request_seconds=request_seconds,
            user_agent="CrowdNotes/test",
            headers=headers or {},
            keyed=headers is not None,
            pause=lambda _: 0.0,
        )

    return make


@pytest.fixture
def service(make_service: MakeService) -> Service:
    """A service on the test's own server."""
    return make_service()
