"""A price is the user's, the table's or, on this machine, nothing; what nobody knows is None."""

from __future__ import annotations

import pytest

from crowdnotes.engines.llm.prices import price
from crowdnotes.settings import LlmSettings


def test_ones_own_price_comes_first_wherever_the_server_is() -> None:
    settings = LlmSettings(dollars_per_million_input=2.0, dollars_per_million_output=10.0)
    for url in ("https://api.openai.com/v1", "http://127.0.0.1:8080/v1", "https://x.example.org/v1"):
        assert price(settings, url, "gpt-4.1-mini", 1_000_000, 100_000) == pytest.approx(3.0)


def test_the_table_knows_models_of_known_servers_in_proportion_to_tokens() -> None:
    one = price(LlmSettings(), "https://api.openai.com/v1", "gpt-4.1-mini", 1000, 1000)
    two = price(LlmSettings(), "https://api.openai.com/v1", "gpt-4.1-mini", 2000, 2000)
    assert one is not None
    assert one > 0
    assert two == pytest.approx(2 * one)


def test_a_server_on_this_machine_costs_nothing_and_an_unknown_one_has_no_price() -> None:
    assert price(LlmSettings(), "http://localhost:11434/v1", "qwen", 1000, 1000) == 0.0
    assert price(LlmSettings(), "https://x.example.org/v1", "qwen", 1000, 1000) is None
    assert price(LlmSettings(), "https://api.openai.com/v1", "no-such-model", 1000, 1000) is None
