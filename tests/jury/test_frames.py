"""Words in their place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdnotes.jury.frames import frames, words_by_kind


@pytest.mark.parametrize(("named", "mark"), [("Biden", "@left"), ("Pete Hegseth", "@right")])
def test_a_name_is_read_by_its_side(named: str, mark: str) -> None:
    found = frames(f"There is no evidence that {named} did this.")
    assert f"{mark} did this" in found
    assert f"{mark} < evidence" in found
    assert not [frame for frame in found if named.lower() in frame.split()]


def test_what_is_said_of_one_name_is_said_of_another_of_its_group() -> None:
    one, other = (frames(f"Clearly {name} lied about it.") for name in ("Schumer", "Hakeem Jeffries"))
    assert one == other
    assert "@left_politicians lied about" in one


def test_words_beyond_the_clause_do_not_speak_of_a_name() -> None:
    found = frames("Trump spoke. Nobody listened.")
    assert "@right > spoke" in found
    assert not [frame for frame in found if "> nobody" in frame]


def test_a_note_without_names_and_known_phrases_has_no_frames() -> None:
    assert frames("The bridge was closed in spring.") == []


@pytest.mark.parametrize(
    ("note", "kind"),
    [
        ("NNN. The clinic closed.", "not_needed"),
        ("This is false. The clinic closed.", "needed"),
        ("The clinic closed.", "other"),
    ],
)
def test_words_carry_the_kind_of_their_note(note: str, kind: str) -> None:
    assert f"{kind} clinic" in words_by_kind(note)


def test_sources_carry_the_kind_of_their_note() -> None:
    found = words_by_kind("NNN. https://x.com/SomeOne/status/1")
    assert {"not_needed x.com", "not_needed @someone"} <= set(found)


@settings(max_examples=60)
@given(st.text(max_size=300))
def test_each_frame_of_any_text_holds_a_mark_once(text: str) -> None:
    found = frames(text)
    assert len(found) == len(set(found))
    assert all("@" in frame or "#" in frame for frame in found)
