"""The moderators' desk: submitting, claiming for a time, validating, sending back, second readers, the queue."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from inspect import isfunction, signature
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from crowdnotes.cases import actions, approval, blinding, follow_up_stages, intake, moderation, supernote_actions
from crowdnotes.cases.actions import edit_draft, own_check
from crowdnotes.cases.agreement import agreement, read_pairs, units
from crowdnotes.cases.approval import decide, obstacles
from crowdnotes.cases.blinding import pairs
from crowdnotes.cases.cases import Cases
from crowdnotes.cases.export import cases_csv, findings_csv, to_json, to_markdown
from crowdnotes.cases.stages import StageRunner
from crowdnotes.cases.store import Store, remove_case
from crowdnotes.cases.suggestions import answer_suggestion, suggest
from crowdnotes.domain import (
    BY_PERSON,
    CASE_STATES,
    CLAIM_DURATION,
    Act,
    Actor,
    Assessment,
    Case,
    CaseStatus,
    ClaimMatch,
    Classification,
    Comment,
    Decision,
    DecisionKind,
    DeskState,
    Draft,
    ExistingNote,
    FollowUpKind,
    GateName,
    GateResult,
    GateStatus,
    Obstacle,
    ObstacleKind,
    Order,
    QueueQuery,
    QueueScope,
    Ratings,
    ReadPair,
    Role,
    SentenceSupport,
    Span,
    SuggestionAnswer,
    SupernoteWork,
    Support,
    Verdict,
    remaining,
    text_sha256,
)
from crowdnotes.errors import InputError, NotAllowedError, WorkflowError
from crowdnotes.storage.database import writing
from crowdnotes.workspace import SharedWorkspace, Workspace
from tests.cases.walk import new_case, small_workspace
from tests.fakes import actor, make_case, make_evidence
from tests.shared import until

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ANN, BOB, CLEO, DAN = (actor(name, Role.MODERATOR) for name in ("ann", "bob", "cleo", "dan"))
NOTE = "The review found no link."


def drafted(case_id: str = "c1", passages: int = 2, **changes: object) -> Case:
    used = {"opened_at": NOW, "opened_by": ANN, "verdict": Verdict.USE}
    evidence = tuple(make_evidence(number, **used) for number in range(1, passages + 1))  # type: ignore[arg-type]
    ids = tuple(item.id for item in evidence)
    draft = Draft(text=NOTE, evidence_ids=ids, engine="person", written_at=NOW)
    return make_case(id=case_id, owner=ANN.person, evidence=evidence, draft=draft, **changes)


def submitted(readers: int = 1, **changes: object) -> Case:
    return moderation.submit(drafted(**changes), NOW, ANN, readers=readers)  # type: ignore[arg-type]


def refused(act: Callable[[], object], why: str) -> None:
    with pytest.raises(WorkflowError) as error:
        act()
    assert error.value.rule == why


def read(case: Case, by: object, finds: Support = Support.SUPPORTED) -> Case:
    """Claimed, every pair judged, and finished."""
    case = moderation.claim(case, NOW, by)  # type: ignore[arg-type]
    for pair in pairs(case):
        case = moderation.judge_pair(case, NOW, by, pair.words, pair.evidence_id, finds)  # type: ignore[arg-type]
    return moderation.finish_reading(case, NOW, by)  # type: ignore[arg-type]


# --- states ---


def test_a_case_that_another_sent_is_rejected_only_with_a_reason() -> None:
    sent = moderation.submit(drafted(), NOW, ANN)
    refused(lambda: decide(sent, NOW, BOB, DecisionKind.REJECTED, reason="  "), "reason needed")
    assert decide(sent, NOW, ANN, DecisionKind.REJECTED).decision is not None, "one's own"
    assert decide(drafted(), NOW, BOB, DecisionKind.REJECTED).decision is not None, "nobody waits for it"


def test_a_case_goes_from_its_author_to_a_moderator_and_back_with_each_step_on_record() -> None:
    case = drafted()
    states = [case.desk_state]
    case = moderation.submit(case, NOW, ANN)
    states.append(case.desk_state)
    case = moderation.claim(case, NOW, BOB)
    states.append(case.desk_state)
    case = moderation.send_back(case, NOW, BOB, [Comment("Which review?", "E1", "The review")], "Nearly there.")
    states.append(case.desk_state)
    assert states == [DeskState.DRAFTING, DeskState.SUBMITTED, DeskState.IN_REVIEW, DeskState.RETURNED]
    assert case.outcome_line == "bob: Nearly there."
    refused(lambda: moderation.submit(case, NOW, ANN), "comments")
    case = edit_draft(case, NOW + CLAIM_DURATION, ANN, "The 2024 review found no link.", based_on=text_sha256(NOTE))
    case = answer_suggestion(case, NOW, ANN, "S1", SuggestionAnswer.YES, "Named.", changed="The year stands there.")
    refused(lambda: moderation.submit(case, NOW, ANN), "comments")  # the one on the whole note
    case = answer_suggestion(case, NOW, ANN, "S2", SuggestionAnswer.YES, "")
    case = moderation.claim(moderation.submit(case, NOW, ANN), NOW, BOB)
    case = decide(case, NOW, BOB, DecisionKind.REJECTED, reason="It is too late.")
    assert (case.desk_state, case.outcome_line) == (DeskState.DECIDED, "bob: It is too late.")
    kinds = [
        "submitted",
        "claimed",
        "sent back",
        "note edited",
        "suggestion answered",
        "suggestion answered",
        "submitted",
        "claimed",
        "decided",
    ]
    assert [event.kind for event in case.events] == kinds
    assert [text for _, _, text in moderation.versions(case)] == [NOTE, "The 2024 review found no link."]


def test_what_no_moderator_could_use_is_not_submitted() -> None:
    empty = make_case(owner=ANN.person)
    with pytest.raises(InputError, match="There is no note yet"):
        moderation.submit(empty, NOW, ANN)
    assert moderation.submit(empty, NOW, ANN, "It is a joke.").desk.message == "It is a joke."
    refused(lambda: moderation.submit(submitted(), NOW, ANN), "submitted")
    refused(lambda: moderation.claim(drafted(), NOW, BOB), "not submitted")


def test_comments_are_refused_that_are_about_nothing_in_the_case() -> None:
    case = moderation.claim(submitted(), NOW, BOB)
    for comments, told in (
        ([], "Say what"),
        ([Comment("x", "E9")], "no source"),
        ([Comment("x", "", "Gone")], "Gone"),
    ):
        with pytest.raises(InputError, match=told):
            moderation.send_back(case, NOW, BOB, comments)
    resolved = moderation.resolve_comment(moderation.send_back(case, NOW, BOB, [Comment("Why?")]), NOW, BOB, "S1")
    assert resolved.suggestions[0].resolved_by == BOB.name
    assert moderation.submit(resolved, NOW, ANN).desk_state is DeskState.SUBMITTED
    with pytest.raises(InputError, match="S1"):
        moderation.resolve_comment(resolved, NOW, BOB, "S1")


# --- claiming ---


def test_a_claim_lasts_its_time_after_the_last_act_and_is_then_taken_over_on_record() -> None:
    case = moderation.claim(submitted(), NOW, BOB)
    late = NOW + CLAIM_DURATION - timedelta(seconds=1)
    refused(lambda: moderation.claim(case, late, CLEO), "claimed")
    refused(lambda: moderation.withdraw(case, late, ANN), "claimed")
    refused(lambda: decide(case, late, CLEO, DecisionKind.REJECTED, reason="Too late."), "claimed")
    renewed = moderation.judge_pair(case, late, BOB, NOTE, "E1", Support.SUPPORTED)
    refused(lambda: moderation.claim(renewed, NOW + CLAIM_DURATION, CLEO), "claimed")
    taken = moderation.claim(case, NOW + CLAIM_DURATION, CLEO)
    assert (taken.events[-1].kind, taken.events[-1].detail) == ("taken over", "from bob")
    refused(lambda: moderation.judge_pair(taken, NOW + CLAIM_DURATION, BOB, NOTE, "E1", Support.SUPPORTED), "claimed")
    assert moderation.take_over(case, NOW, CLEO).desk.lease.holder.key == CLEO.key  # type: ignore[union-attr]


def test_who_lost_a_claim_learns_to_whom() -> None:
    case = moderation.claim(submitted(), NOW, BOB)
    taken = moderation.take_over(case, NOW, CLEO)
    assert [moderation.taken_over_by(taken, who.key) for who in (BOB, CLEO, DAN)] == ["cleo", "", ""]
    given = moderation.claim(moderation.release(case, NOW, BOB), NOW, CLEO)
    assert moderation.taken_over_by(given, BOB.key) == ""
    done = read(submitted(readers=2), BOB)  # it was freed
    assert moderation.taken_over_by(moderation.claim(done, NOW, CLEO), BOB.key) == ""


def test_who_typed_for_longer_than_the_claim_lasts_loses_nothing_unless_somebody_took_the_case() -> None:
    case = moderation.claim(submitted(), NOW, BOB)
    later = NOW + 3 * CLAIM_DURATION
    lease = moderation.judge_pair(case, later, BOB, NOTE, "E1", Support.PARTLY).desk.lease
    assert lease is not None
    assert lease.until == later + CLAIM_DURATION
    assert moderation.release(case, later, BOB).desk_state is DeskState.SUBMITTED


# --- validating ---


def test_what_a_moderator_finds_of_a_pair_is_a_comparison_and_a_verdict_of_their_own() -> None:
    case = moderation.claim(submitted(), NOW, BOB)
    assert [(pair.words, pair.evidence_id) for pair in pairs(case)] == [(NOTE, "E1"), (NOTE, "E2")]
    case = moderation.judge_pair(case, NOW, BOB, NOTE, "E1", Support.SUPPORTED)
    found, review = own_check(case, BOB.key, NOTE, "E1"), case.evidence[0].review_by(BOB.key)
    assert found is not None
    assert review is not None
    assert (found.support, found.by_key, review.verdict) == (Support.SUPPORTED, BOB.key, Verdict.USE)
    case = moderation.judge_pair(case, NOW, BOB, NOTE, "E1", Support.WRONG_SOURCE)
    review = case.evidence[0].review_by(BOB.key)
    assert review is not None
    assert review.verdict is None  # and so no approval by them
    [unjudged] = (item for item in obstacles(case, NOW, BOB) if item.id.kind is ObstacleKind.UNJUDGED)
    assert (unjudged.id.subject, unjudged.sentence) == ("E1", "Your finding on E1: wrong source.")
    refused(lambda: moderation.finish_reading(case, NOW, BOB), "unread")
    refused(lambda: moderation.judge_pair(case, NOW, BOB, "Other words.", "E1", Support.SUPPORTED), "edited elsewhere")
    refused(lambda: moderation.judge_pair(submitted(), NOW, BOB, NOTE, "E1", Support.SUPPORTED), "not claimed")


# --- a second reader ---


def test_a_second_reader_reads_blind_and_approval_waits_for_them() -> None:
    case = read(submitted(readers=2), BOB)
    assert (case.desk_state, blinding.waits_for_readers(case)) == (DeskState.SUBMITTED, 1)
    refused(lambda: moderation.claim(case, NOW, BOB), "read already")
    assert ObstacleKind.READERS in {item.id.kind for item in obstacles(case, NOW, BOB)}
    seen = blinding.hide_other_reviews(case, CLEO)
    assert own_check(seen, BOB.key, NOTE, "E1") is None
    assert [item.review_by(BOB.key) for item in seen.evidence] == [None, None]
    assert not any(event.by == "bob" and "E1" in event.detail for event in seen.events)
    assert [reading.findings for reading in seen.desk.readings] == [()]
    assert blinding.hide_other_reviews(case, BOB) == case
    both = read(case, CLEO)
    assert (blinding.waits_for_readers(both), blinding.readers_disagree(both)) == (0, False)
    assert both.desk_state is DeskState.IN_REVIEW
    assert blinding.hide_other_reviews(both, CLEO) == both
    assert ObstacleKind.READERS not in {item.id.kind for item in obstacles(both, NOW, CLEO)}


def test_where_several_read_a_reader_says_when_they_are_done_and_changes_their_findings_before() -> None:
    def asked(case: Case) -> bool:
        return moderation.finishes_in_own_step(case, BOB.key)

    both = read(read(submitted(readers=2), BOB), CLEO)
    assert [asked(submitted()), asked(submitted(readers=2)), asked(both)] == [False, True, False]
    case = moderation.claim(submitted(readers=2, passages=1), NOW, BOB)
    for finds in (Support.UNSUPPORTED, Support.SUPPORTED):
        case = moderation.judge_pair(case, NOW, BOB, NOTE, "E1", finds)
    assert (asked(case), blinding.waits_for_readers(case)) == (True, 2)
    case = moderation.finish_reading(case, NOW, BOB)
    assert [it.support for it in case.desk.readings[0].findings] == [Support.SUPPORTED]
    refused(lambda: moderation.judge_pair(case, NOW, BOB, NOTE, "E1", Support.PARTLY), "not claimed")


def test_who_can_read_next_has_not_read_it_and_saw_nothing_of_it() -> None:
    def can(case: Case, *, four_eyes: bool = False) -> list[str]:
        return [it.name for it in blinding.possible_readers(case, (ANN, BOB, CLEO, DAN), four_eyes=four_eyes)]

    case = read(submitted(readers=2), BOB)
    assert (can(case), can(case, four_eyes=True)) == (["ann", "cleo", "dan"], ["cleo", "dan"])
    shown = read(_submitted_again(moderation.show_comments(_sent_back(), NOW, CLEO)), BOB)
    assert can(shown) == ["ann", "dan"]


def test_a_second_reader_asked_for_after_the_first_has_finished_may_take_the_case_at_once() -> None:
    done = read(submitted(), BOB)
    assert done.desk.lease is not None  # to decide it
    asked = moderation.set_readers(done, NOW, BOB, 2)
    assert (asked.desk_state, blinding.waits_for_readers(asked)) == (DeskState.SUBMITTED, 1)
    assert moderation.claim(asked, NOW, CLEO).desk_state is DeskState.IN_REVIEW
    reading = moderation.claim(submitted(), NOW, BOB)
    assert moderation.set_readers(reading, NOW, CLEO, 2).desk.lease == reading.desk.lease  # bob has not finished


def test_readers_who_disagree_ask_for_a_third_and_all_that_was_found_stays() -> None:
    case = read(read(submitted(readers=2), BOB), CLEO, Support.UNSUPPORTED)
    assert (blinding.readers_disagree(case), blinding.waits_for_readers(case)) == (True, 1)
    case = read(case, DAN)
    assert blinding.waits_for_readers(case) == 0
    found = [{finding.support for finding in reading.findings} for reading in case.desk.readings]
    assert found == [{Support.SUPPORTED}, {Support.UNSUPPORTED}, {Support.SUPPORTED}]
    again = _submitted_again(moderation.send_back(case, NOW, DAN, [], "Not yet."))
    assert (len(again.desk.readings), len(again.desk.earlier_readings)) == (0, 3)


def test_a_disagreement_is_settled_by_most_readers_or_passed_over_with_a_reason() -> None:
    def left(case: Case, by: Actor) -> list[Obstacle]:
        return [it for it in obstacles(case, NOW, by) if it.id.kind is ObstacleKind.READERS_DISAGREE]

    first = moderation.release(read(submitted(passages=1), BOB, Support.PARTLY), NOW, BOB)
    assert left(first, BOB) == []
    for assessed in (first, first.replace(assessment=waiting_assessment(first, NOTE, {NOTE: "E1"}))):
        case = read(assessed, CLEO)
        [found] = left(case, CLEO)
        assert found.sentence == "The readers disagree about E1 and the whole note."
        assert found.id.although() == "the readers disagree about E1 and the whole note"
        assert found not in remaining(obstacles(case, NOW, CLEO), {found.id: "The source says it further down."})
        assert left(read(moderation.release(case, NOW, CLEO), DAN), DAN) == [], "two of three found support"
    objects = read(first, CLEO, Support.UNSUPPORTED)
    assert left(read(moderation.release(objects, NOW, CLEO), DAN), DAN) != [], "one of three found support"
    assert left(objects, CLEO) == [], "what the newest reader found is left, once"
    three = read(read(submitted(2, passages=1), BOB, Support.PARTLY), CLEO)
    assert left(three, CLEO) == [], "a third reader is asked for first"


def test_a_reading_counts_for_the_text_that_was_read_and_for_no_other() -> None:
    both = read(read(submitted(readers=2), BOB), CLEO)
    assert ObstacleKind.READERS not in {item.id.kind for item in obstacles(both, NOW, CLEO)}
    freed = moderation.release(both, NOW, CLEO)
    turned = edit_draft(freed, NOW, ANN, "The review found a link.", based_on=text_sha256(NOTE))
    assert (blinding.waits_for_readers(turned), blinding.reading_by(turned, BOB.key)) == (2, None)
    assert ObstacleKind.READERS in {item.id.kind for item in obstacles(turned, NOW, CLEO)}
    assert moderation.text_read_before(turned, BOB.key) == NOTE
    again = read(turned, BOB)
    assert (len(again.desk.readings), len(again.desk.earlier_readings)) == (1, 2)
    assert moderation.text_read_before(again, BOB.key) is None
    assert blinding.waits_for_readers(again) == 1
    back = actions.undo_edit(turned, NOW, ANN)
    assert blinding.waits_for_readers(back) == 0  # it is the text that both read


def test_a_source_that_the_author_takes_in_later_has_to_be_read_too() -> None:
    both = moderation.release(read(read(submitted(readers=2), BOB), CLEO), NOW, CLEO)
    more = both.replace(evidence=(*both.evidence, make_evidence(3)))
    assert blinding.waits_for_readers(more) == 0
    opened = actions.open_passage(more, NOW, ANN, "E3")
    assert blinding.waits_for_readers(actions.judge(opened, NOW, ANN, "E3", Verdict.USE, "")) == 2


@pytest.mark.parametrize("readers", [1, 2])
@pytest.mark.parametrize("what", ["post", "kind", "passage", "note"])
def test_what_an_author_changes_after_a_reading_is_read_again_before_it_is_approved(readers: int, what: str) -> None:
    case = read(submitted(readers), BOB)
    case = moderation.release(case if readers == 1 else read(case, CLEO), NOW, BOB if readers == 1 else CLEO)
    last = BOB if readers == 1 else CLEO
    assert ObstacleKind.READERS not in {item.id.kind for item in obstacles(case, NOW, last)}
    if what == "post":
        changed = case.post.replace(text=f"{case.post.text} No, it is not.")
        turned = case.replace(post=changed)
    elif what == "kind":
        turned = actions.set_classification(case, NOW, ANN, Classification.NOT_MISLEADING)
    elif what == "passage":
        first, *others = case.evidence
        passage = first.passage.replace(text="Another text.")
        turned = case.replace(evidence=(first.replace(passage=passage), *others))
    else:
        turned = edit_draft(case, NOW, ANN, "The review found a link.", based_on=text_sha256(NOTE))
    assert ObstacleKind.READERS in {item.id.kind for item in obstacles(turned, NOW, last)}
    refused(lambda: decide(turned, NOW, last, DecisionKind.APPROVED, seen=text_sha256(NOTE)), "readers")
    names = {"post": "The post", "kind": "What the note says about the post", "passage": "A source", "note": ""}
    assert moderation.what_changed(turned, last.key) == names[what]
    again = read(turned, BOB) if readers == 1 else read(read(turned, BOB), CLEO)
    assert ObstacleKind.READERS not in {item.id.kind for item in obstacles(again, NOW, last)}


def test_answers_tags_and_sending_again_change_nothing_that_a_reader_read() -> None:
    back = moderation.send_back(read(submitted(), BOB), NOW, BOB, [Comment("Which laboratory?", "E1")])
    answered = answer_suggestion(back, NOW, ANN, "S1", SuggestionAnswer.NO, "The source does not say.")
    tagged = actions.set_tags(answered, NOW, ANN, ["misleadingFactualError"])
    again = moderation.submit(tagged, NOW, ANN)
    assert blinding.reading_by(again, BOB.key) is None  # it is read again, or kept
    assert (moderation.what_changed(again, BOB.key), moderation.text_read_before(again, BOB.key)) == ("", None)
    assert [moderation.is_as_read(again, who.key) for who in (BOB, CLEO)] == [True, False]
    first, *others = again.evidence
    moved = first.replace(source=first.source.replace(url="https://health.example.org/other"))
    turned = again.replace(evidence=(moved, *others))
    assert (moderation.what_changed(turned, BOB.key), moderation.is_as_read(turned, BOB.key)) == ("A source", False)


def test_a_refusal_before_ones_own_reading_tells_nothing_of_what_others_found() -> None:
    def refusals(*finds: Support) -> list[str]:
        case = submitted(readers=2)
        for by, found in zip((BOB, CLEO), finds, strict=True):
            case = read(case, by, found)
        case = moderation.release(case, NOW, CLEO) if case.desk.lease else case
        return [item.sentence for item in obstacles(blinding.hide_other_reviews(case, DAN), NOW, DAN)]

    agreed, disagreed = refusals(*[Support.SUPPORTED] * 2), refusals(Support.SUPPORTED, Support.UNSUPPORTED)
    assert agreed == disagreed
    assert "You have not read this version of the note to its end." in agreed


@pytest.mark.parametrize("what", [{"text": "The moon is made of cheese."}, {"url": "https://x.com/a/status/1"}])
def test_a_reading_counts_for_the_post_that_it_was_made_for_and_for_no_other(what: dict[str, str]) -> None:
    both = moderation.release(read(read(submitted(readers=2), BOB), CLEO), NOW, CLEO)
    turned = intake.change_post(both, NOW, ANN, both.post.replace(**what))
    if "text" in what:  # the same sources and the same note again, under another post
        back = actions.restore_evidence_set(turned, NOW, ANN, len(turned.earlier_evidence) - 1)
        turned = actions.undo_edit(back, NOW, ANN)
    assert turned.draft == both.draft
    assert (blinding.waits_for_readers(turned), blinding.reading_by(turned, BOB.key)) == (2, None)
    assert ObstacleKind.READERS in {item.id.kind for item in obstacles(turned, NOW, CLEO)}
    assert [moderation.what_changed(turned, who.key) for who in (BOB, DAN)] == ["The post", ""]
    assert not moderation.what_changed(both, BOB.key)
    assert blinding.waits_for_readers(intake.change_post(turned, NOW, ANN, both.post)) == (0 if "url" in what else 2)


def test_a_passage_that_its_author_keeps_as_background_is_not_put_to_use_by_a_reader() -> None:
    kept = actions.judge(drafted(), NOW, ANN, "E2", Verdict.BACKGROUND, "")
    case = moderation.claim(moderation.submit(kept, NOW, ANN), NOW, BOB)
    judged = moderation.judge_pair(case, NOW, BOB, NOTE, "E2", Support.SUPPORTED)
    assert judged.basis_sha256 == case.basis_sha256  # so what was scored stays scored
    assert not {"E2"} & {item.id.subject for item in obstacles(judged, NOW, BOB)}


def test_readers_of_different_texts_do_not_disagree() -> None:
    case = read(submitted(readers=2), BOB)
    edited = edit_draft(case, NOW, ANN, f"{NOTE} It had 12 trials.", based_on=text_sha256(NOTE))
    found = read(edited, CLEO, Support.UNSUPPORTED)
    assert (blinding.readers_disagree(found), blinding.waits_for_readers(found)) == (False, 1)


def test_a_note_without_sources_is_not_read_through() -> None:
    case = moderation.submit(drafted(passages=0), NOW, ANN, readers=2)
    refused(lambda: moderation.finish_reading(moderation.claim(case, NOW, BOB), NOW, BOB), "unread")


def _told(case: Case) -> str:
    """All that leaves the program of a case, in every form."""
    return "\n".join((to_markdown(case), to_json(case), cases_csv([case])))


def waiting_assessment(case: Case, note: str, passages: dict[str, str]) -> Assessment:
    """Scores that wait for people, who compare each of these sentences with its passage."""
    spans = {words: Span(start=note.index(words), end=note.index(words) + len(words)) for words in passages}
    return Assessment(
        text_sha256=text_sha256(note),
        basis_sha256=case.basis_sha256,
        gates=(
            GateResult(gate=GateName.RELEVANCE, status=GateStatus.PASS, reason="They fit."),
            GateResult.not_run(GateName.CORRECTNESS, "Compare.").replace(judge=BY_PERSON),
        ),
        principles=(),
        sentences=tuple(
            SentenceSupport(span=spans[words], support=Support.UNCHECKED, score=0.5, evidence_id=name)
            for words, name in passages.items()
        ),
        lint=(),
        engine="local",
        assessed_at=NOW,
        seconds=0.0,
    )


def _compared(case: Case) -> Case:
    return case.replace(assessment=waiting_assessment(case, NOTE, {NOTE: "E1"}))


def test_what_a_reader_found_wrong_is_one_thing_left_and_what_others_found_another() -> None:
    case = moderation.claim(moderation.submit(_compared(drafted()), NOW, ANN), NOW, BOB)
    case = moderation.judge_pair(case, NOW, BOB, NOTE, "E1", Support.UNSUPPORTED)

    def refusing(by: Actor) -> list[ObstacleKind]:
        scores = {ObstacleKind.UNJUDGED, ObstacleKind.GATE_FAILED}
        return [item.id.kind for item in obstacles(case, NOW, by) if item.id.kind in scores]

    assert refusing(BOB) == [ObstacleKind.UNJUDGED]
    assert ObstacleKind.GATE_FAILED in refusing(CLEO)


@pytest.mark.parametrize("readers", [1, 2])
def test_what_one_moderator_found_is_nowhere_before_another_is_done(readers: int) -> None:
    case = moderation.claim(moderation.submit(_compared(drafted()), NOW, ANN, readers=readers), NOW, BOB)
    case = moderation.judge_pair(case, NOW, BOB, NOTE, "E1", Support.UNSUPPORTED)  # one of two
    case = actions.match_claim(case, NOW, BOB, "https://check.example/1", ClaimMatch.OTHER)
    case = suggest(case, NOW, BOB, ["The review is about mice."])
    case = actions.save_decision_text(case, NOW, BOB, "word", "It is about mice.")
    assert "not supported" in _told(case)
    taken = moderation.take_over(case, NOW, CLEO)
    seen = blinding.hide_other_reviews(taken, CLEO)
    found = ("not supported", "mice", "other claim", "check.example")
    assert [word for word in found if word in _told(seen)] == []
    assert "bob" in _told(seen)  # that he had the case is known
    assert (seen.sentence_checks, seen.suggestions, seen.claim_matches) == ((), (), {})
    assert blinding.hide_other_reviews(taken, BOB).words_of(BOB.key, "word") == "It is about mice."
    gate = next(it for it in seen.assessment.found if it.gate is GateName.CORRECTNESS)  # type: ignore[union-attr]
    assert (gate.status, gate.findings) == (GateStatus.NOT_RUN, ())
    for kind in ("withdrawn", "sent back"):
        back = (
            moderation.withdraw(moderation.release(taken, NOW, CLEO), NOW, ANN)
            if kind == "withdrawn"
            else moderation.send_back(taken, NOW, CLEO, [Comment("Which review?")])
        )
        later = NOW + CLAIM_DURATION
        if kind == "sent back":
            back = answer_suggestion(back, later, ANN, "S2", SuggestionAnswer.NO, "No.")
        again = moderation.submit(back, later, ANN)
        assert "not supported" not in _told(blinding.hide_other_reviews(again, DAN))
    done = read(taken, CLEO)
    assert blinding.hide_other_reviews(done, CLEO) == done


def test_what_a_colleague_did_for_the_author_between_two_submissions_is_shown() -> None:
    back = moderation.withdraw(submitted(), NOW + CLAIM_DURATION, ANN)
    opened = actions.open_passage(back, NOW + 2 * CLAIM_DURATION, DAN, "E1")
    used = actions.judge(opened, NOW + 2 * CLAIM_DURATION, DAN, "E1", Verdict.BACKGROUND, "")
    again = moderation.submit(used, NOW + 3 * CLAIM_DURATION, ANN)
    review = blinding.hide_other_reviews(again, CLEO).evidence[0].review_by(DAN.key)
    assert review is not None
    assert review.verdict is Verdict.BACKGROUND


def test_an_author_who_is_a_moderator_reads_their_own_as_blind_as_anybody() -> None:
    case = read(submitted(readers=2), BOB)
    assert "bob chose" not in _told(blinding.hide_other_reviews(case, ANN))
    writer = actor("ann", Role.CONTRIBUTOR)
    assert blinding.hide_other_reviews(case, writer) == case
    own = read(case, ANN, Support.PARTLY)
    assert not blinding.hide_other_reviews(own, DAN).sentence_checks


def test_who_ends_a_case_before_they_read_it_does_not_see_what_the_first_reader_found() -> None:
    case = read(submitted(readers=2), BOB)
    ended = decide(case, NOW, CLEO, DecisionKind.REJECTED, reason="Too late.")
    assert "bob chose" in _told(ended)
    assert "bob chose" not in _told(blinding.hide_other_reviews(ended, CLEO))  # who could reopen it and read
    writer, first = actor("ann", Role.CONTRIBUTOR), BOB
    assert all(blinding.hide_other_reviews(ended, who) == ended for who in (writer, first))
    both = decide(read(case, CLEO), NOW, CLEO, DecisionKind.REJECTED, reason="Too late.")
    assert blinding.hide_other_reviews(both, DAN) == both


def test_a_third_reader_does_not_learn_from_the_queue_that_two_disagreed(engine: Engine) -> None:
    store = Store(engine)
    store.add(read(read(submitted(readers=2), BOB), CLEO, Support.UNSUPPORTED))
    shown = [store.queue.items(who, QueueQuery(QueueScope.ALL), 9)[0].disagree for who in (BOB, DAN)]
    assert shown == [True, False]


# --- how far readers agree ---


def test_agreement_is_what_the_books_say_of_a_known_table() -> None:
    """Cohen's kappa of 20 yes-yes, 15 no-no, 5 and 10 apart is 0.4; alpha of the same by hand is 0.4007."""
    yes, no = Support.SUPPORTED, Support.UNSUPPORTED
    table = [(yes, yes)] * 20 + [(yes, no)] * 5 + [(no, yes)] * 10 + [(no, no)] * 15
    found = [ReadPair(f"c{n}", "Words.", "E1", (("a", one), ("b", two))) for n, (one, two) in enumerate(table)]
    percent, kappa, alpha = agreement(found).values()
    assert (percent.n, percent.value) == (50, 0.7)
    assert kappa.value == pytest.approx(0.4)
    assert alpha.value == pytest.approx(1 - 0.3 / (2 * 45 * 55 / (100 * 99)))
    for figure in (percent, kappa, alpha):
        assert figure.low is not None
        assert figure.high is not None
        assert figure.value is not None
        assert figure.low < figure.value < figure.high
    nothing = agreement([])
    assert [figure.value for figure in nothing.values()] == [None] * 3
    assert all(figure.not_run for figure in nothing.values())
    percent, *against_chance = agreement(found[18:22]).values()
    assert (percent.value, percent.low) == (0.5, None)
    assert {figure.not_run for figure in against_chance} == {"It takes 5 cases with two readers."}
    assert "c7,E1,2,b,supported,Words." in findings_csv(found, agreement(found))


def test_readings_of_a_submission_that_was_sent_back_count_and_of_one_reader_alone_do_not() -> None:
    case = read(read(submitted(readers=2), BOB), CLEO)
    again = _submitted_again(moderation.send_back(case, NOW, CLEO, [], "Not yet."))
    assert [len(units([one])) for one in (case, again, read(submitted(), BOB))] == [2, 2, 0]


def test_what_a_reader_found_blind_stays_and_counts_as_theirs_after_they_changed_their_mind() -> None:
    differ = read(read(read(submitted(readers=2), BOB), CLEO, Support.UNSUPPORTED), DAN)
    case = moderation.take_over(differ, NOW + CLAIM_DURATION, CLEO)
    for pair in pairs(case):
        case = moderation.judge_pair(case, NOW + CLAIM_DURATION, CLEO, pair.words, pair.evidence_id, Support.SUPPORTED)
    case = moderation.finish_reading(case, NOW + CLAIM_DURATION, CLEO)
    assert not blinding.readers_disagree(case)
    assert {found.support for found in case.desk.earlier_readings[-1].findings} == {Support.UNSUPPORTED}
    blind = [dict(unit.found) for unit in units([differ])]
    assert [dict(unit.found) for unit in units([case])] == blind
    sent_again = _submitted_again(moderation.send_back(case, NOW + CLAIM_DURATION, CLEO, [], "Not yet."))
    again = units([read(sent_again, BOB)])
    assert [(dict(unit.found), len(unit.found)) for unit in again] == [(found, 3) for found in blind]


# --- the queue ---


def test_the_queue_sorts_by_what_brings_a_case_forward_and_says_why(engine: Engine) -> None:
    store = Store(engine)
    note = ExistingNote(id="N1", text="No.", ratings=Ratings(helpful=60))
    spreading = drafted("spreads", supernote=SupernoteWork(notes=(note,)))
    store.add(moderation.submit(drafted("plain"), NOW, ANN))
    store.add(moderation.submit(spreading, NOW + timedelta(hours=20), ANN))
    store.add(moderation.submit(drafted("long"), NOW - timedelta(hours=30), ANN))
    store.add(moderation.prioritise(moderation.submit(drafted("first"), NOW, ANN), NOW, BOB, True))
    store.add(drafted("unsent"))
    items = store.queue.items(BOB, QueueQuery(), 10)
    assert [item.case_id for item in items] == ["first", "long", "spreads", "plain"]
    assert [item.reasons(NOW) for item in items] == [
        ["put first by a moderator"],
        ["waiting for 30 hours"],
        ["spreads fast: notes on it were rated 60 times"],
        [],
    ]
    assert [item.case_id for item in store.queue.items(BOB, QueueQuery(order=Order.NEWEST), 1)] == ["spreads"]
    assert store.queue.count(BOB, QueueQuery()) == 4
    assert store.queue.count(ANN, QueueQuery(without_own=True)) == 0


def test_the_queue_leaves_out_what_others_hold_or_should_take_and_what_one_has_read(engine: Engine) -> None:
    store = Store(engine)
    before, now = datetime.now(UTC), store.queue.now()
    assert before - timedelta(seconds=1) < now < datetime.now(UTC) + timedelta(seconds=1)
    store.add(moderation.claim(moderation.submit(drafted("held"), now, ANN), now, BOB))
    store.add(moderation.assign(moderation.submit(drafted("for cleo"), now, ANN), now, BOB, CLEO))
    store.add(read(moderation.submit(drafted("read"), now, ANN, readers=2), BOB))
    store.add(moderation.claim(moderation.submit(drafted("ran out"), now, ANN), now - 2 * CLAIM_DURATION, DAN))

    def free(who: object) -> set[str]:
        return {item.case_id for item in store.queue.items(who, QueueQuery(), 9)}  # type: ignore[arg-type]

    assert free(BOB) == {"held", "ran out"}
    assert free(CLEO) == {"for cleo", "read", "ran out"}
    assert store.queue.next_for(CLEO, without_own=False)[0] == "for cleo"
    assert store.queue.count(DAN, QueueQuery(QueueScope.ALL)) == 4
    [held] = [item for item in store.queue.items(DAN, QueueQuery(QueueScope.ALL), 9) if item.case_id == "held"]
    assert held.held_by_another(DAN.key, now)
    assert not held.held_by_another(BOB.key, now)


def test_no_page_of_the_queue_is_found_by_looking_through_all_of_it(engine: Engine) -> None:
    asked: list[tuple[str, Any]] = []
    event.listen(engine, "before_cursor_execute", lambda _c, _cursor, words, values, *_: asked.append((words, values)))
    for whose in QueueScope:
        for order in Order:
            Store(engine).queue.items(BOB, QueueQuery(whose, order=order), 20)
            Store(engine).queue.count(BOB, QueueQuery(whose, order=order))
    pages = [(words, values) for words, values in asked if " queue" in words.lower()]
    assert pages
    with engine.begin() as connection:
        how = "EXPLAIN QUERY PLAN"
        if engine.dialect.name == "postgresql":  # of a table without rows it would not use any
            how = "EXPLAIN"
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        for words, values in pages:
            plan = "\n".join(str(row) for row in connection.exec_driver_sql(f"{how} {words}", values))
            assert not re.search(r"Seq Scan on queue|SCAN queue(?! USING)", plan), f"{words}\n{plan}"


def test_who_has_a_case_open_is_known_to_the_others(engine: Engine) -> None:
    store = Store(engine)
    store.add(drafted())
    assert (store.queue.seen("c1", BOB), store.queue.seen("c1", CLEO)) == ([], ["bob"])
    assert store.queue.looking(["c1"], CLEO) == {"c1": ["bob"]}
    assert store.queue.seen("gone", BOB) == []


def test_a_deleted_case_leaves_who_and_when_and_no_text(engine: Engine) -> None:
    store = Store(engine)
    store.add(submitted())
    store.delete("c1", by=BOB)
    [stone] = store.tombstones()
    assert (stone.case_id, stone.by, stone.by_key) == ("c1", "bob", BOB.key)
    assert store.queue.count(BOB, QueueQuery(QueueScope.ALL)) == 0


def test_what_was_decided_longer_ago_leaves_its_id_and_the_rest_stays(engine: Engine) -> None:
    store, before = Store(engine), NOW - timedelta(days=30)
    for number, decided_at in enumerate((before - timedelta(1), before + timedelta(1), None)):
        decision = Decision(kind=DecisionKind.REJECTED, by="ann", at=decided_at) if decided_at else None
        store.add(drafted(f"c{number}", decision=decision, created_at=before - timedelta(2)))
    store.put_text("c0", "The words of a page.")
    assert store.delete_decided_before(before) == 1
    assert {case.id for case in store.list()} == {"c1", "c2"}
    [stone] = store.tombstones()
    assert (stone.case_id, stone.by) == ("c0", "CrowdNotes")
    assert not store.has_text(text_sha256("The words of a page."))
    assert store.delete_decided_before(before) == 0


# --- stored cases ---


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with small_workspace(tmp_path) as opened:
        yield opened


def test_an_app_removes_at_its_start_what_was_decided_too_long_ago(workspace: Workspace) -> None:
    old, kept = (new_case(workspace, topic).id for topic in ("kettle", "walnut"))
    approval.decide_case(workspace.cases, old, DecisionKind.REJECTED, reason="Too late.")
    settings = workspace.settings.replace(retention_days=1)
    context = replace(workspace.stage_context, settings=settings, clock=lambda: datetime.now(UTC) + timedelta(days=2))
    aged = replace(workspace, stage_context=context)
    SharedWorkspace(aged)
    until(lambda: workspace.cases.count() == 1)
    assert [case.id for case in workspace.cases.find()] == [kept]


def _strict(workspace: Workspace) -> Workspace:
    settings = workspace.settings.replace(four_eyes=True)
    return replace(workspace, stage_context=replace(workspace.stage_context, settings=settings))


def test_of_two_who_claim_at_once_one_has_the_case_and_next_gives_each_their_own(workspace: Workspace) -> None:
    for topic in ("kettle", "lantern"):
        moderation.submit_case(workspace.cases, new_case(workspace, topic).id, "Look.")
    case_id = workspace.cases.find()[0].id

    def claim(name: str) -> str:
        with suppress(WorkflowError):
            workspace.acting_as(lambda: actor(name, Role.MODERATOR)).cases.apply(case_id, moderation.claim)
            return name
        return ""

    with ThreadPoolExecutor(4) as threads:
        won = [name for name in threads.map(claim, ["a", "b", "c", "d"]) if name]
    assert len(won) == 1
    others = [workspace.acting_as(lambda name=name: actor(name, Role.MODERATOR)).cases for name in ("e", "f")]  # type: ignore[misc]
    taken = [moderation.claim_next(cases) for cases in others]
    assert [case is not None and case.id != case_id for case in taken] == [True, False]


def test_with_four_eyes_nobody_reviews_their_own(workspace: Workspace) -> None:
    strict = _strict(workspace)
    ann, bob = (strict.acting_as(lambda who=who: who).cases for who in (ANN, BOB))  # type: ignore[misc]
    case = moderation.submit_case(ann, new_case(strict.acting_as(lambda: ANN), "kettle").id, "Look.")
    with pytest.raises(NotAllowedError, match="You began this case"):
        ann.apply(case.id, moderation.claim)
    assert (moderation.claim_next(ann), moderation.queue_page(ann, QueueQuery(), 10)[1]) == (None, 0)
    claimed = moderation.claim_next(bob)
    assert claimed is not None
    assert claimed.id == case.id


def _people(workspace: Workspace, *who: Actor) -> list[Cases]:
    return [workspace.acting_as(lambda one=one: one).cases for one in who]  # type: ignore[misc]


_TAG = "misleadingFactualError"


def test_a_submitted_case_is_changed_by_its_author_alone_and_by_nobody_while_it_is_claimed(
    workspace: Workspace,
) -> None:
    workspace.store.add(drafted())
    ann, bob, cleo = _people(workspace, ANN, BOB, CLEO)
    sha256, changed = text_sha256(NOTE), "The review found a link."
    moderation.submit_case(ann, "c1")
    bob.apply("c1", actions.open_passage, "E1")
    refused(lambda: bob.apply("c1", actions.edit_draft, changed, based_on=sha256), "submitted")
    refused(lambda: bob.apply("c1", actions.set_classification, Classification.NOT_MISLEADING), "submitted")
    refused(lambda: bob.apply("c1", actions.judge, "E1", Verdict.REJECT, "Old."), "submitted")
    refused(lambda: StageRunner(bob, workspace.stage_context).gather_steps("c1"), "submitted")
    refused(lambda: bob.apply("c1", follow_up_stages.follow_up, FollowUpKind.OTHER_SIDE), "submitted")
    eve = workspace.acting_as(lambda: actor("eve", Role.CONTRIBUTOR)).cases
    ann.apply("c1", actions.set_shared, True)
    for change in (
        lambda: eve.apply("c1", actions.compare_sentence, NOTE, "E1", Support.SUPPORTED),
        lambda: eve.apply("c1", actions.match_claim, "https://check.example/1", ClaimMatch.OTHER),
        lambda: workspace.acting_as(lambda: actor("eve", Role.CONTRIBUTOR)).stages.assess_steps("c1"),
        lambda: eve.apply("c1", actions.tick_tag, _TAG, ticked=True),
    ):
        refused(change, "submitted")
    bob.apply("c1", moderation.claim)
    for who in (ann, bob, cleo):
        refused(lambda who=who: who.apply("c1", actions.edit_draft, changed, based_on=sha256), "claimed")  # type: ignore[misc]
        refused(lambda who=who: who.apply("c1", actions.undo_edit), "claimed")  # type: ignore[misc]
    ann.apply("c1", actions.open_passage, "E1")
    refused(lambda: ann.apply("c1", actions.judge, "E1", Verdict.BACKGROUND, ""), "claimed")
    refused(lambda: StageRunner(ann, workspace.stage_context).gather_steps("c1"), "claimed")
    refused(lambda: ann.apply("c1", actions.tick_tag, _TAG, ticked=True), "claimed")
    refused(lambda: cleo.apply("c1", actions.tick_tag, _TAG, ticked=True), "claimed")
    for who in (ann, cleo):
        for change in (
            lambda who=who: who.apply("c1", actions.compare_sentence, NOTE, "E1", Support.SUPPORTED),
            lambda who=who: who.apply("c1", actions.match_claim, "https://check.example/1", ClaimMatch.OTHER),
            lambda who=who: StageRunner(who, workspace.stage_context).assess_steps("c1"),
        ):
            refused(change, "claimed")
    refused(lambda: bob.apply("c1", actions.compare_sentence, NOTE, "E1", Support.SUPPORTED), "stale")  # not scored yet
    assert StageRunner(bob, workspace.stage_context).assess_steps("c1")
    assert bob.apply("c1", actions.match_claim, "https://check.example/1", ClaimMatch.OTHER).claim_matches
    assert bob.apply("c1", actions.tick_tag, _TAG, ticked=True).tags == (_TAG,)
    assert StageRunner(ann, workspace.stage_context).check_link_steps("c1")
    bob.apply("c1", moderation.release)
    assert ann.apply("c1", actions.edit_draft, changed, based_on=sha256).draft.text == changed  # type: ignore[union-attr]


def test_a_claimed_case_is_not_deleted_by_anybody(workspace: Workspace) -> None:
    workspace.store.add(drafted())
    ann, bob, dora = _people(workspace, ANN, BOB, actor("dora", Role.ADMIN))
    moderation.submit_case(ann, "c1")
    bob.apply("c1", moderation.claim)
    for who in (ann, dora):
        refused(lambda who=who: who.delete("c1"), "claimed")  # type: ignore[misc]
    bob.apply("c1", moderation.release)
    ann.delete("c1")
    assert workspace.store.count() == 0


def test_who_held_a_case_is_told_that_its_author_took_it_back_and_changed_it(workspace: Workspace) -> None:
    workspace.store.add(moderation.claim(submitted(), NOW - 2 * CLAIM_DURATION, BOB))
    ann, bob = _people(workspace, ANN, BOB)
    ann.apply("c1", moderation.withdraw)
    ann.apply("c1", actions.edit_draft, "The review found a link.", based_on=text_sha256(NOTE))
    with pytest.raises(WorkflowError, match="author took this case back"):
        bob.apply("c1", moderation.judge_pair, NOTE, "E1", Support.SUPPORTED)
    moderation.submit_case(ann, "c1")
    with pytest.raises(WorkflowError, match="took this case back and sent it again"):
        bob.apply("c1", moderation.finish_reading)
    bob.apply("c1", moderation.claim)
    refused(lambda: bob.apply("c1", moderation.judge_pair, NOTE, "E1", Support.SUPPORTED), "edited elsewhere")


def test_of_stored_cases_two_moderators_read_every_one_where_that_is_set(workspace: Workspace) -> None:
    settings = workspace.settings.replace(two_readers=True, queue=True)
    strict = replace(workspace, stage_context=replace(workspace.stage_context, settings=settings))
    workspace.store.add(drafted())
    ann, bob = _people(strict, ANN, BOB)
    readers = next(it for it in approval.obstacles_for(bob, bob.get("c1")) if it.id.kind is ObstacleKind.READERS)
    assert readers.lifts == "Send it to the moderators."  # nobody approves past the readers
    assert moderation.submit_case(ann, "c1").desk.readers == 2
    readers = next(it for it in approval.obstacles_for(ann, ann.get("c1")) if it.id.kind is ObstacleKind.READERS)
    assert readers.lifts == "They read it on the Queue page."  # what its author sees, who reads nothing there
    with pytest.raises(InputError, match="Two moderators"):
        moderation.set_case_readers(bob, "c1", 1)


def test_two_readers_stay_two_once_one_of_them_has_begun() -> None:
    case = moderation.set_readers(submitted(), NOW, BOB, 2)
    assert moderation.set_readers(case, NOW, BOB, 1).desk.readers == 1  # nobody has found anything yet
    case = moderation.judge_pair(moderation.claim(case, NOW, BOB), NOW, BOB, NOTE, "E1", Support.UNSUPPORTED)
    assert moderation.set_readers(case, NOW, BOB, 1).desk.readers == 1  # of their own findings
    taken = moderation.take_over(case, NOW, CLEO)
    refused(lambda: moderation.set_readers(taken, NOW, CLEO, 1), "being read")


def test_fewer_readers_are_for_who_asked_for_two_or_for_an_admin_once_no_second_one_can_read() -> None:
    asked = moderation.set_readers(submitted(), NOW, BOB, 2)
    refused(lambda: moderation.set_readers(asked, NOW, CLEO, 1), "being read")
    first = read(submitted(readers=2), BOB)
    refused(lambda: moderation.set_readers(first, NOW, BOB, 1), "being read")  # who would then approve it alone
    dora = actor("dora", Role.ADMIN)
    freed = moderation.set_readers(first, NOW, dora, 1)
    assert blinding.waits_for_readers(freed) == 0
    assert blinding.remarks(freed) == ("dora asked for one reader instead of two after a moderator began to read.",)
    assert "1, after a moderator had begun to read" in to_markdown(freed)


@pytest.mark.parametrize("finished", [True, False])
def test_who_ends_the_case_of_another_reader_unread_cannot_look_and_then_read_it_as_the_second(finished: bool) -> None:
    case = moderation.claim(submitted(), NOW, BOB)
    case = read(case, BOB) if finished else moderation.judge_pair(case, NOW, BOB, NOTE, "E1", Support.UNSUPPORTED)
    ended = decide(moderation.take_over(case, NOW, CLEO), NOW, CLEO, DecisionKind.REJECTED, reason="Too late.")
    seen = blinding.hide_other_reviews(ended, CLEO)
    assert "bob chose" not in _told(seen)
    assert "not supported" not in _told(seen)
    assert "Not shown what other moderators found" in to_markdown(seen)
    assert blinding.remarks(seen) == ("You see other moderators' findings once you have read this note to its end.",)
    assert blinding.hide_other_reviews(ended, DAN) == ended
    again = actions.reopen(ended, NOW, CLEO)
    refused(lambda: moderation.set_readers(again, NOW, CLEO, 2), "seen before")  # Dan could look meanwhile
    assert "decided and reopened" in blinding.remarks(blinding.hide_other_reviews(again, DAN))[0]
    sent_again = moderation.submit(moderation.withdraw(again, NOW, ANN), NOW, ANN)
    assert moderation.set_readers(sent_again, NOW, CLEO, 2).desk.readers == 2


def test_a_case_that_nobody_had_read_when_it_was_reopened_may_have_two_readers() -> None:
    ended = decide(submitted(), NOW, CLEO, DecisionKind.NOT_NEEDED)
    assert moderation.set_readers(actions.reopen(ended, NOW, CLEO), NOW, CLEO, 2).desk.readers == 2


def test_readers_that_every_case_needs_are_needed_too_once_it_is_reopened() -> None:
    ended = decide(read(submitted(), BOB), NOW, BOB, DecisionKind.REJECTED, reason="Too late.", readers=2)
    assert ended.desk.readers == 2  # sent before the setting was made
    assert "bob chose" not in _told(blinding.hide_other_reviews(ended, CLEO))


def test_what_was_found_after_a_decision_says_nothing_of_how_far_readers_agree() -> None:
    case = read(submitted(), BOB)
    ended = decide(case, NOW + CLAIM_DURATION, BOB, DecisionKind.REJECTED, reason="Too late.")
    again = moderation.claim(actions.reopen(ended, NOW + CLAIM_DURATION, CLEO), NOW + 2 * CLAIM_DURATION, CLEO)
    for pair in pairs(again):
        again = moderation.judge_pair(
            again, NOW + 2 * CLAIM_DURATION, CLEO, pair.words, pair.evidence_id, Support.SUPPORTED
        )
    again = moderation.finish_reading(again, NOW + 2 * CLAIM_DURATION, CLEO)
    assert len(again.desk.readings) == 2
    assert units([again]) == []


DORA = actor("dora", Role.ADMIN)
_WHY = "Nobody else is here this week."


def _seen_by(case: Case, who: Actor) -> Case:
    """The case once that person opened it."""
    return blinding.record_sight(case, NOW, who)


def _reopened_with_a_changed_note(looked: tuple[Actor, ...], readers: int = 2) -> Case:
    """Bob (and Cleo) read the note, it is decided, others look at it, and its author changes the note."""
    case = read(submitted(readers), BOB)
    case, last = (read(case, CLEO), CLEO) if readers == 2 else (case, BOB)
    ended = decide(case, NOW, last, DecisionKind.REJECTED, reason="Too late.")
    for who in looked:
        ended = _seen_by(ended, who)
    withdrawn = moderation.withdraw(actions.reopen(ended, NOW, DAN), NOW, ANN)
    edited = edit_draft(withdrawn, NOW, ANN, f"{NOTE} It had 12 trials.", based_on=text_sha256(NOTE))
    return moderation.submit(edited, NOW, ANN, readers=2)


@pytest.mark.parametrize("readers", [1, 2])
def test_who_saw_what_others_found_while_the_case_was_decided_is_no_blind_reader_of_it(readers: int) -> None:
    case = _reopened_with_a_changed_note((DAN, DORA, DAN), readers)
    assert [(event.by, event.kind) for event in case.events if event.kind == "shown"] == [
        ("dan", "shown"),
        ("dora", "shown"),
    ]
    for take in (moderation.claim, moderation.take_over):
        with pytest.raises(WorkflowError, match="saw what other moderators found") as error:
            take(case, NOW, DAN)
        assert error.value.next_step == ("Another moderator must read it, or an admin must admit you.")
    [remark] = blinding.remarks(case)
    assert remark.startswith("Already saw what others found: dan, dora. This case waits for another moderator.")
    again = read(read(case, BOB), CLEO)  # who judged this post on their own before they saw what others found
    assert (blinding.waits_for_readers(again), blinding.remarks(again)) == (0, ())


def test_of_readers_who_saw_what_others_found_an_admin_admits_some_with_a_reason() -> None:
    case = _reopened_with_a_changed_note((CLEO, DAN), readers=1)
    one = read(case, BOB)
    lifts = next(it.lifts for it in obstacles(one, NOW, BOB) if it.id.kind is ObstacleKind.READERS)
    assert lifts == "They read it on the Queue page. It has to be someone who did not see what others found."
    with pytest.raises(InputError, match="Say why"):
        moderation.admit_readers(one, NOW, DORA, "ok")
    admitted = moderation.admit_readers(one, NOW, DORA, _WHY)
    assert blinding.remarks(admitted) == (f"dora admitted readers who had seen what others found: {_WHY}",)
    assert f"Readers admitted who saw what others found {_WHY}" in to_markdown(admitted)
    both = read(admitted, DAN)
    assert blinding.waits_for_readers(both) == 0
    assert ObstacleKind.READERS not in {item.id.kind for item in obstacles(both, NOW, DAN)}
    refused(lambda: moderation.admit_readers(both, NOW, DORA, _WHY), "nobody")
    assert units([both]) == []  # what an admitted reader found is not blind


def test_an_author_who_saw_what_the_first_reader_found_does_not_become_the_second() -> None:
    back = moderation.send_back(moderation.take_over(read(submitted(2), BOB), NOW, CLEO), NOW, CLEO, [], "Not yet.")
    writer = actor("ann", Role.CONTRIBUTOR)
    assert _seen_by(back, writer) is back  # who reads no case of others
    again = _submitted_again(_seen_by(back, ANN))
    refused(lambda: moderation.claim(again, NOW, ANN), "seen before")
    assert moderation.claim(again, NOW, CLEO).desk.lease is not None


def _sent_back(readers: int = 2) -> Case:
    """The case with Bob's comments for its author, which he made without judging any passage."""
    comments = [Comment("The review is about mice."), Comment("Which trial?", "E1")]
    return moderation.send_back(moderation.claim(submitted(readers), NOW, BOB), NOW, BOB, comments, "Mice only.")


@pytest.mark.parametrize("readers", [1, 2])
def test_what_a_moderator_wrote_to_the_author_is_shown_to_no_other_before_they_finish(readers: int) -> None:
    back = _sent_back(readers)
    drafting = moderation.withdraw(_submitted_again(back), NOW + 2 * CLAIM_DURATION, ANN)
    for case in (back, drafting, _submitted_again(back)):
        seen = blinding.hide_other_reviews(case, CLEO)
        assert [words for words in ("mice", "Mice", "Which trial") if words in _told(seen)] == []
        assert blinding.is_something_hidden(seen)
        assert "mice" in _told(blinding.hide_other_reviews(case, BOB))
    assert blinding.hide_other_reviews(back, ANN) == back
    helper = actor("carl", Role.CONTRIBUTOR)  # who may work on a shared case and reads none for others
    assert "mice" in _told(blinding.hide_other_reviews(back, helper))
    done = read(_submitted_again(back), CLEO)
    assert blinding.hide_other_reviews(done, CLEO) == done


def test_who_asks_for_the_comments_on_a_case_that_was_sent_back_is_no_blind_reader_of_it() -> None:
    shown = moderation.show_comments(_sent_back(), NOW, CLEO)
    assert moderation.show_comments(shown, NOW, CLEO) is shown
    assert "mice" in _told(blinding.hide_other_reviews(shown, CLEO))
    again = _submitted_again(shown)
    assert "mice" not in _told(blinding.hide_other_reviews(again, CLEO))
    refused(lambda: moderation.claim(again, NOW, CLEO), "seen before")
    assert moderation.claim(again, NOW, DAN).desk.lease is not None


def test_an_author_and_who_opens_a_decided_case_have_seen_its_comments_too() -> None:
    again = _submitted_again(_seen_by(_sent_back(), ANN))
    refused(lambda: moderation.claim(again, NOW, ANN), "seen before")
    ended = _seen_by(
        decide(_submitted_again(_sent_back(readers=1)), NOW, BOB, DecisionKind.REJECTED, reason="Too late."), CLEO
    )
    sent = moderation.submit(moderation.withdraw(actions.reopen(ended, NOW, DAN), NOW, ANN), NOW, ANN, readers=2)
    refused(lambda: moderation.claim(sent, NOW, CLEO), "seen before")


def _answered(case: Case, at: datetime) -> Case:
    for item in moderation.open_comments(case):
        case = answer_suggestion(case, at, ANN, item.id, SuggestionAnswer.NO, "No.")
    return case


def _submitted_again(case: Case) -> Case:
    """The case once its author has answered every comment."""
    return moderation.submit(_answered(case, NOW + CLAIM_DURATION), NOW + CLAIM_DURATION, ANN)


def test_where_one_reader_is_enough_it_may_be_somebody_who_saw_what_others_found() -> None:
    ended = _seen_by(decide(read(submitted(), BOB), NOW, BOB, DecisionKind.REJECTED, reason="Too late."), DAN)
    again = read(actions.reopen(ended, NOW, DAN), DAN)
    assert blinding.waits_for_readers(again) == 0
    assert not any("Already saw" in remark for remark in blinding.remarks(again))


def test_in_no_order_of_acts_somebody_counts_who_saw_what_others_found_first_and_no_case_is_stuck() -> None:
    waited_for_an_admin = 0
    for seed in range(25):  # 300 pass too, in 40 s
        chance, people = random.Random(seed), (ANN, BOB, CLEO, DAN)
        case = submitted(readers=chance.choice((1, 2)))
        informed, finished = set[str](), set[str]()
        for step in range(30):
            at, who = NOW + step * CLAIM_DURATION, chance.choice(people)
            note = case.draft.text if case.draft else ""
            longer = f"{note} It had {step} trials."[-200:]
            acts: dict[str, Callable[[], Case]] = {
                "read": lambda: _read_at(case, at, who, chance.choice((Support.SUPPORTED, Support.UNSUPPORTED))),  # noqa: B023
                "begin": lambda: _read_at(case, at, who, Support.PARTLY, finish=False),  # noqa: B023
                "decide": lambda: decide(case, at, who, DecisionKind.REJECTED, reason="Too late."),  # noqa: B023
                "reopen": lambda: actions.reopen(case, at, who),  # noqa: B023
                "back": lambda: moderation.send_back(case, at, who, [Comment("Which trial?")]),  # noqa: B023
                "comments": lambda: moderation.show_comments(case, at, who),  # noqa: B023
                "withdraw": lambda: moderation.withdraw(case, at, ANN),  # noqa: B023
                "edit": lambda: edit_draft(case, at, ANN, longer, based_on=text_sha256(note)),  # noqa: B023
                "submit": lambda: moderation.submit(_answered(case, at), at, ANN, readers=chance.choice((1, 2))),  # noqa: B023
                "two": lambda: moderation.set_readers(case, at, who, 2),  # noqa: B023
            }  # fmt: skip
            act = chance.choice(list(acts))
            with suppress(WorkflowError):
                case = acts[act]()
                finished |= {who.key} if act == "read" else set()
            for one in people:
                if chance.random() < 0.3:  # opens it
                    case = _seen_by(case, one)
                    informed |= {one.key} if one.key not in finished and _shows_findings(case, one) else set()
            if case.desk.readers > 1 and case.decision is None:
                blind = {it.reader.key for it in blinding.counted_readings(case)} - informed
                assert blinding.waits_for_readers(case) >= case.desk.readers - len(blind), f"{seed}, {step}: {act}"
        if case.decision is not None:
            case = actions.reopen(case, NOW + 40 * CLAIM_DURATION, BOB)
        if case.desk.state is not DeskState.SUBMITTED:
            at = NOW + 41 * CLAIM_DURATION
            case = moderation.submit(_answered(case, at), at, ANN, readers=2)
        at = NOW + 50 * CLAIM_DURATION
        for _ in range(2):
            for who in people:
                with suppress(WorkflowError):
                    case = _read_at(case, at, who, Support.SUPPORTED)
            if blinding.waits_for_readers(case):
                waited_for_an_admin += 1
                case = moderation.admit_readers(case, at, DORA, _WHY)
        assert not blinding.waits_for_readers(case), seed
    assert waited_for_an_admin


def _read_at(case: Case, at: datetime, by: Actor, finds: Support, *, finish: bool = True) -> Case:
    case = moderation.take_over(case, at, by)
    for pair in pairs(case):
        case = moderation.judge_pair(case, at, by, pair.words, pair.evidence_id, finds)
    return moderation.finish_reading(case, at, by) if finish else case


def _shows_findings(case: Case, to: Actor) -> bool:
    """Whether that person sees a finding of another moderator."""
    seen = blinding.hide_other_reviews(case, to)
    findings = any(it.findings for it in seen.desk.all_readings if it.reader.key != to.key)
    comments = any(it.owed not in ("", to.key) for it in seen.suggestions)
    return findings or comments or any(check.by_key != to.key for check in seen.sentence_checks)


def test_a_moderator_who_opens_a_decided_case_is_on_record_once_and_figures_put_nobody_there(
    workspace: Workspace,
) -> None:
    store = workspace.store
    store.add(decide(read(submitted(), BOB), NOW, BOB, DecisionKind.REJECTED, reason="Too late."))
    dan = workspace.acting_as(lambda: DAN).cases
    read_pairs(dan)
    assert not any(event.kind == "shown" for event in store.get("c1").events)
    before = store.get("c1")
    for _ in range(2):
        assert dan.get("c1").events[-1].kind == "shown"
    after = store.get("c1")
    assert (len(after.events), after.updated_at) == (len(before.events) + 1, before.updated_at)


def test_who_copies_a_decided_case_has_not_seen_what_was_found(workspace: Workspace) -> None:
    workspace.store.add(decide(read(submitted(), BOB), NOW, BOB, DecisionKind.REJECTED, reason="Too late."))
    dan = workspace.acting_as(lambda: DAN).cases
    assert supernote_actions.duplicate_case(dan, "c1").post.text == workspace.store.get("c1").post.text
    assert not any(event.kind == "shown" for event in workspace.store.get("c1").events)


def test_the_list_of_cases_gives_moderators_no_words_with_which_a_case_was_sent_back(workspace: Workspace) -> None:
    workspace.store.add(_sent_back())
    ann, cleo = _people(workspace, ANN, CLEO)
    assert [[it.outcome_line for it in who.find()] for who in (ann, cleo)] == [["bob: Mice only."], [""]]


def test_the_next_case_of_a_moderator_is_none_that_others_have_to_read(workspace: Workspace) -> None:
    workspace.store.add(_reopened_with_a_changed_note((DAN,)))
    dan, cleo = _people(workspace, DAN, CLEO)
    assert (moderation.claim_next(dan), moderation.queue_page(dan, QueueQuery(), 10)[1]) == (None, 0)
    assert moderation.claim_next(cleo) is not None


def test_a_blind_reader_gets_the_case_without_what_the_first_found(workspace: Workspace) -> None:
    store = workspace.store
    store.add(read(submitted(readers=2), BOB))
    cleo = workspace.acting_as(lambda: CLEO).cases
    for case in (cleo.get("c1"), cleo.apply("c1", moderation.claim)):
        assert not any(review.reader.name == "bob" for item in case.evidence for review in item.reviews)
    assert any(review.reader.name == "bob" for item in store.get("c1").evidence for review in item.reviews)


def test_no_list_filter_or_table_says_what_a_moderator_found_before_another_is_done(workspace: Workspace) -> None:
    """A rejected source takes the scores with it: the author's state alone would say so."""
    before = moderation.claim(moderation.submit(_compared(drafted()), NOW, ANN, readers=2), NOW, BOB)
    found = actions.judge(
        actions.open_passage(before, NOW, BOB, "E1"), NOW, BOB, "E1", Verdict.REJECT, "It is about mice."
    )
    found = moderation.judge_pair(found, NOW, BOB, NOTE, "E2", Support.UNSUPPORTED)
    assert (before.status, found.status) == (CaseStatus.AWAITING_DECISION, CaseStatus.DRAFTING)
    back = moderation.send_back(found, NOW, BOB, [Comment("Which review?")])
    cleo = workspace.acting_as(lambda: CLEO).cases
    seen = []
    for case in (before, found, moderation.release(found, NOW, BOB), back):
        workspace.store.add(case)
        table = cases_csv(*cleo.read_all())
        assert [words for words in ("mice", "reject", "failed", "not supported", "review?") if words in table] == []
        listed = {state: [item.outcome for item in cleo.find(state=state)] for state in (None, *CASE_STATES)}
        seen.append({state: words for state, words in listed.items() if words})
        with writing(workspace.runner.engine) as connection:
            remove_case(connection, "c1", BOB)
    words = ["with a moderator", "with a moderator", "waiting for a moderator", "sent back with comments"]
    states = [DeskState.IN_REVIEW, DeskState.IN_REVIEW, DeskState.SUBMITTED, DeskState.RETURNED]
    assert seen == [{None: [said], state: [said]} for said, state in zip(words, states, strict=True)]


def test_every_way_by_which_a_stored_case_comes_out_hides_what_another_reader_found(workspace: Workspace) -> None:
    workspace.store.add(read(submitted(readers=2), BOB))
    cleo = workspace.acting_as(lambda: CLEO).cases
    ways: dict[str, Callable[[], Case]] = {
        "get": lambda: cleo.get("c1"),
        "read_all": lambda: cleo.read_all()[0][0],
        "update": lambda: cleo.update(Act.READ, "c1", lambda case, _: case),
        "apply": lambda: cleo.apply("c1", moderation.claim),
    }
    public = {name: value for name, value in vars(Cases).items() if isfunction(value) and not name.startswith("_")}
    returning = {name for name, value in public.items() if re.search(r"\bCase\b", signature(value).return_annotation)}
    assert returning == {"add", *ways}  # who adds a case gave it
    for way in ways.values():
        case = way()
        assert not any(review.reader.name == "bob" for item in case.evidence for review in item.reviews)
        assert all(not reading.findings for reading in case.desk.readings)
