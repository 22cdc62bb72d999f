"""The record of a case, on the page: who did what and when, and what made each stored result."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from crowdnotes.cases import actions
from crowdnotes.domain import Case, Event, Usage
from tests.pages.conftest import Desk, texts
from tests.shared import PATIENCE


def _page(case_id: str) -> None:
    from pages.common.audit_trail import audit_trail
    from pages.common.session import workspace

    audit_trail(workspace().cases.get(case_id))


def _opened(case: Case) -> AppTest:
    at = AppTest.from_function(_page, args=(case.id,), default_timeout=PATIENCE).run()
    assert "Passage" not in texts(at)  # nothing of it is drawn while it is folded
    at.session_state[f"record-{case.id}"] = True
    assert not at.run().exception
    return at


def test_events_stand_newest_first_in_plain_words_and_nothing_in_them_is_markup(desk: Desk) -> None:
    case = desk.scored()
    said = Event(at=case.updated_at, by="<b>ann</b>", kind="decided", detail=":red[no] " + "x" * 400)
    case = desk.changed(case, events=(*case.events, said))
    at = _opened(case)
    shown = texts(at)
    assert "· <b>ann</b>, " in shown
    assert ":red[no]" not in "\n".join(str(item.value) for item in at.markdown)
    assert "x" * 300 not in shown
    assert shown.index("**Decided**") < shown.index("**Note scored**") < shown.index("**Source decided**: E1: use")
    assert " UTC]" in shown
    [fold] = at.expander
    assert fold.label == f"Record of this case: {len(case.events)} entries"


def test_tags_have_the_words_of_xs_form(desk: Desk) -> None:
    case = desk.scored()
    desk.workspace.cases.apply(case.id, actions.tick_tag, "misleadingFactualError", ticked=True)
    shown = texts(_opened(case))
    assert "**Tags chosen**: It contains a factual error" in shown
    assert "misleadingFactualError" not in shown


def test_each_result_is_told_with_what_made_it_and_each_source_with_its_hash(desk: Desk) -> None:
    case = desk.scored()
    used = {"assess": Usage(calls=2, input_tokens=900, output_tokens=100, dollars=0.0042)}
    scores = case.assessment.replace(prompt_version="words-7")  # type: ignore[union-attr]
    shown = texts(_opened(desk.changed(case, usage=used, assessment=scores)))
    assert "The scores: scripted · prompts words-7" in shown
    assert f"The note: person · sha256 `{case.draft.sha256[:12]}…`" in shown  # type: ignore[union-attr]
    assert "assess: 2 calls, 1,000 tokens, 0.0042 US dollars" in shown
    [source] = case.sources
    assert (
        f"E1 trials.example.edu · {source.characters} characters · sha256 `{(source.text_sha256 or '')[:12]}…`" in shown
    )


def test_a_long_record_is_shown_in_parts(desk: Desk) -> None:
    case = desk.case()
    events = tuple(Event(at=case.created_at, by="ann", kind=f"number {n}") for n in range(30))
    case = desk.changed(case, events=(*case.events, *events))
    at = _opened(case)
    assert "Number 29" in texts(at)
    assert "Number 5" not in texts(at)
    at.session_state[f"record-page-{case.id}"] = 3
    assert "Number 5" in texts(at.run())
