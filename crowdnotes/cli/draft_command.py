"""`crowdnotes draft`: from a post to a proposed note that awaits a person's inspection."""

from __future__ import annotations

import sys
from datetime import datetime
from itertools import chain, repeat, takewhile
from pathlib import Path
from typing import Annotated

import typer

from crowdnotes.cases.intake import Attachment
from crowdnotes.cli.output import EngineOption, print_json, print_text, progress, read_bytes
from crowdnotes.domain import Mode
from crowdnotes.errors import ConfigurationError, InputError, JobCancelled, JobError
from crowdnotes.evidence.search import make_providers
from crowdnotes.jobs import JobRecord, JobRunner, JobState, Step, StepState
from crowdnotes.notes.drafting import quoted
from crowdnotes.settings import Settings, load_settings
from crowdnotes.workspace import Workspace, open_workspace

_LOOK_SECONDS = 0.5
_ENDED = frozenset({StepState.DONE, StepState.KEPT, StepState.FAILED, StepState.CANCELLED})


def draft(
    post: Annotated[str, typer.Option(help="The post's text; - reads it from standard input.")],
    mode: Annotated[Mode, typer.Option(help="Read the links you bring, or search libraries as well.")],
    url: Annotated[list[str] | None, typer.Option(help="A source to read; may be given several times.")] = None,
    library: Annotated[list[str] | None, typer.Option(help="A library to search; may be given several times.")] = None,
    service: Annotated[
        list[str] | None,
        typer.Option(help="An online service to search, as `providers check` names it; several times."),
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only evidence of this day or before.")
    ] = None,
    image: Annotated[
        list[Path] | None, typer.Option(help="A picture of the post; may be given several times.", dir_okay=False)
    ] = None,
    image_text: Annotated[
        list[str] | None, typer.Option(help="What can be read in the picture; one for each --image, in order.")
    ] = None,
    post_url: Annotated[str | None, typer.Option(help="The post's address on X.")] = None,
    by: Annotated[str | None, typer.Option(help="The name in the audit trail.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole case as JSON.")] = False,
) -> None:
    """Gather evidence, propose a note and score it. The case awaits inspection: a command cannot read for a person."""
    text = sys.stdin.read() if post == "-" else post
    with open_workspace(by=by or "") as workspace:
        cases, runner = workspace.service, workspace.runner
        case = cases.create(
            text,
            mode=mode,
            url=post_url,
            urls=url or [],
            libraries=known_libraries(library or [], workspace),
            services=known_services(service or [], workspace),
            until=until.date() if until else None,
            attached=_attached(image or [], image_text or []),
            to_gather=True,
        )
        progress(f"case {case.id}")
        run_steps(runner, case.id, "gather", cases.gather_steps(case.id))
        if cases.get(case.id).evidence:
            run_steps(runner, case.id, "write", cases.write_steps(case.id, before_inspection=True))
            if cases.get(case.id).draft is not None:
                run_steps(runner, case.id, "assess", cases.assess_steps(case.id, before_inspection=True))
        case = cases.get(case.id)
    if as_json:
        print_json(case)
        return
    for item in case.evidence:
        print_text(f"{item.id}  {item.source.title}  {item.source.url or ''}".rstrip())
    for quotation in case.quotations:
        passage = case.evidence_by_id(quotation.evidence_id)
        if passage is not None:
            print_text(f"\n{quoted(passage, quotation)}")
    why_none = "No note was written from this evidence." if case.evidence else "No passage that helps was found."
    to_do = "read the passages and decide" if case.evidence else "bring sources of your own, or decide"
    print_text(f"\n{case.draft.text if case.draft else why_none}")
    print_text(f"\nCase {case.id}: {case.status.value}. Open it on the Draft page to {to_do}.")


def _attached(files: list[Path], texts: list[str]) -> list[Attachment]:
    if len(texts) > len(files):
        raise InputError("There are more --image-text than --image.", "Give one text for each picture, in order.")
    read = zip(files, chain(texts, repeat("")), strict=False)
    return [Attachment(read_bytes(file), file.name, text) for file, text in read]


def settings_with(engine: EngineOption | None) -> Settings:
    """The user's settings with that engine. Raises ConfigurationError when no server is set for a model."""
    settings = load_settings()
    if engine is EngineOption.LLM and settings.llm.base_url is None:
        raise ConfigurationError(
            "No language model is set.", "Set CROWDNOTES_LLM_BASE_URL and CROWDNOTES_LLM_MODEL, or use --engine local."
        )
    if engine is EngineOption.LOCAL:
        settings = settings.model_copy(update={"llm": settings.llm.model_copy(update={"base_url": None})})
    return settings


def known_services(services: list[str], workspace: Workspace) -> list[str]:
    """The services as given. Raises InputError for one that there is not."""
    names = {provider.name for provider in make_providers(workspace.settings, workspace.libraries)}
    unknown = next((name for name in services if name not in names), None)
    if unknown is not None:
        raise InputError(f"There is no service “{unknown}”.", f"Use one of: {', '.join(sorted(names))}.")
    return services


def known_libraries(libraries: list[str], workspace: Workspace) -> list[str]:
    """The libraries as given. Raises InputError for one that there is not."""
    names = {info.name for info in workspace.libraries.list()}
    unknown = next((name for name in libraries if name not in names), None)
    if unknown is not None:
        raise InputError(f"There is no library “{unknown}”.", "`crowdnotes library list` shows those there are.")
    return libraries


def run_steps(runner: JobRunner, case_id: str, kind: str, steps: list[Step]) -> None:
    """Run steps to their end, each told as it ends; Ctrl+C cancels, and what was finished is kept."""
    job = runner.start(case_id, kind, steps)
    told = 0
    try:
        while job.state.under_way:
            job = runner.wait(job.id, timeout=_LOOK_SECONDS)
            told = _tell(job, told)
    except KeyboardInterrupt:
        runner.cancel(job.id)
        runner.wait(job.id, timeout=30)
        progress("cancelled; finished stages are kept")
        raise typer.Exit(130) from None
    _raise_unless_done(job)


def _tell(job: JobRecord, told: int) -> int:
    """Print the steps that have ended and were not told yet, in order; how many are told now."""
    steps = job.steps[told:]
    ended = list(takewhile(lambda step: not job.state.under_way or step.state in _ENDED, steps))
    for step in ended:
        progress(f"  {step.title}: {step.summary or step.error or step.state}")
    return told + len(ended)


def _raise_unless_done(job: JobRecord) -> None:
    if job.state is JobState.DONE:
        return
    if job.state is JobState.CANCELLED:
        raise JobCancelled("The work was cancelled.")
    failed = next((step for step in job.steps if step.error), None)
    if failed is not None:
        raise JobError(failed.error, failed.next_step)
    raise JobError(f"The work ended {job.state.value}.")
