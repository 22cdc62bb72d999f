"""Which open model to begin with, by the memory of this machine: from published sizes, until a self-test has run here.

Sizes are downloads at about four bits a weight. Sources, as read in November 2026: for Qwen3.5 Ollama's library, as the
guides of insiderllm.com tell it (March 2026); for gpt-oss Unsloth's note on its files and "How to run gpt-oss locally
with Ollama" in OpenAI's cookbook (August 2025). Nothing here was measured by this project.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

SOURCE = "published sizes, March 2026 (Qwen3.5) and August 2025 (gpt-oss)"


@dataclass(frozen=True, slots=True)
class Recommended:
    """A model by its name in Ollama, with the memory in GB from which on it is worth a try."""

    from_gb: int
    name: str
    size: str
    about: str


MODELS = (
    Recommended(8, "qwen3.5:4b", "3.4 GB", "small: it will miss distortions, so test it before you trust it"),
    Recommended(16, "qwen3.5:9b", "6.6 GB", "the least that we would begin with"),
    Recommended(24, "gpt-oss:20b", "14 GB", "thinks before it answers; quick, as few of its weights work at a time"),
    Recommended(32, "qwen3.5:27b", "17 GB", "more careful, and slow without a graphics card that holds it"),
    Recommended(96, "gpt-oss:120b", "66 GB", "wants 60 GB or more of graphics or shared memory"),
)


def memory_gb() -> float | None:
    """The memory of this machine; None where the system does not tell it this way, as on Windows."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (AttributeError, ValueError, OSError):
        return None


def recommended(gigabytes: float | None) -> Recommended | None:
    """The largest model that this much memory is worth a try for; None for too little, or for not known."""
    if gigabytes is None:
        return None
    # A machine sold with 16 GB tells of a little less.
    return next((model for model in reversed(MODELS) if gigabytes >= model.from_gb * 0.9), None)
