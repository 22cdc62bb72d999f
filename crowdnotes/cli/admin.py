"""`crowdnotes doctor`, `backup`, `restore` and `worker`: for the person who runs an installation."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from sqlalchemy import make_url

from crowdnotes.bridging import compiled_code_folder, compiled_code_warning
from crowdnotes.cli.output import Json, print_json, print_text, progress
from crowdnotes.engines.choice import make_engine, set_choice
from crowdnotes.engines.embedding import make_embedder
from crowdnotes.engines.llm.discovery import require_answer
from crowdnotes.errors import ConfigurationError, CrowdNotesError, StoreFullError
from crowdnotes.evidence.reading.reading_services import make_reading_services
from crowdnotes.evidence.search import default_providers, make_online
from crowdnotes.jobs import require_workers
from crowdnotes.jobs.queue import wait_for_tables
from crowdnotes.logs import log_as_json
from crowdnotes.settings import Settings, SignIn, load_settings
from crowdnotes.storage.backup import make_backup, restore_backup
from crowdnotes.storage.database import connect, require_newest, schema_of
from crowdnotes.workspace import open_workspace, warm_up


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write, as crowdnotes.zip.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
) -> None:
    """Write cases, images, people, comparisons and libraries into one file, while the app goes on.

    Caches, fetched models, settings and keys are not in it. On PostgreSQL it needs pg_dump.
    """
    made = make_backup(load_settings(), file, replace=overwrite)
    print_text(f"{file}: {made.backend}, schema {made.schema_version}, {max(file.stat().st_size / 1e6, 0.1):.1f} MB")
    for library in made.left_out:
        progress(f"Left out: the damaged library “{library}”. Add it again, or remove it.")


def restore(
    file: Annotated[Path, typer.Argument(help="A file from `crowdnotes backup`.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the database and the libraries.")] = False,
) -> None:
    """Put back what is in a backup. Stop the app and the workers first. On PostgreSQL it needs pg_restore."""
    made = restore_backup(load_settings(), file, replace=overwrite)
    print_text(f"Restored as it was on {made.made_at:%Y-%m-%d %H:%M} UTC.")


_MIN_FREE_BYTES = 1_000_000_000  # a day's work with pages, and space for a restore
_SIGN_IN_TIMEOUT_SECONDS = 5.0


def doctor(as_json: Json = False) -> None:
    """Check the data folder, database, model, engine, search services and sign-in. Exit code 1 if one has a fault."""
    settings = load_settings()
    found = [_run_check(name, look, settings) for name, look in _CHECK_BY_NAME.items()]
    if as_json:
        print_json(found)
    else:
        for one in found:
            print_text(f"{'fine ' if one['fine'] else 'FAULT'}  {one['name']}: {one['says']}")
    if not all(one["fine"] for one in found):
        raise typer.Exit(1)


def _run_check(name: str, look: Callable[[Settings], str], settings: Settings) -> dict[str, Any]:
    try:
        return {"name": name, "fine": True, "says": look(settings)}
    except CrowdNotesError as error:
        return {"name": name, "fine": False, "says": str(error)}


def _check_data_folder(settings: Settings) -> str:
    try:
        settings.make_data_dir()
        with tempfile.TemporaryFile(dir=settings.data_dir) as file:
            file.write(b"x")
    except OSError as error:
        raise StoreFullError(
            f"CrowdNotes cannot write {settings.data_dir} ({error.strerror}).",
            "Free some disk space, allow writing, or set CROWDNOTES_DATA_DIR.",
        ) from error
    return f"{settings.data_dir} is writable."


def _check_disk_space(settings: Settings) -> str:
    folder: Path = settings.data_dir.absolute()
    free = shutil.disk_usage(next(one for one in (folder, *folder.parents) if one.exists())).free
    if free < _MIN_FREE_BYTES:
        raise StoreFullError(f"{free / 1e9:.1f} GB free on the disk of {folder}.", "Free at least 1 GB.")
    return f"{free / 1e9:.0f} GB free."


def _check_database(settings: Settings) -> str:
    url = make_url(settings.resolved_database_url)
    if url.drivername.startswith("sqlite"):
        require_workers(settings.workers)
    if url.drivername.startswith("sqlite") and not Path(url.database or "").exists():
        return "SQLite; the app makes it at the first start."
    database = connect(settings.resolved_database_url)
    try:
        kind = "SQLite" if database.dialect.name == "sqlite" else "PostgreSQL"
        if not schema_of(database):
            return f"{kind}, empty; the app fills it at the first start."
        require_newest(database)
        return f"{kind}, schema {schema_of(database)}."
    finally:
        database.dispose()


def _check_embedding_model(settings: Settings) -> str:
    embedder = make_embedder(settings)
    embedder.token_spans("the model is read for this")
    return f"{embedder.name} can be read."


def _check_compiled_code(_: Settings) -> str:
    return compiled_code_warning() or f"In {compiled_code_folder()}."


def _check_engine(settings: Settings) -> str:
    choice = set_choice(settings.llm)
    engine = make_engine(
        choice, settings.llm, settings.gates, make_embedder(settings), settings.data_dir, settings.reader
    )
    require_answer(choice, settings.llm)
    return f"{engine.name} answers."


def _check_search_services(settings: Settings) -> str:
    search = settings.search
    online = {provider.name: provider for provider in make_online(search)}
    reading = {service.name for service in make_reading_services(search)}
    _require_names("CROWDNOTES_SEARCH_SERVICES", search.services or (), online)
    _require_names("CROWDNOTES_SEARCH_READING_SERVICES", search.reading_services, reading)
    for provider in (online[name] for name in search.services or ()):
        if provider.needs is not None:
            said = f"CROWDNOTES_SEARCH_SERVICES has {provider.label}, which is not set up."
            raise ConfigurationError(said, provider.needs)
    asked = default_providers(search)
    lacking = [provider.label for provider in online.values() if provider.needs is not None]
    more = f" Not set up: {', '.join(lacking)}." if lacking else ""
    if not asked:
        return f"CROWDNOTES_SEARCH_SERVICES ticks none.{more}"
    return f"{len(asked)} ticked at first; `crowdnotes providers check` tests them.{more}"


def _require_names(variable: str, named: Collection[str], known: Collection[str]) -> None:
    if unknown := [name for name in named if name not in known]:
        raise ConfigurationError(
            f"{variable} has unknown names: {', '.join(unknown)}.", f"Use some of: {', '.join(known)}."
        )


def _check_sign_in(settings: Settings) -> str:
    sign_in = settings.sign_in
    if sign_in.way is SignIn.NOBODY:
        return "Nobody signs in: the app runs for this machine alone."
    if sign_in.way is not SignIn.OPENID:
        return f"By {sign_in.way}."
    try:
        answer = httpx.get(str(sign_in.metadata_url), timeout=_SIGN_IN_TIMEOUT_SECONDS).raise_for_status().json()
        return f"The provider {answer['issuer']} answers."
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"The sign-in provider does not answer ({type(error).__name__}).",
            "Check CROWDNOTES_SIGN_IN_METADATA_URL and the provider.",
        ) from error


_CHECK_BY_NAME: dict[str, Callable[[Settings], str]] = {
    "data folder": _check_data_folder,
    "disk space": _check_disk_space,
    "database": _check_database,
    "embedding model": _check_embedding_model,
    "compiled code": _check_compiled_code,
    "engine": _check_engine,
    "search services": _check_search_services,
    "sign-in": _check_sign_in,
}


def worker(
    kinds: Annotated[
        str | None, typer.Option(help="Only these kinds of work, comma-separated; by default all.")
    ] = None,
    slots: Annotated[int, typer.Option(min=1, max=64, help="How many jobs at once.")] = 4,
) -> None:
    """Do the work that the app and `crowdnotes batch` ask for, until Ctrl+C. It needs a PostgreSQL database.

    Start as many as you like, on as many machines: when one dies, another goes on with its work. One that is started
    before the database, or before the app made the tables, waits for them.
    """
    settings = load_settings()
    report: Callable[[str], None] = progress
    if settings.log_json:
        log_as_json()
        report = logging.getLogger(__name__).info
    wait_for_tables(settings.resolved_database_url, report)
    with open_workspace(settings) as workspace:
        doing = workspace.worker(slots=slots, kinds=[kind.strip() for kind in kinds.split(",")] if kinds else None)
        warm_up(workspace)
        report(f"waiting for work, {slots} at once")
        doing.run(heed_signals=True)
    report("stopped; another worker takes over")
