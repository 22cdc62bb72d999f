"""What the answers of a blind comparison come to: plots with the sentence that each tells, and every figure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from crowdnotes.domain import BothRated, ComparisonResults, Figure
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import say
from pages.common.charts import Part, Standing, compared, stacked_shares
from pages.common.session import workspace


@st.cache_data(max_entries=50, show_spinner=say("comparison_results.counting"))
def _results(comparison_id: str, answers: int, newest: object) -> ComparisonResults:  # noqa: ARG001 - part of the key
    """Counted once for each new answer."""
    return workspace().comparisons.results(comparison_id)


def results_view(comparison_id: str) -> None:
    """Draw the results. Raises ComparisonNotFoundError."""
    kept = workspace().comparisons
    comparison = kept.get(comparison_id)
    answers = kept.answers(comparison_id)
    found = _results(comparison_id, len(answers), max((answer.at for answer in answers), default=None))
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.header(escaped(comparison.title), anchor=False, width="content")
        _exports(comparison_id, sides_unknown=comparison.sides_unknown)
    came, pairs = came_in(found.answers, found.participants), say("compare.pairs", n=len(comparison.pairs))
    st.caption(say("comparison_results.on_pairs", came=came, answered=found.pairs, pairs=pairs))
    if comparison.sides_unknown or not answers:
        title = say("comparison_results.not_run" if answers else "comparison_results.nothing")
        st.info(escaped(found.told["wins"]), title=title)
        return
    left, right = st.columns(2, gap="large")
    with left:
        _wins(found)
    with right:
        _helpfulness(found)
    _statements(found)
    with st.expander(say("comparison_results.figures"), icon=":material/table:"):
        st.caption(say("comparison_results.figures_about"))
        st.dataframe(
            {
                say("comparison_results.figure"): [name for name, _ in found.rows],
                say("comparison_results.value"): [figure.in_words for _, figure in found.rows],
                say("comparison_results.how"): [figure.how for _, figure in found.rows],
            },
            hide_index=True,
            height=330,
            alt=say("comparison_results.figures"),
        )


def came_in(answers: int, participants: int) -> str:
    """How many answers there are, and of how many people."""
    people = say("compare.participants", n=participants)
    return say("compare.came", answers=say("compare.answers", n=answers), participants=people)


def _exports(comparison_id: str, *, sides_unknown: bool) -> None:
    exported = partial(workspace().comparisons.exported, comparison_id)
    with st.container(horizontal=True, gap="small", width="content"):
        st.download_button(
            say("comparison_results.csv"),
            exported,
            "answers.csv",
            "text/csv",
            on_click="ignore",
            icon=":material/download:",
        )
        if sides_unknown:
            votes = partial(exported, votes=True)
            st.download_button(say("comparison_results.votes"), votes, "votes.jsonl", on_click="ignore")


def _standing(name: str, figure: Figure) -> Standing:
    value = figure.value or 0.0
    low, high = (value if end is None else end for end in (figure.low, figure.high))
    return Standing(name, value, low, high)


def _plot(title: str, told: str) -> None:
    st.markdown(f"### {title}")
    st.markdown(escaped(told))


def _wins(found: ComparisonResults) -> None:
    _plot(say("comparison_results.wins", name=escaped(found.names[0])), found.told["wins"])
    rows = [
        (f"{of} ({figure.n:,})", [_standing(found.names[0], figure)])
        for of, figure in found.wins.items()
        if figure.value is not None
    ]
    compared(rows, ends=(0, 1), step=0.25, line=0.5, percent=True, alt=found.told["wins"], key="compare-wins")


def _helpfulness(found: ComparisonResults) -> None:
    _plot(say("comparison_results.helpfulness"), found.told["helpfulness"])
    names = list(found.names)
    levels = [Part(level.in_words, counts) for level, counts in found.levels.items()]
    stacked_shares(names, levels, alt=found.told["helpfulness"], between=" / ", key="compare-levels")
    compared(
        [(say("comparison_results.mean"), _both(found.names, found.helpfulness))],
        ends=(0, 1),
        step=0.25,
        alt=found.told["helpfulness"],
        key="compare-helpfulness",
    )


def _statements(found: ComparisonResults) -> None:
    _plot(say("comparison_results.statements"), found.told["statements"])
    rows = [(statement.in_words, _both(found.names, both)) for statement, both in found.statements.items()]
    compared(rows, ends=(1, 5), step=1, alt=found.told["statements"], key="compare-statements")
    told = [say("comparison_results.statement", name=one.in_words, words=one.words) for one in found.statements]
    st.caption(" ".join(told))


def _both(names: Sequence[str], both: BothRated) -> list[Standing]:
    return [_standing(name, figure) for name, figure in zip(names, (both.first, both.second), strict=True)]
