"""The shipped heads: what they say of notes of our own, and that their files are the measured ones."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from crowdnotes.domain import GateStatus, Post, PrincipleName
from crowdnotes.embedding import MiniLMEmbedder
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.heads.grams import BUCKETS, letter_grams, word_grams
from crowdnotes.engines.local.heads.head import load_head
from crowdnotes.engines.local.heads.link_kinds import LinkKind, is_of_kind, linked_hosts
from crowdnotes.engines.local.heads.note_features import note_features
from crowdnotes.engines.local.heads.pair_features import pair_features
from crowdnotes.engines.local.heads.shipped import HELPFULNESS, JUDGES, helpfulness_head
from crowdnotes.errors import ModelFilesError
from crowdnotes.settings import GateSettings
from crowdnotes.studies.judge_files import read_held_out
from crowdnotes.studies.measures import area_under_curve, macro_f1
from tests.engines.local.made import AWKWARD_TEXTS

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


def test_the_pinned_helpfulness_figure_follows_from_the_held_out_verdicts_and_has_not_fallen() -> None:
    held_out = read_held_out("helpfulness")
    said = [bool(p >= 0.5) for p in held_out.probabilities]
    measured = macro_f1([bool(label) for label in held_out.labels], said)
    assert measured == pytest.approx(np.median(FIGURES["helpfulness"]["macro_f1_by_fold_set"]), abs=0.002)
    assert FIGURES["helpfulness"]["macro_f1"] >= 0.74
    assert FIGURES["helpfulness"]["auc"] >= 0.82


def test_the_pinned_opinion_figure_follows_from_the_held_out_verdicts_and_has_not_fallen() -> None:
    held_out = read_held_out("principles")
    newest = FIGURES["principles"]["newest_fifth"]
    measured = area_under_curve([bool(v) for v in held_out.labels[-newest:]], held_out.probabilities[-newest:])
    assert measured == pytest.approx(FIGURES["principles"]["auc_on_newest_fifth"], abs=0.002)
    assert FIGURES["principles"]["auc_on_newest_fifth"] >= 0.88


@pytest.mark.parametrize("name", ["own", "shared"])
def test_the_pinned_correctness_figures_have_not_fallen(name: str) -> None:
    assert FIGURES["correctness"][f"auc_{name}"] >= 0.85


@pytest.mark.model
def test_the_real_judges_tell_a_good_note_from_a_bad_one() -> None:
    engine = LocalEngine(MiniLMEmbedder(), GateSettings())
    good, bad = engine.helpfulness(POST, HELPFUL), engine.helpfulness(POST, UNHELPFUL)
    assert (good.status, bad.status) == (GateStatus.PASS, GateStatus.FAIL)
    opinions = {
        note: next(
            result.probability
            for result in engine.principles(POST, note, ())
            if result.principle is PrincipleName.NO_SPECULATION
        )
        for note in (HELPFUL, UNHELPFUL)
    }
    assert (opinions[HELPFUL] or 0) > 0.8 > 0.5 > (opinions[UNHELPFUL] or 1)


def test_a_note_without_a_link_fails_and_says_so(engine: LocalEngine) -> None:
    result = engine.helpfulness(POST, HELPFUL.split(" https", 1)[0])
    assert result.status is GateStatus.FAIL
    assert "no source link" in result.reason


def test_an_insult_fails_and_is_pointed_at(engine: LocalEngine) -> None:
    note = HELPFUL.replace("There is", "You idiot, there is")
    result = engine.helpfulness(POST, note)
    assert result.status is GateStatus.FAIL
    assert "idiot" in [note[f.span.start : f.span.end] for f in result.findings if f.span]


def test_another_embedding_model_is_said_to_leave_the_similarity_out(engine: LocalEngine) -> None:
    assert any("another embedding model" in finding.message for finding in engine.helpfulness(POST, HELPFUL).findings)


@pytest.mark.model
def test_opinion_that_no_word_list_holds_is_found_and_its_words_are_pointed_at() -> None:
    note = "The government should stop wasting money; these politicians only serve themselves and their rich friends."
    results = LocalEngine(MiniLMEmbedder(), GateSettings()).principles(POST, note, ())
    found = next(result for result in results if result.principle is PrincipleName.NO_SPECULATION)
    assert found.status is GateStatus.FAIL
    assert [note[f.span.start : f.span.end] for f in found.findings if f.span]


@pytest.mark.parametrize("text", AWKWARD_TEXTS)
def test_any_text_has_the_same_features_and_finite_ones(text: str) -> None:
    assert note_features(text).keys() == note_features("A note.").keys()
    assert pair_features(text, text).keys() == pair_features("A post.", "A note.").keys()
    assert np.isfinite([*note_features(text).values(), *pair_features(text, text).values()]).all()
    for grams in (word_grams(text), letter_grams(text)):
        assert len(grams.places) == len(grams.counts) == len(set(grams.places.tolist()))
        assert all(0 <= place < BUCKETS for place in grams.places)


def test_a_saved_head_gives_the_same_verdict(tmp_path: Path, engine: LocalEngine) -> None:
    helpfulness_head().save(tmp_path / HELPFULNESS)
    again = load_head(tmp_path / HELPFULNESS)
    assert again.features == helpfulness_head().features
    assert np.array_equal(again.grams["words"].weights, helpfulness_head().grams["words"].weights)


def test_a_damaged_head_is_refused_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / HELPFULNESS).write_bytes(b"not weights")
    with pytest.raises(ModelFilesError, match="missing or damaged"):
        load_head(tmp_path / HELPFULNESS)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.cdc.gov/a", LinkKind.AUTHORITY),
        ("https://x.com/a/status/1", LinkKind.SOCIAL),
        ("https://pubmed.ncbi.nlm.nih.gov/1", LinkKind.RESEARCH),
        ("https://en.wikipedia.org/wiki/A", LinkKind.ENCYCLOPEDIA),
    ],
)
def test_a_link_is_of_the_kind_its_host_tells(url: str, kind: LinkKind) -> None:
    (host,) = linked_hosts(f"Words. {url}")
    assert is_of_kind(host, kind)
    assert not is_of_kind("exampletwitter.com.evil.org", LinkKind.SOCIAL)
