"""Copies and exports: what to tick on X's form, a case as Markdown or JSON, many cases as CSV.

Human contributors have no write API on X, so they copy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from crowdnotes.domain import (
    INFERRED,
    X_HOSTS,
    Case,
    Classification,
    DecisionKind,
    Evidence,
    Figure,
    GateName,
    GateStatus,
    ReadAs,
    ReadPair,
    Source,
    Support,
)
from crowdnotes.domain.base import LOCAL_ENGINE
from crowdnotes.evidence.demo_pages import is_demonstration_url
from crowdnotes.text.markdown import in_figures
from crowdnotes.text.note_rules import NOTE_LIMIT, find_urls, note_length, tags_of
from crowdnotes.text.table_files import table_text


def form_labels(case: Case) -> list[str]:
    """Return the labels to tick on X's form, in the form's order."""
    labels = tags_of(case.classification)
    return [label for tag, label in labels.items() if tag in case.tags]


def class_label(case: Case) -> str:
    """Return the label of the classification on X's form."""
    return (
        "The post is misinformed or potentially misleading"
        if case.classification is Classification.MISLEADING
        else "The post is not misleading"
    )


def cited_urls(case: Case) -> tuple[str, ...]:
    """Return the links in the note, in order; none without a note."""
    return tuple(url.url for url in find_urls(case.draft.text)) if case.draft else ()


def is_demonstration(case: Case) -> bool:
    """Return whether the case rests on the demonstration's invented pages, so that its note must not be posted."""
    sources = (item.source.url or "" for item in case.evidence)
    return any(is_demonstration_url(url) for url in (*cited_urls(case), *case.urls, *sources, case.post.url or ""))


def post_url(case: Case) -> str | None:
    """Return the post's address when it is on X, to open it there; None otherwise."""
    if case.post.url is None:
        return None
    parts = urlsplit(case.post.url)
    on_x = parts.scheme in {"http", "https"} and parts.hostname in X_HOSTS
    return case.post.url if on_x else None


def to_json(case: Case) -> str:
    """Return the whole case, audit trail included, as indented JSON.

    Before its own fields come "outcome", how it ended or how far it is, and "demonstration", whether it is made of
    invented pages and must not be posted.
    """
    marks = {"outcome": case.outcome, "demonstration": is_demonstration(case)}
    return json.dumps(marks | case.model_dump(mode="json"), indent=2, ensure_ascii=False)


def to_markdown(case: Case) -> str:
    """Return the case as a page to keep with the note: text, support, scores, jury, decision, audit trail."""
    return "\n".join(_render_case_lines(case)).rstrip() + "\n"


def cases_csv(cases: Iterable[Case], left_out: Mapping[str, str] | None = None) -> str:
    """Return one row per case, with a header, in the words of the screen. No cell is run as a formula by a spreadsheet.

    `left_out` are ids of cases that could not be read, each with the reason, in the column "reason".
    """
    rows = [_build_csv_row(case) for case in cases]
    rows += [{"id": case_id, "reason": f"left out: {why}"} for case_id, why in (left_out or {}).items()]
    return table_text(_CSV_COLUMNS, ([row.get(column, "") for column in _CSV_COLUMNS] for row in rows))


def findings_csv(found: Sequence[ReadPair], figures: Mapping[str, Figure]) -> str:
    """Return a row for each reader's finding of a sentence and a passage, then a row for each figure of agreement."""
    rows = [
        (unit.case_id, unit.evidence_id, str(place), name, support.value, unit.words)
        for unit in found
        for place, (name, support) in enumerate(unit.found, start=1)
    ]
    rows += [(name, figure.as_text, "", "", "", "") for name, figure in figures.items()]
    return table_text(["case", "passage", "place", "reader", "finding", "sentence"], rows)


def _build_csv_row(case: Case) -> dict[str, str]:
    decision, draft = case.decision, case.draft
    row = {
        "id": case.id,
        "created_at": case.created_at.isoformat(),
        "updated_at": case.updated_at.isoformat(),
        "author": case.owner.name if case.owner else "",
        "mode": case.mode.as_text,
        "status": case.outcome,
        "queue": case.desk_state.as_text if case.desk.submitted_at else "",
        "classification": class_label(case) if _can_be_posted(case) else "",
        "tags": "; ".join(form_labels(case)),
        "post_url": case.post.url or "",
        "post": case.post.text,
        "sources": " ".join(item.source.url or item.source.title for item in case.used_evidence),
        **_passage_cells(case.evidence),
        "engine": _name_engine(case.assessment.engine) if case.assessment else "",
        "demonstration": "yes" if is_demonstration(case) else "no",
    }
    if decision is not None:
        over = "; ".join(f"{item.obstacle.although()}: {item.reason}" for item in decision.overrides)
        row |= {"decision": decision.kind.as_text, "decided_by": decision.by, "decided_at": decision.at.isoformat()}
        row |= {"reason": decision.reason, "overrides": over}
    if draft is not None:
        row |= {"note": draft.text, "characters": str(note_length(draft.text)), "jury": _jury_cell(case)}
        row["inferred"] = "yes" if draft.is_inferred(case.settlement, case.evidence) else "no"
    newest = case.finished_round
    if newest is not None:
        names = {note.id: note.note_id or note.id for note in newest.notes}
        row["credit"] = ", ".join(f"{names[item.note]}: {item.share:.2f}" for item in newest.credits)
    return row | _gate_cells(case)


def _name_engine(engine: str) -> str:
    return "without AI" if engine == LOCAL_ENGINE else engine


_CSV_COLUMNS = (
    "id created_at updated_at author mode status queue decision decided_by decided_at reason overrides classification"
    " tags post_url post note characters inferred"
).split()
_CSV_COLUMNS += [*GateName, "gate_reasons", "jury", "sources"]
_CSV_COLUMNS += (
    "passages passage_links passage_verdicts passage_reasons passage_readers engine demonstration credit".split()
)


def _passage_cells(evidence: Sequence[Evidence]) -> dict[str, str]:
    """Return each cell with one line per passage, beginning with its id."""
    lines_by_column = {
        "passages": [f"{item.id}: {item.source.title}" for item in evidence],
        "passage_links": [f"{item.id}: {item.source.url or 'no link'}" for item in evidence],
        "passage_verdicts": [f"{item.id}: {_describe_passage_verdict(item)}" for item in evidence],
        "passage_reasons": [
            f"{item.id}: {item.working.reason}" for item in evidence if item.working and item.working.reason
        ],
        "passage_readers": [
            f"{item.id}: {'; '.join(_describe_reader_verdicts(item))}" for item in evidence if item.working
        ],
    }
    return {column: "\n".join(" ".join(line.split()) for line in lines) for column, lines in lines_by_column.items()}


def _jury_cell(case: Case) -> str:
    verdict = case.verdict_on(case.draft.sha256) if case.draft else None
    if verdict is None:
        return GateStatus.NOT_RUN.as_text
    figure = in_figures(verdict.note_intercept, verdict.helpful_line)
    numbers = "" if verdict.means_nothing else f" Simulated score {figure} of {verdict.helpful_line:.2f} needed."
    return f"simulation: {verdict.sentence}{numbers}"


def _can_be_posted(case: Case) -> bool:
    """Return whether X's form can or may still be filled in; a case that ended without a note classifies nothing."""
    return case.decision is None or case.decision.kind is DecisionKind.APPROVED


def _gate_cells(case: Case) -> dict[str, str]:
    """Return one cell per gate as the case's page shows it; results of another text or other passages are left out."""
    gates = case.assessment.gates if case.assessment else ()
    if not case.assessment_is_current and not _is_before_inspection(case):
        return dict.fromkeys((gate.gate for gate in gates), "out of date")
    note = "" if case.assessment_is_current else " (sources not opened)"
    reasons = "\n".join(f"{gate.gate.as_text}: {gate.reason}" for gate in gates)
    return {**{gate.gate: f"{gate.status.as_text}{note}" for gate in gates}, "gate_reasons": reasons}


def _is_before_inspection(case: Case) -> bool:
    """Return whether the scores are of this text, over proposed passages that no person has judged yet."""
    draft, assessment = case.draft, case.assessment
    same = draft is not None and assessment is not None and assessment.text_sha256 == draft.sha256
    return same and not case.used_evidence


def _render_case_lines(case: Case) -> Iterator[str]:
    yield f"# Community Note case {case.id}\n"
    if is_demonstration(case):
        yield "**A demonstration with invented pages: do not post it.**\n"
    yield f"Status: {case.outcome}. Made {case.created_at:%Y-%m-%d %H:%M} UTC: {case.mode.as_text}.\n"
    yield _format_heading("Post")
    yield from _fence_text(case.post.text) if case.post.text else ["No text."]
    if case.post.context:
        yield "\nThe post it replies to or quotes:\n"
        yield from _fence_text(case.post.context)
    if case.post.url:
        yield f"\n{_format_as_code(case.post.url)}"
    for image in case.post.images:
        read = f"read by {_escape_inline(image.read_by)}:" if image.read_by else "not read."
        yield f"\nImage “{_escape_inline(image.name)}”, {image.width} × {image.height} pixels, `{image.sha256}`, {read}"
        if image.text:
            yield from _fence_text(image.text)
        if image.shows:
            yield f"It shows: {_escape_inline(image.shows)}"
    yield from _note_lines(case)
    yield from _supernote_lines(case)
    yield from _suggestion_lines(case)
    yield from _evidence_lines(case.evidence)
    yield from _support_lines(case)
    yield from _score_lines(case)
    yield from _jury_lines(case)
    yield from _decision_lines(case)
    yield _format_heading("Audit trail, times in UTC")
    for event in case.events:
        what = f"{_escape_inline(event.by)}: {_escape_inline(event.as_text)} {_escape_inline(event.detail)}"
        yield f"- {event.at:%Y-%m-%d %H:%M:%S} {what}".rstrip()


def _note_lines(case: Case) -> Iterator[str]:
    yield f"\n{_format_heading('Note')}"
    if case.draft is None:
        is_erased = any(event.kind == "author erased" for event in case.events)
        yield "The note was erased with all that its author wrote.\n" if is_erased else "No note was written.\n"
        return
    yield from _fence_text(case.draft.text)
    yield f"\n{note_length(case.draft.text)} of {NOTE_LIMIT} characters; a link counts as 1.\n"
    if case.draft.is_inferred(case.settlement, case.evidence):
        yield f"{INFERRED}.\n"
    for check in case.link_checks:
        if check.url in cited_urls(case):
            state = f"{check.as_text}, asked {check.checked_at:%Y-%m-%d %H:%M} UTC."
            yield f"- Link {_format_as_code(check.url)}: {state} {_escape_inline(check.sentence)}".rstrip()
    if not _can_be_posted(case):
        yield "\nThe case ended without a note: do not post this text.\n"
        return
    yield f"\nAbout the post: {class_label(case)}.\n"
    if labels := form_labels(case):
        yield "On X's form, tick:\n"
        yield from (f"- {label}" for label in labels)
        yield ""


def _supernote_lines(case: Case) -> Iterator[str]:
    """Yield the notes that a supernote is made from, and the share of each, so that writing impact can be shared."""
    if case.supernote is None:
        return
    newest = case.finished_round
    yield _format_heading(f"Made from {len((newest or case.supernote).notes)} notes on the post")
    if newest is None:
        yield "Filters and jury: NOT RUN to the end.\n"
        return
    yield ", ".join(f"{name}: {count}" for name, count in newest.funnel) + ".\n"
    for name, count in newest.not_run.items():
        yield f"- NOT RUN for {count}: {name}"
    if newest.winning is not None:
        edited = case.draft is not None and case.draft.sha256 != newest.winner
        chosen = _escape_inline(newest.judged)
        won = (
            f"The winner, chosen by {chosen}, before it was changed:" if edited else f"The winner, chosen by {chosen}:"
        )
        yield f"\n{won}\n"
        yield from _fence_text(newest.winning.text)
    shares = {item.note: item for item in newest.credits}
    for note in newest.notes:
        given = shares.get(note.id)
        credit = f"{100 * given.share:.0f} % of the winner's words" if given else "not in the winner"
        lost = f", {given.loss:+.2f} of its simulated score" if given and given.loss is not None else ""
        name = f"{note.id} (X's {note.note_id})" if note.note_id else note.id
        yield f"\n{_escape_inline(name)}: {credit}{lost}\n"
        yield from _fence_text(note.text)
    yield ""


def _suggestion_lines(case: Case) -> Iterator[str]:
    if not case.suggestions:
        return
    yield _format_heading("Suggestions by readers")
    for item in case.suggestions:
        answer = "open"
        if item.answer:
            why = f": {_escape_inline(item.reason)}" if item.reason else ""
            answer = f"**{item.answer.as_text}**, by {_escape_inline(item.answered_by)}{why}"
        changed = f" Changed: {_escape_inline(item.changed)}" if item.changed else ""
        yield f"- {_escape_inline(item.by)}: {_escape_inline(item.text)} — {answer}{changed}"
    yield ""


def _evidence_lines(evidence: tuple[Evidence, ...]) -> Iterator[str]:
    yield _format_heading("Sources")
    if not evidence:
        yield "None.\n"
    for item in evidence:
        source = item.source
        yield f"### {item.id}: {_escape_inline(source.title)} ({_describe_passage_verdict(item)})\n"
        if source.url:
            yield f"{_format_as_code(source.url)}\n"
        about = [
            source.publisher or "",
            source.category.as_text,
            _describe_date(source),
        ]
        yield ", ".join(_escape_inline(part) for part in about if part) + "\n"
        warnings = _list_source_warnings(source)
        if warnings:
            yield f"**Mind: {', '.join(map(_escape_inline, warnings))}.**\n"
        yield from _fence_text(item.passage.text)
        yield f"\nWhy it was chosen: {_escape_inline(item.why)}"
        for said in _describe_reader_verdicts(item):
            yield f"\n{_escape_inline(said)}"
        yield ""


def _describe_date(source: Source) -> str:
    if source.published is None or source.date_origin is None:
        return "date not known"
    day = source.published.isoformat()
    return day if source.stated_day else f"date not known (its file was made {day})"


def _describe_reader_verdicts(item: Evidence) -> Iterator[str]:
    """Return what each reader chose and why, the one that counts last."""
    for review in item.reviews:
        if review.verdict is not None:
            reason = f". {review.reason}" if review.reason else ""
            yield f"{review.reader.name} chose: {review.verdict.as_text}{reason}"


def _describe_passage_verdict(item: Evidence) -> str:
    if item.verdict is not None:
        return item.verdict.as_text
    return "opened" if item.reviews else "not opened"


def _list_source_warnings(source: Source) -> list[str]:
    """Return what a reader must know before the words, as the badges of the page say it."""
    found = list(source.notices)
    if source.read_as is ReadAs.ABSTRACT:
        found.append("abstract only")
    if source.read_as is ReadAs.RECORD:
        found.append("the register's entry, as its service gives it")
    if source.read_as is ReadAs.ARCHIVED:
        found.append("read from an archived copy")
    if source.read_as is ReadAs.THROUGH:
        found.append(f"read through {source.read_through}, not compared with the page")
    if source.by_hand:
        found.append("pasted by hand, not compared with the page")
    return found


def _support_lines(case: Case) -> Iterator[str]:
    """Yield each sentence of the note with its source: the support, who compared them, and the words."""
    draft, assessment = case.draft, case.assessment
    is_judged = case.assessment_is_current or _is_before_inspection(case)
    sentences = assessment.sentences if assessment is not None and is_judged else draft.sentences if draft else ()
    if draft is None or not sentences:
        return
    yield _format_heading("What supports each sentence")
    for number, sentence in enumerate(sentences, 1):
        yield f"{number}. “{_escape_inline(sentence.words_in(draft.text))}”"
        item = case.evidence_by_id(sentence.evidence_id) if sentence.evidence_id else None
        by = sentence.by or (assessment.engine if assessment is not None and is_judged else draft.engine)
        how = sentence.support.as_text
        how += f", by {_escape_inline(by)}" if sentence.support is not Support.UNCHECKED else ""
        how = f"checked by {_escape_inline(by)}, warnings left" if case.has_open_hint(sentence) else how
        if item is None:
            yield f"   - no source: {how}"
        else:
            source = item.source
            address = f", {_format_as_code(source.url)}" if source.url else ""
            yield f"   - {item.id}, {_escape_inline(source.publisher or source.title)}{address}: {how}"
            if sentence.carrier is not None:
                words = item.passage.text[sentence.carrier.start : sentence.carrier.end]
                yield f"   - the source says: “{_escape_inline(words)}”"
        for doubt in sentence.doubts:
            kind = "settled warning" if sentence.doubts_settled else "warning"
            yield f"   - {kind}: {_escape_inline(doubt)}"
    yield ""


def _jury_lines(case: Case) -> Iterator[str]:
    if case.draft is None:
        return
    yield _format_heading("Jury: a simulation, nobody has voted")
    verdict = case.verdict_on(case.draft.sha256)
    if verdict is None:
        yield "NOT RUN for this text.\n"
        return
    yield f"{_escape_inline(verdict.sentence)}\n"
    line, interval = verdict.helpful_line, verdict.intercept_interval
    if not verdict.means_nothing:
        yield (
            f"- simulated score {in_figures(verdict.note_intercept, line)} of {line:.2f} needed, 90 % range "
            f"{interval.low:.2f} to {interval.high:.2f}: {_escape_inline(verdict.status)}"
        )
    for side in (verdict.negative, verdict.positive):
        yield (
            f"- {side.people}, {side.jurors} simulated jurors: {side.helpful} helpful, {side.somewhat_helpful} "
            f"somewhat helpful, {side.not_helpful} not helpful"
        )
    yield from (f"- {_escape_inline(caution)}" for caution in verdict.cautions)
    yield f"- {_escape_inline(verdict.quality.note)}\n"


def _score_lines(case: Case) -> Iterator[str]:
    if case.assessment is None:
        return
    state = "of this text" if case.assessment_is_current else "of an earlier text: out of date"
    if _is_before_inspection(case):
        state = "of this text, with sources that nobody opened yet"
    yield _format_heading(f"Scores {state}, by “{_escape_inline(case.assessment.engine)}”")
    for gate in case.assessment.gates:
        yield f"- {gate.gate.as_text}: {gate.status.in_record}. {_escape_inline(gate.reason)}"
    for rule in case.assessment.principles:
        yield f"- {rule.principle.as_text}: {rule.status.in_record}. {_escape_inline(rule.reason)}"
    if together := " ".join(case.agreement):
        yield f"- Checks and simulated readers: {_escape_inline(together)}"
    yield ""


def _decision_lines(case: Case) -> Iterator[str]:
    if case.decision is None:
        return
    decision = case.decision
    yield _format_heading(f"Decision: {decision.as_text}")
    first_line = (
        f"By {_escape_inline(decision.by)}, {decision.at:%Y-%m-%d %H:%M} UTC. {_escape_inline(decision.reason)}"
    )
    yield first_line.rstrip() + "\n"
    for item in decision.overrides:
        what = item.obstacle.although(_format_as_code, _escape_inline)
        yield f"- Approved although **{what}**. Reason: {_escape_inline(item.reason)}"
    if decision.text_sha256:
        yield f"\nsha256 of the text: `{decision.text_sha256}`\n"


def _format_heading(words: str) -> str:
    return f"## {words}\n"


def _fence_text(text: str) -> Iterator[str]:
    # A code block with more backticks than the text holds: outside text stays text in any viewer.
    fence = "`" * max(3, 1 + _longest_backticks(text))
    yield f"{fence}text"
    yield text
    yield fence


def _longest_backticks(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _format_as_code(url: str) -> str:
    """Return an address to copy: in a code span it is neither markup nor a link."""
    flat = " ".join(url.split())
    fence = "`" * (1 + _longest_backticks(flat))
    return f"{fence} {flat} {fence}" if len(fence) > 1 else f"`{flat}`"


def _escape_inline(text: str) -> str:
    """Return outside text in one line, with Markdown's and HTML's own characters escaped."""
    flat = " ".join(text.split())
    return "".join(f"\\{char}" if char in "\\`*_{}[]<>#|!" else char for char in flat)
