"""What many cases come to: nothing is lost or counted twice, and each sentence says of how many it speaks."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import DeskState, GateName, GateStatus, SourceCategory, Usage
from crowdnotes.reports.case_figures import CaseFigures, Course, JuryFigures
from crowdnotes.reports.overview import ENDINGS, Filter, in_time, overview, queue_sentence
from tests.reports.made_cases import BEGUN, PASSED, approved, figures

FAILED = {**PASSED, GateName.CORRECTNESS: GateStatus.FAIL, GateName.HELPFULNESS: GateStatus.NOT_RUN}

_MINUTES = st.none() | st.floats(0, 1e6)
_MANY = st.lists(
    st.builds(
        figures,
        begun=st.integers(0, 4_000).map(lambda days: BEGUN + timedelta(days=days)),
        ended=st.sampled_from(tuple(ENDINGS)),
        until_evidence=_MINUTES,
        until_words=_MINUTES,
        until_approved=_MINUTES,
        has_note=st.just(True),
        gates=st.none() | st.sampled_from([PASSED, FAILED]),
        courses=st.dictionaries(st.sampled_from(list(GateName)), st.sampled_from(Course)),
        used=st.dictionaries(st.sampled_from(SourceCategory), st.integers(1, 9)),
        jury=st.none() | st.builds(JuryFigures, st.floats(0, 1), st.floats(0, 1), st.booleans(), st.none()),
        usage=st.dictionaries(st.sampled_from(["writing", "other"]), st.builds(Usage, calls=st.integers(1, 3))),
    )
)


@given(_MANY)
def test_every_case_is_counted_once_and_every_sentence_ends(cases: list[CaseFigures]) -> None:
    found = overview(cases)
    assert sum(sum(counts) for _, counts in found.endings.parts) == found.cases == len(cases)
    assert found.times.n == found.trend.n == sum(len(values) for _, values in found.trend.groups)
    assert found.times.n == sum(case.until_approved is not None for case in cases)
    assert found.gates.n == sum(case.gates is not None for case in cases)
    assert all(sum(counts[bar] for _, counts in found.gates.parts) == found.gates.n for bar in range(3))
    assert sum(sum(counts) for _, counts in found.mended.parts) == sum(len(case.courses) for case in cases)
    assert len(found.readers.notes) == found.readers.n == sum(number for _, number, _ in found.readers.sums)
    assert all(picture.sentence.endswith(".") for picture in found.pictures)


def test_of_fewer_than_five_each_is_told_and_no_median() -> None:
    few = overview([approved(9), approved(20), approved(5)])
    assert few.remark == "3 cases: too few to say what is usual."
    assert few.times.sentence == "From post to approved note: 5 minutes, 9 minutes and 20 minutes (n = 3)."
    assert "too few" in few.trend.sentence
    five = overview([approved(minutes) for minutes in (5, 9, 20, 60, 3_000)] + [figures()])
    assert five.remark == ""
    assert five.times.sentence == "Half of the notes were approved within 20 minutes (n = 5)."
    assert five.times.not_counted == ("1 case without an approved note",)


def test_whether_it_got_faster_is_told_of_halves_with_five_each() -> None:
    old = [approved(60, begun=BEGUN + timedelta(days=7 * week)) for week in range(5)]
    new = [approved(10, begun=BEGUN + timedelta(days=7 * (5 + week))) for week in range(5)]
    trend = overview(old + new).trend
    assert trend.sentence == (
        "Half of the newer notes took up to 10 minutes, down from 60 minutes for the older ones (n = 5 and 5)."
    )
    assert trend.levels == ((0, 4, 60), (5, 9, 10))
    assert "as before" in overview(old + [approved(60) for _ in range(5)]).trend.sentence


@pytest.mark.parametrize(
    ("days", "names"),
    [
        ([0, 2], ["2 Mar", "3 Mar", "4 Mar"]),
        ([3, 30], ["2 Mar", "9 Mar", "16 Mar", "23 Mar", "30 Mar"]),
        ([0, 300], ["Mar 2026", "Apr 2026", "May 2026", "Jun 2026", "Jul 2026"]),
        ([0, 4_000], ["2026", "2027", "2028", "2029", "2030"]),
    ],
)
def test_time_has_no_gaps_and_days_weeks_months_or_years_by_its_length(days: list[int], names: list[str]) -> None:
    bars = overview([figures(begun=BEGUN + timedelta(days=day)) for day in days]).endings.bars
    assert list(bars[:5]) == names
    assert len(bars) <= 37


def test_gates_endings_and_mending_are_told_in_a_sentence() -> None:
    overridden = approved(5, gates=FAILED, courses={"correctness": Course.OVERRIDDEN})
    mended = approved(5, courses={"correctness": Course.MENDED}, kept_sentences=(2, 3))
    found = overview([overridden, mended, figures(ended="rejected"), figures()])
    assert found.endings.sentence == "2 of 4 cases ended with an approved note, 1 without one, 1 is open."
    assert found.gates.sentence == "1 of 2 scored notes passes all three checks; correctness stopped the most (1)."
    assert found.gates.not_counted == ("2 cases without a note",)
    assert found.mended.sentence == "1 of 2 checks that did not pass was fixed, most often correctness (1)."
    assert found.mended.more == "2 of 3 sentences that CrowdNotes wrote are in 1 approved note word for word."
    assert overview([approved(5)]).mended.sentence == "No check failed."


def test_sources_and_readers_are_told_with_who_could_not_be_counted() -> None:
    kinds = {SourceCategory.NEWS: 3, SourceCategory.RESEARCH: 1}
    near, apart = JuryFigures(0.5, 0.6, True, True), JuryFigures(0.2, 0.8, False, True)
    cases = [figures(shown=kinds, used=kinds, jury=near), figures(jury=apart), figures(jury_means_nothing=True)]
    found = overview(cases)
    assert found.sources.sentence == "Most used: news media, 3 of 4 sources in use (75 %)."
    assert found.sources.not_counted == ("2 cases without a source",)
    assert found.readers.sentence == (
        "Sides A and B of the simulated readers agree on 1 of 2 notes; 1 reaches the line to be shown."
    )
    assert [sums[1:] for sums in found.readers.sums] == [(1, 1), (0, 0), (1, 0)]
    assert found.readers.more == "", "nothing on so few"
    assert overview([*cases, *([figures(jury=near)] * 8)]).readers.more == (
        "Of 10 notes that every check judged, 10 pass; 9 of these reach the line too. Checks ask whether a note is "
        "supported and clear, simulated readers whether both sides like it."
    )
    assert found.readers.not_counted == ("1 case where the estimate means nothing",)


def test_of_one_kind_of_source_there_is_a_sentence_and_nothing_is_drawn() -> None:
    kinds = {SourceCategory.NEWS: 3}
    one = overview([figures(shown=kinds, used=kinds)]).sources
    assert (one.sentence, one.is_drawn) == ("Most used: news media, 3 of 3 sources in use (100 %).", False)
    two = overview([figures(shown=kinds | {SourceCategory.RESEARCH: 1}, used=kinds)]).sources
    assert two.is_drawn


def test_a_price_that_is_not_known_is_never_nothing() -> None:
    priced = figures(usage={"writing": Usage(calls=1, dollars=0.02)})
    unknown = figures(usage={"writing": Usage(calls=1, unpriced=1, input_tokens=500)})
    both = overview([priced, unknown, figures()]).cost
    assert (both.sentence, both.unit) == ("Cases cost 2 US cents (n = 1).", "US cents")
    assert both.not_counted == ("1 case without AI", "1 case whose price is not known")
    tokens = overview([unknown]).cost
    assert (tokens.sentence, tokens.unit) == ("Cases cost 500 tokens (n = 1).", "tokens")
    assert overview([figures()]).cost.sentence == "No AI costs so far."
    free = overview([figures(usage={"writing": Usage(calls=3)})]).cost  # as recorded answers are
    assert (free.sentence, free.bars) == ("No AI costs so far.", ())
    half_known = overview([figures(usage={"writing": Usage(calls=3)}), unknown]).cost
    assert half_known.sentence == "No AI costs so far, apart from 1 case, whose price is not known."
    assert not half_known.is_drawn


def test_the_queue_is_counted_by_who_has_the_case_and_the_week_ends_now() -> None:
    now = BEGUN + timedelta(days=30)
    week, sent = now - timedelta(days=7), (DeskState.SUBMITTED, DeskState.SUBMITTED, DeskState.RETURNED)
    decided = [now, week + timedelta(seconds=1), week]
    cases = [*(figures(queue=state) for state in sent)]
    cases += [figures(queue=DeskState.DECIDED, decided_at=at) for at in decided]
    own = figures(ended="rejected", decided_at=now)  # its author alone decided it
    assert queue_sentence([*cases, own], now) == (
        "2 waiting for a moderator, 0 with a moderator, 1 sent back with comments, 2 decided in the last 7 days."
    )
    assert queue_sentence([own], now) == ""


def test_a_filter_leaves_demonstrations_out_unless_asked_for() -> None:
    shown = figures(demonstration=True, engines=frozenset({"local"}))
    assert not Filter().keeps(shown)
    assert Filter(demonstrations=True, ended="open", engine="local", since=BEGUN).keeps(shown)
    for other in (Filter(ended="approved"), Filter(engine="llm:x"), Filter(since=BEGUN + timedelta(days=1))):
        assert not other.keeps(figures())


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(0.5, "30 seconds"), (1, "1 minute"), (89, "89 minutes"), (120, "2.0 hours"), (4_320, "3.0 days")],
)
def test_a_time_is_told_in_the_unit_that_fits(minutes: float, words: str) -> None:
    assert in_time(minutes) == words
