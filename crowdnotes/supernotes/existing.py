"""What is known of the notes that a post has: their links, what raters make of them, what a person should know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from crowdnotes.domain import Classification, CrowdStatus, ExistingNote
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.urls import canonical_url
from crowdnotes.wording import say

ENOUGH_RATINGS = 5  # below it X gives no status
AVERAGE = 0.5  # the mean rating of a note of which nothing is known
_NO_NOTE = "notHelpfulNoteNotNeeded"
_PRIOR = 5  # ratings of an average note that stand beside a note's own
_LIKED = 0.6  # mean rating


def links_of(note: ExistingNote) -> tuple[str, ...]:
    """The links of a note, each page once, in order; "cdc.gov/flu" with https before it. A bare host is no link."""
    found: dict[str, str] = {}
    for url in find_urls(note.text):
        if url.link:
            found.setdefault(canonical_url(url.link), url.link)
    return tuple(found.values())


def pages_of(notes: Iterable[ExistingNote]) -> set[str]:
    """The pages that notes link to, by their canonical addresses."""
    return {canonical_url(url) for note in notes for url in links_of(note)}


def drawn_mean(note: ExistingNote) -> float:
    """The mean rating in [0, 1], drawn to the middle where there are few ratings."""
    count = note.ratings.count
    return ((note.ratings.mean or 0.0) * count + AVERAGE * _PRIOR) / (count + _PRIOR)


def no_note_needed(notes: Sequence[ExistingNote]) -> str:
    """The sentence that raters have said that the post needs no note, with their numbers; "" where they have not."""
    misleading = [note for note in notes if note.classification is Classification.MISLEADING]
    most = max((note.ratings.mean or 0 for note in misleading if note.ratings.count >= ENOUGH_RATINGS), default=0)
    for note in notes:
        if note.classification is Classification.NOT_MISLEADING:
            if note.status is CrowdStatus.HELPFUL:
                return say("existing_notes.rated_not_misleading", id=note.id)
            mean = note.ratings.mean or 0
            if note.ratings.count >= ENOUGH_RATINGS and mean >= _LIKED and mean > most:
                return say("existing_notes.liked_not_misleading", id=note.id, mean=mean, n=note.ratings.count)
    said = sum(note.ratings.tags.get(_NO_NOTE, 0) for note in misleading)
    against = sum(note.ratings.not_helpful for note in misleading)
    all_of_them = sum(note.ratings.count for note in misleading)
    if said >= ENOUGH_RATINGS and (said * 2 >= against > all_of_them / 2):
        return say("existing_notes.no_note_needed", n=said, all=all_of_them)
    return ""


def remarks(notes: Sequence[ExistingNote]) -> tuple[str, ...]:
    """What a person should know of these notes before anything is made from them, a sentence each."""
    used = [note for note in notes if note.is_used]
    found = []
    if notes and not used:
        why = Counter(note.why_not_eligible for note in notes)
        found.append(say("existing_notes.none_eligible", reasons=" ".join(filter(None, why))).strip())
    if len(used) == 1:
        found.append(say("existing_notes.only_one", id=used[0].id))
    without = [note.id for note in used if not links_of(note)]
    if used and len(without) == len(used):
        found.append(say("existing_notes.no_links"))
    elif without:
        found.append(say("existing_notes.without_link", ids=", ".join(without)))
    if len({note.classification for note in notes}) > 1:
        found.append(say("existing_notes.contradict"))
    return tuple(found)
