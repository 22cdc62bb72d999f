"""How likely a judge's "yes" was, from the probabilities of the tokens at its verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from crowdnotes.engines.llm.server import Token

_LEAST = 0.5  # of the probability must be on yes and no, or the place was not a verdict


def yes_probability(text: str, tokens: Sequence[Token], place: re.Pattern[str]) -> float | None:
    """P(yes) among yes and no, in [0, 1], where `place` matches last; its end is where the verdict begins.

    None without token probabilities, or when yes and no are not what was weighed there.
    """
    matches = list(place.finditer(text))
    if not matches or not tokens:
        return None
    verdict = matches[-1].end()
    start = 0
    for token in tokens:
        end = start + len(token.text)
        if start <= verdict < end:
            # A token may begin before the verdict, as in '"yes': what stands before it is the same for all.
            lead = token.text[: verdict - start]
            return _share(token, lead)
        start = end
    return None


def _share(token: Token, lead: str) -> float | None:
    yes = no = 0.0
    for text, logprob in token.options:
        said = text.removeprefix(lead).strip(" \"'*").lower()
        if not said:
            continue
        if "yes".startswith(said) or said.startswith("yes"):
            yes += math.exp(min(0.0, logprob))
        elif "no".startswith(said) or said.startswith("no"):
            no += math.exp(min(0.0, logprob))
    if yes + no < _LEAST:
        return None
    return yes / (yes + no)
