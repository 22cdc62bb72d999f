from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import Claim, Evidence, Post, Source, Span, text_sha256
from crowdnotes.evidence.passages import ReadSource, best_passage, build_evidence, runs_of
from crowdnotes.text.sentences import split_sentences
from tests.fakes import HashingEmbedder
from tests.shared import minilm

FILLER = "The weather in the valley stayed mild for most of the long season. "
POST = "Vaccines cause heart inflammation in children"


def test_the_window_with_the_deciding_sentence_is_chosen_however_deep_it_lies_and_each_time_the_same() -> None:
    text = FILLER * 150 + "Heart inflammation after vaccines is rare in children. " + FILLER * 150
    passage = best_passage(text, POST, HashingEmbedder())
    assert "Heart inflammation after vaccines" in passage.text
    assert passage.span.start > 0
    assert any("Heart inflammation" in passage.text[mark.start : mark.end] for mark in passage.marks)
    assert best_passage(text, POST, HashingEmbedder()) == passage


def test_a_passage_begins_and_ends_with_a_sentence_and_a_label_stays_with_what_it_names() -> None:
    label = "Heart inflammation after vaccines, signs in children:\n"
    text = FILLER * 40 + "\n" + label + "- Pain in the chest.\n- Short breath.\n" + FILLER * 40
    passage = best_passage(text, POST, HashingEmbedder(), tokens=64, overlap=16)
    assert label + "- Pain in the chest." in passage.text
    before = text[: passage.span.start].rstrip()
    assert (before[-1:] or ".", passage.text[-1]) == (".", ".")


@pytest.mark.parametrize("tokens", range(8, 40))
def test_no_run_of_sentences_is_parted_from_its_label(tokens: int) -> None:
    text = "One two three.\nSigns\nPain in the chest.\nThe causes are:\n- A virus.\n- A blow.\nFour five six seven."
    starts = [start for start, _ in HashingEmbedder().token_spans(text)]
    for run in runs_of(text, split_sentences(text), starts, tokens):
        words = text[run.start : run.end]
        assert not words.endswith(("Signs", ":"))
        assert not words.startswith(("Pain", "- A virus"))


@given(st.text(), st.integers(1, 12))
def test_runs_are_in_order_lie_in_the_text_and_leave_no_sentence_out(text: str, tokens: int) -> None:
    starts = [start for start, _ in HashingEmbedder().token_spans(text)]
    sentences = split_sentences(text)
    runs = runs_of(text, sentences, starts, tokens)
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(runs))
    assert all(any(run.start < s.end and s.start < run.end for run in runs) for s in sentences)


def test_what_surrounds_the_passage_comes_with_it() -> None:
    text = FILLER * 60 + "Heart inflammation after vaccines is rare in children. " + FILLER * 60
    passage = best_passage(text, POST, HashingEmbedder(), tokens=64, overlap=16, surroundings=100)
    assert passage.before == text[passage.span.start - 100 : passage.span.start]
    assert passage.after == text[passage.span.end : passage.span.end + 100]


def test_a_short_source_is_its_own_passage_more_similar_on_the_subject_than_on_another() -> None:
    passage = best_passage("Vaccines rarely cause heart inflammation.", POST, HashingEmbedder())
    assert passage.text == "Vaccines rarely cause heart inflammation."
    assert (passage.before, passage.after) == ("", "")
    assert 0.3 < passage.similarity <= 1
    on = best_passage("Heart inflammation is rare in children after vaccines.", POST, HashingEmbedder())
    off = best_passage(FILLER, POST, HashingEmbedder())
    assert on.similarity > off.similarity


@pytest.mark.parametrize(
    ("text", "overlap", "says"), [("", 0, "empty"), ("   \n\t ", 0, "empty"), ("text", 10, "overlap")]
)
def test_an_empty_text_and_an_overlap_as_long_as_the_window_are_refused(text: str, overlap: int, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        best_passage(text, POST, HashingEmbedder(), tokens=10, overlap=overlap)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "word " * 200_000,
        "新冠疫苗不会改变人类的基因。" * 3000,
        "اللقاح آمن وفعال. " * 5000,
        "Z̸̢̛a̵l̶g̷o̸ " * 3000,
        "see https://example.org/a. " * 20_000,
        "<script>alert(1)</script>" * 2000,
    ],
    ids=["one giant word", "no stops", "no spaces", "right to left", "zalgo", "links", "script"],
)
def test_an_odd_text_gives_a_passage_of_bounded_size(text: str) -> None:
    passage = best_passage(text, POST, HashingEmbedder())
    assert passage.text == text[passage.span.start : passage.span.end]
    assert 0 < len(passage.text) < 40_000


@given(st.text(min_size=1), st.text(), st.integers(2, 12))
def test_text_span_and_marks_agree(text: str, post: str, tokens: int) -> None:
    if not HashingEmbedder().token_spans(text):
        return
    passage = best_passage(text, post, HashingEmbedder(), tokens=tokens, overlap=tokens // 3, surroundings=5)
    assert passage.text == text[passage.span.start : passage.span.end]
    assert -1 <= passage.similarity <= 1
    assert len(passage.before) <= 5
    assert len(passage.after) <= 5
    assert all(0 <= mark.start < mark.end <= len(passage.text) for mark in passage.marks)


@pytest.mark.deep
@pytest.mark.model
def test_the_real_model_finds_the_meaning_behind_other_words() -> None:
    text = FILLER * 10 + "Myocarditis following mRNA immunization is uncommon in adolescents. " + FILLER * 10
    passage = best_passage(text, "The covid jab is giving kids heart problems", minilm(), 128, 32)
    assert "Myocarditis" in passage.text
    assert any("Myocarditis" in passage.text[mark.start : mark.end] for mark in passage.marks)


ASKED = Post(text="Vaccines cause heart inflammation in children, and they hide it!")
ANSWER = "In the register of 2021 the rate was 12 in a million. "


def _read(number: int, text: str, *, url: str | None = None, snippet: str = "", in_library: bool = True) -> ReadSource:
    source = Source(
        id=f"s:{number}",
        title="A page",
        url=url,
        library="l" if in_library else None,
        record=number,
        text_sha256=text_sha256(text),
    )
    return ReadSource(source, text, "It gives the rate in a million.", snippet)


def _built(*read: ReadSource, claims: tuple[Claim, ...] = (), earlier: tuple[Evidence, ...] = ()) -> list[Evidence]:
    return list(build_evidence(ASKED, read, HashingEmbedder(), tokens=64, overlap=16, claims=claims, earlier=earlier))


def test_the_passage_holds_the_words_that_won_the_pick_and_not_only_what_is_most_like_the_post() -> None:
    text = FILLER * 20 + f"{ASKED.text} " + FILLER * 20 + ANSWER + FILLER * 20
    (without,) = _built(_read(1, text))
    (given,) = _built(_read(1, text, snippet=ANSWER.strip()))
    assert ASKED.text in without.passage.text
    assert ANSWER.strip() in given.passage.text
    assert given.passage.text == text[given.passage.span.start : given.passage.span.end]


def test_a_claim_finds_what_the_post_as_a_whole_is_less_like() -> None:
    text = FILLER * 20 + "Doctors report each case of myocarditis to the agency. " + FILLER * 20
    read = [_read(1, text)]
    claim = Claim(text="Doctors hide each case of myocarditis from the agency", span=Span(start=0, end=8))
    post = Post(text="Mild weather stayed in the valley for most of the season.")
    (without,) = build_evidence(post, read, HashingEmbedder(), tokens=64, overlap=16)
    (given,) = build_evidence(post, read, HashingEmbedder(), tokens=64, overlap=16, claims=[claim])
    assert "Doctors report" not in without.passage.text
    assert "Doctors report" in given.passage.text


def test_what_a_search_is_nearest_to_is_key_and_a_notice_never_is() -> None:
    answer = "The myocarditis register of 2021 counted twelve boys."
    notice = (
        "Images and logos of vaccines and children on this website may not be reprinted without written permission."
    )
    text = f"{ASKED.text} {FILLER}{answer} {FILLER}{notice}"
    found = [
        build_evidence(ASKED, [_read(1, text)], HashingEmbedder(), searches=searches)[0].passage
        for searches in ((), ("myocarditis register 2021 boys",))
    ]
    told = [[passage.text[span.start : span.end] for span in passage.key_sentences] for passage in found]
    assert told[0][0] == told[1][0] == ASKED.text
    assert told[1][1] == answer
    assert notice not in (*told[0], *told[1])
    assert not any(notice[:40] in found[0].text[mark.start : mark.end] for mark in found[0].marks)


def test_of_records_that_share_a_page_the_best_stays_and_another_that_answers_another_part() -> None:
    page = "https://a.example.org/heart"
    best = _read(1, "Vaccines rarely cause heart inflammation in children.", url=page)
    same = _read(2, "Heart inflammation in children is rare.", url=f"{page}#rare")
    other = _read(3, "Nothing is hidden: those who hide cases are fined.", url=page)
    elsewhere = _read(4, "Heart inflammation is rare.", url="https://b.example.org/")
    brought = _read(5, "Heart inflammation.", url=page, in_library=False)
    found = _built(best, same, other, elsewhere, brought)
    assert {item.source.record for item in found} == {1, 3, 4, 5}
    assert sorted(item.id for item in found) == ["E1", "E2", "E3", "E4"]
    (first,) = _built(best)
    assert [item.source.record for item in _built(best, same, earlier=(first,))] == [1]
    picked = replace(same, text=f"{same.text} Smoking is the main risk.", why="names the main risk", snippet="Smoking")
    assert len(_built(best, picked)) == 2  # it holds what it was picked for


def test_the_mark_stands_on_what_answers_and_on_the_rumour_only_where_there_is_nothing_else() -> None:
    rumour = "A post on Facebook claims that statins cause dementia in old people."
    answer = "Large trials found that statins do not cause dementia."

    def marked(text: str) -> list[str]:
        passage = best_passage(text, "Statins cause dementia in old people!", HashingEmbedder())
        return [passage.text[mark.start : mark.end] for mark in passage.marks]

    assert marked(f"{rumour} Fat travels with blood. {answer}") == [answer]
    assert marked(rumour) == [rumour]
    assert marked(f"{rumour} It was shared 80,000 times.") == [rumour]
    assert marked(f"{rumour} Nobody found any such link.") == ["Nobody found any such link."]
