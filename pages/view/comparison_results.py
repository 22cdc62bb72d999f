"""What the answers of a blind comparison come to: plots with the sentence that each tells, and every figure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from crowdnotes.domain import BothRated, ComparisonResults, Figure
from crowdnotes.text.markdown import count, escaped
from pages.view.plots import Part, Standing, compared, stacked_shares
from pages.view.session import workspace

_WHAT = (
    "The bars around points are 95 % intervals: where they would mostly lie had other people answered on other posts. "
    "The tests by signed ranks take every answer as one of its own; the mixed models allow for people who rate "
    "everything higher or lower, and for posts on which all notes do better or worse."
)


@st.cache_data(max_entries=50, show_spinner="Counting…")
def _results(comparison_id: str, answers: int, newest: object) -> ComparisonResults:  # noqa: ARG001 - part of the key
    """Counted once for each new answer."""
    return workspace().comparisons.results(comparison_id)


def results_view(comparison_id: str) -> None:
    """Draw the results. Raises ComparisonNotFoundError."""
    kept = workspace().comparisons
    comparison = kept.get(comparison_id)
    answers = kept.answers(comparison_id)
    found = _results(comparison_id, len(answers), max((answer.at for answer in answers), default=None))
    st.subheader(escaped(comparison.title), anchor=False)
    of = f"{count(found.answers, 'answer')} by {count(found.participants, 'participant')}"
    st.caption(f"{of}, on {found.pairs:,} of {count(len(comparison.pairs), 'pair')}")
    _exports(comparison_id, sides_unknown=comparison.sides_unknown)
    if comparison.sides_unknown or not answers:
        st.info(escaped(found.told["wins"]), title="There is nothing to show yet." if not answers else "NOT RUN")
        return
    _wins(found)
    _helpfulness(found)
    _statements(found)
    with st.expander("Every figure", icon=":material/table:"):
        st.caption(_WHAT)
        st.table(
            {
                "Figure": [escaped(name) for name, _ in found.rows],
                "Value": [escaped(figure.in_words) for _, figure in found.rows],
                "How": [escaped(figure.how) for _, figure in found.rows],
            }
        )


def _exports(comparison_id: str, *, sides_unknown: bool) -> None:
    exported = partial(workspace().comparisons.exported, comparison_id)
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "Every answer as CSV",
            exported,
            "answers.csv",
            "text/csv",
            on_click="ignore",
            icon=":material/download:",
        )
        if sides_unknown:
            votes = partial(exported, votes=True)
            st.download_button("Votes for bench compare", votes, "votes.jsonl", on_click="ignore")


def _standing(name: str, figure: Figure) -> Standing:
    value = figure.value or 0.0
    low, high = (value if end is None else end for end in (figure.low, figure.high))
    return Standing(name, value, low, high)


def _plot(title: str, told: str) -> None:
    st.markdown(f"##### {title}")
    st.markdown(escaped(told))


def _wins(found: ComparisonResults) -> None:
    _plot(f"How often “{escaped(found.names[0])}” was chosen", found.told["wins"])
    rows = [
        (f"{of} ({figure.n:,})", [_standing(found.names[0], figure)])
        for of, figure in found.wins.items()
        if figure.value is not None
    ]
    compared(rows, ends=(0, 1), step=0.25, line=0.5, percent=True, alt=found.told["wins"], key="compare-wins")


def _helpfulness(found: ComparisonResults) -> None:
    _plot("How helpful each was rated", found.told["helpfulness"])
    names = list(found.names)
    levels = [Part(level.value, counts) for level, counts in found.levels.items()]
    stacked_shares(names, levels, alt=found.told["helpfulness"], between=" / ", key="compare-levels")
    compared(
        [("mean", _both(found.names, found.helpfulness))],
        ends=(0, 1),
        step=0.25,
        alt=found.told["helpfulness"],
        key="compare-helpfulness",
    )
    ranks, model = (escaped(one.in_words) for one in (found.helpfulness.differ, found.rated_model))
    st.caption(f"The difference by signed ranks: {ranks}; by the mixed model: {model}")


def _statements(found: ComparisonResults) -> None:
    _plot("How far readers agree with five sentences about each, from 1 to 5", found.told["statements"])
    rows = [(statement.value, _both(found.names, both)) for statement, both in found.statements.items()]
    compared(rows, ends=(1, 5), step=1, alt=found.told["statements"], key="compare-statements")
    ran = {of.value: both.differ for of, both in found.statements.items() if not both.differ.not_run}
    tests = [f"{name} {escaped(figure.in_words)}" for name, figure in ran.items()]
    st.caption(f"Differences by signed ranks: {'; '.join(tests) or 'NOT RUN: every answer rates both notes alike'}")
    st.caption(" ".join(f"*{statement.value}*: {statement.words}" for statement in found.statements))


def _both(names: Sequence[str], both: BothRated) -> list[Standing]:
    return [_standing(name, figure) for name, figure in zip(names, (both.first, both.second), strict=True)]
