"""What takes a candidate out, in which order, and what could not be judged."""

from __future__ import annotations

from datetime import UTC, datetime

from crowdnotes.domain import (
    Candidate,
    Evidence,
    FilterName,
    Finding,
    GateStatus,
    LinkCheck,
    LinkState,
    PrincipleName,
    PrincipleResult,
    Quotation,
    Span,
)
from crowdnotes.engines import NoteSentence, ResultOrigin
from crowdnotes.notes.candidates import build_candidate
from crowdnotes.notes.ranking import filtered
from tests.fakes import make_evidence
from tests.notes.made import NOTES, candidate, round_of

URLS = ("https://news.example.org/photo", "https://police.example.org/day", "https://city.example.org/mayor")


def _principles(text: str) -> tuple[PrincipleResult, ...]:
    """ "vile" is not neutral, "perhaps" a guess, and "xx" cannot be judged."""
    found = []
    for name, word in ((PrincipleName.NEUTRAL, "vile"), (PrincipleName.NO_SPECULATION, "perhaps")):
        bad = (Finding(message=f"“{word}” is at fault."),) if word in text else ()
        status = GateStatus.FAIL if bad else GateStatus.NOT_RUN if "xx" in text else GateStatus.PASS
        found.append(PrincipleResult(principle=name, status=status, reason="", findings=bad))
    return tuple(found)


def _links(*states: LinkState, status: int | None = 200) -> list[LinkCheck]:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        LinkCheck(url=url, state=state, status=status, checked_at=at, tries=1)
        for url, state in zip(URLS, states, strict=False)
    ]


def _one(item: Candidate, *links: LinkCheck, evidence: tuple[Evidence, ...] = ()) -> Candidate:
    return filtered([item], NOTES, links, evidence, _principles)[0]


def test_each_filter_takes_out_what_it_should_and_says_why() -> None:
    live = _links(LinkState.LIVE, LinkState.DEAD, status=404)
    words = "The photo was taken in Brazil."
    told = {
        FilterName.LENGTH: candidate(("word " * 70, "N1")),
        FilterName.OWN_LINKS: candidate((words, "N1"), text=f"{words} https://evil.example/1"),
        FilterName.LIVE_LINKS: candidate(("Police said so.", "N2")),
        FilterName.NEUTRAL: candidate(("A vile lie, perhaps.", "N1")),
        FilterName.NO_OPINION: candidate(("It was perhaps so.", "N1")),
        None: candidate((words, "N1")),
    }
    found = filtered(list(told.values()), NOTES, live, (), _principles)
    assert [item.failed for item in found] == list(told)
    assert [bool(item.why) for item in found] == [True] * 5 + [False]
    assert "dead (404)" in found[2].why
    assert round_of(*found).funnel == (
        ("written", 6), ("280 characters", 5), ("only links of the notes", 4), ("every link answers", 3),
        ("neutral words", 2), ("no opinion or speculation", 1), ("the linked pages say it", 1),
    )  # fmt: skip


def test_what_could_not_be_judged_is_not_run_and_not_passed_silently() -> None:
    item = _one(candidate(("xx stands here.", "N1")))
    assert item.failed is None
    assert set(item.not_run) == {
        FilterName.LIVE_LINKS, FilterName.NEUTRAL, FilterName.NO_OPINION, FilterName.SUPPORTED
    }  # fmt: skip
    no_network = _links(LinkState.UNREACHABLE, LinkState.UNREACHABLE, status=None)
    assert FilterName.LIVE_LINKS in _one(candidate(("So it is.", "N1")), *no_network).not_run


def _of_model(*carriers: Quotation, note: str = "N1", evidence: tuple[Evidence, ...]) -> Candidate:
    said = NoteSentence("The photo is from Brazil.", (note,), carriers)
    return build_candidate([said], NOTES, evidence, ResultOrigin("llm:m", "1"))


def test_a_models_sentence_needs_words_of_the_page_where_one_was_read() -> None:
    page = (make_evidence(1, "Taken in Brazil in 2019.", URLS[0]),)
    words, nothing = (
        Quotation(evidence_id="E1", span=Span(start=0, end=15)),
        Quotation(evidence_id="E1", span=Span(start=6, end=8)),
    )
    carried = _one(_of_model(words, evidence=page), evidence=page)
    assert (carried.failed, FilterName.SUPPORTED in carried.not_run) == (None, False)
    for bare in (_of_model(evidence=page), _of_model(nothing, evidence=page)):
        assert _one(bare, evidence=page).failed is FilterName.SUPPORTED
    unread = _one(_of_model(note="N2", evidence=page), evidence=page)
    assert (unread.failed, FilterName.SUPPORTED in unread.not_run) == (None, True)
    by_hand = _one(candidate(("The photo was taken in Brazil.", "N1")), evidence=page)
    assert FilterName.SUPPORTED in by_hand.not_run, "without a model nobody compared them"
