"""The frame of the Draft and Supernote pages: steps, areas, tabs on a phone, and keyboard shortcuts."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import NoReturn

import streamlit as st

from crowdnotes.domain import Case
from pages.common.components import Judged, phone_tab_bar, read_aloud, scroll_into_view, shortcut_keys
from pages.common.session import notices, notices_elsewhere, show_errors

TWO_PANE_WIDTH = 1480  # pixels of the page: two panes of some 700


class StepName(StrEnum):
    """The five steps of the Draft page, in order. Errors of a step are shown at the place of its name."""

    POST = "Post"
    EVIDENCE = "Evidence"
    DRAFT = "Draft"
    REVIEW = "Review"
    DECIDE = "Decide"


class Area(StrEnum):
    """What a phone shows of the page, one at a time. Its value is in the class of its container."""

    POST = "post"
    SOURCES = "sources"
    NOTE = "note"
    DECIDE = "decide"


_CARD_PREFIX = "card "
_WANTED_AREA_KEY = "area"  # the area that a phone is to show, with a token for each time it is asked for
_DRAWN_TABS_KEY = "area-of"  # the page and case whose tabs were drawn last, unless an area was asked for since
_LABEL_BY_AREA = {
    Area.POST: "Post",
    Area.SOURCES: "Sources",
    Area.NOTE: "Note",
    Area.DECIDE: "Decide",
}
# What each key does, for the list of keys, and what it presses: the first of the selectors that finds something.
# tests/journeys/test_keyboard.py walks them.
_SHORTCUTS = {
    "j": ("Next source", [".st-key-next-source button"]),
    "k": ("Previous source", [".st-key-previous-source button"]),
    "1": (
        "Use the source, or stop using it",
        [".st-key-reject-1 button", "[class*=st-key-reader-use-] input"],
    ),
    "2": (
        "Read, not cited",
        [".st-key-reject-2 button", "[class*=st-key-otherwise-] button:first-of-type"],
    ),
    "3": (
        "Reject; then 1 to 4 for the reason",
        [".st-key-reject-3 button", "[class*=st-key-otherwise-] button:last-of-type"],
    ),
    "4": ("", [".st-key-reject-4 button"]),
    "o": ("Open the source", [".st-key-open-source a"]),
    "w": ("Write a draft, or find sentences to quote", [".st-key-write button"]),
    "p": (
        "Use the first draft or quotation",
        ["[class*=st-key-candidate-card-] button", "[class*=st-key-quote-] button"],
    ),
    "n": (
        "Write in the note; on the first screen, in the post",
        [".st-key-note-box textarea, .st-key-new-post-box textarea"],
    ),
    "ctrl+enter": ("Score the note", [".st-key-score button"]),
    "y": (
        "Mark the next sentence as supported",
        ["[class*=st-key-sentence-][class*=-unchecked] [class*=st-key-compare-] button"],
    ),
    "h": ("I checked: the next sentence is right", ["[class*=st-key-settled-] input:not(:checked)"]),
    "r": (
        "Approve anyway, with a reason",
        [".st-key-problems input[type=text]:placeholder-shown", ".st-key-problems details:not([open]) summary"],
    ),
    "t": ("Go to the tags", ["[class*=st-key-tags-] button"]),
    "a": ("Go to “Approve the note”", [".st-key-decide-approved button"]),
    "d": ("Go to “No note needed”", [".st-key-decide-not-needed button"]),
    "e": ("Go to “Not enough evidence”", [".st-key-decide-insufficient-evidence button"]),
    "x": ("Go to “Reject”", [".st-key-decide-rejected button"]),
    "?": ("These keys", [".st-key-shortcuts button"]),
}
_KEYS_BY_STEP = {
    "Reading sources": ("j", "k", "1", "2", "3", "4", "o"),
    "Writing the note": ("w", "p", "n", "ctrl+enter", "y", "h"),
    "Deciding": ("r", "t", "a", "d", "e", "x"),
    "At every step": ("?",),
}
_PASSAGE: Judged = {"places": [".st-key-reader"], "looks": ["passage"]}
_SENTENCE: Judged = {"around": "[class*=st-key-sentence-]"}
_JUDGED_BY_KEY = {**dict.fromkeys("1234", _PASSAGE), **dict.fromkeys("yh", _SENTENCE)}
_FOCUS_ONLY_KEYS = ("n", "t", "a", "d", "e", "x")  # they take the keyboard there: no case ends by one stray press


@contextmanager
def area(name: Area) -> Iterator[None]:
    """Open a part of the page that is a tab on a phone."""
    with st.container(key=f"area-{name.value}", gap="small"):
        yield


def quiet_header(words: str) -> None:
    """Draw a header that is read aloud and not seen: a way for screen readers through the parts of the page."""
    with st.container(key=f"quiet-heading-{words.lower()}"):
        st.header(words, anchor=False)


def part(name: str, draw: Callable[[], object]) -> None:
    """Draw a part of the page that `redraw` can draw again alone; anything else done in it draws the whole page."""
    state, wanted, is_first = st.session_state, f"redraw {name}", [True]
    state.pop(wanted, None)

    def body() -> None:
        if not is_first and not state.pop(wanted, False):
            st.rerun()
        is_first.clear()
        with show_errors():
            draw()

    st.fragment(body, key=name)()


def redraw(*parts: str) -> NoReturn:
    """Draw only these parts again, as the last thing that a button does: for all others nothing has changed."""
    st.session_state.update({f"redraw {name}": True for name in parts})
    st.rerun(parts)


def go_to(name: Area) -> None:
    """Let a phone show that area when the page is drawn next."""
    st.session_state[_WANTED_AREA_KEY] = (name, uuid.uuid4().hex[:8])
    st.session_state.pop(_DRAWN_TABS_KEY, None)


def scroll_target(name: Area) -> None:
    """Mark where that area begins: the page comes here, and the keyboard if it has no place, at each visit."""
    wanted, token = st.session_state.get(_WANTED_AREA_KEY, (None, ""))
    scroll_into_view(token if wanted is name else "", f"area-{name.value}", name=_LABEL_BY_AREA[name])


def phone_tabs(case: Case, signs: Mapping[Area, str], labels: Mapping[Area, str] = _LABEL_BY_AREA) -> None:
    """Draw the tabs of a phone, each with a sign of its state; on a wide screen nothing. `labels` name texts."""
    state, here = st.session_state, f"{labels[Area.SOURCES]} {case.id}"
    if state.get(_DRAWN_TABS_KEY, here) != here:  # what was asked for on another page, or of another case, is past
        del state[_WANTED_AREA_KEY]
    state[_DRAWN_TABS_KEY] = here
    wanted, token = state.setdefault(_WANTED_AREA_KEY, (_choose_first_area(case), here))
    tabs = [{"name": name.value, "label": labels[name], "sign": signs[name]} for name in Area]
    phone_tab_bar(tabs, wanted.value, token)


def next_area_button(to: Area, label: str) -> None:
    """Draw the button to the next area of a phone; page.css hides it where both are on the screen."""
    with st.container(key=f"onward-{to.value}"):
        st.button(label, key=f"go-to-{to.value}", icon=":material/arrow_forward:", on_click=go_to, args=(to,))


def keys() -> None:
    """Let single keys do what the page's buttons do, where nobody is typing."""
    shortcut_keys({key: found for key, (_, found) in _SHORTCUTS.items()}, _FOCUS_ONLY_KEYS, _JUDGED_BY_KEY)


KEYS_CAPTION = (
    "Keys work while you are not typing; Escape leaves a field. A key that judges first shows what it judges: press it "
    "again when you have read it."
)


def key_help(words: str = "", caption: str = "") -> None:
    """Draw the button that lists the keys: those of the Draft page, unless `words` and `caption` say others."""
    with st.popover("Keys", icon=":material/keyboard:", type="tertiary", key="shortcuts"):
        with st.grid(1 if words else 2, min_column_width=230):
            for group in [words] if words else list_keys_by_step():
                st.markdown(group)
        st.caption(caption or KEYS_CAPTION)


def list_keys_by_step() -> list[str]:
    """Return Markdown for each step: its keys and what each does, a line for each."""
    return [
        "  \n".join([f"**{step}**", *(f"`{key}` {name}" for key in keys if (name := _SHORTCUTS[key][0]))])
        for step, keys in _KEYS_BY_STEP.items()
    ]


def _choose_first_area(case: Case) -> Area:
    if case.decision is not None:
        return Area.DECIDE
    return Area.NOTE if case.draft is not None or case.finished_round is not None else Area.SOURCES


def card_place(evidence_id: str) -> str:
    """Return the place for errors with a passage: at the passage."""
    return f"{_CARD_PREFIX}{evidence_id}"


def notices_of_gone_cards(case: Case) -> None:
    """Draw what went wrong with passages that are not here any more: another tab may have put others in their place."""
    for place in notices_elsewhere(_CARD_PREFIX, {card_place(item.id) for item in case.evidence}):
        notices(place)


_DONE, _CURRENT, _WAITING = (
    (":green[:material/check_circle:]", "done"),
    (":primary[:material/radio_button_checked:]", "now"),
    (":gray[:material/radio_button_unchecked:]", "not done"),
)


def in_a_line(steps: Sequence[tuple[str, bool, str]]) -> str:
    """Markdown of steps: each its name with a sign, whether it is done, and its state (Markdown, already safe).

    Once the last one, the decision, is done, none is the current one: a case may end before its note is written.
    """
    ended = steps[-1][1]
    here = next((number for number, (_, done, _) in enumerate(steps) if not (done or ended)), len(steps))
    states = (_DONE if done else _CURRENT if number == here else _WAITING for number, (_, done, _) in enumerate(steps))
    return " \u2002 ".join(
        f"{sign} **{name}**{read_aloud(f': {state};')} {f':small[:gray[{said}]]' if said else ''}"
        for (sign, state), (name, _, said) in zip(states, steps, strict=True)
    )


class SupernoteStep(StrEnum):
    """The steps of the Supernote page, in order. Errors of a step are shown at the place of its name."""

    NOTES = "Notes"
    CANDIDATES = "Candidates"
    WINNER = "Winner"
    WATCH = "Watch"
    SUGGESTIONS = "Suggestions"
