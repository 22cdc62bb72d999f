"""Sentences of the note and their sources as a picture; choosing either opens the source in the reader."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.domain import Case, Evidence, SentenceSupport, Support
from crowdnotes.text.markdown import clip
from crowdnotes.wording import say
from pages.common.components import sentence_map, source_name
from pages.common.layout import card_place
from pages.common.session import act
from pages.draft_parts.reader import open_source

_LONGEST = 150  # characters of a sentence: three lines
_SIGNS = {Support.SUPPORTED: "✓", Support.PARTLY: "◐", Support.UNSUPPORTED: "✗", Support.UNCHECKED: "○"}


def map_of_sentences(case: Case) -> None:
    """Folded, but of a decided case; nothing below two sentences and two sources, where the rows say as much."""
    sources = _sources(case)
    if len(case.sentences) < 2 or len(sources) < 2 or case.draft is None:
        return
    key = f"map-of-{case.id}"
    with st.expander(
        say("map.title"), key=f"map-{case.id}", icon=":material/account_tree:", expanded=case.decision is not None
    ):
        sentence_map(
            say("map.title"),
            [_sentence(case, number, item, case.draft.text) for number, item in enumerate(case.sentences, start=1)],
            [_source(case, item) for item in sources],
            [
                {"kind": kind, "label": label}
                for kind, label in dict(_kind(case, item) for item in case.sentences if item.evidence_id).items()
            ],
            on_choice=partial(choose, case),
            key=key,
        )


def choose(case: Case, chosen: object) -> None:
    """Open what was chosen: a sentence's source at its words, or a source. What the browser gives may be anything."""
    given = chosen if isinstance(chosen, dict) else {}
    number, evidence_id, words = given.get("sentence"), given.get("source"), None
    if isinstance(number, int) and 1 <= number <= len(case.sentences):
        evidence_id, words = case.sentences[number - 1].evidence_id, case.sentences[number - 1].carrier
    if isinstance(evidence_id, str) and case.evidence_by_id(evidence_id) is not None:
        act(card_place(evidence_id), partial(open_source, case, evidence_id, words))


def _sources(case: Case) -> list[Evidence]:
    """Those that sentences lean on, in the order of the sentences, so that few curves cross; then the others in use."""
    leaned = (case.evidence_by_id(item.evidence_id or "") for item in case.sentences)
    found = [item for item in leaned if item is not None]
    return list({item.id: item for item in (*found, *case.used_evidence)}.values())


def _kind(case: Case, item: SentenceSupport) -> tuple[str, str]:
    """How its curve is drawn, and what that means."""
    if case.has_open_hint(item):
        return "hinted", say("support.hinted", name=item.by)
    return item.support.name.lower(), item.support.in_words


def _sentence(case: Case, number: int, item: SentenceSupport, note: str) -> dict[str, object]:
    words, (kind, told) = item.words_in(note).strip(), _kind(case, item)
    return {
        "number": number,
        "text": clip(words, _LONGEST),
        "kind": kind,
        "sign": "?" if kind == "hinted" else _SIGNS[item.support],
        "source": item.evidence_id,
        "told": say("map.sentence", n=number, support=told, id=item.evidence_id or say("map.none"), words=words),
    }


def _source(case: Case, item: Evidence) -> dict[str, object]:
    name = source_name(item.source)
    numbers = [str(n) for n, leaned in enumerate(case.sentences, start=1) if leaned.evidence_id == item.id]
    of = say("map.of_sentences", numbers=", ".join(numbers)) if numbers else say("map.of_no_sentence")
    return {"id": item.id, "name": clip(name, 60), "told": say("map.source", id=item.id, name=name, of=of)}
