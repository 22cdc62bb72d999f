"""Step 1: the post that may need a note, its images, and where to look for evidence."""

from __future__ import annotations

from functools import partial
from typing import cast

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from crowdnotes.cases.intake import Attachment, usable_images
from crowdnotes.demonstration import Example, examples
from crowdnotes.domain import MAX_IMAGE_BYTES, MAX_IMAGES, Case, Image
from crowdnotes.errors import CrowdNotesError, InputError
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import count, escaped, exact, moment
from pages.view.components import outside_text
from pages.view.more_evidence import open_paste_box
from pages.view.progress import gather_anew, start, under_way
from pages.view.session import act, author, button, show_case, show_notice, tell, told, workspace
from pages.view.steps import StepName, StepState, StepView, forget_folds, step
from pages.view.where_to_look import MODE_LABELS, sources_chosen, sources_form

_PLACE = StepName.POST.value
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
        images = f" :material/image: {count(len(case.post.images), 'image')}" if case.post.images else ""
        words = f"“{escaped(case.post.text, _SHOWN)}”" if case.post.text else ":orange[Its words are not known yet]"
        view = StepView(StepName.POST, StepState.DONE, f"{words}{images}")
    with step(case, view) as is_open:
        if not is_open:
            return
        if case is None:
            _new()
        else:
            with st.container(key="post-body"):
                _existing(case, busy=under_way(job))


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
    sources_form(_NEW)
    with st.container(horizontal=True, gap="small"):
        gather, by_hand = partial(_create, to_gather=True), partial(_create, to_gather=False)
        button("Gather the evidence", "start", _PLACE, gather, icon="search", type="primary")
        look = {"type": "tertiary", "help": "Opens the case without gathering. You can gather later."}
        button("Paste a passage yourself", "start-by-hand", _PLACE, by_hand, icon="content_paste", **look)
    _example_gallery()


def _create(*, to_gather: bool) -> None:
    """Make the case and show it in place of the form: at work, or with room to paste a passage."""
    state = st.session_state
    chosen, refused = sources_chosen(_NEW)
    images, left_out = attachments()
    text, url = state[f"{_NEW}-text"], state[f"{_NEW}-url"] or None
    try:
        case = workspace().service.create(text, url=url, by=author(), attached=images, to_gather=to_gather, **chosen)
    except CrowdNotesError as error:
        tell(_PLACE, error, *refused)  # the lines stay in their box
        return
    tell(StepName.EVIDENCE.value, *refused)
    tell(_PLACE, *left_out)
    for field in ("text", "url", "urls"):
        state[f"{_NEW}-{field}"] = ""
    state[f"{_NEW}-until"] = None
    forget_uploads()
    show_case(case.id)
    if to_gather:
        start(case, "gather")
    else:
        open_paste_box(case)


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
                with st.container(border=True, height="stretch", gap="xsmall"):
                    st.badge("demonstration", color="gray", icon=":material/school:")
                    st.markdown(f"**{escaped(example.title)}**")
                    st.caption(escaped(example.teaches))
                    st.space("stretch")
                    fill = partial(_fill, example)
                    button("Use this example", f"example-{example.id}", _PLACE, fill, width="stretch")


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
    act(_PLACE, lambda: _changed(case, workspace().service.edit_post(case.id, text, author(), url=url)))
    st.rerun()


def _changed(case: Case, saved: Case) -> None:
    """When the post says something else now, gather anew."""
    forget_folds(case)
    if saved.post.whole_text != case.post.whole_text:
        gather_anew(saved)


_KINDS = ["png", "jpg", "jpeg", "webp", "gif"]
_NEW_IMAGES = "new-images"
_SAYS = "What can be read in it"
_SHOWS = "What it shows, in a sentence (optional)"


def new_images() -> None:
    """Images for a post that is not a case yet, with room to say what is in them."""
    _uploader(f"Images of the post (optional, up to {MAX_IMAGES})", _uploader_key())
    for file in _uploaded(_uploader_key()):
        with st.container(border=True, key=f"{_NEW_IMAGES}-{file.file_id}"):
            try:
                seen = _seen(file.getvalue(), file.name)
            except InputError as error:
                show_notice(told(error))
                continue
            with st.grid(2, min_column_width=260):
                st.image(seen, width="stretch", alt=file.name)
                with st.container(gap="xsmall"):
                    st.markdown(f"**{escaped(file.name, 60)}**")
                    _who_reads()
                    if not workspace().engine.sees:
                        st.text_area(_SAYS, key=f"{_NEW_IMAGES}-says-{file.file_id}", height=100)
                        st.text_input(_SHOWS, key=f"{_NEW_IMAGES}-shows-{file.file_id}")


def attachments() -> tuple[list[Attachment], list[InputError]]:
    """What was uploaded for the new post and can be taken, and why each of the others cannot."""
    state = st.session_state
    given = [
        Attachment(
            content=file.getvalue(),
            name=file.name,
            text=state.get(f"{_NEW_IMAGES}-says-{file.file_id}") or "",
            shows=state.get(f"{_NEW_IMAGES}-shows-{file.file_id}") or "",
        )
        for file in _uploaded(_uploader_key())
    ]
    return usable_images(given)


def forget_uploads() -> None:
    """Empty the uploader, for the next post."""
    st.session_state[_NEW_IMAGES] = st.session_state.get(_NEW_IMAGES, 0) + 1  # a new key is a new widget


def case_images(case: Case, *, busy: bool) -> None:
    """The images of a case: each with its words, to correct while the case is open."""
    for image in case.post.images:
        _card(case, image, busy=busy)
    room = MAX_IMAGES - len(case.post.images)
    if case.decision is not None or room <= 0:
        return
    key = f"attach-{case.id}-{len(case.post.images)}"
    with st.form(f"form-{key}", border=False):
        _uploader(f"Attach an image (room for {room})", key)
        if st.form_submit_button("Attach", icon=":material/add_photo_alternate:", disabled=busy):
            _attach(case, key)


def _card(case: Case, image: Image, *, busy: bool) -> None:
    key = f"{case.id}-{image.sha256[:12]}"
    with st.container(border=True, key=f"image-{key}"), st.grid(2, min_column_width=260):
        st.image(_kept(image.sha256), width="stretch", alt=image.shows or image.name)
        with st.container(gap="xsmall"):
            st.markdown(f"**{escaped(image.name, 60)}** :small[:gray[{image.width:,} × {image.height:,} pixels]]")
            if image.read_by:
                st.caption(f"Read by {escaped('you' if image.read_by == 'person' else image.read_by, 60)}")
            else:
                _who_reads()
            if case.decision is not None:
                st.markdown(escaped(image.text) or ":gray[Nothing to read in it]")
                st.caption(escaped(image.shows))
                return
            _words(case, image, key, busy=busy)
            off = partial(_remove, case, image.sha256)
            button("Take it off", f"off-{key}", _PLACE, off, icon="delete", type="tertiary", disabled=busy)


def _words(case: Case, image: Image, key: str, *, busy: bool) -> None:
    with st.form(f"words-{key}", border=False):
        text = st.text_area(_SAYS, value=image.text, height=110, disabled=busy)
        shows = st.text_input(_SHOWS, value=image.shows, disabled=busy)
        if st.form_submit_button("Save what it says", icon=":material/save:", disabled=busy):
            describe = partial(workspace().service.describe_image, case.id, image.sha256, text or "", shows or "")
            act(_PLACE, lambda: _changed(case, describe(author())))
            st.rerun()


def _who_reads() -> None:
    if workspace().engine.sees:
        st.caption(":material/visibility: The engine reads it when the evidence is gathered. You can correct it then.")
    else:
        st.caption(
            ":material/visibility_off: The engine at work cannot see. Type what the image says, in its own words."
        )


def _attach(case: Case, key: str) -> None:
    left_out: list[InputError] = []

    def attach() -> None:
        newest = case
        for file in _uploaded(key):
            try:
                newest = workspace().service.attach_image(case.id, file.getvalue(), file.name, author())
            except InputError as why:
                left_out.append(why)
        if newest is not case and workspace().engine.sees:
            gather_anew(newest)

    act(_PLACE, attach)
    tell(_PLACE, *left_out)
    st.rerun()


def _remove(case: Case, sha256: str) -> None:
    _changed(case, workspace().service.remove_image(case.id, sha256, author()))


def _uploader(label: str, key: str) -> None:
    st.file_uploader(
        label,
        type=_KINDS,
        accept_multiple_files=True,
        key=key,
        max_upload_size=MAX_IMAGE_BYTES // 1_000_000,
        help="A screenshot will do. Where it was taken, and the like, is not kept.",
    )


def _uploader_key() -> str:
    return f"{_NEW_IMAGES}-files-{st.session_state.get(_NEW_IMAGES, 0)}"


def _uploaded(key: str) -> list[UploadedFile]:
    return cast("list[UploadedFile]", st.session_state.get(key) or [])


@st.cache_data(max_entries=16, show_spinner=False)
def _seen(content: bytes, name: str) -> bytes:
    return workspace().service.preview(content, name)


@st.cache_data(max_entries=32, show_spinner=False)
def _kept(sha256: str) -> bytes:
    return workspace().service.preview(workspace().service.image(sha256))
