"""The demonstration pack: six invented posts, with pages of our own, that walk every path.

The pages are in assets/demonstration/pages and have addresses under the top-level domain .example,
which RFC 2606 section 2 reserves: such an address can never lead to a real site, and none of them
may be in a note that is posted. `DemonstrationFetcher` answers them in the form of a fetched
page; from there on the program treats them like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, TypeAdapter, ValidationError

from crowdnotes.domain import Case, ExistingNote, FetchOutcome, FrozenModel, Mode, Post
from crowdnotes.errors import ConfigurationError, FetchError, InputError
from crowdnotes.evidence.fetching import Page, PageFetcher, no_check
from crowdnotes.evidence.link_check import LinkAsker
from crowdnotes.evidence.ssrf_guard import check_url

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "demonstration"
_REPAIR_HINT = "Restore the folder assets/demonstration, for example with `git checkout assets`."


class ExamplePage(FrozenModel):
    """One page of the pack. `deciding` is the sentence, verbatim from the page, that matters most."""

    url: str
    file: str = Field(pattern=r"^[a-z0-9-]+\.html$")
    deciding: str


class Example(FrozenModel):
    """A post to practise on, and the pages to bring to it.

    `teaches` says in one sentence what path it walks. `tempting_note` is a note that says more than
    its source does, for trying whether the review catches it. `notes` are of others, to make one from.
    """

    id: str
    title: str
    teaches: str
    post: Post
    mode: Mode
    pages: tuple[ExamplePage, ...]
    tempting_note: str | None = None
    notes: tuple[ExistingNote, ...] = ()

    @property
    def urls(self) -> tuple[str, ...]:
        """What the contributor would paste."""
        return tuple(page.url for page in self.pages)


_EXAMPLES_ADAPTER = TypeAdapter(tuple[Example, ...])


@cache
def examples() -> tuple[Example, ...]:
    """Return all examples, in the order of teaching.

    Raises ConfigurationError when the pack is missing or damaged.
    """
    try:
        return _EXAMPLES_ADAPTER.validate_json((ASSETS / "examples.json").read_bytes())
    except OSError as error:
        raise ConfigurationError("We cannot read the demonstration examples.", _REPAIR_HINT) from error
    except ValidationError as error:
        raise ConfigurationError("The demonstration examples are damaged.", _REPAIR_HINT) from error


def example_with_notes() -> Example:
    """Return the one whose post has notes of others, to practise making one from many. Raises as `examples` does."""
    return next(example for example in examples() if example.notes)


def pasted_example(words: str, links: Sequence[str]) -> Example | None:
    """Return the example whose post and links these are, letter for letter; None for anything else."""
    return next((item for item in examples() if item.post.text == words and item.urls == tuple(links)), None)


def is_demonstration_url(url: str) -> bool:
    """Return whether the host ends in ".example", so that a note which cites it must not be posted.

    Works with or without a scheme; text that is no URL gives False.
    """
    try:
        host = urlsplit(url if "://" in url else f"//{url}").hostname or ""
    except ValueError:
        return False
    return host.rstrip(".").endswith(".example")


def page_of(url: str | None) -> ExamplePage | None:
    """Return the page of the pack at this address; None where there is none, and for every address of the real web.

    Raises ConfigurationError as `examples` does, but never for an address of the real web.
    """
    if not url or not is_demonstration_url(url):
        return None
    try:
        return _index_pages().get(_split_address(check_url(url).url))
    except (InputError, FetchError):
        return None


def example_of(case: Case) -> Example | None:
    """Return the example that a case was begun from.

    The pack is opened for cases that use its pages alone: a damaged one must not stop real work.
    """
    if not any(is_demonstration_url(url) for url in (*case.urls, case.post.url or "")):
        return None
    return next((example for example in examples() if example.post.text == case.post.text), None)


class DemonstrationFetcher:
    """A PageFetcher that answers addresses under .example from the pack and leaves the rest to `inner`."""

    def __init__(self, inner: PageFetcher) -> None:
        self._inner = inner

    def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
        """See `PageFetcher.fetch`. Nothing is looked up or sent for an address under .example.

        As on many real sites, http leads to https, and the query of an address changes nothing.
        Raises ConfigurationError when the pack is missing or damaged.
        """
        if not is_demonstration_url(url.strip()):
            return self._inner.fetch(url, check)
        try:
            target = check_url(url)
        except (InputError, FetchError):
            return self._inner.fetch(url, check)  # which refuses it too, in its own words
        check()
        now = datetime.now(UTC)
        page = _index_pages().get(_split_address(target.url))
        if page is None:
            detail = "This page does not exist (404)."
            return Page(url, target.url, FetchOutcome.NOT_FOUND, now, detail=detail)
        try:
            body = (ASSETS / "pages" / page.file).read_bytes()
        except OSError as error:
            raise ConfigurationError(f"We cannot read the demonstration page {page.file}.", _REPAIR_HINT) from error
        return Page(url, page.url, FetchOutcome.READ, now, "text/html", "utf-8", body)


class DemonstrationLinks:
    """A LinkAsker that answers addresses under .example from the pack and leaves the rest to `inner`."""

    def __init__(self, inner: LinkAsker) -> None:
        self._inner = inner

    def status(self, url: str, seconds: float, check: Callable[[], None]) -> int:
        """See `LinkAsker.status`. Nothing is looked up or sent for an address under .example."""
        if not is_demonstration_url(url.strip()):
            return self._inner.status(url, seconds, check)
        check()
        return 200 if _split_address(check_url(url).url) in _index_pages() else 404


def _index_pages() -> dict[tuple[str, str], ExamplePage]:
    return {_split_address(page.url): page for example in examples() for page in example.pages}


def _split_address(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.netloc.rstrip("."), parts.path.rstrip("/")
