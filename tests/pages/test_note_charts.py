"""The pictures of the note pane: the jury as people, sentences and sources, what an edit changed."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.cases import actions
from crowdnotes.domain import Case, GateName, SentenceSupport, SideVotes, Span, Support
from crowdnotes.text.sentences import split_sentences
from pages.common import chart_card, charts, jury
from pages.draft_parts import sentence_support
from tests.fakes import make_evidence
from tests.pages.conftest import NOTE, Desk, read, texts, unfolded

LONG = "Vitamin C does not prevent colds. No pill cures a cold. Doctors say so. https://trials.example.edu/c"


def drawn(at: AppTest, component: str) -> list[dict[str, Any]]:
    """What the page gives to a component, as often as it draws it."""
    protos = [node.proto for node in at.main if node.type == "bidi_component"]
    return [json.loads(proto.json) for proto in protos if proto.component_name.endswith(component)]


def mapped(desk: Desk) -> Case:
    """A scored note: its first and third sentence lean on E1, its second on E2."""
    case = desk.scored(LONG)
    assert case.assessment is not None
    spans = [span for span in split_sentences(LONG) if "://" not in LONG[span.start : span.end]]
    found = zip(spans, (Support.SUPPORTED, Support.PARTLY, Support.UNSUPPORTED), ("E1", "E2", "E1"), strict=True)
    sentences = tuple(
        SentenceSupport(span=span, support=support, score=0.5, evidence_id=name, carrier=Span(start=0, end=7))
        for span, support, name in found
    )
    evidence = (*case.evidence, make_evidence(2, "Passage two speaks of colds."))
    return desk.changed(case, evidence=evidence, assessment=case.assessment.replace(sentences=sentences))


def test_the_jury_is_drawn_as_a_hundred_people_of_each_side_and_says_so_in_words(desk: Desk) -> None:
    case = desk.scored()
    [verdict] = case.jury
    at = desk.app(case)
    assert drawn(at, "people") == [], "not while it is folded"
    [shown] = drawn(unfolded(at, f"jury-{case.id}"), "people")
    assert [sum(side["counts"]) for side in shown["sides"]] == [100, 100]
    yes, half, no = verdict.negative.of_100
    first = f"People on side A: of 100, {yes} find it helpful, {half} somewhat helpful, {no} not helpful."
    assert shown["sides"][0]["words"] == first
    assert shown["sides"][1]["name"] == "People on side B"


def test_a_side_that_nobody_sits_for_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[dict[str, object]]] = []
    monkeypatch.setattr(jury, "people", lambda rows, *_, **__: given.append(rows))
    sides = (SideVotes(side=name, helpful=0, somewhat_helpful=0, not_helpful=0) for name in "−+")
    jury.votes((next(sides), next(sides)), key="votes")
    assert given[0][0]["words"] == "People on side A: nobody."


def test_a_range_that_goes_beyond_the_scale_ends_in_an_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setattr(charts, "draw", lambda figure, *_, **__: given.append(figure))
    standings = [charts.Standing("inside", 0.3, 0.1, 0.5), charts.Standing("beyond", 0.7, -0.2, 0.9)]
    charts.number_line(standings, line=0.4, ends=(0.0, 0.6), alt="", key="line")
    points, left, right = given[0].data
    assert list(points.marker.symbol) == ["circle", "triangle-right"]
    assert (list(left.x), list(left.y), list(right.x), list(right.y)) == ([0.0], ["beyond"], [0.6], ["beyond"])


def test_a_saved_table_holds_no_formula_and_numbers_below_zero_as_they_are() -> None:
    rows: dict[str, list[object]] = {"words": ['=HYPERLINK("http://evil")', "plain"], "score": ["−0.12", -0.5]}
    assert list(csv.reader(io.StringIO(chart_card._rows_as_csv(rows)))) == [
        ["words", "score"],
        ['\'=HYPERLINK("http://evil")', "-0.12"],
        ["plain", "-0.5"],
    ]


def test_the_map_leads_from_each_sentence_to_its_source_and_tells_both_in_words(desk: Desk) -> None:
    [shown] = drawn(desk.app(mapped(desk)), "sentence_map")
    assert [(item["source"], item["kind"]) for item in shown["sentences"]] == [
        ("E1", "supported"),
        ("E2", "partly"),
        ("E1", "unsupported"),
    ]
    assert [item["id"] for item in shown["sources"]] == ["E1", "E2"]
    assert shown["sources"][0]["description"].endswith("closest to sentence 1, 3")
    assert shown["sentences"][1]["description"].startswith("Sentence 2, partly supported, closest source E2: No pill")
    assert [kind["label"] for kind in shown["kinds"]] == ["supported", "partly supported", "not supported"]


def test_one_sentence_with_its_source_needs_no_map(desk: Desk) -> None:
    assert drawn(desk.app(desk.scored()), "sentence_map") == []


@pytest.mark.parametrize("junk", [None, 3, {}, {"source": "E9"}, {"source": 1}, {"sentence": 0}, {"sentence": "1"}])
def test_what_the_map_cannot_have_sent_opens_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch, junk: object) -> None:
    monkeypatch.setattr(sentence_support, "run_action", lambda *_: pytest.fail("it opened something"))
    sentence_support.choose(mapped(desk), junk)


def test_a_chosen_sentence_opens_its_source_at_its_words(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    monkeypatch.setattr(sentence_support, "read_source", lambda _, *what: opened.append(what))
    case = mapped(desk)
    sentence_support.choose(case, {"sentence": 2})
    sentence_support.choose(case, {"source": "E1"})
    assert opened == [("E2", Span(start=0, end=7)), ("E1", None)]


def test_the_reader_says_which_sentences_lean_on_the_source_and_leads_to_them(desk: Desk) -> None:
    case = mapped(desk)
    at = read(desk.app(case), case)
    shown = texts(at)
    assert ":small[Supports]" in shown
    assert ":small[Does not support]" in shown
    assert ":small[Supports partly]" not in shown
    at.button(key="to-sentence-3").click().run()
    assert not at.exception
    assert "Highlighted: the words closest to the sentence" in texts(at)


def test_an_edit_that_was_scored_shows_its_words_its_gates_and_the_jurys_number(desk: Desk) -> None:
    desk.engine.fails_at = GateName.HELPFULNESS
    case = desk.scored("Everyone knows that vitamin C is useless. https://trials.example.edu/c")
    assert "What the edit changed" not in texts(desk.app(case))
    desk.engine.fails_at = None
    assert case.draft is not None
    edited = desk.workspace.cases.apply(case.id, actions.edit_draft, NOTE, based_on=case.draft.sha256)
    assert "What the edit changed" not in texts(desk.app(edited)), "the new words have no scores yet"
    at = unfolded(desk.app(desk.run(edited, "assess")), f"edit-{case.id}")
    shown = texts(at)
    assert "What the edit changed" in shown
    assert "**Helpfulness**: :red[:material/cancel:] failed → :green[:material/check_circle:] passed" in shown
    assert "**Relevance**: :green[:material/check_circle:] passed, as before" in shown
    assert "Simulated score, before and now" in shown
    marks = [piece["kind"] for text in drawn(at, "marked_text") for piece in text["pieces"]]
    assert {"added", "removed"} <= set(marks)
