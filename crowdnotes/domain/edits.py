"""What the last change of a note did: its words, its gates and the jury's number, before and after."""

from __future__ import annotations

from dataclasses import dataclass

from crowdnotes.domain.assessment import Assessment, JuryVerdict
from crowdnotes.domain.case import Case
from crowdnotes.domain.note import Draft


@dataclass(frozen=True, slots=True)
class EditEffect:
    """Two texts that were scored one after the other, and what is on record of both.

    `scores` and `verdicts` hold the older and the newer; None where one of the two texts has none, or where different
    juries sat.
    """

    before: Draft
    after: Draft
    scores: tuple[Assessment, Assessment] | None
    verdicts: tuple[JuryVerdict, JuryVerdict] | None


def effect_of_edit(case: Case) -> EditEffect | None:
    """Of the draft as it stands against the newest earlier text that was judged; None without such a one."""
    now = case.draft
    if now is None:
        return None
    for before in reversed(case.revisions):
        if before.sha256 == now.sha256:
            continue
        scores, verdicts = _scores(case, before, now), _verdicts(case, before, now)
        if scores is not None or verdicts is not None:
            return EditEffect(before, now, scores, verdicts)
    return None


def _scores(case: Case, before: Draft, now: Draft) -> tuple[Assessment, Assessment] | None:
    of_before = (item for item in reversed(case.earlier_assessments) if item.text_sha256 == before.sha256)
    old, new = next(of_before, None), case.assessment
    return (old, new) if old is not None and new is not None and new.text_sha256 == now.sha256 else None


def _verdicts(case: Case, before: Draft, now: Draft) -> tuple[JuryVerdict, JuryVerdict] | None:
    """Of one jury: another would say something else of the same text."""
    old, new = case.verdict_on(before.sha256), case.verdict_on(now.sha256)
    if old is None or new is None or _jury_of(old) != _jury_of(new) or old.means_nothing or new.means_nothing:
        return None
    return old, new


def _jury_of(verdict: JuryVerdict) -> tuple[int, int, str, str]:
    return verdict.seed, verdict.jurors, verdict.sampling, verdict.model
