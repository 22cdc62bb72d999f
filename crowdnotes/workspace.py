"""Build all parts once: what the pages and the command line work with."""

from __future__ import annotations

import gc
import logging
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, Self

from sqlalchemy import Engine as Database

from crowdnotes.bridging import compiled_code_warning, has_kept_code
from crowdnotes.cases.accounts import VISITOR, People
from crowdnotes.cases.cases import Cases
from crowdnotes.cases.gathering_stages import GatherOptions, StageContext
from crowdnotes.cases.permissions import local_owner
from crowdnotes.cases.pipeline import JOBS
from crowdnotes.cases.stages import StageRunner
from crowdnotes.cases.store import Store
from crowdnotes.domain import (
    LOCAL_OWNER,
    Act,
    Actor,
    CurrentUser,
    Owned,
    Person,
    Post,
    ProviderOutcome,
    ProviderState,
    Role,
    may,
)
from crowdnotes.engines import Engine
from crowdnotes.engines.choice import RECORDED, EngineChoice, make_engine, set_choice, settings_for
from crowdnotes.engines.embedding import Embedder, make_embedder
from crowdnotes.engines.local.helpfulness import judge_helpfulness
from crowdnotes.errors import ConfigurationError, InputError, StoreError, StoreFullError
from crowdnotes.evidence.demo_pages import DemonstrationFetcher, DemonstrationLinks
from crowdnotes.evidence.fetching import Fetcher, PageCache, PageFetcher
from crowdnotes.evidence.library import Libraries, SharedLibraries
from crowdnotes.evidence.link_check import HttpLinkAsker, LinkAsker, LinkChecker, LinkLimits
from crowdnotes.evidence.reading.reading_services import check_reading, make_reading_services
from crowdnotes.evidence.reading.worker_processes import page_readers
from crowdnotes.evidence.search import check_providers, default_providers, make_online, make_providers
from crowdnotes.evidence.search.papers import AbstractFinder
from crowdnotes.evidence.search.provider import OnlineProvider
from crowdnotes.evidence.search.run import SearchCache
from crowdnotes.evidence.search.service import page_rate_limit, use_shared_rates
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.evidence.wayback import make_wayback
from crowdnotes.jobs import JobRecord, JobRunner, Progress, Step, plain_step, require_workers, with_time_left
from crowdnotes.reports.comparisons import Comparisons
from crowdnotes.settings import Settings, load_settings
from crowdnotes.storage.database import clock_of, connect, open_database, require_newest
from crowdnotes.storage.rate_limits import shared_rate_limiter
from crowdnotes.text.markdown import host

if TYPE_CHECKING:
    from crowdnotes.engines.llm.discovery import FoundServer, Recommended
    from crowdnotes.engines.llm.self_test import SelfTest
    from crowdnotes.jobs.queue import QueueWorker
    from crowdnotes.jury import Jury
    from crowdnotes.x_api.submission import ToX

_log = logging.getLogger(__name__)
_DAY_SECONDS = 86_400.0
_CHOICE_SECONDS = 1.0  # how long a chosen engine is cached

_Choices = tuple[EngineChoice | None, EngineChoice | None]  # for everybody; for one person

# Case ids of jobs without a case: make a library, index the public data, check the services' connections, test a model.
LIBRARIES, PUBLIC_DATA, CONNECTIONS, SELF_TEST = "libraries", "public-data", "connections", "self-test"
_JOB_KINDS_WITHOUT_CASE = frozenset({LIBRARIES, PUBLIC_DATA, CONNECTIONS, SELF_TEST})
_MAX_KEPT_MODELS = 30  # of one server; a longer list is hard to use


def system_clock() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Workspace:
    """The parts that a page or command calls, as one person may use them: by default the owner of the machine.

    Sessions of one process share all but the person, see `acting_as`. `last_answers` is how each search service
    answered last, by its name; `x` is there where X is set up.
    """

    store: Store
    stage_context: StageContext
    current_user: CurrentUser
    cases: Cases
    stages: StageRunner
    runner: JobRunner
    choice: EngineChoice
    comparisons: Comparisons
    people: People
    last_answers: dict[str, ProviderOutcome] = field(default_factory=dict)
    x: ToX | None = None

    @property
    def actor(self) -> Actor:
        """Who acts, with the role that they have now."""
        return self.current_user()

    def may(self, act: Act, case: Owned | None = None) -> bool:
        """Return whether the person may do that now, to a case or to none; a page then offers it."""
        return may(self.actor, act, case, four_eyes=self.settings.four_eyes)

    def acting_as(self, current_user: CurrentUser) -> Workspace:
        """Return the same workspace for another person; `current_user` is asked at every act."""
        cases = Cases(self.store, current_user, self.stage_context.clock, self.settings)
        return replace(
            self,
            current_user=current_user,
            cases=cases,
            stages=StageRunner(cases, self.stage_context),
            comparisons=self.comparisons.acting_as(current_user),
            people=self.people.acting_as(current_user),
            x=self.x and self.x.with_cases(cases),
        )

    def user_of(self, person: Person) -> CurrentUser:
        """Return that person with their current role each time it is asked, see `People.actor`.

        The owner of a single-user machine and the visitors of a demo are in no table.
        """
        if (person.issuer, person.subject) == LOCAL_OWNER:
            return lambda: local_owner(person.name)
        if person.issuer == VISITOR:
            return lambda: Actor(**person.person.model_dump(), role=Role.VIEWER)
        return partial(self.people.actor, person)

    def forget_visitors(self) -> int:
        """Remove what visitors of a demo left longer ago than the setting allows; return how many cases."""
        kept_for = timedelta(hours=self.settings.sign_in.demo_hours)
        return self.store.forget(VISITOR, self.stage_context.clock() - kept_for)

    def delete_old_cases(self) -> int:
        """Remove cases decided longer ago than the setting allows; return how many. Needs the right to set up."""
        days = self.settings.retention_days
        return self.cases.delete_decided_before(self.stage_context.clock() - timedelta(days=days)) if days else 0

    @property
    def settings(self) -> Settings:
        """The settings as read at the start."""
        return self.stage_context.settings

    @property
    def engine(self) -> Engine:
        """The engine that makes claims, searches, notes and judgements."""
        return self.stage_context.engine

    @property
    def libraries(self) -> Libraries:
        """The local libraries."""
        return self.stage_context.libraries

    @property
    def embedder(self) -> Embedder:
        """The embedder, with its cache."""
        return self.stage_context.embedder

    @property
    def reader(self) -> SourceReader:
        """The reader of pages and papers."""
        return self.stage_context.reader

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- long work ---

    def start(self, case_id: str, kind: str) -> JobRecord:
        """Start work of a kind of `JOBS`, or resume it: what was finished before is kept.

        A demonstration with recorded answers uses them, whatever engine is in use.
        """
        case = self.cases.get(case_id)
        workspace = self.with_engine(RECORDED) if self.choice != RECORDED and case.recorded_answers else self
        steps, make = JOBS[kind].steps(workspace.stages, case_id), partial(_make_job_steps, workspace.stages)
        choice, about = workspace.choice, {"basis": case.scoring_basis} if kind == "assess" else {}
        return self.runner.start_anywhere(
            case_id, kind, steps, make, by=self.actor, engine=choice.base_url, model=choice.model, arguments=about
        )

    def worker(self, *, slots: int, kinds: Sequence[str] | None = None) -> QueueWorker:
        """Return a worker for jobs of any workspace on this database: `slots` jobs of these `kinds` at once.

        Raises ConfigurationError on SQLite, where only the app's own process works, and InputError for an unknown kind.
        """
        from crowdnotes.jobs.queue import QueueWorker

        if not self.runner.is_shared:
            raise ConfigurationError(
                "A worker needs PostgreSQL.",
                "Set CROWDNOTES_DATABASE_URL. With SQLite the app does the work itself.",
            )
        unknown = next((kind for kind in kinds or () if kind not in JOBS), None)
        if unknown is not None:
            raise InputError(f"“{unknown}” is not a kind of work.", f"Use some of: {', '.join(JOBS)}.")
        with_engine = cache(self.with_engine)

        def make(job: JobRecord) -> Sequence[Step]:
            choice = EngineChoice(job.engine, job.model)
            workspace = self if choice == self.choice else with_engine(choice)
            issuer, subject = job.by_key.split(" ", 1)
            current_user = workspace.user_of(Person(issuer=issuer, subject=subject, name=job.by))
            return _make_job_steps(workspace.acting_as(current_user).stages, job)

        return QueueWorker(self.runner.engine, make, self.stage_context.clock, slots=slots, kinds=kinds)

    def cancel(self, job: JobRecord) -> None:
        """Cancel a job, see `JobRunner.cancel`; anyone who may work on the case may stop its work."""
        if job.case_id in _JOB_KINDS_WITHOUT_CASE:
            self.cases.require(Act.SET_UP)
        else:
            self.cases.require(Act.WORK, job.case_id)
        self.runner.cancel(job.id)

    def remove_library(self, name: str) -> None:
        """Remove a library, see `Libraries.remove`."""
        self.cases.require(Act.SET_UP)
        self.libraries.remove(name)

    def index_library(
        self,
        files: Sequence[tuple[str, bytes]],
        name: str,
        columns: Mapping[str, str],
        *,
        replace: bool,
        kind: str = "",
    ) -> JobRecord:
        """Make a library of one table, or of a folder's documents; `columns` names columns of the table by their
        content.

        `kind` is that of `Libraries.add`.
        """
        named = {f"{part}_column": column for part, column in columns.items()}

        def run(progress: Progress) -> str:
            added = self.libraries.add_uploaded(
                files, name, replace=replace, progress=with_time_left(progress, name), kind=kind, **named
            )
            return added.as_text

        return self.start_without_case(LIBRARIES, "index", "Read the file", run)

    def check_connections(self) -> JobRecord:
        """Ask every search and reading service for one thing; `last_answers` gets each answer as it comes."""
        services, seconds = self.services(), self.settings.search.provider_seconds
        reading = make_reading_services(self.settings.search)
        n = len(services) + len(reading)

        def run(progress: Progress) -> str:
            self.last_answers.clear()

            def report(outcome: ProviderOutcome) -> None:
                self.last_answers[outcome.provider] = outcome
                progress.count(len(self.last_answers), n, outcome.label)

            progress.count(0, n)
            outcomes = [*check_providers(services, provider_seconds=seconds, check=progress.check, report=report)]
            outcomes += check_reading(reading, progress.check, report)
            answered = sum(item.state is ProviderState.ANSWERED for item in outcomes)
            return f"{answered} of {n} answered"

        return self.start_without_case(CONNECTIONS, "connections", "Ask each service", run)

    def start_without_case(self, place: str, kind: str, title: str, run: Callable[[Progress], str]) -> JobRecord:
        """Start work of one step on what all cases share; `run` returns its summary."""
        self.cases.require(Act.SET_UP)
        return self.runner.start(place, kind, [plain_step(kind, title, run)], by=self.actor)

    # --- search services ---

    def services(self) -> list[OnlineProvider]:
        """Return every online service, whether it can be asked or not (see its `needs`)."""
        return make_online(self.settings.search)

    @property
    def reading_services(self) -> dict[str, str]:
        """Services that read pages for the program, by name, with what people call them."""
        return {service.name: service.label for service in make_reading_services(self.settings.search)}

    def services_at_first(self) -> list[str]:
        """Return the services that the setting names, and those set up with a key or an address."""
        return default_providers(self.settings.search)

    # --- engines ---

    def find_servers(self, address: str = "") -> list[FoundServer]:
        """Find model servers, see `discovery.find_servers`; the one at a typed `address` comes first."""
        from crowdnotes.engines.llm.discovery import find_servers, server_at

        if address.strip():  # the program itself connects to it
            self.cases.require(Act.SET_UP)
        typed = [server_at(address, self.settings.llm)] if address.strip() else []
        found = find_servers(self.settings.llm)
        return [*typed, *(server for server in found if server.base_url not in {one.base_url for one in typed})]

    def engine_choices(self, found: Sequence[FoundServer]) -> list[EngineChoice]:
        """Return the local engine, the server that is set, the one in use, and each model found."""
        models = (
            EngineChoice(server.base_url, model) for server in found for model in server.models[:_MAX_KEPT_MODELS]
        )
        return list(dict.fromkeys([EngineChoice(), set_choice(self.settings.llm), self.choice, *models]))

    def recommended_model(self) -> tuple[float | None, Recommended | None]:
        """Return the memory of this machine in GB, and the model to start with; each None where unknown."""
        from crowdnotes.engines.llm.discovery import memory_gb, recommended

        return (memory := memory_gb()), recommended(memory)

    def test_model(self) -> JobRecord:
        """Ask the model in use twenty questions; see `run_self_test`."""
        settings = self.settings

        def run(progress: Progress) -> str:
            from crowdnotes.engines.llm.self_test import run_self_test

            found = run_self_test(
                settings_for(self.choice, settings.llm),
                settings.gates,
                self.embedder,
                settings.data_dir,
                check=progress.check,
                report=progress.count,
            )
            return found.as_text

        return self.start_without_case(SELF_TEST, "self-test", "Test the model", run)

    def self_test(self) -> SelfTest | None:
        """Return the last self-test of the model in use; None without one, or if its questions have changed."""
        if self.choice.base_url is None or self.choice == RECORDED:
            return None
        from crowdnotes.engines.llm.self_test import last_self_test

        return last_self_test(settings_for(self.choice, self.settings.llm), self.settings.data_dir)

    def with_engine(self, choice: EngineChoice) -> Workspace:
        """Return the same workspace with another engine; jobs that were started keep their engine.

        Raises ConfigurationError when no model is named.
        """
        settings = self.settings
        engine = make_engine(choice, settings.llm, settings.gates, self.embedder, settings.data_dir, settings.reader)
        context = replace(self.stage_context, engine=engine)
        return replace(self, stage_context=context, choice=choice, stages=StageRunner(self.cases, context))

    def close(self) -> None:
        """Stop jobs and threads, and release the database: a restore needs it alone."""
        self.runner.close()
        use_shared_rates(None)
        self.runner.engine.dispose()


class SharedWorkspace:
    """The workspace of a running app, for all who use it, each with their own engine. Safe between threads."""

    def __init__(self, opened: Workspace) -> None:
        self.opened = opened  # as the owner of the machine, with the engine that is set
        self._by_engine = {opened.choice: opened}
        self._chosen: dict[str, tuple[float, _Choices]] = {}  # by a person's key: when it was read, and the choices
        self._lock = threading.Lock()
        if opened.settings.workers and opened.runner.is_shared:
            worker = opened.worker(slots=opened.settings.workers)
            threading.Thread(target=worker.run, name="worker", daemon=True).start()
        if opened.settings.retention_days:
            threading.Thread(target=self._delete_old_cases_daily, name="retention", daemon=True).start()

    def _delete_old_cases_daily(self) -> None:
        while True:
            try:
                _log.info("Old cases were removed: %d", self.opened.delete_old_cases())
            except StoreError:
                _log.warning("Old cases could not be removed; tomorrow it is tried again.", exc_info=True)
            time.sleep(_DAY_SECONDS)

    @property
    def current(self) -> Workspace:
        """The workspace of the owner of the machine."""
        return self.for_person(None)

    @property
    def engine_for_all(self) -> EngineChoice | None:
        """The engine that an admin chose for everybody; None while each may choose."""
        return self._engines("")[0]

    def for_person(self, person: Person | None, *, recorded: bool = False) -> Workspace:
        """Return the workspace of that person, None for the owner; `recorded` with the answers of demonstrations."""
        current_user = self.opened.current_user if person is None else self.opened.user_of(person)
        key = self.opened.actor.key if person is None else person.key
        for_all, own = (RECORDED, None) if recorded else self._engines(key)
        choice = for_all or own or self.opened.choice
        with self._lock:
            if choice not in self._by_engine:
                self._by_engine[choice] = self.opened.with_engine(choice)
            opened = self._by_engine[choice]
        return opened if person is None else opened.acting_as(current_user)

    def use(self, choice: EngineChoice, by: Workspace, *, for_all: bool = False) -> None:
        """Use another engine for what that person starts from now on; its server has to answer.

        `for_all`: for what anyone starts, until a person who may do so chooses an engine without it. `by` is the
        workspace of the person who asks. Raises NotAllowedError, ConfigurationError or ModelServerError; the old one
        then stays.
        """
        if for_all or self.engine_for_all is not None:
            by.cases.require(Act.SET_UP)
        by.cases.require(Act.WORK)
        if choice.base_url is not None:
            from crowdnotes.engines.llm.discovery import require_answer

            require_answer(choice, self.opened.settings.llm)
        made = self.opened.with_engine(choice)  # again: a key may have been set meanwhile
        with self._lock:
            self._by_engine[choice] = made
        by.people.choose_engine(choice, self._configured_engine, for_all=for_all)
        with self._lock:
            self._chosen.clear()

    @property
    def _configured_engine(self) -> str:
        llm = self.opened.settings.llm
        return f"{llm.base_url} {llm.model}"

    def _engines(self, key: str) -> _Choices:
        # A page asks some forty times while it is drawn; another process's choice is read within a second.
        now = time.monotonic()
        with self._lock:
            read_at, choices = self._chosen.get(key, (-math.inf, (None, None)))
        if now - read_at >= _CHOICE_SECONDS:
            choices = self.opened.people.engines(key, self._configured_engine)
            with self._lock:
                fresh = {one: kept for one, kept in self._chosen.items() if now - kept[0] < _CHOICE_SECONDS}
                self._chosen = {**fresh, key: (now, choices)}
        return choices


def open_workspace(
    settings: Settings | None = None,
    *,
    embedder: Embedder | None = None,
    engine: Engine | None = None,
    fetcher: PageFetcher | None = None,
    links: LinkAsker | None = None,
    options: GatherOptions | None = None,
    by: str = "",
) -> Workspace:
    """Open the data folder and the database, made on first use; each boundary is the default one if not given.

    `options` say how sources are gathered, for studies; `by` names the owner of the machine. The embedding model is
    read when it is first needed (`warm_up` does it early). Raises ConfigurationError or StoreError.
    """
    settings = settings or load_settings()
    try:
        settings.make_data_dir()
    except OSError as error:
        sentence = f"CrowdNotes cannot create the data folder {settings.data_dir} ({error.strerror})."
        raise StoreFullError(sentence) from error
    database = open_database(settings.resolved_database_url)
    # On PostgreSQL all machines share the clock and the rate limit of each service; on SQLite both are this process's.
    is_shared = database.dialect.name == "postgresql"
    clock = clock_of(database) if is_shared else system_clock
    use_shared_rates(database if is_shared else None)
    cached = make_embedder(settings, embedder)
    choice = set_choice(settings.llm)
    libraries = Libraries(settings.libraries_dir, cached, SharedLibraries(database) if is_shared else None)
    wayback = make_wayback(settings)
    reader = SourceReader(
        fetcher or _make_page_fetcher(settings),
        AbstractFinder(make_providers(settings, libraries)),
        settings.evidence.categories,
        wayback,
        by=page_readers().extract,
        services=make_reading_services(settings.search),
        private_hosts=settings.allowed_private_hosts,
    )
    owner, store = local_owner(by or settings.author), Store(database)

    def current_user() -> Actor:
        return owner

    cases = Cases(store, current_user, clock, settings)
    link_asker = links or DemonstrationLinks(HttpLinkAsker(settings.fetch, settings.allowed_private_hosts))
    context = StageContext(
        cases=cases,
        engine=engine or make_engine(choice, settings.llm, settings.gates, cached, settings.data_dir, settings.reader),
        embedder=cached,
        reader=reader,
        libraries=libraries,
        providers=lambda names: make_providers(settings, libraries, names),
        settings=settings,
        links=LinkChecker(link_asker, LinkLimits(), clock, wayback=wayback),
        jury=cache(partial(_make_jury, settings, cached)),
        clock=clock,
        options=options or GatherOptions(),
        search_cache=SearchCache(settings.data_dir / "searches.sqlite"),
    )
    runner = _make_job_runner(database, settings.workers, clock)
    return Workspace(
        store=store,
        stage_context=context,
        current_user=current_user,
        cases=cases,
        stages=StageRunner(cases, context),
        runner=runner,
        choice=choice,
        comparisons=Comparisons(database, clock, current_user),
        people=People(database, clock, current_user),
        x=_make_to_x(cases, database) if settings.x.is_set else None,
    )


def _make_job_steps(stages: StageRunner, job: JobRecord) -> list[Step]:
    return JOBS[job.kind].steps(stages.with_fence(job), job.case_id)


def _make_to_x(cases: Cases, database: Database) -> ToX:
    from crowdnotes.x_api.client import Tokens, XClient
    from crowdnotes.x_api.submission import ToX

    own = cases.settings.x
    tokens = Tokens(own, cases.settings.data_dir) if own.oauth2_refresh_token else None
    client = XClient(own, book=shared_rate_limiter(database, own.url), tokens=tokens)
    return ToX(database, cases, client)


def check_readiness(settings: Settings) -> str:
    """Raise a CrowdNotesError unless the database answers with this program's schema; return what is slow, or ""."""
    database = connect(settings.resolved_database_url)
    try:
        require_newest(database)
    finally:
        database.dispose()
    return compiled_code_warning()


def _make_job_runner(database: Database, workers: int, clock: Callable[[], datetime]) -> JobRunner:
    """Make the runner; on PostgreSQL jobs on cases are queued, and `workers` of 0 leave them to other processes."""
    if database.dialect.name == "postgresql":
        from crowdnotes.jobs.queue import QueuedRunner

        return QueuedRunner(database, workers or 1, clock)
    require_workers(workers)
    return JobRunner(database, workers, clock)


def _make_jury(settings: Settings, embedder: Embedder) -> Jury:
    from crowdnotes.jury import open_jury

    return open_jury(settings.jury, embedder)


def _make_page_fetcher(settings: Settings) -> PageFetcher:
    """Fetch through the cache, if one is set; pages of the demonstration come from its own folder."""
    bounds = settings.fetch
    path = settings.data_dir / "pages.sqlite"
    cache = PageCache(path, bounds.cache_mb, bounds.max_bytes) if bounds.cache_mb else None
    private = {name.partition(":")[0] for name in settings.allowed_private_hosts}  # no rate limit for the owner's hosts

    def turn(url: str, check: Callable[[], None]) -> AbstractContextManager[None]:
        return nullcontext() if host(url) in private else page_rate_limit(url, check)

    return DemonstrationFetcher(Fetcher(bounds, settings.allowed_private_hosts, cache, turn))


def warm_up(workspace: Workspace) -> None:
    """Read the models and start the page readers now, so that no search, draft or score waits for them (about 10 s).

    No server is asked. The very first start also compiles the loops of the Algorithm page, which would wait for them.
    """
    page_readers().start()
    workspace.embedder.encode(["warm-up"])
    workspace.embedder.token_spans("warm-up")
    workspace.with_engine(RECORDED)  # loads the modules that every engine with a server needs
    post, note = Post(text="A post to load the judges"), "A note. https://who.int"
    judge_helpfulness(post, note)
    workspace.stage_context.jury().verdict(post.text, note)
    # What is loaded stays; collecting garbage in it would stop everything for half a second.
    gc.collect()
    gc.freeze()
    if not has_kept_code():
        from crowdnotes.public_data.small_world import WorldOptions, make_world

        make_world(WorldOptions())
