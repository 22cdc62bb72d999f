"""How a search ended, told place by place: what failed, was stopped or found nothing, and what checkers say."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crowdnotes.cases import approval, case_findings, intake
from crowdnotes.domain import (
    Claim,
    ClaimMatch,
    DecisionKind,
    FactCheck,
    FetchOutcome,
    FollowUpKind,
    FollowUpSearch,
    Mode,
    ProviderOutcome,
    ProviderState,
    Query,
    Source,
    Span,
)
from crowdnotes.errors import JobError
from crowdnotes.jobs.records import Progress, plain_step
from pages.draft_parts import more_evidence
from tests.pages.conftest import PASSAGE, POST, Desk, press, texts, titles, unfolded
from tests.pages.searches import CHECK, FOUND, searched
from tests.shared import PATIENCE

FAILED = ProviderOutcome(
    provider="pubmed", label="PubMed", state=ProviderState.FAILED, seconds=8.0, sentence="It did not answer."
)


NOTHING = FOUND.replace(found=0)


def test_what_was_asked_where_and_in_which_language_can_be_read_afterwards(desk: Desk) -> None:
    asked = (
        Query(text="vitamina C resfriado", purpose="the claim", language="es"),
        Query(text="vitamin C common cold", purpose="in English", language="en"),
    )
    library = FOUND.replace(provider="library:own", label="Library own")
    case = searched(desk, outcomes=(FOUND, FAILED, library), queries=asked)
    shown = texts(unfolded(desk.app(case), f"searches-{case.id}"))
    assert "Sent to Europe PMC. Perhaps not all of these words reached PubMed." in shown
    assert "Searched on this computer: Library own." in shown
    assert "“vitamina C resfriado” :gray[the claim · Spanish]" in shown
    assert "“vitamin C common cold” :gray[in English · English]" in shown


def test_each_place_is_told_with_what_it_found_or_why_it_failed(desk: Desk) -> None:
    case = searched(desk, outcomes=(FOUND, FAILED))
    at = desk.app(case)
    assert ":orange[1 of 2 places gave no answer]" in texts(at), "told before it is opened"
    shown = texts(unfolded(at, f"searches-{case.id}"))
    assert "Europe PMC: 4 found · 1.2 s" in shown
    assert "PubMed:** It did not answer." in shown


OTHER = CHECK.replace(provider="brave", title="Something else")
BLOCKED = Source(id="a", title="A page", url="https://a.example.org/x", outcome=FetchOutcome.BLOCKED)
READ = Source(id="b", title="A page", url="https://b.example.org/x", outcome=FetchOutcome.READ)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"outcomes": (NOTHING,)}, "We found nothing."),
        ({"outcomes": (NOTHING, FAILED)}, "We found nothing, and 1 of 2 places gave no answer."),
        ({"outcomes": (FOUND,), "hits": (OTHER,)}, "Nothing found helps to judge the post."),
        ({"outcomes": (FOUND,), "sources": (BLOCKED,)}, "No source could be read."),
        ({"outcomes": (FOUND,), "hits": (OTHER,), "sources": (BLOCKED,)}, "Nothing found helps to judge the post."),
        ({"outcomes": (FOUND,), "sources": (BLOCKED, READ)}, "We read 1 page. Nothing on it helps"),
    ],
)
def test_only_searches_that_all_answered_and_found_nothing_are_told_as_nothing_found(
    desk: Desk, found: dict[str, object], said: str
) -> None:
    shown = texts(desk.app(searched(desk, **found)))
    assert said in shown
    assert ("We found nothing." in shown) == (said == "We found nothing.")


def test_sources_that_were_chosen_but_not_searched_yet_say_so(desk: Desk) -> None:
    case = searched(desk, outcomes=(NOTHING,))
    desk.workspace.cases.apply(
        case.id, intake.set_sources, mode=Mode.AUTOMATION, urls=[], libraries=["med"], services=[], until=None
    )
    shown = texts(desk.app(case))
    assert "We found nothing." not in shown
    new = intake.create_case(desk.workspace.cases, POST, mode=Mode.AUTOMATION, services=["pubmed"])
    assert "We found nothing." not in texts(desk.app(new))


def test_a_search_that_was_stopped_is_not_told_as_nothing_found(desk: Desk) -> None:
    case = intake.create_case(desk.workspace.cases, POST, mode=Mode.AUTOMATION, services=["pubmed"])

    def stopped(progress: Progress) -> str:
        desk.workspace.runner.cancel(job.id)
        while True:
            progress.check()

    step = plain_step("search", "Search", stopped)
    ready = threading.Event()

    def waiting(progress: Progress) -> str:
        ready.wait(PATIENCE)
        return "ready"

    first = plain_step("queries", "Think", waiting)
    job = desk.workspace.runner.start(case.id, "gather", [first, step])
    ready.set()
    desk.finish(job.id)
    shown = texts(desk.app(case))
    assert "was stopped" in shown
    assert "We found nothing." not in shown


def test_a_fact_checker_that_any_service_found_is_named_with_its_rating(desk: Desk) -> None:
    known = CHECK.replace(provider="brave", url="https://www.snopes.com/fact-check/c/", rating="")
    rated = CHECK.replace(rating="False")
    shown = texts(desk.app(searched(desk, hits=(known, rated), outcomes=(FOUND,))))
    assert "rated: False" in shown
    assert "Snopes · 5 March 2024" in shown
    assert shown.index("rated: False") < shown.index("Snopes")


def test_what_a_check_claims_beyond_the_posts_claim_is_told_in_words(desk: Desk) -> None:
    claim = Claim(text="C", span=Span(start=0, end=1), statement="Vitamin C cures colds in days.")
    check = FactCheck(claim="Vitamin C cures colds in children in 3 days", verdict="False")
    case = searched(desk, hits=(CHECK.replace(check=check),), outcomes=(FOUND,), claims=(claim,))
    assert "Not in the post's claim: “children in 3”" in texts(desk.app(case)).replace("\\", "")


def test_a_person_says_in_one_click_which_claim_a_check_is_of_and_another_claims_check_goes_last(desk: Desk) -> None:
    second = CHECK.replace(url="https://checkers.example.org/d", title="On vitamin D")
    case = searched(desk, hits=(CHECK, second), outcomes=(FOUND,))
    at = desk.app(case)
    at.segmented_control(key=f"match-{case.id}-{CHECK.url}").set_value(ClaimMatch.OTHER).run()
    assert not at.exception
    found = desk.workspace.cases.get(case.id)
    assert found.claim_matches == {CHECK.url: ClaimMatch.OTHER}
    assert found.events[-1].detail == f"other claim: {CHECK.url}"
    assert [hit.title for hit, _ in case_findings.fact_checks(found)] == ["On vitamin D", CHECK.title]


def test_a_fact_check_by_others_stands_before_the_evidence(desk: Desk) -> None:
    case = searched(desk, hits=(OTHER, CHECK), outcomes=(FOUND,))
    shown = texts(unfolded(desk.app(case), f"searches-{case.id}"))
    assert "Fact-checks found" in shown
    assert "No, vitamin C does not cure colds" in shown
    assert "checkers.example.org · 5 March 2024" in shown
    assert "Something else" not in shown
    assert shown.index("Fact-checks found") < shown.index("Europe PMC: 4 found")


def test_what_the_archive_says_of_several_links_stands_once_above_them(desk: Desk) -> None:
    archive = "The Wayback Machine was asked for a copy: it did not answer."
    sources = tuple(
        Source(
            id=name,
            title="A page",
            url=f"https://{name}.example.org/x",
            outcome=FetchOutcome.BLOCKED,
            outcome_detail=f"The site {name} said no.",
            archive_detail=said,
        )
        for name, said in (("one", archive), ("two", archive), ("three", "The Wayback Machine has no copy."))
    )
    shown = texts(desk.app(searched(desk, sources=sources)))
    assert shown.count(archive) == 1
    assert f"{archive} (2 of these 3)" in shown
    assert "The site one said no." in shown
    assert "The site three said no. The Wayback Machine has no copy." in shown


@pytest.mark.parametrize("state", [ProviderState.FAILED, ProviderState.TIMED_OUT])
def test_where_no_service_could_be_reached_one_banner_says_so_with_a_library_that_answered_too(
    desk: Desk, state: ProviderState
) -> None:
    library = FOUND.replace(provider="library:own", label="Library own")
    other = FAILED.replace(provider="crossref", label="Crossref", state=state)
    unasked = NOTHING.replace(
        provider="wikidata", label="Wikidata", state=ProviderState.NOT_ASKED, sentence="The search words name nobody."
    )
    case = searched(desk, outcomes=(library, FAILED, other, unasked), queries=(Query(text="colds", purpose="it"),))
    at = desk.app(case)
    assert [(item.proto.title, item.value.split(".")[0]) for item in at.warning] == [
        ("2 of 3 places gave no answer.", "You seem to be offline")
    ]
    assert "Library own answered: 4 found. To search again, open “Find more sources”." in at.warning[0].value
    shown = texts(unfolded(at, f"searches-{case.id}"))
    assert "Wikidata: not asked (The search words name nobody.)" in shown
    assert "Perhaps not all of these words reached PubMed, Crossref. Searched on this computer" in shown
    desk.changed(case, outcomes=(FOUND, FAILED, other))
    assert "offline" not in texts(desk.app(case))


def test_a_place_that_failed_the_search_and_a_follow_up_search_alike_is_told_once(desk: Desk) -> None:
    case = searched(desk, outcomes=(FAILED,))
    other = FAILED.replace(provider="crossref", label="Crossref")
    look = FollowUpSearch(
        id="l1", kind=FollowUpKind.OTHER_SIDE, by="you", asked_at=case.created_at, services=("pubmed", "crossref")
    )
    ended = look.replace(outcomes=(FAILED, other), finished_at=datetime.now(UTC), outcome="Nothing new.")
    at = desk.app(desk.changed(case, follow_ups=(ended,)))
    shown = texts(unfolded(at, f"searches-{case.id}"))
    assert shown.count("PubMed:** It did not answer.") == 1
    assert shown.count("Crossref:** It did not answer.") == 1


def test_a_place_that_was_too_slow_can_be_asked_again_with_one_click(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr(more_evidence, "start", lambda _, kind: started.append(kind))  # nothing is sent
    slow = FAILED.replace(state=ProviderState.TIMED_OUT, sentence="It was not done within 12 seconds.")
    case = searched(desk, outcomes=(FOUND, slow), queries=(Query(text="vitamin c", purpose="the claim"),))
    at = unfolded(desk.app(case), f"searches-{case.id}")
    keys = [item.key for item in at.button if item.key and item.key.startswith("again-")]
    assert keys == [f"again-{case.id}-pubmed"]
    at.button(key=keys[0]).click().run()
    assert not at.exception
    (asked,) = desk.newest(case).follow_ups
    assert (asked.kind, asked.services, asked.about) == (FollowUpKind.AGAIN, ("pubmed",), "PubMed")
    assert started == ["follow_up"]


def test_after_a_failed_search_a_library_is_offered_and_the_message_goes_with_the_first_source(
    desk: Desk, tmp_path: Path
) -> None:
    def search(_: Progress) -> str:
        raise JobError("All 2 searches failed; you seem to be offline.", "Try again.")

    case = intake.create_case(desk.workspace.cases, POST, mode=Mode.AUTOMATION, services=["pubmed"])
    desk.finish(desk.workspace.runner.start(case.id, "gather", [plain_step("search", "Search", search)]).id)
    at = desk.app(case)
    assert "Finding sources failed." in titles(at)
    assert "Only your own links" not in texts(at)
    assert "Add a library: it works offline" in texts(at)
    table = tmp_path / "health.csv"
    table.write_text("title,text\nColds,Vitamin C does not prevent colds in most people who take it.\n")
    desk.workspace.libraries.add(table, "health")
    at = press(at.run(), "Search your library health: it works offline")
    desk.finish_latest(case, at)
    assert desk.newest(case).libraries == ("health",)

    other = intake.create_case(desk.workspace.cases, POST, mode=Mode.AUTOMATION, services=["pubmed"])
    desk.finish(desk.workspace.runner.start(other.id, "gather", [plain_step("search", "Search", search)]).id)
    intake.add_passage_by_hand(desk.workspace.cases, other.id, url=None, title="Colds", text=PASSAGE)
    at = desk.app(other)
    assert titles(at) == []
    assert "works offline" not in texts(at)


def test_a_banner_that_one_is_offline_goes_once_a_person_decided_or_added_a_source(desk: Desk) -> None:
    other = FAILED.replace(provider="crossref", label="Crossref")
    case = searched(desk, outcomes=(FAILED, other))
    decided = searched(desk, outcomes=(FAILED, other))
    approval.decide_case(desk.workspace.cases, decided.id, DecisionKind.INSUFFICIENT_EVIDENCE)
    assert "We found nothing, and 2 of 2 places gave no answer." in texts(desk.app(decided))
    assert len(desk.app(case).warning) == 1
    intake.add_passage_by_hand(desk.workspace.cases, case.id, url=None, title="Colds", text=PASSAGE)
    assert "offline" not in texts(desk.app(case))
