"""What a text refers to: the pages that it links, and the papers and trials that it names by number."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from crowdnotes.domain import X_HOSTS
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.urls import canonical_url, doi_url

_MOST = 3  # that a post is read for; a list of links is no source
_PICTURES_OF_X = frozenset({"pic.twitter.com", "pic.x.com"})
_MEDIA = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|mp4|mov|webm|mp3)(?:[?#].*)?$", re.IGNORECASE)
_DOI = re.compile(r"(?<![\w/.])10\.\d{4,9}/[^\s\"<>]{1,200}")
_TRIAL = re.compile(r"\bNCT\d{8}\b", re.IGNORECASE)
_NUMBERS = (
    (_TRIAL, "https://clinicaltrials.gov/study/{}"),
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
    found = [span.link for span in spans if not is_on_x(span.link) and not _MEDIA.search(span.link)]
    found += [address for match in _DOI.finditer(rest) if (address := doi_url(match.group()))]
    for pattern, address in _NUMBERS:
        found += [address.format(match[match.lastindex or 0].upper()) for match in pattern.finditer(rest)]
    once: dict[str, str] = {}
    for link in found:
        once.setdefault(canonical_url(link), link)
    return tuple(once.values())[:_MOST]


def trials_in(text: str) -> list[str]:
    """Numbers of ClinicalTrials.gov, each once."""
    return list(dict.fromkeys(number.upper() for number in _TRIAL.findall(text)))


def is_on_x(url: str) -> bool:
    """Whether an address is one of X."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return host in X_HOSTS or host in _PICTURES_OF_X
