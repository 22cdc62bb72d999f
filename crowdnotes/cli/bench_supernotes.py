"""`crowdnotes bench supernotes`: a supernote for each post of a file, against the best existing note on that post."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdnotes.cli.bench_cases import (
    FirstPosts,
    RunOut,
    finished,
    run_options,
    run_posts,
    run_settings,
    run_unwatched,
    show_figures,
    spent,
)
from crowdnotes.cli.output import EngineOption, Json, open_workspace
from crowdnotes.domain import Case, CrowdStatus, Mode
from crowdnotes.errors import EngineError, InputError, ModelServerError, WorkflowError

if TYPE_CHECKING:
    from crowdnotes.cases.stages import StageRunner
    from crowdnotes.studies.bench.healthnotes import PostRow
    from crowdnotes.studies.bench.notes import NotedPost


def supernotes(
    data: Annotated[Path, typer.Option(help="A post a line: post_id, post (its text, if known), notes.")],
    out: RunOut,
    candidates: Annotated[int, typer.Option(min=1, help="How many for each post.")] = 100,
    engine: Annotated[EngineOption | None, typer.Option(help="Who writes; by default as set.")] = None,
    limit: FirstPosts = None,
    as_json: Json = False,
) -> None:
    """Make a supernote for every post, against the best existing note, and print what it took: calls, tokens, the jury.

    The folder gets notes.jsonl, a line a post, and the cases themselves; `bench compare --run` makes blind pairs of it.
    """
    from crowdnotes.studies.bench.healthnotes import PostRow, RunFolder
    from crowdnotes.studies.bench.notes import NOTED_POSTS, NotedPost, supernote_figures
    from crowdnotes.studies.data_files import read_rows

    posts = read_rows(data, NotedPost, NOTED_POSTS, limit)
    with open_workspace(run_settings(out, engine)) as workspace:
        options = run_options(workspace, data, Mode.AUGMENTATION, None, None, supernote_candidates=candidates)
        folder = RunFolder(out, "notes.jsonl", options, PostRow)
        run_posts({post.post_id: partial(run_supernote, workspace.stages, post, candidates) for post in posts}, folder)
    found = supernote_figures(finished((post.post_id for post in posts), folder))
    show_figures(found, as_json=as_json)


def run_supernote(stages: StageRunner, post: NotedPost, candidates: int) -> PostRow:
    """Return the supernote of one post; its case stays in the run's database.

    What cannot be done for this post is a result; a server that is not there and a stop are raised, and the unfinished
    case is taken away.
    """
    from crowdnotes.cases.supernote_actions import create_supernote
    from crowdnotes.notes.note_files import read_notes
    from crowdnotes.studies.bench.healthnotes import Outcome, PostRow

    began, cases = time.perf_counter(), stages.cases
    row = PostRow(
        note_id=post.post_id,
        is_helpful=False,
        post=post.post or post.address or "",
        human="",
        outcome=Outcome.FAILED,
    )
    try:
        read = read_notes(json.dumps(post.notes).encode(), f"post {post.post_id}")
        case = create_supernote(cases, post.post, notes=read.notes, url=post.address, wanted=candidates)
    except InputError as error:
        return row.replace(reason=error.message, seconds=_measure_seconds(began))
    try:
        run_unwatched(stages.supernote_steps(case.id))
    except ModelServerError:
        cases.delete(case.id)
        raise
    except (EngineError, InputError, WorkflowError) as error:
        failed = {"reason": error.message, "seconds": _measure_seconds(began), **spent(cases.get(case.id))}
        return row.replace(**failed)
    except BaseException:
        cases.delete(case.id)
        raise
    return _add_supernote_result(row, cases.get(case.id)).replace(seconds=_measure_seconds(began))


def _measure_seconds(began: float) -> float:
    return round(time.perf_counter() - began, 2)


def _add_supernote_result(row: PostRow, case: Case) -> PostRow:
    from crowdnotes.cases.supernote_actions import random_candidate
    from crowdnotes.studies.bench.healthnotes import Outcome, SupernoteFigures

    newest = case.supernote.newest if case.supernote else None
    if newest is None:
        raise EngineError("No round was made.")
    best = next((note for note in newest.notes if note.id == newest.best_existing), None)
    winner, other = newest.winning, random_candidate(case)
    known = newest.existing.get(best.id) if best else None
    figures = SupernoteFigures(
        notes=len(newest.notes),
        used=len(newest.used),
        best_by=newest.best_by,
        chosen_by=newest.judged,
        funnel=dict(newest.funnel),
        not_run=newest.not_run,
        winner_intercept=winner.score.intercept if winner and winner.score else None,
        best_intercept=known.intercept if known else None,
        random=other.text if other else "",
        random_intercept=other.score.intercept if other and other.score else None,
        revised=bool(winner and winner.revised),
    )
    why_none = "No draft passed the checks." if newest.candidates else "No draft was made."
    return row.replace(
        is_helpful=bool(best and best.status is CrowdStatus.HELPFUL),
        human=best.text if best else "",
        note=winner.text if winner else "",
        outcome=Outcome.JUDGED if winner else Outcome.ABSTAINED,
        reason="" if winner else why_none,
        candidates=tuple(item.text for item in newest.passed[:5]),
        changes=winner.revised if winner else "",
        supernote=figures,
        **spent(case),
    )
