"""The passages of a case: where the words stand that won a source the pick, and one source a page."""

from __future__ import annotations

from crowdnotes.domain import Claim, Evidence, Post, Source, Span, text_sha256
from crowdnotes.evidence.building import ReadSource, build_evidence
from crowdnotes.settings import EvidenceSettings
from crowdnotes.testing import HashingEmbedder

POST = Post(text="Vaccines cause heart inflammation in children, and they hide it!")
FILLER = "The weather in the valley stayed mild for most of the long season. "
ABOUT = "Heart inflammation in children has many causes, and vaccines are asked about. "
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
    settings = EvidenceSettings(passage_tokens=64, passage_overlap=16)
    return list(build_evidence(POST, read, HashingEmbedder(), settings, claims=claims, earlier=earlier))


def test_the_passage_holds_the_words_that_won_the_pick_and_not_only_what_is_most_like_the_post() -> None:
    text = FILLER * 20 + ABOUT + FILLER * 20 + ANSWER + FILLER * 20
    (without,) = _built(_read(1, text))
    (given,) = _built(_read(1, text, snippet=ANSWER.strip()))
    assert ABOUT.strip() in without.passage.text
    assert ANSWER.strip() in given.passage.text
    assert given.passage.text == text[given.passage.span.start : given.passage.span.end]


def test_a_claim_finds_what_the_post_as_a_whole_is_less_like() -> None:
    text = FILLER * 20 + "Doctors report each case of myocarditis to the agency. " + FILLER * 20
    read = [_read(1, text)]
    claim = Claim(text="Doctors hide each case of myocarditis from the agency", span=Span(start=0, end=8))
    settings = EvidenceSettings(passage_tokens=64, passage_overlap=16)
    post = Post(text="Mild weather stayed in the valley for most of the season.")
    (without,) = build_evidence(post, read, HashingEmbedder(), settings)
    (given,) = build_evidence(post, read, HashingEmbedder(), settings, claims=[claim])
    assert "Doctors report" not in without.passage.text
    assert "Doctors report" in given.passage.text


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
