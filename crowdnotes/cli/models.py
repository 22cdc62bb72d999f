"""`crowdnotes models …`: the language models at hand, and their keys."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from crowdnotes.cli.output import Json, open_workspace, print_json, print_text, progress

app = typer.Typer(help="AI: servers, models and keys.", invoke_without_command=True)
key_app = typer.Typer(help="Keys of servers, in the system's keyring.", no_args_is_help=True)
app.add_typer(key_app, name="key")


@app.callback()
def models(context: typer.Context, as_json: Json = False) -> None:
    """List the server that is set and those on this machine, with their models."""
    if context.invoked_subcommand is not None:
        return
    from crowdnotes.engines.llm.discovery import find_servers
    from crowdnotes.settings import load_settings

    settings = load_settings().llm
    found = find_servers(settings)
    if as_json:
        print_json({"engine": "llm" if settings.base_url else "local", "servers": [asdict(server) for server in found]})
        return
    if not found:
        print_text("Working without AI: none is set up or found on this machine.")
        print_text("Set one with CROWDNOTES_LLM_BASE_URL and CROWDNOTES_LLM_MODEL.")
    for server in found:
        print_text(f"{server.name}  {server.base_url}{'  (set)' if server.is_set else ''}")
        for model in server.models:
            print_text(f"    {model}")
        if server.problem:
            progress(f"    {server.problem}")
        elif not server.models:
            print_text("    no models")


@app.command("test")
def ask_questions(as_json: Json = False) -> None:
    """Ask the model that is set twenty questions, and say at what it fails. Costs about 40,000 tokens."""
    from crowdnotes.engines.embedding import make_embedder
    from crowdnotes.engines.llm.self_test import AREAS, run_self_test
    from crowdnotes.settings import load_settings

    settings = load_settings()
    found = run_self_test(
        settings.llm,
        settings.gates,
        make_embedder(settings),
        settings.data_dir,
        report=lambda done, of: progress(f"{done} of {of}"),
    )
    if as_json:
        shown = {"right": found.right, "of": found.of, "is_weak": found.is_weak, "fails_at": found.fails_at}
        print_json(found.model_dump(mode="json") | shown)
        return
    print_text(f"{' and '.join(dict.fromkeys(found.models))} on {found.server}: {found.as_text}")
    for area, of in found.asked.items():
        missed = [miss for miss in found.misses if miss.area == area]
        print_text(f"    {AREAS[area][0]}: {of - len(missed)} of {of}")
        for miss in missed:
            print_text(f"        {miss.fault} ({miss.asked})")
    for words in found.fails_at:
        print_text(f"Weak: it {words}.")


@app.command("record")
def record() -> None:
    """Record the answers of the model that is set to the examples, so that they can be shown without a model."""
    from dataclasses import replace
    from tempfile import TemporaryDirectory

    from crowdnotes.demo_tour import choices, practise
    from crowdnotes.engines.choice import RECORDED, recorded_engine
    from crowdnotes.engines.embedding import make_embedder
    from crowdnotes.engines.llm.api_keys import key_for
    from crowdnotes.engines.llm.recorded import FILE, Live, RecordedAnswers
    from crowdnotes.engines.llm.server import ModelServer
    from crowdnotes.errors import ConfigurationError
    from crowdnotes.evidence.demo_pages import examples
    from crowdnotes.settings import load_settings

    settings = load_settings()
    llm = settings.llm
    if llm.base_url is None or not llm.model:
        raise ConfigurationError("No AI is set up.", "Set CROWDNOTES_LLM_BASE_URL and CROWDNOTES_LLM_MODEL.")
    live = Live(ModelServer(llm.base_url, key_for(llm, llm.base_url), llm), llm.model)
    with TemporaryDirectory(prefix="crowdnotes-record-") as folder:
        place, embedder, answers = Path(folder), make_embedder(settings), RecordedAnswers(live=live)
        elsewhere = settings.replace(data_dir=place, database_url=None)
        engine = recorded_engine(answers, embedder, place)
        with replace(open_workspace(elsewhere, embedder=embedder, engine=engine), choice=RECORDED) as workspace:
            for example in examples():
                for used in choices(example):
                    progress(f"{example.title}: {', '.join(used)}")
                    for case in practise(workspace, example, used):
                        progress(f"  {'; '.join(stage.summary for stage in case.stages[-3:])}")
    print_text(f"{answers.save()} answers are in {FILE}.")


@key_app.command("set")
def set_key(base_url: Annotated[str, typer.Argument(help="The server, as https://api.example.org/v1.")]) -> None:
    """Keep a server's key in the system's keyring; it is asked for, or read from standard input."""
    from crowdnotes.engines.llm.api_keys import account, keep_key

    name = account(base_url)
    key = typer.prompt(f"Key for {name}", hide_input=True) if sys.stdin.isatty() else sys.stdin.readline()
    if not key.strip():
        progress("No key was given.")
        raise typer.Exit(1)
    keep_key(base_url, key.strip())
    print_text(f"The key for {name} is in the keyring.")


@key_app.command("remove")
def remove_key(base_url: Annotated[str, typer.Argument(help="The server whose key goes.")]) -> None:
    """Take a server's key out of the keyring."""
    from crowdnotes.engines.llm.api_keys import account, forget_key

    name = account(base_url)
    print_text(f"The key for {name} was removed." if forget_key(base_url) else f"There was no key for {name}.")


@app.command("get")
def get(
    what: Annotated[Literal["reader"], typer.Argument(help="reader: a model that compares a note with its sources.")],  # noqa: ARG001
    model: Annotated[str, typer.Option(help="Its name on the hub.")] = "cross-encoder/nli-deberta-v3-xsmall",
    revision: Annotated[str, typer.Option(help="Branch, tag or commit.")] = "main",
) -> None:
    """Fetch a model once; its revision, checksum and licence are shown. Weights come as safetensors alone."""
    from crowdnotes.engines.choice import reader_folder
    from crowdnotes.engines.local.entailment import fetch_reader
    from crowdnotes.settings import load_settings

    found = fetch_reader(model, revision, reader_folder(Path(model), load_settings().data_dir))
    print_text(f"{found.name}, revision {found.revision}")
    print_text(f"sha256 of its weights {found.sha256}, licence: {found.licence}")
    print_text(f"Use it with CROWDNOTES_READER={found.name}. It only gives hints until you measure it:")
    print_text("crowdnotes models calibrate reader --data FILE")


@app.command("calibrate")
def calibrate(
    what: Annotated[Literal["reader"], typer.Argument(help="reader: the model in CROWDNOTES_READER.")],  # noqa: ARG001
    data: Annotated[Path, typer.Option(help="A note a line: id, passage, note, label, kind.")],
) -> None:
    """Measure the model on faithful and distorted notes; its line and quality are stored next to its weights."""
    from crowdnotes.engines.choice import reader_folder
    from crowdnotes.engines.local.entailment import NliReader
    from crowdnotes.errors import ConfigurationError
    from crowdnotes.studies.bench.judges import calibrate as measure
    from crowdnotes.studies.data_files import read_distortions

    rows = read_distortions(data)
    with open_workspace() as workspace:
        settings = workspace.settings
        if settings.reader is None:
            raise ConfigurationError("No reading model is set.", "Set CROWDNOTES_READER to its folder or name.")
        reader = NliReader(reader_folder(settings.reader, settings.data_dir))
        found = measure(reader, workspace.embedder, rows, lambda line: progress(f"  {line}"))
    print_text(f"{found.as_text}; line at {found.threshold:.3f}.")
    if not found.is_reliable:
        print_text("Hints only: under 100 notes, or not clearly better than chance. A person decides.")
