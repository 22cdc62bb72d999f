"""What leaves the program: the words of X's form, Markdown, JSON, CSV."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.cases.export import cases_csv, form_labels, post_url, to_json, to_markdown
from crowdnotes.cases.intake import checked_post
from crowdnotes.domain import (
    INFERRED,
    X_HOSTS,
    AnswerKind,
    Candidate,
    Credit,
    Decision,
    DecisionKind,
    DeskState,
    DeskWork,
    Draft,
    Event,
    ExistingNote,
    GateName,
    Image,
    Lease,
    LinkCheck,
    LinkState,
    ObstacleId,
    ObstacleKind,
    Override,
    PassageAnswer,
    Post,
    ReadAs,
    Settlement,
    Span,
    StageName,
    StageRecord,
    Suggestion,
    SuggestionAnswer,
    SupernoteRound,
    SupernoteWork,
    Support,
    Verdict,
    text_sha256,
)
from crowdnotes.notes.gates import assess
from tests.fakes import ScriptedEngine, actor, brief_of, make_case, make_evidence
from tests.jury.models import small_jury

AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
NOTE = "According to Example Health, no link was found. https://health.example.org/review"


def _over(kind: ObstacleKind, subject: str, reason: str) -> Override:
    return Override(obstacle=ObstacleId(kind=kind, subject=subject), reason=reason)


def _decided(**changes: object):  # type: ignore[no-untyped-def]
    decision = Decision(
        kind=DecisionKind.APPROVED,
        by="ann",
        at=AT,
        overrides=(
            _over(ObstacleKind.GATE_FAILED, "correctness", "their own words"),
            _over(ObstacleKind.LINK_UNINSPECTED, "https://a_b.example.org/x", "read on paper"),
        ),
    )
    return make_case(
        evidence=(make_evidence(1, opened_at=AT, verdict=Verdict.USE, reason="plain"),),
        draft=Draft(text=NOTE, evidence_ids=("E1",), engine="person", written_at=AT),
        tags=("misleadingFactualError",),
        decision=decision,
    ).replace(**changes)


def test_markdown_holds_note_evidence_tags_decision_and_override() -> None:
    page = to_markdown(_decided())
    for part in (
        NOTE,
        "It contains a factual error",
        "https://health.example.org/review",
        "Approved although **the correctness check did not pass**. Reason: their own words",
        "**we did not read the page behind `https://a_b.example.org/x`**. Reason: read on paper",
        "approved",
    ):
        assert part in page


def test_a_gate_that_was_not_run_is_not_told_as_one_that_failed() -> None:
    case = _decided()
    engine = ScriptedEngine()
    engine.fails_at = GateName.RELEVANCE
    judged = assess(engine, brief_of(case.post), case.draft.text, case.used_evidence, lambda: AT)
    failed, not_run = ObstacleKind.GATE_FAILED, ObstacleKind.GATE_NOT_RUN
    over = tuple(
        _over(failed if gate is GateName.RELEVANCE else not_run, gate.value, "it fits the post") for gate in GateName
    )
    decision = case.decision.replace(overrides=over)
    page = to_markdown(case.replace(assessment=judged, decision=decision))
    assert "Approved although **the relevance check did not pass**." in page
    assert "Approved although **the correctness check was not run**." in page
    assert "correctness: NOT RUN" in page


def test_each_override_that_is_listed_counts_as_an_exception() -> None:
    over = (
        _over(ObstacleKind.GATE_FAILED, "relevance", "their own words"),
        _over(ObstacleKind.GATE_NOT_RUN, "correctness", "their own words"),
        _over(ObstacleKind.LINK_UNINSPECTED, "https://example.org/x", "their own words"),
    )
    decision = _decided().decision.replace(overrides=over)
    assert decision.as_text == "approved with 3 exceptions"


def test_json_is_the_whole_case_and_says_how_it_ended() -> None:
    case = _decided()
    fields = json.loads(to_json(case))
    assert (fields.pop("outcome"), fields.pop("demonstration")) == ("approved with 2 exceptions", False)
    assert type(case).model_validate(fields) == case


def _judged(by_person: bool = False, **changes: object):  # type: ignore[no-untyped-def]
    case = _decided(**changes)
    engine = ScriptedEngine()
    engine.by_person, engine.hints = by_person, ("“no” *stands* nowhere",)
    return case.replace(assessment=assess(engine, brief_of(case.post), case.draft.text, case.used_evidence, lambda: AT))


def test_each_sentence_stands_with_its_source_how_it_is_supported_and_by_whom_it_was_judged() -> None:
    case = _judged()
    [sentence, *others] = case.assessment.sentences
    compared = sentence.replace(carrier=Span(start=0, end=9), by="a_b")
    loose = sentence.replace(evidence_id=None, support=Support.UNSUPPORTED, doubts=())
    page = to_markdown(case.replace(assessment=case.assessment.replace(sentences=(compared, loose, *others))))
    item = case.evidence[0]
    assert (
        f"1. “{sentence.words_in(NOTE)}”\n   - E1, {item.source.publisher or item.source.title}, "
        f"`{item.source.url}`: supported, by a\\_b\n   - the source says: “{item.passage.text[:9].strip()}”\n   - "
        "warning: “no” \\*stands\\* nowhere\n"
    ) in page
    assert f"   - no source: not supported, by {case.assessment.engine}" in page
    assert "E1, " in to_markdown(_judged(by_person=True))
    assert "not compared yet\n" in to_markdown(_judged(by_person=True))
    assert "What supports each sentence" not in to_markdown(_decided())


def test_the_jury_is_told_as_a_simulation_and_as_not_run_where_it_did_not_sit() -> None:
    verdict = small_jury().verdict(None, NOTE, jurors=50)
    verdict = verdict.replace(note_intercept=0.398, means_nothing=False)
    told, other = _decided(jury=(verdict,)), _decided(jury=(verdict.replace(text_sha256="else"),))
    page = to_markdown(told)
    assert f"## Jury: a simulation, nobody has voted\n\n{verdict.sentence}\n" in page
    assert f"- simulated score 0.398 of {verdict.helpful_line:.2f} needed, 90 % range " in page
    assert f"- {verdict.quality.note}" in page
    assert "nobody has voted\n\nNOT RUN for this text.\n" in to_markdown(other)
    rows = csv.DictReader(io.StringIO(cases_csv([told, other, _decided(draft=None)])))
    cells = [row["jury"] for row in rows]
    assert cells == [
        f"simulation: {verdict.sentence} Simulated score 0.398 of {verdict.helpful_line:.2f} needed.",
        "not run",
        "",
    ]


def test_the_table_tells_passages_verdicts_and_reasons_line_by_line_and_why_gates_said_so() -> None:
    read = make_evidence(1, opened_at=AT, verdict=Verdict.USE, reason="=plain\nand short")
    unlinked = make_evidence(2)
    unlinked = unlinked.replace(source=unlinked.source.replace(url=None))
    [row] = csv.DictReader(io.StringIO(cases_csv([_judged(evidence=(read, unlinked))]), newline=""))
    assert row["passages"].splitlines() == [f"E1: {read.source.title}", f"E2: {unlinked.source.title}"]
    assert row["passage_links"].splitlines() == [f"E1: {read.source.url}", "E2: no link"]
    assert row["passage_verdicts"].splitlines() == ["E1: use", "E2: not opened"]
    assert row["passage_reasons"] == "E1: =plain and short"
    assert row["gate_reasons"].splitlines()[1] == "correctness: as scripted"


def test_a_note_that_is_only_inferred_is_marked_in_the_page_and_the_table() -> None:
    stated = _decided()
    item = stated.evidence[0]
    answer = PassageAnswer(
        evidence_id=item.id, passage_sha256=text_sha256(item.passage.text), answer=AnswerKind.INFERRED
    )
    draft = stated.draft.replace(evidence_ids=(item.id,))
    inferred = _decided(draft=draft, settlement=Settlement(passages=(answer,), engine="llm:x"))
    assert [row["inferred"] for row in csv.DictReader(io.StringIO(cases_csv([stated, inferred])))] == ["no", "yes"]
    assert [f"{INFERRED}.\n" in to_markdown(case) for case in (stated, inferred)] == [False, True]


def test_a_case_that_is_not_decided_says_where_it_stands() -> None:
    case = _decided(decision=None)
    assert json.loads(to_json(case))["outcome"] == "note to write or score"
    assert "Status: note to write or score." in to_markdown(case)


def test_the_pages_status_is_the_decision_and_the_classification_is_named() -> None:
    page = to_markdown(_decided())
    assert "Status: approved with 2 exceptions." in page
    assert "## Decision: approved with 2 exceptions" in page
    assert "Status: decided" not in page
    assert "About the post: The post is misinformed or potentially misleading." in page


@pytest.mark.parametrize(
    "changes",
    [
        {"draft": Draft(text="No. https://kettle.example/page", engine="person", written_at=AT)},
        {"urls": ("https://kettle.example/page",)},
        {"evidence": (make_evidence(1, url="https://kettle.example/page"),)},
    ],
)
def test_a_demonstration_is_marked_as_one_in_every_file(changes: dict[str, object]) -> None:
    case = _decided(**changes)
    assert "do not post it" in to_markdown(case)
    assert json.loads(to_json(case))["demonstration"] is True
    (row,) = csv.DictReader(io.StringIO(cases_csv([case])))
    assert row["demonstration"] == "yes"
    assert "may be posted" not in to_markdown(_decided())


def test_how_each_link_answered_and_what_an_image_says_is_in_the_page() -> None:
    url = "https://health.example.org/review"
    dead = LinkCheck(url=url, state=LinkState.DEAD, checked_at=AT, tries=1, status=404)
    image = Image(
        sha256="ab" * 32,
        media_type="image/png",
        name="a*b.png",
        width=3,
        height=2,
        text="```\nBUY NOW",
        shows="A sign.",
        read_by="person",
    )
    live = dead.replace(state=LinkState.LIVE, status=200)
    assert f"- Link `{url}`: responds, asked " in to_markdown(_decided(link_checks=(live,))), "as on the page"
    page = to_markdown(_decided(link_checks=(dead,), post=Post(text="See this.", images=(image,))))
    assert f"- Link `{url}`: dead (404), asked 2026-01-02 03:04 UTC." in page
    assert "Image “a\\*b.png”, 3 × 2 pixels" in page
    assert "````text\n```\nBUY NOW\n````" in page
    assert "It shows: A sign." in page


def test_outside_text_stays_text_in_markdown() -> None:
    nasty = "# Not a heading\n```\n<script>alert(1)</script> ![x](http://evil.example/p.png)"
    page = to_markdown(_decided(post=Post(text=nasty)))
    assert f"````text\n{nasty}\n````" in page


def test_an_address_is_shown_as_it_is_and_never_as_markup() -> None:
    nasty = "https://x.com/<img/src=x/onerror=alert(1)>"
    item = make_evidence(1, opened_at=AT, verdict=Verdict.USE)
    item = item.replace(source=item.source.replace(url=f"{nasty}`b`"))
    page = to_markdown(_decided(post=Post(text="a", url=nasty), evidence=(item,)))
    assert f"\n`{nasty}`\n" in page
    assert f"\n`` {nasty}`b` ``\n" in page
    assert page.count("<img") == 2


def test_names_in_the_audit_trail_are_escaped() -> None:
    event = Event(at=AT, by="<b>ann</b>", kind="decided")
    assert r"\<b\>ann" in to_markdown(_decided(events=(event,)))


def test_csv_has_a_row_a_case_and_defuses_formulas() -> None:
    rows = list(csv.DictReader(io.StringIO(cases_csv([_decided(post=Post(text='=HYPERLINK("http://evil")'))]))))
    assert len(rows) == 1
    assert rows[0]["post"].startswith("'=")
    assert rows[0]["decision"] == "approved"
    assert rows[0]["overrides"] == (
        "the correctness check did not pass: their own words; we did not read the page behind "
        "https://a_b.example.org/x: read on paper"
    )


@given(st.text(max_size=80))
def test_no_cell_begins_like_a_formula_and_no_text_is_lost(text: str) -> None:
    case = make_case(post=Post(text=text))
    (row,) = csv.DictReader(io.StringIO(cases_csv([case]), newline=""))
    assert row["post"][:1] not in {"=", "+", "-", "@", "\t", "\r"} or row["post"] == ""
    assert row["post"].removeprefix("'") in {text, text.removeprefix("'")}


def test_labels_are_those_of_xs_form_in_its_order() -> None:
    case = make_case(tags=("misleadingSatire", "misleadingFactualError"))
    assert form_labels(case) == [
        "It contains a factual error",
        "It is a joke or satire that might be misinterpreted as a fact",
    ]


def test_only_an_address_on_x_is_opened_as_the_post() -> None:
    assert post_url(make_case(post=Post(text="a", url="https://x.com/a/status/1"))) == "https://x.com/a/status/1"
    for url in (None, "https://x.com.evil.example/a", "javascript:alert(1)", "https://evil.example/x.com"):
        assert post_url(make_case(post=Post(text="a", url=url))) is None


def test_scores_of_another_text_are_out_of_date_in_the_table() -> None:
    case = _decided()
    assert case.draft is not None
    judged = assess(ScriptedEngine(), brief_of(case.post), case.draft.text, case.used_evidence, lambda: AT)
    edited = case.draft.replace(text=f"In short: {NOTE}")
    rows = csv.DictReader(
        io.StringIO(cases_csv([_decided(assessment=judged), _decided(assessment=judged, draft=edited), _decided()]))
    )
    assert [(row["relevance"], row["correctness"], row["helpfulness"]) for row in rows] == [
        ("passed", "passed", "passed"),
        ("out of date", "out of date", "out of date"),
        ("", "", ""),
    ]


def test_a_check_that_waits_for_another_is_exported_as_the_case_s_page_shows_it() -> None:
    engine, case = ScriptedEngine(), _decided(decision=None)
    engine.breaks_at, engine.fails_at = GateName.CORRECTNESS, GateName.HELPFULNESS
    case = case.replace(assessment=assess(engine, brief_of(case.post), NOTE, case.used_evidence, lambda: AT))
    [row] = csv.DictReader(io.StringIO(cases_csv([case])))
    assert (row["correctness"], row["helpfulness"]) == ("not run", "not run")
    assert row["gate_reasons"].splitlines()[2] == "helpfulness: Waits for correctness to pass."
    assert "- helpfulness: NOT RUN. Waits for correctness to pass." in to_markdown(case)


def test_the_table_has_the_words_of_the_screen_the_author_and_who_of_the_moderators_has_the_case() -> None:
    ann = actor("ann")
    asked = DeskWork(state=DeskState.SUBMITTED, submitted_at=AT)
    held = asked.replace(lease=Lease(holder=actor("bob").person, since=AT, until=AT))
    cases = [
        _judged(decision=None),
        _judged(decision=None, owner=ann.person, desk=asked),
        _judged(decision=None, desk=held),
        _judged(decision=None, desk=asked.replace(state=DeskState.RETURNED)),
        _judged(desk=asked),
    ]
    rows = [*csv.DictReader(io.StringIO(cases_csv(cases)))]
    assert [(row["status"], row["queue"], row["decision"]) for row in rows] == [
        ("scored, not decided", "", ""),
        ("waiting for a moderator", "waiting for a moderator", ""),
        ("with a moderator", "with a moderator", ""),
        ("sent back with comments", "sent back with comments", ""),
        ("approved with 2 exceptions", "decided", "approved"),
    ]
    assert [row["author"] for row in rows] == ["", "ann", "", "", ""]
    assert {row["mode"] for row in rows} == {cases[0].mode.as_text}
    assert {row["tags"] for row in rows} == {"It contains a factual error"}


def test_each_readers_verdict_is_exported_with_their_name() -> None:
    ann = make_evidence(1, opened_at=AT, verdict=Verdict.USE).reviews
    bob = make_evidence(1, opened_at=AT, verdict=Verdict.REJECT, reason="off *topic*", opened_by=actor("b*b")).reviews
    case = make_case(evidence=(make_evidence(1).replace(reviews=(*ann, *bob)),))
    [row] = csv.DictReader(io.StringIO(cases_csv([case])))
    assert row["passage_verdicts"] == "E1: reject"
    assert row["passage_readers"] == "E1: ann chose: use; b*b chose: reject. off *topic*"
    told = to_markdown(case)
    assert "ann chose: use" in told
    assert r"b\*b chose: reject. off \*topic\*" in told
    reviews = json.loads(to_json(case))["evidence"][0]["reviews"]
    assert [(review["reader"]["name"], review["verdict"]) for review in reviews] == [("ann", "use"), ("b*b", "reject")]


def test_scores_from_before_inspection_are_told_as_such() -> None:
    case = _decided(decision=None)
    assert case.draft is not None
    judged = assess(ScriptedEngine(), brief_of(case.post), case.draft.text, case.evidence, lambda: AT)
    proposed = tuple(item.replace(reviews=()) for item in case.evidence)
    case = case.replace(assessment=judged, evidence=proposed)
    [row] = csv.DictReader(io.StringIO(cases_csv([case])))
    assert row["relevance"] == "passed (sources not opened)"
    assert "Scores of this text, with sources that nobody opened yet" in to_markdown(case)


@pytest.mark.parametrize("kind", [kind for kind in DecisionKind if kind is not DecisionKind.APPROVED])
def test_a_case_that_ended_without_a_note_classifies_nothing(kind: DecisionKind) -> None:
    ended = _decided(decision=Decision(kind=kind, by="ann", at=AT))
    rows = csv.DictReader(io.StringIO(cases_csv([ended, _decided(), _decided(decision=None)])))
    kept = "The post is misinformed or potentially misleading"
    assert [row["classification"] for row in rows] == ["", kept, kept]


def test_what_must_be_known_of_a_source_stands_before_its_words() -> None:
    item = make_evidence(1)
    marked = {"id": "hand:1", "notices": ("retracted",), "read_as": ReadAs.ABSTRACT}
    source = item.source.replace(**marked)
    page = to_markdown(_decided(evidence=(item.replace(source=source),)))
    told = "**Mind: retracted, abstract only, pasted by hand, not compared with the page.**"
    assert 0 < page.index("health authority, date not known") < page.index(told) < page.index(item.passage.text)
    assert "Mind:" not in to_markdown(_decided())
    through = item.source.replace(read_as=ReadAs.THROUGH, read_through="Jina Reader")
    page = to_markdown(_decided(evidence=(item.replace(source=through),)))
    assert "**Mind: read through Jina Reader, not compared with the page.**" in page


@pytest.mark.parametrize("host", sorted(X_HOSTS))
def test_every_address_that_is_taken_as_a_posts_is_offered_to_be_opened(host: str) -> None:
    url = f"https://{host}/a/status/1"
    assert post_url(make_case(post=checked_post("A claim.", url))) == url


def test_the_short_and_the_phones_addresses_are_of_x() -> None:
    assert {"x.com", "twitter.com", "m.twitter.com", "mobile.x.com", "www.twitter.com"} <= X_HOSTS


def test_a_table_has_a_cell_for_each_column_and_names_what_is_left_out() -> None:
    table = list(csv.reader(io.StringIO(cases_csv([], {"abc": "saved by a newer version"}))))
    assert [len(row) for row in table] == [len(table[0])] * 2
    assert table[1][0] == "abc"
    assert table[1][table[0].index("reason")] == "left out: saved by a newer version"


def test_a_supernote_is_exported_with_what_each_note_gave_and_suggestions_with_their_answers() -> None:
    notes = (ExistingNote(id="N1", text="It is *not* so.", note_id="77"), ExistingNote(id="N2", text="It was never."))
    winner = Candidate(text="It is *not* so.", sentences=(), engine="local")
    done = SupernoteRound(
        number=1,
        made_at=AT,
        notes=notes,
        wanted=1,
        candidates=(winner,),
        winner=winner.sha256,
        judged="the simulated jury",
        credits=(Credit(note="N1", share=1.0, without=0.1, loss=0.25),),
    )
    asked = Suggestion(id="S1", text="# Say <b>who</b>", by="bob", at=AT, about="x", answer=SuggestionAnswer.NO)
    asked = asked.replace(reason="No page tells.", answered_by="ann")
    stopped = make_case(supernote=SupernoteWork(notes=notes, rounds=(done,)), suggestions=(asked,))
    assert "NOT RUN to the end" in to_markdown(stopped)
    assert "280 characters: 1" not in to_markdown(stopped)
    ended = StageRecord(name=StageName.CREDIT, finished_at=AT, seconds=1, summary="", engine="local")
    case = stopped.replace(stages=(ended,))
    page = to_markdown(case)
    assert "280 characters: 1" in page
    assert "N1 (X's 77): 100 % of the winner's words, +0.25 of its simulated score" in page
    assert "N2: not in the winner" in page
    assert r"bob: \# Say \<b\>who\</b\> — **not changed**, by ann: No page tells." in page
    assert next(csv.DictReader(io.StringIO(cases_csv([case]))))["credit"] == "77: 1.00"
    assert json.loads(to_json(case))["supernote"]["rounds"][0]["credits"][0]["share"] == 1.0
