"""What a person puts into a case: the post and its images, the sources to read, passages copied by hand."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from urllib.parse import urlsplit

from crowdnotes.cases.actions import add_event, archive_evidence, with_event, with_revision
from crowdnotes.cases.cases import Cases
from crowdnotes.cases.permissions import requires
from crowdnotes.domain import (
    BY_HAND,
    MAX_IMAGES,
    Act,
    Actor,
    Case,
    Event,
    Evidence,
    Image,
    Mode,
    Passage,
    Person,
    Post,
    Source,
    SourceCategory,
    Span,
    StageName,
    text_sha256,
    time_of_id,
)
from crowdnotes.errors import InputError
from crowdnotes.evidence import images
from crowdnotes.evidence.demo_pages import is_demonstration_url
from crowdnotes.evidence.images import clean_picture
from crowdnotes.evidence.reading.plain_text import tidy_text
from crowdnotes.evidence.selection import reason_to_skip
from crowdnotes.evidence.source_types import categorise, publisher_of
from crowdnotes.text.boilerplate import split_evidence
from crowdnotes.text.languages import language_of
from crowdnotes.text.pasted import post_number
from crowdnotes.text.tokens import content_stems

MAX_POST_CHARACTERS = 25_000  # the longest post that X allows
_MAX_URLS = 20
_MAX_URL_CHARACTERS = 4_000
# Neither JSON nor PostgreSQL can carry these.
NEVER_IN_TEXT = re.compile(r"[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RefusedLink:
    """A line that is no usable link, as it was given, and why."""

    line: str
    why: InputError


def usable_urls(lines: Sequence[str]) -> tuple[tuple[str, ...], tuple[RefusedLink, ...]]:
    """Return the lines that can be links, each once, as `checked_urls` takes them; and the others with the reasons."""
    urls: dict[str, None] = {}
    refused: list[RefusedLink] = []
    for line in lines:
        try:
            url = checked_url(line)
        except InputError as why:
            refused.append(RefusedLink(line, why))
            continue
        if url not in urls and len(urls) == _MAX_URLS:
            many = f"A case takes {_MAX_URLS} links; “{shown(line)}” is one too many."
            refused.append(RefusedLink(line, InputError(many, "Keep the best ones.")))
        else:
            urls[url] = None
    return tuple(urls), tuple(refused)


def checked_urls(urls: Sequence[str]) -> tuple[str, ...]:
    """Return the URLs, each once, in order; InputError names the first that cannot be one, or is one too many."""
    taken, refused = usable_urls([url for url in urls if url.strip()])
    if refused:
        raise refused[0].why
    return taken


def checked_url(url: str) -> str:
    """Return the address with a scheme; InputError in a sentence when it cannot be one."""
    given = NEVER_IN_TEXT.sub("", url).strip()
    url, said = given, shown(given)
    if len(given) > _MAX_URL_CHARACTERS:
        raise InputError(f"“{said}” is too long for a web address.", "Copy it again from the browser's address bar.")
    if not re.match(r"[a-z][a-z0-9+.-]*:", url, re.IGNORECASE) or re.match(r"[^/]*\.[^/]*:\d", url):
        url = f"https://{url}"
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        raise InputError(f"“{said}” is not a web address.", "Copy it again from the browser's address bar.") from None
    if parts.scheme.lower() not in {"http", "https"}:
        raise InputError(f"“{said}” is not an http or https address.", "Only web pages can be read.")
    is_word = url != given and "." not in (host or "")  # a browser would try "hello" as an address
    if not host or is_word or re.search(r"\s", url):
        raise InputError(f"“{said}” is not a web address.", "Copy it again from the browser's address bar.")
    return url


def shown(url: str) -> str:
    """Return an address in a form that fits a sentence."""
    return url if len(url) <= 80 else f"{url[:77]}…"


_MAX_PASSAGE_CHARACTERS = 20_000
_MAX_PASTED_CHARACTERS = 10 * _MAX_PASSAGE_CHARACTERS  # copied tables are mostly spaces
_SEARCH_STAGES = frozenset({StageName.QUERIES, StageName.SEARCH})
GATHERING_STAGES = _SEARCH_STAGES | {StageName.READ, StageName.PASSAGES}


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Where a gathering searches, and the last day of evidence."""

    mode: Mode
    urls: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    until: date | None = None
    own_words: str = ""
    read_through: tuple[str, ...] = ()


def search_scope_of(case: Case) -> SearchScope:
    """Return where the case's next gathering searches."""
    return SearchScope(
        case.mode, case.urls, case.libraries, case.services, case.until, case.own_words, case.read_through
    )


def missing_scope_error(places: SearchScope) -> InputError | None:
    """Return why nothing can be gathered there; None when something can."""
    if places.mode is Mode.AUTOMATION and not (places.libraries or places.services):
        return InputError(
            "Where should we search?", "Choose a library or service, add links, or paste a source's text."
        )
    if places.mode is Mode.AUGMENTATION and not places.urls:
        return InputError(
            "Which source should we read?", "Add a link, choose a search service, or paste a source's text."
        )
    return None


def can_gather(case: Case) -> bool:
    """Return whether there is anywhere to look for evidence."""
    return missing_scope_error(search_scope_of(case)) is None


def checked_post(
    text: str, url: str | None, known: str | None = None, *, has_notes: bool = False, context: str = ""
) -> Post:
    """Return the post, or raise InputError when it is empty, longer than X allows, or at no address on X.

    An address that is `known`, because the case has it, is not checked again. With notes of others (`has_notes`) a post
    needs no words if its address is known.
    """
    text, context = (NEVER_IN_TEXT.sub("", given).replace("\r\n", "\n").strip() for given in (text, context))
    if not text and not (has_notes and url and url.strip()):
        raise InputError("The post is empty.", "Paste the text of the post.")
    if (longest := max(len(text), len(context))) > MAX_POST_CHARACTERS:
        raise InputError(
            f"Too long for a post: {longest:,} characters, limit {MAX_POST_CHARACTERS:,}.",
            "Paste only the post. Add articles as sources.",
        )
    given = (url or "").strip()
    checked = (given or None) if given in ("", known) else _check_post_url(given)
    return Post(
        text=text, context=context, url=checked, posted_at=_read_time_from_url(checked), language=language_of(text)
    )


def _read_time_from_url(url: str | None) -> datetime | None:
    """Return when a post was written, by the number in its address."""
    number = post_number(url or "")
    return time_of_id(number) if number is not None else None


def _check_post_url(url: str) -> str:
    checked = checked_url(url)
    if post_number(checked) is None and not is_demonstration_url(checked):
        raise InputError(
            f"“{shown(url)}” is not the address of a post on X.",
            "Copy it from the post's Share menu, or leave the field empty. Add sources under links.",
        )
    return checked


def create_case(
    cases: Cases,
    text: str,
    *,
    mode: Mode,
    url: str | None = None,
    urls: Sequence[str] = (),
    libraries: Sequence[str] = (),
    services: Sequence[str] = (),
    read_through: Sequence[str] | None = None,
    until: date | None = None,
    attached: Sequence[Attachment] = (),
    to_gather: bool = False,
    recorded_answers: bool = False,
    context: str = "",
    known_as: str | None = None,
) -> Case:
    """Store a new case, with an id of its own or the one it is already `known_as`.

    Raises InputError for an empty or over-long post, unusable sources or images, and for a case `to_gather` at once
    when there is nowhere to search; nothing is stored then. Without `read_through` the reading services are those that
    the setting names.
    """
    at, by = cases.now(), cases.require(Act.PRACTISE if recorded_answers else Act.BEGIN)
    post = checked_post(text, url, context=context)
    pictures = [checked_image(item) for item in attached]
    how = mode.as_text + ("; a demonstration with recorded AI answers" if recorded_answers else "")
    case = Case(
        id=known_as or new_case_id(),
        created_at=at,
        updated_at=at,
        owner=by.person,
        mode=mode,
        post=with_images(post, tuple(image for image, _ in pictures)),
        urls=checked_urls(urls),
        libraries=tuple(dict.fromkeys(libraries)),
        services=tuple(dict.fromkeys(services)),
        read_through=tuple(cases.settings.search.reading_services if read_through is None else read_through),
        until=until,
        recorded_answers=recorded_answers,
        events=(Event(at=at, by=by.name, by_key=by.key, kind="created", detail=how),),
    )
    nowhere = missing_scope_error(search_scope_of(case)) if to_gather else None
    if nowhere is not None:
        raise nowhere
    return cases.add(case, [content for _, content in pictures])


def new_case_id() -> str:
    """Return an id that no case has."""
    return uuid.uuid4().hex[:12]


def edit_post(cases: Cases, case_id: str, text: str, *, url: str | None = None, context: str | None = None) -> Case:
    """Change the post. The evidence was for another text: it goes on record and the search starts again.

    Without a `context` the old one stays.
    """
    case = cases.get(case_id, Act.EDIT)
    context, has_notes = case.post.context if context is None else context, case.supernote is not None
    post = checked_post(text, url, case.post.url, has_notes=has_notes, context=context)
    return cases.update(Act.EDIT, case_id, lambda newest, by: change_post(newest, cases.now(), by, post))


def change_post(case: Case, at: datetime, by: Person, post: Post) -> Case:
    """Replace the post's words and address; its images stay."""
    new = {name: getattr(post, name) for name in ("text", "context", "url", "posted_at", "language")}
    post = case.post.replace(**new)
    if post == case.post:
        return case
    if (post.text, post.context) == (case.post.text, case.post.context):
        return with_event(case, at, by, "post address changed", post.url or "", post=post)
    return replace_post(case, at, by, post, "post changed", case.post.text)


def replace_post(case: Case, at: datetime, by: Person, post: Post, kind: str, detail: str) -> Case:
    """Replace the post, with an event.

    If it says something else than before, everything found and written for the old words goes on record.
    """
    if (post.whole_text, post.context) == (case.post.whole_text, case.post.context):
        return with_event(case, at, by, kind, detail, post=post)
    old_words = {name: Case.model_fields[name].default for name in _FIELDS_RESET_WITH_POST}
    kept = {
        "revisions": with_revision(case),
        "earlier_evidence": archive_evidence(case, at, "the post was changed"),
        "follow_ups": tuple(asked for asked in case.follow_ups if asked.finished_at is not None),
    }
    return with_event(case, at, by, kind, detail, post=post, **old_words, **kept)


_FIELDS_RESET_WITH_POST = (
    "claims wanted anyway queries own_words hits outcomes sources evidence settlement candidates quotations draft"
    " assessment earlier_assessments stages".split()
)


@requires(Act.EDIT)
def set_sources(
    case: Case,
    at: datetime,
    by: Person,
    *,
    mode: Mode,
    urls: Sequence[str],
    libraries: Sequence[str],
    services: Sequence[str],
    until: date | None,
    own_words: str = "",
    read_through: Sequence[str] = (),
) -> Case:
    """Set where the next gathering searches, for what and until which day. Passages that a person opened stay."""
    places = SearchScope(
        mode,
        checked_urls(urls),
        tuple(libraries),
        tuple(services),
        until,
        own_words.strip(),
        tuple(read_through),
    )
    return change_sources(case, at, by, places)


@requires(Act.EDIT)
def search_again(
    case: Case, at: datetime, by: Person, *, mode: Mode, libraries: Sequence[str], services: Sequence[str]
) -> Case:
    """Set which places the next gathering searches, also those that were searched before."""
    places = replace(search_scope_of(case), mode=mode, libraries=tuple(libraries), services=tuple(services))
    return change_sources(case, at, by, places, afresh=True)


def change_sources(case: Case, at: datetime, by: Person, places: SearchScope, *, afresh: bool = False) -> Case:
    """Set where to search and until when; the stages that this makes out of date run again, `afresh` the search too."""
    libraries, services = tuple(dict.fromkeys(places.libraries)), tuple(dict.fromkeys(places.services))
    wanted = (places.mode, libraries, services, places.until, places.own_words)
    before = (case.mode, case.libraries, case.services, case.until, case.own_words)
    redo = GATHERING_STAGES - (_SEARCH_STAGES if wanted == before else frozenset())
    redo |= {StageName.SEARCH} if afresh else set()
    searched = ", ".join((*libraries, *services)) or "none"
    own = f"; own search words: {places.own_words}" if places.own_words else ""
    bound = f"; up to {places.until}" if places.until else ""
    is_new_cutoff = places.until != case.until  # a follow-up search under the old cutoff must stop
    detail = f"{places.mode.as_text}; {len(places.urls)} links; searched: {searched}{own + bound}"
    return with_event(
        case,
        at,
        by,
        "sources set",
        detail,
        mode=places.mode,
        urls=places.urls,
        libraries=libraries,
        services=services,
        own_words=places.own_words,
        read_through=places.read_through,
        until=places.until,
        stages=tuple(stage for stage in case.stages if stage.name not in redo),
        earlier_evidence=archive_evidence(case, at, "another search"),
        follow_ups=tuple(asked for asked in case.follow_ups if asked.finished_at is not None or not is_new_cutoff),
    )


@requires(Act.EDIT)
def write_anyway(case: Case, at: datetime, by: Person) -> Case:
    """Search and write although raters may want no note. If there was nothing to search for, look for claims."""
    redo = GATHERING_STAGES if not case.queries else frozenset()
    stages = tuple(stage for stage in case.stages if stage.name not in redo)
    detail = case.wanted.reason if case.wanted is not None else ""
    return with_event(case, at, by, "written anyway", detail, anyway=True, stages=stages)


def passage_by_hand(url: str | None, title: str, text: str, categories: Mapping[str, SourceCategory]) -> Evidence:
    """Return evidence from words that a person copied; `categories` are the user's own (EvidenceSettings.categories).

    InputError when there are no words or far too many, or the address is that of no evidence, such as a home page.
    """
    if len(text) <= _MAX_PASTED_CHARACTERS:
        text = _tidy_pasted_text(text)
    if not text:
        raise InputError("The text is empty.", "Copy the sentences that matter.")
    if len(text) > _MAX_PASSAGE_CHARACTERS:
        raise InputError(f"Too long: {len(text):,} characters.", "Copy only what matters.")
    checked = checked_url(url) if url and url.strip() else None
    refused = reason_to_skip(checked) if checked else None
    if refused is not None:
        raise InputError(refused)
    sha256 = text_sha256(text)
    source = Source(
        id=f"{BY_HAND}{text_sha256(f'{checked} {text}')[:12]}",
        title=title.strip() or (checked or "Text copied by hand"),
        url=checked,
        publisher=publisher_of(checked) if checked else None,
        category=categorise(checked or "", categories),
        outcome_detail="Copied by hand: we did not read this page.",
        text_sha256=sha256,
        characters=len(text),
    )
    passage = Passage(text=text, span=Span(start=0, end=len(text)), similarity=0.0)
    return Evidence(id="E0", source=source, passage=passage, rank=0, why="A person copied it from the page.")


def add_passage_by_hand(cases: Cases, case_id: str, *, url: str | None, title: str, text: str) -> Case:
    """Add a passage that the person copied from a page which the program could not read."""
    item = passage_by_hand(url, title, text, cases.settings.evidence.categories)
    cases.put_text(Act.EDIT, case_id, item.passage.text)
    return cases.update(Act.EDIT, case_id, lambda case, by: add_evidence(case, cases.now(), by, item))


def _find_nearest_sentence(text: str, asked: str) -> tuple[Span, ...]:
    """Return the sentence that shares most words with the claim; none where no sentence shares any."""
    wanted = content_stems(asked)
    shared = {span: len(wanted & content_stems(text[span.start : span.end])) for span in split_evidence(text)}
    best = max(shared, key=lambda span: shared[span], default=None)
    return (best,) if best is not None and shared[best] else ()


def _tidy_pasted_text(text: str) -> str:
    """Tidy it as pages are tidied, but keep the tabs of a copied table, so that its numbers stay separate."""
    lines = ("\t".join(map(tidy_text, line.split("\t"))).strip() for line in text.splitlines())
    return re.sub("\n{3,}", "\n\n", "\n".join(lines)).strip()


def add_evidence(case: Case, at: datetime, by: Person, item: Evidence) -> Case:
    """Append a passage with the next free id; the same words twice change nothing."""
    if any(other.source.id == item.source.id for other in case.evidence):
        return case
    asked = [case.post.text, *(claim.in_full for claim in case.claims)]
    nearest = dict.fromkeys(span for words in asked for span in _find_nearest_sentence(item.passage.text, words))
    passage = item.passage.replace(marks=tuple(nearest))
    added = item.replace(id=f"E{case.next_evidence_number}", rank=len(case.evidence) + 1, passage=passage)
    event = Event(
        at=at,
        by=by.name,
        by_key=by.key,
        kind="passage copied in",
        detail=f"{added.id} {item.source.url or item.source.title}",
        subject=item.source.id,
    )
    changes = {"evidence": (*case.evidence, added), "sources": (*case.sources, item.source)}
    return add_event(case, event, changes)


MAX_IMAGE_WORDS = 5_000  # characters; a screenshot of a whole article is far below
PERSON = "person"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that comes with a post, and what a person says is in it."""

    content: bytes
    name: str
    text: str = ""
    shows: str = ""


def usable_images(given: Sequence[Attachment]) -> tuple[list[Attachment], list[InputError]]:
    """Return the files that a post can take, and why each of the others cannot be taken."""
    taken: list[Attachment] = []
    refused: list[InputError] = []
    for item in given:
        try:
            clean_picture(item.content, item.name)
        except InputError as why:
            refused.append(why)
            continue
        if len(taken) < MAX_IMAGES:
            taken.append(item)
        else:
            refused.append(InputError(f"We left out “{item.name}”: a post has at most {MAX_IMAGES} images."))
    return taken, refused


def checked_image(given: Attachment) -> tuple[Image, bytes]:
    """Return the image and the bytes to store; InputError for what is no picture, too large, or has too long words."""
    picture = clean_picture(given.content, given.name)
    text, shows = _check_image_words(given.text), _check_image_words(given.shows)
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
    """Return the post with the images added; the same picture twice counts once. InputError over four."""
    every = {image.sha256: image for image in (*images, *post.images)}
    ordered = dict.fromkeys(image.sha256 for image in (*post.images, *images))
    if len(ordered) > MAX_IMAGES:
        raise InputError(f"A post has at most {MAX_IMAGES} images.", "Remove one first.")
    return post.replace(images=tuple(every[sha256] for sha256 in ordered))


def attach_image(cases: Cases, case_id: str, content: bytes, name: str) -> Case:
    """Add an image to the post, cleaned (see `evidence.images`); one that is there already changes nothing.

    Raises InputError for what is no picture.
    """
    cases.require(Act.EDIT, case_id)  # check it before reading the file
    image, clean = checked_image(Attachment(content, name))

    def change(case: Case, by: Actor) -> Case:
        if find_image(case, image.sha256) is not None:
            return case
        post = with_images(case.post, (image,))
        return replace_post(case, cases.now(), by, post, "image attached", f"{image.name} {image.sha256}")

    return cases.update(Act.EDIT, case_id, change, [clean])


@requires(Act.EDIT)
def remove_image(case: Case, at: datetime, by: Person, sha256: str) -> Case:
    """Remove an image from the post; one that is gone already changes nothing."""
    image = find_image(case, sha256)
    if image is None:
        return case
    left = tuple(other for other in case.post.images if other.sha256 != sha256)
    post = case.post.replace(images=left)
    return replace_post(case, at, by, post, "image removed", f"{image.name} {sha256}")


@requires(Act.EDIT)
def describe_image(
    case: Case, at: datetime, by: Person, sha256: str, text: str, shows: str, *, read_by: str = PERSON
) -> Case:
    """Say what can be read in an image and what it shows. InputError when it is gone or the words are too many."""
    image = find_image(case, sha256)
    if image is None:
        raise InputError("This image is gone.", "Attach it again.")
    said = image.replace(text=_check_image_words(text), shows=_check_image_words(shows), read_by=read_by)
    if (said.text, said.shows) == (image.text, image.shows) and image.read_by:
        return case
    images = tuple(said if other.sha256 == sha256 else other for other in case.post.images)
    post = case.post.replace(images=images)
    detail = f"{image.name} by {read_by}: {said.text} {said.shows}".rstrip()
    return replace_post(case, at, by, post, "image read", detail)


def preview(content: bytes, name: str = "image") -> bytes:
    """Return a picture small enough for a page, cleaned first. Raises InputError for what is none."""
    return images.preview(clean_picture(content, name).content)


def unread_images(case: Case) -> tuple[Image, ...]:
    """Return the images that no person and no engine has looked at."""
    return tuple(image for image in case.post.images if not image.read_by)


def find_image(case: Case, sha256: str) -> Image | None:
    """Return the post's image with that hash, if it still has it."""
    return next((image for image in case.post.images if image.sha256 == sha256), None)


def _check_image_words(text: str) -> str:
    text = text.replace("\x00", "").replace("\r\n", "\n").strip()
    if len(text) > MAX_IMAGE_WORDS:
        raise InputError(
            f"Too long: {len(text):,} characters, limit {MAX_IMAGE_WORDS:,}.",
            "Keep what the post claims.",
        )
    return text
