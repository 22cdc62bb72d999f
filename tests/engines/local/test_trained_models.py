"""The shipped heads: what they say of notes of our own, and that their files are the measured ones."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

import pytest

from crowdnotes.domain import GateStatus, Post, PrincipleName
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.helpfulness import FAILS_UNDER, HELPFUL_FROM, helpfulness_blocks
from crowdnotes.engines.local.trained_models import (
    BUCKETS,
    HELPFULNESS,
    JUDGES,
    OPINION,
    letter_counts,
    linked_hosts,
    load_head,
    pair_counts,
    shipped_head,
    word_counts,
)
from crowdnotes.errors import ModelFilesError
from crowdnotes.studies.data_files import read_held_out
from crowdnotes.studies.measures import area_under_curve, macro_f1
from tests.engines.local.made import AWKWARD_TEXTS
from tests.shared import minilm

NESTED_AUC = 0.76
FIGURES = json.loads((JUDGES / "figures.json").read_text(encoding="utf-8"))
POST = Post(text="Boiled lemon peel cures diabetes within a week, doctors hide it from you.")
HELPFUL = (
    "There is no evidence that lemon peel cures diabetes. Diabetes is not curable, but is controlled with diet and "
    "medicines prescribed by a doctor. https://www.cdc.gov/diabetes/treatment/ https://www.who.int/diabetes"
)
UNHELPFUL = "NNN. This is just his opinion, everybody knows that, stop whining. https://x.com/someone/status/1"


@pytest.mark.parametrize("judge", ["helpfulness", "principles"])
def test_the_weights_are_the_ones_that_were_measured(judge: str) -> None:
    for name, expected in FIGURES[judge]["weights_sha256"].items():
        assert hashlib.sha256((JUDGES / name).read_bytes()).hexdigest() == expected


def test_the_pinned_helpfulness_figures_follow_from_the_held_out_verdicts_and_have_not_fallen() -> None:
    held_out, pinned = read_held_out("helpfulness"), FIGURES["helpfulness"]
    truth = [bool(label) for label in held_out.labels]
    low, high = pinned["nested_auc_interval"]
    assert area_under_curve(truth, held_out.probabilities) == pytest.approx(pinned["nested_auc"], abs=0.02)
    assert macro_f1(truth, [bool(p >= 0.5) for p in held_out.probabilities]) == pytest.approx(
        pinned["nested_macro_f1"], abs=0.03
    )
    assert low < pinned["nested_auc"] < high
    assert pinned["nested_auc"] >= NESTED_AUC
    assert all(pinned["nested_auc"] >= rival + 0.01 for rival in pinned["rivals_nested_auc"].values())


def test_notes_that_fail_were_nearly_always_rated_not_helpful_and_a_third_of_the_uncertain_ones_helpful() -> None:
    held_out = read_held_out("helpfulness")
    rated = list(zip(held_out.probabilities, held_out.labels, strict=True))
    failed = [label for chance, label in rated if chance < FAILS_UNDER]
    uncertain = [label for chance, label in rated if FAILS_UNDER <= chance < HELPFUL_FROM]
    assert (len(failed), sum(failed)) == (35, 2)
    assert sum(uncertain) / len(uncertain) == pytest.approx(1 / 3, abs=0.02)


def test_the_helpfulness_head_beats_the_simplest_rival_in_both_measures_and_clearly_by_time() -> None:
    pinned = FIGURES["helpfulness"]
    for measure in ("nested", "later"):
        lead = pinned[f"{measure}_auc"] - pinned[f"rivals_{measure}_auc"]["words"]
        assert lead == pytest.approx(pinned[f"{measure}_lead_over_words"], abs=0.001)
        assert lead >= 0.015
    assert pinned["later_lead_interval"][0] > 0


def test_the_pinned_opinion_figure_follows_from_the_held_out_verdicts_and_has_not_fallen() -> None:
    held_out = read_held_out("principles")
    newest = FIGURES["principles"]["newest_fifth"]
    measured = area_under_curve([bool(v) for v in held_out.labels[-newest:]], held_out.probabilities[-newest:])
    assert measured == pytest.approx(FIGURES["principles"]["auc_on_newest_fifth"], abs=0.002)
    assert FIGURES["principles"]["auc_on_newest_fifth"] >= 0.88


@pytest.mark.model
def test_the_real_judges_tell_a_good_note_from_a_bad_one() -> None:
    engine = LocalEngine(minilm())
    good, bad = engine.helpfulness(POST, HELPFUL), engine.helpfulness(POST, UNHELPFUL)
    assert (good.status, bad.status) == (GateStatus.PASS, GateStatus.FAIL)
    opinions = {
        note: next(
            result.probability
            for result in engine.principles(POST, note)
            if result.principle is PrincipleName.NO_SPECULATION
        )
        for note in (HELPFUL, UNHELPFUL)
    }
    assert (opinions[HELPFUL] or 0) > 0.8 > 0.6 > (opinions[UNHELPFUL] or 1)


def test_a_note_without_a_link_fails_and_says_so(engine: LocalEngine) -> None:
    result = engine.helpfulness(POST, HELPFUL.split(" https", 1)[0])
    assert result.status is GateStatus.FAIL
    assert "no source link" in result.reason


def test_an_insult_fails_and_is_pointed_at(engine: LocalEngine) -> None:
    note = HELPFUL.replace("There is", "You idiot, there is")
    result = engine.helpfulness(POST, note)
    assert result.status is GateStatus.FAIL
    assert "idiot" in [note[f.span.start : f.span.end] for f in result.findings if f.span]


@pytest.mark.model
def test_the_embedding_model_has_no_part_in_the_verdict(engine: LocalEngine) -> None:
    assert engine.helpfulness(POST, HELPFUL) == LocalEngine(minilm()).helpfulness(POST, HELPFUL)


@pytest.mark.model
def test_opinion_that_no_word_list_holds_is_found_and_its_words_are_pointed_at() -> None:
    note = "The government should stop wasting money; these politicians only serve themselves and their rich friends."
    results = LocalEngine(minilm()).principles(POST, note)
    found = next(result for result in results if result.principle is PrincipleName.NO_SPECULATION)
    assert found.status is GateStatus.FAIL
    assert [note[f.span.start : f.span.end] for f in found.findings if f.span]


@pytest.mark.parametrize("text", AWKWARD_TEXTS)
def test_any_text_can_be_counted_and_judged(text: str) -> None:
    for counts in (word_counts([text]), letter_counts([text]), pair_counts([(text, text)])):
        assert counts.shape == (1, BUCKETS)
        assert (counts.data > 0).all()
    probability = shipped_head(HELPFULNESS).probabilities(helpfulness_blocks([(text, text)]))
    assert 0 <= probability[0] <= 1


def test_a_saved_head_gives_the_same_verdict(tmp_path: Path) -> None:
    head = shipped_head(HELPFULNESS)
    head.save(tmp_path / HELPFULNESS)
    blocks = helpfulness_blocks([(POST.text, HELPFUL)])
    assert load_head(tmp_path / HELPFULNESS).probabilities(blocks) == pytest.approx(head.probabilities(blocks))


@pytest.mark.parametrize("word", ["It may be so, we think. ", "A cup a day. ", "SHOCKING. "])
def test_a_text_longer_than_all_learned_from_is_judged_as_the_longest_of_them(word: str) -> None:
    long, longer = word * 400, word * 4_000  # of either the head reads the first 4,000 characters
    for first, second in (((POST.text, long), (POST.text, longer)), ((long, HELPFUL), (longer, HELPFUL))):
        chances = shipped_head(HELPFULNESS).probabilities(helpfulness_blocks([first, second]))
        assert chances[0] == pytest.approx(chances[1], abs=0.01)
        assert 0.001 < chances[0] < 0.999


def test_a_damaged_head_is_refused_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / HELPFULNESS).write_bytes(b"not weights")
    with pytest.raises(ModelFilesError, match="missing or damaged"):
        load_head(tmp_path / HELPFULNESS)


def test_a_head_that_holds_anything_but_plain_types_is_refused(tmp_path: Path) -> None:
    import skops.io

    skops.io.dump({"pipeline": Path("x"), "widths": {}, "means": {}, "embedder": ""}, tmp_path / HELPFULNESS)
    with pytest.raises(ModelFilesError, match="missing or damaged"):
        load_head(tmp_path / HELPFULNESS)


@pytest.mark.parametrize(
    ("note", "hosts"),
    [
        ("Words. https://www.CDC.gov/a https://x.com/b", ["cdc.gov", "x.com"]),
        ("Words. cdc.gov/a", []),
        ("https://[ broken", []),
    ],
)
def test_the_sites_of_a_note_are_its_links_hosts(note: str, hosts: list[str]) -> None:
    assert linked_hosts(note) == hosts


@pytest.mark.parametrize("name", [HELPFULNESS, OPINION])
def test_a_damaged_file_is_named_whatever_is_damaged_in_it(tmp_path: Path, name: str) -> None:
    whole, chance = (JUDGES / name).read_bytes(), random.Random(0)
    flipped = bytearray(whole)
    for _ in range(30):
        flipped[chance.randrange(len(flipped))] = chance.randrange(256)
    for content in (bytes(flipped), whole[: len(whole) // 2], whole[:100], b"", b"PK"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ModelFilesError, match=r"damaged"):
            load_head(tmp_path / name)
