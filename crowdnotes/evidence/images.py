"""Checks an attached picture and writes it anew, before anything of it is kept.

Every picture is decoded and written anew: that proves that it is one, leaves out where and when it
was taken (EXIF and the like), and leaves out whatever else a file may carry behind its picture.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass

from PIL import Image as Pillow
from PIL import ImageOps

from crowdnotes.domain import MAX_IMAGE_BYTES
from crowdnotes.errors import InputError

MAX_PIXELS = 40_000_000  # a decompression bomb is refused by its header, before it is unpacked
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_LOSSY_FORMATS = frozenset({"JPEG", "WEBP"})
_PALETTE_MODES = frozenset({"P", "1"})  # their colours cannot be mixed before they are converted
_MAX_SIDE_PIXELS = 4096  # X shows no larger picture, and no engine reads a finer one
_PREVIEW_SIDE_PIXELS = 1200
_JPEG_QUALITY = 90
_DAMAGE_ERRORS = (OSError, ValueError, SyntaxError, EOFError, struct.error)  # what Pillow's readers raise for bad bytes


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as it is kept: bytes of `media_type`, upright, at most 4,096 pixels a side."""

    content: bytes
    media_type: str
    width: int
    height: int


def clean_picture(content: bytes, name: str) -> Picture:
    """Return the picture in a file's bytes, written anew: a PNG for PNG and GIF (its first frame), else a JPEG.

    Raises InputError, with what to do, for what is empty, too large, or no readable picture.
    """
    shown = f"“{name[:60]}”"
    if not content:
        raise InputError(f"{shown} is empty.", "Choose another file.")
    if len(content) > MAX_IMAGE_BYTES:
        raise InputError(f"{shown} is too large: {len(content) / 1e6:.1f} MB, limit {MAX_IMAGE_BYTES / 1e6:g} MB.")
    try:
        with Pillow.open(io.BytesIO(content), formats=FORMATS) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                raise _build_too_many_pixels_error(shown)
            lossy = opened.format in _LOSSY_FORMATS
            if opened.mode not in _PALETTE_MODES:  # at once, so that a large photo is never held whole at full size
                opened.thumbnail((_MAX_SIDE_PIXELS, _MAX_SIDE_PIXELS))
            upright = ImageOps.exif_transpose(opened)
            colours = "RGBA" if upright.has_transparency_data else "RGB"
            picture = _flatten_on_white(upright) if lossy else upright.convert(colours)
            picture.thumbnail((_MAX_SIDE_PIXELS, _MAX_SIDE_PIXELS))
            return _encode_picture(picture, "JPEG" if lossy else "PNG")
    except (Pillow.DecompressionBombError, Pillow.DecompressionBombWarning) as error:
        raise _build_too_many_pixels_error(shown) from error
    except _DAMAGE_ERRORS as error:
        raise InputError(
            f"{shown} is not a picture we can read.", "Attach PNG, JPEG, WebP or GIF, or a screenshot."
        ) from error


def preview(content: bytes) -> bytes:
    """Return a smaller copy of a picture from `clean_picture`, fit for a page: a PNG of at most 1,200 pixels a side."""
    with Pillow.open(io.BytesIO(content), formats=FORMATS) as opened:
        opened.thumbnail((_PREVIEW_SIDE_PIXELS, _PREVIEW_SIDE_PIXELS))
        out = io.BytesIO()
        opened.save(out, "PNG")
        return out.getvalue()


def _build_too_many_pixels_error(shown: str) -> InputError:
    return InputError(
        f"{shown} has over {MAX_PIXELS / 1e6:g} million pixels.", "Attach a smaller copy or a screenshot."
    )


def _flatten_on_white(picture: Pillow.Image) -> Pillow.Image:
    """JPEG knows no transparency: letters on nothing must not become black on black."""
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    behind = Pillow.new("RGBA", picture.size, "white")
    return Pillow.alpha_composite(behind, picture.convert("RGBA")).convert("RGB")


def _encode_picture(picture: Pillow.Image, kind: str) -> Picture:
    # A new image, because some writers take a picture's metadata along.
    fresh = Pillow.new(picture.mode, picture.size)
    fresh.paste(picture)
    out = io.BytesIO()
    fresh.save(out, kind, quality=_JPEG_QUALITY) if kind == "JPEG" else fresh.save(out, kind)
    return Picture(out.getvalue(), f"image/{kind.lower()}", picture.width, picture.height)
