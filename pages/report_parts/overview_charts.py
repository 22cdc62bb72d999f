"""The charts of the Overview page, and its study of sources chosen by CrowdNotes and cited by people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from statistics import median

import streamlit as st

from crowdnotes.domain import SourceCategory
from crowdnotes.reports.overview import MIN_CASES, Counted, Overview, Picture, Sides, Spread, in_time
from crowdnotes.studies.bench.source_study import UtilityStudy, saved_study, utility_table, utility_verdict
from crowdnotes.text.markdown import day, escaped
from crowdnotes.wording import plural
from pages.common.chart_card import picture_card, table_with_csv
from pages.common.charts import Tone, legend, shades, spread, stacked, two_sides
from pages.common.components import save_image
from pages.common.session import workspace

_CHART_HEIGHT, _MIN_CHART_HEIGHT, _BAR_HEIGHT = 160, 100, 23  # pixels
_MIN_COLUMN_WIDTH = 400
_GATE_TONES: tuple[Tone, ...] = ("pass", "fail", "none")
_FIXED_NOTE_TONES: tuple[Tone, ...] = ("pass", "warn", "fail")
_ENDING_TONES: tuple[Tone | None, ...] = (None, None, None, None, "none")
_UNITS_WITHOUT_SUM = frozenset({"notes", "sources"})  # of gates and sources the same thing is counted in each bar
_LegendEntries = list[tuple[str, str]]


def pictures(found: Overview, now: datetime) -> None:
    """Draw all of them."""
    if found.cases < MIN_CASES:
        _draw_few_cases(found)
        return
    cases = plural(found.cases, "{n:,} case", "{n:,} cases")
    st.caption(escaped(found.remark or cases))
    foot = f"CrowdNotes, {cases}, {day(now)}"
    drawn: list[tuple[str, Picture, Callable[[str], _LegendEntries]]] = [
        ("times", found.times, lambda key: _draw_spread(found.times, key)),
        ("trend", found.trend, lambda key: _draw_spread(found.trend, key, upright=True)),
        (
            "endings",
            found.endings,
            lambda key: _draw_counted_bars(found.endings, key, tones=_ENDING_TONES, upright=True),
        ),
        ("gates", found.gates, lambda key: _draw_counted_bars(found.gates, key, tones=_GATE_TONES)),
        ("mended", found.mended, lambda key: _draw_counted_bars(found.mended, key, tones=_FIXED_NOTE_TONES)),
        ("sources", found.sources, lambda key: _draw_counted_bars(found.sources, key)),
        ("readers", found.readers, lambda key: _draw_two_sides(found.readers, key)),
        ("cost", found.cost, lambda key: _draw_counted_bars(found.cost, key, upright=True)),
    ]
    grid = st.grid(2, min_column_width=_MIN_COLUMN_WIDTH, border=True, gap="small")
    for name, picture, draw in drawn:
        if picture.is_drawn and picture.n >= MIN_CASES:
            with grid.cell():
                _draw_picture_card(name, picture, draw, foot)
    _draw_sentences([picture for picture in found.pictures if not picture.is_drawn or picture.n < MIN_CASES])
    _name_empty_pictures(found)


def _draw_sentences(found: Sequence[Picture]) -> None:
    """Draw what is known of too few things for a chart."""
    for picture in found:
        if picture.n:
            st.markdown(f"**{escaped(picture.title)}**: {escaped(picture.sentence)}")


def _name_empty_pictures(found: Overview) -> None:
    empty = dict.fromkeys(picture.sentence for picture in found.pictures if not picture.n)
    if empty:
        st.caption(escaped(" ".join(empty)))


def _draw_few_cases(found: Overview) -> None:
    """Draw what is known of few cases in sentences: they are too few for a chart."""
    st.info(
        f"With {MIN_CASES} cases you see here what is usual, in charts.",
        title=plural(found.cases, "1 case", "{n} cases"),
        icon=":material/monitoring:",
    )
    _draw_sentences(found.pictures)
    st.page_link("pages/cases.py", label="Open the cases", icon=":material/folder_open:")
    _name_empty_pictures(found)


def _draw_picture_card(name: str, picture: Picture, draw: Callable[[str], _LegendEntries], foot: str) -> None:
    key = f"overview-{name}"
    reasons = f"Not counted: {', '.join(picture.not_counted)}." if picture.not_counted else ""
    remarks = " ".join(filter(None, [picture.more, reasons]))
    with st.container(gap="xxsmall", key=f"{key}-card"):
        head = st.container(
            horizontal=True, gap="xsmall", vertical_alignment="center", horizontal_alignment="distribute"
        )
        held = picture.sentence.replace("n = ", "n\u00a0=\u00a0")  # on one line
        st.markdown(f"**{escaped(held)}**")
        entries = draw(key)
        if entries:
            legend(entries)
        if remarks:
            st.caption(escaped(remarks))
    with head:
        st.caption(escaped(picture.title), width="content")
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", wrap=False, width="content"):
            with st.popover("Numbers", icon=":material/table:", type="tertiary", key=f"{key}-table"):
                unit = f", {picture.unit}" if isinstance(picture, Counted) else ""
                st.markdown(f"**{escaped(picture.title)}**{unit}")
                st.table(_build_numbers_table(picture))
            save_image(
                key,
                label="Save as image",
                title=picture.title,
                sentence=picture.sentence,
                legend=entries,
                foot=[line for line in (remarks, foot) if line],
                file=f"crowdnotes-{name}.png",
            )


def _draw_spread(picture: Spread, key: str, *, upright: bool = False) -> _LegendEntries:
    medians = [in_time(median(values)) if len(values) >= MIN_CASES else "" for _, values in picture.groups]
    levels = [(*level, in_time(level[2])) for level in picture.levels]
    if levels:
        medians = [""] * len(medians)
    alt = _format_alt_text(picture)
    spread(picture.groups, medians=medians, levels=levels, upright=upright, height=_CHART_HEIGHT, alt=alt, key=key)
    return []


def _draw_counted_bars(
    picture: Counted, key: str, *, upright: bool = False, tones: Sequence[Tone | None] = ()
) -> _LegendEntries:
    there = [place for place, (_, counts) in enumerate(picture.parts) if any(counts)]
    parts = [picture.parts[place] for place in there]
    # Colours go by a part's place among all, so that it keeps its own whatever is filtered away.
    every = shades([name for name, _ in picture.parts], tones)
    colours = [every[place][1] for place in there]
    hatches = [tones[place] if tones else None for place in there]
    height = _CHART_HEIGHT if upright else max(_MIN_CHART_HEIGHT, _BAR_HEIGHT * len(picture.bars) + 12)
    stacked(
        picture.bars,
        parts,
        colours=colours,
        tones=hatches,
        unit=picture.unit,
        shares=picture.unit == "sources",
        sign=" ¢" if picture.unit == "US cents" else "",
        upright=upright,
        height=height,
        alt=_format_alt_text(picture),
        key=key,
    )
    names = [
        name if picture.unit in _UNITS_WITHOUT_SUM else f"{name} {_format_number(sum(counts))}"
        for name, counts in parts
    ]
    return list(zip(names, colours, strict=True))


def _draw_two_sides(picture: Sides, key: str) -> _LegendEntries:
    names = "People on side A", "People on side B"
    colours = two_sides(picture.notes, names=names, height=_CHART_HEIGHT, alt=_format_alt_text(picture), key=key)
    return list(zip(("enough to be shown", "not enough"), colours, strict=True))


def _format_alt_text(picture: Picture) -> str:
    return f"{picture.title}. {picture.sentence}"


def _build_numbers_table(picture: Picture) -> dict[str, list[str]]:
    """Return every number of a picture, for people who read rather than look."""
    if isinstance(picture, Spread):
        groups = [(name, values) for name, values in picture.groups if values]
        return {
            "Group": [escaped(name) for name, _ in groups],
            "Cases": [str(len(values)) for _, values in groups],
            "Half within": [in_time(median(values)) if len(values) >= MIN_CASES else "too few" for _, values in groups],
        }
    if isinstance(picture, Counted):
        columns = {name: [_format_number(number) for number in counts] for name, counts in picture.parts if any(counts)}
        heading = "What" if picture.unit in _UNITS_WITHOUT_SUM | {"checks"} else "Started"
        return {heading: [escaped(bar) for bar in picture.bars]} | columns
    if isinstance(picture, Sides):
        return {
            "What": [escaped(name) for name, *_ in picture.sums],
            "Notes": [str(number) for _, number, _ in picture.sums],
            "enough to be shown": [str(reached) for *_, reached in picture.sums],
        }
    raise TypeError(type(picture))


def _format_number(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 or float(number).is_integer() else f"{number:.2g}"


_STUDY_CHART_HEIGHT = 130  # pixels


def utility_study() -> None:
    """Draw the study that was saved; nothing before there is one."""
    found = saved_study(workspace().settings.data_dir)
    if found is None:
        return
    st.header("Sources that CrowdNotes chose, and that people cited", anchor=False)
    won = found.wins["all"]
    sentence = utility_verdict(found)
    sides = ["Chosen by CrowdNotes", "Cited by people"]
    kinds = [kind.value for kind in found.kinds]
    picture_card(
        "utility",
        title="Kinds of source on each side",
        sentence=sentence,
        draw=lambda key: _draw_source_categories(
            found, sides, alt=f"Kinds of source on each side. {sentence}", key=key
        ),
        rows={
            "Kind of source": kinds,
            sides[0]: [chosen for chosen, _ in found.kinds.values()],
            sides[1]: [cited for _, cited in found.kinds.values()],
        },
        file="sources-by-kind",
        foot=[f"CrowdNotes, sources of {won.pairs} posts in {found.data}"],
    )
    counted = f"Won {won.won}, lost {won.lost}, tied {won.tied}."
    nothing = (
        plural(
            found.nothing_found,
            "CrowdNotes found nothing for {n} more post.",
            "CrowdNotes found nothing for {n} more posts.",
        )
        if found.nothing_found
        else ""
    )
    st.caption(escaped(f"{counted} {nothing}".strip()))
    st.caption(
        escaped(
            f"Chosen by {found.chosen_by} from {', '.join(found.places)}. Judged by {', '.join(found.judged_by)}, "
            f"{day(found.made_at)}: {found.pages} of {found.compared} pairs with their text, the others by site and "
            "title or address.",
            500,
        )
    )
    st.subheader("How often each side won", anchor=False)
    table_with_csv(utility_table(found), key="utility-wins", file="sources-compared")


def _draw_source_categories(found: UtilityStudy, sides: list[str], *, alt: str, key: str) -> list[tuple[str, str]]:
    """Draw the mix of kinds on each side, as in figure 7 of the CrowdNotes+ paper."""
    parts = [(kind.value, [float(number) for number in numbers]) for kind, numbers in found.kinds.items()]
    colours = dict(shades([kind.value for kind in SourceCategory]))  # a kind has the same colour at any place
    entries = [(name, colours[name]) for name, _ in parts]
    stacked(
        sides,
        parts,
        colours=[colour for _, colour in entries],
        tones=[None] * len(parts),
        unit="sources",
        shares=True,
        height=_STUDY_CHART_HEIGHT,
        alt=alt,
        key=key,
    )
    return entries
