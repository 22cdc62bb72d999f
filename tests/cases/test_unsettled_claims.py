"""Where nothing settles the claim: when it is so, what came nearest, and the links to look by hand."""

from __future__ import annotations

from datetime import UTC, date, datetime
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from crowdnotes.cases.unsettled_claims import manual_search_of
from crowdnotes.domain import (
    AnswerKind,
    Case,
    Claim,
    FetchOutcome,
    PassageAnswer,
    Review,
    Settlement,
    Source,
    Span,
    StageName,
    StageRecord,
    Verdict,
    text_sha256,
)
from tests.fakes import actor, make_case, make_evidence

NOW = datetime(2026, 5, 1, tzinfo=UTC)
ITEMS = (make_evidence(1, "Colds are common."), make_evidence(2, "Vitamin C was given to 11,306 people."))
CLAIM = Claim(text="vitamin C cures colds", span=Span(start=0, end=21), settled_by="A trial.")


def _case(*answers: AnswerKind, **changes: object) -> Case:
    found = tuple(
        PassageAnswer(evidence_id=item.id, passage_sha256=text_sha256(item.passage.text), answer=answer)
        for item, answer in zip(ITEMS, answers, strict=False)
    )
    settlement = Settlement(passages=found, missing="A large trial.", engine="llm") if answers else None
    stage = StageRecord(name=StageName.PASSAGES, finished_at=NOW, seconds=1.0, summary="", engine="local")
    case = make_case(evidence=ITEMS, claims=(CLAIM,))
    return case.replace(settlement=settlement, **{"stages": (stage,)} | changes)


def test_it_is_told_only_where_nothing_settles_the_claim() -> None:
    seen = Review(reader=actor().person, opened_at=NOW)
    kinds = (Verdict.BACKGROUND, Verdict.USE)
    background, used = ((seen.replace(verdict=verdict),) for verdict in kinds)
    judged = tuple(item.replace(reviews=background) for item in ITEMS)
    settled = [
        _case(AnswerKind.NONE, AnswerKind.STATED),
        _case(evidence=(judged[0], ITEMS[1])),  # nobody has said, and not all is judged
        _case(evidence=(judged[0], ITEMS[1].replace(reviews=used))),
        _case(AnswerKind.NONE, AnswerKind.NONE, stages=()),  # not looked for yet
    ]
    assert [manual_search_of(case, nothing_relevant=False) for case in settled] == [None] * 4
    assert manual_search_of(_case(evidence=(), stages=()), nothing_relevant=False, search_failed=True) is not None
    assert manual_search_of(_case(), nothing_relevant=True) is not None
    assert manual_search_of(_case(evidence=()), nothing_relevant=False) is not None
    assert manual_search_of(_case(evidence=judged), nothing_relevant=False) is not None, (
        "all was read, and none of it is of use"
    )


def test_the_nearest_passage_is_the_one_that_helps_to_conclude_it_and_what_is_missing_is_told() -> None:
    found = manual_search_of(_case(AnswerKind.NONE, AnswerKind.INFERRED), nothing_relevant=False)
    assert found is not None
    assert found.nearest == ITEMS[1]
    assert found.wanted == "A large trial."
    nothing = manual_search_of(_case(evidence=()), nothing_relevant=False)
    assert nothing is not None
    assert (nothing.nearest, nothing.wanted) == (None, "A trial.")


@pytest.mark.parametrize("words", ["vitamin C cures colds", "100% & more; #cure? ä/…", "a" * 4_000, "مرحبا يا عالم"])
def test_the_links_hold_the_claims_words_whatever_they_are(words: str) -> None:
    case = _case(claims=(CLAIM.replace(statement=words),), until=date(2024, 2, 3), evidence=())
    found = manual_search_of(case, nothing_relevant=False)
    assert found is not None
    links = dict(found.places)
    asked = parse_qs(urlsplit(links["Search the web"]).query)["q"][0]
    assert asked.endswith(" before:2024-02-03")
    assert words.startswith(asked.removesuffix(" before:2024-02-03"))
    path = unquote(urlsplit(links["Search fact-checks"]).path)
    assert asked.removesuffix(" before:2024-02-03") in path
    assert all(link.isascii() and " " not in link for link in links.values())


def test_the_archive_is_offered_for_a_public_page_that_could_not_be_read_and_never_for_a_private_one() -> None:
    def archive(*urls: str) -> str | None:
        gone = tuple(Source(id=url, title="", url=url, outcome=FetchOutcome.NOT_FOUND) for url in urls)
        found = manual_search_of(_case(evidence=(), sources=gone), ["wiki.company.org"], nothing_relevant=False)
        assert found is not None
        return dict(found.places).get("Archived copies of the unread page")

    assert archive("https://news.example.org/gone") == "https://web.archive.org/web/*/https://news.example.org/gone"
    assert archive("https://wiki.company.org/secret", "https://x.example.org/a?key=1", "http://10.0.0.1/") is None


def test_who_asks_is_told_where_else_to_look_even_where_something_settles_it() -> None:
    settled = _case(AnswerKind.NONE, AnswerKind.STATED)
    told = manual_search_of(settled, nothing_relevant=False, even_if_settled=True)
    assert told is not None
    assert told.places
    assert manual_search_of(_case(stages=()), nothing_relevant=False, even_if_settled=True) is None
