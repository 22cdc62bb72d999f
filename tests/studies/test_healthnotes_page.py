"""The page of a run: self-contained, escaped, beside the published figures."""

from __future__ import annotations

import pytest

from crowdnotes.domain import GateName, Mode
from crowdnotes.studies.bench.healthnotes import Report, make_report
from crowdnotes.studies.bench.healthnotes_page import THIS_RUN, gates_plot, models_plot, published, report_page
from tests.studies.made_health import options, result


def _report(**changes: object) -> Report:
    results = [result(1, 3), result(2, 1), result(3, 0, helpful=False, note="<script>alert(1)</script>")]
    return make_report(options(**changes), 3, results, 0)


def test_outside_text_is_escaped_and_nothing_is_loaded_from_elsewhere() -> None:
    page = report_page(_report(libraries=("<b>x",), engine={"writing": "llm:<i>m"}))
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;b&gt;x" in page
    assert "llm:&lt;i&gt;m" in page
    assert "<script src=" not in page
    assert "<link" not in page


def test_the_tables_stand_beside_the_published_ones() -> None:
    page = report_page(_report(query_diversity=False))
    assert "automation, without query diversity" in page
    assert "92.11" in page
    assert "MedGemma-27B, without utility judgement" in page
    assert "o3, whole" in page
    assert "50.00 <small>9–91</small>" in page


def test_augmentation_has_no_table_3() -> None:
    page = report_page(_report(mode=Mode.AUGMENTATION, libraries=()))
    assert "the links of the contributors" in page
    assert "Table 3" not in page.split("</script>")[-1]


def test_an_unfinished_half_leaves_a_dash_and_the_plots_a_gap() -> None:
    report = make_report(options(), 1, [result(1, 3)], 0)
    assert "<td>—</td>" in report_page(report)
    assert gates_plot(report, published()).data[0].y[3:] == (None, None, None)


def test_the_plots_show_this_run_with_its_interval_among_the_models() -> None:
    report = _report()
    bars = gates_plot(report, published()).data[0]
    assert bars.y == (100.0, 50.0, 50.0, 0.0, 0.0, 0.0)
    low, high = report.rows[0].rates[GateName.HELPFULNESS].interval
    assert bars.error_y.arrayminus[2] == pytest.approx(50 - low)
    assert bars.error_y.array[2] == pytest.approx(high - 50)
    helpful, _ = models_plot(report, published()).data
    assert (helpful.y[-1], helpful.x[-1]) == (THIS_RUN, 50.0)
    assert helpful.error_x.array[-1] > 0
    assert set(helpful.error_x.array[:-1]) == {0.0}


@pytest.mark.parametrize("mode", list(Mode))
def test_the_published_rates_fall_from_gate_to_gate(mode: Mode) -> None:
    assert len(published().models) == 16
    for model in published().models:
        halves = model.of(mode)
        assert halves is not None
        for half in (halves.helpful, halves.not_helpful):
            assert 100 >= half[0] >= half[1] >= half[2] >= 0, model.name


def test_both_published_tables_agree_where_they_overlap() -> None:
    models = {model.name: model.of(Mode.AUTOMATION) for model in published().models}
    for ablation in published().ablations:
        assert ablation.overall == pytest.approx((ablation.helpful + ablation.not_helpful) / 2, abs=0.011)
        if not ablation.without:
            halves = models[ablation.name]
            assert halves is not None
            assert (ablation.helpful, ablation.not_helpful) == (halves.helpful[2], halves.not_helpful[2])
