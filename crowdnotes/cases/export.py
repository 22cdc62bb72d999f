"""Copies and exports: the words of X's own form to tick, a case as Markdown or JSON, many cases as CSV.

Human contributors have no write API on X, so they copy.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from crowdnotes.domain import (
    X_HOSTS,
    Case,
    Classification,
    DecisionKind,
    Evidence,
    Figure,
    GateName,
    Post,
    ReadAs,
    ReadPair,
    Source,
    Support,
)
from crowdnotes.evidence.demo_pages import is_demonstration_url
from crowdnotes.text.markdown import in_figures
from crowdnotes.text.note_rules import NOTE_LIMIT, find_urls, note_length, tags_of
from crowdnotes.wording import name_of, say


def form_labels(case: Case) -> list[str]:
    """The labels to tick on X's form, in the form's order."""
    labels = tags_of(case.classification)
    return [label for tag, label in labels.items() if tag in case.tags]


def class_label(case: Case) -> str:
    """The label of the classification on X's form."""
    return say("tags.misleading" if case.classification is Classification.MISLEADING else "tags.not_misleading")


def cited_urls(case: Case) -> tuple[str, ...]:
    """The links in the note, in order; none without a note."""
    return tuple(url.url for url in find_urls(case.draft.text)) if case.draft else ()


def is_demonstration(case: Case) -> bool:
    """Whether the case leans on the demonstration's invented pages, so that its note must not be posted."""
    sources = (item.source.url or "" for item in case.evidence)
    return any(is_demonstration_url(url) for url in (*cited_urls(case), *case.urls, *sources, case.post.url or ""))


def post_url(case: Case) -> str | None:
    """The post's address when it is on X, to open it there; None otherwise."""
    if case.post.url is None:
        return None
    parts = urlsplit(case.post.url)
    on_x = parts.scheme in {"http", "https"} and parts.hostname in X_HOSTS
    return case.post.url if on_x else None


def to_json(case: Case) -> str:
    """The whole case, audit trail included, as indented JSON.

    Before its own fields stand "outcome", how it ended or where it stands, and "demonstration", whether it is
    made of invented pages and must not be posted.
    """
    marks = {"outcome": _outcome(case), "demonstration": is_demonstration(case)}
    return json.dumps(marks | case.model_dump(mode="json"), indent=2, ensure_ascii=False)


def to_markdown(case: Case) -> str:
    """The case as a page to keep beside the note: what it says, what supports it, scores, jury, decision, trail."""
    return "\n".join(_lines(case)).rstrip() + "\n"


def cases_csv(cases: Iterable[Case], left_out: Mapping[str, str] | None = None) -> str:
    """One row a case, with a header. Cells that a spreadsheet would run as a formula are defused.

    `left_out` are ids of cases that could not be read, each with the reason, which stands under "reason".
    """
    rows = [_row(case) for case in cases]
    rows += [{"id": case_id, "reason": say("document.left_out", why=why)} for case_id, why in (left_out or {}).items()]
    out = io.StringIO()
    writer = csv.DictWriter(out, _COLUMNS, restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({column: plain_cell(cell) for column, cell in row.items()} for row in rows)
    return out.getvalue()


def findings_csv(found: Sequence[ReadPair], figures: Mapping[str, Figure]) -> str:
    """A row for each reader's finding of a sentence and a passage, then how far they agree, a row a figure."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["case", "passage", "place", "reader", "finding", "sentence"])
    for unit in found:
        for place, (name, support) in enumerate(unit.found, start=1):
            row = (unit.case_id, unit.evidence_id, str(place), name, support.value, unit.words)
            writer.writerow([plain_cell(cell) for cell in row])
    for name, figure in figures.items():
        writer.writerow([plain_cell(cell) for cell in (name, figure.in_words, "", "", "", "")])
    return out.getvalue()


def _row(case: Case) -> dict[str, str]:
    decision, draft = case.decision, case.draft
    row = {
        "id": case.id,
        "created_at": case.created_at.isoformat(),
        "updated_at": case.updated_at.isoformat(),
        "mode": case.mode.value,
        "status": case.status.value,
        "classification": case.classification.value if _may_be_posted(case) else "",
        "tags": ", ".join(case.tags),
        "post_url": case.post.url or "",
        "post": case.post.text,
        "sources": " ".join(item.source.url or item.source.title for item in case.used_evidence),
        **_passage_cells(case.evidence),
        "engine": case.assessment.engine if case.assessment else "",
        "demonstration": "yes" if is_demonstration(case) else "no",
    }
    if decision is not None:
        over = "; ".join(f"{item.obstacle.although()}: {item.reason}" for item in decision.overrides)
        row |= {"decision": decision.kind.value, "decided_by": decision.by, "decided_at": decision.at.isoformat()}
        row |= {"reason": decision.reason, "overrides": over}
    if draft is not None:
        row |= {"note": draft.text, "characters": str(note_length(draft.text)), "jury": _jury_cell(case)}
    newest = case.finished_round
    if newest is not None:
        names = {note.id: note.note_id or note.id for note in newest.notes}
        row["credit"] = ", ".join(f"{names[item.note]}: {item.share:.2f}" for item in newest.credits)
    return row | _gate_cells(case)


_COLUMNS = (
    "id created_at updated_at mode status decision decided_by decided_at reason overrides classification tags"
    " post_url post note characters"
).split()
_COLUMNS += [*GateName, "gate_reasons", "jury", "sources"]
_COLUMNS += (
    "passages passage_links passage_verdicts passage_reasons passage_readers engine demonstration credit".split()
)


def _passage_cells(evidence: Sequence[Evidence]) -> dict[str, str]:
    """Each cell with a line a passage, beginning with its id."""
    told = {
        "passages": [f"{item.id}: {item.source.title}" for item in evidence],
        "passage_links": [f"{item.id}: {item.source.url or say('document.no_link')}" for item in evidence],
        "passage_verdicts": [f"{item.id}: {_verdict(item)}" for item in evidence],
        "passage_reasons": [
            f"{item.id}: {item.working.reason}" for item in evidence if item.working and item.working.reason
        ],
        "passage_readers": [f"{item.id}: {'; '.join(_readers(item))}" for item in evidence if item.working],
    }
    return {column: "\n".join(" ".join(line.split()) for line in lines) for column, lines in told.items()}


def _jury_cell(case: Case) -> str:
    verdict = case.verdict_on(case.draft.sha256) if case.draft else None
    if verdict is None:
        return "NOT RUN"
    figure = in_figures(verdict.note_intercept, verdict.helpful_line)
    numbers = (
        "" if verdict.means_nothing else say("document.intercept_cell", number=figure, needed=verdict.helpful_line)
    )
    return f"simulation: {verdict.sentence}{numbers}"


def _may_be_posted(case: Case) -> bool:
    """Whether X's form will or may still be filled in; a case that ended without a note classifies nothing."""
    return case.decision is None or case.decision.kind is DecisionKind.APPROVED


def _gate_cells(case: Case) -> dict[str, str]:
    """A cell a gate; what was judged of another text, or over other passages, is no result of this one."""
    gates = case.assessment.gates if case.assessment else ()
    if not case.assessment_is_current and not _is_before_inspection(case):
        return dict.fromkeys((gate.gate for gate in gates), say("document.out_of_date"))
    note = "" if case.assessment_is_current else say("document.not_opened_note")
    reasons = "\n".join(f"{gate.gate.value}: {gate.reason}" for gate in gates)
    return {**{gate.gate: f"{gate.status.value}{note}" for gate in gates}, "gate_reasons": reasons}


def _is_before_inspection(case: Case) -> bool:
    """Whether the scores are of this text, over passages that the program proposed and nobody has judged yet."""
    draft, assessment = case.draft, case.assessment
    same = draft is not None and assessment is not None and assessment.text_sha256 == draft.sha256
    return same and not case.used_evidence


def plain_cell(cell: str) -> str:
    """The cell, so that no spreadsheet runs it as a formula."""
    # OWASP "CSV injection": a leading = + - @ tab or return makes a formula of outside text.
    return f"'{cell}" if cell[:1] in {"=", "+", "-", "@", "\t", "\r"} else cell


def _lines(case: Case) -> Iterator[str]:
    yield say("document.head", id=case.id) + "\n"
    if is_demonstration(case):
        yield "**" + say("document.demonstration") + "**\n"
    yield say("document.made", status=_outcome(case), at=case.created_at, mode=case.mode.in_words) + "\n"
    yield _head(say("document.post"))
    yield from _quoted(case.post.text) if case.post.text else [say("document.no_words")]
    if case.post.context:
        yield f"\n{say('post.context')}:\n"
        yield from _quoted(case.post.context)
    if case.post.url:
        yield f"\n{_code(case.post.url)}"
    yield from _image_lines(case.post)
    yield from _note_lines(case)
    yield from _supernote_lines(case)
    yield from _suggestion_lines(case)
    yield from _evidence_lines(case.evidence)
    yield from _support_lines(case)
    yield from _score_lines(case)
    yield from _jury_lines(case)
    yield from _decision_lines(case)
    yield _head(say("document.trail"))
    for event in case.events:
        what = f"{_inline(event.by)}: {_inline(event.in_words)} {_inline(event.detail)}"
        yield f"- {event.at:%Y-%m-%d %H:%M:%S} {what}".rstrip()


def _outcome(case: Case) -> str:
    """How the case ended, overrides included, or where it stands."""
    return case.decision.in_words if case.decision else case.status.in_words


def _image_lines(post: Post) -> Iterator[str]:
    for image in post.images:
        read = (
            say("document.image_read", by=_inline(image.read_by)) if image.read_by else say("document.image_not_read")
        )
        yield "\n" + say(
            "document.image",
            name=_inline(image.name),
            width=image.width,
            height=image.height,
            sha=image.sha256,
            read=read,
        )
        if image.text:
            yield from _quoted(image.text)
        if image.shows:
            yield say("document.shows", what=_inline(image.shows))


def _note_lines(case: Case) -> Iterator[str]:
    yield "\n" + _head(say("document.note"))
    if case.draft is None:
        yield say("document.no_note") + "\n"
        return
    yield from _quoted(case.draft.text)
    yield "\n" + say("document.length", n=note_length(case.draft.text), limit=NOTE_LIMIT) + "\n"
    for check in case.link_checks:
        if check.url in cited_urls(case):
            status = f" ({check.status})" if check.status is not None else ""
            state = say("document.asked", state=check.state.in_words + status, at=check.checked_at)
            yield f"- {say('document.link', link=_code(check.url))}: {state} {_inline(check.sentence)}".rstrip()
    if not _may_be_posted(case):
        yield "\n" + say("document.ended") + "\n"
        return
    yield "\n" + say("document.about_post", kind=class_label(case)) + "\n"
    if labels := form_labels(case):
        yield say("document.tick") + "\n"
        yield from (f"- {label}" for label in labels)
        yield ""


def _supernote_lines(case: Case) -> Iterator[str]:
    """The notes that a supernote is made from, and what each gave to it, so that writing impact can be shared."""
    if case.supernote is None:
        return
    newest = case.finished_round
    yield _head(say("document.made_from", n=len((newest or case.supernote).notes)))
    if newest is None:
        yield say("document.not_to_end") + "\n"
        return
    yield ", ".join(f"{name_of('kinds', name)}: {count}" for name, count in newest.funnel) + ".\n"
    for name, count in newest.not_run.items():
        yield "- " + say("document.not_run_for", n=count, filter=name_of("kinds", name))
    if newest.winning is not None:
        edited = case.draft is not None and case.draft.sha256 != newest.winner
        chosen = _inline(newest.judged)
        won = say("document.won_changed", who=chosen) if edited else say("document.won", who=chosen)
        yield f"\n{won}\n"
        yield from _quoted(newest.winning.text)
    shares = {item.note: item for item in newest.credits}
    for note in newest.notes:
        given = shares.get(note.id)
        credit = say("document.share", percent=100 * given.share) if given else say("document.not_in_winner")
        lost = say("document.lost", loss=given.loss) if given and given.loss is not None else ""
        name = f"{note.id} (X's {note.note_id})" if note.note_id else note.id
        yield f"\n{_inline(name)}: {credit}{lost}\n"
        yield from _quoted(note.text)
    yield ""


def _suggestion_lines(case: Case) -> Iterator[str]:
    if not case.suggestions:
        return
    yield _head(say("document.suggestions"))
    for item in case.suggestions:
        answer = say("document.open")
        if item.answer:
            by, why = _inline(item.answered_by), _inline(item.reason)
            answer = say("document.answered", answer=item.answer.in_words, by=by, why=why)
        changed = f" {say('document.changed', what=_inline(item.changed))}" if item.changed else ""
        yield f"- {_inline(item.by)}: {_inline(item.text)} — {answer}{changed}"
    yield ""


def _evidence_lines(evidence: tuple[Evidence, ...]) -> Iterator[str]:
    yield _head(say("document.sources"))
    if not evidence:
        yield say("document.none") + "\n"
    for item in evidence:
        source = item.source
        yield f"### {item.id}: {_inline(source.title)} ({_verdict(item)})\n"
        if source.url:
            yield f"{_code(source.url)}\n"
        about = [
            source.publisher or "",
            source.category.in_words,
            source.published.isoformat() if source.published and source.date_origin else say("document.no_date"),
        ]
        yield ", ".join(_inline(part) for part in about if part) + "\n"
        warnings = _warnings(source)
        if warnings:
            yield f"**{say('document.mind', what=', '.join(map(_inline, warnings)))}**\n"
        yield from _quoted(item.passage.text)
        yield "\n" + say("document.why", why=_inline(item.why))
        for said in _readers(item):
            yield "\n" + _inline(said)
        yield ""


def _readers(item: Evidence) -> Iterator[str]:
    """What each reader chose and why, the one that counts last."""
    for review in item.reviews:
        if review.verdict is not None:
            name = "document.reviewer_reason" if review.reason else "document.reviewer"
            about = {"words": review.reason} if review.reason else {}
            yield say(name, name=review.reader.name, verdict=review.verdict.in_words, **about)


def _verdict(item: Evidence) -> str:
    if item.verdict is not None:
        return item.verdict.in_words
    return say("document.opened") if item.reviews else say("document.not_opened")


def _warnings(source: Source) -> list[str]:
    """What a reader must know before the words, as the page's badges say it."""
    found = list(source.notices)
    if source.read_as is ReadAs.ABSTRACT:
        found.append(say("document.abstract"))
    if source.read_as is ReadAs.RECORD:
        found.append(say("document.record"))
    if source.read_as is ReadAs.ARCHIVED:
        found.append(say("document.archived"))
    if source.read_as is ReadAs.THROUGH:
        found.append(say("document.through", service=source.read_through))
    if source.by_hand:
        found.append(say("document.by_hand"))
    return found


def _support_lines(case: Case) -> Iterator[str]:
    """Each sentence of the note with its source: how far the passage carries it, who compared them, and its words."""
    draft, assessment = case.draft, case.assessment
    is_judged = case.assessment_is_current or _is_before_inspection(case)
    sentences = assessment.sentences if assessment is not None and is_judged else draft.sentences if draft else ()
    if draft is None or not sentences:
        return
    yield _head(say("document.support"))
    for number, sentence in enumerate(sentences, 1):
        yield f"{number}. “{_inline(sentence.words_in(draft.text))}”"
        item = case.evidence_by_id(sentence.evidence_id) if sentence.evidence_id else None
        by = sentence.by or (assessment.engine if assessment is not None and is_judged else draft.engine)
        how = sentence.support.in_words
        how += say("document.by", name=_inline(by)) if sentence.support is not Support.UNCHECKED else ""
        how = say("support.hinted", name=_inline(by)) if case.has_open_hint(sentence) else how
        if item is None:
            yield f"   - {say('document.no_passage', how=how)}"
        else:
            source = item.source
            address = f", {_code(source.url)}" if source.url else ""
            yield f"   - {item.id}, {_inline(source.publisher or source.title)}{address}: {how}"
            if sentence.carrier is not None:
                words = item.passage.text[sentence.carrier.start : sentence.carrier.end]
                yield f"   - {say('document.passage_says', words=_inline(words))}"
        for doubt in sentence.doubts:
            hint = say("document.settled_hint") if sentence.doubts_settled else say("document.hint")
            yield f"   - {hint}: {_inline(doubt)}"
    yield ""


def _jury_lines(case: Case) -> Iterator[str]:
    if case.draft is None:
        return
    yield _head(say("document.jury"))
    verdict = case.verdict_on(case.draft.sha256)
    if verdict is None:
        yield say("document.jury_not_run") + "\n"
        return
    yield f"{_inline(verdict.sentence)}\n"
    line, interval = verdict.helpful_line, verdict.intercept_interval
    if not verdict.means_nothing:
        yield "- " + say(
            "document.intercept",
            number=in_figures(verdict.note_intercept, line),
            needed=line,
            low=interval.low,
            high=interval.high,
            status=_inline(verdict.status),
        )
    for side in (verdict.negative, verdict.positive):
        yield "- " + say(
            "document.side",
            people=side.people,
            jurors=side.jurors,
            helpful=side.helpful,
            somewhat=side.somewhat_helpful,
            not_helpful=side.not_helpful,
        )
    yield from (f"- {_inline(caution)}" for caution in verdict.cautions)
    yield f"- {_inline(verdict.quality.note)}\n"


def _score_lines(case: Case) -> Iterator[str]:
    if case.assessment is None:
        return
    state = say("document.of_this") if case.assessment_is_current else say("document.of_earlier")
    if _is_before_inspection(case):
        state = say("document.before_opened")
    yield _head(say("document.scores", of=state, engine=_inline(case.assessment.engine)))
    for gate in case.assessment.gates:
        yield f"- {gate.gate.in_words}: {gate.status.value.replace('_', ' ')}. {_inline(gate.reason)}"
    for rule in case.assessment.principles:
        yield f"- {rule.principle.in_words}: {rule.status.value.replace('_', ' ')}. {_inline(rule.reason)}"
    if together := case.agreement:
        yield f"- {say('document.together', what=_inline(together))}"
    yield ""


def _decision_lines(case: Case) -> Iterator[str]:
    if case.decision is None:
        return
    decision = case.decision
    yield _head(say("document.decision", how=decision.in_words))
    told = say("document.decided", by=_inline(decision.by), at=decision.at, reason=_inline(decision.reason))
    yield told.rstrip() + "\n"
    for item in decision.overrides:
        what = item.obstacle.although(_code)
        yield f"- {say('decide.although', what=what, reason=_inline(item.reason))}"
    if decision.text_sha256:
        yield "\n" + say("document.sha", sha=decision.text_sha256) + "\n"


def _head(words: str) -> str:
    return f"## {words}\n"


def _quoted(text: str) -> Iterator[str]:
    # A code block with more backticks than the text holds: outside text stays text in any viewer.
    fence = "`" * max(3, 1 + _longest_backticks(text))
    yield f"{fence}text"
    yield text
    yield fence


def _longest_backticks(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _code(url: str) -> str:
    """An address as it is, to copy: in a code span it is neither markup nor a link."""
    flat = " ".join(url.split())
    fence = "`" * (1 + _longest_backticks(flat))
    return f"{fence} {flat} {fence}" if len(fence) > 1 else f"`{flat}`"


def _inline(text: str) -> str:
    """Outside text in one line, with Markdown's and HTML's own characters escaped."""
    flat = " ".join(text.split())
    return "".join(f"\\{char}" if char in "\\`*_{}[]<>#|!" else char for char in flat)
