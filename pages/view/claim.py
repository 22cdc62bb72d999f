"""The claim that every step goes by, and whether the passages settle it, as a model says."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import AnswerKind, Case, ClaimKind, Evidence, Passage, Points
from crowdnotes.text.markdown import day, escaped

_LONGEST = 400
_KINDS = {
    ClaimKind.OPINION: "an opinion",
    ClaimKind.SATIRE: "satire",
    ClaimKind.PREDICTION: "a prediction",
    ClaimKind.PERSONAL: "a personal story",
}
_POINTS = {Points.AGAINST: ", against the claim", Points.FOR: ", for the claim", Points.NEITHER: ""}


def claim_record(case: Case) -> None:
    """The claim in full words, what would settle it, and how far the passages do. Nothing where no model has said."""
    claims = [claim for claim in case.claims if claim.statement]
    if not claims:
        return
    claim = claims[0]
    with st.container(key="claim", gap="xsmall"):
        if claim.kind is not ClaimKind.CHECKABLE:
            st.info(
                "If that is so, nothing can be checked, and “not needed” is the decision. You can still bring sources.",
                title=f"The model reads this post as {_KINDS[claim.kind]}.",
                icon=":material/help:",
            )
            return
        st.markdown(f"**The claim, as the model reads it:** {escaped(claim.statement, _LONGEST)}")
        about = [
            f"{name}: {escaped(said, _LONGEST)}"
            for name, said in (("What it implies", claim.implies), ("What would settle it", claim.settled_by))
            if said
        ]
        about += [f"Since: {day(claim.since)}"] if claim.since else []
        about += [f"It also claims: {escaped(other.statement, _LONGEST)}" for other in claims[1:]]
        for line in about:
            st.caption(line)
        _settled(case)


def _settled(case: Case) -> None:
    evidence = case.judging_evidence
    if case.settlement is None or not evidence:
        return
    answers = [answer for _, answer in case.settlement.answers(evidence)]
    stated = sum(answer.answer is AnswerKind.STATED for answer in answers)
    if stated:
        said = f"{stated} of {len(evidence)} passages state what settles it, says the model"
        st.markdown(f":green-badge[:material/check: {said}]")
        return
    helps = f"{len(answers)} help to infer it" if answers else "none answers it"
    st.markdown(f":orange-badge[:material/search_off: No passage states what settles it, says the model; {helps}]")
    if case.settlement.missing:
        st.caption(f"Missing: {escaped(case.settlement.missing, _LONGEST)}")


def answer_line(case: Case, item: Evidence) -> None:
    """What the model found in one passage."""
    found = case.settlement.of(item) if case.settlement is not None else None
    if found is None:
        return
    how = {
        AnswerKind.STATED: ":green[:material/check: States it",
        AnswerKind.INFERRED: ":orange[:material/contrast: Helps to infer it",
        AnswerKind.NONE: ":gray[:material/remove: Background",
    }[found.answer]
    points = "" if found.answer is AnswerKind.NONE else _POINTS[found.points]
    st.markdown(f":small[{how}{points}]: {escaped(found.tells, _LONGEST)}]")


def in_reading_order(case: Case) -> list[Evidence]:
    """The passages, those first that state what settles the claim, then those that help to infer it."""
    settlement = case.settlement
    if settlement is None:
        return list(case.evidence)
    places = {item.id: place for place, (item, _) in enumerate(settlement.answers(case.evidence))}
    return sorted(case.evidence, key=lambda item: places.get(item.id, len(places)))


def as_answered(case: Case, item: Evidence) -> tuple[Passage, str]:
    """The passage with the words marked that answer the claim, and what the marks are."""
    found = case.settlement.of(item) if case.settlement is not None else None
    if found is None or found.span is None:
        return item.passage, "Marked: the sentences closest to the post. Grey: what stands around the passage."
    passage = item.passage.model_copy(update={"marks": (found.span,)})
    return passage, "Marked: the words that answer the claim, says the model. Grey: what stands around the passage."
