"""What Streamlit lacks: a live counter, marked text, the path of the gates, a place to scroll to, a menu that closes.

The JavaScript only ever sets textContent, so text from outside stays text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict
from urllib.parse import urlencode

import streamlit as st

from crowdnotes.domain import GateName, GateResult, GateStatus, Passage, SentenceSupport, Source, Span, Support
from crowdnotes.evidence.demo_pages import page_of
from crowdnotes.text.markdown import controls_shown, escaped, host, web_url
from crowdnotes.text.note_rules import NOTE_LIMIT, top_level_domains
from crowdnotes.text.publishers import publisher_label
from crowdnotes.text.quotes import changed_words
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.tables import ReadableRows, readable_rows

_COMPONENTS_FOLDER = Path(__file__).parents[2] / "assets" / "components"

Look = Literal["plain", "post", "quote", "passage", "title", "small", "note", "sentence", "clipped"]
_GATE_SIGNS = {GateStatus.PASS: "✓", GateStatus.FAIL: "✗", GateStatus.NOT_RUN: "–"}
STATUS_SIGNS = {
    GateStatus.PASS: ":green[:material/check_circle:]",
    GateStatus.FAIL: ":red[:material/cancel:]",
    GateStatus.NOT_RUN: ":gray[:material/do_not_disturb_on:]",
}


def gate_sign(result: GateResult) -> str:
    """Return the gate's verdict as a sign in Markdown."""
    return ":orange[:material/help:]" if result.uncertain else STATUS_SIGNS[result.status]


class Piece(TypedDict):
    """A run of text of one kind: "", "context", "mark", "doubt", "partly", "unsupported", "added" or "removed"."""

    text: str
    kind: str
    title: str


def _read_asset(name: str) -> str:
    return (_COMPONENTS_FOLDER / name).read_text(encoding="utf-8")


def counter_script() -> str:
    """Return the counter's JavaScript, with the limit and the top-level domains of X's rule."""
    script = (_read_asset("unsaved_text.js") + _read_asset("note_counter.js")).replace(
        "__NOTE_LIMIT__", str(NOTE_LIMIT)
    )
    return script.replace("__TOP_LEVEL_DOMAINS__", json.dumps(sorted(top_level_domains())))


def _declare_component(name: str, html: str, js: str = "", *, isolated: bool = True) -> Callable[..., object]:
    """Return what assets/components has under a name."""
    css = _read_asset(f"{name}.css") if (_COMPONENTS_FOLDER / f"{name}.css").exists() else None
    return st.components.v2.component(
        f"crowdnotes_{name}", html=html, css=css, js=js or _read_asset(f"{name}.js"), isolate_styles=isolated
    )


_note_counter_component = _declare_component(
    "note_counter",
    """<div class="counter"><span role="status" aria-live="off" aria-atomic="true"><span class="number"></span>
</span><span class="bar"><span></span></span><span class="words"></span>
<button type="button" class="copy"></button></div>""",
    counter_script(),
)
_marked_text_component = _declare_component("marked_text", '<div class="text" dir="auto">\n</div>')
_gate_path_component = _declare_component(
    "gate_path", '<ol class="path" aria-label="The three checks, in order">\n</ol>'
)
_people_component = _declare_component("people", '<div class="sides"></div>')
_sentence_map_component = _declare_component(
    "sentence_map", '<div class="map" role="group"></div><div class="key"></div>'
)
_note_map_component = _declare_component(
    "note_map",
    """<div class="note-map"><svg role="img"><g class="ground"></g><g class="points"></g>
<circle class="ring" fill="none" stroke-width="2.5" pointer-events="none"></circle>
<g class="names" pointer-events="none"></g></svg></div>""",
    isolated=False,  # the button that saves an image must find it
)
_scroll_into_view_component = _declare_component("into_view", "<span></span>")
_spotlight_component = _declare_component("spotlight", "<span></span>")
_participant_memory_component = _declare_component("participant_memory", "<span></span>")
_save_on_pause_component = _declare_component(
    "save_on_pause", "<span></span>", _read_asset("unsaved_text.js") + _read_asset("save_on_pause.js")
)
_save_image_component = _declare_component(
    "save_image",
    """<button type="button"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 4v11m-5-5 5 5 5-5M5 20h14"/></svg>
<span class="words"></span></button>""",
)
_close_menu_component = _declare_component("menu_closes", "<span></span>")
_announcements_component = _declare_component("announcements", "<span></span>")
_bookmark_component = _declare_component("bookmark", "<a></a>")
_phone_tab_bar_component = _declare_component("phone_tab_bar", '<div class="tabs" role="tablist"></div>')
_shortcut_keys_component = _declare_component(
    "shortcut_keys", '<span role="status" style="position: absolute; clip-path: inset(50%)"></span>'
)
_keep_focus_component = _declare_component("kept_focus", "<span></span>")
_lead_to_component = _declare_component("led_to", "<span></span>")


def phone_tab_bar(tabs: Sequence[Mapping[str, str]], wanted: str, token: str) -> None:
    """Tabs of `name`, `label` and `sign`, shown at a phone's width alone; a new `token` chooses the `wanted` one."""
    _phone_tab_bar_component(data={"tabs": list(tabs), "wanted": wanted, "token": token}, key="phone-tabs")


class Judged(TypedDict, total=False):
    """What a key judges, by CSS selectors: what is `around` its button, or these `places`.

    With `looks` only the texts in those places that have such a look, and with `marks` only their marked words. All of
    it has to be seen. `twice`: also what was seen already takes a second press, which has to be the very next one and
    come soon. `leads`: the press may lead to a field, so letters wait for it. `words` say on the frame how far it is
    ("look", "ready"), where not as usual.
    """

    around: str
    places: Sequence[str]
    looks: Sequence[Look]
    marks: bool
    twice: bool
    leads: bool
    words: Mapping[str, str]


def shortcut_keys(
    keys: Mapping[str, Sequence[str]], focused: Collection[str], judging: Mapping[str, Judged] | None = None
) -> None:
    """Keys ("j", "ctrl+enter") that press the first that is there of what their CSS selectors find on the page.

    The keys in `focused` take the keyboard there instead. A key that finds a text field takes the keyboard there too:
    what is typed next is for that field, even before it is drawn. Those in `judging` first bring what they judge into
    view and press once all of it was seen for a moment. What the keyboard is on may go: its place is kept. What was
    typed while there was no connection is sent once it is back.
    """
    pressed = {key: list(found) for key, found in keys.items()}
    fields = [key for key, found in pressed.items() if any("textarea" in it or "[type=text]" in it for it in found)]
    words = {"look": "Read this", "ready": "Press {key} again to judge it"}
    judged = dict(judging or {})
    _shortcut_keys_component(
        data={"keys": pressed, "fields": fields, "focused": list(focused), "judging": judged, "words": words},
        key="shortcut-keys",
    )
    _keep_focus_component(key="kept-focus", on_back_change=lambda: None)


def scroll_into_view(token: str, place: str = "", *, name: str = "") -> None:
    """Bring the place where this is drawn into view, once for each token; an empty one does nothing.

    The keyboard goes there too where what it was on is gone. A named `place` stays the same one with every token, so
    that the keyboard stays on it. A screen reader says its `name` there.
    """
    _scroll_into_view_component(data={"token": token, "name": name}, key=f"into-view-{place or token}")


def led_to(selectors: Sequence[str], token: str) -> None:
    """Lead to the first part of the page that the CSS selectors find, once for each token; an empty one does nothing.

    It comes into view and has a frame until the person goes on; the keyboard goes to the first thing to use in it.
    """
    _lead_to_component(data={"selectors": list(selectors), "token": token}, key="led-to")


def close_phone_menu() -> None:
    """On a phone, close the navigation when a page was chosen in it."""
    with st.container(key="menu-closes"):
        _close_menu_component(key="menu-closes-script")


def announcements(said: Mapping[str, str]) -> None:
    """Let a screen reader say these words, by an id, once for each id; they are not seen."""
    with st.container(key="announcements"):
        _announcements_component(
            data={"said": [{"id": number, "words": words} for number, words in said.items()]},
            key="announcements-script",
        )


def spotlight(selectors: Sequence[str], token: str, *, heart: str = "", opens: bool = False) -> None:
    """Frame the first part of the page that each selector finds, and bring the first into view, once for each token.

    `opens` unfolds it. `heart` finds what comes into view where not all of it fits.
    """
    _spotlight_component(
        data={"selectors": list(selectors), "token": token, "heart": heart, "opens": opens}, key="spotlight"
    )


def participant_memory(comparison: str, participant: str | None) -> str | None:
    """Keep in the browser who answers a comparison; without a participant, who did so last, if anybody.

    What it gives comes from outside.
    """
    data = {"comparison": comparison, "participant": participant}
    found = _participant_memory_component(
        data=data, key=f"participant-memory-{participant}", on_participant_change=lambda: None
    )
    return getattr(found, "participant", None)


def save_image(
    plot: str,
    *,
    label: str,
    title: str,
    sentence: str,
    legend: Sequence[tuple[str, str]],
    foot: Sequence[str],
    file: str,
) -> None:
    """Draw a button that saves the plot with the key `plot` as a PNG: below its title and sentence, above its legend.

    `legend` has names with their colours; the lines of `foot` say of what and when it is.
    """
    entries = [{"name": name, "colour": colour} for name, colour in legend]
    words = {"label": label, "title": title, "sentence": sentence, "file": file}
    _save_image_component(
        data={"plot": plot, "legend": entries, "foot": list(foot), **words}, key=f"save-{plot}", width="content"
    )


def note_counter(
    text: str, *, box: str, submit: str, on_aside: Callable[[str], None], key: str, is_gone: bool = False
) -> None:
    """Count what is typed into the text area inside the container with key `box`, and saves after a pause.

    `text` is what is saved already. Ctrl+Enter in the box saves and presses the button with key `submit`. What was not
    saved before a reload is put back into the box; where another text was saved meanwhile, `on_aside` gets it, and so
    it does where the box `is_gone`.
    """

    def aside() -> None:
        typed = getattr(st.session_state[key], "aside", None)
        if isinstance(typed, str) and typed != text:
            on_aside(typed)

    words = {"copy": "Copy", "copied": "Copied", "notCopied": "Select the words and copy them"}
    _note_counter_component(
        data={"text": text, "box": box, "submit": submit, "place": key, "isGone": is_gone, **words},
        key=key,
        on_aside_change=aside,
    )


def bookmarklet(app: str) -> str:
    """Return a bookmark's address that opens the app at `app` with a page's selected words and address.

    Of a selection in a list of posts on X it takes the address of the post.
    """
    return "javascript:" + _read_asset("bookmarklet.js").split("\n", 1)[1].replace("__APP__", json.dumps(app)).strip()


def bookmark(label: str, address: str) -> None:
    """Draw a link to drag to the browser's bookmarks; a click on it does nothing."""
    _bookmark_component(data={"label": label, "address": address}, key="bookmark")


def saved_on_pause(box: str, *, submit: str = "") -> None:
    """Let what is typed into the text area inside the container with key `box` reach the app at each pause.

    It outlives a reload. Ctrl+Enter presses the button with key `submit`.
    """
    _save_on_pause_component(data={"box": box, "submit": submit}, key=f"save-on-pause-{box}")


def marked_text(pieces: Sequence[Piece], *, look: Look, key: str, copy: bool = False) -> None:
    """Text of many lines from outside, in a look, with its marks; `copy` puts a button below that copies its words."""
    _marked_text_component(data={"pieces": list(pieces), "look": look, "copy": copy}, key=key)


def outside_text(text: str, *, look: Look, key: str, copy: bool = False) -> None:
    """Text of many lines from outside, without marks."""
    marked_text([_make_piece(text)], look=look, key=key, copy=copy)


def web_link(label: str, url: str | None, icon: str = "open_in_new") -> None:
    """Draw a link to a page of the web; nothing where the address is not one that a browser may open."""
    if address := opened_by(url):
        st.link_button(label, address, type="tertiary", icon=f":material/{icon}:")


def opened_by(url: str | None) -> str | None:
    """Return the address of a source: its own, or this app's where an example invented it; None as in `web_link`."""
    address = web_url(url)
    return f"example?{urlencode({'page': address})}" if address and page_of(address) else address


def source_name(source: Source) -> str:
    """Its publisher as people call it, else its site, library or title."""
    return publisher_label(source) or host(source.url) or source.library or source.title or "unknown publisher"


def badge(colour: str, icon: str, words: str) -> str:
    """Markdown of a badge with words from wherever; `icon` by its name, or empty."""
    return f":{colour}-badge[{f':material/{icon}: ' if icon else ''}{escaped(words, 60)}]"


def read_aloud(words: str) -> str:
    """Markdown of words that a screen reader says and nobody sees, as what a sign means; page.css hides them."""
    return f":gray[*{words}*]"


def first_shown(many: int, a_page: int, key: str, **lasting: Any) -> int:
    """Return where the chosen page begins; draw the page numbers where there is more than one page.

    `lasting` is how Streamlit keeps the choice. A page that is not there any more is the last one.
    """
    pages = -(-many // a_page)
    if st.session_state.get(key, 1) > max(pages, 1):
        st.session_state[key] = max(pages, 1)
    return (st.pagination(pages, key=key, **lasting) - 1) * a_page if pages > 1 else 0


def gate_path(results: Iterable[GateResult], questions: Mapping[GateName, str], *, stale: bool, key: str) -> None:
    """Draw the gates in order, each with its status, reason, and score on its scale of 0 to 1."""
    gates = [
        {
            "name": result.gate.as_text.capitalize(),
            "asks": questions[result.gate],
            "status": result.status.value,
            "look": "UNCERTAIN" if result.uncertain else result.status.value,
            "sign": "?" if result.uncertain else _GATE_SIGNS[result.status],
            "label": result.as_text,
            "reason": controls_shown(result.reason),
            "score": result.score,
            "threshold": result.threshold,
        }
        for result in results
    ]
    _gate_path_component(data={"gates": gates, "stale": stale}, key=key)


def people(sides: Sequence[Mapping[str, object]], kinds: Sequence[str], *, key: str) -> None:
    """Little people who vote: for each side its `name`, its `counts` of each kind, and what it says in `words`."""
    _people_component(data={"sides": list(sides), "kinds": list(kinds)}, key=key)


def sentence_map(
    title: str,
    sentences: Sequence[Mapping[str, object]],
    sources: Sequence[Mapping[str, object]],
    kinds: Sequence[Mapping[str, str]],
    *,
    on_choice: Callable[[object], None],
    key: str,
) -> None:
    """Sentences, sources and the curves between them; `on_choice` gets {"sentence": number} or {"source": id}."""

    def chosen() -> None:
        on_choice(getattr(st.session_state[key], "chosen", None))

    data = {"title": title, "sentences": list(sentences), "sources": list(sources), "kinds": list(kinds)}
    _sentence_map_component(data=data, key=key, on_chosen_change=chosen)


def note_map(drawing: Mapping[str, object], *, on_choice: Callable[[int], None] | None = None, key: str) -> None:
    """Points on two scales, as `pages/algorithm_parts/charts.py` builds them.

    `on_choice` gets the place of the point that was clicked. The place comes from the browser: one that is none of the
    points is not passed on.
    """
    points = drawing["points"]

    def chosen() -> None:
        place = getattr(st.session_state[key], "chosen", None)
        if on_choice is not None and type(place) is int and isinstance(points, list) and 0 <= place < len(points):
            on_choice(place)

    _note_map_component(data={**drawing, "choosing": on_choice is not None}, key=key, on_chosen_change=chosen)


def passage_pieces(passage: Passage) -> list[Piece]:
    """Return a passage in its surroundings, the most relevant sentences marked; its tables as words.

    What is before it begins at a sentence.
    """
    if passage.span.start > len(passage.before):  # else the page begins here
        whole = [sentence for sentence in split_sentences(passage.before)[1:] if sentence.start]
        passage = passage.replace(before=passage.before[whole[0].start :] if whole else "")
    rows = _make_readable_with_context(passage)
    start = len(passage.before)
    end = start + len(passage.text)
    spans = [
        (Span(start=0, end=start), "context", ""),
        *((_shift_span(mark, start), "mark", "most relevant to the post") for mark in passage.marks),
        (Span(start=end, end=end + len(passage.after)), "context", ""),
    ]
    return _cut_into_pieces(rows.text, [(rows.carried(span), kind, title) for span, kind, title in spans])


def passage_words(passage: Passage, span: Span) -> str:
    """Return the words of a passage at `span`, offsets in its text; of a table's row with dots between the cells."""
    rows = _make_readable_with_context(passage)
    place = rows.carried(_shift_span(span, len(passage.before)))
    return rows.text[place.start : place.end]


def _make_readable_with_context(passage: Passage) -> ReadableRows:
    """Rewritten before it is cut: a passage, or a sentence of it, may begin or end within a row."""
    return readable_rows(f"{passage.before}{passage.text}{passage.after}")


def _shift_span(span: Span, by: int) -> Span:
    return Span(start=span.start + by, end=span.end + by)


def sentence_pieces(note: str, sentence: SentenceSupport) -> list[Piece]:
    """One sentence of a note, the words that are in doubt marked."""
    start, end = sentence.span.start, sentence.span.end
    doubts = [
        (_shift_span(span, -start), "doubt", "; ".join(sentence.doubts))
        for span in sentence.doubted
        if start <= span.start and span.end <= end
    ]
    return _cut_into_pieces(note[start:end], doubts)


def note_pieces(note: str, sentences: Iterable[SentenceSupport]) -> list[Piece]:
    """Return a note, its sentences underlined where the passages do not carry them in full."""
    kinds = {Support.PARTLY: "partly", Support.UNSUPPORTED: "unsupported"}
    marks = [(item.span, kinds[item.support], item.support.as_text) for item in sentences if item.support in kinds]
    return _cut_into_pieces(note, marks)


def changed_pieces(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """Return two texts to show side by side, with the words marked that the other does not have."""
    gone, new = changed_words(before, after)
    only_here = "only in this text"
    return _cut_into_pieces(before, [(span, "removed", only_here) for span in gone]), _cut_into_pieces(
        after, [(span, "added", only_here) for span in new]
    )


def _cut_into_pieces(text: str, marks: Iterable[tuple[Span, str, str]]) -> list[Piece]:
    pieces: list[Piece] = []
    position = 0
    for span, kind, title in sorted(marks, key=lambda mark: mark[0].start):
        if span.start < position or span.end > len(text) or span.start == span.end:
            continue
        if span.start > position:
            pieces.append(_make_piece(text[position : span.start]))
        pieces.append(_make_piece(text[span.start : span.end], kind, title))
        position = span.end
    if position < len(text):
        pieces.append(_make_piece(text[position:]))
    return pieces


def _make_piece(text: str, kind: str = "", title: str = "") -> Piece:
    return {"text": controls_shown(text), "kind": kind, "title": title}


def rules_link() -> None:
    """To the status rules of Community Notes, in their order, as the help page has them."""
    # In a tab of its own: Streamlit loses the address of the page, and with it the note, on the way back.
    st.link_button(
        "All rules with their thresholds",
        "help?document=bridging",
        type="tertiary",
        icon=":material/rule:",
    )


def what_x_can_change() -> None:
    """Draw what X itself may change of the algorithm and its data, folded away."""
    with st.expander("What can X itself change?", icon=":material/gavel:"):
        st.markdown(
            "- X may change any rule: the line of 0.40, who may rate, whose ratings count. Code and data are public, "
            "so people see a change, but only afterwards.\n- X can delete posts, notes and accounts. The data does not "
            "say who did it or why.\n- X shows a note after 30 to 60 minutes, a close one after up to six hours. It "
            "keeps a shown note that falls a little short, and locks a status after about two weeks: a status may "
            "differ from what today's ratings give.\n- X has models that are not computed here: for groups, topics, "
            "facts, and accounts that act together. Only X knows whether its data is whole.\n- You can check the "
            "score: it is computed again from the ratings and compared with X's. A difference is not proof of "
            "tampering."
        )
