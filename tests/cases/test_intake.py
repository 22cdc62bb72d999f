"""What a person brings: the post and its images, links, passages copied by hand."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow

from crowdnotes.cases import intake
from crowdnotes.cases.intake import Attachment, SearchScope, checked_urls, usable_urls
from crowdnotes.domain import Case, Claim, EvidenceSet, Mode, Post, SourceCategory, Span, StageName, StageRecord
from crowdnotes.engines import ImageReading, SearchPlan
from crowdnotes.errors import EngineError, InputError, StoreError, WorkflowError
from crowdnotes.settings import Settings
from crowdnotes.workspace import Workspace, open_workspace
from tests.cases.walk import Told, TopicEngine, gather, make_library, run
from tests.fakes import HashingEmbedder, LiveLinks, actor, make_case, make_evidence
from tests.shared import put_tables

AT = datetime(2026, 1, 2, tzinfo=UTC)
ANN = actor()
ZALGO = "H̷̢̛e̵͔͗ ̶c̶o̵m̸e̶s̶"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "The post is empty"),
        ("   \n\t ", "The post is empty"),
        ("\x00", "The post is empty"),
        ("x" * 100_000, r"100,000 characters.*25,000"),
    ],
    ids=["nothing", "spaces", "NUL", "longer than X allows"],
)
def test_an_empty_or_endless_post_is_refused_in_a_sentence(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        intake.checked_post(text, None)


@pytest.mark.parametrize("text", [ZALGO, "مرحبا بالعالم", "<script>alert(1)</script>", "a\u202eb", "👩‍👩‍👧"])
def test_unusual_text_is_kept_as_it_is(text: str) -> None:
    assert intake.checked_post(text, None).text == text


def test_changing_the_post_puts_the_old_evidence_on_record() -> None:
    case = make_case(evidence=(make_evidence(1),))
    post = intake.checked_post("Another claim", None)
    changed = intake.change_post(case, AT, ANN, post)
    assert changed.evidence == ()
    assert changed.earlier_evidence == (EvidenceSet(at=AT, why="the post was changed", evidence=case.evidence),)
    assert changed.events[-1].detail == case.post.text


def test_new_links_make_reading_run_again_but_not_the_search() -> None:
    stages = tuple(
        StageRecord(name=name, finished_at=AT, seconds=1, summary="", engine="local")
        for name in (StageName.QUERIES, StageName.SEARCH, StageName.READ, StageName.PASSAGES)
    )
    case = make_case(mode=Mode.AUTOMATION, libraries=("med",), stages=stages)
    more = intake.change_sources(case, AT, ANN, SearchScope(Mode.AUTOMATION, ("https://a.org/",), ("med",)))
    assert [stage.name for stage in more.stages] == [StageName.QUERIES, StageName.SEARCH]
    other = intake.change_sources(case, AT, ANN, SearchScope(Mode.AUTOMATION, libraries=("news",)))
    assert other.stages == ()


def test_another_cutoff_makes_the_search_run_again_and_is_told_in_the_audit_trail() -> None:
    stage = StageRecord(name=StageName.SEARCH, finished_at=AT, seconds=1, summary="", engine="local")
    case = make_case(mode=Mode.AUTOMATION, libraries=("med",), stages=(stage,), evidence=(make_evidence(1),))
    places = SearchScope(Mode.AUTOMATION, libraries=("med",), until=date(2024, 3, 5))
    bound = intake.change_sources(case, AT, ANN, places)
    assert bound.until == date(2024, 3, 5)
    assert bound.stages == ()
    assert bound.events[-1].detail.endswith("up to 2024-03-05")
    assert bound.earlier_evidence == (EvidenceSet(at=AT, why="another search", evidence=case.evidence),)


def test_a_passage_copied_by_hand_says_so_and_is_taken_once() -> None:
    item = intake.passage_by_hand("https://paywalled.example.org/a", "", "The words that matter.", {})
    case = intake.add_evidence(make_case(evidence=(make_evidence(1),)), AT, ANN, item)
    assert case.evidence[1].id == "E2"
    assert "by hand" in case.evidence[1].source.outcome_detail
    assert intake.add_evidence(case, AT, ANN, item) is case


def test_of_a_passage_copied_by_hand_the_sentence_nearest_to_the_post_and_to_each_claim_is_marked() -> None:
    case = make_case()
    said = f"An opening without it. {case.post.text.rstrip('.!?')}, they say. An end."
    (item,) = intake.add_evidence(case, AT, ANN, intake.passage_by_hand(None, "", said, {})).evidence
    (mark,) = item.passage.marks
    assert said[mark.start : mark.end].endswith("they say.")
    paid = Claim(text="This drink", span=Span(start=0, end=10), statement="The minister was paid.")
    said += " No minister was paid."
    copied = intake.passage_by_hand(None, "", said, {})
    (item,) = intake.add_evidence(make_case(claims=(paid,)), AT, ANN, copied).evidence
    assert [said[at.start : at.end] for at in item.passage.marks][1:] == ["No minister was paid."]
    other = intake.passage_by_hand(None, "", "Zebras graze.", {})
    assert intake.add_evidence(case, AT, ANN, other).evidence[0].passage.marks == ()


def test_a_passage_copied_by_hand_is_tidied_as_pages_are_but_keeps_its_lines_and_the_cells_of_its_table() -> None:
    prose = "\u202eThe\u200b words  \u00a0 that\r\n\r\n\r\n\r\nmatter.\x00  \n"
    pasted = f"{prose}\tYear\t\t1  000 \n{' ' * 30_000}2024\t12 3\t\n"
    item = intake.passage_by_hand(None, "", pasted, {})
    assert item.passage.text == "The words that\n\nmatter.\nYear\t\t1 000\n2024\t12 3"
    assert item.passage.span.end == item.source.characters == len(item.passage.text)


def test_a_passage_is_measured_before_anything_is_made_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "_tidy_pasted_text", lambda text: pytest.fail("it was tidied"))
    with pytest.raises(InputError, match="2,000,000 characters"):
        intake.passage_by_hand(None, "", "\t" * 2_000_000, {})


@pytest.mark.parametrize(
    ("url", "text", "says"),
    [
        (None, "  ", "text is empty"),
        (None, "\u200b\t\u2060 \n", "text is empty"),
        ("https://www.example.org/", "The words that matter.", "home page"),
    ],
    ids=["spaces", "invisible characters alone", "a home page is no evidence by hand either"],
)
def test_a_passage_copied_by_hand_needs_words_and_a_page(url: str | None, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        intake.passage_by_hand(url, "", text, {})


@pytest.mark.parametrize(
    ("places", "why"),
    [
        (SearchScope(Mode.AUGMENTATION), "Which source should we read?"),
        (SearchScope(Mode.AUGMENTATION, libraries=("med",), services=("wikipedia",)), "Which source should we read?"),
        (SearchScope(Mode.AUTOMATION, urls=("https://a.org/",)), "Where should we search?"),
        (SearchScope(Mode.AUGMENTATION, urls=("https://a.org/",)), None),
        (SearchScope(Mode.AUTOMATION, libraries=("med",)), None),
        (SearchScope(Mode.AUTOMATION, services=("wikipedia",)), None),
    ],
)
def test_there_is_somewhere_to_look_with_links_to_read_or_with_something_to_search(
    places: SearchScope, why: str | None
) -> None:
    nowhere = intake.missing_scope_error(places)
    assert (nowhere.message if nowhere else None) == why


def test_a_passage_copied_by_hand_has_the_kind_that_the_user_gave_its_host() -> None:
    own = {"mysite.org": SourceCategory.RESEARCH}
    item = intake.passage_by_hand("https://mysite.org/a", "", "The words that matter.", own)
    assert item.source.category is SourceCategory.RESEARCH
    assert item.source.by_hand


@pytest.mark.parametrize("url", ["https://x.com/a/status/1", "mobile.twitter.com/a/status/1", "https://demo.example/1"])
def test_the_address_of_a_post_on_x_is_taken(url: str) -> None:
    assert intake.checked_post("A claim.", url).url == (url if "://" in url else f"https://{url}")


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
        intake.checked_post("A claim.", url)


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "https://[::1",
        "ftp://a.org/x",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://a b.org",
        "https://a.org:x",
    ],
)
def test_a_malformed_link_is_refused_in_a_sentence(url: str) -> None:
    with pytest.raises(InputError, match=r"“.*” is not (a web|an http)"):
        checked_urls([url])


def test_links_are_completed_and_taken_once() -> None:
    assert checked_urls(["a.org/x", " https://a.org/x ", "", "localhost.org:8080/y"]) == (
        "https://a.org/x",
        "https://localhost.org:8080/y",
    )


def test_of_pasted_lines_the_good_ones_are_taken_and_each_bad_one_says_why() -> None:
    urls, refused = usable_urls(["a.org/x", "see this page", "hello", "ftp://a.org", " https://a.org/x ", "b.org"])
    assert urls == ("https://a.org/x", "https://b.org")
    assert [(item.line, item.why.message) for item in refused] == [
        ("see this page", "“see this page” is not a web address."),
        ("hello", "“hello” is not a web address."),
        ("ftp://a.org", "“ftp://a.org” is not an http or https address."),
    ]


def test_an_endless_line_is_no_link() -> None:
    urls, (refused,) = usable_urls(["a:" + "." * 1_000_000])
    assert urls == ()
    assert refused.why.message.endswith("…” is too long for a web address.")


def test_links_past_the_most_a_case_takes_are_refused_one_by_one() -> None:
    urls, refused = usable_urls([f"a.org/{number}" for number in (*range(22), 3)])
    assert len(urls) == 20
    assert [item.line for item in refused] == ["a.org/20", "a.org/21"]
    assert "A case takes 20 links" in refused[0].why.message
    assert checked_urls(urls) == urls


@given(st.text(max_size=60))
def test_any_text_as_a_link_is_taken_or_refused_never_a_crash(text: str) -> None:
    with suppress(InputError):
        for url in checked_urls([text]):
            assert url.lower().startswith(("http://", "https://"))


def picture(colour: str = "navy") -> bytes:
    out = io.BytesIO()
    Pillow.new("RGB", (30, 20), colour).save(out, "PNG")
    return out.getvalue()


class _Watching(TopicEngine):
    """Keeps the posts that it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.posts: list[Post] = []
        self.unreadable: bytes | None = None
        self.reading = ImageReading(text="THE KETTLE MAKES PEOPLE ILL", shows="A kettle.")

    def read_image(self, content: bytes, media_type: str) -> ImageReading:
        if content == self.unreadable:
            raise EngineError("The picture is blurred.")
        return super().read_image(content, media_type)

    def plan(self, post: Post, limit: int, today: date, places: Sequence[str] = ()) -> SearchPlan:
        self.posts.append(post)
        return super().plan(post, limit, today, places)


@pytest.fixture
def watching() -> _Watching:
    return _Watching()


@pytest.fixture
def workspace(tmp_path: Path, watching: _Watching) -> Iterator[Workspace]:
    settings = Settings(data_dir=tmp_path / "data", database_url=None)
    put_tables(settings.data_dir / "crowdnotes.sqlite")
    with open_workspace(settings, embedder=HashingEmbedder(), engine=watching, links=LiveLinks()) as workspace:
        workspace.libraries.add(make_library(tmp_path), "topics")
        yield workspace


def _new(workspace: Workspace, *attached: Attachment) -> Case:
    return intake.create_case(
        workspace.cases, "They never tell you this!", mode=Mode.AUTOMATION, libraries=["topics"], attached=attached
    )


def test_an_engine_that_sees_reads_the_image_before_it_thinks_of_searches(
    workspace: Workspace, watching: _Watching
) -> None:
    case = _new(workspace, Attachment(picture(), "kettle.png"))
    job = run(workspace, case.id, "gather", workspace.stages.gather_steps(case.id))
    assert [step.name for step in job.steps][:2] == ["images", "queries"]
    case = workspace.cases.get(case.id)
    [image] = case.post.images
    assert (image.text, image.shows, image.read_by) == ("THE KETTLE MAKES PEOPLE ILL", "A kettle.", "scripted")
    assert [post.text for post in watching.posts] == [case.post.whole_text]
    assert case.claims[0].span.end == len(case.post.whole_text)
    assert "kettle" in case.evidence[0].passage.text
    again = run(workspace, case.id, "gather", workspace.stages.gather_steps(case.id))
    assert "images" not in [step.name for step in again.steps]


def test_an_image_that_the_engine_cannot_read_is_left_for_a_person_and_the_job_goes_on(
    workspace: Workspace, watching: _Watching
) -> None:
    case = _new(workspace, Attachment(picture("navy"), "blurred.png"), Attachment(picture("red"), "clear.png"))
    watching.unreadable = workspace.cases.image(case.id, case.post.images[0].sha256)
    job = run(workspace, case.id, "gather", workspace.stages.gather_steps(case.id))
    assert "blurred.png: The picture is blurred." in job.steps[0].summary
    case = workspace.cases.get(case.id)
    assert [image.read_by for image in case.post.images] == ["", "scripted"]
    assert case.evidence
    assert "image not read" in [event.kind for event in case.events]


def test_an_engine_without_eyes_is_not_asked(workspace: Workspace, watching: _Watching) -> None:
    watching.sees = False
    case = _new(workspace, Attachment(picture(), "kettle.png"))
    job = run(workspace, case.id, "gather", workspace.stages.gather_steps(case.id))
    assert "images" not in [step.name for step in job.steps]


def test_what_a_person_types_comes_with_the_post_and_is_searched_for(workspace: Workspace, watching: _Watching) -> None:
    case = _new(workspace, Attachment(picture(), "kettle.png", text="The kettle makes people ill"))
    assert case.post.images[0].read_by == "person"
    job = run(workspace, case.id, "gather", workspace.stages.gather_steps(case.id))
    assert "images" not in [step.name for step in job.steps]
    assert "The kettle makes people ill" in watching.posts[0].text


def test_other_words_in_an_image_put_the_evidence_on_record(workspace: Workspace) -> None:
    before = gather(workspace, _new(workspace, Attachment(picture(), "kettle.png")).id)
    other = (before.post.images[0].sha256, "The lantern makes people ill", "")
    case = workspace.cases.apply(before.id, intake.describe_image, *other)
    assert (case.evidence, case.stages) == ((), ())
    assert case.earlier_evidence[-1].evidence == before.evidence
    assert case.post.images[0].read_by == "person"
    assert "lantern" in gather(workspace, case.id).evidence[0].passage.text


def test_words_that_change_while_the_program_searches_are_not_answered_by_the_old_search(workspace: Workspace) -> None:
    cases = workspace.cases
    case = _new(workspace, Attachment(picture(), "kettle.png", text="The kettle makes people ill"))
    sha256 = case.post.images[0].sha256
    queries, *rest = workspace.stages.gather_steps(case.id)
    # The check comes when the queries are there and not yet saved.
    meanwhile = Told(lambda: cases.apply(case.id, intake.describe_image, sha256, "The lantern does", ""))
    with pytest.raises(WorkflowError, match="The post changed"):
        queries.run(meanwhile)
    assert StageName.QUERIES not in {stage.name for stage in cases.get(case.id).stages}
    assert rest


def test_attaching_alone_changes_nothing_that_was_found_and_taking_off_words_does(workspace: Workspace) -> None:
    cases = workspace.cases
    case = _new(workspace, Attachment(picture(), "kettle.png", text="The kettle makes people ill"))
    evidence = gather(workspace, case.id).evidence
    attached = intake.attach_image(cases, case.id, picture("red"), "red.png")
    assert len(attached.post.images) == 2
    assert attached.evidence == evidence
    assert intake.attach_image(cases, case.id, picture("red"), "again.png") == attached
    assert cases.apply(case.id, intake.remove_image, attached.post.images[1].sha256).evidence == evidence
    bare = cases.apply(case.id, intake.remove_image, attached.post.images[0].sha256)
    assert (bare.post.images, bare.evidence) == ((), ())


def test_an_image_stays_when_the_posts_words_are_edited_takes_no_book_and_its_bytes_go_with_the_case(
    workspace: Workspace,
) -> None:
    cases = workspace.cases
    case = _new(workspace, Attachment(picture(), "kettle.png"))
    sha256 = case.post.images[0].sha256
    assert intake.edit_post(cases, case.id, "Other words.").post.images == case.post.images
    with pytest.raises(InputError, match="100,000 characters"):
        cases.apply(case.id, intake.describe_image, sha256, "x" * 100_000, "")
    with pytest.raises(InputError, match="image is gone"):
        cases.apply(case.id, intake.describe_image, "0" * 64, "words", "")
    assert cases.image(case.id, sha256).startswith(b"\x89PNG")
    cases.delete(case.id)
    with pytest.raises(StoreError, match="no longer have this image"):
        workspace.store.image(sha256)


def test_a_post_takes_four_images(workspace: Workspace) -> None:
    files = [Attachment(picture(colour), f"{colour}.png") for colour in ("red", "green", "blue", "white", "black")]
    with pytest.raises(InputError, match="at most 4 images"):
        _new(workspace, *files)
    assert workspace.cases.find() == []
    case = _new(workspace, *files[:4], files[0])
    assert [image.name for image in case.post.images] == ["red.png", "green.png", "blue.png", "white.png"]
    with pytest.raises(InputError, match="at most 4 images"):
        intake.attach_image(workspace.cases, case.id, files[4].content, "black.png")


def test_an_image_taken_off_while_another_is_read_is_passed_over(
    workspace: Workspace, watching: _Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_image(content: bytes, media_type: str) -> ImageReading:
        for image in workspace.cases.get(case.id).post.images[1:]:
            workspace.cases.apply(case.id, intake.remove_image, image.sha256)
        return watching.reading

    monkeypatch.setattr(watching, "read_image", read_image)
    case = _new(workspace, Attachment(picture("navy"), "first.png"), Attachment(picture("red"), "second.png"))
    job = run(workspace, case.id, "gather", workspace.stages.gather_steps(case.id))
    assert job.steps[0].summary == "1 of 1 read"
    assert [image.read_by for image in workspace.cases.get(case.id).post.images] == ["scripted"]


@pytest.mark.parametrize("mode", Mode)
def test_a_case_to_gather_for_with_nowhere_to_look_is_never_written(workspace: Workspace, mode: Mode) -> None:
    cases, attached = workspace.cases, [Attachment(picture(), "a.png")]
    with pytest.raises(InputError, match=r"Where should we search|Which source should we read"):
        intake.create_case(cases, "A post.", mode=mode, attached=attached, to_gather=True)
    assert cases.find() == []
    case = intake.create_case(cases, "A post.", mode=mode, attached=attached)
    assert cases.image(case.id, case.post.images[0].sha256)


def test_a_posts_address_tells_when_it_was_written() -> None:
    post = intake.checked_post("A claim.", "https://x.com/a/status/1354870745806086150")
    assert str(post.posted_at).startswith("2021-01-28 19:15:32")
    for early in ("https://x.com/a/status/20", "https://x.com/a/status/" + "9" * 40, None):
        assert intake.checked_post("A claim.", early).posted_at is None
    case = make_case(post=intake.checked_post("A claim.", None))
    assert intake.change_post(case, AT, ANN, post).post.posted_at == post.posted_at
