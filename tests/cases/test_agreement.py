"""Gates and jury in one sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from crowdnotes.cases import moderation
from crowdnotes.cases.store import Store
from crowdnotes.domain import (
    BY_PERSON,
    Assessment,
    Draft,
    GateName,
    GateResult,
    GateStatus,
    Interval,
    JuryVerdict,
    NoteChange,
    QueueQuery,
    QueueScope,
    Reading,
    Role,
    SideVotes,
    gates_and_jury,
    why_no_chance,
)
from crowdnotes.text.lint import lint
from tests.fakes import FixedClock, actor, make_case
from tests.jury.models import small_jury

_NOTE = "A lovely note about the clinic that closed in spring."


def _assessment(status: GateStatus) -> Assessment:
    gates = tuple(
        GateResult(gate=name, status=status if name is GateName.CORRECTNESS else GateStatus.PASS, reason="So.")
        for name in GateName
    )
    return Assessment(
        text_sha256="t",
        basis_sha256="b",
        gates=gates,
        principles=(),
        sentences=(),
        lint=(),
        engine="made",
        assessed_at=FixedClock()(),
    )


def _verdict(intercept: float, **changes: object) -> JuryVerdict:
    known = small_jury().verdict(None, _NOTE, jurors=50)
    return known.replace(note_intercept=intercept, **{"means_nothing": False} | _JOINED | changes)


_APART = {
    "negative": SideVotes(side="−", helpful=90, somewhat_helpful=0, not_helpful=10),
    "positive": SideVotes(side="+", helpful=40, somewhat_helpful=0, not_helpful=60),
}


_JOINED = {
    "negative": SideVotes(side="−", helpful=70, somewhat_helpful=0, not_helpful=30),
    "positive": SideVotes(side="+", helpful=70, somewhat_helpful=0, not_helpful=30),
}
_LINK = NoteChange(what="A link to another source", chance_of_shown=0.74)
_WAITS, _SHOWN = {"status": "NEEDS_MORE_RATINGS"}, {"status": "CURRENTLY_RATED_HELPFUL"}


@pytest.mark.parametrize(
    ("intercept", "changes", "words"),
    [
        (0.45, _SHOWN, "a good chance."),
        (0.45, _SHOWN | {"chance_of_shown": 0.8}, "a good chance: X shows about 80 in 100 notes like it."),
        (0.30, _WAITS | {"chance_of_shown": 0.33}, "a low chance: X shows about 35 in 100 notes like it."),
        (
            0.36,
            _WAITS | {"chance_of_shown": 0.6, "best_change": _LINK},
            "a fair chance: X shows about 60 in 100 notes like it. A link to another source would help most: about 75 "
            "in 100.",
        ),
        (0.45, _SHOWN | {"best_change": _LINK}, "a good chance."),
        (0.45, _WAITS | {"chance_of_shown": 0.8}, "a low chance, though its score is high enough."),
        (0.30, _WAITS | _APART, "a low chance. People on side B would like it less."),
        (
            0.39,
            _WAITS | {"intercept_interval": Interval(low=0.3, high=0.5)},
            "a fair chance: with some simulated readers X would show it, with others not.",
        ),
        (
            -0.2,
            {"status": "CURRENTLY_RATED_NOT_HELPFUL"},
            "hardly any chance: X would probably rate it not helpful.",
        ),
    ],
)
def test_after_all_checks_passed_that_comes_first_and_then_the_chance(
    intercept: float, changes: dict[str, object], words: str
) -> None:
    said = gates_and_jury(_assessment(GateStatus.PASS), _verdict(intercept, **changes))
    assert said == ("All three checks pass.", f"Simulated readers give it {words}")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (GateStatus.FAIL, "It did not pass correctness: fix that first."),
        (GateStatus.NOT_RUN, "Not checked yet: correctness."),
    ],
)
def test_what_readers_like_is_not_said_of_a_note_that_did_not_pass(status: GateStatus, words: str) -> None:
    assert gates_and_jury(_assessment(status), _verdict(0.45, **_SHOWN)) == (words, "")


def test_a_failure_behind_a_check_that_waits_is_not_the_thing_to_fix_first() -> None:
    waits = _assessment(GateStatus.NOT_RUN)
    found = GateResult(gate=GateName.HELPFULNESS, status=GateStatus.FAIL, reason="So.")
    *others, _ = waits.gates
    held = waits.replace(gates=(*others, GateResult.not_run(found.gate, "Waits.")), held=(found,))
    assert gates_and_jury(held, _verdict(0.45)) == ("Not checked yet: correctness.", "")


def test_where_the_numbers_mean_nothing_only_the_checks_count() -> None:
    said = gates_and_jury(_assessment(GateStatus.PASS), _verdict(0.45, means_nothing=True))
    assert said == ("All three checks pass.", "Simulated readers cannot judge this text.")


def test_no_chance_is_shown_unless_correctness_passed_and_x_can_take_the_note() -> None:
    passed = _assessment(GateStatus.PASS)
    assert why_no_chance(passed) == ""
    assert why_no_chance(_assessment(GateStatus.FAIL)).endswith("you see their chance once correctness passes.")
    assert "once correctness passes" in why_no_chance(_assessment(GateStatus.NOT_RUN))
    relevance, _, helpfulness = passed.gates
    by_person = GateResult(gate=GateName.CORRECTNESS, status=GateStatus.NOT_RUN, reason="So.", judge=BY_PERSON)
    waits = passed.replace(gates=(relevance, by_person, helpfulness))
    assert why_no_chance(waits) == "You see their chance after you compared the sentences with their sources."

    no_link = passed.replace(lint=lint("One true sentence. " * 20))
    assert why_no_chance(no_link).startswith("X cannot take this note yet. ")
    assert gates_and_jury(no_link, _verdict(0.45, **_SHOWN)) == ("All three checks pass.", why_no_chance(no_link))


def test_the_sentence_names_a_check_that_is_uncertain() -> None:
    assessment = _assessment(GateStatus.PASS)
    *others, helpfulness = assessment.gates
    unsure = assessment.replace(gates=(*others, helpfulness.replace(uncertain=True)))
    said = gates_and_jury(unsure, _verdict(0.45, **_SHOWN))
    assert said == ("No check failed (helpfulness is uncertain).", "Simulated readers give it a good chance.")


@given(st.integers(0, 900), st.integers(0, 900), st.integers(0, 900))
def test_a_side_of_any_size_is_told_as_100_people(yes: int, half: int, no: int) -> None:
    side = SideVotes(side="+", helpful=yes, somewhat_helpful=half, not_helpful=no)
    assert sum(side.of_100) == (100 if side.jurors else 0)
    counts = (yes, half, no)
    assert all(abs(of * side.jurors - 100 * n) < side.jurors for of, n in zip(side.of_100, counts, strict=True) if n)
    assert all(of == 0 for of, n in zip(side.of_100, counts, strict=True) if not n)


@pytest.mark.parametrize(
    ("status", "chance", "undecided"),
    [
        ("NEEDS_MORE_RATINGS", 0.6, True),
        ("NEEDS_MORE_RATINGS", 0.3, False),
        ("CURRENTLY_RATED_NOT_HELPFUL", 0.6, False),
    ],
)
def test_only_a_note_with_a_fair_chance_comes_earlier_and_only_its_reader_sees_why(
    engine: Engine, status: str, chance: float, *, undecided: bool
) -> None:
    ann, bob = (actor(name, Role.MODERATOR) for name in ("ann", "bob"))
    draft = Draft(text=_NOTE, evidence_ids=(), engine="person", written_at=FixedClock()())
    wide = Interval(low=0.1, high=0.5)
    given = {"status": status, "chance_of_shown": chance, "intercept_interval": wide, "text_sha256": draft.sha256}
    case = make_case(owner=ann.person, draft=draft, jury=(_verdict(0.3, **given),))
    sent = moderation.submit(case, FixedClock()(), ann)
    store = Store(engine)
    store.add(sent)
    [unread] = store.queue.items(bob, QueueQuery(), 1)
    assert sent.desk.submitted_at is not None
    assert (unread.turn < sent.desk.submitted_at, unread.close) == (undecided, False)
    reading = Reading(reader=bob.person, at=FixedClock()(), text_sha256=draft.sha256, findings=())
    store.update(case.id, lambda now: now.replace(desk=now.desk.replace(readings=(reading,))))
    assert store.queue.items(bob, QueueQuery(QueueScope.ALL), 1)[0].close is undecided


def test_a_case_that_was_not_judged_has_no_such_sentence() -> None:
    assert make_case().agreement == ()


def test_a_verdict_of_before_the_chance_was_told_still_opens() -> None:
    stored = small_jury().verdict(None, _NOTE, jurors=50).model_dump(mode="json")
    del stored["chance_of_shown"], stored["quality"]["intercept_auc"]
    assert JuryVerdict.model_validate(stored).shown_of_100 is None
