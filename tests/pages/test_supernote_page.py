"""The Supernote page: notes in, candidates filtered and ranked, the winner beside the best note, watched afterwards."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.cases import approval, suggestions, supernote_actions
from crowdnotes.domain import (
    Candidate,
    Case,
    Credit,
    CrowdStatus,
    DecisionKind,
    ExistingNote,
    FilterName,
    Interval,
    PostedNote,
    Ratings,
    SideVotes,
    Span,
    StageName,
    StageRecord,
    SuggestionAnswer,
    SupernoteRound,
    SupernoteScore,
    SupernoteSentence,
    text_sha256,
)
from pages.common.layout import Area
from tests.fakes import ScriptedSupernotes
from tests.pages.conftest import POST, Desk, field, press, texts, unfolded

PAGE = "pages/supernote.py"
LINK = "https://trials.example.edu/c"
FIRST = f"Vitamin C does not prevent colds in most people. {LINK}"
SECOND = f"Colds were about 8 percent shorter in trials. {LINK}"
HOSTILE = "<script>alert(1)</script> [click](javascript:x) :red[loud] ![i](https://evil.example/i.png)"
AT = datetime(2026, 3, 1, tzinfo=UTC)


def score(intercept: float, *, says_nothing: bool = False) -> SupernoteScore:
    votes = {"helpful": 60, "somewhat_helpful": 20, "not_helpful": 20}
    return SupernoteScore(
        intercept=intercept,
        interval=Interval(low=intercept - 0.2, high=intercept + 0.2),
        factor=0.0,
        status="CURRENTLY_RATED_HELPFUL" if intercept >= 0.4 else "NEEDS_MORE_RATINGS",
        negative=SideVotes(side="−", **votes),
        positive=SideVotes(side="+", **votes),
        means_nothing=says_nothing,
    )


def candidate(text: str, intercept: float | None, **more: object) -> Candidate:
    middle = text.index(".") + 1
    sentences = (
        SupernoteSentence(span=Span(start=0, end=middle), notes=("N1",)),
        SupernoteSentence(span=Span(start=middle, end=len(text)), notes=("N2",)),
    )
    made = Candidate(text=text, sentences=sentences, engine="local", not_run=(FilterName.SUPPORTED,))
    return made.replace(score=score(intercept) if intercept is not None else None, **more)


WINNER = candidate(f"Vitamin C does not prevent colds in most people. Colds were shorter. {LINK}", 0.43)
OTHER = candidate(f"Colds were shorter. Vitamin C does not prevent them. {LINK}", 0.21)
LOUD = candidate(f"Only fools believe this. {HOSTILE}", None, failed=FilterName.NEUTRAL, why="“fools” is not neutral")


def begun(desk: Desk, *notes: ExistingNote) -> Case:
    """A case with two notes, and a third that X has turned down."""
    given = notes or (
        ExistingNote(id="N1", text=FIRST, ratings=Ratings(helpful=7, not_helpful=3, tags={"helpfulClear": 4})),
        ExistingNote(id="N2", text=SECOND),
        ExistingNote(id="N3", text=f"{HOSTILE} Nonsense.", status=CrowdStatus.NOT_HELPFUL),
    )
    return supernote_actions.create_supernote(desk.workspace.cases, POST, notes=given)


def ranked(desk: Desk, **more: object) -> Case:
    """The same, with candidates made, filtered and ranked."""
    case = begun(desk)
    assert case.supernote is not None
    fields: dict[str, object] = {
        "candidates": (WINNER, OTHER, LOUD),
        "existing": {"N1": score(0.12), "N2": score(0.05)},
        "winner": WINNER.sha256,
        "best_existing": "N1",
        "best_by": "its 10 ratings",
        "judged": "the simulated readers",
        "measured": "Of 100 newer notes it was right on 83.",
        "credits": (Credit(note="N1", share=0.7, without=0.1, loss=0.33), Credit(note="N2", share=0.3)),
        "merged": 2,
        "post_sha256": text_sha256(case.post.whole_text),
    }
    made = SupernoteRound(number=1, made_at=AT, notes=case.supernote.notes, wanted=100, **(fields | more))
    ended = StageRecord(name=StageName.CREDIT, finished_at=AT, seconds=0, summary="", engine="local")
    return desk.changed(case, supernote=case.supernote.replace(rounds=(made,)), stages=(ended,))


def shown(desk: Desk, case: Case | None = None) -> AppTest:
    at = desk.app(page=PAGE)
    if case is not None:
        at.query_params["case"] = case.id
        for fold in ("filters", "ranking"):
            at.session_state[f"{fold}-{case.id}"] = True
    at.run()
    assert not at.exception
    return at


def drawn(at: AppTest) -> str:
    """All that the page gives to its components: the words of notes and candidates."""
    return "".join(str(item.proto) for item in at.get("bidi_component"))


def test_pasted_notes_become_a_case_whose_rows_say_what_is_used_and_why_not(desk: Desk) -> None:
    at = shown(desk)
    assert "Combine the notes under a post into one better note" in texts(at)
    field(at, "Text of the post").set_value(POST)
    field(at, "The notes, with their links").set_value(f"{FIRST}\n\n{SECOND}\n\n{SECOND}")
    at.button(key="read-notes").click().run()
    assert not at.exception
    work = desk.only().supernote
    assert work is not None
    assert [note.text for note in work.notes] == [FIRST, SECOND]
    assert "1 duplicate note was merged." in texts(at)
    assert "2 notes, 2 used" in texts(at)


def test_a_note_that_says_that_no_note_is_needed_is_not_ticked(desk: Desk) -> None:
    case = begun(desk, *(ExistingNote(id=f"N{n}", text=text) for n, text in enumerate((FIRST, "NNN An opinion."), 1)))
    at = shown(desk, case)
    assert [box.value for box in at.checkbox if box.label.startswith("Use ")] == [True, False]
    assert "It says that no note is needed ·" in texts(at)
    assert "Taken as open, as we do not know X's decision: 2." in texts(at)


def test_a_note_that_raters_turned_down_is_used_only_against_the_rule(desk: Desk) -> None:
    case = begun(desk)
    at = shown(desk, case)
    assert "Raters found it not helpful ·" in texts(at)
    assert "10 ratings: 7 helpful, 0 somewhat helpful, 3 not helpful · “clear” 4" in texts(at)
    box = at.checkbox(key=f"use-note-{case.id}-N3")
    assert not box.value
    box.check().run()
    after = desk.newest(case).supernote
    assert after is not None
    assert [note.chosen for note in after.notes] == [None, None, True]
    at.checkbox(key=f"use-note-{case.id}-N3").uncheck().run()
    after = desk.newest(case).supernote
    assert after is not None
    assert after.notes[2].chosen is None


def test_that_raters_want_no_note_is_said_before_anything_is_written(desk: Desk) -> None:
    said = ExistingNote(
        id="N1",
        text="Not misleading.",
        classification="NOT_MISLEADING",
        status=CrowdStatus.HELPFUL,
    )
    at = shown(desk, begun(desk, said, ExistingNote(id="N2", text=FIRST)))
    assert "Raters said that no note is needed." in texts(at)


def test_what_is_missing_is_said_and_nothing_is_begun(desk: Desk) -> None:
    at = shown(desk)
    field(at, "Text of the post").set_value(POST)
    missing = {"Paste it": "There is no note.", "A file": "There is no file yet.", "X's public data": "is missing"}
    for source, sentence in missing.items():
        at.segmented_control(key="new-supernote-from").set_value(source).run()
        at.button(key="read-notes").click().run()
        assert sentence in texts(at)
        assert field(at, "Text of the post").value == POST
    assert desk.workspace.cases.count() == 0


def test_a_file_with_ratings_is_read(desk: Desk) -> None:
    at = shown(desk)
    field(at, "Text of the post").set_value(POST)
    at.segmented_control(key="new-supernote-from").set_value("A file").run()
    table = f'text,helpful,notHelpful,status\n"{FIRST}",5,2,CURRENTLY_RATED_HELPFUL\n'
    at.file_uploader[0].upload("notes.csv", table.encode("utf-8")).run()
    at.button(key="read-notes").click().run()
    assert "7 ratings: 5 helpful" in texts(at)
    assert "X shows it already ·" in texts(at)


def test_the_example_opens_with_one_press(desk: Desk) -> None:
    at = shown(desk)
    at.button(key="supernote-example").click().run()
    assert not at.exception
    assert "6 notes, 4 used" in texts(at)
    assert "all their ratings are invented" in texts(at)
    assert re.search(r"These notes allow \d+ different drafts\.", texts(at)), "before they are written"


def test_the_funnel_says_what_each_filter_took_out_with_an_example_that_is_never_markup(desk: Desk) -> None:
    at = shown(desk, ranked(desk))
    words = texts(at)
    assert "Of 3 drafts, 2 passed every check that ran." in words
    assert "“fools” is not neutral" in words
    charts = "".join(str(chart.proto) for chart in at.get("plotly_chart"))
    assert "NOT RUN" in charts
    assert "Expected: no cost." in words
    assert "Only fools believe this." in drawn(at)
    markup = "\n".join(str(item.value) for item in (*at.markdown, *at.caption))
    assert "<script>" not in markup.replace("\\", "#"), "words from outside are never markup"
    assert "](javascript:" not in markup


def test_the_winner_stands_beside_the_best_note_with_who_chose_and_who_gave_what(desk: Desk) -> None:
    at = shown(desk, ranked(desk))
    words = texts(at)
    assert "These readers are simulated." in words
    assert "0.43 (0.40 needed) :orange[1 check not run]" in words
    assert "Not checked (NOT RUN): “the links support it”." in words, "in the open, beside the text"
    assert "it was right on 83" in words
    assert "The simulated readers give it 0.43: enough for the 0.40" in words
    assert "Probably better than note N1." in words
    assert "gets 0.31 less" in words
    assert "the simulated readers found the better one in 94 of 100 pairs" in words
    assert "chosen by the simulated readers" in words
    assert "chosen by its 10 ratings" in words
    assert "70 % are from N1" in words
    assert "without it, the best draft gets 0.10, 0.33 less" in words
    [table] = at.dataframe
    assert list(table.value["What"]) == [
        "the best",
        "draft 2",
        "note N1",
        "note N2",
        "note N3",
    ]


def test_the_supernote_and_the_best_note_become_a_comparison(desk: Desk) -> None:
    case = ranked(desk)
    at = shown(desk, case)
    press(at, "Compare these two")
    assert not at.exception
    assert [title.value for title in at.title] == ["Compare"]
    [summary] = desk.workspace.comparisons.summaries()
    made = desk.workspace.comparisons.get(summary.id)
    assert made.names == ("Supernote", "Existing note")
    assert [(pair.post, pair.first, pair.second) for pair in made.pairs] == [(case.post.text, WINNER.text, FIRST)]
    assert f"comparison={made.id}" in str([code.value for code in at.code]), "its link is open"


def test_a_draft_that_ratings_chose_leads_the_ranking_and_the_page_says_why_it_is_not_the_highest(desk: Desk) -> None:
    third = candidate(f"Trials found no protection from colds. They were shorter. {LINK}", 0.30)
    chosen, highest = WINNER.replace(score=score(0.32)), OTHER.replace(score=score(0.37))
    lost = (Credit(note="N1", share=0.7, without=0.37, loss=-0.05),)
    drafts = (chosen, third, highest)
    at = shown(desk, ranked(desk, candidates=drafts, winner=chosen.sha256, existing={"N1": score(0.35)}, credits=lost))
    words = texts(at)
    assert "3 drafts, up to 0.37, are too close for them" in words
    assert "chosen by the simulated readers" not in words, "why it was chosen is said once"
    assert "without it, the best draft gets 0.37: no clear difference" in words
    assert "Too close to call: note N1 may be as good." not in words, "it has a lower score"
    assert ":green[:material/check_circle:] **Best**" not in words, "no tick on a score below the line"
    assert "All 3 drafts passed" in words, "no chart where no check removed any"
    charts = "".join(str(chart.proto) for chart in at.get("plotly_chart"))
    assert "draft 3" in charts, "the highest score is in the picture"
    [table] = at.dataframe
    assert list(table.value["What"])[:4] == ["the best", "draft 2", "draft 3", "note N1"]
    ratings = list(table.value["Its notes' rating"])
    assert ratings[0] is not None


def test_a_score_below_the_line_never_reads_as_the_line(desk: Desk) -> None:
    near = WINNER.replace(score=score(0.3999))
    at = shown(desk, ranked(desk, candidates=(near, OTHER)))
    assert "0.3999 (0.40 needed)" in texts(at)
    assert "The simulated readers give it 0.3999: below the 0.40" in texts(at)
    assert any("· 0.3999" in option for box in at.selectbox for option in box.options)


def test_a_winner_in_the_words_of_one_note_is_not_passed_off_as_new(desk: Desk) -> None:
    same = candidate(FIRST, 0.05)
    case = ranked(desk, candidates=(same,), winner=same.sha256)
    desk.workspace.cases.apply(case.id, supernote_actions.use_candidate, same.sha256)
    at = shown(desk, case)
    assert "These are the words of N1, unchanged." in texts(at)
    assert "The best note on the post, N1, gets 0.07 more." in texts(at)
    assert texts(at).index("No gain: keep note N1.") < texts(at).index("The supernote")
    [table] = at.dataframe
    assert list(table.value["What"])[:2] == ["note N1", "the best"], "by the jury, not by who won"
    assert [item.label for item in at.button].count("Open in Draft") == 1
    press(at, "Open in Draft")
    assert "Draft a note" in texts(at)


def test_a_winner_that_gets_what_the_best_note_gets_is_said_in_a_sentence(desk: Desk) -> None:
    even = candidate(FIRST, 0.12)
    words = texts(shown(desk, ranked(desk, candidates=(even,), winner=even.sha256)))
    assert "The best note on the post, N1, gets the same." in words
    assert "No gain: keep note N1." in words
    assert "of 100 pairs" not in words


def test_why_there_are_fewer_candidates_than_asked_for_is_told_without_unfolding(desk: Desk) -> None:
    words = texts(desk.app(ranked(desk), page=PAGE))
    assert "Nearly the same as another, so left out: 2 drafts." in words
    assert "You asked for 100." in words


def test_what_the_jury_cannot_read_has_no_number(desk: Desk) -> None:
    mute = WINNER.replace(score=score(0.4, says_nothing=True))
    at = shown(desk, ranked(desk, candidates=(mute,), existing={}))
    assert "score means nothing for this text" in texts(at)
    [table] = at.dataframe
    assert set(table.value["90 % range"]) == {"not run"}


def test_a_jury_that_did_not_sit_is_not_run(desk: Desk) -> None:
    unscored = WINNER.replace(score=None)
    at = shown(desk, ranked(desk, candidates=(unscored,), existing={}, measured=""))
    assert "We did not run the simulated readers (NOT RUN)" in texts(at)
    assert "We did not run the simulated readers on this text (NOT RUN)" in texts(at)
    assert "We did not work out the result without each note (NOT RUN)" in texts(at)


def test_without_a_winner_the_page_says_why(desk: Desk) -> None:
    at = shown(desk, ranked(desk, candidates=(LOUD,), winner=None, credits=()))
    assert "No draft passed every check." in texts(at)


def test_any_candidate_can_be_taken_into_the_draft(desk: Desk) -> None:
    case = ranked(desk)
    at = shown(desk, case)
    at.selectbox(key=f"read-{case.id}-1").set_value(OTHER.sha256).run()
    at.button(key="take-ranked").click().run()
    assert not at.exception
    assert desk.note(case) == OTHER.text
    assert "Draft a note" in texts(at)


def test_a_phone_is_led_from_the_notes_to_the_candidates_and_begins_there_once_they_are_made(desk: Desk) -> None:
    at = desk.app(begun(desk), page=PAGE)
    assert at.session_state["area"][0] is Area.SOURCES
    assert at.button(key="go-to-note").click().run().session_state["area"][0] is Area.NOTE
    assert desk.app(ranked(desk), page=PAGE).session_state["area"][0] is Area.NOTE


def test_newer_notes_say_what_changed_and_what_was_posted_is_weighed(desk: Desk) -> None:
    case = ranked(desk)
    cases = desk.workspace.cases
    cases.apply(
        case.id,
        supernote_actions.set_posted,
        PostedNote(text=FIRST, at=AT, unknown_side=Ratings(helpful=2, not_helpful=8)),
    )
    at = shown(desk, case)
    unfolded(at, f"watch-{case.id}")
    assert "Nothing has changed" in texts(at)
    assert "Better than the posted note: 0.43 and 0.12 in the simulation." in texts(at)
    assert "Worth replacing" in texts(at)
    field(at, "The notes, with their links").set_value(f"{FIRST}\n\n{SECOND}\n\nA new one says more. {LINK}")
    at.button(key="watch-read").click().run()
    assert "N4: new" in texts(at)
    assert at.button(key="watch-again").label == "Write drafts for N4"


def test_new_ratings_alone_ask_for_another_choice_and_for_no_candidates(desk: Desk) -> None:
    case = ranked(desk)
    work = case.supernote
    assert work is not None
    rated = work.notes[0].replace(ratings=Ratings(helpful=70))
    supernote_actions.update_notes(desk.workspace.cases, case.id, (rated, *work.notes[1:]))
    at = shown(desk, case)
    unfolded(at, f"watch-{case.id}")
    assert at.button(key="watch-again").label == "Choose again with the new ratings"
    at.button(key="watch-again").click().run()
    desk.finish_latest(case, at)
    after = desk.newest(case).supernote
    assert after is not None
    assert after.newest is not None
    assert {item.text for item in after.newest.candidates} == {item.text for item in (WINNER, OTHER, LOUD)}


def test_how_the_posted_note_stands_can_be_told(desk: Desk) -> None:
    case = ranked(desk)
    at = shown(desk, case)
    unfolded(at, f"watch-{case.id}")
    field(at, "Text of the posted note").set_value(" ")
    press(at, "Save the status")
    assert "The posted note's text is missing." in texts(at)
    field(at, "Text of the posted note").set_value(FIRST)
    at.selectbox(key=f"posted-{case.id}-status").set_value(CrowdStatus.HELPFUL)
    press(at, "Save the status")
    work = desk.newest(case).supernote
    assert work is not None
    assert work.posted is not None
    assert work.posted.status is CrowdStatus.HELPFUL
    assert "Replace it only if a fact in it is wrong" in texts(at)


def test_suggestions_are_added_and_answered_by_hand_with_a_reason(desk: Desk) -> None:
    case = desk.workspace.cases.apply(ranked(desk).id, supernote_actions.use_candidate, WINNER.sha256)
    at = shown(desk, case)
    unfolded(at, f"suggestions-{case.id}")
    field(at, "Suggestions, one on each line").set_value(f"Name the trial.\n{HOSTILE}")
    press(at, "Add")
    assert [item.text for item in desk.newest(case).suggestions] == ["Name the trial.", HOSTILE]
    assert "2 waiting for an answer" in texts(at)
    press(at, "Save the answer")
    assert "Choose whether you changed the note." in texts(at)
    at.segmented_control(key=f"reply-Suggestions-{case.id}-S1-answer").set_value(SuggestionAnswer.NO)
    press(at, "Save the answer")
    assert "Say briefly why." in texts(at)
    at.segmented_control(key=f"reply-Suggestions-{case.id}-S1-answer").set_value(SuggestionAnswer.NO)
    field(at, "Why").set_value("The page names it.")
    press(at, "Save the answer")
    first = desk.newest(case).suggestions[0]
    assert (first.answer, first.reason) == (SuggestionAnswer.NO, "The page names it.")
    assert "The page names it." in texts(at)
    at.segmented_control(key=f"reply-Suggestions-{case.id}-S2-answer").set_value(SuggestionAnswer.YES)
    at.text_input(key=f"reply-Suggestions-{case.id}-S2-reason").set_value("It is so.")
    at.text_input(key=f"reply-Suggestions-{case.id}-S2-changed").set_value("Everything.")
    next(item for item in at.button if item.form_id == f"form-reply-Suggestions-{case.id}-S2").click().run()
    assert "The note stayed the same." in texts(at)


def test_the_draft_page_shows_suggestions_too(desk: Desk) -> None:
    case = desk.drafted()
    desk.workspace.cases.apply(case.id, suggestions.suggest, ["Say when."], said_by="a reader")
    assert "Comments and suggestions: 1, 1 waiting for an answer" in [item.label for item in desk.app(case).expander]


def test_a_case_that_began_without_notes_is_not_taken_for_one(desk: Desk) -> None:
    at = shown(desk, desk.case())
    assert "This case did not begin with other people's notes." in texts(at)


def test_a_post_without_words_is_begun_from_its_address_and_gets_them_later(desk: Desk) -> None:
    at = shown(desk)
    field(at, "Address of the post").set_value("https://x.com/someone/status/1357025133219700737")
    field(at, "The notes, with their links").set_value(FIRST)
    at.button(key="read-notes").click().run()
    case = desk.only()
    assert "NOT RUN" in texts(at)
    field(at, "Text of the post").set_value(POST)
    press(at, "Add the text")
    assert desk.newest(case).post.text == POST
    assert "NOT RUN" not in texts(at)


def test_candidates_are_made_on_the_page_and_the_winner_is_the_draft(desk: Desk) -> None:
    case = begun(desk)
    at = shown(desk, case)
    assert "Expected: no cost." in texts(at)
    at.number_input(key=f"wanted-{case.id}").set_value(12).run()
    at.button(key="make-candidates").click().run()
    desk.finish_latest(case, at)
    work = desk.newest(case).supernote
    assert work is not None
    assert work.newest is not None
    assert work.newest.wanted == 12
    assert "passed every check that ran" in texts(at)
    assert work.newest.winning is not None
    assert desk.note(case) == work.newest.winning.text
    assert "Open its supernote" in [item.label for item in desk.app(case).button]


def test_what_a_stopped_round_has_made_is_kept_and_goes_on(desk: Desk) -> None:
    case = desk.changed(ranked(desk), stages=())
    at = shown(desk, case)
    assert "3 drafts are kept" in texts(at)
    assert at.button(key="make-candidates").label == "Write the rest"
    assert not at.dataframe


def test_with_a_model_its_judge_is_shown_and_answers_come(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk.engine, "uses_language_model", True)
    desk.engine.supernotes = ScriptedSupernotes()
    case = begun(desk)
    at = shown(desk, case)
    assert "price unknown" in texts(at)
    at.button(key="make-candidates").click().run()
    desk.finish_latest(case, at)
    [table] = at.dataframe
    assert table.value["AI, of 10"].max() == 9.0
    unfolded(at, f"suggestions-{case.id}")
    at.file_uploader[-1].upload("said.txt", "Name the trial.\nSay when.\n".encode("utf-16"))
    press(at, "Add")
    assert [item.text for item in desk.newest(case).suggestions] == ["Name the trial.", "Say when."]
    press(at, "Let the AI answer 2 suggestions")
    desk.finish_latest(case, at)
    assert "2, all answered" in texts(at)
    assert "No source carries it." in texts(at)


def test_a_posted_note_typed_in_while_another_decides_can_be_copied_and_saved_all_the_same(
    desk: Desk, unsaved: list[str]
) -> None:
    case = ranked(desk)
    at = shown(desk, case)
    unfolded(at, f"watch-{case.id}")
    field(at, "Text of the posted note").set_value("It does not help.")
    approval.decide_case(desk.of_another(), case.id, DecisionKind.REJECTED)
    press(at, "Save the status")
    assert not at.exception, at.exception
    assert unsaved == ["It does not help."]
    at.button(key="keep-unsaved-form").click().run()
    assert not at.exception, at.exception
    kept = desk.newest(case)
    assert kept.decision is None
    assert kept.supernote is not None
    assert kept.supernote.posted is not None
    assert kept.supernote.posted.text == "It does not help."
