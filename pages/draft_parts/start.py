"""The first screen: one box for the post and its links, everything else under Options, and examples to try."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.cases import intake
from crowdnotes.cases.intake import MAX_POST_CHARACTERS
from crowdnotes.demo_tour import begin
from crowdnotes.domain import Mode
from crowdnotes.errors import CrowdNotesError, InputError
from crowdnotes.evidence.demo_pages import Example, examples, pasted_example
from crowdnotes.text.markdown import escaped
from crowdnotes.text.pasted import Pasted, parse_pasted, post_from_address
from crowdnotes.wording import plural
from pages.common.components import read_aloud, saved_on_pause
from pages.common.engine_panel import first_model
from pages.common.layout import Area, StepName
from pages.common.progress import start
from pages.common.session import add_notice, button, cases, notices, run_action, show_case, workspace
from pages.common.where_to_look import Sources, new_sources_form, sources_chosen
from pages.draft_parts.approval import lead, leading
from pages.draft_parts.demo_tour import present_example
from pages.draft_parts.more_evidence import PASTED_TEXT_SELECTOR, open_paste_box
from pages.draft_parts.post import attachments, forget_uploads, new_images

_NOTICE_AREA = "new post"  # not the area of a case: the browser may send what was typed here when that is open
_KEY_PREFIX = "new-post"
_TEXT_KEY, _ADDRESS_KEY = f"{_KEY_PREFIX}-text", f"{_KEY_PREFIX}-url"
_CONTEXT_KEY = f"{_KEY_PREFIX}-context"
_POST_IN_ADDRESS_KEY = f"{_KEY_PREFIX}-brought"  # the post that the page's own address brought, once it is in the box
_BOX_KEY = "new-post-box"
_NEXT_BUTTON_LOOK = {"icon": "arrow_forward", "icon_position": "right"}
_LENGTH_HINT_DIVISOR = 10  # the length of a post is shown from a tenth of what is allowed on
_EXAMPLES_UNFOLDED = 1  # with the picture of a note as high as the window
_MOST_PLACES_NAMED = 3
_FIRST_UNSPACED_SCRIPT = "\u0e00"  # Thai; Chinese, Japanese and others come after it
_PICTURED_EXAMPLE = "reboiled-kettle"
_PICTURED_NOTE = (
    "Boiling tap water twice does not create arsenic, nitrates or any other poison, says the Northfield Institute, "
    "which measured it. northfield-health.example/questions/boiling-water-twice"
)


def start_screen() -> None:
    """Ask for a post; nothing is fetched or sent before *Find evidence* is pressed."""
    _fill_from_address()
    ours, theirs = st.columns([3, 2], gap="large")
    with ours:
        _draw_post_box()
        first_model()
    with theirs:
        _draw_examples()
    leading()


def _fill_from_address() -> None:
    """Put the post that the page's address names (`?post=…&url=…`) into the box, once. It comes from outside."""
    words, url = st.query_params.get("post", ""), st.query_params.get("url", "")
    if not (words or url) or st.session_state.get(_POST_IN_ADDRESS_KEY) == (words, url):
        return
    limit = MAX_POST_CHARACTERS
    if len(words) > limit:
        add_notice(
            _NOTICE_AREA,
            InputError(
                f"The post in the link is cut at {limit:,} characters, the most that X allows.",
                "Paste the rest if you need it.",
            ),
        )
    st.session_state[_POST_IN_ADDRESS_KEY] = (words, url)
    st.session_state[_TEXT_KEY] = post_from_address(words, url, limit)


def _draw_post_box() -> None:
    with st.container(key=_BOX_KEY):
        text = st.text_area(
            "Paste the post",
            key=_TEXT_KEY,
            height=190,
            placeholder="The text of the post. Add its address on X and links to sources, one on each line.",
            persist_state="session",
            on_change=run_action,  # clears what was wrong with the words before
            args=(_NOTICE_AREA, lambda: None),
        )
    saved_on_pause(_BOX_KEY, submit="start")
    found = parse_pasted(text or "", has_address=bool(st.session_state.get(_ADDRESS_KEY)))
    recognised = st.container(key="new-post-recognised")
    find, by_hand = partial(_create_case, to_gather=True), partial(_create_case, to_gather=False)
    with st.container(horizontal=True, gap="small"):
        button("Find evidence", "start", _NOTICE_AREA, find, icon="search", type="primary", help="Ctrl+Enter")
        look = {"type": "tertiary", "help": "Starts without a search"}
        button("Paste the text of a source", "start-by-hand", _NOTICE_AREA, by_hand, icon="content_paste", **look)
    notices(_NOTICE_AREA)
    with st.expander("Options", key="new-post-options", icon=":material/tune:"):
        st.text_input(
            "Address of the post on X (optional)",
            key=_ADDRESS_KEY,
            type="url",
            placeholder="https://x.com/…/status/…",
            help="To open the post later",
            persist_state="session",
        )
        st.text_area(
            "The post it replies to or quotes (optional)", key=_CONTEXT_KEY, height=70, persist_state="session"
        )
        new_images()
        new_sources_form(_KEY_PREFIX)
    with recognised:  # above the options, which say where to look
        chosen, _ = sources_chosen(_KEY_PREFIX, found.links)
        _draw_recognised_parts(found, chosen)
        if _find_recorded_example(found.words, chosen) is not None:
            st.caption(":material/history: Practice: you will see answers that an AI gave earlier.")


def _draw_recognised_parts(found: Pasted, sources: Sources) -> None:
    """In one line: what was pasted, and where the evidence will come from."""
    if not found.words and (found.address or found.links):
        words = (
            "CrowdNotes cannot read X. Paste the text of the post as well."
            if found.address
            else "These are only links. Paste the text of the post as well."
        )
        st.markdown(f":orange[:material/info: {words}]")
        return
    parts = ["the post"] if found.words and (found.address or found.links) else []
    parts += ["its address"] if found.address else []
    parts += [plural(len(found.links), "1 link to a source", "{n} links to sources")] if found.links else []
    taken = f"Found in your text: {', '.join(parts)}." if parts else ""
    limit, n = MAX_POST_CHARACTERS, len(found.words)
    long = f"{n:,} of at most {limit:,} characters." if n > limit / _LENGTH_HINT_DIVISOR else ""
    st.caption(" ".join(filter(None, (taken, _describe_search_places(sources), long))))


def _describe_search_places(sources: Sources) -> str:
    if sources["mode"] == Mode.AUGMENTATION:
        return "We will read only your links. Add a search under Options."
    online = {item.name: item for item in workspace().services()}
    services = sources["services"]
    always = [name for name in services if name not in online or not online[name].is_register]
    places = [online[name].label if name in online else name for name in always]
    if len(places) > _MOST_PLACES_NAMED:
        places = [f"up to {len(services)} search services (Options lists them)"]
    elif registers := len(services) - len(always):
        places.append(plural(registers, "1 register if it fits", "{n} registers if they fit"))
    acts = ["read your links"] if sources["urls"] else []
    if own := sources["libraries"]:
        names = escaped(", ".join(own))
        acts.append(
            plural(len(own), "search your library {names} here", "search your libraries {names} here", names=names)
        )
    acts += [f"send a few search words to {escaped(', '.join(places))}"] if places else []
    if not acts:
        return "No search is chosen. Add links, or choose a service under Options."
    return f"We will {' and '.join(filter(None, (', '.join(acts[:-1]), acts[-1])))}."


def _find_recorded_example(words: str, chosen: Sources) -> Example | None:
    """Return the example that is in the box unchanged: without a language model it goes by recorded answers."""
    changed = chosen["mode"] != Mode.AUGMENTATION or chosen["until"] is not None
    return None if changed or workspace().engine.uses_language_model else pasted_example(words, chosen["urls"])


def _create_case(*, to_gather: bool) -> None:
    """Make the case and show it in place of this screen: at work, or with a box to paste a passage."""
    state = st.session_state
    found = parse_pasted(state[_TEXT_KEY], has_address=bool(state[_ADDRESS_KEY]))
    if found.address and not found.words:
        raise InputError("CrowdNotes cannot read X.", "Paste the text of the post as well.")
    url = state[_ADDRESS_KEY] or found.address
    links = found.links if found.address in {None, url} else (*found.links, found.address)
    chosen, refused = sources_chosen(_KEY_PREFIX, links)
    (images, left_out), context = attachments(), state.get(_CONTEXT_KEY) or ""
    if found.links and not found.words:
        raise InputError(
            "These are only links.",
            "Paste the text of the post as well.",
        )
    if to_gather and not (links or images or context) and _is_one_word(found.words):
        raise InputError("One word is too little to search for.", "Paste the whole text of the post.")
    example = _find_recorded_example(found.words, chosen)
    try:
        if to_gather and example is not None and not (url or images or context):
            case = begin(workspace(), example)
        else:
            case = intake.create_case(
                cases(), found.words, url=url, context=context, attached=images, to_gather=to_gather, **chosen
            )
    except CrowdNotesError as error:
        add_notice(_NOTICE_AREA, error, *refused)  # the lines stay in their box
        return
    _clear_form()
    show_case(case.id)
    add_notice(StepName.EVIDENCE.value, *refused)
    add_notice(StepName.POST.value, *left_out)
    if to_gather:
        start(case, "gather")
    else:
        open_paste_box(case)
        lead(Area.SOURCES, PASTED_TEXT_SELECTOR)


def _is_one_word(text: str) -> bool:
    """Return whether a text is one word, in a script that separates words by spaces: those of East Asia do not."""
    return len(text.split()) == 1 and max(filter(str.isalpha, text), default="") < _FIRST_UNSPACED_SCRIPT


def _clear_form() -> None:
    """Empty the form for the next post."""
    for name in ("post", "url"):
        st.query_params.pop(name, None)
    for key in (_TEXT_KEY, _ADDRESS_KEY, _CONTEXT_KEY, f"{_KEY_PREFIX}-urls"):
        st.session_state[key] = ""
    st.session_state[f"{_KEY_PREFIX}-until"] = None
    st.session_state.pop(_POST_IN_ADDRESS_KEY, None)
    forget_uploads()


def _draw_examples() -> None:
    """Draw what a Community Note looks like, under the post of an example, then more examples."""
    every = sorted(examples(), key=lambda example: example.tempting_note is None)
    pictured = next(example for example in every if example.id == _PICTURED_EXAMPLE)
    others = [example for example in every if example is not pictured]
    st.markdown("**What a Community Note looks like**")
    with st.container(border=True, gap="small", key="pictured-note"):
        st.markdown(escaped(pictured.post.text))
        with st.container(border=True, gap="xxsmall"):
            st.markdown(":primary[:material/group:] **Readers added context**")
            st.markdown(escaped(_PICTURED_NOTE))
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.caption("An invented example")
            _draw_try_button(pictured)
    button(
        "Watch how it works: four minutes",
        "present",
        _NOTICE_AREA,
        present_example,
        icon="slideshow",
        help="The arrow keys go forward and back",
    )
    for example in others[:_EXAMPLES_UNFOLDED]:
        _draw_example_card(example)
    with st.expander("More examples", key="new-post-examples", icon=":material/school:"):
        for example in others[_EXAMPLES_UNFOLDED:]:
            _draw_example_card(example, border=False)


def _draw_example_card(example: Example, *, border: bool = True) -> None:
    with st.container(border=border, horizontal=True, wrap=False, vertical_alignment="center"):
        with st.container(gap="xxsmall"):
            st.markdown(f"**{escaped(example.title)}**")
            st.caption(escaped(example.teaches))
        _draw_try_button(example)


def _draw_try_button(example: Example) -> None:
    about = f"Fills in “{example.title}”"
    fill = partial(_fill_in_example, example)
    label = f"Try it {read_aloud(escaped(example.title))}"
    button(label, f"example-{example.id}", _NOTICE_AREA, fill, type="tertiary", help=about, **_NEXT_BUTTON_LOOK)


def _fill_in_example(example: Example) -> None:
    """Put the example into the box, as a person would have pasted it."""
    state = st.session_state
    state[_TEXT_KEY] = "\n".join([example.post.text, "", *example.urls])
    state[_ADDRESS_KEY] = state[f"{_KEY_PREFIX}-urls"] = ""
    state.pop(f"{_KEY_PREFIX}-mode", None)
    lead(None, ".st-key-start button")
