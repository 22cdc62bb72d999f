"""What approval demands: a person read and judged every passage, and every link answers.

`obstacles` lists every rule that still refuses, so that a page can show what a case waits for; `decide` refuses with
the first of them. Some can be overridden by a written reason, which the decision keeps with the obstacle's id.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime, timedelta

from crowdnotes.cases.actions import add_event, checked_reason, own_check, require_open
from crowdnotes.cases.blinding import (
    counted_readings,
    hide_other_reviews,
    informed_keys,
    is_claimed_by_others,
    pairs,
    reading_by,
    waits_for_readers,
)
from crowdnotes.cases.cases import Cases
from crowdnotes.cases.moderation import require_free
from crowdnotes.domain import (
    BY_PERSON,
    Act,
    Actor,
    Case,
    Classification,
    Decision,
    DecisionKind,
    DeskState,
    Draft,
    Event,
    GateStatus,
    LinkCheck,
    LinkState,
    Obstacle,
    ObstacleId,
    ObstacleKind,
    Override,
    Person,
    StageOutcome,
    Support,
    may,
    refusal,
    remaining,
)
from crowdnotes.errors import WorkflowError
from crowdnotes.evidence.link_check import LinkChecker
from crowdnotes.jobs import Progress
from crowdnotes.notes.gates import GATES, unfound_quotes
from crowdnotes.settings import Settings
from crowdnotes.text.lint import blocking, lint
from crowdnotes.text.markdown import clip
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.urls import canonical_url
from crowdnotes.wording import plural


def obstacles(case: Case, at: datetime, by: Person, *, readers: int = 1) -> tuple[Obstacle, ...]:
    """Return every rule that refuses that person's approval at that moment, whatever reasons were written; or none.

    `readers` is how many moderators have to read every case.
    """
    return tuple(_find_obstacles(case, at, by, readers))


def decide(
    case: Case,
    at: datetime,
    by: Person,
    kind: DecisionKind,
    *,
    reason: str = "",
    overrides: Mapping[ObstacleId, str] | None = None,
    seen: str | None = None,
    readers: int = 1,
) -> Case:
    """End the case. Approval needs every rule met; the other three are free, with or without a reason.

    A moderator who rejects another person's case has to say why: the author reads it.

    `seen` is the sha256 of the text that the person saw; approval needs it, so that nobody approves a text that changed
    in another tab. `readers` as in `obstacles`.
    """
    require_open(case)
    require_free(case, by)
    is_of_another = case.desk.state is DeskState.SUBMITTED and case.owner_key != by.key
    if kind is DecisionKind.REJECTED and is_of_another and not checked_reason(reason):
        raise WorkflowError("reason needed", WHY_REJECT, "Write it as your comment. The author reads it.")
    reasons = {obstacle: checked_reason(text) for obstacle, text in (overrides or {}).items()}
    sha256 = case.draft.sha256 if case.draft else None
    found: tuple[Obstacle, ...] = ()
    if kind is DecisionKind.APPROVED:
        seen_by_them, found = hide_other_reviews(case, by), obstacles(case, at, by, readers=readers)
        for waiting in remaining(obstacles(seen_by_them, at, by, readers=readers), reasons):
            raise WorkflowError(waiting.id.kind.value, waiting.sentence, waiting.lifts)
        for waiting in remaining(found, reasons):
            if seen_by_them is not case:
                raise WorkflowError("unread", _READ_TO_END, _WHERE_TO_READ)
            raise WorkflowError(waiting.id.kind.value, waiting.sentence, waiting.lifts)
    if kind is DecisionKind.APPROVED and seen != sha256:
        raise WorkflowError("edited elsewhere", "The note changed since you read it.", "Read it again.")
    decision = Decision(
        kind=kind,
        by=by.name,
        by_key=by.key,
        at=at,
        reason=checked_reason(reason),
        text_sha256=sha256,
        overrides=tuple(Override(obstacle=item.id, reason=reasons[item.id]) for item in found),
    )
    # Stored, so that a later change of the setting does not change this case.
    wanted = max(case.desk.readers, readers) if case.desk.state is DeskState.SUBMITTED else case.desk.readers
    passed_over = "".join(f"; although {item.obstacle.although()}: {item.reason}" for item in decision.overrides)
    event = Event(
        at=at,
        by=by.name,
        by_key=by.key,
        kind="decided",
        detail=f"{kind.as_text} {decision.reason}".strip() + passed_over,
        result=kind.value,
    )
    return add_event(case, event, {"decision": decision, "desk": case.desk.replace(lease=None, readers=wanted)})


def decide_case(
    cases: Cases,
    case_id: str,
    kind: DecisionKind,
    *,
    reason: str = "",
    overrides: Mapping[ObstacleId, str] | None = None,
    seen: str | None = None,
) -> Case:
    """End a stored case, see `decide`, with as many readers as the settings ask for."""
    readers = _count_readers_of_every_case(cases.settings)

    def end(case: Case, by: Actor) -> Case:
        return decide(case, cases.now(), by, kind, reason=reason, overrides=overrides, seen=seen, readers=readers)

    return cases.update(Act.DECIDE, case_id, end)


def obstacles_for(cases: Cases, case: Case) -> tuple[Obstacle, ...]:
    """Return what refuses the actor's approval, see `obstacles`; first of all that they may not decide it, if so."""
    actor, four_eyes = cases.actor, cases.settings.four_eyes
    found = obstacles(case, cases.now(), actor, readers=_count_readers_of_every_case(cases.settings))
    if may(actor, Act.DECIDE, case, four_eyes=four_eyes):
        return found
    why = refusal(Act.DECIDE, case, four_eyes=may(actor, Act.DECIDE, case))
    return (Obstacle(id=ObstacleId(kind=ObstacleKind.NOT_YOURS), sentence=why), *found)


def _count_readers_of_every_case(settings: Settings) -> int:
    return 2 if settings.two_readers and settings.has_desk else 1


WHY_REJECT = "Say briefly why you reject this case."
_READ_TO_END = "You have not read this version of the note to its end."
_WHERE_TO_READ = "Read it on the Queue page."


def _build_obstacle(kind: ObstacleKind, subject: str, sentence: str, lifts: str = "") -> Obstacle:
    return Obstacle(id=ObstacleId(kind=kind, subject=subject), sentence=sentence, lifts=lifts)


def _find_obstacles(case: Case, at: datetime, by: Person, readers: int) -> Iterator[Obstacle]:
    if case.decision is not None:
        yield _build_obstacle(ObstacleKind.DECIDED, "", f"This case is decided: {case.decision.kind.as_text}.")
    if not case.used_evidence:
        yield _build_obstacle(ObstacleKind.NO_EVIDENCE, "", "You use no source.", "Open a source and choose “Use”.")
    draft = case.draft
    if draft is None or not draft.text.strip():
        yield _build_obstacle(ObstacleKind.NO_NOTE, "", "There is no note yet.", "Write the note first.")
    else:
        unread = list(_find_unread_obstacles(case, draft, by))
        yield from unread
        known = {item.sentence for item in unread}
        yield from (item for item in _find_reader_obstacles(case, by, readers) if item.sentence not in known)
        quotes = unfound_quotes(draft.text, case.post.as_read, case.used_evidence)
        found = ((warning.code, warning.message) for warning in (*blocking(lint(draft.text)), *quotes))
        for code, message in dict.fromkeys(found):  # the note may repeat words
            yield _build_obstacle(ObstacleKind.FORM, code, message)
        objected = {item.id.subject for item in unread if _find_objection_by(case, by, item.id.subject) is not None}
        yield from _find_score_obstacles(case, objected)
        yield from _find_link_obstacles(case, draft, at)
    if case.classification is Classification.MISLEADING and not case.tags:
        sentence = "X asks why the post is misleading."
        yield _build_obstacle(ObstacleKind.NO_TAG, "", sentence, "Tick at least one reason.")


def _find_unread_obstacles(case: Case, draft: Draft, by: Person) -> Iterator[Obstacle]:
    """Yield what the person who approves has not opened or judged, of all that the note rests on, whatever others did.

    These are the passages in use, those it was written from, and those of a linked page that none in use is from.
    """
    for name in draft.evidence_ids:
        if case.evidence_by_id(name) is None:
            yield _build_obstacle(
                ObstacleKind.EVIDENCE_GONE,
                name,
                f"The note uses {name}, which is no longer a source.",
                "Bring it back, or write the note again.",
            )
    pages = {_normalise_page_url(url) for url in uninspected_links(case, draft)}
    for item in case.evidence:
        is_linked = item.source.url is not None and _normalise_page_url(item.source.url) in pages
        if item.id not in draft.evidence_ids and not is_linked and not item.used:
            continue
        own = item.review_by(by.key)
        if own is None:
            sentence = f"The note uses {item.id}, which nobody opened."
            if item.reviews:
                sentence = f"You have not read {item.id} yourself."
            yield _build_obstacle(ObstacleKind.UNOPENED, item.id, sentence, "Open and read it.")
        elif own.verdict is None:
            against = _find_objection_by(case, by, item.id)
            sentence = f"You opened {item.id} but have not decided on it."
            if against is not None:
                sentence = f"Your finding on {item.id}: {against.as_text}."
            elif item.verdict:
                sentence = f"You have not decided on {item.id} yourself."
            following = (
                "Choose “Use”, “Read, not cited” or “Reject”."
                if against is None
                else "Send the note back, or change what you found"
            )
            yield _build_obstacle(ObstacleKind.UNJUDGED, item.id, sentence, following)


def _find_objection_by(case: Case, by: Person, evidence_id: str) -> Support | None:
    """Return that person's negative finding of the passage and a sentence that rests on it, if any."""
    checks = (own_check(case, by.key, it.words, it.evidence_id) for it in pairs(case) if it.evidence_id == evidence_id)
    return next(
        (check.support for check in checks if check is not None and check.support in _UNFAVOURABLE_FINDINGS), None
    )


_UNFAVOURABLE_FINDINGS = frozenset({Support.UNSUPPORTED, Support.WRONG_SOURCE, Support.CANNOT_TELL})


def _find_reader_obstacles(case: Case, by: Person, readers: int) -> Iterator[Obstacle]:
    """Yield readings that are missing, and what the person who approves found wrong where a model judged."""
    wanted = 1 if case.recorded_answers else max(case.desk.readers, readers)
    left = waits_for_readers(case, wanted)
    if _has_to_finish(case, by):
        yield _build_obstacle(ObstacleKind.READERS, "yours", _READ_TO_END, _WHERE_TO_READ)
    if wanted > 1 and left:
        who = ". It has to be someone who did not see what others found" if informed_keys(case) else ""
        yield _build_obstacle(
            ObstacleKind.READERS,
            "",
            plural(left, "1 more moderator must read this note.", "{n} more moderators must read this note."),
            f"They read it on the Queue page{who}."
            if case.desk.submitted_at is not None
            else "Send it to the moderators.",
        )
    else:
        yield from _find_disagreements(case, by)
    if case.assessment is None or case.assessment.is_compared_by_person:
        return  # `_find_score_obstacles` covers it
    for pair in pairs(case):
        own = own_check(case, by.key, pair.words, pair.evidence_id)
        if own is not None and own.support.in_scores is Support.UNSUPPORTED:
            sentence = f"Your finding on {pair.evidence_id}: {own.support.as_text}."
            yield _build_obstacle(
                ObstacleKind.FOUND_WRONG, pair.evidence_id, sentence, "Send the note back, or change what you found"
            )


def _find_disagreements(case: Case, by: Person) -> Iterator[Obstacle]:
    """Yield what the readers differ about, unless most found support, or another obstacle already objects to it.

    The scores go by the newest finding alone.
    """
    note = case.draft.text if case.draft else ""
    is_by_person = case.assessment is not None and case.assessment.is_compared_by_person
    sentences = case.sentences if is_by_person else ()
    failed = [(it.words_in(note), it.evidence_id) for it in sentences if it.support is not Support.SUPPORTED]
    for pair in pairs(case):
        place = (pair.words, pair.evidence_id)
        found = [support for it in counted_readings(case) if (support := it.by_pair.get(place)) is not None]
        if len(set(found)) < 2 or 2 * found.count(Support.SUPPORTED) > len(found) or place in failed:
            continue
        own = own_check(case, by.key, *place)
        if not is_by_person and own is not None and own.support.in_scores is Support.UNSUPPORTED:
            continue
        about = " and the whole note" if pair.words == note else f": “{pair.words}”"
        what = f"{pair.evidence_id}{about}"
        yield _build_obstacle(
            ObstacleKind.READERS_DISAGREE,
            what,
            f"The readers disagree about {what}.",
            "Look again, let another moderator read it, or give a reason.",
        )


def _has_to_finish(case: Case, reader: Person) -> bool:
    """Return whether this reader must read the case to its end before approving it.

    That is so if they read an earlier state of it, or if another moderator has claimed the case and this reader may
    not see their findings yet. It holds whatever they found: a refusal only after an objection would reveal it.
    """
    if case.desk.state is not DeskState.SUBMITTED or reading_by(case, reader.key) is not None:
        return False
    if any(it.reader.key == reader.key for it in case.desk.all_readings):
        return True
    return hide_other_reviews(case, reader) is not case and is_claimed_by_others(case, reader.key)


def _find_score_obstacles(case: Case, objected: Collection[str]) -> Iterator[Obstacle]:
    """Yield what scoring refuses. What this person found wrong with the passages in `objected` is listed with those."""
    if case.assessment is None:
        yield _build_obstacle(ObstacleKind.NOT_SCORED, "", "The note has no score yet.", "Score it.")
        return
    if not case.assessment_is_current:
        yield _build_obstacle(
            ObstacleKind.STALE, "", "The note or its sources changed since it was scored.", "Score it again."
        )
        return
    # What each gate found itself, even after one that did not pass: a reason for one gate does not cover another.
    for result in case.assessment.found:
        if result.status is GateStatus.PASS:  # NOT_RUN counts against approval
            continue
        failed, name = result.status is GateStatus.FAIL, result.gate.value
        sentences, is_listed = [], False
        if result.judge == BY_PERSON:
            sentences = list(_find_sentence_obstacles(case))
            wrong = [it for it in result.findings if not it.ok]
            is_listed = bool(wrong) and all(not it.by_rule and it.evidence_id in objected for it in wrong)
        if not is_listed and (failed or not sentences):
            kind = ObstacleKind.GATE_FAILED if failed else ObstacleKind.GATE_NOT_RUN
            state = "failed" if failed else "was not run"
            if failed and result in case.assessment.held:
                state = "waits for those before it, and would fail"
            sentence = f"The {result.gate.as_text} check {state}: {result.reason}"
            lifts = GATES[result.gate].lifts if failed else "Score it again"
            yield _build_obstacle(kind, name, sentence, f"{lifts}, or give a reason.")
        yield from sentences


def _find_sentence_obstacles(case: Case) -> Iterator[Obstacle]:
    """Yield each sentence that a person still has to compare with its source, or whose warnings they have to check."""
    note, seen = case.draft.text if case.draft else "", set[str]()
    for number, sentence in enumerate(case.sentences, start=1):
        words = sentence.words_in(note).strip()
        compared = sentence.support is not Support.UNCHECKED
        if words in seen or (compared and not sentence.has_open_hint):
            continue
        seen.add(words)  # the note may repeat a sentence
        doubts = list(dict.fromkeys(sentence.doubts))
        to_check = plural(len(doubts), "1 warning to check", "{n} warnings to check") if doubts else ""
        if compared:
            kind, state, lifts = ObstacleKind.WARNINGS_OPEN, f"has {to_check}", "Check the warnings"
        else:
            kind, state, lifts = ObstacleKind.SENTENCE_NOT_COMPARED, "is not compared yet", "Compare it with its source"
            if sentence.evidence_id is None:
                state, lifts = "matches no source in use", "Use a source that says it, or remove the sentence"
            state += f" and has {to_check}" if doubts else ""
        said = " ".join((f"Sentence {number} {state}: “{clip(words, _MAX_SENTENCE_CHARACTERS)}”", *doubts))
        yield _build_obstacle(kind, words, said, f"{lifts}, or give a reason.")


_MAX_SENTENCE_CHARACTERS = 80


def _find_link_obstacles(case: Case, draft: Draft, at: datetime) -> Iterator[Obstacle]:
    failed_by_gate = _list_links_failed_by_gate(case, draft)
    for url in uninspected_links(case, draft):
        if url in failed_by_gate:
            continue
        yield _build_obstacle(
            ObstacleKind.LINK_UNINSPECTED,
            url,
            f"The note links to {url}, which you do not use as a source.",
            "Add and read it as a source, or say why you keep it.",
        )
    # X's evaluator asks every link for a 200; so does approval, within the last day.
    for url, check in link_checks(case, at):
        if check is not None and check.state is LinkState.LIVE:
            continue
        why = f" {check.sentence}" if check is not None and check.sentence else ""
        state = check.as_text if check else "not checked yet"
        yield _build_obstacle(
            ObstacleKind.LINK_UNANSWERED,
            url,
            f"The link {url}: {state}.{why}",
            "Check the links, correct it, or say why you keep it.",
        )


def _list_links_failed_by_gate(case: Case, draft: Draft) -> set[str]:
    """Return the links that a gate failed for; its obstacle and its override cover them."""
    if case.assessment is None or not case.assessment_is_current:
        return set()
    failed = (result for result in case.assessment.found if result.status is GateStatus.FAIL)
    spans = (finding.span for result in failed for finding in result.findings if finding.by_rule and finding.span)
    return {draft.text[span.start : span.end] for span in spans}


def uninspected_links(case: Case, draft: Draft) -> tuple[str, ...]:
    """Return the URLs in the note that are not of the used passages."""
    known = {_normalise_page_url(item.source.url) for item in case.used_evidence if item.source.url}
    return tuple(url for url in cited_links(draft) if _normalise_page_url(url) not in known)


def _normalise_page_url(url: str) -> str:
    """Return an address that keeps versions of a paper distinct: the link must be the page that was read."""
    return canonical_url(url, papers=False)


_LINK_CHECK_VALID_FOR = timedelta(hours=24)  # pages rarely vanish within a day
_LINK_RECHECK_AFTER = timedelta(hours=1)  # so that scoring after an edit checks only new links
_MAX_KEPT_LINK_CHECKS = 50  # so that an undo finds its links' checks again


def cited_links(draft: Draft) -> tuple[str, ...]:
    """Return the links of a note as written, each once, in order."""
    return tuple(dict.fromkeys(url.url for url in find_urls(draft.text)))


def link_checks(case: Case, now: datetime) -> tuple[tuple[str, LinkCheck | None], ...]:
    """Return the links that the note cites, each with how this very link answered within the last day, if asked."""
    if case.draft is None:
        return ()
    known = _find_recent_link_checks(case, now - _LINK_CHECK_VALID_FOR)
    return tuple((url, known.get(url)) for url in cited_links(case.draft))


def check_links(
    case: Case, progress: Progress, checker: LinkChecker, clock: Callable[[], datetime], *, afresh: bool
) -> tuple[Mapping[str, object], StageOutcome]:
    """Ask the note's links; those asked within the last hour only when `afresh`. A dead one fails nothing."""
    if case.draft is None:
        return {}, StageOutcome.not_needed("There is no note yet.")
    now, links = clock(), cited_links(case.draft)
    lately = {} if afresh else _find_recent_link_checks(case, now - _LINK_RECHECK_AFTER)
    missing = [url for url in links if url not in lately]
    known = {check.url: check for check in case.link_checks if now - check.checked_at <= _LINK_CHECK_VALID_FOR}
    known |= {check.url: check for check in checker.check(missing, progress.check, case.until)}
    cited = {url: known.pop(url) for url in links}
    others = sorted(known.values(), key=lambda check: check.checked_at, reverse=True)[:_MAX_KEPT_LINK_CHECKS]
    live = sum(check.state is LinkState.LIVE for check in cited.values())
    asked = StageOutcome(summary=f"{live} of {len(cited)} links work")
    outcome = asked if cited else StageOutcome.not_needed("The note has no link")
    return {"link_checks": (*cited.values(), *others)}, outcome


def _find_recent_link_checks(case: Case, since: datetime) -> dict[str, LinkCheck]:
    """Return checks by link; of a page that is gone, only if its copy was sought under the case's current cutoff."""
    checks = (check for check in case.link_checks if check.checked_at >= since)
    return {check.url: check for check in checks if not check.is_gone or check.until == case.until}
