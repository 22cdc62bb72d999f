"""Which pages are no evidence (home pages, contents, search results, log-in pages), and which few hits are read.

Decided from the address before anything is fetched, and from the page itself afterwards. Of an archived copy
the original's address is judged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qsl, unquote, urlsplit

from crowdnotes.domain import SITE_CLOSED, TO_CONTENTS, TO_HOME, TO_SECTION, Aim, FetchOutcome, Hit, Query
from crowdnotes.engines import Brief, Engine
from crowdnotes.engines.base import MOST_OFFERED
from crowdnotes.errors import EngineError, FetchError
from crowdnotes.evidence.duplicates import spread_over_topics
from crowdnotes.evidence.reading.document import Document
from crowdnotes.evidence.source_types import original_of
from crowdnotes.text.urls import MAX_URL, canonical_url


class PageKind(StrEnum):
    """What a page is that is no evidence."""

    HOME = "home"
    SEARCH = "search"
    LOG_IN = "log-in"
    CONTENTS = "contents"


_SENTENCE_BY_KIND = {
    PageKind.HOME: "This is a home page, which changes daily. Link to the page that says it.",
    PageKind.SEARCH: "These are search results, and readers may see others. Link to the page itself.",
    PageKind.LOG_IN: "This is a log-in page: readers see no evidence.",
    PageKind.CONTENTS: "This is a table of contents. Link to the page that says it.",
}
_REDIRECT_SENTENCE_BY_KIND = {
    PageKind.HOME: "The link leads to the home page: the page is probably gone.",
    PageKind.SEARCH: "The link leads to search results: the page is probably gone.",
    PageKind.LOG_IN: "The link leads to a log-in page: readers need an account.",
    PageKind.CONTENTS: "The link leads to a table of contents: the page is probably gone.",
}
_MAX_FORM_PAGE_CHARACTERS = 500  # characters; a page of text that also has a log-in box is longer

_LANGUAGE_CODES = (
    "ar bg bn cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv ms nl no pl pt ro ru sk sl sr sv sw th tr"
    " uk ur vi zh".replace(" ", "|")
)
_HOME_PATH_PATTERN = re.compile(
    rf"/(?:(?:{_LANGUAGE_CODES})(?:[-_][a-z]{{2}})?(?:\.html?)?/?)?"
    r"(?:(?:index|home|default|homepage)(?:\.\w{2,5})?/?)?",
    re.IGNORECASE,
)
_SEARCH_STEPS = frozenset("search suche buscar busca rechercher zoeken special:search search-results".split())
# Words for pages as well (a trial's results, a research institute): they count only where something is asked for.
_MAYBE_SEARCH_STEPS = frozenset("results recherche ricerca s".split())
_SEARCH_FIELDS = frozenset(
    "q query s search searchterm search_query searchquery term terms keyword keywords text k wd p qs phrase "
    "searchtext".split()
)
_MAIN_PAGE_PATTERN = re.compile(
    r"/wiki/(?:Main_Page|Wikipedia:Hauptseite|Wikipédia:Accueil_principal|Wikipedia:Portada)/?"
)
_MEDIAWIKI_SEARCH_PATTERN = re.compile(r"/(?:wiki/|w/)?Special:Search(?:/.*)?", re.IGNORECASE)
_LANGUAGE_FIELDS = frozenset("lang language locale hl".split())
# Engines whose results lie at a path that others use for pages: host ending and beginning of the path.
_SEARCH_ENGINES = (
    (re.compile(r"(?:^|\.)duckduckgo\.com$"), "/"),
    (re.compile(r"(?:^|\.)baidu\.com$"), "/s"),
    (re.compile(r"(?:^|\.)scholar\.google\.[a-z.]+$"), "/scholar"),
    (re.compile(r"(?:^|\.)google\.[a-z.]+$"), "/search"),
    (re.compile(r"(?:^|\.)google\.[a-z.]+$"), "/webhp"),
    (re.compile(r"(?:^|\.)pubmed\.ncbi\.nlm\.nih\.gov$"), "/"),
    (re.compile(r"(?:^|\.)ncbi\.nlm\.nih\.gov$"), "/pmc"),
    (re.compile(r"(?:^|\.)yandex\.[a-z.]+$"), "/search"),
)
_LOG_IN_STEPS = frozenset(
    "login log-in log_in signin sign-in sign_in logon wp-login wp-login.php login.php login.aspx login.html signup"
    " sign-up register sso oauth oauth2 authwall servicelogin showlogin".split()
)
# Where a step at the end says it, though it is a word for pages elsewhere: a host that only serves accounts.
_ACCOUNT_HOST_PATTERN = re.compile(r"^(?:login|signin|sign-in|sso|idp|auth|accounts|account)\.")
_ACCOUNT_STEPS = _LOG_IN_STEPS | frozenset(
    "authorize auth authenticate checkpoint identifier saml saml2 session sessions password".split()
)
_CONTENTS_STEPS = frozenset("toc contents table-of-contents table_of_contents sitemap site-map a-z-index".split())
_PAGE_ENDING_PATTERN = re.compile(r"\.(?:\w?html?|aspx?|php|xml)$")
_SECTION_PATH_PATTERN = re.compile(r"/[a-z]{2,24}\d?[a-z]{0,3}/?", re.IGNORECASE)  # one word, as in /rabies/
# Closed for good: a reader finds another site's page there, or none.
_CLOSED_HOSTS = frozenset(
    {
        "nihseniorhealth.gov",  # 2017
        "guideline.gov",  # 2018
        "qualitymeasures.ahrq.gov",  # 2018
        "toxnet.nlm.nih.gov",  # 2019
    }
)
_RETURN_FIELDS = frozenset("next continue redirect redirect_uri redirect_url return_to returnurl response_type".split())


def kind_of_address(url: str) -> PageKind | None:
    """Return what a link leads to as far as its address shows; None for an ordinary page, or no link at all."""
    address = canonical_url(original_of(url.strip()))  # without tracking parameters
    if len(address) > MAX_URL:
        return None
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return None
    if not host:
        return None
    path = unquote(parts.path)
    steps = [step.lower() for step in path.split("/") if step]
    fields = {name.lower() for name, value in parse_qsl(parts.query) if value}
    if _is_search(host, path, steps, fields):
        return PageKind.SEARCH
    if _is_log_in(host, path, steps, fields):
        return PageKind.LOG_IN
    named = {name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    is_home = named <= _LANGUAGE_FIELDS and (
        _HOME_PATH_PATTERN.fullmatch(path or "/") or _MAIN_PAGE_PATTERN.fullmatch(path)
    )
    is_contents = steps and _PAGE_ENDING_PATTERN.sub("", steps[-1]) in _CONTENTS_STEPS
    return PageKind.HOME if is_home else PageKind.CONTENTS if is_contents else None


def reason_to_skip(url: str) -> str | None:
    """Return why a link cannot be evidence, as a sentence; None for one worth fetching. Only its address is read."""
    kind = kind_of_address(url)
    return _SENTENCE_BY_KIND[kind] if kind is not None else None


def why_astray(url: str) -> str | None:
    """Return the notice for a record whose link does not lead to its words, as far as the address shows; else None."""
    parts = urlsplit(canonical_url(url))
    if (parts.hostname or "").removeprefix("www.") in _CLOSED_HOSTS:
        return SITE_CLOSED
    kind = kind_of_address(url)
    if kind is PageKind.HOME:
        return TO_HOME
    if kind is PageKind.CONTENTS:
        return TO_CONTENTS
    return TO_SECTION if not parts.query and _SECTION_PATH_PATTERN.fullmatch(parts.path) else None


def refuse_page(requested_url: str, page_url: str, document: Document) -> None:
    """Raise FetchError(NOT_EVIDENCE) for a page that turned out to be none: where it lies, or a mere log-in form."""
    kind = kind_of_address(page_url)
    if kind is not None:
        asked = kind_of_address(requested_url)
        raise FetchError(
            (_SENTENCE_BY_KIND if kind is asked else _REDIRECT_SENTENCE_BY_KIND)[kind], FetchOutcome.NOT_EVIDENCE
        )
    if document.asks_for_password and len(document.text) < _MAX_FORM_PAGE_CHARACTERS:
        raise FetchError("The page asks for a password.", FetchOutcome.NOT_EVIDENCE)


def drop_unusable_hits(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits without those that cannot be evidence, as home pages and searches."""
    return [hit for hit in hits if hit.library is not None or hit.url is None or kind_of_address(hit.url) is None]


def pick_hits_to_rank(brief: Brief, hits: Sequence[Hit], most: int = MOST_OFFERED) -> list[Hit]:
    """Return the hits among which a language model chooses in one question: the first ones, few of one topic."""
    return spread_over_topics(hits, most, brief.asked_stems)


def _is_log_in(host: str, path: str, steps: Sequence[str], fields: set[str]) -> bool:
    if (steps and steps[-1] in _LOG_IN_STEPS) or "flow/login" in path.lower():
        return True
    if _ACCOUNT_HOST_PATTERN.match(host) is None:
        return False
    return not steps or not _ACCOUNT_STEPS.isdisjoint(steps) or not _RETURN_FIELDS.isdisjoint(fields)


def _is_search(host: str, path: str, steps: Sequence[str], fields: set[str]) -> bool:
    asks = not _SEARCH_FIELDS.isdisjoint(fields)
    if any(ends.search(host) and (path or "/").lower().startswith(begins) and asks for ends, begins in _SEARCH_ENGINES):
        return True
    if _MEDIAWIKI_SEARCH_PATTERN.fullmatch(path) or ("search" in fields and path.endswith("/index.php")):
        return True
    if steps and (steps[-1] in _SEARCH_STEPS or (asks and not _SEARCH_STEPS.isdisjoint(steps[-2:]))):
        return True
    if steps and steps[-1] in _MAYBE_SEARCH_STEPS and not fields.isdisjoint(_SEARCH_FIELDS - {"p"}):
        return True
    # WordPress and many others search at their root: /?s=words. A root's ?p=12 is a page.
    return asks and bool(_HOME_PATH_PATTERN.fullmatch(path or "/")) and fields <= _SEARCH_FIELDS - {"p"}


@dataclass(frozen=True, slots=True)
class Chosen:
    """A hit that was picked, and why."""

    hit: Hit
    why: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The hits that were picked, best first; `rest` is why none of the others was, "" where more were not wanted.

    `queries` are searches to make where none was picked.
    """

    chosen: tuple[Chosen, ...]
    rest: str = ""
    queries: tuple[Query, ...] = ()


def select_by_utility(
    engine: Engine,
    brief: Brief,
    hits: Sequence[Hit],
    quota: int,
    *,
    spare: int = 0,
    aim: Aim = Aim.JUDGE,
    already_chosen: Sequence[Hit] = (),
    by_utility: bool = True,
    most: int = MOST_OFFERED,
) -> Selection:
    """Return at most `quota` hits to read, fewer when the engine says that no other helps `aim`, and `spare` ones.

    `already_chosen` hits are not offered again, and what they cover need not be covered twice. A
    language model is offered at most `most`.
    Without `by_utility` it is the first hits as the search gave them: for studies (CrowdNotes+ Table 3).
    Raises EngineError when the engine picks what was not offered.
    """
    if not by_utility:
        return Selection(tuple(Chosen(hit, "in the order of the search") for hit in hits[: quota + spare]))
    if engine.uses_language_model:
        hits = pick_hits_to_rank(brief, hits, most)
    ranking = engine.rank(brief, hits, already_chosen, quota, spare=spare, aim=aim)
    indexes = [pick.index for pick in ranking.picks]
    if len(set(indexes)) < len(indexes) or any(not 0 <= index < len(hits) for index in indexes):
        raise EngineError("The AI picked a search result we did not offer.")
    chosen = tuple(Chosen(hits[pick.index], pick.why) for pick in ranking.picks)
    return Selection(chosen, ranking.rest if len(chosen) < quota else "", ranking.queries)
