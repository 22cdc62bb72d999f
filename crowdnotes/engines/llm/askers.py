"""Who asks which model on which server; all of one engine share cache, meter and what was learned of servers."""

from __future__ import annotations

from pathlib import Path

from crowdnotes.engines.llm.abilities import KnownAbilities
from crowdnotes.engines.llm.answer_cache import AnswerCache
from crowdnotes.engines.llm.asking import Asker
from crowdnotes.engines.llm.discovery import key_for
from crowdnotes.engines.llm.once import Once
from crowdnotes.engines.llm.server import ModelServer
from crowdnotes.engines.metering import Budget, Meter
from crowdnotes.settings import LlmSettings

_CACHE_FILE = "answers.sqlite"


class Askers:
    """Calls count on the meter of the case at work; outside one on `meter`, with the same budget for all together."""

    def __init__(self, settings: LlmSettings, data_dir: Path) -> None:
        self.meter = Meter(Budget(settings.budget_dollars, settings.budget_tokens))
        self._settings = settings
        self._abilities = KnownAbilities()
        self._cache = AnswerCache(data_dir / _CACHE_FILE, settings.cache_mb)
        self._once = Once()
        self._servers: dict[str, ModelServer] = {}

    def asker(self, base_url: str, model: str) -> Asker:
        """Who asks this model on this server."""
        if base_url not in self._servers:
            self._servers[base_url] = ModelServer(base_url, key_for(self._settings, base_url), self._settings)
        server = self._servers[base_url]
        return Asker(server, model, self._settings, self._abilities, self._cache, self.meter, self._once)
