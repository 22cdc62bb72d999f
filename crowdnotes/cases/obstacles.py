"""What approval demands, in one place: nothing is approved that a person has not read and judged.

`obstacles` lists every rule that still refuses, so that a page can show what a case waits for;
`decide` refuses with the first of them. Passing over a check takes a written reason, which the
decision keeps: a gate's name, "link:URL" for a page that nobody inspected, "live:URL" for a link that
was not found live.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from crowdnotes.cases.links import said, unproven_links
from crowdnotes.cases.workflow import checked_reason, require_open, with_event
from crowdnotes.domain import (
    Case,
    Classification,
    Decision,
    DecisionKind,
    Draft,
    GateName,
    GateResult,
    GateStatus,
    Override,
)
from crowdnotes.errors import WorkflowError
from crowdnotes.gates.quotes import unfound_quotes
from crowdnotes.text.lint import blocking, lint
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.urls import canonical_url

LETTERS_OF_A_REASON = 10  # fewer is a keystroke to get by, not a reason that somebody can weigh later
WORDS_OF_A_REASON = 3  # different ones, for the same reason
A_REASON = f"{WORDS_OF_A_REASON} different words and {LETTERS_OF_A_REASON} letters"
_LETTERS = re.compile(r"[^\W\d_]+")
# Chinese, Japanese, Thai, Lao, Burmese and Khmer put no spaces between words: there each sign counts as one.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def is_reason(text: str) -> bool:
    """Whether a text says enough to pass a check over: letters that make different words."""
    return not missing_from(text)


def missing_from(text: str) -> str:
    """What a text still needs to be a reason: "2 more different words and 4 more letters"; empty for a reason."""
    unspaced = _UNSPACED.findall(text)
    # Two signs of those scripts are about a word, and say as much as a longer run of letters.
    letters = sum(character.isalpha() for character in text) + len(unspaced)
    words = len({*_LETTERS.findall(_UNSPACED.sub(" ", text).casefold()), *unspaced})
    return " and ".join(
        f"{wanted - there} more {name}" + ("" if wanted - there == 1 else "s")
        for there, wanted, name in (
            (words, WORDS_OF_A_REASON, "different word"),
            (letters, LETTERS_OF_A_REASON, "letter"),
        )
        if there < wanted
    )


_MENDS = {
    GateName.RELEVANCE: "Choose other passages, or take some out, and score again",  # it judges them, not the note
    GateName.CORRECTNESS: "Mend the note, or use passages that carry it, and score it again",
    GateName.HELPFULNESS: "Mend the note and score it again",
}


def obstacles(case: Case, at: datetime, overrides: Mapping[str, str] | None = None) -> list[WorkflowError]:
    """Every rule that refuses approval at that moment, given the reasons written so far; empty when none does.

    `overrides` maps a check ("relevance", "correctness", "helpfulness", "link:URL" or "live:URL") to a reason.
    """
    return list(_refusals(case, _written(overrides), at))


def decide(
    case: Case,
    kind: DecisionKind,
    by: str,
    at: datetime,
    *,
    reason: str = "",
    overrides: Mapping[str, str] | None = None,
    seen: str | None = None,
) -> Case:
    """End the case. Approval needs every rule met; the other three are free, with or without a reason.

    `seen` is the sha256 of the text that the person had before their eyes; approval needs it, so that
    nobody approves a text that changed in another tab.
    """
    require_open(case)
    reasons = _written(overrides)
    sha256 = case.draft.sha256 if case.draft else None
    if kind is DecisionKind.APPROVED:
        for refusal in _refusals(case, reasons, at):
            raise refusal
        if seen != sha256:
            raise WorkflowError(
                "edited elsewhere", "The note is no longer the text that you had before you.", "Read it again."
            )
    decision = Decision(
        kind=kind,
        by=by,
        at=at,
        reason=checked_reason(reason),
        text_sha256=sha256,
        overrides=_overrides(case, reasons, at) if kind is DecisionKind.APPROVED else (),
    )
    passed_over = "".join(f"; overrode {item.check}: {item.reason}" for item in decision.overrides)
    return with_event(
        case, at, by, "decided", f"{kind.value} {decision.reason}".strip() + passed_over, decision=decision
    )


def _written(overrides: Mapping[str, str] | None) -> dict[str, str]:
    return {check: checked_reason(text) for check, text in (overrides or {}).items()}


def _refusals(case: Case, reasons: Mapping[str, str], at: datetime) -> Iterator[WorkflowError]:
    if case.decision is not None:
        yield WorkflowError("decided", f"This case was already decided: {case.decision.kind.value}.")
    if not case.used_evidence:
        yield WorkflowError("no evidence", "No passage is in use.", "Open a passage and choose “use”.")
    draft = case.draft
    if draft is None or not draft.text.strip():
        yield WorkflowError("no note", "There is no note yet.", "Write or generate a draft.")
    else:
        yield from _unread(case, draft)
        yield from _form(case, draft)
        yield from _judgement(case, reasons)
        yield from _links(case, draft, reasons)
        yield from _unproven(case, draft, reasons, at)
    if case.classification is Classification.MISLEADING and not case.tags:
        yield WorkflowError("no tag", "X's form asks why the post is misleading.", "Tick at least one tag.")


def _unread(case: Case, draft: Draft) -> Iterator[WorkflowError]:
    """A note leans on the passages it was written from, and on those of a linked page that none in use is from."""
    for name in draft.evidence_ids:
        if case.evidence_by_id(name) is None:
            yield WorkflowError(
                "evidence gone",
                f"The note leans on {name}, which is no longer among the evidence.",
                "Bring it back from the earlier evidence, or write the note again.",
            )
    unread_links = set(uninspected_links(case, draft))
    for item in case.evidence:
        linked = item.source.url is not None and any(
            canonical_url(url) == canonical_url(item.source.url) for url in unread_links
        )
        if item.id not in draft.evidence_ids and not linked:
            continue
        if item.review.opened_at is None:
            yield WorkflowError(
                "unopened", f"The note leans on {item.id}, which nobody has opened.", "Open and read it."
            )
        elif item.review.verdict is None:
            yield WorkflowError(
                "unjudged", f"{item.id} was opened but not judged.", "Choose use, background or reject."
            )


def _form(case: Case, draft: Draft) -> Iterator[WorkflowError]:
    quotes = unfound_quotes(draft.text, case.post.as_read, case.used_evidence)
    for warning in (*blocking(lint(draft.text)), *quotes):
        rule = {"over-limit": "over limit", "no-url": "no url"}.get(warning.code, "form")
        yield WorkflowError(rule, warning.message)


def _judgement(case: Case, reasons: Mapping[str, str]) -> Iterator[WorkflowError]:
    if case.assessment is None:
        yield WorkflowError("not scored", "The note has not been scored.", "Score it.")
        return
    if not case.assessment_is_current:
        yield WorkflowError(
            "stale", "The note or its evidence changed since it was scored.", "Score it again: it takes a moment."
        )
        return
    unpassed = _to_override(case.assessment.gates)
    for gate in unpassed:
        reason = reasons.get(gate.gate.value, "")
        if not is_reason(reason):
            verb = "failed" if gate.status is GateStatus.FAIL else "was not run"
            yield WorkflowError(
                f"gate {gate.gate.value}",
                f"The {gate.gate.value} check {verb}: {gate.reason}",
                _or_why(reason, f"{_mend(gate, unpassed[0])}, or write why it should be approved all the same."),
            )


def _mend(gate: GateResult, first: GateResult) -> str:
    """What helps a gate to pass; `first` is the first in order that did not."""
    if gate.status is GateStatus.FAIL:
        return _MENDS[gate.gate]
    return "Score it again" if gate is first else f"It runs once {first.gate.value} has passed"


def _to_override(gates: tuple[GateResult, ...]) -> tuple[GateResult, ...]:
    """Every gate that did not pass: one that was not run says nothing in the note's favour."""
    return tuple(gate for gate in gates if gate.status is not GateStatus.PASS)


def _links(case: Case, draft: Draft, reasons: Mapping[str, str]) -> Iterator[WorkflowError]:
    for url in uninspected_links(case, draft):
        reason = reasons.get(f"link:{url}", "")
        if not is_reason(reason):
            yield WorkflowError(
                f"link:{url}",
                f"The note links to {url}, which is not a passage that you opened and use.",
                _or_why(reason, "Add it as a source and read it, or write why it should stay."),
            )


def _unproven(case: Case, draft: Draft, reasons: Mapping[str, str], at: datetime) -> Iterator[WorkflowError]:
    """X's evaluator asks every link for a 200; so does approval, within the last day."""
    for url, check in unproven_links(case, draft, at):
        reason = reasons.get(f"live:{url}", "")
        if not is_reason(reason):
            why = f" {check.sentence}" if check is not None and check.sentence else ""
            yield WorkflowError(
                f"live:{url}",
                f"The link {url}: {said(check)}.{why}",
                _or_why(reason, "Check the links again, mend the address, or write why it should stay."),
            )


def _or_why(reason: str, otherwise: str) -> str:
    """What to do next: a reason that was begun needs more words."""
    return f"A reason takes at least {A_REASON}." if reason else otherwise


def uninspected_links(case: Case, draft: Draft) -> tuple[str, ...]:
    """URLs in the note that are none of the used passages' own."""
    known = {canonical_url(item.source.url) for item in case.used_evidence if item.source.url}
    links = (url.url for url in find_urls(draft.text))
    return tuple(dict.fromkeys(url for url in links if canonical_url(url) not in known))


def _overrides(case: Case, reasons: Mapping[str, str], at: datetime) -> tuple[Override, ...]:
    """The checks that were passed over, each with the reason that a person wrote."""
    if case.assessment is None or case.draft is None:
        return ()
    checks = [gate.gate.value for gate in _to_override(case.assessment.gates)]
    checks += [f"link:{url}" for url in uninspected_links(case, case.draft)]
    checks += [f"live:{url}" for url, _ in unproven_links(case, case.draft, at)]
    return tuple(Override(check=check, reason=reasons[check]) for check in checks)
