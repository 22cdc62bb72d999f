"""One judge compares the notes, in an order that is mixed and stable, and makes the best one better."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import pytest

from crowdnotes.domain import AnswerKind, Basis, Draft, SentenceSupport, Settlement, Span, Support, Verdict
from crowdnotes.engines import Revision
from crowdnotes.errors import AnswerUnreadableError
from crowdnotes.notes.drafting import Revised, revise_candidates
from tests.engines.llm.made import BRIEF, CLAIM, NOTE, PASSAGE, POST, QUOTE, answered, engine_over, evidence, sentence
from tests.fakes import FixedClock, brief_of, make_evidence
from tests.llm_server import Body, LLMServer, data_of, honest, passages_of

LINK = "https://health.example.org/review-1"
RASH = "It may cause a mild rash."
TEXTS = (f"{NOTE} {LINK}", f"The drink is linked to no illness. {LINK}", f"{RASH} {LINK}")


def _draft(text: str, basis: Basis = Basis.STATED) -> Draft:
    first = SentenceSupport(
        span=Span(start=0, end=text.index(".") + 1), support=Support.UNCHECKED, score=0.9, basis=basis
    )
    return Draft(text=text, evidence_ids=("E1",), sentences=(first,), engine="llm:small", written_at=FixedClock()())


DRAFTS = tuple(_draft(text) for text in TEXTS)


def _shown(body: Body) -> dict[str, int]:
    """The place among `TEXTS` of each note in the request, by its letter there."""
    notes = {label.removeprefix("note "): text for label, text in data_of(body).items() if label.startswith("note ")}
    return {
        letter: next(place for place, text in enumerate(TEXTS) if text.startswith(words))
        for letter, words in notes.items()
    }


class Judge:
    """Grades the notes by their places, whatever their letters."""

    def __init__(self, *grades: float | str, final: Sequence[Body] = (), **objections: Mapping[str, str]) -> None:
        self.grades = grades
        self.final = final or [sentence()]
        self.objections = {int(name.removeprefix("to_")): [said] for name, said in objections.items()}
        self.orders: list[list[int]] = []

    def __call__(self, body: Body) -> str:
        shown = _shown(body)
        self.orders.append(list(shown.values()))
        grades = [
            {"note": letter, "objections": self.objections.get(place, []), "grade": self.grades[place]}
            for letter, place in shown.items()
        ]
        final = {"sentences": self.final, "changes": "Said it in fewer words."}
        return json.dumps({"grades": grades, "final": final})


_ONE_GRADE = {
    "grades": [{"note": "A", "objections": [], "grade": 9}],
    "final": {"sentences": [sentence()], "changes": "None."},
}


def _revised(answer: Callable[[Body], str], drafts: Sequence[Draft] = DRAFTS) -> tuple[Revision, LLMServer]:
    with engine_over(answer) as (engine, server):
        return engine.revise(BRIEF, [evidence()], drafts, 250), server


def test_the_notes_are_ordered_by_grade_with_what_is_said_against_each_and_the_best_one_is_revised() -> None:
    words = {"quote": "linked to no illness", "objection": "The passage says less."}
    judge = Judge(3, 9, 6, to_1=words, final=[sentence(), sentence(RASH, RASH)])
    revision, server = _revised(judge)
    assert revision.order == (1, 2, 0)
    assert revision.objections == ((), ("“linked to no illness”: The passage says less.",), ())
    assert revision.final is not None
    assert revision.final.text == f"{NOTE} {RASH}"
    assert revision.final.evidence_ids == ("E1",)
    assert revision.changes == "Said it in fewer words."
    assert len(server.requests) == 1


def test_the_judge_is_shown_the_passages_that_a_note_rests_on_and_those_that_a_person_uses() -> None:
    items = [evidence(number=number) for number in (1, 2, 3)]
    items[2] = make_evidence(3, opened_at=FixedClock()(), verdict=Verdict.USE)
    settlement = Settlement(passages=tuple(answered(item, AnswerKind.STATED) for item in items), engine="llm:small")
    with engine_over(Judge(9, 6, 3)) as (engine, server):
        engine.revise(brief_of(POST, CLAIM, settlement=settlement), items, DRAFTS, 250)
    assert [*passages_of(server.requests[0])] == ["E1", "E3"]


def test_a_note_that_failed_a_check_is_mended_with_every_passage_but_those_that_speak_to_programs() -> None:
    items = [evidence(number=number) for number in (1, 2, 3, 4)]
    kinds = (AnswerKind.STATED, AnswerKind.INFERRED, AnswerKind.NONE, AnswerKind.NONE)
    found = [*map(answered, items, kinds)]
    found[3] = found[3].replace(to_program=True)
    brief = brief_of(POST, CLAIM, settlement=Settlement(passages=tuple(found), engine="llm:small"))
    failed = DRAFTS[0].replace(objections=("It leaves out the rash.",))
    with engine_over(honest) as (engine, server):
        engine.revise(brief, items, [failed], 250)
    assert [*passages_of(server.requests[0])] == ["E1", "E2", "E3"]


def test_a_note_that_the_passages_cannot_mend_is_given_up_with_the_reason() -> None:
    missing = "No passage tells of a rash."

    def gives_up(_: Body) -> str:
        return json.dumps(_ONE_GRADE | {"final": {"sentences": [], "changes": missing}})

    failed = DRAFTS[0].replace(objections=("It leaves out the rash.",))
    revision, server = _revised(gives_up, [failed])
    assert (revision.final, revision.changes) == (None, missing)
    assert "do not give what the check found missing" in server.requests[0]["messages"][0]["content"]
    with pytest.raises(AnswerUnreadableError):  # of notes that no check has seen there is always a best one
        _revised(gives_up, DRAFTS[:1])


def test_the_judge_sees_of_a_long_passage_what_answers_and_who_mends_a_note_as_much_as_its_writer() -> None:
    filler = [f"Line {number} tells of the weather in one more town of the valley." for number in range(40)]
    text = " ".join([PASSAGE, *filler, "Such an illness is never seen in the towns of the north."])
    item = evidence(text)
    settlement = Settlement(passages=(answered(item, AnswerKind.STATED),), engine="llm:small")
    draft = DRAFTS[0].replace(text=f"Nobody in the north has seen such an illness. {LINK}")
    with engine_over(lambda _: json.dumps(_ONE_GRADE)) as (engine, server):
        engine.revise(brief_of(POST, CLAIM, settlement=settlement), [item], [draft], 250)
        failed = draft.replace(objections=("It is firmer than the passage.",))
        engine.revise(brief_of(POST, CLAIM, settlement=settlement), [item], [failed], 250)
    compared, mended = [next(iter(passages_of(body).values())) for body in server.requests]
    for shown in (compared, mended):
        assert PASSAGE in shown
        assert "towns of the north" in shown
    assert len(compared) < 800 < 1_100 < len(mended)


def test_the_order_in_which_the_judge_sees_them_is_mixed_and_the_same_each_time() -> None:
    judge = Judge(9, 6, 3)
    for number in (1, 1, 2, 3, 4, 5, 6):
        first = _draft(TEXTS[0].replace(LINK, f"{LINK}?{number}"))  # another note, though it reads the same
        _revised(judge, (first, *DRAFTS[1:]))
    assert judge.orders[0] == judge.orders[1]
    assert len({tuple(order) for order in judge.orders}) > 1


def test_the_judge_sees_no_links_and_the_passages() -> None:
    _, server = _revised(Judge(9, 6, 3))
    data = data_of(server.requests[0])
    assert "passage E1" in data
    assert LINK not in "".join(data.values())
    assert "claim record" in data


def test_where_the_best_two_are_close_it_is_asked_again_in_the_opposite_order_and_the_means_count() -> None:
    leaning = dict(zip("ABC", (8.0, 7.6, 2.0), strict=True))

    def prefers_the_first(body: Body) -> str:
        shown = _shown(body)
        grades = [{"note": letter, "objections": [], "grade": leaning[letter]} for letter in shown]
        return json.dumps({"grades": grades, "final": {"sentences": [sentence()], "changes": "None."}})

    revision, server = _revised(prefers_the_first)
    first, second = (list(_shown(body).values()) for body in server.requests)
    assert second == first[::-1]
    means = {place: (leaning["ABC"[first.index(place)]] + leaning["ABC"[second.index(place)]]) / 2 for place in first}
    assert list(revision.order) == sorted(means, key=lambda place: (-means[place], place))


def test_a_grade_out_of_ten_is_read_as_the_number_it_means() -> None:
    assert _revised(Judge("3/10", "9.5 out of 10", "6,0"))[0].order == (1, 2, 0)


def test_what_is_said_where_it_was_asked_twice_is_of_the_second_time_and_of_the_right_note() -> None:
    words = {"quote": "", "objection": "It leaves out the children."}
    revision, server = _revised(Judge(8, 8, 8, to_2=words))
    assert len(server.requests) == 2
    assert revision.objections == ((), (), ("It leaves out the children.",))


def test_a_first_sentence_that_is_only_inferred_never_stands_before_a_stated_one() -> None:
    drafts = [_draft(TEXTS[0], Basis.INFERRED), _draft(TEXTS[1]), _draft(TEXTS[2], Basis.JOINED)]
    assert _revised(Judge(10, 2, 5), drafts)[0].order == (2, 1, 0)


def test_an_objection_to_words_that_are_not_there_is_left_out() -> None:
    gone = {"quote": "wicked plot", "objection": "It blames."}
    revision, _ = _revised(Judge(9, 6, 3, to_0=gone, to_1={"quote": "The drink", "objection": " "}))
    assert revision.objections == ((), (), ())


@pytest.mark.parametrize(
    ("final", "fault"),
    [
        ([sentence(quote="found a link")], "do not stand in E1"),
        ([sentence("See https://evil.example/x now.")], "made up a link"),
        ([sentence("x" * 260, RASH)], "250 is the most"),
        ([{"text": RASH, "passages": [], "basis": "stated"}], "Nothing is given that carries"),
        ([sentence(name="E9")], "not given"),
    ],
    ids=range(5),
)
def test_the_final_note_is_checked_like_any_and_the_model_is_told_what_is_wrong(final: list[Body], fault: str) -> None:
    with engine_over(Judge(9, 6, 3, final=final)) as (engine, server):
        with pytest.raises(AnswerUnreadableError, match=fault):
            engine.revise(BRIEF, [evidence()], DRAFTS, 250)
        assert fault in server.requests[1]["messages"][-1]["content"]


def test_each_note_needs_one_grade() -> None:
    def forgets_one(body: Body) -> str:
        whole = json.loads(Judge(9, 6, 3)(body))
        return json.dumps({**whole, "grades": whole["grades"][:2]})

    with pytest.raises(AnswerUnreadableError, match="Each of the notes A, B, C needs one grade"):
        _revised(forgets_one)


def test_a_single_note_is_revised_too() -> None:
    revision, server = _revised(Judge(5), DRAFTS[:1])
    assert (revision.order, len(server.requests)) == ((0,), 1)


def _candidates(judge: Judge) -> Revised:
    with engine_over(judge) as (engine, _):
        revised = revise_candidates(engine, BRIEF, [evidence()], DRAFTS, FixedClock())
    assert revised is not None
    return revised


def test_the_revised_note_stands_first_with_what_changed_and_the_earlier_ones_stay_with_the_objections() -> None:
    said = {"quote": "", "objection": "Too short."}
    revised = _candidates(Judge(3, 6, 9, to_2=said, final=[sentence(), sentence(RASH, RASH)]))
    assert [draft.text for draft in revised.candidates] == [f"{NOTE} {RASH} {LINK}", TEXTS[2], TEXTS[1], TEXTS[0]]
    assert revised.candidates[0].changes == revised.summary == "Said it in fewer words."
    assert [draft.objections for draft in revised.candidates] == [(), ("Too short.",), (), ()]


def test_a_best_note_that_is_left_as_it_is_stands_first_and_once() -> None:
    revised = _candidates(Judge(6, 9, 3))
    assert [draft.text for draft in revised.candidates] == [TEXTS[0], TEXTS[1], TEXTS[2]]
    assert revised.summary == "The best one was left as it is"
    assert QUOTE in TEXTS[0]


def test_a_second_judgement_that_cannot_be_read_leaves_the_first() -> None:
    judge = Judge(8, 8, 2)

    def answer(body: Body) -> str:
        return judge(body) if not judge.orders else "I would rather talk about football."

    revision, server = _revised(answer)
    assert len(server.requests) == 3  # the second judgement, and its one retry
    assert revision.final is not None
    assert revision.final.text == NOTE


def test_a_revised_note_that_is_only_inferred_stands_behind_those_that_are_stated() -> None:
    judge = Judge(9, 5, 2, final=[sentence() | {"text": "So the drink is harmless.", "basis": "inferred"}])
    drafts = [DRAFTS[0], DRAFTS[1], _draft(TEXTS[2], Basis.INFERRED)]
    with engine_over(judge) as (engine, _):
        revised = revise_candidates(engine, BRIEF, [evidence()], drafts, FixedClock())
    assert revised is not None
    assert [draft.text for draft in revised.candidates] == [
        TEXTS[0],
        TEXTS[1],
        f"So the drink is harmless. {LINK}",
        TEXTS[2],
    ]
