"""Where a note's links lead: hosts, and accounts where a link leads to a post on X."""

from __future__ import annotations

import re

from crowdnotes.jury.parsed import parsed

HOST = re.compile(r"^https?://(?:www\.|m\.|mobile\.|amp\.|en\.m\.)?([^/?#]+)(?:/([^/?#]+))?", re.IGNORECASE)
X = frozenset({"x.com", "twitter.com"})


def sources_of(note: str) -> list[str]:
    """Hosts without www., and "@account" after the host of each link to a post; in lower case, in order."""
    found = []
    for url in parsed(note).links:
        parts = HOST.match(url.url if url.has_scheme else f"https://{url.url}")
        if parts is None:
            continue
        host = parts[1].lower()
        found.append(host)
        if host in X and parts[2]:
            found.append(f"@{parts[2].lower()}")
    return found
