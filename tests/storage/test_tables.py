"""What of a text the tables can keep."""

from __future__ import annotations

from crowdnotes.storage.tables import storable_text


def test_storable_text_changes_only_what_cannot_be_kept() -> None:
    assert storable_text("a\x00b\ud800c 😀\u200f") == "a\ufffdb\ufffdc 😀\u200f"
