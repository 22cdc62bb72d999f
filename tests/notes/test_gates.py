"""The gates in their order, and quotations that must stand in what was read."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from crowdnotes.domain import (
    TO_CONTENTS,
    Assessment,
    Evidence,
    GateName,
    GateResult,
    GateStatus,
    LintLevel,
    Post,
    PrincipleName,
    SentenceCheck,
    SentenceSupport,
    Support,
    text_sha256,
)
from crowdnotes.engines import Brief
from crowdnotes.engines.local import LocalEngine
from crowdnotes.errors import EngineError
from crowdnotes.notes.gates import GATES, assess, form_warnings, unfound_quotes, with_checks, with_sources
from crowdnotes.text.sentences import split_sentences
from tests.fakes import (
    FixedClock,
    HashingEmbedder,
    ScriptedEngine,
    ScriptedJudge,
    brief_of,
    make_evidence,
    uncertain_result,
)
from tests.shared import PATIENCE

BRIEF = brief_of(Post(text="This drink makes you ill!"))
OLD = BRIEF.today - timedelta(days=5 * 365)
NOTE = "The review found no link. https://health.example.org/review"
ORDER = [GateName.RELEVANCE, GateName.CORRECTNESS, GateName.HELPFULNESS]


def _statuses(engine: ScriptedEngine) -> list[GateStatus]:
    judged = assess(engine, BRIEF, NOTE, [make_evidence(1)], lambda: datetime(2026, 1, 1, tzinfo=UTC))
    return [judged.gate(name).status for name in ORDER]


def test_all_three_run_in_order_when_each_passes() -> None:
    engine = ScriptedEngine()
    assert _statuses(engine) == [GateStatus.PASS] * 3
    assert sorted(engine.judged) == sorted(ORDER)


@pytest.mark.parametrize("fails_at", [None, GateName.CORRECTNESS])
def test_gates_are_told_as_they_are_ready_and_none_before_the_one_in_front_of_it(fails_at: GateName | None) -> None:
    ready = threading.Event()

    class SlowAtRelevance(ScriptedEngine):
        def relevance(self, brief: Brief, evidence: Sequence[Evidence]) -> GateResult:
            assert ready.wait(PATIENCE)
            return super().relevance(brief, evidence)

    engine, told = SlowAtRelevance(), list[list[GateName]]()
    engine.fails_at = fails_at

    def heard(gates: Sequence[GateResult]) -> None:
        told.append([result.gate for result in gates])
        if len(told) == 2:  # the other two are ready, and neither counts yet
            ready.set()

    assess(engine, BRIEF, NOTE, [make_evidence(1)], lambda: datetime(2026, 1, 1, tzinfo=UTC), heard)
    last = ORDER if fails_at is None else ORDER[: ORDER.index(fails_at) + 1]
    assert told == [[], [], last]


@pytest.mark.parametrize("failing", [0, 2])
def test_nothing_counts_behind_a_failed_gate_and_what_was_found_there_is_held_back(failing: int) -> None:
    engine = ScriptedEngine()
    engine.fails_at = ORDER[failing]
    judged = assess(engine, BRIEF, NOTE, [make_evidence(1)], lambda: datetime(2026, 1, 1, tzinfo=UTC))
    expected = [GateStatus.PASS] * failing + [GateStatus.FAIL] + [GateStatus.NOT_RUN] * (2 - failing)
    assert [gate.status for gate in judged.gates] == expected
    assert [gate.gate for gate in judged.held] == ORDER[failing + 1 :]
    assert {gate.status for gate in judged.held} <= {GateStatus.PASS}
    assert len(judged.found) == 3
    others = [item for item in judged.principles if item.principle is not PrincipleName.SOURCES_SUPPORT]
    assert {principle.status for principle in others} == {GateStatus.PASS}, "the principles wait for no gate"


def test_an_uncertain_gate_holds_nothing_back_and_a_fault_that_the_program_finds_still_fails_it() -> None:
    engine = ScriptedEngine()
    engine.judge = ScriptedJudge(uncertain_result)
    for note, expected in (
        (NOTE, (GateStatus.PASS, "uncertain")),
        (f"{'Again. ' * 40}{NOTE}", (GateStatus.FAIL, "failed")),
    ):
        judged = assess(engine, BRIEF, note, [make_evidence(1)], FixedClock())
        result = judged.gate(GateName.HELPFULNESS)
        assert (result.status, result.as_text) == expected


def test_a_judge_that_breaks_leaves_its_gate_and_all_behind_it_not_run() -> None:
    engine = ScriptedEngine()
    engine.breaks_at = GateName.CORRECTNESS
    assert _statuses(engine) == [GateStatus.PASS, GateStatus.NOT_RUN, GateStatus.NOT_RUN]


def test_when_sentences_cannot_be_attributed_nothing_is_passed_and_lint_is_still_there() -> None:
    class Broken(ScriptedEngine):
        def support(self, note: str, evidence: Sequence[Evidence]) -> tuple[SentenceSupport, ...]:
            raise EngineError("The engine did not answer.")

    judged = assess(Broken(), BRIEF, "No link", [make_evidence(1)], lambda: datetime(2026, 1, 1, tzinfo=UTC))
    assert {gate.status for gate in judged.gates} == {GateStatus.NOT_RUN}
    assert [warning.code for warning in judged.lint] == ["no-url"]


def test_an_assessment_has_one_result_of_each_gate() -> None:
    judged = assess(ScriptedEngine(), BRIEF, NOTE, [make_evidence(1)], lambda: datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(ValidationError, match="one result of each gate"):
        Assessment.model_validate(judged.model_dump() | {"gates": [*judged.gates, judged.gates[0]]})


def test_an_assessment_is_bound_to_its_text_and_carries_lint() -> None:
    judged = assess(ScriptedEngine(), BRIEF, "No link", [make_evidence(1)], lambda: datetime(2026, 1, 1, tzinfo=UTC))
    assert judged.text_sha256 == text_sha256("No link")
    assert [warning.code for warning in judged.lint] == ["no-url"]


PASSAGE = make_evidence(1, published=date(2025, 6, 1))
ALL = f"It looked at all studies ({PASSAGE.source.url})."
TWO = f"The review found no link. {ALL}"


def _compared(*found: Support, settled: bool = False, note: str = TWO) -> Assessment:
    """What is said of a note after a person compared its sentences with their passage."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    engine = ScriptedEngine()
    engine.by_person, engine.hints = True, ("How many: the note says “all”.",)
    judged = assess(engine, BRIEF, note, [PASSAGE], lambda: at)
    checks = [
        SentenceCheck(
            words=TWO[each.start : each.end],
            evidence_id=PASSAGE.id,
            passage_sha256=text_sha256(PASSAGE.passage.text),
            support=support,
            doubts=engine.hints,
            doubts_settled=settled,
            by="Ann",
            at=at,
        )
        for each, support in zip(split_sentences(TWO), found, strict=False)
    ]
    return with_checks(judged, note, [PASSAGE], checks)


def _correctness(judged: Assessment) -> tuple[GateStatus, str]:
    result = judged.gate(GateName.CORRECTNESS)
    sources = next(each for each in judged.principles if each.principle is PrincipleName.SOURCES_SUPPORT)
    assert (sources.status, sources.reason) == (result.status, result.reason)  # nothing is asked twice
    behind = judged.gate(GateName.HELPFULNESS).status
    assert (behind is GateStatus.PASS) is (result.status is GateStatus.PASS)  # held back until then
    return result.status, result.reason


def test_correctness_without_a_model_waits_until_each_sentence_is_compared_and_each_hint_is_looked_at() -> None:
    assert _correctness(_compared()) == (
        GateStatus.NOT_RUN,
        "2 of 2 sentences to check with their sources.",
    )
    assert _correctness(_compared(Support.SUPPORTED))[1].startswith("1 sentence to check")
    for wrong, said in (
        (1, "1 of 2 sentences is not fully supported by its source."),
        (2, "2 of 2 sentences are not fully supported by their"),
    ):
        supports = [Support.PARTLY] * wrong + [Support.SUPPORTED] * (2 - wrong)
        status, reason = _correctness(_compared(*supports))
        assert (status, reason.startswith(said)) == (GateStatus.FAIL, True)
    both = (Support.SUPPORTED, Support.SUPPORTED)
    assert _correctness(_compared(*both)) == (GateStatus.NOT_RUN, "2 warnings to check.")
    assert _correctness(_compared(*both, settled=True)) == (GateStatus.PASS, "Checked by Ann.")


def test_sources_support_no_note_that_links_to_none_of_them() -> None:
    judged = _compared(Support.SUPPORTED, Support.SUPPORTED, settled=True)
    assert _correctness(judged)[0] is GateStatus.PASS
    correctness = judged.gate(GateName.CORRECTNESS)
    bare = with_sources(judged.principles, correctness, "The review found no link.", [PASSAGE])
    [found] = [item for item in bare if item.principle is PrincipleName.SOURCES_SUPPORT]
    assert (found.status, found.reason) == (GateStatus.FAIL, "The note has no link to a source that you use.")


@pytest.mark.parametrize("found", [Support.PARTLY, Support.UNSUPPORTED])
def test_a_sentence_that_its_passage_does_not_carry_fails_at_its_words(found: Support) -> None:
    judged = _compared(Support.SUPPORTED, found)
    assert _correctness(judged)[0] is GateStatus.FAIL
    [finding] = judged.gate(GateName.CORRECTNESS).findings
    assert finding.span is not None
    assert TWO[finding.span.start : finding.span.end] == ALL


def test_a_comparison_holds_while_sentence_and_passage_keep_their_words() -> None:
    edited = TWO.replace("all studies", "all the studies")
    judged = _compared(Support.SUPPORTED, Support.SUPPORTED, settled=True, note=edited)
    assert [each.support for each in judged.sentences] == [Support.SUPPORTED, Support.UNCHECKED]
    other = [make_evidence(1, text="Another text of the page.")]
    again = with_checks(judged, edited, other, [])
    assert {each.support for each in again.sentences} == {Support.UNCHECKED}


@pytest.mark.parametrize(
    ("published", "note", "asked"),
    [
        (None, "There is no cure. It was tested.", "No date: is this still true?"),
        (date(2012, 3, 1), "There is no cure. It was tested.", "From 2012: is this still true?"),
        (OLD, "There is no cure. It was tested.", f"From {OLD.year}: is this still true?"),
        (OLD + timedelta(days=1), "There is no cure. It was tested.", None),
        (None, "In 2012 there was no cure.", None),
        (None, "This is wrong.", None),
    ],
)
def test_without_a_model_a_source_of_unknown_or_old_date_is_asked_about_once(
    published: date | None, note: str, asked: str | None
) -> None:
    engine, item = ScriptedEngine(), make_evidence(1, published=published)
    engine.by_person = True
    judged = assess(engine, BRIEF, note, [item], FixedClock())
    assert [hint for each in judged.sentences for hint in each.doubts] == ([asked] if asked else [])
    assert asked is None or judged.sentences[0].doubts == (asked,)
    engine.by_person = False
    assert not any(each.doubts for each in assess(engine, BRIEF, note, [item], FixedClock()).sentences)


@pytest.mark.parametrize(
    ("post", "note", "hint"),
    [
        (
            "Deaths are UP 47%!",
            "The 47% has no source.",
            "Number: “47%” is the post's number, no source in use has it.",
        ),
        ("Deaths are UP!", "The 47% has no source.", "Number: the note says “47%”, the source “9 per cent”."),
        ("Deaths are UP 47%!", "The 48% has no source.", "Number: the note says “48%”, the source “9 per cent”."),
        ("Deaths are DOWN 9%!", "The 9% is right.", None),
    ],
)
def test_a_number_of_the_post_that_no_source_has_is_named_as_such(post: str, note: str, hint: str | None) -> None:
    engine, item = LocalEngine(HashingEmbedder()), make_evidence(1, text="Of all deaths, 9 per cent came at night.")
    judged = assess(engine, brief_of(Post(text=post)), note, [item], FixedClock())
    found = [doubt for each in judged.sentences for doubt in each.doubts if doubt.startswith("Number")]
    assert found == ([hint] if hint else [])


def test_where_a_model_judges_correctness_a_persons_comparison_changes_nothing() -> None:
    judged = assess(ScriptedEngine(), BRIEF, NOTE, [PASSAGE], lambda: datetime(2026, 1, 1, tzinfo=UTC))
    assert with_checks(judged, NOTE, [PASSAGE], []) is judged


QUOTED_POST = Post(text="The minister said: the water is not safe to drink.")
EVIDENCE = [make_evidence(text="The agency wrote that “no sample held more lead than\nthe law allows – in any month”.")]


@pytest.mark.parametrize(
    "note",
    [
        'The agency: "no sample held more lead than the law allows".',
        "The agency: “No sample held more lead than the law allows - in any month.”",
        "The agency: “no sample … more lead than the law allows”.",
        "The post says “the water is not safe to drink”, but it is.",
        "So-called “lead water” is safe.",
        "No quotation at all.",
    ],
)
def test_words_that_stand_in_a_passage_or_the_post_may_be_quoted(note: str) -> None:
    assert unfound_quotes(note, QUOTED_POST, EVIDENCE) == ()


@pytest.mark.parametrize(
    "note",
    [
        "The agency: “no sample held any lead at all”.",
        "The agency: “the law allows … no sample held more lead”.",
        'The agency: "every sample held more lead than the law allows".',
    ],
)
def test_invented_words_in_quotation_marks_block(note: str) -> None:
    [warning] = unfound_quotes(note, QUOTED_POST, EVIDENCE)
    assert warning.level is LintLevel.BLOCKS
    assert warning.span is not None
    assert note[warning.span.start] in '“"'


def test_a_quotation_of_a_passage_that_is_not_in_use_blocks() -> None:
    assert unfound_quotes("The agency: “no sample held more lead than the law allows”.", QUOTED_POST, [])


@given(st.lists(st.from_regex(r"[a-z]{1,9}", fullmatch=True), min_size=6, max_size=40), st.data())
def test_any_stretch_of_a_passage_may_be_quoted(words: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words) - 4))
    end = data.draw(st.integers(start + 4, len(words)))
    note = f"They wrote: “{' '.join(words[start:end])}”."
    assert unfound_quotes(note, QUOTED_POST, [make_evidence(text=" ".join(words))]) == ()


def test_a_link_that_does_not_lead_to_the_words_is_told_to_the_person() -> None:
    sound = make_evidence(url="https://health.example.org/gout/toc.html")
    astray = sound.replace(source=sound.source.replace(notices=(TO_CONTENTS,)))
    note = "The review found no link. https://health.example.org/gout/toc.html"
    assert "link-astray" not in [item.code for item in form_warnings(note, QUOTED_POST, [sound])]
    (warning,) = (item for item in form_warnings(note, QUOTED_POST, [astray]) if item.code == "link-astray")
    assert "of E1, its link leads to a table of contents" in warning.message
    assert warning.span is not None
    assert note[warning.span.start :] == "https://health.example.org/gout/toc.html"


def test_every_gate_that_has_a_name_is_registered_in_its_order_with_words_for_a_person() -> None:
    assert list(GATES) == list(GateName)
    assert all(gate.question.endswith("?") and gate.lifts for gate in GATES.values())


def test_what_the_program_finds_wrong_fails_correctness_though_a_person_judges_it() -> None:
    engine = ScriptedEngine()
    engine.by_person = True
    evidence = [make_evidence(url="https://health.example.org/review")]
    for note in (f"{NOTE} https://evil.example.org/x", f"“Nobody at all was ever ill.” {NOTE}"):
        assessed = assess(engine, BRIEF, note, evidence, FixedClock())
        compared = with_checks(assessed, note, evidence, ())
        for found in (assessed, compared):
            correctness = found.gate(GateName.CORRECTNESS)
            assert correctness.status is GateStatus.FAIL
            assert correctness.findings[0].by_rule
            assert found.is_compared_by_person
            if "evil" in note:
                assert correctness.reason.startswith(
                    "The link https://evil.example.org/x leads to none of the sources."
                )
        assert compared.gate(GateName.CORRECTNESS).reason.endswith("sentences to check with their sources.")
