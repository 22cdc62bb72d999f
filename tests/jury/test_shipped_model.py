"""The model that ships: its figures are pinned, and a fall is an error."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from crowdnotes.domain import JuryVerdict
from crowdnotes.jury.jury import open_jury
from crowdnotes.jury.model import SHIPPED_MODEL, features
from crowdnotes.jury.raters import ASSETS
from crowdnotes.jury.shown_odds import SHOWN, SHOWN_FIGURES, open_shown
from crowdnotes.settings_sections import JurySettings
from crowdnotes.studies.bench.jury import HeldOut
from crowdnotes.studies.data_files import read_held_out
from crowdnotes.studies.measures import area_under_curve, calibration_error
from tests.fakes import HashingEmbedder
from tests.shared import minilm

_FIGURES = json.loads((ASSETS / "figures.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["polarising_auc", "camp_auc", "rating_auc"])
def test_the_held_out_notes_are_told_apart_as_well_as_pinned(name: str) -> None:
    measured = HeldOut.load().measure()
    assert measured["n"] == _FIGURES["held_out_sample"]["n"]
    assert measured[name] >= _FIGURES["held_out_sample"][name] - 0.002


def test_the_held_out_notes_chances_are_as_right_as_pinned() -> None:
    measured = HeldOut.load().measure()
    assert measured["ece"] <= _FIGURES["held_out_sample"]["ece"] + 0.005
    assert measured["brier"] <= _FIGURES["held_out_sample"]["brier"] + 0.002


def test_the_pinned_figures_of_the_newest_fifth_are_on_target() -> None:
    newest = _FIGURES["newest_fifth"]
    assert newest["polarising_auc"] >= 0.82
    assert newest["camp_auc"] >= 0.68
    assert newest["ece"] <= 0.05


_SHOWN = json.loads((SHIPPED_MODEL / SHOWN_FIGURES).read_text(encoding="utf-8"))


def test_the_figures_of_what_x_shows_are_those_of_the_shipped_head_and_on_target() -> None:
    assert hashlib.sha256((SHIPPED_MODEL / SHOWN).read_bytes()).hexdigest() == _SHOWN["weights_sha256"]
    assert _SHOWN["intercept_auc"] >= 0.78
    assert _SHOWN["undated_intercept_auc"] >= 0.76
    assert _SHOWN["reached"] >= 0.5
    assert _SHOWN["wrongly_reached"] <= 0.15
    assert _SHOWN["ece"] <= 0.05
    assert _SHOWN["intercept_auc"] >= max(_SHOWN["rivals_intercept_auc"].values()) + 0.03


@pytest.mark.deep
def test_the_held_out_chances_give_the_pinned_figures_again_by_votes_of_the_jury() -> None:
    held_out = read_held_out("shown", SHIPPED_MODEL)
    jury = open_jury(JurySettings(), HashingEmbedder())
    neither = features(["note"] * len(held_out.labels), None)
    intercepts = jury.rank(jury.with_chances(neither, held_out.probabilities)).intercepts
    reach = intercepts >= 0.40
    assert (area_under_curve(held_out.labels, intercepts) or 0) >= _SHOWN["intercept_auc"] - 0.01
    assert reach[held_out.labels].mean() >= 0.5
    assert reach[~held_out.labels].mean() <= 0.15
    truth = held_out.labels.astype(float)
    assert calibration_error(held_out.probabilities, truth, np.ones(len(truth))) <= 0.05


def test_the_card_tells_how_well_what_x_shows_is_known() -> None:
    card = (ASSETS / "README.md").read_text(encoding="utf-8")
    names = ("intercept_auc", "undated_intercept_auc", "newest_quarter_intercept_auc", "reached", "wrongly_reached")
    for name in names:
        assert f"{_SHOWN[name]:.3f}" in card


@pytest.mark.parametrize(("low", "high"), [(0.4, 0.6), (0.6, 0.7), (0.7, 0.8)])
def test_the_card_tells_how_many_notes_were_shown_of_those_with_a_chance_near_the_line(low: float, high: float) -> None:
    held_out = read_held_out("shown", SHIPPED_MODEL)
    shown = held_out.labels[(held_out.probabilities >= low) & (held_out.probabilities < high)]
    assert f"{shown.sum()} of {len(shown)}" in (ASSETS / "README.md").read_text(encoding="utf-8")


def test_a_presenter_answers_with_the_figures_of_the_card() -> None:
    answers = " ".join((ASSETS.parents[1] / "docs" / "presenting.md").read_text(encoding="utf-8").split())
    in_100 = {name: round(100 * figure) for name, figure in _SHOWN.items() if isinstance(figure, float)}
    right, newest = in_100["undated_intercept_auc"], in_100["newest_quarter_intercept_auc"]
    assert f"which is which in {right}, and in {newest} of the newest quarter" in answers
    assert f"{in_100['reached']} % reach 0.40, of the others {in_100['wrongly_reached']} %" in answers
    assert "57.5 % are on side A" in answers
    assert "negative factor: 0.575 of the data" in (ASSETS / "README.md").read_text(encoding="utf-8")


def test_a_post_without_words_is_judged_as_no_post() -> None:
    shown = open_shown(SHIPPED_MODEL)
    assert shown is not None
    posts, notes = (None, "", "https://x.com/a", "Water cures measles."), ["A note. https://who.int/a"]
    no_post, *blank, other = (float(shown.chances(shown.read(post, notes))[0]) for post in posts)
    assert blank == pytest.approx([no_post, no_post])
    assert other != pytest.approx(no_post)


def test_every_verdict_carries_the_figures_of_the_newest_fifth() -> None:
    quality = open_jury(JurySettings(), HashingEmbedder()).quality
    newest = _FIGURES["newest_fifth"]
    assert (quality.polarising_auc, quality.camp_auc) == (newest["polarising_auc"], newest["camp_auc"])
    assert quality.expected_calibration_error == newest["ece"]
    assert f"one liked by each side, it tells which is which in {100 * newest['camp_auc']:.0f}" in quality.note
    assert quality.intercept_auc == _SHOWN["undated_intercept_auc"]
    assert f"in {100 * _SHOWN['newest_quarter_intercept_auc']:.0f} of the newest quarter" in quality.note


def test_the_card_tells_the_source_and_its_licence() -> None:
    card = (ASSETS / "README.md").read_text(encoding="utf-8")
    for words in ("CC BY 4.0", "Ulu, Shi", "birdwatch-data", f"{_FIGURES['newest_fifth']['polarising_auc']:.3f}"):
        assert words in card


def test_the_shipped_files_stay_small() -> None:
    assert sum(path.stat().st_size for path in ASSETS.rglob("*") if path.is_file()) < 5_000_000


def test_without_its_embedder_the_model_still_reads_words_and_says_so() -> None:
    jury = open_jury(JurySettings(), HashingEmbedder())
    verdict = jury.verdict(None, "The photo was taken in 2019 in Brazil. https://www.reuters.com/fact-check/photo")
    assert any("only words and links" in caution for caution in verdict.cautions)
    assert verdict.chance_of_shown is not None
    # Words tell little: the truth may lie far from the intercept that is told.
    assert verdict.intercept_interval.high - verdict.intercept_interval.low > 0.3


@pytest.mark.model
def test_a_plain_correction_divides_less_than_a_partisan_one() -> None:
    jury = open_jury(JurySettings(), minilm())
    plain, partisan = jury.compare(
        None,
        [
            "The video is from 2019 and shows a flood in Venice, not in Spain. "
            "https://www.reuters.com/fact-check/venice",
            "Republicans in Congress voted against it while Trump lied about Democrats and the border.",
        ],
    )
    assert isinstance(plain, JuryVerdict)
    assert isinstance(partisan, JuryVerdict)
    assert plain.splits is not None
    assert partisan.splits is not None
    assert plain.splits < partisan.splits - 0.2
    assert plain.note_intercept > partisan.note_intercept
