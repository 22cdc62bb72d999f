"""Finds the language models on this machine and the server in the settings, and recommends one."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from urllib.parse import urlsplit

import httpx2

from crowdnotes.engines.choice import EngineChoice, settings_for
from crowdnotes.engines.llm.api_keys import account, key_for
from crowdnotes.engines.metering import run_parallel
from crowdnotes.errors import ConfigurationError, EngineError, ModelServerError
from crowdnotes.settings_sections import LlmSettings

LOCAL_SERVERS = (
    ("Ollama", "http://127.0.0.1:11434/v1"),
    ("LM Studio", "http://127.0.0.1:1234/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("vLLM", "http://127.0.0.1:8000/v1"),
)
_PROBE_TIMEOUTS = {"connect_seconds": 0.4, "timeout_seconds": 1.5, "total_seconds": 1.5}  # this machine answers fast


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server and the ids of its models. `problem` says why it could not be asked, or is ""."""

    name: str
    base_url: str
    models: tuple[str, ...] = field(default=())
    problem: str = ""
    is_set: bool = False


def find_servers(settings: LlmSettings, local: Sequence[tuple[str, str]] = LOCAL_SERVERS) -> list[FoundServer]:
    """Return the server in the settings, even if it does not answer, then those on this machine. At most 2 s."""
    tasks: list[Callable[[], FoundServer | None]] = []
    if settings.base_url is not None:
        tasks.append(partial(_ask_configured_server, settings))
    tasks += [partial(_probe_local_server, name, url, settings) for name, url in local if url != settings.base_url]
    return [found for found in run_parallel(tasks, len(tasks) or 1) if isinstance(found, FoundServer)]


def server_at(address: str, settings: LlmSettings) -> FoundServer:
    """Ask the server at the address that a person typed for its models. Another server's key does not go there.

    Raises ConfigurationError for an invalid address, or one with a key in it.
    """
    url = address.strip().rstrip("/")
    try:
        account(url)
        parts = urlsplit(url)
    except ValueError:  # brackets, or a port that is none
        raise ConfigurationError(
            f"“{url}” is not a server's address.", "Write it as https://api.example.org/v1."
        ) from None
    if parts.username or parts.password:
        raise ConfigurationError(
            "Take the key out of the address.",
            "Save it with `crowdnotes models key set ADDRESS`.",
        )
    found = _ask_configured_server(settings_for(EngineChoice(url), settings))
    return replace(found, is_set=url == settings.base_url)


def require_answer(choice: EngineChoice, settings: LlmSettings) -> None:
    """Check that the chosen server answers and has the model; the local engine always does. At most 5 s.

    Raises ModelServerError with what to do.
    """
    if choice.base_url is None:
        return
    try:
        models = _list_models(settings_for(choice, settings), choice.base_url)
    except ModelServerError as error:
        has_next_step = error.next_step != ModelServerError.default_next_step
        raise ModelServerError(
            error.message,
            error.next_step
            if has_next_step
            else "Start it or check its address, then choose it again. Nothing changed.",
        ) from None
    if choice.model and models and choice.model not in models:
        raise ModelServerError(f"The server no longer has the model “{choice.model}”.", "Look for model servers again.")


def _list_models(settings: LlmSettings, url: str) -> list[str]:
    from crowdnotes.engines.llm.server import ModelServer

    quick = settings.replace(timeout_seconds=5.0, total_seconds=5.0, max_retries=0)
    return ModelServer(url, key_for(settings, url), quick).models()


def _ask_configured_server(settings: LlmSettings) -> FoundServer:
    url = settings.base_url or ""
    name = next((label for label, address in LOCAL_SERVERS if address == url), httpx2.URL(url).host)
    try:
        models = _list_models(settings, url)
    except EngineError as error:
        return FoundServer(name, url, problem=str(error), is_set=True)
    return FoundServer(name, url, tuple(models), is_set=True)


def _probe_local_server(name: str, url: str, settings: LlmSettings) -> FoundServer | None:
    """Return None if nothing there speaks the protocol: other programs use these ports too."""
    from crowdnotes.engines.llm.server import ModelServer

    quick = settings.replace(**_PROBE_TIMEOUTS, max_retries=0)
    try:
        return FoundServer(name, url, tuple(ModelServer(url, None, quick).models()))
    except EngineError:
        return None


# Sizes are downloads at about four bits a weight. For Qwen3.5 from Ollama's library, as the guides of insiderllm.com
# state (March 2026); for gpt-oss from Unsloth's note on its files and "How to run gpt-oss locally with Ollama" in
# OpenAI's cookbook (August 2025). This project measured none of them.
@dataclass(frozen=True, slots=True)
class Recommended:
    """A model by its name in Ollama, with the memory in GB from which it is worth a try."""

    from_gb: int
    name: str
    size: str
    about: str


MODELS = (
    Recommended(8, "qwen3.5:4b", "3.4 GB", "small: misses distortions; test it first"),
    Recommended(16, "qwen3.5:9b", "6.6 GB", "the smallest we would begin with"),
    Recommended(24, "gpt-oss:20b", "14 GB", "quick, though it thinks before it answers"),
    Recommended(32, "qwen3.5:27b", "17 GB", "more careful; slow without a large graphics card"),
    Recommended(96, "gpt-oss:120b", "66 GB", "needs 60 GB of graphics or shared memory"),
)


def memory_gb() -> float | None:
    """Return the memory of this machine; None where the system does not report it this way, as on Windows."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (AttributeError, ValueError, OSError):
        return None


def recommended(gigabytes: float | None) -> Recommended | None:
    """Return the largest model worth a try with this much memory; None if it is too little or unknown."""
    if gigabytes is None:
        return None
    # A machine sold with 16 GB reports a little less.
    return next((model for model in reversed(MODELS) if gigabytes >= model.from_gb * 0.9), None)
