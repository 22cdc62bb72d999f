"""The attack lab: accounts that act together vote on a note; how many it takes, and which rules resist."""

from __future__ import annotations

from typing import Any

import streamlit as st

from crowdnotes.public_data.attack import (
    MAX_ACCOUNTS,
    MIN_RATINGS_BEFORE_ATTACK,
    Aim,
    Attack,
    AttackOptions,
    History,
    cheapest,
    every_history,
    in_figures,
    later_sentence,
    notice_sentence,
    verdict,
)
from crowdnotes.public_data.small_world import RATERS
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import plural
from pages.algorithm_parts.charts import needed, progress
from pages.algorithm_parts.small_world import chosen_world
from pages.common.chart_card import picture_card
from pages.common.session import show_errors

_CHART_HEIGHT = 270  # pixels
_RATINGS_BEFORE_ATTACK = (MIN_RATINGS_BEFORE_ATTACK, 10, 15, 20, 30, None)  # honest ones; None is all


@st.fragment
def attack_lab() -> None:
    """Who attacks what, how it goes with each number of accounts, and which accounts need to be the fewest."""
    st.caption("How many accounts must vote alike to hide a note, or to get it shown?")
    with show_errors():
        left, right = st.columns([0.24, 0.76], gap="medium")
        with left:
            options = _ask_attack_options()
            with st.expander("The crowd", icon=":material/tune:"):
                world = chosen_world()
        with right:
            attacks = every_history(world, options)
            found = attacks[options.history]
            st.markdown(f"**Among {RATERS} made-up raters:** {escaped(verdict(world, found))}")
            st.caption(
                "X has far more raters and asks some of them at random, so these numbers are not X's. Compare the two "
                "ways of scoring."
            )
            later = "" if options.after is None else later_sentence(world, found)
            _draw_attack(found, attacks, [notice_sentence(world, found), later])


def _ask_attack_options() -> AttackOptions:
    aim: Any = st.radio("The attackers want to", list(Aim), format_func=_label_choice, key="aim")
    history: Any = st.selectbox(
        "Before, they rated",
        list(History),
        index=list(History).index(History.BOTH),
        key="history",
        format_func=_label_choice,
        help="Decides how much their votes count.",
    )
    after = st.select_slider(
        "Honest ratings before the attack",
        _RATINGS_BEFORE_ATTACK,
        value=None,
        key="after",
        help="Early on, few ratings resist an attack.",
        format_func=lambda many: "all" if many is None else str(many),
    )
    assigned = st.toggle(
        "X gives out notes",
        key="assigned",
        help="Accounts may rate only notes that X gives them at random: as many as an honest rater rates.",
    )
    noticed = st.toggle(
        "X notices them",
        key="noticed",
        help="X notices that they act together, and asks what the score would be without them. "
        "This guards only notes that are pushed up.",
    )
    return AttackOptions(aim=aim, history=history, after=after, assigned=assigned, noticed=noticed)


def _label_choice(choice: Aim | History) -> str:
    return f"{choice.value[0].upper()}{choice.value[1:]}"


def _draw_attack(found: Attack, attacks: dict[History, Attack], more: list[str]) -> None:
    grid = st.grid(2, min_column_width=330, gap="small")
    line = found.line
    # Both pictures end at the same number of accounts, where both have come to what is wanted.
    last = min(
        MAX_ACCOUNTS,
        max(20, -(-2 * max(_or_max_accounts(found.needed), _or_max_accounts(found.needed_by_average)) // 10) * 10),
    )

    def by_score(key: str) -> list[tuple[str, str]]:
        progress(
            found.scores, found.shown, line=line, reached=found.needed, up="Score (iₙ)",
            ends=(-0.4, 0.8), last=last, height=_CHART_HEIGHT, alt=f"Community Notes. {found.sentence}", key=key,
        )  # fmt: skip
        return []

    def by_average(key: str) -> list[tuple[str, str]]:
        progress(
            found.averages, found.shown_by_average, line=found.average_line, reached=found.needed_by_average,
            up="Average rating", ends=(-0.05, 1.05), last=last, height=_CHART_HEIGHT,
            alt=f"Plain average. {found.average_sentence}", key=key,
        )  # fmt: skip
        return []

    def bars(key: str) -> list[tuple[str, str]]:
        rows = [(_label_choice(one), at.needed, at.needed_by_average) for one, at in attacks.items()]
        names = "Community Notes", "Plain average"
        return needed(
            rows,
            names=names,
            most=MAX_ACCOUNTS,
            alt=f"Accounts needed, by what they rated before. {cheapest(attacks)}",
            key=key,
        )

    with grid.cell():
        picture_card(
            "attack-scores", title="Community Notes", sentence=found.sentence, draw=by_score, rows=found.rows,
            file="attack",
        )  # fmt: skip
    with grid.cell():
        picture_card(
            "attack-averages", title="Plain average", sentence=found.average_sentence, draw=by_average,
            rows=found.rows, file="attack",
        )  # fmt: skip
    honest = (
        f"Note {found.note + 1} has {found.ratings} honest ratings when the attack begins. Filled point: the "
        "note is shown."
    )
    sentences = [honest, found.stays_sentence, found.accounts_sentence, *more]
    st.markdown(escaped(" ".join(filter(None, sentences))))
    _draw_defending_rules(found)
    picture_card(
        "attack-fewest", title="Accounts needed, by what they rated before", sentence=cheapest(attacks), draw=bars,
        rows={
            "Before, they rated": [one.value for one in attacks],
            "Community Notes": [in_figures(one.needed) for one in attacks.values()],
            "Plain average": [in_figures(one.needed_by_average) for one in attacks.values()],
        },
        file="attack-fewest",
    )  # fmt: skip
    st.caption("Each attacker rated as many other notes as an honest rater, or none.")


def _or_max_accounts(accounts: int | None) -> int:
    return MAX_ACCOUNTS if accounts is None else accounts


def _draw_defending_rules(found: Attack) -> None:
    """Draw the rules that kept the note down although its score reaches the line."""
    held = found.defences()
    if not held:
        return
    st.markdown(
        "The score reaches 0.40, but rules hold the note back:"
        if found.options.aim is not Aim.SINK
        else "The score still reaches 0.40, but rules take the note down:"
    )
    for rule, first, last, said in held:
        accounts = f"{first} to {last} accounts" if first != last else plural(first, "1 account", "{n} accounts")
        st.markdown(f"- {accounts}: {escaped(said)} :gray[:small[{rule.value}]]")
