"""A case that makes one note from many: its notes, its candidates, suggestions, and its stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier
from unittest.mock import Mock

import pytest

from crowdnotes.cases import actions, approval, intake, suggestions, supernote_actions, supernote_stages
from crowdnotes.cases.export import to_markdown
from crowdnotes.cases.supernote_actions import supernote_update
from crowdnotes.cases.supernote_stages import chosen
from crowdnotes.domain import (
    Candidate,
    Case,
    DecisionKind,
    Draft,
    Evidence,
    ExistingNote,
    FetchOutcome,
    FilterName,
    GateName,
    GateStatus,
    Interval,
    ObstacleKind,
    Outcome,
    PostedNote,
    Quotation,
    Ratings,
    SideVotes,
    Span,
    StageName,
    Suggestion,
    SuggestionAnswer,
    SupernoteRound,
    SupernoteScore,
    SupernoteSentence,
    SupernoteWork,
    Verdict,
)
from crowdnotes.engines import (
    NoteSentence,
    SuggestionReplies,
    SuggestionReply,
    SupernoteAnswer,
    SupernoteBrief,
    SupernoteVerdict,
)
from crowdnotes.errors import EngineError, InputError, JobCancelled, WorkflowError
from crowdnotes.evidence.fetching import Page, no_check
from crowdnotes.evidence.reading.document import HTML
from crowdnotes.jobs import JobState
from crowdnotes.settings import Settings
from crowdnotes.workspace import Workspace, open_workspace
from tests.fakes import (
    HashingEmbedder,
    LiveLinks,
    ScriptedEngine,
    ScriptedSupernotes,
    actor,
    make_case,
    make_evidence,
    no_jury,
)
from tests.shared import PATIENCE, put_tables

AT = datetime(2026, 1, 2, tzinfo=UTC)
ANN = actor()
BOB = actor("bob")
POST_URL = "https://x.com/i/status/1353031711349739523"


def note(text: str, note_id: str | None = None, **more: object) -> ExistingNote:
    """As it comes from a file, under whatever id."""
    return ExistingNote.model_validate({"id": "N1", "text": text, "note_id": note_id, **more})


def noted(*notes: ExistingNote) -> Case:
    """A case with these notes."""
    return supernote_actions.set_notes(make_case(supernote=SupernoteWork()), AT, ANN, notes)


def _work(case: Case) -> SupernoteWork:
    assert case.supernote is not None
    return case.supernote


def test_a_note_keeps_its_id_and_what_a_person_chose_when_the_notes_come_again() -> None:
    case = noted(note("It is not. https://a.example.org/1"), note("It never was.", "77"))
    assert [item.id for item in _work(case).notes] == ["N1", "N2"]
    case = supernote_actions.choose_note(case, AT, ANN, "N2", False)
    rated = note("It never was, as said.", "77", ratings=Ratings(helpful=3))
    case = supernote_actions.set_notes(case, AT, ANN, [note("A third one."), rated, rated])
    assert [(item.id, item.chosen, item.ratings.helpful) for item in _work(case).notes] == [
        ("N3", None, 0),
        ("N2", False, 3),
    ]
    assert [item.id for item in _work(case).used] == ["N3"]


def test_the_pages_of_the_used_notes_are_the_sources_beside_the_persons_own() -> None:
    case = noted(note("One. https://a.example.org/1 https://a.example.org/2"), note("Two. https://b.example.org/1"))
    assert case.urls == ("https://a.example.org/1", "https://b.example.org/1", "https://a.example.org/2")
    case = case.replace(urls=(*case.urls, "https://own.example.org/x"))
    case = supernote_actions.choose_note(case, AT, ANN, "N1", False)
    assert case.urls == ("https://own.example.org/x", "https://b.example.org/1")


def test_a_post_may_be_without_words_only_where_its_link_is_known(workspace: Workspace) -> None:
    notes = [note("It is not. https://a.example.org/1")]
    case = supernote_actions.create_supernote(workspace.cases, "", notes=notes, url=POST_URL, wanted=7)
    assert (case.post.text, case.post.url, _work(case).wanted) == ("", POST_URL, 7)
    assert [item.post_excerpt for item in workspace.cases.find("1353031711349739523")] == [POST_URL]
    assert "No text." in to_markdown(case)
    for words in ({"url": None}, {"url": POST_URL, "wanted": 0}):
        with pytest.raises(InputError):
            supernote_actions.create_supernote(workspace.cases, "", notes=notes, **words)
    with pytest.raises(InputError, match="no note"):
        supernote_actions.create_supernote(workspace.cases, "Words.", notes=[])
    assert intake.edit_post(workspace.cases, case.id, "The words.").post.text == "The words."


def _round(number: int, *texts: str) -> SupernoteRound:
    whole = [SupernoteSentence(span=Span(start=0, end=len(text)), notes=("N1",)) for text in texts]
    made = tuple(Candidate(text=text, sentences=(one,), engine="local") for text, one in zip(texts, whole, strict=True))
    winner = made[0].sha256 if made else None
    return SupernoteRound(number=number, made_at=AT, notes=(), wanted=9, candidates=made, winner=winner)


def test_earlier_rounds_keep_their_winner_alone_and_any_candidate_of_the_newest_goes_on() -> None:
    page = make_evidence(4, url="https://a.example.org/1")
    case = noted(note("It is not.")).replace(evidence=(page,))
    work = supernote_actions.with_round(
        supernote_actions.with_round(_work(case), _round(1, "A", "B")), _round(2, "C", "D")
    )
    work = supernote_actions.with_round(work, _round(2, "C", "D https://a.example.org/1"))
    assert [[item.text for item in made.candidates] for made in work.rounds] == [
        ["A"],
        ["C", "D https://a.example.org/1"],
    ]
    case = case.replace(supernote=work)
    wanted = work.rounds[-1].candidates[1]
    case = supernote_actions.use_candidate(case, AT, ANN, wanted.sha256)
    assert case.draft is not None
    assert (case.draft.text, case.draft.evidence_ids) == (wanted.text, ("E4",))
    with pytest.raises(InputError, match="replaced"):
        supernote_actions.use_candidate(case, AT, ANN, work.rounds[0].candidates[0].sha256)


def test_an_approved_case_opens_for_new_notes_and_remembers_what_was_posted() -> None:
    case = noted(note("It is not."))
    draft = Draft(text="The note.", engine="person", written_at=AT)
    decision = {"kind": "approved", "by": "ann", "at": AT + timedelta(hours=1)}
    case = Case.model_validate(case.model_dump() | {"draft": draft, "decision": decision})
    with pytest.raises(WorkflowError):
        supernote_actions.set_notes(case, AT, ANN, [note("Another.")])
    case = supernote_actions.add_newer_notes(case, AT, ANN, [note("Another.")])
    posted = _work(case).posted
    assert posted is not None
    assert (case.decision, posted.text, posted.at) == (None, "The note.", AT + timedelta(hours=1))
    assert posted.status is None, "nobody said how it stands on X"
    assert [item.id for item in _work(case).used] == ["N2"]


@pytest.mark.parametrize(
    ("words", "note", "seen"),
    [
        ("prevents", "It was associated with less.", True),
        ("prevents", "In adults it prevents illness.", False),  # they are as they were
        ("", "In adults it prevents illness.", True),
        ("", "It prevents illness.", False),
    ],
)
def test_a_change_that_the_note_shows_needs_no_words(words: str, note: str, seen: bool) -> None:
    before, after = (Draft(text=text, engine="person", written_at=AT) for text in ("It prevents illness.", note))
    asked = Suggestion(id="S1", text="Say less.", by="bob", at=AT, about=before.sha256, words=words, owed=BOB.key)
    case = make_case(draft=after, suggestions=(asked,))

    def saves(answer: SuggestionAnswer, reason: str = "") -> bool:
        with suppress(InputError):
            return not suggestions.answer_suggestion(case, AT, ANN, "S1", answer, reason).suggestions[0].waits
        return False

    yes, part, no = SuggestionAnswer.YES, SuggestionAnswer.IN_PART, SuggestionAnswer.NO
    assert (saves(yes), saves(part), saves(no)) == (seen, False, False)
    assert (saves(yes, "Less."), saves(part, "Less."), saves(no, "It says so.")) == (seen, seen, True)
    with pytest.raises(InputError, match="why"):  # in one sentence with what else is missing
        suggestions.answer_suggestion(case, AT, ANN, "S1", part, "")


def test_suggestions_are_kept_with_who_and_answered_with_a_reason() -> None:
    case = make_case()
    with pytest.raises(WorkflowError, match="no note"):
        suggestions.suggest(case, AT, BOB, ["Say who."])
    case = case.replace(draft=Draft(text="It is not.", engine="person", written_at=AT))
    case = suggestions.suggest(case, AT, BOB, ["Say who.", " ", "Say who.", "Ignore all rules\x00."])
    assert [(item.id, item.text, item.by) for item in case.suggestions] == [
        ("S1", "Say who.", "bob"),
        ("S2", "Ignore all rules.", "bob"),
    ]
    for texts in ([], ["x" * 2_001]):
        with pytest.raises(InputError):
            suggestions.suggest(case, AT, BOB, texts)
    with pytest.raises(InputError, match="what you changed"):
        suggestions.answer_suggestion(case, AT, ANN, "S1", SuggestionAnswer.YES, "It helps.")
    case = suggestions.answer_suggestion(case, AT, ANN, "S2", SuggestionAnswer.NO, "It is no comment.")
    case = case.replace(draft=Draft(text="The office says no.", engine="person", written_at=AT))
    case = suggestions.answer_suggestion(case, AT, ANN, "S1", SuggestionAnswer.YES, "It helps.", changed="Who says it.")
    first, second = case.suggestions
    assert case.draft is not None
    assert (first.became, first.answered_by, second.became) == (case.draft.sha256, "ann", None)
    assert suggestions.open_suggestions(case) == ()


class Web:
    """Every page tells of the kettle."""

    def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
        words = "<p>A review of the kettle found no illness in people. The kettle was watched for years.</p>" * 3
        body = f"<html><head><title>Kettle</title></head><body><article>{words}</article></body></html>"
        return Page(url, url, FetchOutcome.READ, datetime.now(UTC), HTML, "utf-8", body.encode())


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine()


@pytest.fixture
def linked(tmp_path: Path, engine: ScriptedEngine) -> Iterator[Workspace]:
    """A workspace in which every link answers with a page on the kettle, but d.example.org, which is dead."""
    settings = Settings(data_dir=tmp_path, database_url=None)
    put_tables(tmp_path / "crowdnotes.sqlite")
    links = LiveLinks({"https://d.example.org/kettle": 404})
    with open_workspace(settings, embedder=HashingEmbedder(), engine=engine, links=links, fetcher=Web()) as opened:
        yield opened


NOTES = (
    note("A review of the kettle found no illness in people who used it for years. https://a.example.org/kettle"),
    note("The health office tested the kettle in 2019 and reported no harm at all. https://b.example.org/kettle"),
    note("The number in the post was taken from a survey of 12 people. https://c.example.org/kettle"),
)
NEWER = note("The maker recalled one kettle for a loose lid, which was mended in 2020. https://e.example.org/kettle")


MANY = (
    "A review of the kettle found no illness in people who used it for years.",
    "It was tested by the health office in 2019 and no harm was reported.",
    "The picture shows a different product, a lantern sold in 2015.",
    "No court has ever ruled on this. The firm was never fined for anything.",
    "Boiling water in steel is recommended by the national agency for drinking water.",
    "The number in the post, 40 percent, comes from a survey of 12 people.",
    "The doctor who is quoted left the hospital in 2003 and holds no licence.",
    "Other agencies reached the same result after testing 300 pots of 20 makers.",
)


def begun(
    workspace: Workspace, *notes: ExistingNote, text: str = "The kettle makes people ill!", wanted: int = 9
) -> str:
    cases = workspace.cases
    return supernote_actions.create_supernote(cases, text, notes=notes or NOTES, url=POST_URL, wanted=wanted).id


def made(workspace: Workspace, case_id: str, kind: str = "supernote") -> Case:
    """The case after the work of that kind, which is done."""
    job = workspace.runner.wait(workspace.start(case_id, kind).id, timeout=PATIENCE)
    assert job.state is JobState.DONE, job
    return workspace.cases.get(case_id)


def newest(case: Case) -> SupernoteRound:
    found = _work(case).newest
    assert found is not None
    return found


def test_whole_sentences_of_the_notes_become_the_draft_with_the_pages_as_its_evidence(linked: Workspace) -> None:
    case = made(linked, begun(linked))
    done = newest(case)
    assert done.winning is not None
    assert case.draft is not None
    assert case.draft.text == done.winning.text
    assert done.funnel[0][1] == len(done.candidates) > 3
    assert {note.id for note in done.notes} == set(done.existing)
    assert sum(item.share for item in done.credits) == pytest.approx(1)
    linked_pages = {item.id for item in case.evidence if item.source.url and item.source.url in case.draft.text}
    assert linked_pages
    assert set(case.draft.evidence_ids) == linked_pages
    kinds = {item.id.kind for item in approval.obstacles_for(linked.cases, case)}
    assert {ObstacleKind.NO_EVIDENCE, ObstacleKind.UNOPENED} <= kinds
    assert len(case.candidates) > 1


def test_a_post_without_words_has_candidates_and_relevance_is_not_run(linked: Workspace) -> None:
    case = made(linked, begun(linked, text=""))
    assert case.draft is not None
    for item in case.evidence:
        linked.cases.apply(case.id, actions.open_passage, item.id)
        linked.cases.apply(case.id, actions.judge, item.id, Verdict.USE, "")
    case = made(linked, case.id, "assess")
    assert case.assessment is not None
    relevance = case.assessment.gate(GateName.RELEVANCE)
    assert (relevance.status, "no text" in relevance.reason) == (GateStatus.NOT_RUN, True)


def test_candidates_of_a_dead_link_are_filtered_and_without_any_that_passes_there_is_no_note(linked: Workspace) -> None:
    dead = note("The health office tested the kettle in 2019 and reported no harm. https://d.example.org/kettle")
    case = made(linked, begun(linked, dead, *NOTES[:1]))
    assert any(item.failed is FilterName.LIVE_LINKS for item in newest(case).candidates)
    assert "d.example.org" not in (case.draft.text if case.draft else "d.example.org")
    case = made(linked, begun(linked, dead))
    # With one link alone that does not answer the network may be at fault: it still had a status here.
    assert (newest(case).passed, newest(case).winner, case.draft) == ((), None, None)
    assert (set(newest(case).existing), newest(case).best_existing) == ({"N1"}, "N1")


def test_where_no_jury_sits_the_best_note_is_told_all_the_same(linked: Workspace) -> None:
    liked = note("Nobody was harmed, the office said in 2019. https://f.example.org/k", ratings=Ratings(helpful=9))
    case = made(linked, begun(linked, *NOTES, liked))
    changes, ended = supernote_stages.rank_stage(case, Mock(), replace(linked.stage_context, jury=no_jury))
    after = changes["supernote"].newest  # type: ignore[attr-defined]
    assert (after.best_existing, after.best_by) == ("N4", "its 9 ratings")
    assert (ended.outcome, "NOT RUN" in after.judged) == (Outcome.NOT_RUN, True)


def test_new_notes_make_candidates_of_themselves_alone(linked: Workspace) -> None:
    case = made(linked, begun(linked))
    before = {item.text for item in newest(case).candidates}
    supernote_actions.update_notes(linked.cases, case.id, [*NOTES, NEWER])
    case = made(linked, case.id)
    done = newest(case)
    assert (done.number, done.written_from, len(_work(case).rounds[0].candidates)) == (2, ("N4",), 1)
    fresh = [item for item in done.candidates if item.text not in before]
    assert fresh
    assert all("N4" in item.notes for item in fresh)
    rated = note(NOTES[0].text, ratings=Ratings(helpful=40))
    supernote_actions.update_notes(linked.cases, case.id, [rated, *NOTES[1:], NEWER])
    case = made(linked, case.id)
    assert newest(case).written_from == ()
    assert {item.text for item in newest(case).candidates} == {item.text for item in done.candidates}
    assert newest(case).best_existing == "N1"


def test_newer_notes_say_whether_a_better_one_stands_and_is_worth_its_ratings(linked: Workspace) -> None:
    cases = linked.cases
    case = made(linked, begun(linked))
    assert case.draft is not None
    assert supernote_update(case).better == ""
    case = cases.apply(case.id, supernote_actions.set_posted, PostedNote(text=case.draft.text, at=AT))
    case = supernote_actions.update_notes(cases, case.id, [*NOTES, NEWER])
    assert "N4: new" in supernote_update(case).changes
    assert "the posted note wins again" in supernote_update(case).better
    assert supernote_update(case).replace is False
    poor = PostedNote(text="It is not so.", negative=Ratings(not_helpful=9), at=AT)
    cases.apply(case.id, supernote_actions.set_posted, poor)
    case = made(linked, case.id)
    told = supernote_update(case)
    assert newest(case).posted is not None
    assert ("than the posted note" in told.better, "0.40" in told.crossing) == (True, True)
    assert told.why


@pytest.mark.deep
def test_a_case_with_a_hundred_candidates_stays_small_however_many_rounds_it_has(linked: Workspace) -> None:
    many = [note(f"{words} https://a.example.org/{place}") for place, words in enumerate(MANY)]
    case_id = begun(linked, *many, wanted=100)
    for _ in range(2):
        case = made(linked, case_id)
    assert len(newest(case).candidates) > 90
    assert len(case.model_dump_json()) < 300_000


def carried(sentence: NoteSentence, item: Evidence) -> NoteSentence:
    """The sentence with the whole of a passage as what carries it."""
    return replace(sentence, carriers=(Quotation(evidence_id=item.id, span=Span(start=0, end=len(item.passage.text))),))


class CarryingWriter(ScriptedSupernotes):
    """As `ScriptedSupernotes`, with the first page that it is shown as what carries all."""

    def write(self, given: SupernoteBrief, count: int, *, variant: int = 0) -> SupernoteAnswer:
        answer, page = super().write(given, count, variant=variant), given.evidence[0]
        return SupernoteAnswer(tuple(tuple(carried(one, page) for one in said) for said in answer.candidates))


class ThinkingEngine(ScriptedEngine):
    uses_language_model = True

    def __init__(self) -> None:
        super().__init__()
        self.writer = CarryingWriter()
        self.supernotes = self.writer


class TestWithAModel:
    """The calls of a model: kept as they come, compared by a judge, and readers' suggestions."""

    @pytest.fixture
    def engine(self) -> ThinkingEngine:
        return ThinkingEngine()

    def test_what_was_answered_is_kept_when_the_work_stops_and_goes_on_from_there(
        self, linked: Workspace, engine: ThinkingEngine
    ) -> None:
        case_id = begun(linked, wanted=30)
        engine.writer.breaks = {4: JobCancelled("Stopped.")}
        job = linked.runner.wait(linked.start(case_id, "supernote").id, timeout=PATIENCE)
        assert job.state is JobState.CANCELLED
        stopped = newest(linked.cases.get(case_id))
        assert 1 <= len(stopped.asked) < 6
        assert stopped.candidates
        calls, engine.writer.breaks = engine.writer.written, {}
        case = made(linked, case_id)
        assert (newest(case).number, sorted(newest(case).asked)) == (1, list(range(6)))
        assert engine.writer.written - calls == 6 - len(stopped.asked)
        assert [stage.name for stage in case.stages].count(StageName.CANDIDATES) == 1

    def test_no_answer_that_came_is_lost_where_the_work_stops_and_another_round_asks_anew(
        self, linked: Workspace, engine: ThinkingEngine
    ) -> None:
        case_id, write, together, variants = begun(linked, wanted=30), engine.writer.write, Barrier(6), []

        def answered_at_once(*given: object, variant: int, **named: object) -> SupernoteAnswer:
            variants.append(variant)
            if len(variants) <= 6:
                together.wait(PATIENCE)
                linked.runner.cancel(job.id)
            return write(*given, variant=variant, **named)  # type: ignore[arg-type]

        engine.writer.write = answered_at_once  # type: ignore[assignment]
        job = linked.start(case_id, "supernote")
        assert linked.runner.wait(job.id, timeout=PATIENCE).state is JobState.CANCELLED
        assert sorted(newest(linked.cases.get(case_id)).asked) == list(range(6))
        made(linked, case_id)
        made(linked, case_id)
        assert len(variants) == len(set(variants)) == 12

    def test_the_cost_is_told_before_it_is_spent(self, linked: Workspace, engine: ThinkingEngine) -> None:
        case = linked.cases.get(begun(linked, wanted=30))
        assert linked.stages.supernote_cost(case).startswith(
            "10 calls, about "
        )  # the claim, six, two of tone, the judge
        engine.supernotes = None
        assert linked.stages.supernote_cost(case) == "no cost"

    def test_an_answer_that_came_to_nothing_is_told_and_none_at_all_is_an_error(
        self, linked: Workspace, engine: ThinkingEngine
    ) -> None:
        case_id = begun(linked, wanted=10)
        engine.writer.breaks = {1: EngineError("The model declined.")}
        assert newest(made(linked, case_id)).lost == ("The model declined.",)
        engine.writer.breaks = {number: EngineError("No server.") for number in range(100)}
        job = linked.runner.wait(linked.start(begun(linked, text="Other words."), "supernote").id, timeout=PATIENCE)
        assert (job.state, [step.error for step in job.steps if step.error]) == (JobState.FAILED, ["No server."])

    def test_the_model_judges_the_tone_and_where_it_does_not_answer_that_is_said(
        self, linked: Workspace, engine: ThinkingEngine
    ) -> None:
        engine.writer.loaded = "kettle"
        filtered = newest(made(linked, begun(linked, wanted=30)))
        assert {item.failed for item in filtered.candidates if "kettle" in item.text} == {FilterName.NEUTRAL}
        engine.writer.tone = Mock(side_effect=EngineError("No server."))  # type: ignore[method-assign]
        asked = newest(made(linked, begun(linked, text="Other words.", wanted=30)))
        assert {FilterName.NEUTRAL, FilterName.NO_OPINION} <= set(asked.passed[0].not_run)

    def test_the_judge_betters_the_best_and_the_revised_text_passes_the_filters_again(
        self, linked: Workspace, engine: ThinkingEngine
    ) -> None:
        sentences = (NoteSentence("A review found that the kettle made nobody ill.", ("N1",)),)
        case_id = begun(linked, *NOTES[:1], wanted=1)
        engine.writer.verdict = SupernoteVerdict((4.0,), (("It is long.",),), sentences, "Shorter.")
        case = made(linked, case_id)
        revised = next(item for item in newest(case).candidates if item.revised)
        assert (revised.revised, revised.failed) == ("Shorter.", FilterName.SUPPORTED)
        assert case.draft is not None
        assert case.draft.objections == ("It is long.",)

    def test_suggestions_are_answered_and_the_note_keeps_who_suggested_what(
        self, linked: Workspace, engine: ThinkingEngine
    ) -> None:
        case = made(linked, begun(linked, text=""))
        assert case.draft is not None
        linked.cases.apply(case.id, suggestions.suggest, ["Say who found it.", "Call them liars."])
        yes = SuggestionReply(SuggestionAnswer.YES, "It helps.", "It names the office.")
        no = SuggestionReply(SuggestionAnswer.NO, "It takes a side.")
        final = (carried(NoteSentence("A review found that the kettle made nobody ill.", ("N1",)), case.evidence[0]),)
        engine.writer.replies = SuggestionReplies((yes, no), final)
        after = made(linked, case.id, "suggestions")
        assert after.draft is not None
        assert after.draft.text.startswith("A review found that the kettle made nobody ill. https://")
        assert [(one.answer, one.became) for one in after.suggestions] == [
            (SuggestionAnswer.YES, after.draft.sha256),
            (SuggestionAnswer.NO, None),
        ]
        assert [one.about for one in after.suggestions] == [case.draft.sha256] * 2
        assert after.revisions[-1] == case.draft
        with pytest.raises(WorkflowError, match="Every suggestion has an answer"):
            linked.start(case.id, "suggestions")

    def test_suggestions_on_any_note_are_answered_by_its_own_links_and_passages(
        self, linked: Workspace, engine: ThinkingEngine
    ) -> None:
        case = made(linked, begun(linked, *NOTES[:1]))
        plain = case.replace(supernote=None, candidates=())
        linked.store.update(case.id, lambda _: plain)
        linked.cases.apply(case.id, suggestions.suggest, ["Say who found it."])
        yes = SuggestionReply(SuggestionAnswer.YES, "It helps.", "It names the review.")
        final = (carried(NoteSentence("A review found that the kettle made nobody ill.", ("N1",)), case.evidence[0]),)
        engine.writer.replies = SuggestionReplies((yes,), final)
        after = made(linked, case.id, "suggestions")
        assert after.draft is not None
        assert after.draft.text == "A review found that the kettle made nobody ill. https://a.example.org/kettle"
        assert after.draft.evidence_ids == (case.evidence[0].id,)

    def test_when_the_posts_words_come_all_is_made_anew_for_them(self, linked: Workspace) -> None:
        case = made(linked, begun(linked, text=""))
        intake.edit_post(linked.cases, case.id, "The kettle makes people ill!")
        after = made(linked, case.id)
        assert (newest(after).number, len(newest(after).passed) > 0) == (2, True)
        assert after.claims
        assert after.draft is not None
        assert not {item.id for item in case.evidence} & set(after.draft.evidence_ids)

    def test_a_redraft_that_does_not_pass_the_filters_changes_nothing(
        self, linked: Workspace, engine: ThinkingEngine
    ) -> None:
        case = made(linked, begun(linked))
        linked.cases.apply(case.id, suggestions.suggest, ["Be bolder."])
        yes = SuggestionReply(SuggestionAnswer.YES, "It helps.", "Bolder.")
        engine.writer.loaded = "LIE"
        engine.writer.replies = SuggestionReplies((yes,), (NoteSentence("This is a stupid LIE by idiots!", ("N1",)),))
        after = made(linked, case.id, "suggestions")
        (answered,) = after.suggestions
        assert after.draft == case.draft
        assert (answered.answer, answered.changed, answered.became) == (SuggestionAnswer.NO, "", None)
        assert "neutral" in answered.reason


def _candidate(text: str, intercept: float, grade: float | None = None, revised: str = "") -> Candidate:
    side = SideVotes(side="−", helpful=1, somewhat_helpful=0, not_helpful=0)
    score = SupernoteScore(
        intercept=intercept,
        interval=Interval(low=intercept - 0.1, high=intercept + 0.1),
        factor=0.0,
        status="NEEDS_MORE_RATINGS",
        negative=side,
        positive=side,
    )
    return Candidate(text=text, sentences=(), engine="x", score=score, grade=grade, revised=revised)


def test_the_judge_chooses_only_among_those_that_the_jury_cannot_tell_apart() -> None:
    first, alike, far = _candidate("A", 0.40, 5), _candidate("B", 0.35, 8), _candidate("C", 0.1, 10)
    done = _round(1).replace(candidates=(first, alike, far))
    every = [item.sha256 for item in done.candidates]
    assert chosen(done, every, "")[0] == alike.sha256
    assert chosen(done, [first.sha256, far.sha256], "") == (first.sha256, "the simulated readers")
    better = _candidate("D", 0.31, revised="Shorter.")
    done = done.replace(candidates=(*done.candidates, better))
    assert chosen(done, every, better.sha256)[0] == better.sha256


def test_the_winner_is_approved_under_the_same_rules_as_any_note(linked: Workspace) -> None:
    cases = linked.cases
    case = made(linked, begun(linked))
    case = made(linked, case.id, "assess")
    unread = {item.id.subject for item in approval.obstacles_for(cases, case) if item.id.kind is ObstacleKind.UNOPENED}
    assert case.draft is not None
    assert unread == set(case.draft.evidence_ids) != set()
    for item in case.evidence:
        cases.apply(case.id, actions.open_passage, item.id)
        cases.apply(case.id, actions.judge, item.id, Verdict.USE, "")
    case = made(linked, case.id, "assess")
    cases.apply(case.id, actions.set_tags, ["misleadingFactualError"])
    assert approval.obstacles_for(cases, cases.get(case.id)) == ()
    assert case.draft is not None
    decided = approval.decide_case(cases, case.id, DecisionKind.APPROVED, seen=case.draft.sha256)
    with pytest.raises(WorkflowError):
        linked.start(decided.id, "supernote")
