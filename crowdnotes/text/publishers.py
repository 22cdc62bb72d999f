"""What a reader calls the publisher of a page: "the CDC", "Mayo Clinic"."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from crowdnotes.domain import Source
from crowdnotes.text.note_rules import find_urls

_LONGEST = 60
_HOSTS = {
    "cdc.gov": "the CDC",
    "fda.gov": "the FDA",
    "epa.gov": "the EPA",
    "usda.gov": "the USDA",
    "who.int": "the WHO",
    "nhs.uk": "the NHS",
    "cancer.gov": "the National Cancer Institute",
    "cancer.org": "the American Cancer Society",
    "nhlbi.nih.gov": "the NIH (NHLBI)",
    "niddk.nih.gov": "the NIH (NIDDK)",
    "ninds.nih.gov": "the NIH (NINDS)",
    "rarediseases.info.nih.gov": "the NIH",
    "ghr.nlm.nih.gov": "the NIH",
    "nihseniorhealth.gov": "the NIH",
    "medlineplus.gov": "the NIH's MedlinePlus",
    "nlm.nih.gov": "the National Library of Medicine",
    "nih.gov": "the NIH",
    "mayoclinic.org": "Mayo Clinic",
    "my.clevelandclinic.org": "Cleveland Clinic",
    "clevelandclinic.org": "Cleveland Clinic",
    "hopkinsmedicine.org": "Johns Hopkins Medicine",
    "ema.europa.eu": "the European Medicines Agency",
    "reuters.com": "Reuters",
    "apnews.com": "AP News",
    "bbc.com": "the BBC",
    "bbc.co.uk": "the BBC",
    "factcheck.org": "FactCheck",
    "wikipedia.org": "Wikipedia",
}
_PATHS = {("nlm.nih.gov", "/medlineplus"): "the NIH's MedlinePlus"}
_TAKES_THE = re.compile(
    r"^(?:[A-Z]{2,6}$|(?:national|world|centers?|u\.?s\.?|united|american|european|federal|food|department|ministry|"
    r"office|agency|institute|royal|british|university|society|association|mayo foundation|international)\b)",
    re.IGNORECASE,
)


def publisher_name(source: Source) -> str:
    """A name that reads well after "According to", without a URL in it; "" when the source has none."""
    known = _by_host(source.url)
    if known:
        return known
    publisher = _clean(source.publisher or "")
    if publisher:
        return f"the {publisher}" if _TAKES_THE.match(publisher) else publisher
    site = re.search(r"\s[|–—-]\s([^|–—]{2,40})$", source.title)
    if site and (name := _clean(site.group(1))):
        return f"the {name}" if _TAKES_THE.match(name) else name
    return ""


def _by_host(url: str | None) -> str:
    try:
        parts = urlsplit(url or "")
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return ""
    for (suffix, path), name in _PATHS.items():
        if _is_within(host, suffix) and parts.path.startswith(path):
            return name
    for suffix in sorted(_HOSTS, key=len, reverse=True):
        if _is_within(host, suffix):
            return _HOSTS[suffix]
    return ""


def _is_within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def _clean(name: str) -> str:
    """One line, of bearable length, and no host name: X would count "cdc.gov" as a link."""
    name = re.sub(r"\s+", " ", name).strip(" .,;:-|")
    if not name or find_urls(name) or re.search(r"[<>@/\\]|\.\w", name):
        return ""
    return name if len(name) <= _LONGEST else ""
