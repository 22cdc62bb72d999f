"""Step 1: the post that may need a note, and where to look for evidence."""

from __future__ import annotations

import streamlit as st

from crowdnotes.cases.pasted_links import usable_urls
from crowdnotes.demonstration import Example, examples
from crowdnotes.domain import Case, Mode
from crowdnotes.jobs.records import JobRecord
from pages.parts.components import outside_text
from pages.parts.evidence_search import MODE_LABELS, cutoff, library_choice, library_names
from pages.parts.left_links import keep_left
from pages.parts.paste_box import open_paste_box
from pages.parts.post_images import attachments, case_images, forget_uploads, new_images
from pages.parts.progress import gather_anew, start, under_way
from pages.parts.services import service_choice, ticked_at_first
from pages.parts.session import act, author, show_case, tell, workspace
from pages.parts.steps import StepName, StepState, StepView, forget_folds, step
from pages.parts.text import count, exact, lines, moment, plain

_NEW = "new-post"
_SHOWN = 180  # characters of a folded post: two lines at most on a wide screen, where they stay in view
_EXAMPLES = "new-example"
_WHAT_GOES = (
    "Other words begin the case anew. Passages and their ticks go to “Earlier evidence” in step 2, from where they can "
    "be brought back; a page that is read again has no tick. Candidates and scores go for good. "
    "The note goes too: once a passage is in use again, Undo in step 3 brings back its words."
)


def post_step(case: Case | None, job: JobRecord | None) -> None:
    """Draw the step: a form for a new case, a line for one under way."""
    if case is None:
        view = StepView(StepName.POST, StepState.ACTIVE, "Paste the post, and say where to look for evidence")
    else:
        view = StepView(StepName.POST, StepState.DONE, _said(case))
    with step(case, view) as is_open:
        if not is_open:
            return
        if case is None:
            _new()
        else:
            with st.container(key="post-body"):
                _existing(case, busy=under_way(job))


def _said(case: Case) -> str:
    images = len(case.post.images)
    return f"“{plain(case.post.text, _SHOWN)}”" + (f" :material/image: {count(images, 'image')}" if images else "")


def _new() -> None:
    st.text_area(
        "Text of the post",
        key=f"{_NEW}-text",
        height=130,
        placeholder="Paste the words of the post as they stand on X",
        persist_state="session",
    )
    st.text_input(
        "Address of the post on X (optional)",
        key=f"{_NEW}-url",
        type="url",
        placeholder="https://x.com/…/status/…",
        help="Lets you open the post again when the note is ready. It is not read.",
        persist_state="session",
    )
    new_images()
    st.session_state.setdefault(f"{_NEW}-mode", Mode.AUGMENTATION)
    mode = st.segmented_control(
        "Where should the evidence come from?",
        list(Mode),
        required=True,
        format_func=MODE_LABELS.__getitem__,
        key=f"{_NEW}-mode",
        persist_state="session",
    )
    st.text_area(
        "Links to your sources, one a line" + ("" if mode is Mode.AUGMENTATION else " (optional)"),
        key=f"{_NEW}-urls",
        height=100,
        placeholder="https://www.cdc.gov/…",
        persist_state="session",
    )
    if mode is Mode.AUTOMATION:
        library_choice(library_names(), key=f"{_NEW}-libraries")
        service_choice(key=f"{_NEW}-services", default=ticked_at_first())
    cutoff(key=f"{_NEW}-until", keep=True)
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Gather the evidence",
            key="start",
            type="primary",
            icon=":material/search:",
            on_click=_create,
            kwargs={"to_gather": True},
        )
        st.button(
            "Paste a passage yourself",
            key="start-by-hand",
            type="tertiary",
            icon=":material/content_paste:",
            help="Opens the case without gathering. You can gather later.",
            on_click=_create,
            kwargs={"to_gather": False},
        )
    _example_gallery()


def _create(*, to_gather: bool) -> None:
    """Make the case and show it in place of the form: at work, or with room to paste a passage."""
    state = st.session_state
    searching = state[f"{_NEW}-mode"] == Mode.AUTOMATION
    urls, refused = usable_urls(lines(state[f"{_NEW}-urls"]))
    images, left_out = attachments()

    def create() -> Case:
        return workspace().service.create(
            state[f"{_NEW}-text"],
            mode=state[f"{_NEW}-mode"],
            url=state[f"{_NEW}-url"] or None,
            urls=urls,
            libraries=(state.get(f"{_NEW}-libraries") or []) if searching else [],
            services=(state.get(f"{_NEW}-services") or []) if searching else [],
            until=state[f"{_NEW}-until"],
            by=author(),
            attached=images,
            to_gather=to_gather,
        )

    case = act(StepName.POST.value, create)
    if case is None:
        for item in refused:  # they stay in their box
            tell(StepName.POST.value, item.why)
        return
    for field in ("text", "url", "urls"):
        state[f"{_NEW}-{field}"] = ""
    state[f"{_NEW}-until"] = None
    forget_uploads()
    show_case(case.id)
    if to_gather:
        start(case, "gather")
    else:
        open_paste_box(case)
    keep_left(case.id, refused)
    for why in left_out:
        tell(StepName.POST.value, why)


def _example_gallery() -> None:
    with st.expander(
        "Or try one of six examples", key=_EXAMPLES, icon=":material/school:", on_change="rerun"
    ) as gallery:
        if not gallery.open:
            return
        st.caption(
            "A demonstration: invented posts, with pages of our own that answer them. "
            "Nothing here is about real people, and none of it may be posted."
        )
        with st.grid("auto", min_column_width=260):
            for example in examples():
                _example_card(example)


def _example_card(example: Example) -> None:
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.badge("demonstration", color="gray", icon=":material/school:")
        st.markdown(f"**{plain(example.title)}**")
        st.caption(plain(example.teaches))
        st.space("stretch")
        st.button(
            "Use this example",
            key=f"example-{example.id}",
            on_click=_fill_in,
            args=(example,),
            width="stretch",
        )


def _fill_in(example: Example) -> None:
    """Fill the form; what was told of it as it was goes."""
    act(StepName.POST.value, lambda: _fill(example))


def _fill(example: Example) -> None:
    state = st.session_state
    state[f"{_NEW}-text"] = example.post.text
    state[f"{_NEW}-url"] = example.post.url or ""
    state[f"{_NEW}-mode"] = example.mode
    state[f"{_NEW}-urls"] = "\n".join(example.urls)
    state[_EXAMPLES] = False


def _existing(case: Case, *, busy: bool) -> None:
    outside_text(case.post.text, look="post", key=f"post-{case.id}")
    facts = [f"Case opened {moment(case.created_at)}", MODE_LABELS[case.mode].lower()]
    if case.post.url:
        facts.insert(0, exact(case.post.url))
    st.caption(" · ".join(facts))
    case_images(case, busy=busy)
    if case.decision is not None:
        return
    with st.form(f"edit-post-{case.id}", border=False):
        text = st.text_area("Text of the post", value=case.post.text, height=130, disabled=busy)
        url = st.text_input("Address of the post on X (optional)", value=case.post.url or "", type="url", disabled=busy)
        st.caption(_WHAT_GOES if case.evidence or case.draft else "For other words the evidence is gathered anew.")
        if busy:
            st.caption("Opens when the work under way has ended.")
        if st.form_submit_button("Save the post", icon=":material/save:", disabled=busy):
            _save(case, text or "", url or None)


def _save(case: Case, text: str, url: str | None) -> None:
    saved = act(StepName.POST.value, lambda: workspace().service.edit_post(case.id, text, author(), url=url))
    if saved is not None:
        forget_folds(case)
        if saved.post.text != case.post.text:
            gather_anew(saved)
    st.rerun()
