"""The Cases page finds, opens, exports and deletes cases."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.cases import actions, approval, intake, supernote_actions
from crowdnotes.domain import (
    QUEUE_STATES,
    Case,
    CaseStatus,
    Decision,
    DecisionKind,
    ExistingNote,
    Mode,
    ObstacleId,
    ObstacleKind,
    Override,
    Person,
    ProviderOutcome,
    ProviderState,
    StageName,
    StageRecord,
)
from crowdnotes.errors import CaseNotFoundError
from pages.common import sign_in
from tests.pages.conftest import Desk, texts

PAGE = "pages/cases.py"


def test_without_cases_the_page_says_where_to_begin(desk: Desk) -> None:
    at = desk.app(page=PAGE)
    assert not at.exception
    assert "There are no cases yet." in texts(at)


def test_every_case_is_listed_with_where_it_stands(desk: Desk) -> None:
    desk.case("first post")
    decided = desk.case("second post")
    approval.decide_case(desk.workspace.cases, decided.id, DecisionKind.NOT_NEEDED)
    written = desk.drafted()
    approval.decide_case(desk.workspace.cases, written.id, DecisionKind.NOT_NEEDED, reason="It is a joke.")
    shown = texts(desk.app(page=PAGE))
    assert "It is a joke.] :gray[Note: “Regular" in shown, "whose words they are is seen"
    assert "first post" in shown
    assert "sources to read" in shown
    assert "no note needed" in shown
    assert "3 cases" in shown


def test_a_search_that_failed_found_nothing_or_has_not_begun_is_told_apart_in_the_list(desk: Desk) -> None:
    cases = desk.workspace.cases
    failed = intake.create_case(cases, "failed", mode=Mode.AUTOMATION, services=["nowhere"])
    desk.run(failed, "gather")
    for states in ("answered", "failed"):
        case = intake.create_case(cases, states, mode=Mode.AUTOMATION, services=["near"])
        outcome = ProviderOutcome(provider="near", label="Near", state=ProviderState(states))
        ended = [
            StageRecord(summary="", name=name, finished_at=cases.now(), seconds=0.0, engine="")
            for name in (StageName.SEARCH, StageName.PASSAGES)
        ]
        desk.changed(case, outcomes=[outcome], stages=ended)
    intake.create_case(cases, "not begun", mode=Mode.AUGMENTATION)
    shown = texts(desk.app(page=PAGE))
    for badge in (
        ":red-badge[:material/error: search failed]",
        ":violet-badge[:material/search_off: nothing was found]",
        ":orange-badge[:material/search_off: 1 of 1 searches failed]",
        ":gray-badge[no sources yet]",
    ):
        assert badge in shown


def test_the_name_of_who_began_a_case_is_shown_as_it_is(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in, "has_accounts", lambda _: True)
    ann = Person(issuer="proxy", subject="ann@desk.org", name="ann@desk.org")
    desk.workspace.people.seen(ann, "contributor")
    desk.changed(desk.case(), owner=ann)
    shown = [str(item.value) for item in desk.app(page=PAGE).markdown]
    assert any("by ann\\@\u2060desk\\.org]" in words for words in shown), shown


def test_a_demonstration_is_marked_in_the_list(desk: Desk) -> None:
    desk.case("a post of the day")
    assert "demonstration" not in texts(desk.app(page=PAGE))
    intake.create_case(
        desk.workspace.cases, "an invented post", mode=Mode.AUGMENTATION, urls=["https://kettle.example/page"]
    )
    assert texts(desk.app(page=PAGE)).count("demonstration") == 1


def test_search_and_filter_narrow_the_list(desk: Desk) -> None:
    desk.case("about vitamins")
    decided = desk.case("about kettles")
    approval.decide_case(desk.workspace.cases, decided.id, DecisionKind.REJECTED)
    at = desk.app(page=PAGE)
    at.text_input(key="search").set_value("vitamins").run()
    assert "about vitamins" in texts(at)
    assert "about kettles" not in texts(at)

    at.text_input(key="search").set_value("").run()
    at.selectbox(key="status").set_value(CaseStatus.DECIDED).run()
    assert "about kettles" in texts(at)
    assert "about vitamins" not in texts(at)

    at.selectbox(key="status").set_value(DecisionKind.APPROVED).run()
    assert "No cases found." in texts(at)
    assert not {it.as_text for it in QUEUE_STATES} & {*at.selectbox(key="status").options}, "nobody else is here"

    at.text_input(key="search").set_value("nothing like it").run()
    assert "No cases found." in texts(at)


def test_a_row_leads_to_its_case_on_the_page_it_was_made_on(desk: Desk) -> None:
    case = desk.case("A post with *stars*")
    made = supernote_actions.create_supernote(
        desk.workspace.cases, "Of many", notes=[ExistingNote(id="N1", text="No.")]
    )
    _, first, second = desk.app(page=PAGE).get("page_link")
    assert (first.proto.page, first.proto.query_string) == ("supernote", f"case={made.id}")
    assert (second.proto.page, second.proto.query_string) == ("draft", f"case={case.id}")
    assert "\\*stars\\*" in second.proto.label


def test_an_approval_with_overrides_does_not_look_like_a_clean_one(desk: Desk) -> None:
    passed_over = Override(obstacle=ObstacleId(kind=ObstacleKind.GATE_FAILED, subject="relevance"), reason="it fits")
    clean = Decision(kind=DecisionKind.APPROVED, by="you", at=desk.workspace.cases.now())
    desk.changed(desk.case(), decision=clean)
    desk.changed(desk.case(), decision=clean.replace(overrides=(passed_over,)))
    shown = "\n".join(str(item.value) for item in desk.app(page=PAGE).markdown)
    assert ":green-badge[approved]" in shown
    assert ":orange-badge[:material/rule: approved with 1 exception]" in shown.replace("\\", "")


def test_another_filter_begins_on_the_first_page_and_one_that_is_gone_shows_the_last(desk: Desk) -> None:
    for number in range(21):
        intake.create_case(desk.workspace.cases, f"post {number}", mode=Mode.AUGMENTATION)
    at = desk.app(page=PAGE)
    at.session_state["page"] = 2
    assert len(opened(at.run())) == 1
    at.text_input(key="search").set_value("post").run()
    assert len(opened(at)) == 20
    at.session_state["page"] = 2
    [last] = opened(at.run())
    _delete(at, last)
    assert len(opened(at)) == 20


def _delete(at: AppTest, case_id: str) -> None:
    at.button(key=f"delete-{case_id}").click().run()
    at.button(key=f"confirm-delete-{case_id}").click().run()


def test_a_case_is_deleted_once_that_is_confirmed(desk: Desk) -> None:
    case = desk.case()
    at = desk.app(page=PAGE)
    at.button(key=f"delete-{case.id}").click().run()
    assert [item.label for item in at.button if case.id in str(item.key)] == ["Cancel", "Delete it for good"]
    at.button(key=f"cancel-delete-{case.id}").click().run()
    assert f"duplicate-{case.id}" in [item.key for item in at.button]
    assert [one.id for one in desk.workspace.cases.find()] == [case.id]
    _delete(at, case.id)
    assert desk.workspace.cases.find() == []
    assert "There are no cases yet." in texts(at)


def test_a_duplicate_begins_anew_with_the_same_post_and_places(desk: Desk) -> None:
    case = desk.changed(desk.scored(), urls=("https://a.example.org/1",), libraries=("health",))
    made = supernote_actions.create_supernote(
        desk.workspace.cases, "Of many", notes=[ExistingNote(id="N1", text="No.")], wanted=7
    )
    at = desk.app(page=PAGE)
    assert f"?case={case.id}" in str([code.value for code in at.code])
    assert f"/supernote?case={made.id}" in str([code.value for code in at.code])
    for one in (case, made):
        at.button(key=f"duplicate-{one.id}").click().run()
        assert not at.exception
    again = {it.id: desk.workspace.cases.get(it.id) for it in desk.workspace.cases.find()}
    assert len(again) == 4
    [plain] = [it for it in again.values() if it.post.text == case.post.text and it.id != case.id]
    assert (plain.urls, plain.libraries, plain.draft, plain.evidence) == (case.urls, case.libraries, None, ())
    [notes] = [it for it in again.values() if it.post.text == "Of many" and it.id != made.id]
    assert notes.supernote is not None
    assert ([note.text for note in notes.supernote.notes], notes.supernote.wanted) == (["No."], 7)


def test_a_deletion_is_confirmed_also_when_nothing_else_fits_the_search(desk: Desk) -> None:
    case = desk.case("about kettles")
    at = desk.app(page=PAGE)
    at.text_input(key="search").set_value("kettles").run()
    _delete(at, case.id)
    assert "No cases found." in texts(at)
    assert [item.value for item in at.toast] == ["Case deleted: “about kettles”"]


def test_a_case_that_another_tab_deleted_is_told_in_a_sentence(desk: Desk) -> None:
    case = desk.case()
    at = desk.app(page=PAGE)
    at.button(key=f"delete-{case.id}").click().run()
    desk.workspace.cases.delete(case.id)
    at.button(key=f"confirm-delete-{case.id}").click().run()
    assert not at.exception
    assert "Look on the Cases page" in texts(at)
    assert not at.toast


def test_a_long_list_is_shown_in_parts(desk: Desk) -> None:
    for number in range(23):
        intake.create_case(desk.workspace.cases, f"post {number}", mode=desk.case().mode)
    at = desk.app(page=PAGE)
    assert "46 cases" in texts(at)
    assert len(opened(at)) == 20


def opened(at: AppTest) -> list[str]:
    """The ids of the cases shown, from top to bottom."""
    asked = (link.proto.query_string for link in at.get("page_link"))
    return [query.removeprefix("case=") for query in asked if query]


def test_the_case_that_changed_last_stands_first(desk: Desk) -> None:
    older, newer = desk.case("first post"), desk.case("second post")
    assert opened(desk.app(page=PAGE)) == [newer.id, older.id]
    desk.workspace.cases.apply(older.id, actions.open_passage, "E1")
    assert opened(desk.app(page=PAGE)) == [older.id, newer.id]


def test_the_export_goes_on_without_a_case_that_was_deleted_meanwhile(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, gone = desk.case("a post that stays"), desk.case("a post that goes")
    kind = type(desk.workspace.cases)
    get = kind.get

    def deleted(self: object, case_id: str) -> Case:
        if case_id == gone.id:
            raise CaseNotFoundError("There is no such case.")
        return get(self, case_id)  # type: ignore[arg-type]

    monkeypatch.setattr(kind, "get", deleted)
    assert [case.id for case in desk.workspace.cases.read_all()[0]] == [kept.id]
