"""Everything put together once: what the pages and the command line work with."""

from __future__ import annotations

import gc
import threading
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Self

from crowdnotes.cases.gathering import GatherOptions, Tools
from crowdnotes.cases.service import CaseService
from crowdnotes.cases.store import SqlStore
from crowdnotes.demonstration import DemonstrationFetcher, DemonstrationLinks
from crowdnotes.embedding import CachedEmbedder, Embedder, MiniLMEmbedder
from crowdnotes.engines import Engine
from crowdnotes.engines.choice import EngineChoice, make_engine, set_choice
from crowdnotes.engines.local.heads.shipped import note_reader_for
from crowdnotes.errors import StoreFullError
from crowdnotes.evidence.fetching import Fetcher, PageFetcher
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.link_check import HttpLinkAsker, LinkAsker, LinkChecker
from crowdnotes.evidence.page_cache import PageCache
from crowdnotes.evidence.reading.processes import page_readers
from crowdnotes.evidence.search import make_providers
from crowdnotes.evidence.search.papers import AbstractFinder
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.evidence.wayback import make_wayback
from crowdnotes.jobs import JobRunner, ThreadJobRunner
from crowdnotes.jury import open_jury
from crowdnotes.settings import Settings, load_settings
from crowdnotes.storage.database import open_database


def system_clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Workspace:
    """The parts that a page or command calls; shared by all sessions of one process."""

    tools: Tools
    service: CaseService
    runner: JobRunner
    choice: EngineChoice

    @property
    def settings(self) -> Settings:
        """As read at the start."""
        return self.tools.settings

    @property
    def engine(self) -> Engine:
        """Who thinks."""
        return self.tools.engine

    @property
    def libraries(self) -> Libraries:
        """The local ones."""
        return self.tools.libraries

    @property
    def embedder(self) -> Embedder:
        """Cached."""
        return self.tools.embedder

    @property
    def reader(self) -> SourceReader:
        """Of pages and papers."""
        return self.tools.reader

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def with_engine(self, choice: EngineChoice) -> Workspace:
        """The same workspace with another engine; jobs begun in this one go on with the engine they began with.

        Raises ConfigurationError when no model is named.
        """
        settings = self.settings
        engine = make_engine(choice, settings.llm, settings.gates, self.embedder, settings.data_dir)
        tools = replace(self.tools, engine=engine)
        return replace(self, tools=tools, choice=choice, service=CaseService(tools))

    def close(self) -> None:
        """Let running jobs stop and the threads end."""
        self.runner.close()


class SharedWorkspace:
    """The workspace of a running app, whose engine a person may change. Safe between threads."""

    def __init__(self, opened: Workspace) -> None:
        self._current = opened
        self._lock = threading.Lock()

    @property
    def current(self) -> Workspace:
        """The workspace with the engine that is in use now."""
        return self._current

    def use(self, choice: EngineChoice) -> None:
        """Let what begins from now on be done by another engine. Raises ConfigurationError; the old one then stays."""
        with self._lock:
            self._current = self._current.with_engine(choice)


def open_workspace(
    settings: Settings | None = None,
    *,
    embedder: Embedder | None = None,
    engine: Engine | None = None,
    fetcher: PageFetcher | None = None,
    links: LinkAsker | None = None,
    options: GatherOptions | None = None,
) -> Workspace:
    """Open the data folder and the database, made on first use; each boundary is the default one if not given.

    `options` say how sources are gathered, for studies.

    The embedding model is read when it is first needed (`warm_up` does it early). Raises
    ConfigurationError or StoreError with what to do about it.
    """
    settings = settings or load_settings()
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreFullError(f"The data folder {settings.data_dir} cannot be made ({error.strerror}).") from error
    database = open_database(settings.resolved_database_url)
    cached = CachedEmbedder(
        embedder or MiniLMEmbedder(threads=settings.torch_threads),
        settings.data_dir / "embeddings.sqlite",
        settings.embedding_cache_mb,
    )
    choice = set_choice(settings.llm)
    libraries = Libraries(settings.libraries_dir, cached)
    wayback = make_wayback(settings)
    reader = SourceReader(
        fetcher or _page_fetcher(settings),
        AbstractFinder(make_providers(settings, libraries)),
        settings.evidence.categories,
        wayback,
        by=page_readers().extract,
    )
    asker = links or DemonstrationLinks(HttpLinkAsker(settings.fetch, settings.allowed_private_hosts))
    tools = Tools(
        store=SqlStore(database),
        engine=engine or make_engine(choice, settings.llm, settings.gates, cached, settings.data_dir),
        embedder=cached,
        reader=reader,
        libraries=libraries,
        providers=lambda names: make_providers(settings, libraries, names),
        settings=settings,
        links=LinkChecker(asker, settings.links, system_clock, wayback=wayback),
        jury=cache(lambda: open_jury(settings.jury, settings.bridging, cached)),
        clock=system_clock,
        options=options or GatherOptions(),
    )
    runner = ThreadJobRunner(database, workers=settings.workers)
    return Workspace(tools=tools, service=CaseService(tools), runner=runner, choice=choice)


def _page_fetcher(settings: Settings) -> PageFetcher:
    """Through the cache, if one is wanted; pages of the demonstration come from its own folder."""
    bounds = settings.fetch
    path = settings.data_dir / "pages.sqlite"
    cache = PageCache(path, bounds.cache_mb, bounds.max_bytes) if bounds.cache_mb else None
    return DemonstrationFetcher(Fetcher(bounds, settings.allowed_private_hosts, cache))


def warm_up(workspace: Workspace) -> None:
    """Read the models and start the page readers now, so that no draft waits for them (about 7 s)."""
    page_readers().start()
    workspace.embedder.encode(["warm-up"])
    workspace.embedder.token_spans("warm-up")
    note_reader = note_reader_for(workspace.embedder)
    if note_reader is not None:
        note_reader.read(["warm-up"])
    # What is loaded by now stays: to look through it for garbage would stop everything for half a second.
    gc.collect()
    gc.freeze()
