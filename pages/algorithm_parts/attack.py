"""The attack lab: accounts that act together vote on a note; how many it takes, and which rules stand in the way."""

from __future__ import annotations

from typing import Any

import streamlit as st

from crowdnotes.public_data.attack import (
    EARLIEST,
    MOST,
    Aim,
    Attack,
    AttackOptions,
    History,
    cheapest,
    every_history,
    in_figures,
    later_sentence,
    verdict,
)
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import say
from pages.algorithm_parts.charts import needed, progress
from pages.algorithm_parts.small_world import chosen_world
from pages.common.chart_card import picture_card
from pages.common.session import telling

_HEIGHT = 270  # pixels
_AFTER = (EARLIEST, 10, 15, 20, 30, None)  # honest ratings before the attack; None is all


@st.fragment
def attack_lab() -> None:
    """Who attacks what, how it goes with each number of accounts, and which accounts need to be the fewest."""
    with telling():
        left, right = st.columns([0.24, 0.76], gap="medium")
        with left:
            options = _options()
            with st.expander(say("attack.world"), icon=":material/tune:"):
                world = chosen_world()
        with right:
            attacks = every_history(world, options)
            found = attacks[options.history]
            st.markdown(f"**{escaped(verdict(world, found))}**")
            _drawn(found, attacks, "" if options.after is None else later_sentence(world, found))


def _options() -> AttackOptions:
    aim: Any = st.radio(say("attack.aim"), list(Aim), format_func=lambda one: one.value.capitalize(), key="aim")
    history: Any = st.selectbox(
        say("attack.history"), list(History), index=list(History).index(History.BOTH), key="history",
        format_func=lambda one: one.value.capitalize(), help=say("attack.history_help"),
    )  # fmt: skip
    after = st.select_slider(
        say("attack.after"), _AFTER, value=None, key="after", help=say("attack.after_help"),
        format_func=lambda many: say("attack.all") if many is None else str(many),
    )  # fmt: skip
    assigned = st.toggle(say("attack.assigned"), key="assigned", help=say("attack.assigned_help"))
    noticed = st.toggle(say("attack.noticed"), key="noticed", help=say("attack.noticed_help"))
    return AttackOptions(aim=aim, history=history, after=after, assigned=assigned, noticed=noticed)


def _drawn(found: Attack, attacks: dict[History, Attack], later: str) -> None:
    grid = st.grid(2, min_column_width=330, gap="small")
    line = found.line
    # Both pictures end at the same number of accounts, where both have come to what is wanted.
    last = min(MOST, max(20, -(-2 * max(_or_most(found.needed), _or_most(found.needed_by_average)) // 10) * 10))

    def by_score(key: str) -> list[tuple[str, str]]:
        progress(
            found.scores, found.shown, line=line, reached=found.needed, up=say("small_world.helpfulness"),
            ends=(-0.4, 0.8), last=last, height=_HEIGHT, alt=f"{say('attack.by_score')}. {found.sentence}", key=key,
        )  # fmt: skip
        return []

    def by_average(key: str) -> list[tuple[str, str]]:
        progress(
            found.averages, found.shown_by_average, line=found.average_line, reached=found.needed_by_average,
            up=say("small_world.average"), ends=(-0.05, 1.05), last=last, height=_HEIGHT,
            alt=f"{say('attack.by_average')}. {found.average_sentence}", key=key,
        )  # fmt: skip
        return []

    def bars(key: str) -> list[tuple[str, str]]:
        rows = [(one.value.capitalize(), at.needed, at.needed_by_average) for one, at in attacks.items()]
        names = say("attack.rules"), say("attack.averages")
        return needed(rows, names=names, most=MOST, alt=f"{say('attack.fewest')}. {cheapest(attacks)}", key=key)

    with grid.cell():
        picture_card(
            "attack-scores", title=say("attack.by_score"), sentence=found.sentence, draw=by_score, rows=found.rows,
            file="attack",
        )  # fmt: skip
    with grid.cell():
        picture_card(
            "attack-averages", title=say("attack.by_average"), sentence=found.average_sentence, draw=by_average,
            rows=found.rows, file="attack",
        )  # fmt: skip
    honest = say("attack.ratings", note=found.note + 1, n=found.ratings)
    told = [honest, found.stays_sentence, found.accounts_sentence, later]
    if found.options.noticed and found.options.aim is Aim.SINK:
        told.append(say("attack.noticed_sinks"))
    st.markdown(escaped(" ".join(filter(None, told))))
    _rules(found)
    picture_card(
        "attack-fewest", title=say("attack.fewest"), sentence=cheapest(attacks), draw=bars,
        rows={
            say("attack.history"): [one.value for one in attacks],
            say("attack.rules"): [in_figures(one.needed) for one in attacks.values()],
            say("attack.averages"): [in_figures(one.needed_by_average) for one in attacks.values()],
        },
        file="attack-fewest",
    )  # fmt: skip
    st.caption(say("attack.held"))


def _or_most(accounts: int | None) -> int:
    return MOST if accounts is None else accounts


def _rules(found: Attack) -> None:
    """The rules that kept the note down although its score reaches the line."""
    held = found.defences()
    if not held:
        return
    st.markdown(say("attack.rules_held" if found.options.aim is not Aim.SINK else "attack.rules_sink"))
    for rule, first, last, said in held:
        accounts = say("attack.from_to", first=first, last=last) if first != last else say("attack.at", n=first)
        st.markdown(f"- {accounts}: {escaped(said)} :gray[:small[{rule.value}]]")
