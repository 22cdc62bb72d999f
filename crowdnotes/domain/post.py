"""The post, its pictures and claims, and who brings the sources."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from pydantic import Field

from crowdnotes.domain.base import FrozenModel, LabelledEnum, Span, text_sha256

# A post's address may name any of these: phones and old links have the longer ones.
X_HOSTS = frozenset(f"{part}{site}" for part in ("", "www.", "m.", "mobile.") for site in ("x.com", "twitter.com"))


FIRST_ID_MS = 1_288_834_974_657  # X's ids count milliseconds from here, times 2**22
_MIN_DATED_ID = 2**35  # before November 2010 ids were a plain count
_ID_LIMIT = 2**63


def time_of_id(number: int) -> datetime | None:
    """Return when a post or note with this id was made; None for an id that holds no time."""
    if not _MIN_DATED_ID <= number < _ID_LIMIT:
        return None
    return datetime.fromtimestamp(((number >> 22) + FIRST_ID_MS) / 1000, tz=UTC)


MAX_IMAGES = 4  # as many as a post on X can have
MAX_IMAGE_BYTES = 5_000_000  # X's own limit for a photo


class Image(FrozenModel):
    """A picture attached to the post. The store has its bytes under `sha256`.

    `text` is what can be read in it and `shows` what can be seen, as `read_by` (an engine's name, or "person") gives
    them; both are empty until a person or an engine has looked.
    """

    sha256: str
    media_type: str
    name: str
    width: int = Field(gt=0)
    height: int = Field(gt=0)
    text: str = ""
    shows: str = ""
    read_by: str = ""


_ANSWER_PATTERN = re.compile(r"\s*@\w{1,15}\b")  # how X shows an answer to another post
_POST_LINK_PATTERN = re.compile(r"\b(?:x|twitter)\.com/\w{1,15}/status/\d", re.IGNORECASE)
# X replaces a picture, a film, a quoted post or a page by its own short link.
_SHORT_LINK_PATTERN = re.compile(r"\b(?:t\.co|pic\.(?:x|twitter)\.com)/\w", re.IGNORECASE)
_THREAD_PATTERN = re.compile(r"\U0001f9f5|^\s*\(?\d{1,2}/\d{0,2}\)?(?=\s)|(?<=\s)\(?\d{1,2}/\d{1,2}\)?\W*$")


class Post(FrozenModel):
    """The post on X that may need a note; `context` is the post that it replies to or quotes."""

    text: str
    context: str = ""
    url: str | None = None
    author: str | None = None
    posted_at: datetime | None = None
    language: str | None = None
    images: tuple[Image, ...] = ()

    @property
    def whole_text(self) -> str:
        """The post with what its images say and show: what claims, searches and judgements go by."""
        seen = (words for image in self.images for words in (image.text, image.shows) if words)
        return "\n\n".join((self.text, *seen))

    @property
    def identity(self) -> str:
        """A value that differs for every post with other words, pictures or address."""
        parts = (self.whole_text, self.context, self.url or "", *(image.sha256 for image in self.images))
        return text_sha256("\x00".join(parts))

    @property
    def unseen(self) -> tuple[str, ...]:
        """What seems to belong to the post and is missing, as in "the post that it answers"."""
        blank = sum(not (image.text or image.shows) for image in self.images)
        found = {
            "what its picture says and shows": blank == 1,
            f"what {blank} of its pictures say and show": blank > 1,
            "the post that it answers": not self.context and _ANSWER_PATTERN.match(self.text),
            "the post that it links to": not self.context and _POST_LINK_PATTERN.search(self.text),
            "what its short link leads to (a picture, a film, another post or a page)": not self.images
            and not self.context
            and _SHORT_LINK_PATTERN.search(self.text),
            "the other posts of its thread": not self.context and _THREAD_PATTERN.search(self.text),
        }
        return tuple(words for words, is_missing in found.items() if is_missing)

    @property
    def has_words(self) -> bool:
        """False of a post that is known by its address alone."""
        return bool(self.whole_text.strip())

    @property
    def as_read(self) -> Post:
        """The post whose text is the whole text: what an engine is given, so that spans of claims are of it."""
        return self.replace(text=self.whole_text)


class ClaimKind(LabelledEnum):
    """What a statement is, by what it would make readers believe. Only CHECKABLE ones can need a note."""

    CHECKABLE = "checkable"
    OPINION = "opinion"
    SATIRE = "satire"
    PREDICTION = "prediction"
    PERSONAL = "personal story"


class Claim(FrozenModel):
    """A statement of the post and its place there; every later step goes by it.

    `statement` is the claim in full words, that a reader understands without the post; `implies` what readers are led
    to conclude beyond it; `settled_by` where to look and for what, to settle it; `since` the day since when it would be
    so, for what is recent. The local engine fills none of these four.
    """

    text: str
    span: Span
    statement: str = ""
    implies: str = ""
    settled_by: str = ""
    since: date | None = None
    kind: ClaimKind = ClaimKind.CHECKABLE

    @property
    def in_full(self) -> str:
        """The claim in full words, or else the post's own."""
        return self.statement or self.text

    @property
    def since_when(self) -> str:
        """For instance "31 May 2024". A year or a month is stored as its first day, and shown as it was stated."""
        day = self.since
        if day is None:
            return ""
        return f"{day:%Y}" if (day.month, day.day) == (1, 1) else f"{f'{day.day} ' if day.day > 1 else ''}{day:%B %Y}"


class WhyUnwanted(LabelledEnum):
    """Why raters of different views would rather have no note; the words follow "it looks like"."""

    JOKE = "joke", "a joke or exaggeration"
    OPINION = "opinion", "an opinion, or true facts in a certain light"
    SIDE_MATTER = "side matter", "a mistake beside the point"
    TOO_EARLY = "too early", "news still open, or right when posted"
    TRUE = "true", "a correct post"
    DEFINITION = "definition", "a quarrel about words"
    MADE_PICTURE = "made picture", "a made picture, not called real"


class NoteWanted(FrozenModel):
    """Whether raters would want a note under a post, as a model expects.

    `chance`: in [0, 1], the share of such posts under which they would. `why_not` is the reason against, if there is
    one, and `reason` says it in a sentence for a person.
    """

    chance: float = Field(ge=0, le=1)
    why_not: WhyUnwanted | None = None
    reason: str = ""

    @property
    def is_doubtful(self) -> bool:
        """Whether the page says that raters may want no note."""
        return self.why_not is not None and self.chance < _MIN_WANTED

    @property
    def stops_the_search(self) -> bool:
        """Whether nothing is searched until a person asks for it. Only a search shows whether a post is right."""
        return self.is_doubtful and self.why_not is not WhyUnwanted.TRUE


_MIN_WANTED = 0.4  # under half: a needless question costs a click, a missed post costs a note


class Mode(LabelledEnum):
    """Who brings the sources (CrowdNotes+ 4.1 and 4.2)."""

    AUGMENTATION = "augmentation", "with your own sources"
    AUTOMATION = "automation", "the program searches"
