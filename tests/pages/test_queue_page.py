"""The Queue page and what an author sees of it: one person alone has neither; two people pass a case to and fro."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import current_thread

import pytest
import streamlit as st
from sqlalchemy import event
from streamlit.testing.v1 import AppTest

from crowdnotes.cases import actions, approval, blinding, moderation
from crowdnotes.cases.suggestions import answer_suggestion
from crowdnotes.domain import (
    Actor,
    Case,
    Comment,
    DecisionKind,
    DeskState,
    GateName,
    Person,
    QueueScope,
    Role,
    SentenceSupport,
    Span,
    SuggestionAnswer,
    Support,
    text_sha256,
)
from crowdnotes.errors import NotAllowedError
from crowdnotes.settings import Settings
from pages.common import navigation, session, shared_workspace, sign_in
from pages.common.components import Judged
from pages.queue_parts import validate
from tests.fakes import actor
from tests.pages.conftest import NOTE, ROOT, Desk, chips, field, note_of, read, texts, titles, unfolded
from tests.shared import PATIENCE, HeldTime

PAGE = "pages/queue.py"
ANN, BOB = actor("ann", Role.CONTRIBUTOR), actor("bob", Role.MODERATOR)


class Team:
    """The desk of several people, one of whom is at the screen."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.who: Actor = ANN
        settings = desk.workspace.settings.replace(queue=True)
        opened = replace(desk.workspace, stage_context=replace(desk.workspace.stage_context, settings=settings))
        self.workspace = opened.acting_as(lambda: self.who)
        desk.workspace = self.workspace

    def as_(self, who: Actor) -> Team:
        self.who = who
        return self

    def submitted(self) -> Case:
        case = self.as_(ANN).desk.drafted()
        return moderation.submit_case(self.workspace.cases, case.id)


@pytest.fixture
def team(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Team:
    made = Team(desk)
    monkeypatch.setattr(shared_workspace, "open_workspace", lambda: made.workspace)
    return made


def _keys(at: AppTest) -> set[str]:
    return {button.key for button in at.button if button.key}


def _supported(at: AppTest) -> AppTest:
    """Find every sentence supported that is not judged yet."""
    while "finding-1" in _keys(at):
        at.button(key="finding-1").click().run()
        assert not at.exception, at.exception
    return at


def _comment_key(case: Case) -> str:
    """Of the field for a comment on E1 and the whole note."""
    return f"comment-{case.id}-E1-{text_sha256(NOTE)[:8]}"


def test_who_works_alone_sees_nothing_of_a_queue(desk: Desk) -> None:
    at = desk.app(desk.drafted())
    assert not at.exception
    assert "submit" not in _keys(at)
    assert navigation._find_queue_visibility() is None


def test_the_list_of_cases_is_filtered_by_who_of_the_moderators_has_them_and_by_author(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in, "has_accounts", lambda _: True)
    for person in (ANN, BOB):
        team.workspace.people.seen(person, person.role)
    case = team.submitted()
    team.as_(BOB).desk.case("a post of bob's")
    at = team.desk.app(page="pages/cases.py")
    assert at.selectbox(key="whose").options == ["Mine", "Shared", "ann"]
    at.selectbox(key="status").set_value(DeskState.SUBMITTED).run()
    assert "1 case" in texts(at)
    assert ":violet-badge[waiting for a moderator]" in texts(at)
    assert "scored, not decided" not in texts(at), "one state a case"
    at.selectbox(key="whose").set_value(ANN.key).run()
    assert "1 case" in texts(at)
    at.selectbox(key="status").set_value(DecisionKind.REJECTED).run()
    assert "No cases found." in texts(at)
    assert team.as_(ANN).desk.app(page="pages/cases.py").selectbox(key="whose").options == ["Mine", "Shared"]
    assert team.desk.newest(case).decision is None


def test_the_overview_counts_the_queue_and_what_one_moderator_found_for_nobody_who_has_yet_to_read(team: Team) -> None:
    team.desk.engine.by_person = True
    case = team.submitted()
    team.desk.run(case, "assess")
    cases = team.as_(BOB).workspace.cases
    taken = cases.apply(case.id, moderation.claim)
    pair = blinding.pairs(taken)[0]
    cases.apply(case.id, moderation.judge_pair, pair.words, pair.evidence_id, Support.UNSUPPORTED)

    def shown(who: Actor) -> str:
        return texts(team.as_(who).desk.app(page="pages/overview.py"))

    queue = "0 waiting for a moderator, 1 with a moderator, 0 sent back with comments, 0 decided in the last 7 days."
    assert "correctness stopped the most" in shown(BOB)
    assert queue in shown(BOB)
    cleo = shown(actor("cleo", Role.MODERATOR))
    assert queue in cleo
    assert "stopped the most" not in cleo
    assert "The queue now" not in shown(ANN), "an author may not read every case"


def test_a_longer_queue_asks_the_database_no_more(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = team.workspace
    opened.people.seen(BOB, "moderator")
    monkeypatch.setattr(shared_workspace, "open_workspace", lambda: opened.acting_as(opened.user_of(BOB)))
    monkeypatch.setattr("crowdnotes.workspace.time", HeldTime())  # the chosen engine is read once a second
    asked: list[str] = []
    event.listen(opened.runner.engine, "before_cursor_execute", lambda *told: asked.append(told[2]))
    found: list[int] = []
    for lines in (1, 3):
        for _ in range(lines - len(found)):
            team.submitted()
        at = team.desk.app(page=PAGE)
        asked.clear()
        at.run()
        assert len([box for box in at.checkbox if "queue-tick" in str(box.key)]) == lines
        found.append(len(asked))
    assert found[0] == found[1]


def test_the_box_of_a_row_names_the_post_without_its_markdown(team: Team) -> None:
    case = team.submitted()
    team.desk.changed(case, post=case.post.replace(text="![x](https://evil.example/i.png) Vitamin C cures colds."))
    at = team.as_(BOB).desk.app(page=PAGE)
    assert not at.exception, at.exception
    label = at.checkbox(key=f"queue-tick-{case.id}").label
    assert "Vitamin C cures colds." in label
    assert not {"[", "\\"} & {*label}, "it is only read aloud, but Streamlit draws it too"


def test_a_moderator_takes_the_next_case_finds_each_pair_and_sends_it_back(team: Team) -> None:
    case = team.submitted()
    at = team.as_(BOB).desk.app(page=PAGE)
    assert not at.exception, at.exception
    at.button(key="queue-next").click().run()
    assert not at.exception, at.exception
    assert team.desk.newest(case).desk_state is DeskState.IN_REVIEW
    at.button(key="finding-3").click().run()
    assert not at.exception, at.exception
    assert team.desk.newest(case).desk.readings[0].findings[0].support.value == "not supported"
    approve, send = at.button(key="decide-a"), at.button(key="validate-send")
    assert re.search(r"Approve: \d things left$", approve.label)
    assert (send.proto.type, approve.proto.type) == ("primary", "secondary")
    assert list(at.button).index(send) < list(at.button).index(approve), "the author has to mend it"
    at.text_input(key=_comment_key(case)).set_value("Say for whom.")
    at.button(key="validate-send").click().run()
    returned = team.desk.newest(case)
    assert (returned.desk_state, returned.suggestions[0].evidence_id) == (DeskState.RETURNED, "E1")


def test_only_the_person_who_pasted_a_source_reads_that_they_pasted_it(team: Team) -> None:
    case = team.submitted()
    assert "pasted by you: not compared" in texts(read(team.desk.app(case), case))
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    assert "pasted by ann: not compared" in texts(at)
    shown = texts(read(team.desk.app(case), case))
    assert "pasted by ann: not compared" in shown
    assert "You copied" not in shown


def test_the_first_answer_after_a_role_was_taken_is_a_sentence(team: Team) -> None:
    case = team.submitted()
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    team.as_(actor("bob", Role.CONTRIBUTOR))
    at.button(key="finding-3").click().run()
    assert not at.exception, at.exception
    assert [title.value for title in at.title] == ["Queue"]
    assert "Only moderators and admins may review cases" in texts(at)
    assert team.as_(ANN).desk.newest(case).desk.readings == ()


def test_a_reader_judges_before_they_see_what_a_model_found_of_the_sentence(team: Team) -> None:
    case = team.as_(ANN).desk.scored()
    assert case.draft is not None
    assert case.assessment is not None
    span = Span(start=0, end=NOTE.index(". ") + 1)
    sentence = SentenceSupport(span=span, support=Support.PARTLY, score=0.5, evidence_id="E1", by="a model")
    team.desk.changed(case, assessment=case.assessment.replace(sentences=(sentence,)))
    moderation.submit_case(team.workspace.cases, case.id)
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    assert not at.exception, at.exception
    assert "a model" not in texts(at)
    at.button(key="finding-1").click().run()
    assert "The checks: partly supported (a model)" in texts(at)
    at.button(key="again-0").click().run()
    assert "The checks: partly supported (a model)" in texts(at)


def test_the_page_that_decides_shows_what_is_decided_and_takes_the_tags(team: Team) -> None:
    case = team.as_(ANN).desk.drafted("The post is satire, not news. https://trials.example.edu/c")
    moderation.submit_case(team.workspace.cases, case.id)
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    at.button(key="finding-1").click().run()
    assert not at.exception, at.exception
    shown = texts(at)
    assert "Note by ann." in shown
    assert "of 280 characters" in shown
    assert "The post is misinformed or potentially misleading" in shown
    assert "X asks why the post is misleading." in shown
    assert "Tick at least one reason." in shown
    assert [it.proto.url for it in at.get("link_button")] == ["https://trials.example.edu/c"]
    assert at.button(key="suggested-0").label.startswith(":gray[T] Suggested: It is a joke or satire")
    at.button(key="suggested-0").click().run()
    assert not at.exception, at.exception
    assert team.desk.newest(case).tags == ("misleadingSatire",)
    assert "Tick at least one reason." not in texts(at)


def test_reasons_to_approve_all_the_same_are_written_in_the_queue_or_on_the_draft_page(team: Team) -> None:
    team.desk.engine.fails_at = GateName.HELPFULNESS
    team.desk.links.answers["https://trials.example.edu/c"] = 404
    case = team.as_(ANN).desk.scored()
    moderation.submit_case(team.workspace.cases, case.id)
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    chips(_supported(at), f"tags-{case.id}-MISLEADING").set_value(["misleadingFactualError"]).run()
    assert at.button(key="decide-a").label.endswith("Approve: 2 things left")
    at.button(key="decide-a").click().run()
    assert team.desk.newest(case).decision is None
    assert at.session_state["led"][0] == (".st-key-problem-0",), "the key leads to the first thing that is left"
    gate = "Why approve although the helpfulness check"
    link = "Why approve although the link"

    at.switch_page("pages/draft.py")
    at.query_params["case"] = case.id
    field(at.run(), gate).set_value("Readers I know asked for it.").run()
    at.switch_page(PAGE)
    at.query_params["case"] = case.id
    at.run()
    assert field(at, gate).value == "Readers I know asked for it."
    assert at.button(key="decide-a").label.endswith("Approve: 1 thing left")
    field(at, link).set_value("It is back by noon.").run()

    at.switch_page("pages/draft.py")
    at.query_params["case"] = case.id
    assert field(at.run(), link).value == "It is back by noon."
    at.switch_page(PAGE)
    at.query_params["case"] = case.id
    at.run()
    at.button(key="decide-a").click().run()
    assert not at.exception, at.exception
    given = team.desk.decision(case).overrides
    assert [item.reason for item in given] == ["Readers I know asked for it.", "It is back by noon."]


def test_who_rejects_a_case_of_another_says_why_and_the_author_reads_it(team: Team) -> None:
    case = team.submitted()
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    _supported(at).button(key="decide-x").click().run()
    assert team.desk.newest(case).decision is None
    assert approval.WHY_REJECT in texts(at)
    assert at.session_state["led"][0] == (f".st-key-whole-{case.id}",), "the keyboard is in the field"
    on_draft = team.desk.app(case)
    on_draft.button(key="decide-rejected").click().run()
    assert titles(on_draft) == [approval.WHY_REJECT]
    at.text_area(key=f"comment-{case.id}-all").set_value("The post is a joke.").run()
    assert approval.WHY_REJECT not in texts(at)
    at.button(key="decide-x").click().run()
    assert not at.exception, at.exception
    assert "bob: The post is a joke." in texts(at), "who rejected it still sees why"
    assert "Rejected by bob: The post is a joke." in texts(team.as_(ANN).desk.app(case))
    assert "Your comment: The post is a joke." in texts(team.as_(BOB).desk.app(case))


def test_links_are_checked_and_notes_scored_from_the_queue(team: Team) -> None:
    case = team.submitted()
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    _supported(at).button(key="mend-not_scored-").click().run()
    team.desk.finish_latest(case, at)
    assert team.desk.newest(case).assessment_is_current
    team.desk.changed(case, link_checks=())
    _supported(at.run()).button(key="check-links").click().run()
    team.desk.finish_latest(case, at)
    assert "check-links" not in _keys(at)


def test_the_frame_says_what_the_second_press_of_each_key_does(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[dict[str, Judged]] = []
    monkeypatch.setattr(validate, "shortcut_keys", lambda _, __, judged: drawn.append(judged))
    team.submitted()
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    assert not at.exception, at.exception
    said = {key: rule["words"]["ready"].replace("{key}", key.upper()) for key, rule in drawn[-1].items()}
    assert said["b"] == "Press B again to send it back"
    assert said["3"] == "Press 3 again: Does not"
    assert said["x"] == "Press X again: Reject"
    assert "a" not in said, "it leads at once to what is left"


def test_a_moderator_finds_the_way_from_the_draft_page_back_to_the_queue(team: Team) -> None:
    case = team.submitted()
    assert "Back to the queue" not in texts(team.desk.app(case))
    assert "Back to the queue" in texts(team.as_(BOB).desk.app(case))


def test_a_demonstration_is_marked_in_the_list_and_on_its_page_and_approved_as_practice_alone(team: Team) -> None:
    case = team.as_(ANN).desk.drafted()
    (item,) = case.evidence
    source = item.source.replace(url="https://institute.example/kettles")
    team.desk.changed(case, evidence=(item.replace(source=source),))
    moderation.submit_case(team.workspace.cases, case.id)
    at = team.as_(BOB).desk.app(page=PAGE)
    assert "demonstration: do not post" in texts(at)
    at.button(key="queue-next").click().run()
    at.button(key="finding-1").click().run()
    assert not at.exception, at.exception
    assert "This case is for practice." in texts(at)
    assert at.button(key="decide-a").label.endswith("Approve as practice: 4 things left")


def test_readers_who_differ_see_where_and_why(team: Team) -> None:
    case, cleo, dora = team.submitted(), actor("cleo", Role.MODERATOR), actor("dora", Role.MODERATOR)
    moderation.set_case_readers(team.as_(BOB).workspace.cases, case.id, 2)
    at = team.desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    at.button(key="finding-1").click().run()
    assert blinding.reading_by(team.desk.newest(case), BOB.key) is None, "a slip can be mended"
    at.button(key="again-0").click().run()
    at.button(key="finding-3").click().run()
    at.button(key="keep-findings").click().run()
    assert not at.exception, at.exception
    assert "Nobody else can read it." in texts(at)
    assert "An admin can choose it in the queue and ask for one reader." in texts(at)
    team.workspace.people.seen(cleo, "moderator")
    at.text_input(key=_comment_key(case)).set_value("It is about children.").run()
    assert "Who can read it: cleo." in texts(at)
    at.button(key="again-0").click().run()
    assert at.button(key="finding-1").disabled
    assert "You finished your reading." in texts(at)
    for who in (cleo, dora):
        at = team.as_(who).desk.app(page=PAGE)
        at.button(key="queue-next").click().run()
        assert "about children" not in texts(at)
        at.button(key="finding-1").click().run()
        assert "about children" not in texts(at)
        at.button(key="keep-findings").click().run()
        assert not at.exception, at.exception
        assert "bob: **not supported** It is about children." in texts(at)
        assert "cleo: **supported**" in texts(at)


def test_a_comment_on_some_words_is_told_with_them_and_a_moderator_resolves_it(team: Team) -> None:
    case = team.submitted()
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    at.button(key="finding-1").click().run()
    at.text_input(key=f"words-{case.id}-0").set_value("no such words").run()
    at.text_input(key=f"comment-{case.id}-words-0").set_value("In whom?").run()
    at.button(key="validate-send").click().run()
    [error] = at.main.get_by_key("validate-return").error
    assert "“no such words”" in f"{error.proto.title} {error.value}", "it is at the fields"
    assert at.text_input(key=f"comment-{case.id}-words-0").value == "In whom?"
    at.text_input(key=f"words-{case.id}-0").set_value(NOTE[:12]).run()
    at.button(key="validate-send").click().run()
    assert not at.exception, at.exception
    (comment,) = team.desk.newest(case).suggestions
    assert (comment.words, comment.text) == (NOTE[:12], "In whom?")
    assert NOTE[:12] in texts(team.as_(ANN).desk.app(case))
    team.as_(BOB)
    at.button(key="resolve-S1").click().run()
    assert not at.exception, at.exception
    assert "resolved by bob" in texts(at)
    assert not team.as_(ANN).desk.app(case).button(key="submit").disabled


def test_what_a_moderator_typed_stays_when_another_takes_the_case_over(team: Team) -> None:
    case = team.submitted()
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    at.button(key="finding-3").click().run()
    at.text_input(key=_comment_key(case)).set_value("Say for whom.").run()
    team.as_(actor("cleo", Role.MODERATOR)).workspace.cases.apply(case.id, moderation.take_over)
    team.as_(BOB)
    at.run()
    assert not at.exception, at.exception
    assert at.text_input(key=_comment_key(case)).value == "Say for whom."
    assert "Another moderator has this case now." in texts(at)
    assert "cleo took over this case." in texts(at)
    assert at.button(key="claim").label.endswith("Take over")
    assert "Press “Take over” to record what you find." in texts(at)


def test_what_a_moderator_typed_is_there_after_a_reload_and_gone_once_it_was_sent(team: Team) -> None:
    case = team.submitted()
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    at.button(key="finding-3").click().run()
    fields = (_comment_key(case), f"words-{case.id}-1", f"comment-{case.id}-words-1")
    at.button(key="validate-more").click().run()
    for key, said in zip(fields, ("Say for whom.", NOTE[:12], "In whom?"), strict=True):
        at.text_input(key=key).set_value(said).run()
    at.text_area(key=f"comment-{case.id}-all").set_value("Nearly there.").run()
    again = team.desk.app(page=PAGE)
    again.query_params["case"] = case.id
    again.run()
    assert not again.exception, again.exception
    assert [again.text_input(key=key).value for key in fields] == ["Say for whom.", NOTE[:12], "In whom?"]
    again.button(key="validate-send").click().run()
    assert not again.exception, again.exception
    sent = team.desk.newest(case)
    assert [item.text for item in sent.suggestions] == ["Say for whom.", "In whom?", "Nearly there."]
    assert "Nearly there." in texts(again), "who sent it still sees it"
    assert not any(item.text for item in sent.typed_words)


def test_a_comment_stays_with_its_passage_when_another_finding_is_changed(team: Team) -> None:
    case = team.submitted()
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    at.button(key="finding-3").click().run()
    at.text_input(key=_comment_key(case)).set_value("Say for whom.").run()
    at.button(key="again-0").click().run()
    at.button(key="finding-1").click().run()
    at.button(key="again-0").click().run()
    at.button(key="finding-2").click().run()
    assert at.text_input(key=_comment_key(case)).value == "Say for whom."


def test_what_a_moderator_typed_stays_when_the_case_is_decided_elsewhere(team: Team, unsaved: list[str]) -> None:
    case = team.submitted()
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    at.button(key="finding-3").click().run()
    at.text_input(key=_comment_key(case)).set_value("Say for whom.").run()
    at.button(key="again-0").click().run()  # the fields are not drawn there
    cleo = team.as_(actor("cleo", Role.MODERATOR)).workspace.cases
    cleo.apply(case.id, moderation.take_over)
    approval.decide_case(cleo, case.id, DecisionKind.NOT_NEEDED)
    team.as_(BOB)
    at.run()
    assert not at.exception, at.exception
    assert unsaved == ["Say for whom."]
    at.button(key="keep-unsaved-validate").click().run()
    assert team.desk.newest(case).decision is None


def test_a_reason_typed_in_the_queue_can_be_copied_when_another_moderator_decides(
    team: Team, unsaved: list[str]
) -> None:
    team.desk.engine.fails_at = GateName.HELPFULNESS
    case = team.as_(ANN).desk.scored()
    moderation.submit_case(team.workspace.cases, case.id)
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    _supported(at).text_input(key=f"words-{case.id}-0").set_value(NOTE[:12]).run()  # no comment on these words
    field(at, "Why approve although the helpfulness check").set_value("Readers I know asked for it.").run()
    cleo = team.as_(actor("cleo", Role.MODERATOR)).workspace.cases
    cleo.apply(case.id, moderation.take_over)
    approval.decide_case(cleo, case.id, DecisionKind.NOT_NEEDED)
    team.as_(BOB)
    at.run()
    assert not at.exception, at.exception
    assert unsaved == ["Readers I know asked for it."]


def test_a_moderator_reads_a_note_of_another_on_the_draft_page_and_types_nothing(team: Team) -> None:
    case = team.submitted()
    at = team.as_(BOB).desk.app(case)
    assert note_of(at).disabled
    assert "only its author may change it" in texts(at)
    assert not note_of(team.as_(ANN).desk.app(case)).disabled


def test_an_author_sees_the_comments_and_sends_the_case_again_when_each_is_answered(team: Team) -> None:
    case = team.submitted()
    cases = team.as_(BOB).workspace.cases
    cases.apply(case.id, moderation.claim)
    cases.apply(case.id, moderation.send_back, [Comment("Say for whom.", "E1")], "Nearly there.")
    at = team.as_(actor("cleo", Role.MODERATOR)).desk.app(case)
    assert not {words for words in ("Nearly there.", "Say for whom.") if words in texts(at)}
    at.button(key="show-comments").click().run()
    assert not at.exception, at.exception
    assert "Say for whom." in texts(at)
    assert "show-comments" not in _keys(at)
    assert any(it.kind == "shown" and it.by == "cleo" for it in team.desk.newest(case).events)
    at = team.as_(ANN).desk.app(case)
    assert not at.exception, at.exception
    assert "Nearly there." in texts(at)
    assert texts(at).count("Nearly there.") == 1
    assert "Say for whom." in texts(at)
    team.workspace.cases.apply(case.id, answer_suggestion, "S2", SuggestionAnswer.NO, "It is.")
    at.run()
    assert at.button(key="submit").disabled
    next(it for it in at.button if it.form_id == f"form-reply-submission-{case.id}-S1").click().run()
    [error] = at.main.get_by_key("answer-owed-S1").error
    assert "Choose whether you changed" in f"{error.proto.title} {error.value}", "it is at its form"
    assert texts(at).index("Nearly there.") < texts(at).index("supports each sentence"), "what came back is seen first"
    shown = team.desk.newest(case).draft.sha256  # type: ignore[union-attr]
    team.workspace.cases.apply(case.id, actions.edit_draft, f"In adults. {NOTE}", based_on=shown)
    at = team.desk.app(case)
    reply = f"reply-submission-{case.id}-S1"
    at.segmented_control(key=f"{reply}-answer").set_value(SuggestionAnswer.YES)
    next(it for it in at.button if it.form_id == f"form-{reply}").click().run()
    assert not at.exception, at.exception
    at.button(key="submit").click().run()
    assert team.desk.newest(case).desk_state is DeskState.SUBMITTED
    shown = texts(at)
    assert shown.index("supports each sentence") < shown.index("Sent to the moderators."), "it is where the button was"
    assert "withdraw" in _keys(at)
    assert "bob: Nearly there." not in texts(team.desk.app(page="pages/cases.py"))


def test_who_may_not_decide_sends_a_case_and_is_offered_no_end_of_it(team: Team) -> None:
    case = team.as_(ANN).desk.drafted()
    at = team.desk.app(case)
    assert at.button(key="submit").proto.type == "secondary", "nothing is scored yet"
    assert not {key for key in _keys(at) if key.startswith("decide-")}
    assert texts(at).count("Only moderators and admins may decide this case.") == 1
    assert "decide-approved" in _keys(team.as_(BOB).desk.app(case))
    approval.decide_case(team.workspace.cases, case.id, DecisionKind.NOT_NEEDED, reason="It is a joke.")
    assert "reopen" in _keys(team.desk.app(case))
    at = team.as_(ANN).desk.app(case)
    assert "It is a joke." in texts(at)
    assert "reopen" not in _keys(at)


def test_who_decides_in_the_queue_undoes_it_and_has_the_case_again(team: Team) -> None:
    case = team.submitted()
    at = team.as_(BOB).desk.app(page=PAGE)
    at.button(key="queue-next").click().run()
    _supported(at).button(key="decide-d").click().run()
    assert at.button(key="validate-reopen").label == "Undo"
    at.button(key="again-0").click().run()
    assert {"validate-reopen", "next-here"} <= _keys(at), "also beside the sentence"
    at.button(key="validate-reopen").click().run()
    assert not at.exception, at.exception
    newest = team.desk.newest(case)
    assert newest.decision is None
    assert newest.desk.lease is not None
    assert newest.desk.lease.holder.key == BOB.key


def test_after_a_decision_for_another_the_next_case_of_the_queue_is_claimed(team: Team) -> None:
    first, second = team.submitted(), team.submitted()
    approval.decide_case(team.as_(BOB).workspace.cases, first.id, DecisionKind.NOT_NEEDED)
    at = team.desk.app(first)
    assert at.button(key="next-post").label == "Next case for me"
    at.button(key="next-post").click().run()
    assert not at.exception, at.exception
    assert team.desk.newest(second).desk_state is DeskState.IN_REVIEW
    assert "finding-1" in _keys(at)
    assert team.as_(ANN).desk.app(first).button(key="next-post").label == "Next post"


def test_a_file_is_made_for_who_signed_in_by_a_header(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_header(_: Settings) -> Person:
        if current_thread().name.startswith("file"):  # as Streamlit makes a file: in a thread of its own
            raise NotAllowedError("sign-in", "The server in front of CrowdNotes did not say who you are.")
        return BOB

    files: dict[str, Callable[[], str]] = {}
    monkeypatch.setattr(session, "signed_in_person", of_header)
    monkeypatch.setattr(st, "download_button", lambda label, make, *_, **__: files.update({label: make}))
    team.workspace.people.seen(BOB, "moderator")
    case = team.submitted()
    for by in (BOB, actor("cleo", Role.MODERATOR)):
        cases = team.as_(by).workspace.cases
        moderation.set_case_readers(cases, case.id, 2)
        cases.apply(case.id, moderation.claim)
        (pair, *_) = blinding.pairs(cases.get(case.id))
        cases.apply(case.id, moderation.judge_pair, pair.words, pair.evidence_id, Support.SUPPORTED)
        cases.apply(case.id, moderation.finish_reading)
    at = team.desk.app(page=PAGE)
    at.selectbox(key="queue-whose").set_value(QueueScope.ALL).run()
    at.checkbox(key=f"queue-tick-{case.id}").check().run()
    made = {"queue": files.pop("Export as CSV")}
    unfolded(at, "agreement")
    at.switch_page("pages/cases.py").run()
    assert not at.exception, at.exception
    made |= {"cases": files["Export as CSV"], "findings": files["Export findings as CSV"]}
    with ThreadPoolExecutor(thread_name_prefix="file") as elsewhere:
        found = {name: elsewhere.submit(make).result() for name, make in made.items()}
    assert [name for name, table in found.items() if case.id not in table] == []


def test_a_queue_without_a_free_case_says_who_has_them_and_leads_there(team: Team) -> None:
    cleo = actor("cleo", Role.MODERATOR)
    held, read, left = team.submitted(), team.submitted(), team.submitted()
    team.as_(cleo).workspace.cases.apply(held.id, moderation.claim)
    cases = team.as_(BOB).workspace.cases
    moderation.set_case_readers(cases, read.id, 2)
    for case in (read, left):
        cases.apply(case.id, moderation.claim)
    (pair, *_) = blinding.pairs(read)
    cases.apply(read.id, moderation.judge_pair, pair.words, pair.evidence_id, Support.SUPPORTED)
    cases.apply(read.id, moderation.finish_reading)
    approval.decide_case(cases, left.id, DecisionKind.REJECTED, reason="Too late.")
    at = team.desk.app(page=PAGE)
    assert not at.exception, at.exception
    assert "No case is free to take." in texts(at)
    assert "1 case is with cleo. 1 case that you read waits for another reader." in texts(at)
    at.button(key="queue-show-decided").click().run()
    assert "rejected, by bob" in texts(at)
    at.selectbox(key="queue-state").set_value("waiting").run()
    assert {f"queue-tick-{it.id}" for it in (held, read)} == {str(box.key) for box in at.checkbox}
    again = team.desk.app(held, page=PAGE)
    assert not again.exception, again.exception
    again.button(key="validate-back").click().run()
    assert "No case is free to take." in texts(again)


def test_filters_are_as_before_after_a_case_was_open_and_only_what_changes_something_is_offered(team: Team) -> None:
    case = team.submitted()
    at = team.as_(BOB).desk.app(page=PAGE)
    at.selectbox(key="queue-whose").set_value(QueueScope.ALL).run()
    at.query_params["case"] = case.id
    at.run()
    at.button(key="validate-back").click().run()
    assert at.selectbox(key="queue-whose").value is QueueScope.ALL
    at.button(key="bulk-all").click().run()
    assert {key for key in _keys(at) if key.startswith("bulk-")} == {"bulk-all", "bulk-me", "bulk-first", "bulk-two"}
    at.button(key="bulk-me").click().run()
    at.button(key="bulk-all").click().run()
    assert {"bulk-me", "bulk-nobody"} & _keys(at) == {"bulk-nobody"}


def test_who_leaves_a_case_for_the_list_or_another_page_is_no_longer_seen_there(team: Team) -> None:
    case, cleo = team.submitted(), actor("cleo", Role.MODERATOR)

    def seen() -> list[str]:
        return team.workspace.store.queue.looking([case.id], cleo).get(case.id, [])

    at = team.as_(BOB).desk.app(page=PAGE)
    for back_to_list in (True, False):
        at.switch_page(PAGE)
        at.query_params["case"] = case.id
        at.run()
        assert seen() == ["bob"]
        (at.button(key="validate-back").click() if back_to_list else at.switch_page("pages/cases.py")).run()
        assert not at.exception, at.exception
        assert seen() == []


def test_several_are_assigned_and_put_first_at_once_and_none_is_approved(team: Team) -> None:
    cases = [team.submitted(), team.submitted()]
    at = team.as_(BOB).desk.app(page=PAGE)
    for case in cases:
        at.checkbox(key=f"queue-tick-{case.id}").check()
    at.run()
    assert not {key for key in _keys(at) if "approve" in key}
    at.button(key="bulk-me").click().run()
    for case in cases:
        at.checkbox(key=f"queue-tick-{case.id}").check()
    at.run()
    at.button(key="bulk-first").click().run()
    assert not at.exception, at.exception
    newest = [team.desk.newest(case).desk for case in cases]
    assert [(work.assigned and work.assigned.name, work.raised) for work in newest] == [("bob", True), ("bob", True)]


def test_a_case_of_the_queue_is_opened_claimed_and_taken_over(team: Team) -> None:
    case = team.submitted()
    cleo = actor("cleo", Role.MODERATOR)
    for who in (BOB, cleo):
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
        team.as_(who)
        at.run().switch_page(PAGE)
        at.query_params["case"] = case.id
        at.run()
        assert at.button(key="finding-1").disabled
        at.button(key="claim").click().run()
        assert not at.button(key="finding-1").disabled
        lease = team.desk.newest(case).desk.lease
        assert lease is not None
        assert lease.holder.key == who.key


def test_who_saw_what_others_found_is_not_offered_the_case_until_an_admin_admits_them(team: Team) -> None:
    case, cleo, dora = team.submitted(), actor("cleo", Role.MODERATOR), actor("dora", Role.ADMIN)
    bobs = team.as_(BOB).workspace.cases
    bobs.apply(case.id, moderation.claim)
    (pair, *_) = blinding.pairs(bobs.get(case.id))
    bobs.apply(case.id, moderation.judge_pair, pair.words, pair.evidence_id, Support.UNSUPPORTED)
    bobs.apply(case.id, moderation.finish_reading)
    approval.decide_case(bobs, case.id, DecisionKind.REJECTED, reason="Too late.")
    for page in (PAGE, "pages/cases.py"):  # a row shows nothing of it
        assert not team.as_(cleo).desk.app(page=page).exception
    assert not any(it.kind == "shown" for it in team.workspace.store.get(case.id).events)
    at = team.as_(cleo).desk.app(case)  # looks at it
    assert not at.exception, at.exception
    bobs.apply(case.id, actions.reopen)
    annes = team.as_(ANN).workspace.cases
    annes.apply(case.id, moderation.withdraw)
    moderation.submit_case(annes, case.id, readers=2)
    at = team.as_(cleo).desk.app(case, page=PAGE)
    assert "claim" not in _keys(at)
    assert moderation.SEEN_BEFORE in texts(at)
    assert "admit-readers" not in _keys(at)  # for admins alone
    at = team.as_(dora).desk.app(case, page=PAGE)
    at.text_input(key=f"admit-{case.id}").set_value("Nobody else is here this week.")
    at.button(key="admit-readers").click().run()
    assert not at.exception, at.exception
    assert "claim" in _keys(team.as_(cleo).desk.app(case, page=PAGE))


def test_what_another_found_of_a_sentence_is_not_shown_as_ones_own(team: Team) -> None:
    team.desk.engine.by_person = True
    case = team.as_(ANN).desk.scored()
    cases = team.workspace.cases
    (pair, *_) = blinding.pairs(case)
    cases.apply(case.id, actions.compare_sentence, pair.words, pair.evidence_id, Support.SUPPORTED)
    for who, chosen in ((ANN, Support.SUPPORTED), (BOB, None)):
        at = team.as_(who).desk.app(case)
        assert not at.exception
        assert chips(at, f"compare-{case.id}-1").value == chosen
        assert ("ann found: The source says it" in texts(at)) is (who is BOB)


def test_a_persons_name_never_becomes_markdown_in_a_label(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(navigation, "has_accounts", lambda _: True)
    desk.workspace.people.seen(BOB.replace(name="![x](https://evil.example/i.png)"), "moderator")
    at = desk.app(page="pages/people.py")
    assert not at.exception, at.exception
    [role] = at.selectbox
    assert role.label.startswith("Role of ")
    assert "[" not in role.label


def test_an_admin_erases_a_person_once_their_name_is_typed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(navigation, "has_accounts", lambda _: True)  # else the page is not listed
    desk.workspace.people.seen(BOB, "moderator")
    at = desk.app(page="pages/people.py")
    assert not at.exception
    assert at.button(key=f"erase {BOB.key}").disabled
    at.text_input(key=f"erase-name {BOB.key}").set_value("Bo").run()
    assert at.button(key=f"erase {BOB.key}").disabled
    at.text_input(key=f"erase-name {BOB.key}").set_value(BOB.name).run()
    at.button(key=f"erase {BOB.key}").click().run()
    assert not at.exception
    assert desk.workspace.people.everybody() == []
    assert f"erase {BOB.key}" not in _keys(at)
