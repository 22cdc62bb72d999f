"""What each stage of a supernote does: candidates, filters, the jury, the judge of the best, credit.

As `gathering_stages` is for evidence. Only `candidates` writes the case, each answer of a model as it comes: a stop
loses nothing that was paid for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from math import ceil

from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.cases import supernote_actions
from crowdnotes.cases.actions import change_draft
from crowdnotes.cases.gathering_stages import Changes, StageContext, StageResult
from crowdnotes.domain import (
    Act,
    Actor,
    Candidate,
    Case,
    Evidence,
    ExistingNote,
    FilterName,
    JuryVerdict,
    LinkCheck,
    LinkState,
    PrincipleResult,
    StageName,
    StageOutcome,
    SupernoteRound,
    Usage,
    Verdict,
    text_sha256,
)
from crowdnotes.engines import EngineStep, ResultOrigin, SupernoteAnswer, SupernoteBrief, SupernoteWriter
from crowdnotes.engines.embedding import Embedder
from crowdnotes.engines.local.principles import tone_principles
from crowdnotes.engines.metering import completed_calls, run_parallel
from crowdnotes.errors import CrowdNotesError, EngineError, JobCancelled, ModelAnswerError, WorkflowError
from crowdnotes.evidence.passages import PASSAGE_TOKENS
from crowdnotes.jobs import Progress
from crowdnotes.notes.candidates import budget_for, build_candidate, cost, merged, note_subsets
from crowdnotes.notes.existing_notes import links_of, pages_of, unchanged_candidates
from crowdnotes.notes.ranking import best_existing, filtered, ranked, score_of, with_winner
from crowdnotes.notes.sentence_candidates import whole_sentences
from crowdnotes.text.markdown import in_figures
from crowdnotes.text.note_rules import NOTE_LIMIT
from crowdnotes.text.urls import canonical_url

MAX_COMPARED = 5  # candidates that the judge compares, as many as the paper's readers did
_LINKS_PER_CHECK = 16  # the checker's time limit is for one note's links, so more are checked in batches
_MAX_CHECKED_LINKS = 200
_LINK_CHECK_REUSED_FOR = timedelta(hours=1)
_MAX_KEPT_FAILURE_REASONS = 20  # reasons why answers gave no candidate
_TONES_PER_CALL = 20  # candidates whose tone is judged in one call


# --- the current round ---


def _is_round_unfinished(case: Case) -> bool:
    """Return whether the newest round was stopped before its end, and its post and notes are unchanged."""
    work = supernote_actions.require_work(case)
    newest = work.newest
    return (
        newest is not None
        and case.finished_round is None
        and newest.notes == work.notes
        and _is_round_of_post(newest, case)
    )


def _is_round_of_post(made: SupernoteRound, case: Case) -> bool:
    """Return whether the post has the words of the round; else the passages of the round are obsolete."""
    return made.post_sha256 == text_sha256(case.post.whole_text)


def done_before(case: Case, name: StageName) -> StageOutcome | None:
    """Return why a stage of the round need not run: it did, in a round that was stopped before its end."""
    newest = supernote_actions.require_work(case).newest
    ended = next((stage.finished_at for stage in case.stages if stage.name is name), None)
    if newest is None or ended is None or ended < newest.made_at or not _is_round_unfinished(case):
        return None
    return StageOutcome(summary="Done before")


def next_round(case: Case, at: datetime) -> SupernoteRound:
    """Return the round to work on: a stopped one, or a new one with the candidates of unchanged notes."""
    work = supernote_actions.require_work(case)
    newest = work.newest
    if newest is not None and _is_round_unfinished(case):
        return newest.replace(wanted=work.wanted)
    used = tuple(note.id for note in work.used)
    begun = SupernoteRound(
        number=newest.number + 1 if newest else 1,
        made_at=at,
        post_sha256=text_sha256(case.post.whole_text),
        notes=work.notes,
        wanted=work.wanted,
        seed=newest.number if newest else 0,
        written_from=used,
    )
    if newest is None or newest.notes == work.notes or not _is_round_of_post(newest, case):
        return begun
    kept = tuple(item.replace(grade=None, objections=()) for item in unchanged_candidates(newest, work.notes))
    if not kept:
        return begun
    kept_count = work.wanted - _count_candidates_to_write(work.wanted, len(work.changed), len(used))
    return begun.replace(written_from=work.changed, candidates=kept[:kept_count])


def _count_candidates_to_write(wanted: int, fresh: int, used: int) -> int:
    """Return how many candidates are written for so many of the notes."""
    return ceil(wanted * fresh / used) if used else 0


# --- candidates ---


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls of a round that are still to be made, each with its number and the notes that it is shown."""

    calls: tuple[tuple[int, tuple[ExistingNote, ...]], ...]
    a_call: int


def plan_of(made: SupernoteRound, a_call: int) -> Plan:
    """Return the calls that the wanted candidates take, `a_call` in each, without those that were answered."""
    used = made.used
    count = _count_candidates_to_write(made.wanted, len(made.written_from), len(used))
    if not count:
        return Plan((), a_call)
    a_call = min(a_call, count)
    drawn = note_subsets(used, ceil(count / a_call), made.seed, made.written_from)
    return Plan(tuple((place, notes) for place, notes in enumerate(drawn) if place not in made.asked), a_call)


def expected_cost(case: Case, context: StageContext) -> Usage:
    """Estimate what the next round asks of the model: unread pages count as long ones."""
    writer = context.engine.supernotes
    if writer is None:
        return Usage()
    made = next_round(case, context.clock())
    plan = plan_of(made, context.settings.llm.supernote_candidates)
    parts = [cost([notes], _find_linked_passages(case, notes), plan.a_call) for _, notes in plan.calls]
    parts.append(
        cost([made.used[: 2 * MAX_COMPARED]], _find_linked_passages(case, made.used), MAX_COMPARED)
    )  # the judge
    full_length = ExistingNote(id="", text="x" * NOTE_LIMIT)
    tones = [[full_length] * _TONES_PER_CALL] * ceil(made.wanted / _TONES_PER_CALL)
    parts += [cost([batch], (), 1) for batch in tones]
    if case.post.has_words and all(stage.name is not StageName.QUERIES for stage in case.stages):
        parts.append(cost([()], (), 2))  # the claim record
    read = {canonical_url(item.source.url) for item in case.evidence if item.source.url}
    shown = (note for _, notes in plan.calls for note in notes)
    unread = sum(canonical_url(url) not in read for note in shown for url in links_of(note)[:1])
    found = sum(parts, Usage(input_tokens=unread * PASSAGE_TOKENS))
    dollars = writer.price(found.input_tokens, found.output_tokens)
    return found + Usage(dollars=dollars or 0.0, unpriced=found.calls if dollars is None else 0)


def possible_candidates(case: Case, context: StageContext) -> int:
    """Return how many candidates the next round can make without a model, at most as many as are wanted."""
    made = _add_sentence_candidates(next_round(case, context.clock()), case, context.embedder)
    return len(merged(made.candidates)[0])


def candidates(case: Case, progress: Progress, context: StageContext) -> StageResult:
    """Make candidates from the used notes: by a model, or from whole sentences of the notes without one.

    Each answer of a model is stored as it comes; failed calls are repeated when the work is resumed.
    """
    made = next_round(case, context.clock())
    if not made.links:
        made = made.replace(links=_check_note_links(case, made, progress, context))
    writer = context.engine.supernotes
    if writer is None:
        made, failures = _add_sentence_candidates(made, case, context.embedder), ""
    else:
        made, failures = _write_with_model(made, writer, case, progress, context)
    kept, lost = merged(made.candidates)
    made = made.replace(candidates=kept, merged=made.merged + lost)
    said = [f"{len(kept)} drafts from {len(made.used)} notes"]
    if lost:
        said.append(f"{lost} near copies left out")
    if failures:
        said.append(failures)
    return _build_round_changes(case, made), StageOutcome(summary="; ".join(said))


def _add_sentence_candidates(made: SupernoteRound, case: Case, embedder: Embedder) -> SupernoteRound:
    used, count = made.used, max(0, made.wanted - len(made.candidates))
    found = (
        whole_sentences(used, count, made.seed, usable(case), made.links, made.written_from, embedder)
        if made.written_from
        else ()
    )
    return made.replace(candidates=(*made.candidates, *found))


def _write_with_model(
    made: SupernoteRound, writer: SupernoteWriter, case: Case, progress: Progress, context: StageContext
) -> tuple[SupernoteRound, str]:
    plan, brief = plan_of(made, context.settings.llm.supernote_candidates), context.brief(case)
    by = result_origin(context)
    # Else another round of few notes gets cached answers of the round before.
    variant = made.seed * supernote_actions.MAX_CANDIDATES

    def ask(place: int, notes: tuple[ExistingNote, ...]) -> SupernoteAnswer:
        progress.check()
        given = SupernoteBrief(brief, notes, _find_linked_passages(case, notes), budget_for(notes))
        return writer.write(given, plan.a_call, variant=variant + place)

    tasks = [partial(ask, place, notes) for place, notes in plan.calls]
    failed: list[EngineError] = []
    progress.count(0, len(tasks), f"{len(made.candidates)} drafts")
    for number, (index, answer) in enumerate(completed_calls(tasks, context.settings.llm.at_once), 1):
        place, notes = plan.calls[index]
        if isinstance(answer, EngineError):
            failed.append(answer)
        else:
            made = _add_answer(made, answer, place, notes, case, by=by)
            context.cases.update(Act.WORK, case.id, partial(_keep_round, made=made))
        with suppress(JobCancelled):  # the calls stop by themselves; those that ended meanwhile are kept
            progress.count(number, len(tasks), f"{len(made.candidates)} drafts")
    if failed and not made.candidates:
        raise failed[0]
    reasons = dict.fromkeys((*made.lost, *(error.message for error in failed)))
    failures = f"{len(failed)} AI calls failed ({' '.join(dict.fromkeys(e.message for e in failed))})" if failed else ""
    return made.replace(lost=tuple(reasons)[:_MAX_KEPT_FAILURE_REASONS]), failures


def _add_answer(
    made: SupernoteRound,
    answer: SupernoteAnswer,
    place: int,
    notes: Sequence[ExistingNote],
    case: Case,
    *,
    by: ResultOrigin,
) -> SupernoteRound:
    found: list[Candidate] = []
    lost = [*made.lost, *answer.lost]
    for sentences in answer.candidates:
        try:
            found.append(build_candidate(sentences, notes, usable(case), by, made.links))
        except EngineError as error:
            lost.append(error.message)
    there = {item.sha256 for item in made.candidates}
    fresh = {item.sha256: item for item in found if item.sha256 not in there}
    return made.replace(
        candidates=(*made.candidates, *fresh.values()),
        asked=(*made.asked, place),
        lost=tuple(dict.fromkeys(lost))[:_MAX_KEPT_FAILURE_REASONS],
    )


def _keep_round(newest: Case, _: Actor, *, made: SupernoteRound) -> Case:
    """Return the case with what there is of a round so far."""
    if newest.decision is not None:
        return newest
    work = supernote_actions.require_work(newest)
    return newest.replace(supernote=supernote_actions.with_round(work, made))


def result_origin(context: StageContext) -> ResultOrigin:
    """Return the engine and prompt version of candidates."""
    return context.engine.result_origin(EngineStep.WRITING)


def usable(case: Case) -> tuple[Evidence, ...]:
    """Return the passages that a candidate may rest on: all but those that a person rejected."""
    return tuple(item for item in case.evidence if item.verdict is not Verdict.REJECT)


def _find_linked_passages(case: Case, notes: Iterable[ExistingNote]) -> tuple[Evidence, ...]:
    """Return the passages of the pages that these notes link to, and those that a person brought."""
    theirs, of_any = pages_of(notes), pages_of(supernote_actions.require_work(case).notes)

    def belongs(item: Evidence) -> bool:
        page = canonical_url(item.source.url) if item.source.url else ""
        return page in theirs or page not in of_any

    return tuple(item for item in usable(case) if belongs(item))


def _check_note_links(
    case: Case, made: SupernoteRound, progress: Progress, context: StageContext
) -> tuple[LinkCheck, ...]:
    """Ask the used notes' links, each once for all candidates; answers of the last hour are reused."""
    now = context.clock()
    wanted = list(dict.fromkeys(url for note in made.used for url in links_of(note)))[:_MAX_CHECKED_LINKS]
    newest = supernote_actions.require_work(case).newest
    known = (
        {check.url: check for check in newest.links if now - check.checked_at < _LINK_CHECK_REUSED_FOR}
        if newest
        else {}
    )
    missing = [url for url in wanted if url not in known]
    for start in range(0, len(missing), _LINKS_PER_CHECK):
        progress.count(start, len(missing), "links checked")
        some = missing[start : start + _LINKS_PER_CHECK]
        known |= {check.url: check for check in context.links.check(some, progress.check, case.until)}
    return tuple(known[url] for url in wanted)


# --- filters, jury, judge, credit ---


def after_filters(
    found: Sequence[Candidate],
    notes: Sequence[ExistingNote],
    links: Sequence[LinkCheck],
    case: Case,
    context: StageContext,
) -> tuple[Candidate, ...]:
    """Filter candidates; the model in use judges tone, or else the local rules, which words in a name can mislead."""
    texts = [item.text for item in found]
    tone_by_text = dict(zip(texts, _judge_tones(texts, case, context), strict=True))
    return filtered(found, notes, links, usable(case), tone_by_text.__getitem__)


def _judge_tones(texts: Sequence[str], case: Case, context: StageContext) -> list[Sequence[PrincipleResult]]:
    """Judge neutral words and no opinion of each text; nothing, which is NOT RUN, where a model did not answer."""
    writer = context.engine.supernotes
    if writer is None:
        return list(tone_principles(context.embedder, texts))
    brief = context.brief(case)
    batches = [texts[start : start + _TONES_PER_CALL] for start in range(0, len(texts), _TONES_PER_CALL)]
    answers = run_parallel([partial(writer.tone, brief, batch) for batch in batches], context.settings.llm.at_once)
    found: list[Sequence[PrincipleResult]] = []
    for batch, answer in zip(batches, answers, strict=True):
        found += [()] * len(batch) if isinstance(answer, EngineError) else answer
    return found


def filter_stage(case: Case, _: Progress, context: StageContext) -> StageResult:
    """Find the first filter that each candidate fails."""
    made = _require_newest_round(case)
    found = after_filters(made.candidates, made.used, made.links, case, context)
    made = made.replace(candidates=found)
    live = sum(check.state is LinkState.LIVE for check in made.links)
    fell = {name: sum(item.failed is name for item in found) for name in FilterName}
    counts = ", ".join(f"{count} at “{name.as_text}”" for name, count in fell.items() if count)
    links = f"; {live} of {len(made.links)} links work" if made.links else ""
    untested = "".join(f"; not checked for {count} (NOT RUN): {name}" for name, count in made.not_run.items())
    counts = f" ({counts})" if counts else ""
    summary = f"{len(made.passed)} of {len(found)} passed{counts}{links}{untested}"
    return _build_round_changes(case, made), StageOutcome(summary=summary)


def rank_stage(case: Case, progress: Progress, context: StageContext) -> StageResult:
    """Rank all that passed and all existing notes by one jury; without it they stay in order."""
    made = _require_newest_round(case)
    progress.count(0, len(made.passed) + len(made.notes), "notes rated")
    try:
        made = _rank_with_jury(made, case, context)
    except CrowdNotesError as error:
        known, known_by = best_existing(made.notes, {})
        first = made.passed[0].sha256 if made.passed else None
        made = made.replace(best_existing=known, best_by=known_by)
        made = with_winner(
            made, first, f"its place, as simulated readers did not rate it (NOT RUN: {error.message})" if first else ""
        )
        return _build_round_changes(case, made), StageOutcome.not_run(error.message)
    if not made.passed:
        summary = f"No draft passed the checks; simulated readers rated {len(made.notes)} notes"
        return _build_round_changes(case, made), StageOutcome(summary=summary)
    best = made.winning
    line = THRESHOLDS.helpful_intercept
    score = f" at {in_figures(best.score.intercept, line)}" if best and best.score else ""
    summary = f"{len(made.passed)} drafts and {len(made.notes)} notes; the first{score}"
    return _build_round_changes(case, made), StageOutcome(summary=summary)


def _rank_with_jury(made: SupernoteRound, case: Case, context: StageContext) -> SupernoteRound:
    """Rank the round by one jury, which also rates the posted supernote. Raises CrowdNotesError."""
    jury, post = context.jury(), case.post.whole_text.strip() or None
    posted = supernote_actions.require_work(case).posted
    verdict = jury.compare(post, [posted.text])[0] if posted is not None else None
    score = score_of(verdict) if isinstance(verdict, JuryVerdict) else None
    return ranked(made, jury, post).replace(posted=score)


def compare_stage(case: Case, _: Progress, context: StageContext) -> StageResult:
    """Compare the best five by one judge, revise the best, and let the judge choose where the jury is unsure.

    The revised text passes the filters again and is ranked with the rest.
    """
    made, writer = _require_newest_round(case), context.engine.supernotes
    best = made.passed[:MAX_COMPARED]
    if writer is None or not best:
        return {}, StageOutcome.not_run("there is no draft." if writer else "only an AI can do this.")
    # Always with the note that raters like best: the final one is compared with it.
    theirs = {made.best_existing, *(note for item in best for note in item.notes)}
    notes = tuple(note for note in made.used if note.id in theirs)
    given = SupernoteBrief(context.brief(case), notes, _find_linked_passages(case, notes), budget_for(notes))
    try:
        verdict = writer.judge(given, best)
        revised = build_candidate(verdict.final, notes, given.evidence, result_origin(context), made.links)
    except ModelAnswerError as error:
        return {}, StageOutcome.not_run(error.message, instead="the simulated readers' first stays")
    judged = {
        item.sha256: item.replace(grade=grade, objections=said)
        for item, grade, said in zip(best, verdict.grades, verdict.objections, strict=True)
    }
    everyone = [judged.get(item.sha256, item) for item in made.candidates]
    revision = "We kept the best one as it is"
    if revised.sha256 not in {item.sha256 for item in everyone}:
        revised = revised.replace(revised=verdict.changes or "Said in other words.")
        (revised,) = after_filters([revised], made.used, made.links, case, context)
        everyone.append(revised)
        revision = (
            f"The revised note failed “{revised.failed.as_text}”: {revised.why}" if revised.failed else revised.revised
        )
    made = made.replace(candidates=tuple(everyone))
    try:
        made = _rank_with_jury(made, case, context)
    except CrowdNotesError as error:
        made = made.replace(judged=f"NOT RUN: {error.message}")
    winner, why = chosen(made, list(judged), revised.sha256)
    return _build_round_changes(case, with_winner(made, winner, why)), StageOutcome(summary=f"{why}. {revision}")


def chosen(made: SupernoteRound, judged: Sequence[str], revised: str) -> tuple[str | None, str]:
    """Return the winner of those that were judged and the revised one, by sha256, and who chose it.

    The jury, where it sees a difference; else the judge's revised text or its best grade.
    """
    able = [item for item in made.passed if item.sha256 in {*judged, revised}]
    if not able:
        return None, "no draft passed the checks"
    scored = [item for item in able if item.score is not None and not item.score.means_nothing]
    first = max(scored, key=lambda item: item.score.intercept if item.score else 0.0, default=None)
    if first is None or first.score is None:
        alike = able
        said = "the AI: simulated readers cannot judge these texts"
    else:
        line = first.score.interval.low
        alike = [item for item in scored if item.score is not None and item.score.intercept >= line]
        if len(alike) == 1:
            return first.sha256, "the simulated readers"
        said = f"the AI, among {len(alike)} too close for the simulated readers"
    best = max(alike, key=lambda item: (item.sha256 == revised, item.grade if item.grade is not None else -1.0))
    return best.sha256, said


def credit_stage(case: Case, _: Progress, context: StageContext) -> StageResult:
    """Make the winner the draft and the next best its candidates; report what each note gave to it."""
    made = _require_newest_round(case)
    winner = made.winning
    if winner is None:
        none = "No draft passed the checks, so there is no note"
        return {"candidates": ()}, StageOutcome(summary=none, reason=none)
    best = [winner, *(item for item in made.passed if item.sha256 != winner.sha256)][:MAX_COMPARED]
    at = context.clock()
    drafts = tuple(supernote_actions.draft_of(case, item, at) for item in best)
    shares = ", ".join(f"{item.note} {round(100 * item.share)} %" for item in made.credits)
    changes = {"candidates": drafts, **change_draft(case, drafts[0])}
    return changes, StageOutcome(summary=f"Of the winner's words: {shares}")


def _require_newest_round(case: Case) -> SupernoteRound:
    newest = supernote_actions.require_work(case).newest
    if newest is None:
        raise WorkflowError("no round", "There are no drafts yet.", "Make them first.")
    return newest


def _build_round_changes(case: Case, made: SupernoteRound) -> Changes:
    return {"supernote": supernote_actions.with_round(supernote_actions.require_work(case), made)}
