"""Stored cases of any earlier program, led version by version to the form that this program reads and writes.

A stored document carries its `document_version`; the first programs wrote none, which counts as 0. `STEPS[n]` leads
from version n to version n + 1, so the newest version is the number of steps.

When a type changes:

- A new field with a default, a new gate, a new principle: nothing to do here. An assessment from before a gate reads
  NOT_RUN there, and results of gates and principles that are gone are left out.
- A field or a value renamed, moved, removed or given another meaning: append a step. It changes the document that it
  is given (a copy), must not fail on one that lacks the field, and is never edited once it was released.
  `tests/cases/stored/` holds cases of earlier programs; the tests open, show and go on with every one.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

from crowdnotes.domain.assessment import GateName, PrincipleName
from crowdnotes.domain.people import LOCAL_OWNER, PROGRAM

Document = dict[str, Any]


def _add_times_to_evidence_sets(document: Document) -> None:
    sets = document.get("earlier_evidence", [])
    document["earlier_evidence"] = [{"evidence": item} if isinstance(item, list) else item for item in sets]


def _rename_looks_to_follow_ups(document: Document) -> None:
    if "looks" in document:
        document["follow_ups"] = document.pop("looks")


def _replace_checks_with_obstacles(document: Document) -> None:
    """Make obstacles of checks, which were a string: a gate's name, "link:" or "live:" and an address."""
    judged = (document.get("assessment") or {}).get("gates", [])
    not_run = {result.get("gate") for result in judged if result.get("status") == "NOT_RUN"}

    def obstacle(check: str) -> Document:
        kind, _, address = check.partition(":")
        if address:
            kinds = {"link": "link not inspected", "live": "link not found to answer"}
            return {"kind": kinds.get(kind, kind), "subject": address}
        return {"kind": "gate not run" if check in not_run else "gate failed", "subject": check}

    for override in (document.get("decision") or {}).get("overrides", []):
        if "check" in override:
            override["obstacle"] = obstacle(override.pop("check"))
    words = document.get("decision_words", {})
    for field in list(words):
        check, _, of = field.rpartition(" ")
        if check:
            found = obstacle(check)
            words[f"{found['kind']} {found['subject']} {of}"] = words.pop(field)


def _reset_local_comparisons(document: Document) -> None:
    """Reset comparisons of words, except in decisions: without a model a person compares the sentences."""
    if document.get("decision"):
        return
    drafts = [document.get("draft"), *document.get("candidates", []), *document.get("revisions", [])]
    assessments = [document.get("assessment"), *document.get("earlier_assessments", [])]
    local = [item for item in assessments if item and str(item.get("engine", "")).startswith("local")]
    for holder in [*local, *filter(None, drafts)]:
        for sentence in holder.get("sentences", []):
            sentence.update(support="not compared yet", doubts=[], doubted=[])
    for assessment in local:
        for result in assessment.get("gates", []):
            if result.get("gate") == "correctness":
                reason = "Nobody has checked the sentences against their sources yet."
                result.clear()
                result.update(gate="correctness", status="NOT_RUN", reason=reason, judge="person")
            elif result.get("gate") == "helpfulness" and result.get("status") != "NOT_RUN":
                assessment["held"] = [dict(result)]
                result.clear()
                result.update(gate="helpfulness", status="NOT_RUN", reason="Waits for correctness to pass.")


def _drop_notes_changed_at(document: Document) -> None:
    (document.get("supernote") or {}).pop("notes_changed_at", None)


def _add_owner(document: Document) -> None:
    """Add the owner to cases of programs that one person had alone, under any name."""
    events = [*document.get("events", []), *filter(None, [document.get("decision")])]
    for event in events:
        event["by_key"] = PROGRAM.key if event.get("by") == PROGRAM.name else " ".join(LOCAL_OWNER)
    names = (event.get("by", "") for event in events if event["by_key"] != PROGRAM.key)
    document["owner"] = _build_local_person(next(names, ""))


def _build_local_person(name: str) -> Document:
    issuer, subject = LOCAL_OWNER
    return {"issuer": issuer, "subject": subject, "name": " ".join(name.split())[:80].strip() or "you"}


def _assign_reviews_to_readers(document: Document) -> None:
    """Make the one review of each passage that of its reader; only the audit trail has its time."""
    judged = {
        str(event.get("detail", "")).partition(":")[0]: event.get("at")
        for event in document.get("events", [])
        if event.get("kind") == "passage judged"
    }
    sets = [document.get("evidence", []), *(kept.get("evidence", []) for kept in document.get("earlier_evidence", []))]
    for item in (item for items in sets for item in items):
        review = item.pop("review", None) or {}
        reader = _build_local_person(review.pop("opened_by", None) or "")
        at = judged.get(item.get("id")) if review.get("verdict") else None
        item["reviews"] = [review | {"reader": reader, "judged_at": at}] if review.get("opened_at") else []


_STAGE_SENTENCES = (
    (re.compile(r"NOT RUN(?:, so [^:]*)?: (.*)", re.DOTALL), "not run"),
    (re.compile(r"No note: (.*)", re.DOTALL), "done"),
    (
        re.compile(r"(There is (?:nothing to (?:settle|answer)|no (?:note|passage)\b).*|The note has no link)"),
        "not needed",
    ),
)
"""What earlier programs wrote of a stage, and its outcome; the group is the reason. Others were done."""

_GATE_WORDS = re.compile(r"\b(relevance|correctness|helpfulness) (PASS|FAIL|NOT RUN)\b")
_MATCH_WORDS = re.compile(r"(same claim|related|other claim|none): (.*)", re.DOTALL)
_DECISION_WORDS = {
    "approved": "approved",
    "not needed": "not needed",
    "no note needed": "not needed",
    "insufficient evidence": "insufficient evidence",
    "not enough evidence": "insufficient evidence",
    "rejected": "rejected",
}


_ARCHIVE_WORDS = re.compile(
    r"(.*?) ?(The Wayback Machine has (?:a copy of|no copy)[^.]*\.|The Wayback Machine was asked for a copy: .*)(.*)",
    re.DOTALL,
)


def _store_outcomes(document: Document) -> None:
    """Store how stages, decisions, matches, scorings and searches for a copy ended, which only sentences said."""
    searches = document.get("follow_ups", [])
    for stage in (item for holder in (document, *searches) for item in holder.get("stages", [])):
        summary = str(stage.get("summary", ""))
        found = ((pattern.fullmatch(summary), outcome) for pattern, outcome in _STAGE_SENTENCES)
        match, outcome = next(((match, outcome) for match, outcome in found if match), (None, "done"))
        stage |= {"outcome": outcome, "reason": match[1] if match else ""}
    sets = (document, *document.get("earlier_evidence", []))
    sources = [item["source"] for holder in sets for item in holder.get("evidence", [])]
    for source in (*sources, *(item for holder in (document, *searches) for item in holder.get("sources", []))):
        match = _ARCHIVE_WORDS.fullmatch(str(source.get("outcome_detail", "")))
        if match and source.get("outcome", "read") != "read":
            source |= {"outcome_detail": f"{match[1]}{match[3]}".strip(), "archive_detail": match[2]}
    for event in document.get("events", []):
        detail = str(event.get("detail", ""))
        if event.get("kind") == "stage assess":
            event["verdicts"] = [[gate, said.replace(" ", "_")] for gate, said in _GATE_WORDS.findall(detail)]
        elif event.get("kind") == "decided":
            event["result"] = next((kind for words, kind in _DECISION_WORDS.items() if detail.startswith(words)), "")
        elif event.get("kind") == "claim matched" and (match := _MATCH_WORDS.fullmatch(detail)):
            event |= {"subject": match[2], "result": "" if match[1] == "none" else match[1]}


def _rename_telling_to_key_sentences(document: Document) -> None:
    sets = (document, *document.get("earlier_evidence", []))
    for passage in (item["passage"] for holder in sets for item in holder.get("evidence", [])):
        if "telling" in passage:
            passage["key_sentences"] = passage.pop("telling")


STEPS: tuple[Callable[[Document], None], ...] = (
    _add_times_to_evidence_sets,
    _rename_looks_to_follow_ups,
    _replace_checks_with_obstacles,
    _reset_local_comparisons,
    _drop_notes_changed_at,
    _add_owner,
    _assign_reviews_to_readers,
    _store_outcomes,
    _rename_telling_to_key_sentences,
)

DOCUMENT_VERSION = len(STEPS)


def version_of(document: Document) -> int:
    """Return the version of the form that a document is in."""
    return int(document.get("document_version", 0))


def upgraded(document: Document) -> Document:
    """Return the document in the newest form; the given one is unchanged. It must not be newer than the program."""
    steps = STEPS[version_of(document) :]
    document = copy.deepcopy(document) if steps else dict(document)
    for step in steps:
        step(document)
    document["document_version"] = max(version_of(document), DOCUMENT_VERSION)
    if document.get("assessment"):
        document["assessment"] = _drop_unknown_checks(document["assessment"])
    earlier = document.get("earlier_assessments", [])
    document["earlier_assessments"] = [_drop_unknown_checks(assessment) for assessment in earlier]
    return document


def _drop_unknown_checks(assessment: Document) -> Document:
    """Drop results of gates and principles that this program does not know: it could not explain them."""
    gates, principles = set(GateName), set(PrincipleName)
    return assessment | {
        "gates": [result for result in assessment.get("gates", []) if result.get("gate") in gates],
        "held": [result for result in assessment.get("held", []) if result.get("gate") in gates],
        "principles": [result for result in assessment.get("principles", []) if result.get("principle") in principles],
    }
