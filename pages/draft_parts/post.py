"""The post of a case and its images, to read and correct; images attached to a new post."""

from __future__ import annotations

from functools import partial
from typing import cast

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from crowdnotes.cases import intake
from crowdnotes.cases.intake import Attachment, usable_images
from crowdnotes.domain import MAX_IMAGE_BYTES, MAX_IMAGES, Case, Image, text_sha256
from crowdnotes.errors import InputError
from crowdnotes.text.markdown import escaped, exact
from pages.common.components import outside_text
from pages.common.layout import StepName
from pages.common.progress import gather_anew
from pages.common.session import add_notice, button, cases, keep_typed, notice_for, run_action, show_notice, workspace
from pages.common.times import moment
from pages.common.where_to_look import MODE_LABELS

_NOTICE_AREA = StepName.POST.value
_IMAGE_TYPES = ["png", "jpg", "jpeg", "webp", "gif"]
_NEW_IMAGES_KEY = "new-images"
_MAX_LINE_CHARACTERS = 90  # characters of the post in the line of a phone, which clips it


def changed(case: Case, saved: Case) -> None:
    """When the post says something else now, gather anew."""
    if saved.post.whole_text != case.post.whole_text:
        gather_anew(saved)


def new_images() -> None:
    """Images for a post that is not a case yet, with a box to say what is in them."""
    _draw_uploader(f"Images of the post (optional, up to {MAX_IMAGES})", _uploader_key())
    for file in _get_uploaded_files(_uploader_key()):
        with st.container(border=True, key=f"{_NEW_IMAGES_KEY}-{file.file_id}"):
            try:
                seen = _preview_upload(file.getvalue(), file.name)
            except InputError as error:
                show_notice(notice_for(error))
                continue
            with st.grid(2, min_column_width=260):
                st.image(seen, width="stretch", alt=file.name)
                with st.container(gap="xsmall"):
                    st.markdown(f"**{escaped(file.name, 60)}**")
                    _explain_image_reading()
                    if not workspace().engine.sees:
                        st.text_area("Text in the image", key=f"{_NEW_IMAGES_KEY}-says-{file.file_id}", height=100)
                        st.text_input(
                            "What the image shows (optional)",
                            key=f"{_NEW_IMAGES_KEY}-shows-{file.file_id}",
                        )


def attachments() -> tuple[list[Attachment], list[InputError]]:
    """Return what was uploaded for the new post and can be taken, and why each of the others cannot."""
    state = st.session_state
    given = [
        Attachment(
            content=file.getvalue(),
            name=file.name,
            text=state.get(f"{_NEW_IMAGES_KEY}-says-{file.file_id}") or "",
            shows=state.get(f"{_NEW_IMAGES_KEY}-shows-{file.file_id}") or "",
        )
        for file in _get_uploaded_files(_uploader_key())
    ]
    return usable_images(given)


def forget_uploads() -> None:
    """Empty the uploader, for the next post."""
    st.session_state[_NEW_IMAGES_KEY] = st.session_state.get(_NEW_IMAGES_KEY, 0) + 1  # a new key is a new widget


def case_images(case: Case, *, busy: bool) -> None:
    """Draw the images of a case: each with its words, to correct while the case is open."""
    for image in case.post.images:
        _draw_image_card(case, image, busy=busy)
    left = MAX_IMAGES - len(case.post.images)
    if case.decision is not None or left <= 0:
        return
    key = f"attach-{case.id}-{len(case.post.images)}"
    with st.form(f"form-{key}", border=False):
        _draw_uploader(f"Add an image (up to {left} more)", key)
        if st.form_submit_button("Add image", icon=":material/add_photo_alternate:", disabled=busy):
            _attach_images(case, key)


def _draw_image_card(case: Case, image: Image, *, busy: bool) -> None:
    key = f"{case.id}-{image.sha256[:12]}"
    with st.container(border=True, key=f"image-{key}"), st.grid(2, min_column_width=260):
        st.image(_load_preview(case.id, image.sha256), width="stretch", alt=image.shows or image.name)
        with st.container(gap="xsmall"):
            size = f"{image.width:,} × {image.height:,} pixels"
            st.markdown(f"**{escaped(image.name, 60)}** :small[:gray[{size}]]")
            if image.read_by:
                by = "you" if image.read_by == "person" else escaped(image.read_by, 60)
                st.caption(f"Read by {by}")
            else:
                _explain_image_reading()
            if case.decision is not None:
                st.markdown(escaped(image.text) or ":gray[No text in it]")
                st.caption(escaped(image.shows))
                return
            _draw_image_fields(case, image, key, busy=busy)
            off = partial(_remove_image, case, image.sha256)
            button("Remove image", f"off-{key}", _NOTICE_AREA, off, icon="delete", type="tertiary", disabled=busy)


def _draw_image_fields(case: Case, image: Image, key: str, *, busy: bool) -> None:
    fields = f"words-{key}-{_short_hash(image.text, image.shows)}"
    with st.form(f"words-{key}", border=False):
        st.text_area("Text in the image", image.text, height=110, key=f"{fields}-text", disabled=busy)
        seen = "What the image shows (optional)"
        st.text_input(seen, image.shows, key=f"{fields}-shows", disabled=busy)
        saving = (_NOTICE_AREA, partial(_save_image_words, case, image.sha256, fields))
        st.form_submit_button("Save", icon=":material/save:", on_click=run_action, args=saving, disabled=busy)


def _save_image_words(case: Case, sha256: str, fields: str) -> None:
    text, shows = (st.session_state.get(f"{fields}-{name}") or "" for name in ("text", "shows"))
    words = {"Text in the image": text, "What the image shows": shows}
    keep_typed(words, lambda: changed(case, cases().apply(case.id, intake.describe_image, sha256, text, shows)))


def _explain_image_reading() -> None:
    if workspace().engine.sees:
        st.caption(":material/visibility: The AI reads the image during the search. Then you can correct its text.")
    else:
        st.caption(":material/visibility_off: CrowdNotes cannot read this image. Type its text exactly.")


def _attach_images(case: Case, key: str) -> None:
    left_out: list[InputError] = []

    def attach() -> None:
        newest = case
        for file in _get_uploaded_files(key):
            try:
                newest = intake.attach_image(cases(), case.id, file.getvalue(), file.name)
            except InputError as why:
                left_out.append(why)
        if newest is not case and workspace().engine.sees:
            gather_anew(newest)

    run_action(_NOTICE_AREA, attach)
    add_notice(_NOTICE_AREA, *left_out)
    st.rerun()


def _remove_image(case: Case, sha256: str) -> None:
    changed(case, cases().apply(case.id, intake.remove_image, sha256))


def _draw_uploader(label: str, key: str) -> None:
    st.file_uploader(
        label,
        type=_IMAGE_TYPES,
        accept_multiple_files=True,
        key=key,
        max_upload_size=MAX_IMAGE_BYTES // 1_000_000,
        help="Location and other hidden data are removed.",
    )


def _uploader_key() -> str:
    return f"{_NEW_IMAGES_KEY}-files-{st.session_state.get(_NEW_IMAGES_KEY, 0)}"


def _get_uploaded_files(key: str) -> list[UploadedFile]:
    return cast("list[UploadedFile]", st.session_state.get(key) or [])


@st.cache_data(max_entries=16, show_spinner=False)
def _preview_upload(content: bytes, name: str) -> bytes:
    return intake.preview(content, name)


@st.cache_data(max_entries=32, show_spinner=False)
def _load_preview(case_id: str, sha256: str) -> bytes:
    return intake.preview(cases().image(case_id, sha256))


def phone_post(case: Case, place: str) -> None:
    """Draw the post in a line that opens, for a phone, where it has a tab of its own; page.css hides it elsewhere."""
    with st.container(key=f"phone-post-{place}"):
        label = f"“{escaped(case.post.text, _MAX_LINE_CHARACTERS)}”" if case.post.text else "The post has no text yet"
        key, icon = f"phone-post-{place}-{case.id}", ":material/article:"
        with st.expander(label, icon=icon, type="compact", key=key, on_change="rerun") as fold:
            if fold.open:
                outside_text(case.post.text, look="post", key=f"phone-post-{place}-text-{case.id}")


def whole_post(case: Case) -> None:
    """Draw all of the post, for a phone; page.css hides it elsewhere."""
    with st.container(key="phone-post-whole"):
        outside_text(case.post.text, look="post", key=f"whole-post-{case.id}")


def post_panel(case: Case, *, busy: bool) -> None:
    """Draw the whole post, its images, and a box to change it."""
    outside_text(case.post.text, look="post", key=f"post-{case.id}")
    if case.post.context:
        st.caption("The post it replies to or quotes")
        outside_text(case.post.context, look="post", key=f"post-context-{case.id}")
    if case.post.unseen:
        unseen = escaped(", ".join(case.post.unseen))
        st.caption(f":material/visibility_off: Not seen: {unseen}. If it matters, type its words below.")
    facts = [f"Case started {moment(case.created_at)}", MODE_LABELS[case.mode]]
    if case.post.url:
        facts.insert(0, exact(case.post.url))
    st.caption(" · ".join(facts))
    case_images(case, busy=busy)
    if case.decision is not None:
        return
    post = case.post
    key = f"edit-post-{case.id}-{_short_hash(post.text, post.url or '', post.context)}"
    with st.form(f"edit-post-{case.id}", border=False):
        st.text_area("Text of the post", post.text, height=130, key=f"{key}-text", disabled=busy)
        address = "Address of the post on X (optional)"
        st.text_input(address, post.url or "", type="url", key=f"{key}-url", disabled=busy)
        other = "The post it replies to or quotes (optional)"
        st.text_area(other, post.context, height=70, key=f"{key}-context", disabled=busy)
        st.caption(
            (
                "A new text starts again: drafts and scores are deleted, sources move to “Earlier sources”. Undo "
                "brings the note back once you use a source."
            )
            if case.evidence or case.draft
            else "A new text starts a new search."
        )
        if busy:
            st.caption("Wait until the running work has finished.")
        saving = (_NOTICE_AREA, partial(_save_post, case, key))
        st.form_submit_button("Save the post", icon=":material/save:", on_click=run_action, args=saving, disabled=busy)


def _short_hash(*stored: str) -> str:
    """For the keys of a form's fields: what was saved meanwhile is shown, and what was refused stays typed."""
    return text_sha256("\0".join(stored))[:12]


def _save_post(case: Case, key: str) -> None:
    text, url, context = (st.session_state.get(f"{key}-{name}") or "" for name in ("text", "url", "context"))
    edit = partial(intake.edit_post, cases(), case.id, text, url=url or None, context=context)
    fields = (
        ("Text of the post", text, case.post.text),
        ("Address of the post on X", url, case.post.url or ""),
        ("The post it replies to or quotes", context, case.post.context),
    )
    typed = {name: now for name, now, before in fields if now != before}
    keep_typed(typed, lambda: changed(case, edit()))
