"""Read ratings of existing notes, compare with newer ones, and decide whether to replace a note.

A changed text loses its ratings, so the answer is "no" by default; the thresholds are those of X's collaborative
generator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from crowdnotes.domain import (
    Candidate,
    Classification,
    CrowdStatus,
    ExistingNote,
    PostedNote,
    SupernoteRound,
    SupernoteScore,
)
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.urls import canonical_url, each_page_once
from crowdnotes.wording import fill, plural

ENOUGH_RATINGS = 5  # with fewer X gives no status
AVERAGE = 0.5  # the mean rating of a note without ratings
_NOTE_NOT_NEEDED_TAG = "notHelpfulNoteNotNeeded"
_PRIOR_RATINGS = 5  # ratings of an average note, added to a note's own
_MIN_LIKED_MEAN = 0.6  # mean rating


def links_of(note: ExistingNote) -> tuple[str, ...]:
    """Return the links of a note, each page once, in order; "cdc.gov/flu" gets https, a bare host is no link."""
    return each_page_once(url.link for url in find_urls(note.text) if url.link)


def pages_of(notes: Iterable[ExistingNote]) -> set[str]:
    """Return the canonical addresses of the pages that notes link to."""
    return {canonical_url(url) for note in notes for url in links_of(note)}


def drawn_mean(note: ExistingNote) -> float:
    """Return the mean rating in [0, 1], pulled towards the middle where there are few ratings."""
    count = note.ratings.count
    return ((note.ratings.mean or 0.0) * count + AVERAGE * _PRIOR_RATINGS) / (count + _PRIOR_RATINGS)


def no_note_needed(notes: Sequence[ExistingNote]) -> str:
    """Return the sentence, with numbers, that raters want no note on the post; "" where they have not said so."""
    misleading = [note for note in notes if note.classification is Classification.MISLEADING]
    most = max((note.ratings.mean or 0 for note in misleading if note.ratings.count >= ENOUGH_RATINGS), default=0)
    for note in notes:
        if note.classification is Classification.NOT_MISLEADING:
            if note.status is CrowdStatus.HELPFUL:
                return f"Raters found {note.id} helpful. It says that the post is not misleading."
            mean = note.ratings.mean or 0
            if note.ratings.count >= ENOUGH_RATINGS and mean >= _MIN_LIKED_MEAN and mean > most:
                return (
                    f"Raters like {note.id} best ({mean:.2f} of 1, {note.ratings.count} ratings). It says that the "
                    "post is not misleading."
                )
    said = sum(note.ratings.tags.get(_NOTE_NOT_NEEDED_TAG, 0) for note in misleading)
    against = sum(note.ratings.not_helpful for note in misleading)
    all_of_them = sum(note.ratings.count for note in misleading)
    if said >= ENOUGH_RATINGS and (said * 2 >= against > all_of_them / 2):
        return f"{said} of {all_of_them} raters said that no note is needed."
    return ""


def remarks(notes: Sequence[ExistingNote]) -> tuple[str, ...]:
    """Return what a person should know of these notes before anything is made from them, a sentence each."""
    used = [note for note in notes if note.is_used]
    found = []
    if notes and not used:
        why = Counter(note.why_not_eligible for note in notes)
        found.append(f"No note is ticked by itself. {' '.join(filter(None, why))}".strip())
    if len(used) == 1:
        found.append(f"Only {used[0].id} is used: the result can say no more than that note.")
    without = [note.id for note in used if not links_of(note)]
    if used and len(without) == len(used):
        found.append("No note in use has a link: a draft would have no source.")
    elif without:
        found.append(f"Without a link: {', '.join(without)}.")
    if len({note.classification for note in notes}) > 1:
        found.append("The notes disagree on whether the post is misleading.")
    return tuple(found)


_MAX_UNDECIDED_RATINGS = 300  # with more and no status yet, the text may be changed: it will hardly get one
_FEW_RATINGS = 30  # with fewer, the share of helpful ratings alone speaks
_MIN_RATINGS_PER_SIDE = 5  # ratings on each side of the viewpoint, for the intercept to be trusted
_LOW_INTERCEPT = 0.35  # below it, once raters of both sides spoke, the text may be changed
_KEEP_SHARE, _REVISE_SHARE = 0.7, 0.5  # helpful ratings from which a note with few is kept, and below which revised
_MAX_SPARSE_RATINGS = 3  # with so few, their share means nothing


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs in the newer notes, as ids: `new`, `reworded`, `gone`, `rated` (ratings or status alone)."""

    new: tuple[str, ...] = ()
    reworded: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    rated: tuple[str, ...] = ()

    @property
    def as_text(self) -> str:
        """In one line: "N9: new; N1, N2: new ratings"."""
        parts = [
            (self.new, "{ids}: new"),
            (self.reworded, "{ids}: text changed"),
            (self.gone, "{ids}: gone"),
            (self.rated, "{ids}: new ratings"),
        ]
        lines = [fill(words, ids=", ".join(ids)) for ids, words in parts if ids]
        return "; ".join(lines) or "Nothing has changed"


def renumbered(before: Sequence[ExistingNote], after: Sequence[ExistingNote]) -> tuple[ExistingNote, ...]:
    """Return the newer notes, each once, with the ids that they had; new ones get the next numbers.

    A note is recognised by X's id, else by its words. What a person chose for a note is kept.
    """
    by_id = {note.note_id: note for note in before if note.note_id}
    by_text = {_normalise_note_text(note): note for note in before}
    next_number = max((int(note.id[1:]) for note in before if note.id[1:].isdigit()), default=0) + 1
    taken: set[str] = set()
    found = []
    for note in {note.note_id or _normalise_note_text(note): note for note in after}.values():
        known = by_id.get(note.note_id) if note.note_id else None
        known = known or by_text.get(_normalise_note_text(note))
        if known is None or known.id in taken:
            found.append(note.replace(id=f"N{next_number}"))
            next_number += 1
            continue
        taken.add(known.id)
        chosen = known.chosen if note.chosen is None else note.chosen
        found.append(note.replace(id=known.id, chosen=chosen))
    return tuple(found)


def _normalise_note_text(note: ExistingNote) -> str:
    return " ".join(note.text.casefold().split())


def changes(before: Sequence[ExistingNote], after: Sequence[ExistingNote]) -> Changes:
    """Compare two sets of notes with the same ids (`renumbered`)."""
    old = {note.id: note for note in before}
    both = [(old[note.id], note) for note in after if note.id in old]
    return Changes(
        new=tuple(note.id for note in after if note.id not in old),
        reworded=tuple(note.id for was, note in both if was.text != note.text),
        gone=tuple(note.id for note in before if note.id not in {other.id for other in after}),
        rated=tuple(
            note.id
            for was, note in both
            if was.text == note.text and (was.ratings, was.status) != (note.ratings, note.status)
        ),
    )


def unchanged_candidates(done: SupernoteRound, notes: Sequence[ExistingNote]) -> tuple[Candidate, ...]:
    """Return the candidates from notes that are unchanged and still used; they are filtered again."""
    now = {note.id: note.text for note in notes if note.is_used}
    same = {note.id for note in done.notes if now.get(note.id) == note.text}
    return tuple(
        item.replace(failed=None, why="", not_run=(), score=None)
        for item in done.candidates
        if same.issuperset(item.notes)
    )


def crosses(done: SupernoteRound, line: float) -> bool | None:
    """Return whether the winner reaches the intercept at which X shows a note; None without a meaningful score."""
    score = done.winning.score if done.winning else None
    return None if score is None or score.means_nothing else score.intercept >= line


def worth_replacing(posted: PostedNote, done: SupernoteRound) -> tuple[bool | None, str]:
    """Return whether the winner should replace the posted note, and why; None where a person has to decide.

    The posted text's score is looked up among the round's candidates and notes: a winner that the same jury does not
    prefer replaces nothing.
    """
    winner = done.winning
    if winner is None:
        return False, "No draft passed the checks, so there is no better note."
    if winner.text == posted.text:
        return False, "The posted note is still the best."
    if posted.status is CrowdStatus.HELPFUL:
        return False, "X shows it. Replace it only if a fact in it is wrong."
    before = score_of_posted(posted.text, done)
    if before is not None and winner.score is not None and winner.score.intercept <= before.intercept:
        new, old = f"{winner.score.intercept:.2f}", f"{before.intercept:.2f}"
        return False, f"No gain: simulated readers give the new note {new}, the posted one {old}."
    return _judge_by_ratings(posted)


def score_of_posted(text: str, done: SupernoteRound) -> SupernoteScore | None:
    """Return what the jury said of the posted text in this round: as a candidate, an existing note, or by itself."""
    of_candidates = [item.score for item in done.candidates if item.text == text and item.score is not None]
    of_notes = [done.existing[note.id] for note in done.notes if note.text == text and note.id in done.existing]
    return next(iter([*of_candidates, *of_notes]), done.posted)


def _judge_by_ratings(posted: PostedNote) -> tuple[bool | None, str]:
    """Follow the update policy section by section: what the ratings so far are worth."""
    sides = (posted.negative, posted.positive, posted.unknown_side)
    count = sum(side.count for side in sides)
    if posted.status is CrowdStatus.NOT_HELPFUL:
        return True, "Raters found it not helpful: there is nothing to lose."
    if count > _MAX_UNDECIDED_RATINGS:
        return True, f"It has {count} ratings and still no status, so you can change it."
    if count < _FEW_RATINGS:
        return _judge_by_few_ratings(posted, sum(side.helpful for side in sides), count)
    both = min(posted.negative.count, posted.positive.count) >= _MIN_RATINGS_PER_SIDE
    if both and posted.intercept is not None and posted.intercept < _LOW_INTERCEPT:
        return True, (
            f"With {count} ratings from both sides it is at {posted.intercept:.2f}, below {_LOW_INTERCEPT:.2f}."
        )
    if not both or posted.intercept is None:
        return None, f"It has {count} ratings, but their sides or its score are not known."
    return False, f"It is at {posted.intercept:.2f} with {count} ratings, so X may still show it."


def _judge_by_few_ratings(posted: PostedNote, helpful: int, count: int) -> tuple[bool | None, str]:
    if not count and posted.status is None:
        return None, "The status of the posted note is not known."
    if not count:
        return None, (
            "It has no ratings. Replace it only if the new note corrects an error or adds what readers must know."
        )
    if count <= _MAX_SPARSE_RATINGS:
        return False, plural(
            count,
            "It has only {n} rating. Wait for more.",
            "It has only {n} ratings. Wait for more.",
        )
    share = helpful / count
    if share >= _KEEP_SHARE:
        return False, f"{share:.0%} of its {count} ratings say helpful, so X may soon show it."
    if share < _REVISE_SHARE:
        return True, f"Only {share:.0%} of its {count} ratings say helpful: a better note can only gain."
    return False, f"{share:.0%} of its {count} ratings say helpful: neither good nor bad. Wait for more."
