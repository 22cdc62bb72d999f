"""Five search services and a site of long pages on loopback, as documented, each answer after a set delay."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from crowdnotes.evidence.fetching import Fetcher, Page
from crowdnotes.settings_sections import FetchSettings, SearchSettings

SERVICES = ("europe-pmc", "pubmed", "medlineplus", "wikipedia", "crossref")
_RECORDS = 10
_THINGS = "influenza vaccine asthma insulin shingles antibiotics migraine measles diabetes kidney".split()
_SAID = (
    "The review of {count} trials found that the {thing} did not raise the risk of the illness in the groups studied.",
    "Participants who received the {thing} reported {count} days of fatigue, which passed without treatment.",
    "The authors advise that people with {thing} in their history speak with a clinician before any change.",
    "No difference was seen between the groups after {count} weeks, and the confidence interval was narrow.",
)


@dataclass(frozen=True, slots=True)
class Services:
    """Where they listen: `search` are the settings that point to them, `fetcher` reads every host from the site."""

    search: SearchSettings
    fetcher: MirrorFetcher
    asked: Callable[[], int]


class MirrorFetcher:
    """Reads any public page from the site on loopback, through the real fetcher."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._real = Fetcher(FetchSettings(), (urlsplit(base).netloc,))

    def fetch(self, url: str, check: Callable[[], None] = lambda: None) -> Page:
        """The page at the same path of the site."""
        page = self._real.fetch(f"{self._base}/page{urlsplit(url).path}", check)
        return replace(page, requested_url=url, url=url)


@contextmanager
def running(delay: float, page_bytes: int) -> Iterator[Services]:
    """Start them on a free port; every request is answered `delay` seconds after it came."""
    asked = [0]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked[0] += 1
            time.sleep(delay)
            kind, body = _answer(self.path, page_bytes)
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):  # a reader that has waited long enough hangs up
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_address[1]}"
        addresses = {
            "europe_pmc_url": f"{base}/europe-pmc",
            "pubmed_url": f"{base}/pubmed",
            "medlineplus_url": f"{base}/medlineplus",
            "wikipedia_url": f"{base}/wikipedia/{{language}}",
            "crossref_url": f"{base}/crossref",
        }
        search = SearchSettings(of_providers=addresses)
        try:
            yield Services(search, MirrorFetcher(base), lambda: asked[0])
        finally:
            server.shutdown()


def _answer(path: str, page_bytes: int) -> tuple[str, bytes]:
    service = path.split("/")[1]
    seed = sum(map(ord, path))
    if service == "page":
        return "text/html; charset=utf-8", _page(seed, page_bytes)
    if service in ("medlineplus", "pubmed") and "esearch" not in path:
        return "application/xml", (_medlineplus(seed) if service == "medlineplus" else _abstracts()).encode()
    documents: dict[str, Callable[[int], object]] = {
        "europe-pmc": _europe_pmc,
        "pubmed": lambda _: {"esearchresult": {"idlist": [str(9000 + n) for n in range(_RECORDS)]}},
        "wikipedia": _wikipedia,
        "crossref": _crossref,
    }
    return "application/json", json.dumps(documents[service](seed)).encode()


def _sentence(seed: int) -> str:
    return _SAID[seed % 4].format(thing=_THINGS[seed // 4 % 10], count=seed % 89 + 3)


def _abstract(seed: int) -> str:
    return " ".join(_sentence(seed * 7 + i) for i in range(6))


def _europe_pmc(seed: int) -> object:
    found = [
        {
            "id": str(seed % 500 * 10 + n),
            "source": "MED",
            "pmid": str(seed % 500 * 10 + n + 20_000),
            "title": _sentence(seed + n),
            "abstractText": _abstract(seed + n),
            "firstPublicationDate": "2021-03-04",
        }
        for n in range(_RECORDS)
    ]
    return {"hitCount": _RECORDS, "resultList": {"result": found}}


def _abstracts() -> str:
    articles = "".join(
        f"<PubmedArticle><MedlineCitation><PMID>{9000 + n}</PMID><Article><ArticleTitle>{_sentence(n)}</ArticleTitle>"
        f"<Abstract><AbstractText>{_abstract(n)}</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>"
        for n in range(_RECORDS)
    )
    return f"<PubmedArticleSet>{articles}</PubmedArticleSet>"


def _medlineplus(seed: int) -> str:
    documents = "".join(
        f'<document rank="{n}" url="https://medlineplus.gov/topic{seed % 100 + n}.html"><content name="title">'
        f'{_sentence(seed + n)}</content><content name="FullSummary">{_abstract(seed + n)}</content></document>'
        for n in range(_RECORDS)
    )
    return f"<nlmSearchResult><list>{documents}</list></nlmSearchResult>"


def _wikipedia(seed: int) -> object:
    found = [
        {
            "title": f"{_THINGS[(seed + n) % 10]} {seed % 50}",
            "snippet": _abstract(seed + n),
            "timestamp": "2022-01-01T00:00:00Z",
        }
        for n in range(_RECORDS)
    ]
    return {"query": {"search": found}}


def _crossref(seed: int) -> object:
    found = [
        {
            "DOI": f"10.5555/{seed % 700}.{n}",
            "URL": f"https://doi.org/10.5555/{seed % 700}.{n}",
            "title": [_sentence(seed + n)],
            "abstract": f"<jats:p>{_abstract(seed + n)}</jats:p>",
            "issued": {"date-parts": [[2020, 5, 1]]},
        }
        for n in range(_RECORDS)
    ]
    return {"status": "ok", "message": {"items": found}}


def _page(seed: int, size: int) -> bytes:
    """An article among the menus, scripts and links that make up most of a real page's bytes."""
    paragraphs = "".join(f"<p>{_abstract(seed + i)}</p>" for i in range(40))
    menu = "".join(f'<li><a href="/topic/{i}">Topic {i} of this site</a></li>' for i in range(300))
    head = f"<html lang='en'><head><title>{_sentence(seed)}</title></head><body><nav><ul>{menu}</ul></nav>"
    body = f"{head}<main><article><h1>{_sentence(seed)}</h1>{paragraphs}</article></main>"
    script = "var data = [" + "1234567890," * ((size - len(body)) // 11) + "0];"
    return f"{body}<script>{script}</script></body></html>".encode()
