"""What kinds of sites a note links to, told by their hosts: a feature of the heads, not a judgement of a source.

The evidence of a case has its own categories; a note under judgement may cite anything.
"""

from __future__ import annotations

import html
import re
from enum import StrEnum
from urllib.parse import urlsplit

from crowdnotes.text.note_rules import find_urls


class LinkKind(StrEnum):
    """Kinds that volunteers and raters tell apart."""

    AUTHORITY = "authority"
    RESEARCH = "research"
    PORTAL = "portal"
    FACT_CHECK = "fact check"
    NEWS = "news"
    ENCYCLOPEDIA = "encyclopedia"
    SOCIAL = "social"


_PATTERNS: dict[LinkKind, re.Pattern[str]] = {
    LinkKind.SOCIAL: re.compile(
        r"(?:^|\.)(?:x|twitter|t|facebook|instagram|youtube|youtu|tiktok|reddit|medium|substack|threads|rumble|"
        r"bitchute|telegram)\.(?:com|co|be|net|org|me)$"
    ),
    LinkKind.AUTHORITY: re.compile(
        r"\.gov$|\.gov\.|\.gouv\.|(?:^|\.)(?:who\.int|europa\.eu|nhs\.uk|canada\.ca|gc\.ca|un\.org)$|\.mil$"
    ),
    LinkKind.RESEARCH: re.compile(
        r"pubmed|ncbi|doi\.org|nature\.com|sciencedirect|springer|wiley|nejm|thelancet|bmj|jama|plos|frontiersin|mdpi|"
        r"cochrane|tandfonline|oup\.com|academic|cell\.com|science\.org|ahajournals|medrxiv|biorxiv|arxiv|sagepub|"
        r"cambridge\.org|karger|pnas|europepmc"
    ),
    LinkKind.PORTAL: re.compile(
        r"\.edu$|\.ac\.|hopkins|mayoclinic|clevelandclinic|webmd|healthline|cancer\.org|medicalnewstoday|verywell|"
        r"drugs\.com"
    ),
    LinkKind.FACT_CHECK: re.compile(
        r"factcheck|snopes|politifact|fullfact|leadstories|healthfeedback|sciencefeedback|reuters\.com|apnews|afp\.com|"
        r"usatoday|checkyourfact|logicallyfacts|correctiv"
    ),
    LinkKind.NEWS: re.compile(
        r"nytimes|bbc\.|cnn\.|guardian|washingtonpost|nbc|cbs|abc|npr\.|forbes|bloomberg|time\.com|politico|independent|"
        r"dailymail|telegraph|newsweek|thehill|wsj\.|foxnews|sky\.|cbc\.|axios|vox\.|slate\.|latimes|economist"
    ),
    LinkKind.ENCYCLOPEDIA: re.compile(r"wikipedia\.org$|britannica\.com$"),
}


def linked_hosts(note: str) -> list[str]:
    """The host of each link of a note that has a scheme, in order, lower case and without "www."."""
    hosts = []
    for url in find_urls(html.unescape(note)):
        if not url.has_scheme:
            continue
        try:
            host = urlsplit(url.url).hostname or ""
        except ValueError:  # "https://[" is a URL to a reader, not to the parser
            continue
        if host:
            hosts.append(host.removeprefix("www."))
    return hosts


def is_of_kind(host: str, kind: LinkKind) -> bool:
    """Whether a host is of a kind; it may be of several (a fact check by a news agency)."""
    return _PATTERNS[kind].search(host) is not None
