"""Images of the post: attaching, taking off, and what each says, by a person or by an engine that sees.

What an image says is part of what the post says. When it changes, everything that was found and
written for the old words goes on record, as after an edit of the post.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from crowdnotes.cases.intake import replace_post
from crowdnotes.cases.store import Store
from crowdnotes.cases.workflow import PROGRAM, require_open, require_still_open, with_event
from crowdnotes.domain import Case, Image, Post
from crowdnotes.engines import Engine
from crowdnotes.errors import EngineError, InputError, StoreError
from crowdnotes.evidence.pictures import clean_picture
from crowdnotes.jobs import Progress, Step

MAX_IMAGES = 4  # as many as a post on X can have
MAX_WORDS = 5_000  # characters; a screenshot of a whole article is far below
PERSON = "person"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that comes with a post, and what a person says is in it."""

    content: bytes
    name: str
    text: str = ""
    shows: str = ""


def checked_image(given: Attachment) -> tuple[Image, bytes]:
    """The image and the bytes to keep; InputError for what is no picture, too large, or says too much."""
    picture = clean_picture(given.content, given.name)
    text, shows = _words(given.text), _words(given.shows)
    image = Image(
        sha256=hashlib.sha256(picture.content).hexdigest(),
        media_type=picture.media_type,
        name=" ".join(given.name.split())[:120] or "image",
        width=picture.width,
        height=picture.height,
        text=text,
        shows=shows,
        read_by=PERSON if text or shows else "",
    )
    return image, picture.content


def with_images(post: Post, images: tuple[Image, ...]) -> Post:
    """The post with the images behind those it has; the same picture twice counts once. InputError over four."""
    every = {image.sha256: image for image in (*images, *post.images)}
    ordered = dict.fromkeys(image.sha256 for image in (*post.images, *images))
    if len(ordered) > MAX_IMAGES:
        raise InputError(f"A post has at most {MAX_IMAGES} images.", "Take one off first.")
    return post.model_copy(update={"images": tuple(every[sha256] for sha256 in ordered)})


def attach(case: Case, image: Image, by: str, at: datetime) -> Case:
    """Add an image to the post; one that is there already changes nothing."""
    require_open(case)
    if _find(case, image.sha256) is not None:
        return case
    post = with_images(case.post, (image,))
    return replace_post(case, post, by, at, "image attached", f"{image.name} {image.sha256}")


def remove(case: Case, sha256: str, by: str, at: datetime) -> Case:
    """Take an image off the post; one that is gone already changes nothing."""
    require_open(case)
    image = _find(case, sha256)
    if image is None:
        return case
    left = tuple(other for other in case.post.images if other.sha256 != sha256)
    post = case.post.model_copy(update={"images": left})
    return replace_post(case, post, by, at, "image removed", f"{image.name} {sha256}")


def describe(case: Case, sha256: str, text: str, shows: str, by: str, at: datetime, *, read_by: str = PERSON) -> Case:
    """Say what can be read in an image and what it shows. InputError when it is gone or the words are too many."""
    require_open(case)
    image = _find(case, sha256)
    if image is None:
        raise InputError("The post no longer has this image.", "Attach it again.")
    said = image.model_copy(update={"text": _words(text), "shows": _words(shows), "read_by": read_by})
    if (said.text, said.shows) == (image.text, image.shows) and image.read_by:
        return case
    images = tuple(said if other.sha256 == sha256 else other for other in case.post.images)
    post = case.post.model_copy(update={"images": images})
    detail = f"{image.name} by {read_by}: {said.text} {said.shows}".rstrip()
    return replace_post(case, post, by, at, "image read", detail)


def unread(case: Case) -> tuple[Image, ...]:
    """The images that nobody and nothing has looked at."""
    return tuple(image for image in case.post.images if not image.read_by)


def reading_step(case_id: str, engine: Engine, store: Store, clock: Callable[[], datetime]) -> Step:
    """A step in which an engine that sees reads the images that nobody has read.

    One that cannot be read is told and left for a person, one that is taken off meanwhile is passed over; the
    others and the rest of the job go on.
    """

    def run(progress: Progress) -> str:
        waiting = unread(store.get(case_id))
        failed: list[str] = []
        gone = 0
        for number, image in enumerate(waiting):
            progress.count(number, len(waiting), image.name)
            try:
                reading = engine.read_image(store.image(image.sha256), image.media_type)
            except (EngineError, StoreError) as error:
                if _find(store.get(case_id), image.sha256) is None:
                    gone += 1
                    continue
                failed.append(f"{image.name}: {error.message}")
                store.update(case_id, _noted(clock, failed[-1]))
                continue
            text, shows = reading.text[:MAX_WORDS], reading.shows[:MAX_WORDS]
            store.update(case_id, _read(image.sha256, text, shows, clock, engine.name))
        told = f"{len(waiting) - gone - len(failed)} of {len(waiting) - gone} read"
        return f"{told}; type what the others say. {' '.join(failed)}" if failed else told

    def finished() -> str | None:
        return None if unread(store.get(case_id)) else "Read before"

    return Step(name="images", title="Read the images", run=run, finished=finished)


def _read(sha256: str, text: str, shows: str, clock: Callable[[], datetime], engine: str) -> Callable[[Case], Case]:
    def change(case: Case) -> Case:
        image = _find(case, sha256)
        if image is None or image.read_by:  # taken off, or described by a person, meanwhile
            return case
        require_still_open(case)
        return describe(case, sha256, text, shows, PROGRAM, clock(), read_by=engine)

    return change


def _noted(clock: Callable[[], datetime], detail: str) -> Callable[[Case], Case]:
    return lambda case: with_event(case, clock(), PROGRAM, "image not read", detail)


def _find(case: Case, sha256: str) -> Image | None:
    return next((image for image in case.post.images if image.sha256 == sha256), None)


def _words(text: str) -> str:
    text = text.replace("\x00", "").replace("\r\n", "\n").strip()
    if len(text) > MAX_WORDS:
        raise InputError(
            f"That is {len(text):,} characters; what an image says takes {MAX_WORDS:,}.", "Keep what the post claims."
        )
    return text
