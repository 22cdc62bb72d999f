"""A folder of public data to statuses: each rated note once, with its story, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crowdnotes.bridging.columns import ENROLMENT, HISTORY, NOTES
from crowdnotes.bridging.model import Factorization, NoteSignals, NoteStatus, RatingTable, RuleName, SideParameters
from crowdnotes.bridging.public_files import read_public_data
from crowdnotes.bridging.public_scoring import NoteFacts, PublicScores, prescored, score_public_data
from crowdnotes.bridging.rules import decide, general_helpful, general_not_helpful, not_misleading
from crowdnotes.bridging.thresholds import THRESHOLDS, Thresholds
from crowdnotes.errors import InputError
from crowdnotes.settings_sections import RatersWanted
from tests.bridging.made import made_ratings, rating_row, write_ratings, write_tsv

_LEVELS = {1.0: "HELPFUL", 0.5: "SOMEWHAT_HELPFUL", 0.0: "NOT_HELPFUL"}
_START = 1_700_000_000_000
_BRIDGE, _POOR, _FEW = 2**60 + 500, 2**60 + 501, 2**60 + 502


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A small public download: made notes, one that all like, one that none like, one that few have rated."""
    table = made_ratings(notes=80, raters=60)
    rows = [
        rating_row(
            int(table.note_ids[note]),
            str(table.rater_ids[rater]),
            _LEVELS[float(value)],
            createdAtMillis=_START + 1000 * int(rater),
            helpfulClear=int(value == 1),
            helpfulGoodSources=int(value == 1),
        )
        for note, rater, value in zip(table.note, table.rater, table.helpful, strict=True)
    ]
    times = {"createdAtMillis": _START + 5000}
    liked = {"helpfulClear": 1, "helpfulGoodSources": 1, **times}
    disliked = {"notHelpfulIncorrect": 1, "notHelpfulOther": 1, **times}
    rows += [rating_row(_BRIDGE, f"R{n:04d}", "HELPFUL", **liked) for n in range(60)]
    rows += [rating_row(_POOR, f"R{n:04d}", "NOT_HELPFUL", **disliked) for n in range(60)]
    rows += [rating_row(_FEW, f"R{n:04d}", "HELPFUL", **liked) for n in range(3)]
    write_ratings(tmp_path / "ratings-00000.tsv", rows)
    ids = [*(int(value) for value in table.note_ids), _BRIDGE, _POOR, _FEW]
    of_all = {"createdAtMillis": _START, "classification": "MISINFORMED_OR_POTENTIALLY_MISLEADING"}
    notes = [{"noteId": note, "noteAuthorParticipantId": f"W{note % 7}", **of_all} for note in ids]
    write_tsv(tmp_path / "notes-00000.tsv", NOTES.columns, notes)
    return tmp_path


def _by_note(scores: PublicScores) -> dict[int | str, NoteStatus]:
    return {result.note_id: result.status for result in scores.statuses}


def test_notes_get_the_status_that_their_ratings_speak_for_and_one_with_few_has_no_score_rather_than_a_low_one(
    data: Path,
) -> None:
    scores = score_public_data(data, THRESHOLDS)
    statuses = _by_note(scores)
    assert len(statuses) == len(scores.statuses) == 83
    assert statuses[_BRIDGE] is NoteStatus.HELPFUL
    assert statuses[_POOR] is NoteStatus.NOT_HELPFUL
    assert statuses[_FEW] is NoteStatus.NEEDS_MORE_RATINGS
    assert scores.dropped["ratings of notes with under 5 raters"] == 3
    few = next(result for result in scores.statuses if result.note_id == _FEW)
    assert few.note_intercept is None
    assert few.decided_by is RuleName.INITIAL


def test_parquet_made_by_reading_scores_the_same(data: Path) -> None:
    read_public_data(data, data / "parquet")
    lines = THRESHOLDS
    assert score_public_data(data / "parquet", lines).statuses == score_public_data(data, lines).statuses


def test_without_notes_the_rules_that_need_them_are_not_applied_and_it_is_said(data: Path) -> None:
    (data / "notes-00000.tsv").unlink()
    scores = score_public_data(data, THRESHOLDS)
    assert any("notes table is missing" in notice for notice in scores.notices)
    assert any("no rater is left out as unhelpful" in notice for notice in scores.notices)
    missing = {entry.rule for entry in scores.statuses[0].not_applied}
    assert RuleName.GENERAL_HELPFUL in missing
    assert NoteStatus.HELPFUL not in _by_note(scores).values()


def test_the_status_history_lets_a_shown_note_keep_its_status(data: Path) -> None:
    shown = {"currentStatus": "CURRENTLY_RATED_HELPFUL", "timestampMillisOfLatestNonNMRStatus": _START + 10**8}
    write_tsv(data / "noteStatusHistory-00000.tsv", HISTORY.columns, [{"noteId": _BRIDGE, **shown}])
    scores = score_public_data(data, THRESHOLDS)
    bridge = next(result for result in scores.statuses if result.note_id == _BRIDGE)
    assert bridge.decided_by is RuleName.INERTIA
    assert all(entry.rule is not RuleName.INERTIA for entry in bridge.not_applied)


def test_ratings_of_early_not_misleading_notes_are_not_used(data: Path) -> None:
    notes = data / "notes-00000.tsv"
    lines = notes.read_text("utf-8").splitlines()
    lines[1] = lines[1].replace("MISINFORMED_OR_POTENTIALLY_MISLEADING", "NOT_MISLEADING")
    lines[1] = lines[1].replace(str(_START), "1600000000000")
    notes.write_text("\n".join(lines) + "\n", "utf-8")
    scores = score_public_data(data, THRESHOLDS)
    assert scores.dropped["ratings of early notes that call the post not misleading"] > 0
    assert len(scores.statuses) == 82


def test_too_few_ratings_for_any_fit_are_refused(tmp_path: Path) -> None:
    write_ratings(tmp_path / "ratings-00000.tsv", [rating_row(1, f"R{n}") for n in range(4)])
    with pytest.raises(InputError, match="Dropped were: ratings of notes with under 5 raters: 4"):
        score_public_data(tmp_path, THRESHOLDS)


def test_an_unsettled_helpfulness_keeps_every_rater_and_says_so(data: Path) -> None:
    scores = score_public_data(data, Thresholds(rater_helpfulness=1.1))
    assert any("No rater reaches" in notice for notice in scores.notices)


def test_a_rating_by_a_rater_outside_the_fit_still_counts_as_a_rating(data: Path) -> None:
    path = data / "ratings-00000.tsv"
    stranger = write_ratings(data / "more.tsv", [rating_row(_BRIDGE, "stranger")]).read_text("utf-8").splitlines()[1]
    before = {result.note_id: result.ratings for result in score_public_data(data, THRESHOLDS).statuses}
    path.write_text(path.read_text("utf-8") + stranger + "\n", "utf-8")
    after = score_public_data(data, THRESHOLDS)
    bridge = next(result for result in after.statuses if result.note_id == _BRIDGE)
    assert bridge.ratings == before[_BRIDGE] + 1
    assert np.isfinite(after.fit.objective)


def _enrol(data: Path, groups: Mapping[str, object]) -> None:
    rows = [{"participantId": person, "modelingGroup": group} for person, group in groups.items()]
    write_tsv(data / "userEnrollment-00000.tsv", ENROLMENT.columns, rows)


def test_core_takes_its_groups_and_whom_the_enrolment_does_not_list_as_if_the_others_had_never_rated(
    data: Path,
) -> None:
    everybody = score_public_data(data, THRESHOLDS)
    assert (everybody.raters.by, everybody.raters.taken, everybody.raters.left_out) == (RatersWanted.ALL, 60, 0)
    assert "the userEnrollment files name them" in everybody.raters.sentence
    people = [f"R{n:04d}" for n in range(60)]
    # 1 and 21 are groups of Core, 15 and 0 are not, who is listed without a group is not, and the others are not listed
    groups = {person: [1, "21.0", 15, 0, ""][n % 5] for n, person in enumerate(people[:40])}
    _enrol(data, groups)
    core = score_public_data(data, THRESHOLDS)
    mine = {person for person in people if groups.get(person, 1) in (1, "21.0")}
    assert (core.raters.by, core.raters.taken, core.raters.left_out) == (RatersWanted.CORE, len(mine), 60 - len(mine))
    assert f"count {len(mine)} of 60 raters" in core.raters.sentence
    header, *rows = (data / "ratings-00000.tsv").read_text("utf-8").splitlines()
    of_mine = [row for row in rows if row.split("\t")[1] in mine]
    assert core.dropped["ratings by raters of groups that X's Core model leaves out"] == len(rows) - len(of_mine)
    asked_for = score_public_data(data, Thresholds(raters=RatersWanted.ALL))
    assert asked_for.statuses == everybody.statuses
    assert "as CROWDNOTES_BRIDGING_RATERS asks" in asked_for.raters.sentence
    (data / "userEnrollment-00000.tsv").unlink()
    (data / "ratings-00000.tsv").write_text("\n".join([header, *of_mine]) + "\n", "utf-8")
    alone = {one.note_id: one for one in score_public_data(data, THRESHOLDS).statuses}
    for one in core.statuses:
        if one.note_id in alone and one.decided_by is not RuleName.CAPTURE:
            assert one.note_intercept == alone[one.note_id].note_intercept
            assert (one.status, one.ratings) == (alone[one.note_id].status, alone[one.note_id].ratings)


def test_a_note_that_other_groups_rate_gets_no_status_and_stays_in_the_list(data: Path) -> None:
    path = data / "ratings-00000.tsv"
    more = [rating_row(_BRIDGE, f"Z{n}") for n in range(61)] + [rating_row(2**60 + 600, f"Z{n}") for n in range(9)]
    lines = write_ratings(data / "more.tsv", more).read_text("utf-8").splitlines()[1:]
    path.write_text(path.read_text("utf-8") + "\n".join(lines) + "\n", "utf-8")
    _enrol(data, {f"Z{n}": 15 for n in range(61)})
    found = {one.note_id: one for one in score_public_data(data, THRESHOLDS).statuses}
    assert found[_BRIDGE].decided_by is found[2**60 + 600].decided_by is RuleName.CAPTURE
    assert (found[2**60 + 600].ratings, found[2**60 + 600].note_intercept) == (0, None)
    assert found[_BRIDGE].note_intercept is not None


def test_where_core_takes_nobody_the_setting_for_all_raters_is_named(data: Path) -> None:
    _enrol(data, {f"R{n:04d}": 15 for n in range(60)})
    with pytest.raises(InputError, match=r"groups that X's Core model leaves out: .*CROWDNOTES_BRIDGING_RATERS=all"):
        score_public_data(data, THRESHOLDS)


def test_an_enrolment_that_names_people_otherwise_or_tells_no_group(data: Path) -> None:
    _enrol(data, {f"R{n:04d}": "" for n in range(60)})
    assert score_public_data(data, THRESHOLDS).raters.by is RatersWanted.ALL
    pd.DataFrame({"participantId": [1, 2], "modelingGroup": [15.0, 1.0]}).to_parquet(data / "userEnrollment.parquet")
    with pytest.raises(InputError, match="name people otherwise"):
        score_public_data(data, THRESHOLDS)


def test_people_drawn_at_random_who_like_a_shown_note_much_less_take_it_back(data: Path) -> None:
    settings = THRESHOLDS
    assert _by_note(score_public_data(data, settings))[_BRIDGE] is NoteStatus.HELPFUL
    raters = score_public_data(data, settings).fit.raters
    side = {str(rater): factor < 0 for rater, factor in zip(raters.ids, raters.factors[:, 0], strict=True)}
    drawn = [*[one for one in side if side[one]][:6], *[one for one in side if not side[one]][:6]]
    header, *rows = (data / "ratings-00000.tsv").read_text("utf-8").splitlines()
    names = header.split("\t")

    def asked(row: str) -> str:
        values = dict(zip(names, row.split("\t"), strict=True))
        if values["noteId"] == str(_BRIDGE) and values["raterParticipantId"] in drawn:
            values |= {"ratingSourceBucketed": "POPULATION_SAMPLED", "helpfulnessLevel": "NOT_HELPFUL"}
        return "\t".join(values.values())

    (data / "ratings-00000.tsv").write_text("\n".join([header, *map(asked, rows)]) + "\n", "utf-8")
    found = score_public_data(data, settings)
    bridge = next(one for one in found.statuses if one.note_id == _BRIDGE)
    assert (bridge.status, bridge.decided_by) == (NoteStatus.NEEDS_MORE_RATINGS, RuleName.SAMPLED)
    of = {str(rater): n for n, rater in enumerate(found.fit.raters.ids)}
    rows_of = [of[one] for one in drawn if one in of]
    told = f"People whom X drew at random ({len(rows_of)} ratings) give it only "
    assert bridge.reason.startswith(told)
    # By hand: the ridge regression of these alone, with ten ratings per note as the price.
    factors = found.fit.raters.factors[rows_of, 0]
    ones = np.column_stack((np.ones(len(rows_of)), factors))
    left = 0.0 - found.fit.global_intercept - found.fit.raters.intercepts[rows_of]
    by_hand = np.linalg.solve(ones.T @ ones + 10 * np.diag([0.15, 0.03]), ones.T @ left)
    distance = next(said for said in bridge.outcomes if said.rule is RuleName.SAMPLED).distances[0]
    assert distance.value == pytest.approx(by_hand[0])


def test_prescoring_gives_all_notes_at_once_what_its_rules_give_each() -> None:
    chance, count, lines = np.random.default_rng(0), 400, THRESHOLDS
    ids = np.arange(count)
    sides = SideParameters(ids, chance.uniform(-0.6, 0.8, count), chance.normal(0, 0.4, (count, 1)))
    note = np.repeat(ids, chance.integers(3, 8, count)).astype(np.int32)
    table = RatingTable(ids, ids, note, note, np.ones(len(note), dtype=np.float32))
    misleading = chance.random(count) < 0.6
    facts = NoteFacts(misleading, None, None, None, None)
    first = Factorization(0.2, sides, sides, 0.0, 0.0, 1, 0.0, len(note), True)
    expected = [
        decide(
            NoteSignals(
                n, int(np.count_nonzero(note == n)), sides.intercepts[n], sides.factors[n, 0], misleading=calls
            ),
            lines,
            (general_helpful, general_not_helpful, not_misleading),
        ).status
        for n, calls in enumerate(misleading.tolist())
    ]
    assert len(set(expected)) == 3
    assert prescored(first, table, facts, lines) == expected
