"""The note and its candidates before the simulated jury: one stage of a case. Nothing here writes the case."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from crowdnotes.domain import Case, JuryVerdict
from crowdnotes.errors import CrowdNotesError
from crowdnotes.jury import Jury

_KEPT = 20  # verdicts on record, so that an edit can be compared with what stood before it

Result = tuple[Mapping[str, object], str]


def vote(case: Case, open_jury: Callable[[], Jury]) -> Result:
    """A verdict on the note as it stands, with the words that move it, and one on each candidate.

    All stand before the same jurors. What cannot be judged is NOT RUN with its reason in the summary.
    """
    if case.draft is None:
        return {}, "NOT RUN: there is no note."
    post, text = case.post.as_read.text, case.draft.text
    others = [candidate.text for candidate in case.candidates if candidate.sha256 != case.draft.sha256]
    try:
        jury = open_jury()
        verdict = jury.verdict(post, text)
    except CrowdNotesError as error:
        return {}, f"NOT RUN: {error.message}"
    known = {item.text_sha256 for item in case.jury if item.post_sha256 == verdict.post_sha256}
    beside = [item for item in jury.compare(post, others) if item.text_sha256 not in known]
    earlier = tuple(item for item in case.jury if item.text_sha256 != verdict.text_sha256)
    kept = (*earlier, *beside)[-(_KEPT - 1) :]
    return {"jury": (*kept, verdict)}, _summary(verdict)


def _summary(verdict: JuryVerdict) -> str:
    return f"simulated note intercept {verdict.note_intercept:.2f} of the {verdict.helpful_line:.2f} needed"
