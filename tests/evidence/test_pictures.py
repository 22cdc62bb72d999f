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
from crowdnotes.evidence.pictures import FORMATS, clean_picture, preview


def _file(kind: str = "PNG", size: tuple[int, int] = (30, 20), mode: str = "RGB", **options: object) -> bytes:
    out = io.BytesIO()
    Image.new(mode, size, "navy").save(out, kind, **options)
    return out.getvalue()


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [("PNG", "image/png"), ("GIF", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/jpeg")],
)
def test_each_kind_is_kept_as_a_picture_of_its_size(kind: str, media_type: str) -> None:
    picture = clean_picture(_file(kind), "a")
    assert (picture.media_type, picture.width, picture.height) == (media_type, 30, 20)
    assert Image.open(io.BytesIO(picture.content)).size == (30, 20)


def test_the_same_file_is_kept_as_the_same_bytes() -> None:
    assert clean_picture(_file(), "a") == clean_picture(_file(), "b")


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


@pytest.mark.parametrize("side", [6_400, 10_000, 50_000, 1_000_000])
def test_a_decompression_bomb_is_refused_by_its_header(side: int) -> None:
    with pytest.raises(InputError, match="more than 40 million pixels"):
        clean_picture(_png_that_says(side, side), "bomb.png")


def test_a_file_over_five_megabytes_is_refused_with_its_size() -> None:
    with pytest.raises(InputError, match=r"5\.1 MB"):
        clean_picture(b"\x89PNG" + b"\0" * (MAX_IMAGE_BYTES + 100_000), "a.png")


@pytest.mark.parametrize(
    "content",
    [
        b"%PDF-1.7",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        _file()[:60],
        _file("JPEG")[:200],
        _file("BMP"),
        _file("TIFF"),
        b"GIF89a",
    ],
    ids=["pdf", "svg", "cut png", "cut jpeg", "bmp", "tiff", "empty gif"],
)
def test_what_is_no_picture_of_these_kinds_is_refused_in_a_sentence(content: bytes) -> None:
    with pytest.raises(InputError, match="not a picture that can be read"):
        clean_picture(content, "a.png")


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(InputError, match="is empty"):
        clean_picture(b"", "a.png")


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
