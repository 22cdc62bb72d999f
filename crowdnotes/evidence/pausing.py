"""A pause that a cancelled job does not have to sit out."""

from __future__ import annotations

import time
from collections.abc import Callable

_SLICE = 0.1  # seconds until a cancel is heard


def wait_out(seconds: float, check: Callable[[], None]) -> None:
    """Wait so long, calling `check` meanwhile; what it raises ends the pause."""
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        check()
        time.sleep(min(left, _SLICE))
