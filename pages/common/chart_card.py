"""A picture with its sentence, its numbers as a table and as CSV, and a button that saves it as an image."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation

import streamlit as st

from crowdnotes.text.markdown import escaped
from crowdnotes.text.table_files import table_text
from pages.common.charts import legend
from pages.common.components import save_image
from pages.common.session import download

Rows = Mapping[str, Sequence[object]]
_MAX_ROWS_UNSCROLLED, _MAX_TABLE_HEIGHT = 10, 320  # rows of a table; pixels


def picture_card(
    key: str,
    *,
    title: str,
    sentence: str,
    draw: Callable[[str], list[tuple[str, str]]],
    rows: Rows,
    file: str,
    signs: str = "",
    foot: Sequence[str] = (),
) -> None:
    """Draw it: `draw` gets the key of the plot and gives its legend, with `signs` as `charts.legend` has them.

    `file` is a name without its ending. `foot` is written below the saved image; without it, that the crowd is made up.
    """
    with st.container(gap="xxsmall", border=True, key=f"{key}-card"):
        head = st.container(
            horizontal=True, gap="xsmall", vertical_alignment="center", horizontal_alignment="distribute"
        )
        st.markdown(f"**{escaped(sentence)}**")
        entries = draw(key)
        if entries:
            legend(entries, signs)
    with head:
        st.caption(escaped(title), width="content")
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", wrap=False, width="content"):
            numbers = st.popover(
                "Numbers",
                icon=":material/table:",
                type="tertiary",
                key=f"{key}-table",
                on_change="rerun",
            )
            if numbers.open:  # a table that nobody sees would slow a slider down
                with numbers:
                    table_with_csv(rows, key=key, file=file)
            save_image(
                key,
                label="Save as image",
                title=title,
                sentence=sentence,
                legend=entries,
                foot=foot or ["CrowdNotes, a made-up crowd scored by the Community Notes algorithm"],
                file=f"crowdnotes-{file}.png",
            )


def table_with_csv(rows: Rows, *, key: str, file: str) -> None:
    """Draw a table, and below it a button that saves it."""
    shown = {name: [escaped(str(value)) for value in column] for name, column in rows.items()}
    st.table(
        shown,
        hide_index=True,
        height=_MAX_TABLE_HEIGHT if max(map(len, rows.values())) > _MAX_ROWS_UNSCROLLED else "content",
    )
    download("Save as CSV", lambda _: _rows_as_csv(rows), f"crowdnotes-{file}.csv", "text/csv", key=f"{key}-csv")


def _rows_as_csv(rows: Rows) -> str:
    return table_text(list(rows), (map(_to_number, row) for row in zip(*rows.values(), strict=True)))


def _to_number(value: object) -> object:
    """Return the number that the screen shows, with its minus sign; anything else unchanged."""
    try:
        return Decimal(str(value).replace("−", "-"))
    except InvalidOperation:
        return value
