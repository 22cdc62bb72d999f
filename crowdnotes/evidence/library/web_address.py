"""Whether what a table or page gives as an address may stand as a source's link."""

from __future__ import annotations

from urllib.parse import urlsplit


def is_web_address(url: str) -> bool:
    """True for an http or https address with a host and without white space or control characters.

    "javascript:alert(1)", "guides/flu.html" and "" are none.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(host) and url.isprintable() and " " not in url
