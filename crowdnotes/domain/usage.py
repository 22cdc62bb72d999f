"""What asking a language model cost: calls, tokens, seconds, money."""

from __future__ import annotations

from pydantic import Field

from crowdnotes.domain.base import Noun


class Usage(Noun):
    """What one call, one step or one case used. Sums with "+".

    `calls` went to a server, `cached` were answered from the local cache and cost nothing. `seconds` add
    up calls that ran side by side. `dollars` is of the calls whose price is known; `unpriced` counts the
    others, so that 0 is never shown for "unknown". `estimated` says that a server gave no token counts.
    """

    calls: int = Field(0, ge=0)
    cached: int = Field(0, ge=0)
    input_tokens: int = Field(0, ge=0)
    output_tokens: int = Field(0, ge=0)
    seconds: float = Field(0.0, ge=0)
    dollars: float = Field(0.0, ge=0)
    unpriced: int = Field(0, ge=0)
    estimated: bool = False

    @property
    def tokens(self) -> int:
        """Read and written together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            cached=self.cached + other.cached,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            seconds=self.seconds + other.seconds,
            dollars=self.dollars + other.dollars,
            unpriced=self.unpriced + other.unpriced,
            estimated=self.estimated or other.estimated,
        )

    def in_words(self) -> str:
        """One line for a person, as in "12 calls, 31,000 tokens, 0.0042 US dollars"."""
        if not self.calls:
            return f"no cost: {self.cached} answers from the cache" if self.cached else "no cost"
        parts = [f"{self.calls} call{'' if self.calls == 1 else 's'}"]
        parts.append(f"{'about ' if self.estimated else ''}{self.tokens:,} tokens")
        if self.unpriced < self.calls:
            parts.append(f"{self.dollars:.4f} US dollars")
        if self.unpriced:
            which = "" if self.unpriced == self.calls else f" of {self.unpriced} calls"
            parts.append(f"price{which} unknown")
        return ", ".join(parts)
