"""What a model adds to a case: whether the passages settle the claim, one more search, and the notes compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete

from crowdnotes.cases import actions, approval, follow_up_stages, gathering_stages, intake
from crowdnotes.cases.gathering_stages import SourceRequest, StageContext, StageResult
from crowdnotes.cases.stages import STAGES
from crowdnotes.domain import (
    PROGRAM,
    Case,
    Claim,
    ClaimKind,
    DecisionKind,
    FetchOutcome,
    FollowUpKind,
    GateName,
    GateResult,
    GateStatus,
    Hit,
    Mode,
    NoteWanted,
    Post,
    Query,
    Source,
    Span,
    StageName,
    StageOutcome,
    WhyUnwanted,
)
from crowdnotes.engines import Brief, FurtherSearch, Ranking, SearchPlan, WriterAnswer, Written
from crowdnotes.errors import AnswerUnreadableError, InputError, JobCancelled, JobError, ModelServerError
from crowdnotes.jobs import JobRecord, JobState, Progress, Step
from crowdnotes.jury import Jury
from crowdnotes.settings_sections import MOST_QUERIES, SECOND_QUERIES, EvidenceSettings
from crowdnotes.storage import tables
from crowdnotes.storage.database import writing
from crowdnotes.workspace import Workspace
from tests.cases.walk import ThinkingEngine, gather, new_case, post_about, run, small_workspace, use
from tests.fakes import uncertain_result
from tests.shared import PATIENCE

FIRST = ["E1", "E2", "E3", "E4"]
AGAIN = ["search again", "read again", "passages again", "settle again"]


class Desk:
    """A workspace whose engine is a `ThinkingEngine`, and a case."""

    def __init__(self, workspace: Workspace, engine: ThinkingEngine) -> None:
        self.workspace, self.engine, self.cases, self.stages = workspace, engine, workspace.cases, workspace.stages
        self.id = new_case(workspace, "kettle").id

    @property
    def case(self) -> Case:
        return self.cases.get(self.id)

    def gather(self) -> dict[str, str]:
        """Run what is left of gathering; each step's state."""
        ended = run(self.workspace, self.id, "gather", self.stages.gather_steps(self.id))
        return {step.name: step.state.value for step in ended.steps}

    def write(self, *, before_inspection: bool = True) -> None:
        """Propose notes."""
        steps = self.stages.write_steps(self.id, before_inspection=before_inspection)
        run(self.workspace, self.id, "write", steps)

    def said(self, name: StageName) -> str:
        """The line about a stage."""
        return next(stage.summary for stage in self.case.stages if stage.name is name)

    def start(self, steps: list[Step]) -> JobRecord:
        """Run steps that may fail."""
        return self.workspace.runner.wait(self.workspace.runner.start(self.id, "write", steps).id, timeout=PATIENCE)


@pytest.fixture
def engine() -> ThinkingEngine:
    return ThinkingEngine()


@pytest.fixture
def desk(tmp_path: Path, engine: ThinkingEngine) -> Iterator[Desk]:
    with small_workspace(tmp_path, engine=engine) as workspace:
        yield Desk(workspace, engine)


def test_every_stage_is_in_the_table() -> None:
    assert list(STAGES) == list(StageName)


def test_where_a_passage_states_it_it_is_asked_once_and_nothing_more_is_searched(desk: Desk) -> None:
    states = desk.gather()
    assert desk.engine.asked == [FIRST]
    assert desk.said(StageName.SETTLE) == "4 of 4 sources settle the claim"
    assert (states["settle"], [states[name] for name in AGAIN]) == ("done", ["kept"] * 4)
    assert desk.case.follow_ups == ()
    assert set(desk.gather().values()) == {"kept"}
    assert len(desk.engine.asked) == 1


def test_a_case_searches_for_no_more_than_thirty_things_by_itself(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    many = tuple(Query(text=f"kettle {number}", purpose="the claim") for number in range(50))
    plan, settle = desk.engine.plan, desk.engine.settle
    desk.engine.states = desk.engine.looks_for = "walnut"
    monkeypatch.setattr(desk.engine, "plan", lambda *asked: replace(plan(*asked), queries=many))
    monkeypatch.setattr(desk.engine, "settle", lambda *asked: replace(settle(*asked), queries=many))
    desk.gather()
    again = [search.queries for search in desk.case.follow_ups]
    assert (len(desk.case.queries), list(map(len, again))) == (MOST_QUERIES - SECOND_QUERIES, [SECOND_QUERIES])
    most = EvidenceSettings.model_fields["queries"].metadata
    assert MOST_QUERIES == 30
    assert any(getattr(bound, "le", None) == MOST_QUERIES - SECOND_QUERIES for bound in most)


def test_a_source_whose_text_is_gone_is_read_again(desk: Desk) -> None:
    desk.gather()
    source = desk.case.evidence[0].source
    store = desk.workspace.store
    with writing(store._engine) as connection:
        connection.execute(delete(tables.contents).where(tables.contents.c.sha256 == source.text_sha256))
    desk.cases.apply(
        desk.id,
        intake.set_sources,
        mode=Mode.AUTOMATION,
        urls=[],
        libraries=["topics"],
        services=[],
        until=date(2100, 1, 1),
    )
    assert set(desk.gather().values()) <= {"done", "kept"}
    assert store.has_text(str(source.text_sha256))


def test_where_none_states_it_what_is_missing_is_searched_for_once_and_only_the_new_passages_are_asked_about(
    desk: Desk,
) -> None:
    desk.engine.states = desk.engine.looks_for = "walnut"
    states = desk.gather()
    assert set(states.values()) == {"done"}
    (asked,) = desk.case.follow_ups
    assert (asked.kind, asked.by, asked.about) == (FollowUpKind.SETTLE, PROGRAM.name, "walnut")
    assert [query.text for query in asked.queries] == ["walnut"]
    assert [stage.name.value for stage in asked.stages] == ["search", "read", "passages"]
    new = [item.id for item in desk.case.evidence if item.id not in FIRST]
    assert asked.added == tuple(new)
    assert "walnut" in " ".join(item.passage.text for item in desk.case.evidence)
    assert desk.engine.asked == [FIRST, new]
    settlement = desk.case.settlement
    assert settlement is not None
    assert settlement.stated(desk.case.evidence)
    assert set(desk.gather().values()) == {"kept"}


def test_where_the_second_search_finds_nothing_that_states_it_there_is_no_third(desk: Desk) -> None:
    desk.engine.states, desk.engine.looks_for = "submarine", "walnut"
    desk.gather()
    assert len(desk.case.follow_ups) == 1
    assert desk.said(StageName.SETTLE).startswith("No source settles the claim; none settles it.")
    assert set(desk.gather().values()) == {"kept"}
    assert len(desk.engine.asked) == 2


def test_a_second_search_that_nobody_answered_is_told_and_fails_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.engine.states = desk.engine.looks_for = "walnut"
    search = gathering_stages.search

    def down_the_second_time(case: Case, progress: Progress, context: StageContext, **_: bool) -> StageResult:
        if case.queries != desk.case.queries:
            raise JobError("No search was answered.", "Try again.")
        return search(case, progress, context)

    monkeypatch.setattr(gathering_stages, "search", down_the_second_time)
    assert set(desk.gather().values()) <= {"done", "kept"}
    assert desk.case.follow_ups[0].outcome == "Nothing new: the search was not answered."


def test_a_second_search_that_was_stopped_goes_on_where_it_was(desk: Desk) -> None:
    desk.engine.states = desk.engine.looks_for = "walnut"

    def stopped(_: Progress) -> StageOutcome:
        raise JobCancelled("The work was stopped.")

    steps = desk.stages.gather_steps(desk.id)
    at = next(number for number, step in enumerate(steps) if step.name == "read again")
    job = desk.start([*steps[:at], replace(steps[at], run=stopped), *steps[at + 1 :]])
    assert job.state is JobState.CANCELLED
    assert desk.case.open_search is not None
    states = desk.gather()
    assert [states[name] for name in ("settle", *AGAIN)] == ["kept", "kept", "done", "done", "done"]
    assert len(desk.case.follow_ups) == 1
    assert desk.case.open_search is None
    assert len(desk.engine.asked) == 2


def test_without_a_search_to_make_or_a_place_to_search_none_is_put_on_record(desk: Desk) -> None:
    desk.engine.states = "submarine"
    states = desk.gather()
    assert desk.case.follow_ups == ()
    assert [states[name] for name in AGAIN] == ["kept"] * 4
    desk.engine.looks_for = "walnut"
    links = ["http://127.0.0.1:9/refused"]
    case = intake.create_case(desk.cases, post_about("kettle"), mode=Mode.AUGMENTATION, urls=links)
    intake.add_passage_by_hand(desk.cases, case.id, url=None, title="Mine", text="My own words on kettles.")
    desk.id = case.id
    assert list(desk.gather()) == ["queries", "read", "passages", "settle"]
    assert desk.case.follow_ups == ()
    assert desk.engine.asked[-1] == ["E1"]


def test_a_persons_follow_up_is_asked_about_and_puts_no_search_of_its_own_on_record(desk: Desk) -> None:
    desk.engine.states = "submarine"
    desk.gather()
    desk.engine.looks_for = "walnut"
    desk.cases.apply(desk.id, follow_up_stages.follow_up, FollowUpKind.MORE_LIKE, about="E2", libraries=["topics"])
    run(desk.workspace, desk.id, "follow_up", desk.stages.follow_up_steps(desk.id))
    (asked,) = desk.case.follow_ups
    assert asked.kind is FollowUpKind.MORE_LIKE
    assert desk.engine.asked == [FIRST, list(asked.added)]
    assert desk.case.open_search is None


def test_the_call_that_chose_nothing_names_the_next_searches_and_nothing_is_judged_without_passages(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    rank, briefs = desk.engine.rank, list[Brief]()

    def picky(brief: Brief, *rest: Any, **more: Any) -> Ranking:
        briefs.append(brief)
        none = Ranking((), "All sell kettles.", (Query(text="walnut", purpose="what does"),))
        return none if len(briefs) == 1 else rank(brief, *rest, **more)

    monkeypatch.setattr(desk.engine, "rank", picky)
    monkeypatch.setattr(desk.engine, "queries", lambda *_: pytest.fail("The searches were named already."))
    desk.gather()
    assert briefs[0].searched == (desk.case.post.text,)
    assert briefs[0].places == (
        "Library topics: a fixed collection, searched by meaning; pages of records.example.net",
    )
    (asked,) = desk.case.follow_ups
    assert (asked.kind, [query.text for query in asked.queries]) == (FollowUpKind.SETTLE, ["walnut"])
    assert desk.engine.asked == [list(asked.added)]


def test_where_nothing_could_be_read_other_searches_are_made_and_those_that_were_made_are_not(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = gathering_stages._read_library_record

    def unreadable_at_first(item: SourceRequest, context: StageContext) -> tuple[Source, str | None]:
        source, text = read(item, context)
        if desk.case.follow_ups:
            return source, text
        return source.replace(outcome=FetchOutcome.UNREADABLE, text_sha256=None), None

    monkeypatch.setattr(gathering_stages, "_read_library_record", unreadable_at_first)
    named = [Query(text=text, purpose="the claim") for text in (f"{desk.case.post.text.upper()}?", "walnut")]
    monkeypatch.setattr(desk.engine, "queries", lambda *_: named)
    desk.gather()
    (asked,) = desk.case.follow_ups
    assert [query.text for query in asked.queries] == ["walnut"]
    assert desk.engine.asked == [list(asked.added)] != [[]]


@pytest.mark.parametrize("links", [(), ("https://unread.example/a",)], ids=["none", "one that cannot be read"])
def test_where_the_model_chose_nothing_and_named_no_search_none_is_made(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, links: Sequence[str]
) -> None:
    monkeypatch.setattr(gathering_stages, "post_requests", lambda _: list(map(gathering_stages.link_request, links)))
    monkeypatch.setattr(desk.engine, "rank", lambda *_, **__: Ranking((), "Such pages cannot know it."))
    monkeypatch.setattr(desk.engine, "queries", lambda *_: pytest.fail("No search can bring more."))
    states = desk.gather()
    assert (desk.case.follow_ups, desk.engine.asked) == ((), [])
    assert [states[name] for name in AGAIN[:3]] == ["kept"] * 3
    assert [source.url for source in desk.case.sources] == list(links)


def test_a_second_search_that_would_only_repeat_the_first_is_not_made(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.engine.states, desk.engine.looks_for = "submarine", desk.case.post.text
    states = desk.gather()
    assert desk.case.follow_ups == ()
    assert [states[name] for name in AGAIN] == ["kept"] * 4


def test_what_the_model_left_is_not_offered_again_and_where_nothing_else_is_found_nothing_is_asked(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: list[set[str]] = []
    rank = desk.engine.rank

    def picky(brief: Brief, candidates: Sequence[Hit], *rest: Any, **more: Any) -> Ranking:
        offered.append({hit.title for hit in candidates})
        return Ranking(rank(brief, candidates, *rest, **more).picks[:2], "The others are beside the point.")

    monkeypatch.setattr(desk.engine, "rank", picky)
    desk.engine.states, desk.engine.looks_for = "submarine", f"{desk.case.post.text} Again."  # finds the same
    desk.gather()
    first, *again = offered
    assert len(first) > 2
    assert not any(first & other for other in again)
    (asked,) = desk.case.follow_ups
    assert asked.hits
    assert desk.case.settlement is not None


def test_passages_that_answer_a_further_claim_alone_are_counted_as_that(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle = desk.engine.settle

    def of_second(*asked: Any) -> FurtherSearch:
        found = settle(*asked).settlement
        passages = tuple(answer.replace(claim=2) for answer in found.passages)
        return FurtherSearch(found.replace(passages=passages))

    monkeypatch.setattr(desk.engine, "settle", of_second)
    desk.gather()
    assert desk.said(StageName.SETTLE) == ("No source settles the claim; 4 of 4 settle another claim of the post.")


def test_where_nothing_is_worth_reading_even_then_it_is_said_where_to_look(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (gathering_stages, follow_up_stages):
        monkeypatch.setattr(module, "drop_unusable_hits", lambda _: [])
    plan = desk.engine.plan

    def with_place(*asked: Any) -> SearchPlan:
        found = plan(*asked)
        return replace(found, claims=tuple(one.replace(settled_by="A trial.") for one in found.claims))

    monkeypatch.setattr(desk.engine, "plan", with_place)
    desk.gather()
    assert desk.said(StageName.SETTLE) == "There is no source to judge. Where to look: A trial."
    assert desk.engine.asked == []
    desk.write()
    assert desk.said(StageName.DRAFT) == "No note: No source to write from. Where to look: A trial."


def test_a_post_that_claims_nothing_ends_without_a_search_a_note_or_a_question(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(post: Post, *_: object) -> SearchPlan:
        joke = Claim(text=post.text, span=Span(start=0, end=len(post.text)), kind=ClaimKind.SATIRE)
        return SearchPlan((joke,), why_none="Nothing to check: satire.")

    monkeypatch.setattr(desk.engine, "plan", plan)
    desk.gather()
    assert desk.said(StageName.QUERIES) == "Nothing to check: satire."
    assert (desk.case.hits, desk.case.evidence, desk.engine.asked) == ((), (), [])
    desk.write()
    assert desk.said(StageName.DRAFT).startswith("No note: Not needed: the post is satire")
    assert desk.engine.earlier == []
    assert desk.cases.apply(desk.id, intake.write_anyway).decision is None
    desk.gather()
    assert [query.text for query in desk.case.queries] == [desk.case.post.text[:160]]
    assert desk.case.evidence
    assert approval.decide_case(desk.cases, desk.id, DecisionKind.NOT_NEEDED).decision is not None


JOKE = NoteWanted(chance=0.1, why_not=WhyUnwanted.JOKE, reason="Nobody boils a bank.")


def _doubtful(desk: Desk, monkeypatch: pytest.MonkeyPatch, wanted: NoteWanted = JOKE) -> list[int]:
    """Let the engine doubt that raters want a note; the limits of the plans that it is asked for."""
    plan, asked = desk.engine.plan, list[int]()

    def doubt(post: Post, limit: int, today: date, places: Sequence[str] = ()) -> SearchPlan:
        asked.append(limit)
        return replace(plan(post, limit, today, places), wanted=wanted)

    monkeypatch.setattr(desk.engine, "plan", doubt)
    return asked


def test_nothing_is_searched_read_or_asked_where_raters_may_want_no_note_until_a_person_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = _doubtful(desk, monkeypatch)
    states = desk.gather()
    assert {name for name, state in states.items() if state == "done"} == {StageName.QUERIES.value}
    assert (desk.case.hits, desk.case.evidence, desk.engine.asked) == ((), (), [])
    desk.write()
    told = "No note: Not needed: it looks like a joke or exaggeration. Nobody boils a bank."
    assert desk.said(StageName.DRAFT) == told
    desk.cases.apply(desk.id, intake.write_anyway)
    assert desk.case.events[-1].as_text == "Note wanted anyway"
    desk.gather()
    desk.write()
    assert (len(planned), desk.engine.asked, desk.case.draft is not None) == (1, [FIRST], True)
    changed = intake.edit_post(desk.cases, desk.id, "Another post on kettles.")
    assert (changed.wanted, changed.anyway) == (None, False)


def test_a_note_that_is_likely_wanted_or_asked_for_by_words_or_links_of_a_persons_own_waits_for_nobody(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    _doubtful(desk, monkeypatch, JOKE.replace(chance=0.6))
    desk.gather()
    assert desk.case.evidence
    doubtful = desk.case.replace(wanted=JOKE)
    assert doubtful.unwanted == JOKE
    assert doubtful.replace(wanted=JOKE.replace(why_not=None)).unwanted is None
    right = doubtful.replace(wanted=JOKE.replace(why_not=WhyUnwanted.TRUE))
    assert right.unwanted is None  # whether a post is right, only a search can tell
    for own in ({"own_words": "kettle"}, {"mode": Mode.AUGMENTATION}, {"anyway": True}):
        assert doubtful.replace(**own).unwanted is None


def test_before_anybody_inspected_no_note_is_proposed_where_none_states_it_and_for_a_person_one_is(desk: Desk) -> None:
    desk.engine.states = "submarine"
    desk.gather()
    desk.write()
    assert desk.said(StageName.DRAFT).startswith("No note: Not enough evidence: no source settles the claim")
    assert (desk.case.candidates, desk.case.draft) == ((), None)
    assert desk.said(StageName.REVISE) == "There is no note to compare"
    use(desk.workspace, desk.id, "E1")
    desk.write(before_inspection=False)
    assert desk.case.draft is not None


def test_the_notes_are_compared_and_the_best_one_bettered_is_the_draft_before_the_earlier_ones(desk: Desk) -> None:
    desk.gather()
    desk.write()
    texts = [draft.text.split(" https")[0] for draft in desk.case.candidates]
    first = "According to the record, A review of the kettle found no illness in people."
    assert texts == [f"{first} It was watched.", "Note 1 says it otherwise.", first]
    assert desk.case.draft == desk.case.candidates[0]
    assert desk.case.draft is not None
    assert desk.case.draft.changes == desk.said(StageName.REVISE) == "Said for how long."
    assert [draft.objections for draft in desk.case.candidates] == [(), (), ("It breaks off.",)]
    assert [stage.name for stage in desk.case.stages[-2:]] == [StageName.DRAFT, StageName.REVISE]


_GOOD = "The kettle does not make people ill: a review watched 12,000 people for 12 years and found no illness."
_ALIKE = (
    "A review of 14 studies found no illness in 12,000 people who used the kettle for years, according to the record."
)
_DIVIDING = "Politicians and Trump supporters were watched with the kettle in 2012, and Democrats were ill."
_QUOTING = "The kettle does not make people ill: a review says “nobody at all was ever ill of it in those 12 years”."
_FRENCH = "La bouilloire ne rend pas malade : une étude a suivi 12 000 personnes pendant 12 ans sans en trouver."


@pytest.mark.parametrize(
    ("texts", "cut", "revised"),
    [
        pytest.param((_GOOD, _ALIKE), "", False, id="nothing to improve"),
        pytest.param((_GOOD,), "", False, id="alone"),
        pytest.param((_DIVIDING, _GOOD), "", True, id="the jury prefers another"),
        pytest.param((_GOOD.replace("12,000", "stupid"), _ALIKE), "", True, id="a hint on its words"),
        pytest.param((_QUOTING, _ALIKE), "", True, id="words in quotation marks that no passage has"),
        pytest.param((_FRENCH, _ALIKE), "", True, id="in a language that the checks cannot judge"),
        pytest.param((_GOOD, _ALIKE), "Left out, as the note was 1 character too long.", True, id="cut"),
    ],
)
def test_before_inspection_the_model_compares_notes_only_where_a_check_of_the_program_gives_a_reason(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, texts: Sequence[str], cut: str, *, revised: bool
) -> None:
    asked: list[int] = []
    desk.engine.revises = lambda: asked.append(1)
    written = [Written(text, ("E1",), cut=cut) for text in texts]
    monkeypatch.setattr(desk.engine, "write", lambda *_, **__: WriterAnswer(tuple(written)))
    desk.gather()
    desk.write()
    assert bool(asked) is revised
    assert desk.case.draft is not None
    if not revised:
        assert desk.case.draft.text.startswith(texts[0])
        assert len(desk.case.candidates) == len(texts)
        assert desk.said(StageName.REVISE) == "Our checks found nothing to improve in the first draft"


def test_a_model_compares_notes_where_a_person_chose_the_passages_or_the_jury_cannot_judge_them(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk.engine, "write", lambda *_, **__: WriterAnswer((Written(_GOOD, ("E1",)),)))
    desk.gather()
    use(desk.workspace, desk.id, "E1")
    desk.write(before_inspection=False)
    assert desk.said(StageName.REVISE) == "Said for how long."
    refused = InputError("The note has no words.", "Write it first.")
    monkeypatch.setattr(Jury, "compare", lambda *_: (refused,))
    desk.write()
    assert desk.said(StageName.REVISE) == "Said for how long."


def _fails_until(times: int) -> Callable[..., GateResult]:
    """A correctness gate that fails until a note was bettered so many times."""

    def correctness(note: str, *_: object) -> GateResult:
        passes = note.count("It was watched.") >= times
        status = GateStatus.PASS if passes else GateStatus.FAIL
        return GateResult(gate=GateName.CORRECTNESS, status=status, reason="It says too much.")

    return correctness


@pytest.mark.parametrize(("times", "stands"), [(1, False), (2, True), (3, False)], ids=["passed", "mended", "in vain"])
def test_a_note_that_fails_a_gate_before_anybody_read_it_is_mended_once_and_stands_if_it_passes(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, times: int, *, stands: bool
) -> None:
    monkeypatch.setattr(desk.engine, "correctness", _fails_until(times))
    desk.gather()
    desk.write()
    before = desk.case.draft
    assert before is not None
    desk.start(desk.stages.assess_steps(desk.id, before_inspection=True, scores_only=True))
    after, assessment = desk.case.draft, desk.case.assessment
    assert after is not None
    assert assessment is not None
    assert assessment.text_sha256 == after.sha256
    assert (after.text != before.text) is stands
    objections = {draft.text: draft.objections for draft in desk.case.candidates}
    assert objections[before.text] == (() if times == 1 else ("It says too much.",))
    assert assessment.gate(GateName.CORRECTNESS).status is (GateStatus.FAIL if times == 3 else GateStatus.PASS)
    told = {1: "helpfulness PASS", 2: "Fixed: relevance PASS", 3: "did not pass either"}[times]
    assert told in desk.said(StageName.ASSESS)


@pytest.mark.parametrize(("score", "is_kept"), [(0.4, True), (0.3, False)])
def test_a_note_that_a_gate_is_uncertain_of_gives_way_only_to_one_that_scores_higher(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, score: float, *, is_kept: bool
) -> None:
    desk.gather()
    desk.write()
    before = desk.case.draft
    assert before is not None

    def helpfulness(_: Post, note: str) -> GateResult:
        return uncertain_result(0.3 if note == before.text else score)

    monkeypatch.setattr(desk.engine, "helpfulness", helpfulness)
    desk.start(desk.stages.assess_steps(desk.id, before_inspection=True, scores_only=True))
    assert desk.case.draft is not None
    assert (desk.case.draft.text != before.text) is is_kept
    assert ("A fixed draft was no better" in desk.said(StageName.ASSESS)) is not is_kept


def test_a_note_that_says_too_little_is_not_mended_where_no_passage_gives_more(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.engine.fails_at = GateName.HELPFULNESS
    desk.gather()
    desk.write()
    case = desk.case
    assert case.draft is not None
    assert case.settlement is not None
    first = next(answer for answer in case.settlement.passages if answer.evidence_id in case.draft.evidence_ids)
    alone = case.settlement.replace(passages=(first,))
    desk.workspace.store.update(desk.id, lambda case: case.replace(settlement=alone))
    monkeypatch.setattr(desk.engine, "revise", lambda *_: pytest.fail("There is nothing to mend it with."))
    desk.start(desk.stages.assess_steps(desk.id, before_inspection=True, scores_only=True))
    assert desk.said(StageName.ASSESS).endswith("Not fixed: no source gives more than it says")
    assert desk.case.draft == case.draft


def test_the_scores_of_a_mended_note_are_of_the_passages_in_use(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk.engine, "correctness", _fails_until(2))
    desk.gather()
    for name in ("E1", "E2"):
        use(desk.workspace, desk.id, name)
    desk.write(before_inspection=True)
    desk.start(desk.stages.assess_steps(desk.id, before_inspection=True, scores_only=True))
    assert desk.case.draft is not None
    assert desk.case.draft.text.count("It was watched.") == 2
    assert desk.case.assessment_is_current


def test_a_note_that_could_not_be_mended_keeps_its_scores_and_that_is_said(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk.engine, "correctness", _fails_until(2))
    desk.gather()
    desk.write()
    desk.engine.revises = _down
    desk.start(desk.stages.assess_steps(desk.id, before_inspection=True, scores_only=True))
    assert desk.said(StageName.ASSESS).endswith("Not fixed: The server is down.")
    assert desk.case.assessment is not None


def _unreadable() -> None:
    raise AnswerUnreadableError("The model talked about football.")


def _down() -> None:
    raise ModelServerError("The server is down.")


def test_where_comparing_comes_to_nothing_the_first_note_is_shown_and_that_is_said(desk: Desk) -> None:
    desk.gather()
    desk.engine.revises = _unreadable
    desk.write()
    assert desk.said(StageName.REVISE) == "NOT RUN, so the first is shown: The model talked about football."
    assert len(desk.case.candidates) == 2
    assert desk.case.draft == desk.case.candidates[0]
    assert desk.case.draft is not None
    assert desk.case.draft.changes == ""


def test_a_server_that_is_down_while_notes_are_compared_fails_the_job_and_the_notes_stay(desk: Desk) -> None:
    desk.gather()
    desk.engine.revises = _down
    failed = desk.start(desk.stages.write_steps(desk.id, before_inspection=True))
    assert failed.state is JobState.FAILED
    assert (len(desk.case.candidates), desk.case.draft) == (2, None)
    desk.engine.revises = lambda: None
    desk.write()
    assert desk.engine.earlier == [[]]  # what was written is compared, and not written again
    assert desk.case.draft is not None


def test_to_propose_again_shows_the_writer_what_was_proposed_before(desk: Desk) -> None:
    desk.gather()
    desk.write()
    before = [draft.text.split(" https")[0] for draft in desk.case.candidates]
    desk.write()
    assert desk.engine.earlier == [[], before]
    assert desk.case.candidates[1].text.startswith("Note 2 says it otherwise.")


def test_words_that_a_person_wrote_are_not_replaced_by_what_the_program_proposes(desk: Desk) -> None:
    gather(desk.workspace, desk.id)
    use(desk.workspace, desk.id, "E1")
    desk.cases.apply(desk.id, actions.edit_draft, "My own words.", based_on=None)
    desk.write(before_inspection=False)
    assert desk.case.draft is not None
    assert desk.case.draft.text == "My own words."
    assert len(desk.case.candidates) == 3
