"""Assess one exact text: the three gates in order, principles, support for each sentence, and lint.

Relevance, then correctness, then helpfulness: a gate counts only after the one before it passed (CrowdNotes+ 4.3),
because people reward fluency. All run at once; results after a gate that did not pass are held back. A gate at which
the engine fails is NOT_RUN. Without a language model a person compares each sentence with its passage; PASS then means:
every sentence is supported and no hint is open. How to add a gate: docs/extending.md.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import partial

from crowdnotes.domain import (
    BY_PERSON,
    Assessment,
    Evidence,
    Finding,
    GateName,
    GateResult,
    GateStatus,
    LintLevel,
    LintWarning,
    Post,
    PrincipleName,
    PrincipleResult,
    SentenceCheck,
    SentenceSupport,
    Source,
    Span,
    Support,
    basis_sha256,
    text_sha256,
)
from crowdnotes.engines import Brief, Engine, EngineStep
from crowdnotes.engines.local.attribution import NUMBER_HINT
from crowdnotes.engines.local.quantities import missing_numbers
from crowdnotes.engines.local.tone import BARE_VERDICT
from crowdnotes.engines.metering import completed_calls, run_both
from crowdnotes.errors import EngineError
from crowdnotes.notes.gate import Gate, Judged
from crowdnotes.text.languages import LANGUAGE_NAMES, language_of
from crowdnotes.text.lint import lint
from crowdnotes.text.markdown import clip
from crowdnotes.text.note_rules import NOTE_LIMIT, find_urls, note_length, truncate, without_urls
from crowdnotes.text.quotes import holds_quote
from crowdnotes.text.urls import canonical_url
from crowdnotes.wording import plural

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def asking_age(
    sentences: Sequence[SentenceSupport], note: str, evidence: Sequence[Evidence], brief: Brief
) -> tuple[SentenceSupport, ...]:
    """Add to the first sentence that rests on an old or undated source a hint that asks whether it is still true.

    A sentence that names a year says by itself when it was so, and gets none; nor does one that only judges the post.
    """
    posted = brief.post.posted_at.date() if brief.post.posted_at else brief.today
    asked = {item.id: hint for item in evidence if (hint := ask_about_age(item.source, posted))}
    out = []
    for sentence in sentences:
        words = sentence.words_in(note)
        asks = not (_YEAR.search(words) or BARE_VERDICT.match(words))
        hint = asked.pop(sentence.evidence_id or "", "") if asks else ""
        out.append(sentence.replace(doubts=(*sentence.doubts, hint)) if hint else sentence)
    return tuple(out)


def naming_post_numbers(sentences: Sequence[SentenceSupport], note: str, post: Post) -> tuple[SentenceSupport, ...]:
    """Say in the hint on a number that no source has that it is the post's, where it is: the note may dispute it."""
    out = []
    for sentence in sentences:
        words = sentence.words_in(note)
        every, others = ({number.start for number, _ in missing_numbers(words, text)} for text in ("", post.text))
        doubts = list(sentence.doubts)
        for place, (doubt, span) in enumerate(zip(doubts, sentence.doubted, strict=True)):
            if doubt.startswith(NUMBER_HINT) and span.start - sentence.span.start in every - others:
                said = note[span.start : span.end]
                doubts[place] = f"{NUMBER_HINT}“{said}” is the post's number, no source in use has it."
        out.append(sentence.replace(doubts=tuple(doubts)))
    return tuple(out)


def ask_about_age(source: Source, posted: date) -> str:
    """Return a question about a source without a date, or much older than the post; "" about others."""
    if source.year is None:
        return "No date: is this still true?"
    return f"From {source.year}: is this still true?" if source.years_if_old(posted) else ""


_MAX_LINK_CHARACTERS = 80
_MIN_QUOTED_WORDS = 4  # words; “long COVID” in marks is a name
_QUOTATION = re.compile(r"[“„«\"]([^“”„«»\"]{2,1000})[”“»\"]")


def unfound_quotes(note: str, post: Post, evidence: Sequence[Evidence]) -> tuple[LintWarning, ...]:
    """Return a blocking warning for each quotation of four words or more that is neither in a passage nor in the post.

    White space, capitals, and the shape of quotation marks and dashes do not count; "…" means that words were left out,
    and each part must occur, in order.
    """
    read = [f"{e.passage.before}{e.passage.text}{e.passage.after}" for e in evidence]
    read.append(post.text)
    return tuple(
        LintWarning(
            code="quote-not-found",
            message="No source in use has these quoted words. Quote exactly, or remove the quotation marks.",
            level=LintLevel.BLOCKS,
            span=Span(start=match.start(), end=match.end()),
        )
        for match in _QUOTATION.finditer(note)
        if len(re.findall(r"\w+", match.group(1))) >= _MIN_QUOTED_WORDS
        and not any(holds_quote(text, match.group(1)) for text in read)
    )


def faults(gate: GateName, note: str, post: Post, evidence: Sequence[Evidence]) -> tuple[Finding, ...]:
    """Return why a note cannot pass a gate, whatever its judge says.

    Correctness: a quotation that is found nowhere, a link to none of the passages. Helpfulness: more characters than X
    takes, another language than the post's.
    """
    if gate is GateName.CORRECTNESS:
        quotes = (
            Finding(message=item.message, span=item.span, by_rule=True) for item in unfound_quotes(note, post, evidence)
        )
        known = _list_page_urls(evidence)
        links = (
            Finding(
                message=f"The link {clip(url.url, _MAX_LINK_CHARACTERS)} leads to none of the sources.",
                span=Span(start=url.start, end=url.end),
                by_rule=True,
            )
            for url in find_urls(note)
            if canonical_url(url.url, papers=False) not in known
        )
        return (*quotes, *links)
    if gate is GateName.HELPFULNESS:
        return (*_find_length_fault(note), *_find_language_fault(note, post))
    return ()


def _list_page_urls(evidence: Sequence[Evidence]) -> set[str]:
    return {canonical_url(item.source.url, papers=False) for item in evidence if item.source.url}


def _find_length_fault(note: str) -> Iterator[Finding]:
    length = note_length(note)
    if length > NOTE_LIMIT:
        yield Finding(message=f"X takes {NOTE_LIMIT} characters, and the note has {length}.", by_rule=True)


def _find_language_fault(note: str, post: Post) -> Iterator[Finding]:
    of_note, of_post = language_of(without_urls(note)), language_of(post.text) or post.language
    if of_note is not None and of_post is not None and of_note != of_post:
        names = [LANGUAGE_NAMES.get(code, code) for code in (of_note, of_post)]
        yield Finding(message=f"The note is in {names[0]}, the post in {names[1]}: readers may not understand it.")


def form_warnings(note: str, post: Post, evidence: Sequence[Evidence]) -> tuple[LintWarning, ...]:
    """Return everything that X, or a reader, would stumble over: quotations first."""
    return (*unfound_quotes(note, post, evidence), *_find_astray_links(note, evidence), *lint(note))


def _find_astray_links(note: str, evidence: Sequence[Evidence]) -> Iterator[LintWarning]:
    """Yield a warning for each link that does not lead a reader to the words that the note rests on."""
    astray = {canonical_url(item.source.url): item for item in evidence if item.source.url and item.source.astray}
    for url in find_urls(note):
        if (item := astray.get(canonical_url(url.url))) is not None:
            yield LintWarning(
                code="link-astray",
                message=f"Readers may not find this at the link: of {item.id}, {item.source.astray}.",
                level=LintLevel.WARNS,
                span=Span(start=url.start, end=url.end),
            )


def _judge_relevance(it: Judged) -> GateResult:
    if not it.brief.post.has_words:
        return GateResult.not_run(GateName.RELEVANCE, "The post has no text. Paste it, then score again.")
    return it.engine.relevance(it.brief, it.evidence)


_RELEVANCE_GATE = Gate(
    name=GateName.RELEVANCE,
    question="Do the sources help to judge this claim?",
    lifts="Use other sources, then score again",  # this gate judges passages, not the note
    judge=_judge_relevance,
)
_CORRECTNESS_GATE = Gate(
    name=GateName.CORRECTNESS,
    question="Does the note say what the sources say?",
    lifts="Change the note or its sources, then score again",
    judge=lambda it: it.engine.correctness(it.note, it.evidence, it.support),
)
_HELPFULNESS_GATE = Gate(
    name=GateName.HELPFULNESS,
    question="Would readers of different views find it helpful?",
    lifts="Change the note, then score again",
    judge=lambda it: it.engine.helpfulness(it.brief.post, truncate(it.note, NOTE_LIMIT)),  # CrowdNotes+ E.3
)
_REGISTERED_GATES = (
    _RELEVANCE_GATE,
    _CORRECTNESS_GATE,
    _HELPFULNESS_GATE,
)
GATES = {gate.name: gate for gate in sorted(_REGISTERED_GATES, key=lambda gate: list(GateName).index(gate.name))}
"""By name, in the order in which they run: that of `GateName`."""


def assess(
    engine: Engine,
    brief: Brief,
    note: str,
    evidence: Sequence[Evidence],
    clock: Callable[[], datetime],
    report: Callable[[Sequence[GateResult]], None] = lambda _: None,
) -> Assessment:
    """Judge `note` (with its URLs, as it would be posted) over `evidence`, and bind the result to both.

    What the engine could not do is NOT_RUN with its reason. The principles run at the same time as the gates. `report`
    gets the gates so far, see `run_gates`.
    """
    begun = time.perf_counter()
    found: tuple[GateResult, ...]
    try:
        support: tuple[SentenceSupport, ...] = engine.support(note, evidence)
    except EngineError as error:
        support = ()
        reason = f"Could not be judged: {error.message}"
        found = tuple(GateResult.not_run(gate, reason) for gate in GATES)
        principles = _judge_principles(engine, brief.post, note)
    else:
        found, principles = run_both(
            lambda: run_gates(engine, brief, note, evidence, support, report),
            lambda: _judge_principles(engine, brief.post, note),
        )
    correctness = next(result for result in found if result.gate is GateName.CORRECTNESS)
    gates, held = in_order([result.replace(sentences=()) for result in found])
    result_origin = engine.result_origin(EngineStep.JUDGING)
    sentences = correctness.sentences or support
    if correctness.judge == BY_PERSON:
        sentences = naming_post_numbers(sentences, note, brief.post)
        sentences = asking_age(sentences, note, evidence, brief)
    return Assessment(
        text_sha256=text_sha256(note),
        basis_sha256=basis_sha256(tuple(evidence)),
        gates=gates,
        held=held,
        principles=with_sources(principles, correctness, note, evidence),
        sentences=sentences,
        lint=form_warnings(note, brief.post, evidence),
        engine=result_origin.engine,
        prompt_version=result_origin.prompt_version,
        assessed_at=clock(),
        seconds=time.perf_counter() - begun,
    )


def _fail_on_faults(result: GateResult, found: Sequence[Finding]) -> GateResult:
    """Fail a result that would pass, where the program itself found faults."""
    waits_for_person = result.status is GateStatus.NOT_RUN and result.judge == BY_PERSON
    if not found or not (result.status is GateStatus.PASS or waits_for_person):
        return result
    findings = (*found, *result.findings)
    return result.replace(status=GateStatus.FAIL, uncertain=False, reason=_name_faults(found), findings=findings)


def _name_faults(found: Sequence[Finding]) -> str:
    return " ".join(dict.fromkeys(finding.message for finding in found))


def run_gates(
    engine: Engine,
    brief: Brief,
    note: str,
    evidence: Sequence[Evidence],
    support: Sequence[SentenceSupport],
    report: Callable[[Sequence[GateResult]], None] = lambda _: None,
) -> tuple[GateResult, ...]:
    """Run all gates at once; NOT_RUN with the reason where the engine fails.

    When one is ready, `report` gets those that count by then: all up to the first that is not ready or did not pass.
    """
    judged, ready = Judged(engine, brief, note, evidence, support), dict[GateName, GateResult]()
    names = list(GATES)
    for place, found in completed_calls([partial(GATES[name].judge, judged) for name in names], len(names)):
        name = names[place]
        failed = f"Could not be judged: {found.message}" if isinstance(found, EngineError) else ""
        result = found if isinstance(found, GateResult) else GateResult.not_run(name, failed)
        ready[name] = _fail_on_faults(result, faults(name, note, brief.post, evidence))
        report(_list_decisive_results(ready))
    return tuple(ready[name] for name in names)


def _list_decisive_results(ready: Mapping[GateName, GateResult]) -> list[GateResult]:
    counting: list[GateResult] = []
    for name in GATES:
        if name not in ready or (counting and counting[-1].status is not GateStatus.PASS):
            break
        counting.append(ready[name])
    return counting


def in_order(found: Sequence[GateResult]) -> tuple[tuple[GateResult, ...], tuple[GateResult, ...]]:
    """Return the results, NOT_RUN after the first that did not pass, and those that are held back for that."""
    gates: list[GateResult] = []
    stopped = ""
    for result in found:
        gates.append(GateResult.not_run(result.gate, f"Waits for {stopped} to pass.") if stopped else result)
        if not stopped and result.status is not GateStatus.PASS:
            stopped = result.gate.as_text
    return tuple(gates), tuple(result for result, shown in zip(found, gates, strict=True) if result is not shown)


def with_sources(
    principles: Sequence[PrincipleResult], correctness: GateResult, note: str, evidence: Sequence[Evidence]
) -> tuple[PrincipleResult, ...]:
    """Return the principles, with "sources support it" as the correctness gate found: nothing is asked twice.

    Readers have only the note's links to see it by, so that without one to a source in use it fails.
    """
    status, reason = correctness.status, correctness.reason
    linked = {canonical_url(url.url, papers=False) for url in find_urls(note)}
    if status is GateStatus.PASS and linked.isdisjoint(_list_page_urls(evidence)):
        status, reason = GateStatus.FAIL, "The note has no link to a source that you use."
    same = PrincipleResult(
        principle=PrincipleName.SOURCES_SUPPORT,
        status=status,
        reason=reason,
        findings=correctness.findings if status is GateStatus.FAIL else (),
    )
    return tuple(same if result.principle is same.principle else result for result in principles)


def _judge_principles(engine: Engine, post: Post, note: str) -> tuple[PrincipleResult, ...]:
    """Judge every principle, in order; NOT_RUN where the engine says nothing of it."""
    said: dict[PrincipleName, PrincipleResult] = {}
    reason = "Not checked without AI."
    try:
        said = {result.principle: result for result in engine.principles(post, note)}
    except EngineError as error:
        reason = f"Could not be checked: {error.message}"
    return tuple(said.get(name) or PrincipleResult.not_run(name, reason) for name in PrincipleName)


_MESSAGE_BY_SUPPORT = {
    Support.PARTLY: "The source says only part of this.",
    Support.UNSUPPORTED: "The source does not say this.",
}


def with_checks(
    assessment: Assessment, note: str, evidence: Sequence[Evidence], checks: Sequence[SentenceCheck]
) -> Assessment:
    """Return the assessment with what a person found of its sentences; unchanged where a model judges correctness."""
    if not assessment.is_compared_by_person:
        return assessment
    passages = {item.id: text_sha256(item.passage.text) for item in evidence}
    # The person took an UNCHECKED answer back.
    said = (check for check in checks if check.support is not Support.UNCHECKED)
    known = {(check.words, check.evidence_id, check.passage_sha256): check for check in said}
    sentences = tuple(_apply_check(sentence, note, passages, known) for sentence in assessment.sentences)
    before = next(result for result in assessment.found if result.gate is GateName.CORRECTNESS)
    correctness = _build_person_verdict(note, sentences, [finding for finding in before.findings if finding.by_rule])
    gates, held = in_order([correctness if result.gate is correctness.gate else result for result in assessment.found])
    principles = with_sources(assessment.principles, correctness, note, evidence)
    return assessment.replace(sentences=sentences, gates=gates, held=held, principles=principles)


def _apply_check(
    sentence: SentenceSupport,
    note: str,
    passages: dict[str, str],
    known: dict[tuple[str, str, str], SentenceCheck],
) -> SentenceSupport:
    name = sentence.evidence_id or ""
    check = known.get((sentence.words_in(note), name, passages.get(name, "")))
    if check is None:
        return sentence.replace(support=Support.UNCHECKED, by="", doubts_settled=False)
    settled = check.doubts_settled and check.doubts == sentence.doubts
    return sentence.replace(support=check.support.in_scores, by=check.by, doubts_settled=settled)


def checked_by(names: Iterable[str]) -> str:
    """Return why the gate passed where people compared the sentences."""
    return f"Checked by {', '.join(sorted(set(names)))}."


def _build_person_verdict(note: str, sentences: Sequence[SentenceSupport], faults: Sequence[Finding]) -> GateResult:
    """Build the verdict of people; `faults`, which the program found, remain whatever they compared."""
    unread = [sentence for sentence in sentences if sentence.support is Support.UNCHECKED]
    wrong = tuple(
        Finding(
            message=f"“{sentence.words_in(note)}”: {_MESSAGE_BY_SUPPORT[sentence.support]}",
            evidence_id=sentence.evidence_id,
            span=sentence.span,
        )
        for sentence in sentences
        if sentence.support in _MESSAGE_BY_SUPPORT
    )
    open_hints = sum(len(sentence.doubts) for sentence in sentences if sentence.has_open_hint)
    status = GateStatus.NOT_RUN
    if not sentences:
        reason = "The note has no sentence."
    elif wrong:
        status = GateStatus.FAIL
        reason = plural(
            len(wrong),
            "{n} of {all} sentences is not fully supported by its source.",
            "{n} of {all} sentences are not fully supported by their sources.",
            all=len(sentences),
        )
    elif unread:
        reason = plural(
            len(unread),
            "1 sentence to check with its source.",
            "{n} of {all} sentences to check with their sources.",
            all=len(sentences),
        )
    elif open_hints:
        reason = plural(open_hints, "1 warning to check.", "{n} warnings to check.")
    else:
        status = GateStatus.PASS
        reason = checked_by(sentence.by for sentence in sentences)
    if faults:  # what is left to do with the sentences is a further reason
        left = [] if status is GateStatus.PASS else [reason]
        status, reason = GateStatus.FAIL, " ".join([_name_faults(faults), *left])
    findings = (*faults, *wrong)
    return GateResult(gate=GateName.CORRECTNESS, status=status, reason=reason, judge=BY_PERSON, findings=findings)
