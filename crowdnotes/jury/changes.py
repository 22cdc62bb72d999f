"""What an edit changed, in sentences: two verdicts on two versions of a note, before the same jurors."""

from __future__ import annotations

from crowdnotes.domain import JuryVerdict, SideVotes
from crowdnotes.errors import InputError

_NOTICED = 0.01  # of the intercept; less is shown as no change


def changes(before: JuryVerdict, after: JuryVerdict) -> tuple[str, ...]:
    """Sentences on intercept, status and each side's helpful votes; one sentence when nothing changed.

    Raises InputError when the two stood before different juries: then nothing can be said of the edit.
    """
    same = ("seed", "jurors", "sampling", "model")
    if any(getattr(before, name) != getattr(after, name) for name in same):
        raise InputError("The two versions stood before different juries.", "Score both with the same jury.")
    found = []
    moved = after.note_intercept - before.note_intercept
    if abs(moved) >= _NOTICED:
        word = "rose" if moved > 0 else "fell"
        found.append(f"The intercept {word} from {before.note_intercept:.2f} to {after.note_intercept:.2f}.")
    if before.status != after.status:
        found.append(f"The status went from {before.status} to {after.status}.")
    for old, new in ((before.negative, after.negative), (before.positive, after.positive)):
        if _share(old) != _share(new):
            found.append(f"Side {new.side}: {_share(old)} of 100 helpful before, {_share(new)} now.")
    return tuple(found) or ("The jury makes no difference between the two versions.",)


def _share(votes: SideVotes) -> int:
    return round(100 * votes.helpful / votes.jurors) if votes.jurors else 0
