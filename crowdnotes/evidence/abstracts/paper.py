"""Which paper a link is about: by what the search said of it, else by the address itself.

What a page says of itself does not count: it could claim any paper's abstract for its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from crowdnotes.domain import SourceCategory
from crowdnotes.evidence.archives import original_of
from crowdnotes.evidence.provenance import categorise
from crowdnotes.text.urls import canonical_url, doi_url

_DOI_ADDRESS = "https://doi.org/"
_PUBMED = re.compile(r"https://pubmed\.ncbi\.nlm\.nih\.gov/(\d{1,9})/")
_PMC = re.compile(r"https://pmc\.ncbi\.nlm\.nih\.gov/articles/(PMC\d{1,9})/")
_IN_ADDRESS = re.compile(r"(?:^|/)(10\.\d{4,9}/.+)$")
_FIELDS = ("id", "doi")  # journals.plos.org/plosone/article?id=10.1371/…
# Publishers whose article numbers are the second half of the DOI.
_NATURE = re.compile(r"^/articles/([a-z]?\d[\w.-]+|nature\d+|n[a-z]+\.?\d[\w.]*)/?$", re.IGNORECASE)
_ELSEVIER = re.compile(r"/(?:article/)?PII(S\d{4}-\d{3}[\dX]\(\d\d\)\d{5}-[\dX])", re.IGNORECASE)
_ELSEVIER_HOSTS = ("thelancet.com", "cell.com", "jacc.org", "ajog.org", "jvascsurg.org")


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper by the ids that are known of it, at least one; `doi` in lowercase, `pmcid` with "PMC"."""

    doi: str | None = None
    pmid: str | None = None
    pmcid: str | None = None


def paper_of(url: str | None, doi: str | None = None, pmid: str | None = None) -> Paper | None:
    """The paper that a link, or a search hit with its ids, is about; None for any other page."""
    address = original_of(url.strip()) if url else ""
    known = canonical_url(address) if address else ""
    in_pubmed, in_pmc = _PUBMED.fullmatch(known), _PMC.fullmatch(known)
    stated = _plain(doi) if doi else None
    found = Paper(
        doi=stated or _doi_in(address, known),
        pmid=(pmid if pmid and pmid.isascii() and pmid.isdigit() else None)
        or (in_pubmed.group(1) if in_pubmed else None),
        pmcid=in_pmc.group(1) if in_pmc else None,
    )
    return found if found != Paper() else None


def _doi_in(address: str, known: str) -> str | None:
    if known.startswith(_DOI_ADDRESS):
        return _plain(known.removeprefix(_DOI_ADDRESS))
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    path = unquote(parts.path)
    written: list[str] = []
    # Any host can write a paper's DOI into its addresses.
    if categorise(address) is SourceCategory.RESEARCH:
        in_path = _IN_ADDRESS.search(path)
        fields = [value for name, value in parse_qsl(parts.query) if name.lower() in _FIELDS]
        written = [in_path.group(1)] if in_path is not None else []
        written += [value for value in fields if value.startswith("10.")]
    if host == "nature.com" and (found := _NATURE.match(path)) is not None:
        written.append(f"10.1038/{found.group(1)}")
    is_elsevier = any(host == name or host.endswith(f".{name}") for name in _ELSEVIER_HOSTS)
    if is_elsevier and (found := _ELSEVIER.search(path)) is not None:
        written.append(f"10.1016/{found.group(1)}")
    return _plain(written[0]) if written else None


def _plain(doi: str) -> str | None:
    """A DOI in lowercase without what addresses put around it; None for what is none."""
    address = doi_url(doi)
    return unquote(address.removeprefix(_DOI_ADDRESS)) if address else None
