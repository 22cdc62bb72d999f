"""A study of sources on the overview: those that CrowdNotes chose beside those that people cited, by kind."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import SourceCategory
from crowdnotes.overview import UtilityStudy, saved_study, utility_table, utility_verdict
from crowdnotes.text.markdown import day, escaped
from crowdnotes.wording import say
from pages.common.chart_card import picture_card, table_with_csv
from pages.common.charts import shades, stacked
from pages.common.session import workspace

_TALL = 130  # pixels


def utility_study() -> None:
    """Draw the study that was saved; nothing before there is one."""
    found = saved_study(workspace().settings.data_dir)
    if found is None:
        return
    st.header(say("utility_study.title"), anchor=False)
    won = found.wins["all"]
    sentence = utility_verdict(found)
    sides = [say("utility_study.chosen"), say("utility_study.cited")]
    kinds = [kind.value for kind in found.kinds]
    picture_card(
        "utility",
        title=say("utility_study.kinds"),
        sentence=sentence,
        draw=lambda key: _kinds(found, sides, alt=f"{say('utility_study.kinds')}. {sentence}", key=key),
        rows={
            say("utility_study.kind"): kinds,
            sides[0]: [chosen for chosen, _ in found.kinds.values()],
            sides[1]: [cited for _, cited in found.kinds.values()],
        },
        file="sources-by-kind",
        foot=[say("utility_study.foot", n=won.pairs, data=found.data)],
    )
    counted = say("utility_study.beside", won=won.won, lost=won.lost, tied=won.tied)
    nothing = say("utility_study.nothing", n=found.nothing_found) if found.nothing_found else ""
    st.caption(escaped(f"{counted} {nothing}".strip()))
    st.caption(
        escaped(
            say(
                "utility_study.judged",
                engine=found.chosen_by,
                places=", ".join(found.places),
                judges=", ".join(found.judged_by),
                when=day(found.made_at),
                pages=found.pages,
                n=found.compared,
            ),
            500,
        )
    )
    st.subheader(say("utility_study.wins"), anchor=False)
    table_with_csv(utility_table(found), key="utility-wins", file="sources-compared")


def _kinds(found: UtilityStudy, sides: list[str], *, alt: str, key: str) -> list[tuple[str, str]]:
    """The mix of kinds on each side, as in figure 7 of the CrowdNotes+ paper."""
    parts = [(kind.value, [float(number) for number in numbers]) for kind, numbers in found.kinds.items()]
    colours = dict(shades([kind.value for kind in SourceCategory]))  # a kind has its colour wherever it stands
    entries = [(name, colours[name]) for name, _ in parts]
    stacked(
        sides,
        parts,
        colours=[colour for _, colour in entries],
        tones=[None] * len(parts),
        unit=say("utility_study.unit"),
        shares=True,
        height=_TALL,
        alt=alt,
        key=key,
    )
    return entries
