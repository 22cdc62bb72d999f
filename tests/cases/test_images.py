"""Images of a post: kept clean, read by an engine that sees or by a person, and part of what the post says."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image as Pillow

from crowdnotes.cases.intake import Attachment
from crowdnotes.domain import Case, Claim, Mode, Post, StageName
from crowdnotes.engines import ImageReading
from crowdnotes.errors import EngineError, InputError, WorkflowError
from crowdnotes.settings import Settings
from crowdnotes.testing import HashingEmbedder, LiveLinks
from crowdnotes.workspace import Workspace, open_workspace
from tests.cases.walk import TopicEngine, make_library, run, small_workspace


def picture(colour: str = "navy") -> bytes:
    out = io.BytesIO()
    Pillow.new("RGB", (30, 20), colour).save(out, "PNG")
    return out.getvalue()


class _Watching(TopicEngine):
    """Keeps the posts that it was given; `sees` is what a test sets."""

    def __init__(self, *, sees: bool) -> None:
        super().__init__()
        self.sees = sees
        self.posts: list[Post] = []
        self.unreadable: bytes | None = None
        self.reading = ImageReading(text="THE KETTLE MAKES PEOPLE ILL", shows="A kettle.")

    def read_image(self, content: bytes, media_type: str) -> ImageReading:
        if content == self.unreadable:
            raise EngineError("The picture is blurred.")
        return super().read_image(content, media_type)

    def claims(self, post: Post) -> list[Claim]:
        self.posts.append(post)
        return super().claims(post)


def _workspace(folder: Path, engine: _Watching) -> Workspace:
    settings = Settings(data_dir=folder / "data", database_url=None)
    workspace = open_workspace(settings, embedder=HashingEmbedder(), engine=engine, links=LiveLinks())
    workspace.libraries.add(make_library(folder), "topics")
    return workspace


def _new(workspace: Workspace, *attached: Attachment) -> Case:
    return workspace.service.create(
        "They never tell you this!", mode=Mode.AUTOMATION, libraries=["topics"], by="ann", attached=attached
    )


def test_an_engine_that_sees_reads_the_image_before_it_thinks_of_searches(tmp_path: Path) -> None:
    engine = _Watching(sees=True)
    with _workspace(tmp_path, engine) as workspace:
        case = _new(workspace, Attachment(picture(), "kettle.png"))
        job = run(workspace, case.id, "gather", workspace.service.gather_steps(case.id))
        assert [step.name for step in job.steps][:2] == ["images", "queries"]
        case = workspace.service.get(case.id)
        [image] = case.post.images
        assert (image.text, image.shows, image.read_by) == ("THE KETTLE MAKES PEOPLE ILL", "A kettle.", "scripted")
        assert [post.text for post in engine.posts] == [case.post.whole_text]
        assert case.claims[0].span.end == len(case.post.whole_text)
        assert "kettle" in case.evidence[0].passage.text
        again = run(workspace, case.id, "gather", workspace.service.gather_steps(case.id))
        assert "images" not in [step.name for step in again.steps]


def test_an_image_that_the_engine_cannot_read_is_left_for_a_person_and_the_job_goes_on(tmp_path: Path) -> None:
    engine = _Watching(sees=True)
    with _workspace(tmp_path, engine) as workspace:
        case = _new(workspace, Attachment(picture("navy"), "blurred.png"), Attachment(picture("red"), "clear.png"))
        engine.unreadable = workspace.service.image(case.post.images[0].sha256)
        job = run(workspace, case.id, "gather", workspace.service.gather_steps(case.id))
        assert "blurred.png: The picture is blurred." in job.steps[0].summary
        case = workspace.service.get(case.id)
        assert [image.read_by for image in case.post.images] == ["", "scripted"]
        assert case.evidence
        assert "image not read" in [event.kind for event in case.events]


def test_an_engine_without_eyes_is_not_asked(tmp_path: Path) -> None:
    with _workspace(tmp_path, _Watching(sees=False)) as workspace:
        case = _new(workspace, Attachment(picture(), "kettle.png"))
        job = run(workspace, case.id, "gather", workspace.service.gather_steps(case.id))
        assert "images" not in [step.name for step in job.steps]


def test_what_a_person_types_comes_with_the_post_and_is_searched_for(tmp_path: Path) -> None:
    engine = _Watching(sees=True)
    with _workspace(tmp_path, engine) as workspace:
        case = _new(workspace, Attachment(picture(), "kettle.png", text="The kettle makes people ill"))
        assert case.post.images[0].read_by == "person"
        job = run(workspace, case.id, "gather", workspace.service.gather_steps(case.id))
        assert "images" not in [step.name for step in job.steps]
        assert "The kettle makes people ill" in engine.posts[0].text


def test_other_words_in_an_image_put_the_evidence_on_record(tmp_path: Path) -> None:
    with _workspace(tmp_path, _Watching(sees=True)) as workspace:
        service = workspace.service
        case = _new(workspace, Attachment(picture(), "kettle.png"))
        run(workspace, case.id, "gather", service.gather_steps(case.id))
        before = service.get(case.id)
        case = service.describe_image(case.id, before.post.images[0].sha256, "The lantern makes people ill", "", "ann")
        assert (case.evidence, case.stages) == ((), ())
        assert case.earlier_evidence[-1].evidence == before.evidence
        assert case.post.images[0].read_by == "person"
        run(workspace, case.id, "gather", service.gather_steps(case.id))
        assert "lantern" in service.get(case.id).evidence[0].passage.text


def test_words_that_change_while_the_program_searches_are_not_answered_by_the_old_search(tmp_path: Path) -> None:
    with _workspace(tmp_path, _Watching(sees=False)) as workspace:
        service = workspace.service
        case = _new(workspace, Attachment(picture(), "kettle.png", text="The kettle makes people ill"))
        queries, *rest = service.gather_steps(case.id)

        class _Progress:
            def count(self, done: int, total: int, note: str = "") -> None:
                return

            def check(self) -> None:  # called when the queries are there and not yet saved
                service.describe_image(case.id, case.post.images[0].sha256, "The lantern does", "", "bob")

        with pytest.raises(WorkflowError, match="post was changed"):
            queries.run(_Progress())
        assert StageName.QUERIES not in {stage.name for stage in service.get(case.id).stages}
        assert rest


def test_attaching_alone_changes_nothing_that_was_found_and_taking_off_words_does(tmp_path: Path) -> None:
    with _workspace(tmp_path, _Watching(sees=False)) as workspace:
        service = workspace.service
        case = _new(workspace, Attachment(picture(), "kettle.png", text="The kettle makes people ill"))
        run(workspace, case.id, "gather", service.gather_steps(case.id))
        evidence = service.get(case.id).evidence
        attached = service.attach_image(case.id, picture("red"), "red.png", "ann")
        assert len(attached.post.images) == 2
        assert attached.evidence == evidence
        assert service.attach_image(case.id, picture("red"), "again.png", "ann") == attached
        assert service.remove_image(case.id, attached.post.images[1].sha256, "ann").evidence == evidence
        bare = service.remove_image(case.id, attached.post.images[0].sha256, "ann")
        assert (bare.post.images, bare.evidence) == ((), ())


def test_an_edit_of_the_posts_words_keeps_its_images(tmp_path: Path) -> None:
    with _workspace(tmp_path, _Watching(sees=False)) as workspace:
        case = _new(workspace, Attachment(picture(), "kettle.png"))
        assert workspace.service.edit_post(case.id, "Other words.", "ann").post.images == case.post.images


def test_a_post_takes_four_images(tmp_path: Path) -> None:
    files = [Attachment(picture(colour), f"{colour}.png") for colour in ("red", "green", "blue", "white", "black")]
    with _workspace(tmp_path, _Watching(sees=False)) as workspace:
        with pytest.raises(InputError, match="at most 4 images"):
            _new(workspace, *files)
        assert workspace.service.list() == []
        case = _new(workspace, *files[:4], files[0])
        assert [image.name for image in case.post.images] == ["red.png", "green.png", "blue.png", "white.png"]
        with pytest.raises(InputError, match="at most 4 images"):
            workspace.service.attach_image(case.id, files[4].content, "black.png", "ann")


def test_the_bytes_go_with_the_case(tmp_path: Path) -> None:
    with _workspace(tmp_path, _Watching(sees=False)) as workspace:
        case = _new(workspace, Attachment(picture(), "kettle.png"))
        assert workspace.service.image(case.post.images[0].sha256).startswith(b"\x89PNG")
        workspace.service.delete(case.id)
        with pytest.raises(Exception, match="no longer kept"):
            workspace.service.image(case.post.images[0].sha256)


def test_words_of_a_book_and_an_image_that_is_gone_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with _workspace(tmp_path, _Watching(sees=False)) as workspace:
        case = _new(workspace, Attachment(picture(), "kettle.png"))
        with pytest.raises(InputError, match="100,000 characters"):
            workspace.service.describe_image(case.id, case.post.images[0].sha256, "x" * 100_000, "", "ann")
        with pytest.raises(InputError, match="no longer has this image"):
            workspace.service.describe_image(case.id, "0" * 64, "words", "", "ann")


def test_an_image_taken_off_while_another_is_read_is_passed_over(tmp_path: Path) -> None:
    class _Removing(_Watching):
        def read_image(self, content: bytes, media_type: str) -> ImageReading:
            for image in workspace.service.get(case.id).post.images[1:]:
                workspace.service.remove_image(case.id, image.sha256, "bob")
            return super().read_image(content, media_type)

    with _workspace(tmp_path, _Removing(sees=True)) as workspace:
        case = _new(workspace, Attachment(picture("navy"), "first.png"), Attachment(picture("red"), "second.png"))
        job = run(workspace, case.id, "gather", workspace.service.gather_steps(case.id))
        assert job.steps[0].summary == "1 of 1 read"
        assert [image.read_by for image in workspace.service.get(case.id).post.images] == ["scripted"]


@pytest.mark.parametrize("mode", Mode)
def test_a_case_to_gather_for_with_nowhere_to_look_is_never_written_nor_are_its_images(
    tmp_path: Path, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_workspace(tmp_path) as workspace:
        service, attached = workspace.service, [Attachment(picture(), "a.png")]
        written: list[str] = []
        for name in ("add", "put_image"):
            monkeypatch.setattr(service._store, name, lambda _, name=name: written.append(name))
        with pytest.raises(InputError, match=r"nothing to search|no source to read"):
            service.create("A post.", mode=mode, by="ann", attached=attached, to_gather=True)
        assert written == []
        service.create("A post.", mode=mode, by="ann", attached=attached)
        assert written == ["put_image", "add"]
