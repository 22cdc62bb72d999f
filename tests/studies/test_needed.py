"""Whether a note is wanted, measured on posts that this project made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from crowdnotes.domain import GateStatus, NoteWanted, Post, PrincipleName, PrincipleResult, WhyUnwanted
from crowdnotes.engines import SearchPlan
from crowdnotes.errors import EngineError, InputError
from crowdnotes.studies.bench.needed import Judged, NeededRow, bench_needed, judge_posts, read_needed_rows
from tests.fakes import TODAY, ScriptedEngine

MADE = Path(__file__).with_name("made_jokes.jsonl")  # by the project: 20 jokes, and 20 posts that only look like them


class _Model(ScriptedEngine):
    """Finds a joke in posts with "lamp", says nothing of those with "fan", fails at "cat" and wants all the others."""

    uses_language_model = True

    def __init__(self) -> None:
        super().__init__()
        self.days: set[date] = set()

    def plan(self, post: Post, limit: int, today: date, places: Sequence[str] = ()) -> SearchPlan:
        self.days.add(today)
        if "cat" in post.text:
            raise EngineError("No answer.")
        if "fan" in post.text:
            return SearchPlan()
        is_joke = "lamp" in post.text
        return SearchPlan(
            wanted=NoteWanted(chance=0.1 if is_joke else 0.8, why_not=WhyUnwanted.JOKE if is_joke else None)
        )


def _row(post: str, *, needed: bool, reason: str = "", picture: bool = False, number: str = "") -> NeededRow:
    return NeededRow(post=post, needs_note=needed, no_note_reason=reason, depends_on_media=picture, post_id=number)


@pytest.mark.deep
def test_a_model_is_asked_once_a_post_as_on_its_day_and_what_it_does_not_say_is_not_run() -> None:
    rows = [
        _row("I am a lamp.", needed=False, reason="joke", number="2038076291446841344"),
        _row("Lead is healthy.", needed=True),
        _row("A fan kills.", needed=True),
        _row("A cat said so.", needed=False, picture=True),
    ]
    model = _Model()
    judged = judge_posts(model, rows, TODAY, at_once=1)
    assert judged == [Judged(0.1, writes=False, named="joke"), Judged(0.8, writes=True), None, None]
    assert model.days == {TODAY, date(2026, 3, 29)}
    found = bench_needed(rows, judged)
    assert (found["n"], found["not_run"]) == (4, 2)
    assert "no ground truth" in found["labels"]
    words = found["words_decide"]
    assert (words["n"], words["needed"], words["auc"], words["right"]) == (3, 2, 1.0, round(2 / 3, 4))
    assert words["by_reason"]["joke"] == {"n": 1, "written": 0, "named": {"joke": 1}}
    assert words["by_reason"]["note needed"] == {"n": 2, "written": 1, "named": {"nothing": 1}}
    assert words["rivals"]["always_write"]["right"] == round(2 / 3, 4)
    assert "n_grams" not in words["rivals"], "too few to learn from"
    picture = found["hangs_on_picture"]
    assert (picture["n"], picture["auc"], picture["right"]) == (1, None, 0.0)


def test_before_approval_the_post_is_judged_with_its_note_by_the_principle(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [_row("A.", needed=True).model_copy(update={"original_note": f"Note {at}."}) for at in range(3)]
    found = [
        PrincipleResult(principle=PrincipleName.WANTED, status=GateStatus.FAIL, reason="Two in one.", probability=0.2),
        PrincipleResult(principle=PrincipleName.WANTED, status=GateStatus.PASS, reason="It holds."),
        PrincipleResult.not_run(PrincipleName.WANTED, "No answer."),
    ]
    model = _Model()
    monkeypatch.setattr(model, "principles", lambda _, note: (found[int(note[5])],))
    judged = judge_posts(model, [*rows, _row("B.", needed=True)], TODAY, at_once=1, with_notes=True)
    assert judged == [Judged(0.2, writes=False), Judged(1.0, writes=True), None, None]


def test_the_made_jokes_hang_on_words() -> None:
    rows = read_needed_rows(MADE)
    assert [sum(row.needs_note is needed for row in rows) for needed in (True, False)] == [20, 20]
    assert not any(row.depends_on_media for row in rows)
    assert {row.no_note_reason for row in rows if not row.needs_note} == {"made joke"}


@pytest.mark.deep
def test_n_grams_are_measured_on_the_same_posts() -> None:
    rows = read_needed_rows(MADE)
    found = bench_needed(rows, judge_posts(ScriptedEngine(), rows, TODAY, at_once=2))
    assert found["all"] == found["words_decide"]
    rival = found["all"]["rivals"]["n_grams"]
    assert rival["interval"][0] <= rival["auc"] <= rival["interval"][1]


def test_the_order_tells_nothing_and_posts_with_pictures_can_be_left_out(tmp_path: Path) -> None:
    rows = [{"post": f"Post {at}.", "needs_note": at < 5, "depends_on_media": at % 2 == 0} for at in range(10)]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    read = read_needed_rows(file)
    assert [row.post for row in read] != [row["post"] for row in rows]
    assert len(read_needed_rows(file, with_pictures=False)) == 5
    file.write_text(json.dumps(rows[0]), encoding="utf-8")
    with pytest.raises(InputError, match="hangs on a picture"):
        read_needed_rows(file, with_pictures=False)


def test_an_engine_that_judges_nothing_has_no_figures() -> None:
    with pytest.raises(InputError, match="judged no post"):
        bench_needed([_row("A.", needed=True)], [None])
