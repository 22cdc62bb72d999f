"""The record of a case, folded: who did what and when, and what made each stored result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import streamlit as st

from crowdnotes.domain import Case, Classification, Event, StageName
from crowdnotes.text.markdown import escaped
from crowdnotes.text.note_rules import tags_of
from crowdnotes.wording import plural
from pages.common.components import first_shown, source_name
from pages.common.session import expander
from pages.common.times import moment

_PAGE_SIZE = 12
_MAX_DETAIL_CHARACTERS = 240  # characters of a note or a reason: the whole of it is in the export
_STAGE_EVENT_PREFIX = "stage "
_LABEL_BY_STAGE = {
    StageName.QUERIES: "Search words written",
    StageName.SEARCH: "Searched",
    StageName.READ: "Pages read",
    StageName.PASSAGES: "Passages found",
    StageName.SETTLE: "Sources compared with the claim",
    StageName.DRAFT: "Drafts written",
    StageName.REVISE: "Best draft improved",
    StageName.ASSESS: "Note scored",
    StageName.JURY: "Readers simulated",
    StageName.LINKS: "Links checked",
    StageName.CANDIDATES: "Drafts written",
    StageName.FILTER: "Drafts checked",
    StageName.RANK: "Drafts ranked",
    StageName.COMPARE: "Best note compared",
    StageName.CREDIT: "Credit shared",
    StageName.SUGGESTIONS: "Suggestions read",
}


def audit_trail(case: Case) -> None:
    """Draw the fold: the events, the newest first, and behind them what made each result and what was read."""
    expander(
        plural(len(case.events), "Record of this case: 1 entry", "Record of this case: {n:,} entries"),
        f"record-{case.id}",
        "history",
        partial(_draw_trail, case),
    )


def _draw_trail(case: Case) -> None:
    newest_first = case.events[::-1]
    first = first_shown(len(newest_first), _PAGE_SIZE, f"record-page-{case.id}")
    st.markdown("\n".join(map(_format_event, newest_first[first : first + _PAGE_SIZE])))
    for title, rows in (
        ("How each step was done", _list_results(case)),
        ("AI use", _list_model_usage(case)),
        ("What was read", _list_read_sources(case)),
    ):
        lines = list(rows)
        if lines:
            st.markdown("\n".join([f"**{title}**", "", *lines]))


def _format_event(event: Event) -> str:
    """For example: "**Source decided**: E1: use · ann, 4 March 2026, 16:04 CET"."""
    kind = event.as_text[:1].upper() + event.as_text[1:]
    if event.kind.startswith(_STAGE_EVENT_PREFIX) and event.kind.removeprefix(_STAGE_EVENT_PREFIX) in set(StageName):
        kind = _LABEL_BY_STAGE[StageName(event.kind.removeprefix(_STAGE_EVENT_PREFIX))]
    said = event.detail
    if event.kind == "tags chosen":  # by their columns of X's data
        labels = {**tags_of(Classification.MISLEADING), **tags_of(Classification.NOT_MISLEADING)}
        said = ", ".join(labels.get(tag, tag) for tag in said.split(", "))
    detail = f": {escaped(said, _MAX_DETAIL_CHARACTERS)}" if said else ""
    return f"- **{escaped(kind, 80)}**{detail} :small[:gray[· {escaped(event.by, 40)}, {moment(event.at)}]]"


def _list_results(case: Case) -> Iterator[str]:
    """Engine, prompts, time and duration of each result that is stored now."""
    for stage in case.stages:
        yield _format_result(_LABEL_BY_STAGE[stage.name], stage.engine, seconds=stage.seconds)
    if case.settlement is not None:
        yield _format_result("Which sources settle the claim", case.settlement.engine, case.settlement.prompt_version)
    if (draft := case.draft) is not None:
        yield _format_result("The note", draft.engine, draft.prompt_version, draft.seconds, draft.sha256)
        if (verdict := case.verdict_on(draft.sha256)) is not None:
            how = plural(verdict.jurors, "1 juror, seed {seed}", "{n:,} jurors, seed {seed}", seed=verdict.seed)
            yield _format_result("Simulated readers", f"{verdict.model}, {how}", sha256=verdict.text_sha256)
    if (scores := case.assessment) is not None:
        yield _format_result("The scores", scores.engine, scores.prompt_version, scores.seconds, scores.text_sha256)


def _format_result(what: str, engine: str, prompts: str | None = None, seconds: float = 0.0, sha256: str = "") -> str:
    parts = [f"{what}: {escaped(engine, 120)}"]
    parts += [f"prompts {escaped(prompts, 80)}"] if prompts else []
    parts += [f"{seconds:.1f} s"] if seconds else []
    parts += [_format_hash(sha256)] if sha256 else []
    return f"- {' · '.join(parts)}"


def _list_model_usage(case: Case) -> Iterator[str]:
    for step, used in case.usage.items():
        yield f"- {escaped(step, 60)}: {used.as_text()}"


def _list_read_sources(case: Case) -> Iterable[str]:
    ids = {item.source.id: item.id for item in case.evidence}
    for source in case.read_sources:
        name = f"{ids.get(source.id, '')} {source_name(source)}".strip()
        when = f" · {moment(source.read_at)}" if source.read_at else ""
        length = plural(source.characters, "1 character", "{n:,} characters")
        yield f"- {escaped(name, 80)} · {length}{when} · {_format_hash(source.text_sha256 or '')}"


def _format_hash(sha256: str) -> str:
    """Its beginning, enough to compare by; the whole of it is in the export."""
    return f"sha256 `{sha256[:12]}…`" if sha256 else ""
