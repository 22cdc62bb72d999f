"""Web addresses: the form that all spellings of a link share, and what a text refers to.

The canonical form is for comparing, not for fetching: the scheme becomes https, "www." goes, and so do fragments,
tracking parameters and the many ways to write a DOI or a PubMed id. A text refers to the pages that it links, and to
the papers and trials that it names by number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, unquote, unquote_to_bytes, urlencode, urlsplit

from crowdnotes.domain import X_HOSTS, Hit, SourceCategory
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.publishers import find_site

MAX_URL = 4096  # characters; nothing reads a longer address

_DOI_PATTERN = re.compile(r"10\.\d{4,9}/\S+")
_DOI_IN_PATH_PATTERN = re.compile(r"^/(?:doi|content|articles?|book)/(?:[a-z]+/)?(10\.\d{4,9}/.+)$", re.IGNORECASE)
_DOI_HOSTS = frozenset({"doi.org", "dx.doi.org"})
_FORMAT_ENDINGS = tuple(f"/{name}" for name in "abstract full fulltext pdf epdf meta".split())
_MAX_FORMAT_CHARACTERS = max(map(len, _FORMAT_ENDINGS))
_PREPRINT_HOSTS = frozenset({"biorxiv.org", "medrxiv.org"})
_PREPRINT_VERSION_PATTERN = re.compile(r"v\d+(?:\.full(?:[.-](?:pdf|text))*)?$", re.IGNORECASE)
_PUBMED_PATTERN = re.compile(
    r"^(?:pubmed\.ncbi\.nlm\.nih\.gov|(?:m\.)?ncbi\.nlm\.nih\.gov/(?:m/)?pubmed"
    r"|europepmc\.org/(?:article|abstract)/med)/(\d{1,9})(?:/|$)",
    re.IGNORECASE,
)
_PMC_PATTERN = re.compile(
    r"^(?:pmc\.ncbi\.nlm\.nih\.gov/articles|ncbi\.nlm\.nih\.gov/(?:labs/)?pmc/articles"
    r"|europepmc\.org/(?:articles?(?:/pmc)?|abstract/pmc))/(?:pmc)?(\d{1,9})(?:/|$)",
    re.IGNORECASE,
)
# What campaigns, newsletters and apps add to follow people; none changes the page.
_TRACKING_PARAMETER_PATTERN = re.compile(
    r"^(?:utm_\w*|mc_[ce]id|_ga|_gl|[a-z]*clid|msclkid|[gw]braid|igsh(?:id)?|_hs(?:enc|mi)|mkt_tok|ref_(?:src|url)"
    r"|cmp(?:id)?|ito|ocid|smid|s_cid|vero_id|oly_(?:anon|enc)_id|spm|xtor|guccounter|guce_\w+"
    r"|at_(?:medium|campaign|custom\d)|__twitter_impression)$",
    re.IGNORECASE,
)
_DEFAULT_PORTS = (None, 80, 443)


def is_tracking(name: str) -> bool:
    """Return whether a parameter of an address only serves to follow people."""
    return _TRACKING_PARAMETER_PATTERN.match(name) is not None


def canonical_url(url: str, *, papers: bool = True) -> str:
    """Return the address that all spellings of a link share; a bare host ("cdc.gov/flu") is one too.

    With `papers` all addresses of one paper share its DOI or PubMed id; without, each version, supplement and
    abstract is a page of its own.
    Never raises: what is no link, or longer than anything reads, comes back stripped and otherwise as it was.
    """
    url = url.strip()
    if len(url) > MAX_URL:
        return url
    try:
        return _build_canonical(url, papers=papers)
    except ValueError:  # "https://[::1", a lone surrogate, a port that is no number
        return url


def _build_canonical(url: str, *, papers: bool) -> str:
    if url.lower().startswith("doi:"):
        return doi_url(url[4:]) or url
    bare = find_urls(url)
    if len(bare) == 1 and bare[0].url == url and not bare[0].has_scheme:
        url = f"https://{url}"
    parts = urlsplit(url)
    host, port = (parts.hostname or "").rstrip("."), parts.port
    if parts.scheme.lower() not in ("http", "https") or not host:
        return url
    host = re.sub(r"^www\d?\.(?=[^.]+\.)", "", host)
    host = re.sub(r"^([a-z-]+)\.m\.(wik\w+\.org)$", r"\1.\2", host)
    known = _find_paper_address(host, parts.path) if papers else None
    if known is not None and port in _DEFAULT_PORTS:
        return known
    path = re.sub(r"/(?:index\.html?)?$", "", quote(unquote_to_bytes(parts.path), safe="/:@!$&'()*+,;=~"))
    kept = sorted(
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if not _TRACKING_PARAMETER_PATTERN.match(name)
    )
    netloc = host if port in _DEFAULT_PORTS else f"{host}:{port}"
    return f"https://{netloc}{path or '/'}" + (f"?{urlencode(kept, errors='surrogatepass')}" if kept else "")


def linkable(url: str) -> str:
    """Return the address as a note can hold it: X cuts a link at letters such as 新, so they are percent-encoded."""
    if [span.url for span in find_urls(url)] == [url]:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    path = quote(parts.path, safe="%/:@!$&'*+,;=~[]", errors="replace")
    query, fragment = (quote(part, safe="%/:@!$&'*+,;=~?", errors="replace") for part in (parts.query, parts.fragment))
    found = parts._replace(path=path, query=query, fragment=fragment).geturl()
    end = next((span.end for span in find_urls(found)), 0)
    return found[:end] + "".join(f"%{ord(mark):02X}" if mark.isascii() else quote(mark) for mark in found[end:])


def doi_url(doi: str) -> str | None:
    """Return the address of a DOI, however it is written; None for what is none."""
    found = _DOI_PATTERN.search(unquote(doi).strip())
    if found is None:
        return None
    return f"https://doi.org/{quote(_trim_doi(found.group()).lower(), safe='/:;()<>-._', errors='replace')}"


def is_web_address(url: str) -> bool:
    """Return True for an http or https address with a host and without white space or control characters.

    "javascript:alert(1)", "guides/flu.html" and "" are none.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(host) and url.isprintable() and " " not in url


def identities(hit: Hit) -> frozenset[str]:
    """Return what a hit is known by: its canonical address, its DOI, its record in a library. Never empty."""
    found = {canonical_url(hit.url)} if hit.url else set()
    if hit.doi and (address := doi_url(hit.doi)):
        found.add(address)
    if hit.library is not None and hit.record is not None:
        found.add(f"library:{hit.library}:{hit.record}")
    return frozenset(found or {f"{hit.provider}:{hit.title}:{hit.snippet}"})


def _find_paper_address(host: str, path: str) -> str | None:
    place = f"{host}{path}"
    if (pubmed := _PUBMED_PATTERN.match(place)) is not None:
        return f"https://pubmed.ncbi.nlm.nih.gov/{int(pubmed.group(1))}/"
    if (pmc := _PMC_PATTERN.match(place)) is not None:
        return f"https://pmc.ncbi.nlm.nih.gov/articles/PMC{int(pmc.group(1))}/"
    if host in _DOI_HOSTS:
        return doi_url(path)
    in_path = _DOI_IN_PATH_PATTERN.match(unquote(path))
    site = find_site(host) if in_path is not None else None
    # Any host can write a paper's DOI into its addresses: those of research sites alone are the paper's.
    if in_path is None or site is None or site.category is not SourceCategory.RESEARCH:
        return None
    doi = _trim_doi(in_path.group(1))
    return doi_url(_PREPRINT_VERSION_PATTERN.sub("", doi) if host in _PREPRINT_HOSTS else doi)


def _trim_doi(doi: str) -> str:
    """Return a DOI without the punctuation and the formats after it. A pattern would be quadratic on a run of dots."""
    end = len(doi)
    while end:
        tail = doi[max(0, end - _MAX_FORMAT_CHARACTERS) : end].lower()
        if tail[-1] in "./,;:":
            end -= 1
        elif (ending := next((name for name in _FORMAT_ENDINGS if tail.endswith(name)), None)) is not None:
            end -= len(ending)
        else:
            break
    return doi[:end]


_MAX_REFERENCES = 3  # that a post is read for; a list of links is no source
_X_PICTURE_HOSTS = frozenset({"pic.twitter.com", "pic.x.com"})
_MEDIA_FILE_PATTERN = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|mp4|mov|webm|mp3)(?:[?#].*)?$", re.IGNORECASE)
_DOI_IN_TEXT_PATTERN = re.compile(r"(?<![\w/.])10\.\d{4,9}/[^\s\"<>]{1,200}")
_TRIAL_NUMBER_PATTERN = re.compile(r"\bNCT\d{8}\b", re.IGNORECASE)
_ADDRESS_BY_NUMBER_PATTERN = (
    (_TRIAL_NUMBER_PATTERN, "https://clinicaltrials.gov/study/{}"),
    (re.compile(r"\bPMID:?\s{0,2}(\d{4,9})\b", re.IGNORECASE), "https://pubmed.ncbi.nlm.nih.gov/{}/"),
    (re.compile(r"\bPMC\d{5,9}\b"), "https://pmc.ncbi.nlm.nih.gov/articles/{}/"),
    (re.compile(r"\barXiv:\s?(\d{4}\.\d{4,5})(?:v\d+)?\b", re.IGNORECASE), "https://arxiv.org/abs/{}"),
)


def references_in(text: str) -> tuple[str, ...]:
    """Addresses, at most three, each once: links first, as they are written, then papers and trials by their number.

    Links to X itself and to pictures and films are left out: they are other posts, or nothing to read.
    """
    spans = [span for span in find_urls(text) if span.link]
    rest = text
    for span in reversed(spans):
        rest = f"{rest[: span.start]} {rest[span.end :]}"
    found = [span.link for span in spans if not is_on_x(span.link) and not _MEDIA_FILE_PATTERN.search(span.link)]
    found += [address for match in _DOI_IN_TEXT_PATTERN.finditer(rest) if (address := doi_url(match.group()))]
    for pattern, address in _ADDRESS_BY_NUMBER_PATTERN:
        found += [address.format(match[match.lastindex or 0].upper()) for match in pattern.finditer(rest)]
    return each_page_once(found)[:_MAX_REFERENCES]


def each_page_once(links: Iterable[str]) -> tuple[str, ...]:
    """Return the first link to each page, in order."""
    found: dict[str, str] = {}
    for link in links:
        found.setdefault(canonical_url(link), link)
    return tuple(found.values())


def trials_in(text: str) -> list[str]:
    """Numbers of ClinicalTrials.gov, each once."""
    return list(dict.fromkeys(number.upper() for number in _TRIAL_NUMBER_PATTERN.findall(text)))


def is_on_x(url: str) -> bool:
    """Return whether an address is one of X."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return host in X_HOSTS or host in _X_PICTURE_HOSTS
