"""What a check that a person passed over had found, in the words of the page and of the files alike."""

from __future__ import annotations

from collections.abc import Callable


def although(check: str, address: Callable[[str], str]) -> str:
    """What the check found, as Markdown to follow "Approved although".

    check: as an `Override` names it: a gate, "link:URL" or "live:URL". address: writes a URL as Markdown.
    """
    kind, _, url = check.partition(":")
    said = {"link": "nobody inspected the link", "live": "no answer was had from the link"}.get(kind)
    return f"{said} {address(url)}" if said else f"the {check} gate did not pass"
