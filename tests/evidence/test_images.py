"""What may be attached as an image, and what is kept of it."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from crowdnotes.domain import MAX_IMAGE_BYTES
from crowdnotes.errors import InputError
from crowdnotes.evidence.images import FORMATS, clean_picture, preview


def _file(kind: str = "PNG", size: tuple[int, int] = (30, 20), mode: str = "RGB", **options: object) -> bytes:
    out = io.BytesIO()
    Image.new(mode, size, "navy").save(out, kind, **options)
    return out.getvalue()


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [("PNG", "image/png"), ("GIF", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/jpeg")],
)
def test_each_kind_is_kept_as_a_picture_of_its_size_and_the_same_file_as_the_same_bytes(
    kind: str, media_type: str
) -> None:
    picture = clean_picture(_file(kind), "a")
    assert (picture.media_type, picture.width, picture.height) == (media_type, 30, 20)
    assert Image.open(io.BytesIO(picture.content)).size == (30, 20)
    assert clean_picture(_file(kind), "b") == picture


def test_where_it_was_taken_and_what_hides_behind_it_is_not_kept() -> None:
    exif = Image.Exif()
    exif[0x010E] = "a secret place"
    picture = clean_picture(_file("JPEG", exif=exif) + b"<script>alert(1)</script>", "a.jpg")
    assert b"secret" not in picture.content
    assert b"script" not in picture.content
    assert not Image.open(io.BytesIO(picture.content)).getexif()


def test_a_photo_taken_sideways_stands_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # a quarter turn
    picture = clean_picture(_file("JPEG", exif=exif), "a.jpg")
    assert (picture.width, picture.height) == (20, 30)


def test_dark_letters_on_nothing_stay_readable() -> None:
    out = io.BytesIO()
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(out, "WEBP", lossless=True)
    kept = Image.open(io.BytesIO(clean_picture(out.getvalue(), "a.webp").content))
    assert kept.convert("L").getpixel((4, 4)) == 255


def test_a_very_large_picture_is_made_smaller() -> None:
    picture = clean_picture(_file(size=(6000, 60)), "a.png")
    assert (picture.width, picture.height) == (4096, 41)


def _png_that_says(width: int, height: int) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 1000)), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


NO_PICTURE = "not a picture we can read"
BOMB = "over 40 million pixels"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"%PDF-1.7", NO_PICTURE),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", NO_PICTURE),
        (_file()[:60], NO_PICTURE),
        (_file("JPEG")[:200], NO_PICTURE),
        (_file("BMP"), NO_PICTURE),
        (_file("TIFF"), NO_PICTURE),
        (b"GIF89a", NO_PICTURE),
        (b"", "is empty"),
        (b"\x89PNG" + b"\0" * (MAX_IMAGE_BYTES + 100_000), r"5\.1 MB"),
        *((_png_that_says(side, side), BOMB) for side in (6_400, 10_000, 50_000, 1_000_000)),
    ],
    ids="pdf svg cut-png cut-jpeg bmp tiff empty-gif empty too-large bomb-1 bomb-2 bomb-3 bomb-4".split(),
)
def test_what_is_no_picture_of_these_kinds_or_too_large_is_refused_in_a_sentence(content: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        clean_picture(content, "a.png")


_SAMPLES = {kind: _file(kind, (16, 16)) for kind in FORMATS}


@given(st.sampled_from(FORMATS), st.integers(0, 2_000), st.binary(max_size=20))
def test_damaged_bytes_are_a_picture_or_refused_never_a_crash(kind: str, place: int, junk: bytes) -> None:
    sample = _SAMPLES[kind]
    place %= len(sample)
    try:
        picture = clean_picture(sample[:place] + junk + sample[place + len(junk) :], "a")
    except InputError:
        return
    assert picture.width * picture.height <= 40_000_000


def test_a_preview_is_small_enough_for_a_page() -> None:
    shown = Image.open(io.BytesIO(preview(clean_picture(_file(size=(3000, 1500)), "a").content)))
    assert (shown.format, shown.size) == ("PNG", (1200, 600))
