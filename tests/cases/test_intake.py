"""What comes into a case from a person."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from crowdnotes.cases import intake
from crowdnotes.cases.intake import Places
from crowdnotes.domain import EvidenceSet, Mode, SourceCategory, Stage, StageName
from crowdnotes.errors import InputError
from crowdnotes.testing import make_case, make_evidence

AT = datetime(2026, 1, 2, tzinfo=UTC)
ZALGO = "H̷̢̛e̵͔͗ ̶c̶o̵m̸e̶s̶"


@pytest.mark.parametrize("text", ["", "   \n\t ", "\x00"])
def test_an_empty_post_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match="The post is empty"):
        intake.checked_post(text, None, None, 25_000)


def test_a_post_longer_than_x_allows_is_refused_with_both_figures() -> None:
    with pytest.raises(InputError, match=r"100,000 characters.*25,000"):
        intake.checked_post("x" * 100_000, None, None, 25_000)


@pytest.mark.parametrize("text", [ZALGO, "مرحبا بالعالم", "<script>alert(1)</script>", "a\u202eb", "👩‍👩‍👧"])
def test_unusual_text_is_kept_as_it_is(text: str) -> None:
    assert intake.checked_post(text, None, None, 25_000).text == text


def test_changing_the_post_puts_the_old_evidence_on_record() -> None:
    case = make_case(evidence=(make_evidence(1),))
    post = intake.checked_post("Another claim", None, None, 25_000)
    changed = intake.change_post(case, post, "ann", AT)
    assert changed.evidence == ()
    assert changed.earlier_evidence == (EvidenceSet(at=AT, why="the post was changed", evidence=case.evidence),)
    assert changed.events[-1].detail == case.post.text


def test_new_links_make_reading_run_again_but_not_the_search() -> None:
    stages = tuple(
        Stage(name=name, finished_at=AT, seconds=1, summary="", engine="local")
        for name in (StageName.QUERIES, StageName.SEARCH, StageName.READ, StageName.PASSAGES)
    )
    case = make_case(mode=Mode.AUTOMATION, libraries=("med",), stages=stages)
    more = intake.change_sources(case, Places(Mode.AUTOMATION, ("https://a.org/",), ("med",)), "ann", AT)
    assert [stage.name for stage in more.stages] == [StageName.QUERIES, StageName.SEARCH]
    other = intake.change_sources(case, Places(Mode.AUTOMATION, libraries=("news",)), "ann", AT)
    assert other.stages == ()


def test_another_cutoff_makes_the_search_run_again_and_is_told_in_the_audit_trail() -> None:
    stage = Stage(name=StageName.SEARCH, finished_at=AT, seconds=1, summary="", engine="local")
    case = make_case(mode=Mode.AUTOMATION, libraries=("med",), stages=(stage,), evidence=(make_evidence(1),))
    places = Places(Mode.AUTOMATION, libraries=("med",), until=date(2024, 3, 5))
    bound = intake.change_sources(case, places, "ann", AT)
    assert bound.until == date(2024, 3, 5)
    assert bound.stages == ()
    assert bound.events[-1].detail.endswith("no later than 2024-03-05")
    assert bound.earlier_evidence == (EvidenceSet(at=AT, why="another search", evidence=case.evidence),)


def test_a_passage_copied_by_hand_says_so_and_is_taken_once() -> None:
    item = intake.passage_by_hand("https://paywalled.example.org/a", "", "The words that matter.", {})
    case = intake.add_evidence(make_case(evidence=(make_evidence(1),)), item, "ann", AT)
    assert case.evidence[1].id == "E2"
    assert "by hand" in case.evidence[1].source.outcome_detail
    assert intake.add_evidence(case, item, "ann", AT) is case
    with pytest.raises(InputError, match="passage is empty"):
        intake.passage_by_hand(None, "", "  ", {})


def test_a_passage_copied_by_hand_is_tidied_as_pages_are_but_keeps_its_lines_and_the_cells_of_its_table() -> None:
    prose = "\u202eThe\u200b words  \u00a0 that\r\n\r\n\r\n\r\nmatter.\x00  \n"
    pasted = f"{prose}\tYear\t\t1  000 \n{' ' * 30_000}2024\t12 3\t\n"
    item = intake.passage_by_hand(None, "", pasted, {})
    assert item.passage.text == "The words that\n\nmatter.\nYear\t\t1 000\n2024\t12 3"
    assert item.passage.span.end == item.source.characters == len(item.passage.text)


def test_a_passage_of_invisible_characters_alone_is_empty() -> None:
    with pytest.raises(InputError, match="passage is empty"):
        intake.passage_by_hand(None, "", "\u200b\t\u2060 \n", {})


@pytest.mark.parametrize(
    ("places", "why"),
    [
        (Places(Mode.AUGMENTATION), "There is no source to read."),
        (Places(Mode.AUGMENTATION, libraries=("med",), services=("wikipedia",)), "There is no source to read."),
        (Places(Mode.AUTOMATION, urls=("https://a.org/",)), "There is nothing to search."),
        (Places(Mode.AUGMENTATION, urls=("https://a.org/",)), None),
        (Places(Mode.AUTOMATION, libraries=("med",)), None),
        (Places(Mode.AUTOMATION, services=("wikipedia",)), None),
    ],
)
def test_there_is_somewhere_to_look_with_links_to_read_or_with_something_to_search(
    places: Places, why: str | None
) -> None:
    nowhere = intake.nowhere_to_look(places)
    assert (nowhere.message if nowhere else None) == why


def test_a_home_page_is_no_evidence_by_hand_either() -> None:
    with pytest.raises(InputError, match="home page"):
        intake.passage_by_hand("https://www.example.org/", "", "The words that matter.", {})


def test_a_passage_copied_by_hand_has_the_kind_that_the_user_gave_its_host() -> None:
    own = {"mysite.org": SourceCategory.RESEARCH}
    item = intake.passage_by_hand("https://mysite.org/a", "", "The words that matter.", own)
    assert item.source.category is SourceCategory.RESEARCH
    assert item.source.by_hand


@pytest.mark.parametrize("url", ["https://x.com/a/status/1", "mobile.twitter.com/a/status/1", "https://demo.example/1"])
def test_the_address_of_a_post_on_x_is_taken(url: str) -> None:
    assert intake.checked_post("A claim.", url, None, 100).url == (url if "://" in url else f"https://{url}")


@pytest.mark.parametrize(
    "url",
    [
        "https://www.cdc.gov/measles",
        "https://x.com.evil.org/a/status/1",
        "notx.com/a/status/1",
        "https://x.com/someone",
    ],
)
def test_another_address_than_one_on_x_is_refused_in_a_sentence(url: str) -> None:
    with pytest.raises(InputError, match="is not the address of a post on X"):
        intake.checked_post("A claim.", url, None, 100)
