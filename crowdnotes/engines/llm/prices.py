"""What a call costs, where that is known: the user's own price, the built-in table, or nothing on this machine."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

from crowdnotes.settings import LlmSettings

_MILLION = 1_000_000
_THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}


def price(settings: LlmSettings, base_url: str, model: str, input_tokens: int, output_tokens: int) -> float | None:
    """US dollars for these tokens; None when no one knows the price, which is not the same as 0.

    Prices come from settings, else from genai-prices (pinned, read from its package, never downloaded). A
    server on this machine costs nothing.
    """
    own_in, own_out = settings.dollars_per_million_input, settings.dollars_per_million_output
    if own_in is not None and own_out is not None:
        return (own_in * input_tokens + own_out * output_tokens) / _MILLION
    if urlsplit(base_url).hostname in _THIS_MACHINE:
        return 0.0
    rate = _from_table(base_url, model)
    return None if rate is None else (rate[0] * input_tokens + rate[1] * output_tokens) / _MILLION


@lru_cache(maxsize=64)
def _from_table(base_url: str, model: str) -> tuple[float, float] | None:
    """Dollars per million tokens read and written, for calls of ordinary length."""
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=10_000, output_tokens=10_000)
    try:
        found = calc_price(usage, model_ref=model, provider_api_url=base_url)
    except LookupError:
        return None
    return float(found.input_price) * 100, float(found.output_price) * 100
