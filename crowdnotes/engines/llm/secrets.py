"""Keys stay out of every message: what a server says is cleaned before anyone sees it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LOOKS_LIKE_KEY = re.compile(
    r"(?i)\b(?:bearer\s+|(?:sk|pk|rk|key|gsk|xai|hf|api)[-_])[A-Za-z0-9*._~+/=-]{6,}|[A-Za-z0-9_-]{32,}"
)
_LONGEST = 240


def scrubbed(text: str, keys: Sequence[str] = ()) -> str:
    """One short printable line without the given keys and without what looks like one."""
    for key in keys:
        if len(key) >= 4:
            text = text.replace(key, "(key)")
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    line = _LOOKS_LIKE_KEY.sub("(key)", line)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
