"""`crowdnotes batch`, `draft` and `supernote`: work a whole case, which then awaits a person."""

from __future__ import annotations

import sys
from datetime import datetime
from itertools import chain, repeat, takewhile
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer

from crowdnotes.batches import Batch
from crowdnotes.cases import intake, supernote_actions
from crowdnotes.cases.intake import Attachment
from crowdnotes.cli.output import EngineOption, print_json, print_text, progress, read_bytes, writing_to
from crowdnotes.domain import Candidate, Case, Mode, SupernoteRound, SupernoteScore
from crowdnotes.errors import ConfigurationError, InputError, JobCancelled, JobError
from crowdnotes.evidence.search import make_providers
from crowdnotes.jobs import JobRecord, JobRunner, JobState, Step, StepState
from crowdnotes.notes.drafting import with_quotation
from crowdnotes.notes.note_files import ReadNotes, notes_of_post, read_notes
from crowdnotes.post_files import remark_on
from crowdnotes.settings import Settings, load_settings
from crowdnotes.workspace import Workspace, open_workspace


def batch(
    file: Annotated[
        Path,
        typer.Argument(help="CSV, TSV, JSON, JSON Lines or Parquet with text; optional id, links and url."),
    ],
    budget: Annotated[float | None, typer.Option(min=0, help="The batch's budget, in dollars.")] = None,
    day_budget: Annotated[
        float | None, typer.Option(min=0, help="The day's budget for all batches, in dollars.")
    ] = None,
    posts: Annotated[str, typer.Option(help="The column of posts, if it is not named “text”.")] = "",
    links: Annotated[
        str, typer.Option(help="The column of links to sources, if it is not named “links” or the like.")
    ] = "",
    at_once: Annotated[int, typer.Option(min=1, max=1000, help="How many posts at once.")] = 8,
    again: Annotated[bool, typer.Option("--again", help="Try failed rows again.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as CSV.")] = None,
) -> None:
    """Find sources for each post, write and score a note. It decides nothing; run it again and it goes on."""
    if out is not None and out.exists() and file.exists() and out.samefile(file):
        raise InputError(f"The results would replace your posts in {file}.", "Give --out another name.")
    with open_workspace() as workspace:
        work = Batch(workspace, file, budget=budget, day_budget=day_budget, posts=posts, links=links)
        if remark := remark_on(file):
            progress(remark)
        if again:
            work.retry_failed()
        last_report: list[str] = []

        def report(words: str) -> None:
            if last_report[-1:] != [words]:
                last_report[:] = [words]
                progress(words)

        try:
            work.run(at_once, report)
        finally:
            progress(work.as_text())
            if out is not None:
                with writing_to(out) as table:
                    work.write_results(table)


_POLL_SECONDS = 0.5
_ENDED_STATES = frozenset({StepState.DONE, StepState.KEPT, StepState.FAILED, StepState.CANCELLED})


def draft(
    post: Annotated[str, typer.Option(help="The post's text; - reads standard input.")],
    mode: Annotated[Mode, typer.Option(help="Read your links, or search as well.")],
    url: Annotated[list[str] | None, typer.Option(help="A source to read; repeatable.")] = None,
    library: Annotated[list[str] | None, typer.Option(help="A library to search; repeatable.")] = None,
    service: Annotated[
        list[str] | None,
        typer.Option(help="An online service to search, named as in `providers check`; repeatable."),
    ] = None,
    until: Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only evidence up to this day.")] = None,
    image: Annotated[list[Path] | None, typer.Option(help="A picture of the post; repeatable.", dir_okay=False)] = None,
    image_text: Annotated[
        list[str] | None, typer.Option(help="The picture's text; one for each --image, in order.")
    ] = None,
    post_url: Annotated[str | None, typer.Option(help="The post's address on X.")] = None,
    by: Annotated[str | None, typer.Option(help="The name in the audit trail.")] = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="Go on though readers may want no note.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole case as JSON.")] = False,
) -> None:
    """Gather evidence, propose a note and score it. The case awaits inspection: a command cannot read for a person."""
    text = sys.stdin.read() if post == "-" else post
    with open_workspace(by=by or "") as workspace:
        cases, runner = workspace.cases, workspace.runner
        case = intake.create_case(
            cases,
            text,
            mode=mode,
            url=post_url,
            urls=url or [],
            libraries=known_libraries(library or [], workspace),
            services=known_services(service or [], workspace),
            until=until.date() if until else None,
            attached=_read_attachments(image or [], image_text or []),
            to_gather=True,
        )
        progress(f"case {case.id}")
        if anyway:
            cases.apply(case.id, intake.write_anyway)
        run_steps(runner, case.id, "gather", workspace.stages.gather_steps(case.id))
        if cases.get(case.id).evidence:
            run_steps(runner, case.id, "write", workspace.stages.write_steps(case.id, before_inspection=True))
            if cases.get(case.id).draft is not None:
                run_steps(runner, case.id, "assess", workspace.stages.assess_steps(case.id, before_inspection=True))
        case = cases.get(case.id)
    if as_json:
        print_json(case)
        return
    for item in case.evidence:
        print_text(f"{item.id}  {item.source.title}  {item.source.url or ''}".rstrip())
    for quotation in case.quotations:
        passage = case.evidence_by_id(quotation.evidence_id)
        if passage is not None:
            print_text(f"\n{with_quotation('', passage, quotation)}")
    why_none = "No note was written." if case.evidence else "We found no source that helps."
    if case.unwanted is not None and case.unwanted.why_not is not None:
        looks = f"We did not search: this looks like {case.unwanted.why_not.as_text}."
        why_none = f"{looks} {case.unwanted.reason} Use --anyway to write a note all the same."
    to_do = "read the sources and decide" if case.evidence else "add your own sources, or decide"
    print_text(f"\n{case.draft.text if case.draft else why_none}")
    print_text(f"\nCase {case.id}: {case.status.value}. Open it on the Draft page to {to_do}.")


def _read_attachments(files: list[Path], texts: list[str]) -> list[Attachment]:
    if len(texts) > len(files):
        raise InputError("More --image-text than --image.", "Give one text for each picture, in order.")
    read = zip(files, chain(texts, repeat("")), strict=False)
    return [Attachment(read_bytes(file), file.name, text) for file, text in read]


def settings_with(engine: EngineOption | None) -> Settings:
    """Return the user's settings with that engine. Raises ConfigurationError when no server is set for a model."""
    settings = load_settings()
    if engine is EngineOption.LLM and settings.llm.base_url is None:
        raise ConfigurationError(
            "No AI is set up.", "Set CROWDNOTES_LLM_BASE_URL and CROWDNOTES_LLM_MODEL, or use --engine local."
        )
    if engine is EngineOption.LOCAL:
        settings = settings.replace(llm=settings.llm.replace(base_url=None))
    return settings


def known_services(services: list[str], workspace: Workspace) -> list[str]:
    """Return the services as given. Raises InputError for one that there is not."""
    names = {provider.name for provider in make_providers(workspace.settings, workspace.libraries)}
    unknown = next((name for name in services if name not in names), None)
    if unknown is not None:
        raise InputError(f"“{unknown}” is not a search service.", f"Use one of: {', '.join(sorted(names))}.")
    return services


def known_libraries(libraries: list[str], workspace: Workspace) -> list[str]:
    """Return the libraries as given. Raises InputError for one that there is not."""
    names = {info.name for info in workspace.libraries.list()}
    unknown = next((name for name in libraries if name not in names), None)
    if unknown is not None:
        raise InputError(f"There is no library “{unknown}”.", "`crowdnotes library list` shows those there are.")
    return libraries


def run_steps(runner: JobRunner, case_id: str, kind: str, steps: list[Step]) -> None:
    """Run steps to their end, print each as it ends; Ctrl+C cancels, and what was finished is kept."""
    job = runner.start(case_id, kind, steps)
    printed = 0
    try:
        while job.state.under_way:
            job = runner.wait(job.id, timeout=_POLL_SECONDS)
            printed = _print_ended_steps(job, printed)
    except KeyboardInterrupt:
        runner.cancel(job.id)
        runner.wait(job.id, timeout=30)
        progress("cancelled; finished steps are kept")
        raise typer.Exit(130) from None
    _raise_unless_done(job)


def _print_ended_steps(job: JobRecord, printed: int) -> int:
    """Print the steps that have ended and were not printed yet, in order; return how many are printed now."""
    steps = job.steps[printed:]
    ended = list(takewhile(lambda step: step.state in _ENDED_STATES, steps))
    for step in ended:
        progress(f"  {step.title}: {step.summary or step.error or step.state}")
    return printed + len(ended)


def _raise_unless_done(job: JobRecord) -> None:
    if job.state is JobState.DONE:
        return
    if job.state is JobState.CANCELLED:
        raise JobCancelled("The work was cancelled.")
    failed = next((step for step in job.steps if step.error), None)
    if failed is not None:
        raise JobError(failed.error, failed.next_step)
    raise JobError(f"The work ended {job.state.value}.")


_MAX_SHOWN_CANDIDATES = 5


def supernote(
    post: Annotated[str, typer.Option(help="The post's text; - reads standard input.")] = "",
    post_url: Annotated[str | None, typer.Option(help="The post's address on X; then text is optional.")] = None,
    notes: Annotated[
        Path | None, typer.Option(help="The post's notes: CSV, TSV or JSON; text, ratings, tags, status.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Instead of --notes: X's public files, with --post-id.")] = None,
    post_id: Annotated[str | None, typer.Option(help="The post's id, if the file has several posts.")] = None,
    case_id: Annotated[
        str | None, typer.Option("--case", help="An earlier case: redo only what newer notes change.")
    ] = None,
    candidates: Annotated[int | None, typer.Option(help="How many drafts; by default as set.")] = None,
    engine: Annotated[EngineOption | None, typer.Option(help="Who writes; by default as set.")] = None,
    ablation: Annotated[
        bool, typer.Option("--ablation", help="Also show a random draft that passed the checks.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the random draft.")] = 0,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before paying for AI.")] = False,
    by: Annotated[str | None, typer.Option(help="The name in the audit trail.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Candidates from the notes that a post has, filtered, and chosen by a simulated jury; the winner is the draft.

    It awaits inspection on the Draft page, as every draft. Stopped, the same command with --case goes on.
    """
    with open_workspace(settings_with(engine), by=by or "") as workspace:
        cases = workspace.cases
        read = _read_given_notes(notes, data, post_id or post_url)
        for fault in read.faults if read else ():
            progress(f"  {fault}")
        if case_id is not None:
            case = supernote_actions.update_notes(cases, case_id, read.notes) if read else cases.get(case_id)
            if candidates is not None:
                case = cases.apply(case.id, supernote_actions.set_candidate_count, candidates)
        elif read is None:
            raise InputError("There are no notes.", "Give --notes FILE, or --data FOLDER with --post-id.")
        else:
            text = sys.stdin.read() if post == "-" else post
            address = post_url or (f"https://x.com/i/status/{post_id}" if post_id and post_id.isdigit() else None)
            case = supernote_actions.create_supernote(cases, text, notes=read.notes, url=address, wanted=candidates)
        progress(f"case {case.id}")
        needed = supernote_actions.no_note_needed(case)
        for said in filter(None, (needed and f"Before you write: {needed}", *supernote_actions.remarks_on_notes(case))):
            progress(f"  {said}")
        cost = workspace.stages.supernote_cost(case)
        progress(f"  Expected: {cost}")
        if workspace.engine.supernotes is not None and not yes:
            _confirm_spending(case.id)
        run_steps(workspace.runner, case.id, "supernote", workspace.stages.supernote_steps(case.id))
        case = cases.get(case.id)
        found = _build_supernote_report(workspace, case, cost, seed if ablation else None)
    if as_json:
        print_json(found)
    else:
        _print_supernote(case, found)


def _read_given_notes(notes: Path | None, data: Path | None, post: str | None) -> ReadNotes | None:
    """Return the notes that were given, if any were."""
    if notes is not None and data is not None:
        raise InputError("Give one source of notes.", "Give --notes or --data.")
    if data is not None:
        if post is None:
            raise InputError("Which post?", "Give --post-id.")
        return notes_of_post(data, post)
    if notes is None:
        return None
    return read_notes(read_bytes(notes), notes.name, post)


def _confirm_spending(case_id: str) -> None:
    """Raise InputError where nobody is there to be asked, or says no: nothing was spent then."""
    if not sys.stdin.isatty():
        raise InputError("Nothing was spent.", f"Say --yes, or `crowdnotes supernote --case {case_id} --yes`.")
    if not typer.confirm("Go on?", err=True):
        raise InputError("Nothing was spent.", f"`crowdnotes supernote --case {case_id}` goes on.")


def _build_supernote_report(workspace: Workspace, case: Case, cost: str, seed: int | None) -> dict[str, Any]:
    """Return the result for --json."""
    newest = case.supernote.newest if case.supernote else None
    if newest is None:
        raise InputError("No drafts were made.")
    best = next((note for note in newest.notes if note.id == newest.best_existing), None)
    watched = supernote_actions.supernote_update(case)
    found: dict[str, Any] = {
        "case": case.id,
        "post": case.post.text,
        "round": newest.number,
        "no_note_needed": supernote_actions.no_note_needed(case),
        "remarks": supernote_actions.remarks_on_notes(case),
        "engine": workspace.engine.name,
        "expected": cost,
        "used": case.used.model_dump(),
        "funnel": dict(newest.funnel),
        "not_run": newest.not_run,
        "merged": newest.merged,
        "lost": newest.lost,
        "written_from": newest.written_from,
        "winner": _describe_candidate(newest.winning),
        "chosen_by": newest.judged,
        "best_existing": best and {"id": best.id, "text": best.text, "score": newest.existing.get(best.id)},
        "best_existing_by": newest.best_by,
        "credits": [item.model_dump() for item in newest.credits],
        "candidates": [_describe_candidate(item) for item in newest.candidates],
        "existing": {note.id: newest.existing.get(note.id) for note in newest.notes},
        "watched": {
            "better": watched.better,
            "crosses": watched.crossing,
            "replace": watched.replace,
            "why": watched.why,
        },
        "stages": {stage.name.value: stage.summary for stage in case.stages},
    }
    if seed is not None:
        found["ablation"] = _compare_with_chance(newest, supernote_actions.random_candidate(case, seed))
    return found


def _describe_candidate(item: Candidate | None) -> dict[str, Any] | None:
    if item is None:
        return None
    return {
        "text": item.text,
        "notes": item.notes,
        "failed": item.failed,
        "why": item.why,
        "not_run": item.not_run,
        "score": item.score,
        "grade": item.grade,
        "revised": item.revised,
    }


def _compare_with_chance(newest: SupernoteRound, other: Candidate | None) -> dict[str, Any]:
    """Return a random one that passed the filters, and the mean of all of them, to compare with the chosen one."""
    scores = [item.score.intercept for item in newest.passed if item.score is not None]
    return {
        "chosen": _describe_candidate(newest.winning),
        "random": _describe_candidate(other),
        "passed": len(newest.passed),
        "mean_intercept_of_passed": round(mean(scores), 4) if scores else None,
    }


def _print_supernote(case: Case, found: dict[str, Any]) -> None:
    print_text(" → ".join(f"{name} {count}" for name, count in found["funnel"].items()))
    for name, count in found["not_run"].items():
        print_text(f"NOT RUN for {count}: {name}")
    winner, best = found["winner"], found["best_existing"]
    if winner is None:
        print_text("\nNo draft passed the checks, so there is no note. The first failed because:")
        for item in found["candidates"][:_MAX_SHOWN_CANDIDATES]:
            print_text(f"  {item['failed'].value}: {item['why']}")
        return
    print_text(f"\nThe winner, chosen by {found['chosen_by']}{_format_score(winner['score'])}:\n{winner['text']}")
    if best is not None:
        score = _format_score(best["score"])
        print_text(f"\nThe best existing note {best['id']}, by {found['best_existing_by']}{score}:\n{best['text']}")
    if "ablation" in found:
        other = found["ablation"]["random"]
        said = f"{_format_score(other['score'])}:\n{other['text']}" if other else ": no other passed."
        print_text(f"\nA random draft that passed the checks{said}")
    shares = (f"{item['note']} {100 * item['share']:.0f} %" for item in found["credits"])
    print_text(f"\nCredit by words: {', '.join(shares)}")
    for said in (found["watched"]["better"], found["watched"]["crosses"], found["watched"]["why"]):
        if said:
            print_text(said)
    print_text(f"\nCase {case.id}: {case.status.value}. Open it on the Supernote or Draft page to read its sources.")


def _format_score(score: SupernoteScore | None) -> str:
    return f" (simulated score {score.intercept:.2f})" if score is not None else ""
