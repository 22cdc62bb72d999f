"""The Overview page: its pictures with their sentences, filters in the address, and what it says without cases."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.cases import approval, intake
from crowdnotes.domain import DecisionKind, Mode, SourceCategory
from crowdnotes.studies.bench.source_study import UtilityStudy, Won, save_study
from tests.pages.conftest import ROOT, Desk, press, texts
from tests.shared import PATIENCE

PAGE = "pages/overview.py"


def opened(**address: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE).run()
    for name, value in address.items():
        at.query_params[name] = value
    at.switch_page(PAGE).run()
    assert not at.exception
    return at


def plots(at: AppTest) -> list[str]:
    return [plot.proto.alt for plot in at.get("plotly_chart")]


def test_without_a_case_one_sentence_leads_to_the_draft_page(desk: Desk) -> None:
    at = opened()
    assert "There are no cases yet." in texts(at)
    assert plots(at) == []
    assert press(at, "Draft a note").text_area(key="new-post-text").label


def test_one_case_is_told_in_sentences_without_charts(desk: Desk) -> None:
    desk.scored()
    at = opened()
    shown = texts(at)
    assert "1 of 1 scored note passes all three checks." in shown
    assert "With 5 cases" in shown
    assert plots(at) == []


def test_demonstrations_alone_are_not_called_no_cases(desk: Desk) -> None:
    intake.create_case(desk.workspace.cases, "made up", mode=Mode.AUGMENTATION, urls=["https://kettle.example/page"])
    shown = texts(opened())
    assert "Your cases so far are demonstrations." in shown
    assert "There are no cases yet." not in shown
    at = press(opened(), "Show it")
    assert "is hidden" not in texts(at)
    assert "1 is open" in texts(at)


def test_each_picture_has_its_sentence_in_words_and_for_screen_readers(desk: Desk) -> None:
    case = desk.scored()
    approval.decide_case(desk.workspace.cases, desk.case("another post").id, DecisionKind.NOT_NEEDED)
    assert plots(opened()) == [], "two cases are told in sentences"
    for number in range(3):
        desk.case(f"post {number}")
    at = opened()
    shown = texts(at)
    for sentence in (
        "No note is approved yet.",
        "0 of 5 cases ended with an approved note, 1 without one, 4 are open.",
        "1 of 1 scored note passes all three checks.",
        "No AI costs so far.",
    ):
        assert sentence in shown, sentence
    assert "How cases ended. 0 of 5 cases ended with an approved note, 1 without one, 4 are open." in plots(at)
    assert [alt.split(".")[0] for alt in plots(at)] == ["How cases ended"], "a single note is no chart"
    assert [table.value.columns[0] for table in at.table]
    assert desk.newest(case).decision is None


@pytest.mark.parametrize(
    ("address", "cases"),
    [({}, "1 case"), ({"ended": "No note needed"}, ""), ({"demo": "true"}, "2 cases"), ({"ended": "zzz"}, "1 case")],
)
def test_the_address_says_which_cases_are_counted(desk: Desk, address: dict[str, str], cases: str) -> None:
    desk.case()
    intake.create_case(desk.workspace.cases, "made up", mode=Mode.AUGMENTATION, urls=["https://kettle.example/page"])
    shown = texts(opened(**address))
    assert cases in shown
    assert ("No cases found." in shown) is (not cases)


def test_a_change_is_counted_at_the_next_look(desk: Desk) -> None:
    case = desk.case()
    at = opened()
    assert "1 is open" in texts(at)
    approval.decide_case(desk.workspace.cases, case.id, DecisionKind.REJECTED)
    assert "1 without one" in texts(at.run())


def _study(**changes: object) -> UtilityStudy:
    won = Won(pairs=20, won=12, lost=5, tied=3, rate=0.675, low=0.5, high=0.84)
    study = UtilityStudy(
        made_at=datetime(2026, 3, 4, tzinfo=UTC),
        data="posts.jsonl",
        places=("medquad",),
        chosen_by="local",
        judged_by=("llm:small",),
        prompt_version="1a2b",
        posts=25,
        uncited=1,
        nothing_found=4,
        compared=20,
        pages=3,
        wins={"all": won},
        with_none=0.56,
        kinds={SourceCategory.HEALTH_AUTHORITY: (18, 4), SourceCategory.NEWS: (2, 16)},
        lost=(),
    )
    return study.replace(**changes)


def test_a_saved_study_of_sources_is_told_with_its_interval_beside_the_paper_s_figures(desk: Desk) -> None:
    save_study(desk.workspace.settings.data_dir, _study())
    at = opened()
    shown = texts(at)
    for sentence in (
        "In 68% of 20 pairs the sources of CrowdNotes were of more use (50% to 84%, a tie counts half).",
        "Chance alone could explain that.",
        "Won 12, lost 5, tied 3. CrowdNotes found nothing for 4 more posts.",
        "3 of 20 pairs with their text",
    ):
        assert sentence in shown, sentence
    assert any(alt.startswith("Kinds of source on each side. In 68%") for alt in plots(at))
    assert "o3, in the CrowdNotes+ paper" in at.table[-1].value.to_string().replace("\\", "")


def test_a_study_of_sources_that_cannot_be_read_is_told(desk: Desk) -> None:
    (desk.workspace.settings.data_dir / "utility.json").write_text("{}", encoding="utf-8")
    assert "The result in utility.json cannot be read." in texts(opened())
