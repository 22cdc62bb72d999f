"""The first screen: one box for the post and its links, everything else under Options, and examples to try."""

from __future__ import annotations

import uuid
from functools import partial

import streamlit as st

from crowdnotes.demo_tour import begin
from crowdnotes.domain import Mode
from crowdnotes.errors import CrowdNotesError, InputError
from crowdnotes.evidence.demo_pages import Example, examples, pasted_example
from crowdnotes.text.markdown import escaped
from crowdnotes.text.pasted import Pasted, brought, take_apart
from crowdnotes.wording import say
from pages.common.components import led_to, saved_on_pause
from pages.common.engine_panel import first_model
from pages.common.layout import StepName
from pages.common.progress import start
from pages.common.session import act, button, notices, show_case, tell, workspace
from pages.common.where_to_look import Sources, new_sources_form, sources_chosen
from pages.draft_parts.demo_tour import present_example
from pages.draft_parts.more_evidence import open_paste_box
from pages.draft_parts.post import attachments, forget_uploads, new_images

_PLACE = StepName.POST.value
_NEW = "new-post"
_TEXT, _ADDRESS = f"{_NEW}-text", f"{_NEW}-url"
_CONTEXT = f"{_NEW}-context"
_BROUGHT = f"{_NEW}-brought"  # the post that the page's own address brought, once it stands in the box
_BOX = "new-post-box"
_FILLED = f"{_NEW}-filled"  # a token for each time that an example was put into the box
_NEXT = {"icon": "arrow_forward", "icon_position": "right"}
_COUNTED_FROM = 10  # a post is told its length from a tenth of what is allowed on
_EXAMPLES_BESIDE = 3  # as high together as the box with what belongs to it


def start_screen() -> None:
    """Ask for a post; nothing is fetched or sent before *Find evidence* is pressed."""
    _bring_over()
    ours, theirs = st.columns([3, 2], gap="large")
    with ours:
        _box()
        first_model()
    with theirs:
        _examples()
    led_to((".st-key-start button",), st.session_state.get(_FILLED, ""))


def _bring_over() -> None:
    """Put the post that the page's address names (`?post=…&url=…`) into the box, once. It comes from outside."""
    words, url = st.query_params.get("post", ""), st.query_params.get("url", "")
    if not (words or url) or st.session_state.get(_BROUGHT) == (words, url):
        return
    limit = workspace().settings.max_post_characters
    if len(words) > limit:
        tell(_PLACE, InputError(say("start.too_long", limit=f"{limit:,}"), say("start.too_long_next")))
    st.session_state[_BROUGHT] = (words, url)
    st.session_state[_TEXT] = brought(words, url, limit)


def _box() -> None:
    with st.container(key=_BOX):
        text = st.text_area(
            say("start.label"),
            key=_TEXT,
            height=190,
            placeholder=say("start.placeholder"),
            persist_state="session",
            on_change=act,  # what was wrong with other words is told no longer
            args=(_PLACE, lambda: None),
        )
    saved_on_pause(_BOX)
    found = take_apart(text or "")
    recognised = st.container(key="new-post-recognised")
    find, by_hand = partial(_create, to_gather=True), partial(_create, to_gather=False)
    with st.container(horizontal=True, gap="small"):
        button(say("start.find"), "start", _PLACE, find, icon="search", type="primary")
        look = {"type": "tertiary", "help": say("start.by_hand_help")}
        button(say("start.by_hand"), "start-by-hand", _PLACE, by_hand, icon="content_paste", **look)
    notices(_PLACE)
    with st.expander(say("start.options"), key="new-post-options", icon=":material/tune:"):
        new_sources_form(_NEW)
        st.text_input(
            say("start.address"),
            key=_ADDRESS,
            type="url",
            placeholder="https://x.com/…/status/…",
            help=say("start.address_help"),
            persist_state="session",
        )
        st.text_area(say("start.context"), key=_CONTEXT, height=70, persist_state="session")
        new_images()
    with recognised:  # above the options, which say where to look
        chosen, _ = sources_chosen(_NEW, found.links)
        _recognised(found, chosen)
        if _recorded(found.words, chosen) is not None:
            st.caption(f":material/history: {say('start.recorded')}")


def _recognised(found: Pasted, sources: Sources) -> None:
    """In one line: what was pasted, and where the evidence will come from."""
    if not found.words and (found.address or found.links):
        words = say("start.only_address") if found.address else say("start.only_links")
        st.markdown(f":orange[:material/info: {words}]")
        return
    parts = [say("start.its_words")] if found.words and (found.address or found.links) else []
    parts += [say("start.its_address")] if found.address else []
    parts += [say("start.links", n=len(found.links))] if found.links else []
    taken = say("start.taken", parts=", ".join(parts)) if parts else ""
    limit, n = workspace().settings.max_post_characters, len(found.words)
    long = say("start.length", n=f"{n:,}", limit=f"{limit:,}") if n > limit / _COUNTED_FROM else ""
    st.caption(" ".join(filter(None, (taken, _where(sources), long))))


def _where(sources: Sources) -> str:
    if sources["mode"] == Mode.AUGMENTATION:
        return say("start.reads_links")
    online = {item.name: item for item in workspace().services()}
    always = [name for name in sources["services"] if name not in online or not online[name].is_register]
    places = [*sources["libraries"], *(online[name].label if name in online else name for name in always)]
    registers = len(sources["services"]) - len(always)
    if not places and not registers:
        return say("start.no_place")
    named = escaped(", ".join([*places, *([say("start.registers", n=registers)] if registers else [])]))
    return say("start.searches_too", places=named) if sources["urls"] else say("start.searches", places=named)


def _recorded(words: str, chosen: Sources) -> Example | None:
    """The example that stands in the box as it is: without a language model it goes by recorded answers."""
    changed = chosen["mode"] != Mode.AUGMENTATION or chosen["until"] is not None
    return None if changed or workspace().engine.uses_language_model else pasted_example(words, chosen["urls"])


def _create(*, to_gather: bool) -> None:
    """Make the case and show it in place of this screen: at work, or with room to paste a passage."""
    state = st.session_state
    found = take_apart(state[_TEXT])
    if found.address and not found.words:
        raise InputError(say("start.cannot_read_x"), say("start.cannot_read_x_next"))
    url = state[_ADDRESS] or found.address
    links = found.links if found.address in {None, url} else (*found.links, found.address)
    chosen, refused = sources_chosen(_NEW, links)
    (images, left_out), context = attachments(), state.get(_CONTEXT) or ""
    if found.links and not found.words:
        raise InputError(say("start.links_alone"), say("start.links_alone_next"))
    service, example = workspace().service, _recorded(found.words, chosen)
    try:
        if to_gather and example is not None and not (url or images or context):
            case = begin(workspace(), example)
        else:
            case = service.create(found.words, url=url, context=context, attached=images, to_gather=to_gather, **chosen)
    except CrowdNotesError as error:
        tell(_PLACE, error, *refused)  # the lines stay in their box
        return
    tell(StepName.EVIDENCE.value, *refused)
    tell(_PLACE, *left_out)
    _empty()
    show_case(case.id)
    if to_gather:
        start(case, "gather")
    else:
        open_paste_box(case)


def _empty() -> None:
    """Make room for the next post."""
    for name in ("post", "url"):
        st.query_params.pop(name, None)
    for key in (_TEXT, _ADDRESS, _CONTEXT, f"{_NEW}-urls"):
        st.session_state[key] = ""
    st.session_state[f"{_NEW}-until"] = None
    st.session_state.pop(_BROUGHT, None)
    forget_uploads()


def _examples() -> None:
    """The example whose tempting note is caught comes first."""
    every = sorted(examples(), key=lambda example: example.tempting_note is None)
    st.markdown(f"**{say('start.examples')}**")
    st.caption(say("start.examples_about"))
    button(say("present.offer"), "present", _PLACE, present_example, icon="slideshow", help=say("present.offer_help"))
    for example in every[:_EXAMPLES_BESIDE]:
        _card(example)
    with st.expander(say("start.more_examples"), key="new-post-examples", icon=":material/school:"):
        for example in every[_EXAMPLES_BESIDE:]:
            _card(example, border=False)


def _card(example: Example, *, border: bool = True) -> None:
    with st.container(border=border, horizontal=True, wrap=False, vertical_alignment="center"):
        with st.container(gap="xxsmall"):
            st.markdown(f"**{escaped(example.title)}**")
            st.caption(escaped(example.teaches))
        about = say("start.use_example_help", title=example.title)
        fill = partial(_fill, example)
        label = say("start.use_example", title=escaped(example.title))  # page.css shows its first words alone
        button(label, f"example-{example.id}", _PLACE, fill, type="tertiary", help=about, **_NEXT)


def _fill(example: Example) -> None:
    """Put the example into the box, as a person would have pasted it."""
    state = st.session_state
    state[_TEXT] = "\n".join([example.post.text, "", *example.urls])
    state[_ADDRESS] = state[f"{_NEW}-urls"] = ""
    state.pop(f"{_NEW}-mode", None)
    state[_FILLED] = uuid.uuid4().hex[:8]
