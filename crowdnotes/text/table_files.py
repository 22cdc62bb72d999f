"""Tables as people save them, and tables that leave the program: one rule for all who read or write them.

Read: Unicode, with its mark or without, and what Excel writes where nobody asks for UTF-8. Which of the old charsets a
file is in is a guess, so the user reads a remark (`Encoding.remark`). Written: no cell is a formula, and only the
owner may read it.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import math
import os
import re
import stat
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple, TextIO

if TYPE_CHECKING:
    from _csv import Reader

LOST_LETTER: Final = "\ufffd"  # replaces bytes that are no letter in the file's charset
_CODEC_BY_MARK = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What programs of the West save in, the likeliest first: Windows, Windows in Central Europe, Mac, DOS.
_WESTERN_CHARSETS = ("cp1252", "cp1250", "mac_roman", "cp850")
_MAX_WESTERN_CHAOS = 0.15  # of charset-normalizer: above it the letters are those of another script
# What no language writes, and a wrong charset does: a capital with an accent behind a small letter, a sign inside a
# word, a low quotation mark behind a letter, a question that begins and does not end.
_ODD_LETTERS_PATTERN = re.compile(
    "[a-zß-öø-ÿšžœ][À-ÖØ-ÞŠŽŒŸ](?![A-Z])"
    "|(?<=[^\\W\\d_])[¡-¦¨¬¯-´¶¸-¿×÷†‡‰‹›•…™ˆ˜ƒ„‚”](?=[^\\W\\d_])"
    "|(?<=[^\\W\\d_])[„‚](?!\\d)"
    "|¿(?![^¿]*\\?)"
)
_NOT_ASCII_PATTERN = re.compile(rb"[\x80-\xff]+")
_HANDLER_PREFIX = "crowdnotes-"
_MAX_MEAN_WESTERN_RUN = 1.25
_SNIFFED_BYTES = 2_000
_SAMPLE_BYTES = 65_536
_CHUNK_BYTES = 65_536
_FEW = 20  # a broken byte, or line, in more than so many is a slip
_MIN_WHOLE_SHARE = 10  # one line in so many is UTF-8 where two programs' files were pasted together
_LAST_LETTER_PATTERN = re.compile(rb"[\xc0-\xff]?[\x80-\xbf]{0,3}\Z")
_MAX_HEADING_CHARACTERS = 200_000
_MOST_UNPACKED_BYTES = 50_000_000
_MOST_EXPANSION = 50  # public ratings, the most repetitive of real files, unpack to ten times their size
_SEPARATOR_LINE_PATTERN = re.compile('"?sep=(.)"?[\r\n]*')  # a first line that names the delimiter to Excel


def most_unpacked(size: int) -> int:
    """Return how many bytes a packed file of `size` bytes may hold: one that holds more was made to fill a machine."""
    return max(_MOST_UNPACKED_BYTES, _MOST_EXPANSION * size)


_SPOKEN_BY_CHARSET = {
    "cp1252": "Western Europe", "cp1250": "Central Europe", "iso8859_2": "Central Europe", "cp1254": "Turkish",
    "cp1257": "Baltic", "mac_roman": "Western Europe, Mac",
    "cp850": "Western Europe, DOS", "gb18030": "Chinese, simplified", "big5": "Chinese, traditional",
    "cp932": "Japanese", "euc_jp": "Japanese", "cp949": "Korean", "cp1251": "Cyrillic", "koi8_r": "Cyrillic",
    "cp1253": "Greek", "cp1255": "Hebrew", "cp1256": "Arabic", "cp874": "Thai",
}  # fmt: skip


class Encoding(NamedTuple):
    """How a file is read; `is_checked`: every byte is a letter, so that a `LOST_LETTER` in it is its own."""

    codec: str
    is_checked: bool = False
    other: str = ""
    """The charset of the lines that are not in `codec`, in a file that two programs wrote."""

    @property
    def is_guess(self) -> bool:
        """It is none of Unicode's, at least in part, so it may be another."""
        return bool(self.other) or not self.codec.startswith("utf")

    @property
    def errors(self) -> str:
        """How bytes are read that are no letter in `codec`: as codecs name it."""
        return f"{_HANDLER_PREFIX}{self.other}" if self.other else "replace"

    def has_lost(self, text: str) -> bool:
        """Return whether letters of a text that was read so are lost."""
        return LOST_LETTER in text and not self.is_checked

    @property
    def as_named(self) -> str:
        """The charset that is a guess, with the languages it is for."""
        charset = self.other or self.codec
        spoken = _SPOKEN_BY_CHARSET.get(charset)
        return f"{charset} ({spoken})" if spoken else charset

    def remark(self, name: str) -> str:
        """Return a remark for the user on the encoding of the file; "" where all is certain."""
        if self.is_guess:
            read = "only partly in UTF-8, and the rest" if self.other else "not in UTF-8 and"
            return (
                f"{name} is {read} was read as {self.as_named}: check letters, accents and quotation marks. If "
                "wrong, save it as “CSV UTF-8”."
            )
        if self.codec == "utf-8-sig" and not self.is_checked:
            return f"We could not read some letters of {name}, shown as “{LOST_LETTER}”: save it as UTF-8."
        return ""


def _read_other(charset: str, error: UnicodeError) -> tuple[str, int]:
    """Read bytes that are no UTF-8 in another charset, as `codecs.register_error` wants it."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode(charset, "replace"), error.end


def _takes_single_bytes(charset: str) -> bool:
    return bool(b"\xe9".decode(charset, "ignore"))


def codec_by_mark(start: bytes) -> str | None:
    """Return the codec that Unicode's mark at the beginning of a text names, and that drops it; None without one."""
    return next((codec for mark, codec in _CODEC_BY_MARK if start.startswith(mark)), None)


def encoding_of(stream: IO[bytes]) -> Encoding:
    """Return how a text file is read, after a look at all of it: Unicode where it can be, else the likeliest."""
    start = stream.read(_SNIFFED_BYTES)
    marked = codec_by_mark(start)
    if marked is not None and marked != "utf-8-sig":
        return Encoding(marked)
    if start.count(0) * 3 > len(start):
        return Encoding("utf-16-le" if start[1::2].count(0) >= start[::2].count(0) else "utf-16-be")
    lines = _LineKinds()
    lines.read(start, stream)
    if not lines.broken or lines.are_mostly_utf8:
        return Encoding("utf-8-sig", is_checked=not lines.broken)
    if lines.are_partly_utf8 and (other := likely_charset(lines.broken)) and _takes_single_bytes(other):
        codecs.register_error(f"{_HANDLER_PREFIX}{other}", partial(_read_other, other))
        return Encoding("utf-8-sig", other=other)
    if marked is not None:
        return Encoding("utf-8-sig")
    return Encoding(likely_charset(lines.sample) or "cp1252")


@dataclass
class _LineKinds:
    """Of a file's lines that are not plain ASCII: samples, of all and of those that are no UTF-8, and the counts."""

    sample: bytes = b""
    broken: bytes = b""
    whole_count: int = 0
    broken_count: int = 0

    @property
    def are_mostly_utf8(self) -> bool:
        """Whether only a few bytes are broken. Of a long file the sample is only its beginning."""
        if len(self.sample) < _SAMPLE_BYTES:
            return is_mostly_utf8(self.sample)
        return self.broken_count * _FEW < self.whole_count

    @property
    def are_partly_utf8(self) -> bool:
        """As two programs' files are that were pasted together; a line of another charset is seldom UTF-8 by chance."""
        return self.whole_count * _MIN_WHOLE_SHARE > self.whole_count + self.broken_count

    def read(self, start: bytes, stream: IO[bytes]) -> None:
        """Look through a file from its beginning, which was read, to its end."""
        rest = b""  # of a line that has not ended
        for chunk in itertools.chain([start], iter(partial(stream.read, _CHUNK_BYTES), b"")):
            head, end, rest = (rest + chunk).rpartition(b"\n")
            if not end and len(rest) > _CHUNK_BYTES:  # a long line is taken in pieces of whole letters
                cut = _LAST_LETTER_PATTERN.search(rest).start()  # type: ignore[union-attr]  # it matches everything
                head, rest = rest[:cut], rest[cut:]
            self._count_lines(head)
        self._count_lines(rest)

    def _count_lines(self, lines: bytes) -> None:
        if lines.isascii():  # any charset reads it alike
            return
        for line in lines.split(b"\n"):
            if line.isascii():
                continue
            is_whole = _is_utf8(line)
            self.whole_count += is_whole
            self.broken_count += not is_whole
            if len(self.sample) < _SAMPLE_BYTES:
                self.sample += line[:_SAMPLE_BYTES] + b"\n"
            if not is_whole and len(self.broken) < _SAMPLE_BYTES:
                self.broken += line[:_SAMPLE_BYTES] + b"\n"


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def is_mostly_utf8(body: bytes) -> bool:
    """UTF-8 with a few broken bytes, as a page pasted together from several has them."""
    text = body.decode("utf-8", "replace")
    broken = text.count(LOST_LETTER)
    return broken * _FEW < sum(not character.isascii() for character in text) - broken


def likely_charset(sample: bytes) -> str | None:
    """Return what bytes that are no UTF-8 are probably in; None where nothing fits.

    Several fit a few accents, so it is taken for one of the West's where it may be one, unless the language of its
    words says otherwise.
    """
    from charset_normalizer import from_bytes  # loaded when it is needed: most files are Unicode

    if (charset := _charset_by_language(sample)) is not None:
        return charset
    found = from_bytes(sample)
    is_likely = any("cp1252" in one.could_be_from_charset and one.chaos < _MAX_WESTERN_CHAOS for one in found)
    tried = _WESTERN_CHARSETS if is_likely else _WESTERN_CHARSETS[:-1] if _has_lone_accents(sample) else ()
    chosen = next((name for name in tried if _reads_well(sample, name)), "cp1252" if is_likely else None)
    if chosen is not None:
        return chosen
    named = (*_LANGUAGES_BY_ALPHABET, *_CHARACTERS_BY_CHARSET)
    share, charset = max((_usual_share(sample, name), name) for name in named)
    if share >= _MIN_USUAL_SHARE:
        return charset
    best = next((one for one in found if one.multi_byte_usage == 0), None)
    return best.encoding if best is not None else None


# The letters beyond ASCII of languages in Latin script, and the charsets that they are saved in. Which charset of the
# West it is, `_reads_well` says. Of 87 short texts so 86 are read right; 37 were without it, 48 by charset-normalizer.
_CENTRAL, _BALTIC, _TURKISH = ("cp1250", "iso8859_2"), ("cp1257",), ("cp1254",)
_WEST = ("cp1252", "mac_roman", "cp850")
_LATIN_ALPHABETS = {
    "pl": ("ąćęłńóśźż", _CENTRAL), "cs": ("áčďéěíňóřšťúůýž", _CENTRAL), "sk": ("áäčďéíĺľňóôŕšťúýž", _CENTRAL),
    "hu": ("áéíóöőúüű", _CENTRAL), "ro": ("ăâîşţ", _CENTRAL), "sl": ("čšž", _CENTRAL), "hr": ("čćđšž", _CENTRAL),
    "tr": ("çğıİöşüâîû", _TURKISH), "az": ("çğıİöşü", _TURKISH), "lt": ("ąčęėįšųūž", _BALTIC),
    "lv": ("āčēģīķļņšūž", _BALTIC), "et": ("äõöüšž", _BALTIC),
    "da": ("æøåé", _WEST), "de": ("äöüß", _WEST), "en": ("áàâäãåçéèêëíîïñóôöõøúüæœß", _WEST),
    "es": ("áéíñóúü¿¡ºª", _WEST),
    "fi": ("äöå", _WEST), "fr": ("àâæçéèêëîïôœùûüÿ", _WEST), "ca": ("àçéèíïóòúü·", _WEST), "gl": ("áéíñóúü", _WEST),
    "id": ("é", _WEST), "is": ("áæðéíóöþúý", _WEST), "it": ("àèéìíòóù", _WEST), "nl": ("áéëïóöü", _WEST),
    "no": ("æøåéòô", _WEST), "pt": ("ãáâàçéêíóôõúüºª", _WEST), "sv": ("åäöé", _WEST), "sq": ("çë", _WEST),
}  # fmt: skip
_MISFIT_COST, _MIN_ODDS = 3.0, 1e-4  # as a logarithm, of a letter that the language does not have; of a language
_SIGNS_OF_ANY_LANGUAGE = frozenset("\xa0“”„‘’‚‹›«»–—…€§°©®™•·£²³¹½¼¾±×")
_SIGN_AT_LETTER_PATTERN = re.compile("(?<=[^\\W\\d_])[£¹½¼¾±×]|[£²³¹½¼¾±×©®](?=[^\\W\\d_])")
_MAX_MISFIT_SHARE = 0.1
# With 1, "naïve" and "Tromsø" alone are read as words of the East; with 10, a short Turkish line is not.
_WESTERN_ODDS = 4
_MARKUP_PATTERN = re.compile(rb"[<>{}\n]+")
_MAX_LANGUAGE_BYTES = 4_000


def _charset_by_language(sample: bytes) -> str | None:
    """Return the charset of the Central European, Baltic or Turkic language that the words are in.

    None for words of the West, and in doubt. The words without their accents say the language; charsets differ in the
    letters that it has.
    """
    from crowdnotes.text.languages import language_odds

    parts = (part for part in _MARKUP_PATTERN.split(sample) if not part.isascii())
    words = b" ".join(parts)[:_MAX_LANGUAGE_BYTES]
    texts = {
        charset: _SIGN_AT_LETTER_PATTERN.sub(LOST_LETTER, words.decode(charset, "replace"))
        for charset in (*_CENTRAL, *_BALTIC, *_TURKISH, *_WEST)
    }
    odds = language_odds(_NOT_ASCII_PATTERN.sub(b" ", words).decode("ascii"))
    best, chosen = -math.inf, None
    for language, (letters, charsets) in _LATIN_ALPHABETS.items():
        for charset in charsets:
            found = [sign for sign in texts[charset] if not sign.isascii()]
            misfits = sum(
                sign not in _SIGNS_OF_ANY_LANGUAGE and sign not in letters and sign.lower() not in letters
                for sign in found
            )
            likely = max(odds.get(language, 0.0), _MIN_ODDS) * (_WESTERN_ODDS if charsets is _WEST else 1)
            score = math.log(likely) - _MISFIT_COST * misfits
            if score > best and misfits <= _MAX_MISFIT_SHARE * len(found):
                best, chosen = score, charset if charsets is not _WEST else None
    return chosen


# Charsets that share most of their bytes: a short text of one can be read in the others, as letters that nobody uses.
# The languages are charset-normalizer's, which knows the usual letters of each.
_LANGUAGES_BY_ALPHABET = {
    "cp1251": ("Russian", "Ukrainian"), "koi8_r": ("Russian",), "cp1253": ("Greek",), "cp1255": ("Hebrew",),
    "cp1256": ("Arabic", "Farsi"), "cp874": ("Thai",),
}  # fmt: skip


class _Characters(NamedTuple):
    """A language of thousands of characters: an older charset has the usual ones behind these first bytes."""

    language: str
    older: str
    first: int
    last: int

    def has_among_usual(self, sign: str) -> bool:
        return self.first <= sign.encode(self.older, "replace")[0] <= self.last


_JAPANESE = _Characters("Japanese", "euc_jp", 0xB0, 0xCF)
_CHARACTERS_BY_CHARSET = {
    "gb18030": _Characters("Chinese", "gb2312", 0xB0, 0xD7), "big5": _Characters("Chinese", "big5", 0xA4, 0xC6),
    "cp949": _Characters("Korean", "euc_kr", 0xB0, 0xC8), "cp932": _JAPANESE, "euc_jp": _JAPANESE,
}  # fmt: skip
_KANA = {chr(sign): 1.0 for sign in range(0x3041, 0x3100)} | {chr(sign): 0.3 for sign in range(0xFF66, 0xFFA0)}
_TRADITIONAL = "這個們來為國說時會對過後種經麼學當沒動還進樣與無將開關長問間從現實發點"
_CAPITAL_WORTH, _CHARACTER_WORTH = 0.3, 0.6  # where the commonest letter's is 1
_LETTERS_OF_ALPHABET = 40  # so that the rarest of them still count
_MIN_USUAL_SHARE = 0.45
_MAX_SIGNS_LOOKED_AT = 5_000
_IN_LATIN_WORD_PATTERN = re.compile(r"(?<=[A-Za-z])[^\W\d_A-Za-z]+|[^\W\d_A-Za-z]+(?=[A-Za-z])")
# Punctuation, and the vowels of Thai, which are no letters.
_PASSED_OVER_PATTERN = re.compile(
    "[\\s«»\u0e30-\u0e3a\u0e47-\u0e4e\u2010-\u206f\u3000-\u3003\u3008-\u3011\uff01-\uff65]"
)


def _usual_share(sample: bytes, charset: str) -> float:
    """Return how usual the letters are that a charset makes of a text, in [0, 1]."""
    try:
        text = codecs.getincrementaldecoder(charset)().decode(sample)  # the last letter may be cut
    except UnicodeDecodeError:
        return 0.0
    text = text[:_MAX_SIGNS_LOOKED_AT]
    characters = _CHARACTERS_BY_CHARSET.get(charset)
    if characters is None:  # no word has letters of two alphabets
        text = _IN_LATIN_WORD_PATTERN.sub(lambda found: LOST_LETTER * len(found[0]), text)
    worth = _worth_of_letters(charset) if characters is None else _worth_of_characters(charset, characters)
    points = [
        worth.get(sign) or _CHARACTER_WORTH * (characters is not None and characters.has_among_usual(sign))
        for sign in text
        if not sign.isascii() and not _PASSED_OVER_PATTERN.match(sign)
    ]
    return sum(points) / len(points) if points else 0.0


def _worth_of_letters(charset: str) -> dict[str, float]:
    from charset_normalizer.constant import FREQUENCIES

    listed = [FREQUENCIES[language] for language in _LANGUAGES_BY_ALPHABET[charset]]
    small = {letter: 1 - at / _LETTERS_OF_ALPHABET for letters in listed for at, letter in enumerate(letters)}
    return {letter.upper(): _CAPITAL_WORTH for letter in small} | small


def _worth_of_characters(charset: str, characters: _Characters) -> dict[str, float]:
    from charset_normalizer.constant import FREQUENCIES

    if characters.language == "Japanese":
        return _KANA
    usual = FREQUENCIES[characters.language]
    return dict.fromkeys([*usual, *_TRADITIONAL] if charset == "big5" else usual, 1.0)


def _has_lone_accents(sample: bytes) -> bool:
    """Return whether plain letters come between those that are none: other scripts have several in a row."""
    runs = _NOT_ASCII_PATTERN.findall(sample)
    return bool(runs) and sum(map(len, runs)) <= _MAX_MEAN_WESTERN_RUN * len(runs)


def _reads_well(sample: bytes, codec: str) -> bool:
    try:
        return _ODD_LETTERS_PATTERN.search(sample.decode(codec)) is None
    except UnicodeDecodeError:
        return False


def decode_table(content: bytes) -> tuple[str, Encoding]:
    """Return a file saved by a spreadsheet or editor as text; bytes that are no letter become `LOST_LETTER`."""
    encoding = encoding_of(io.BytesIO(content))
    return content.decode(encoding.codec, encoding.errors), encoding


def lines_of(content: bytes) -> list[str]:
    """Return the lines of a text file in any usual encoding, without the quotation marks of a table around them."""
    lines = (line.strip().removeprefix('"').removesuffix('"') for line in decode_table(content)[0].splitlines())
    return [line for line in lines if line]


@contextmanager
def open_text(file: Path, known: Encoding | None = None) -> Iterator[tuple[TextIO, Encoding]]:
    """Open a file of any size the same way; `known` saves looking through it again. Raises OSError."""
    if known is None:
        with file.open("rb") as raw:
            known = encoding_of(raw)
    encoding = known
    with file.open(encoding=encoding.codec, errors=encoding.errors, newline="") as text:
        yield text, encoding


def table_reader(lines: TextIO, *, delimiters: str = ",;\t|", strict: bool = True) -> Reader:
    """Return the rows of a table, its heading first, split at that one of the delimiters which the heading has most of.

    Excel's first line that names the delimiter is heeded, and is no row. The csv module's errors pass.
    """
    beginning = lines.readline(_MAX_HEADING_CHARACTERS)
    named = _SEPARATOR_LINE_PATTERN.fullmatch(beginning)
    if named is None:
        lines.seek(0)
    return csv.reader(lines, delimiter=named[1] if named else max(delimiters, key=beginning.count), strict=strict)


# Excel, LibreOffice, Java (which writes no plus sign) and programs that took an id for a fraction.
_ROUNDED_PATTERN = re.compile(
    r"(?<![\w.,])\d(?:(?:[.,]\d+)?E(?:\+|%2B)|[.,]\d+E)\d{2,3}(?!\w)|(?<![\w.,])\d{16,}[.,]0+(?!\w)", re.IGNORECASE
)
# Spreadsheets keep 15 digits. One id in a thousand ends so by itself.
_ZEROS_PATTERN = re.compile(r"(?<!\d)[1-9]\d{14}0{3,4}(?!\d)")


def rounded_number(cell: str) -> str:
    """Return the rounded number of a post or note in an id or address from a spreadsheet; "" without one."""
    found = _ROUNDED_PATTERN.search(cell) or _ZEROS_PATTERN.search(cell)
    return found[0] if found else ""


_FORMULA_STARTS = frozenset("=+-@")
_LINE_SIGNS = frozenset("\t\r\n")  # at the beginning of a cell they start a new one in some programs


def plain_cell(cell: object) -> str:
    """Return the cell, so that no spreadsheet runs it as a formula. A number stays one."""
    # https://owasp.org/www-community/attacks/CSV_Injection
    text = "" if cell is None else str(cell)
    if isinstance(cell, int | float | Decimal):
        return text
    return f"'{text}" if text[:1] in _LINE_SIGNS or _starts_formula(text) else text


def _starts_formula(text: str) -> bool:
    """Return whether it begins so, also in wide letters or after invisible signs: programs strip some of these."""
    for character in text:
        if unicodedata.normalize("NFKC", character)[:1] in _FORMULA_STARTS:
            return True
        if not character.isspace() and unicodedata.category(character)[0] != "C":
            return False
    return False


def write_table(out: TextIO, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a heading and rows as CSV, each cell defused."""
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([plain_cell(cell) for cell in row] for row in rows)


def table_text(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return the same as text."""
    out = io.StringIO()
    write_table(out, columns, rows)
    return out.getvalue()


@contextmanager
def open_export(file: Path) -> Iterator[TextIO]:
    """Open a text file to write, in UTF-8 with line ends as given, only for its owner. Raises OSError.

    A file that is there is replaced when the new one is whole: an export that fails leaves it as it was.
    """
    try:
        is_device = not stat.S_ISREG(file.stat().st_mode) or file.is_relative_to("/dev")
    except FileNotFoundError:
        is_device = False
    if is_device:  # a pipe stays as it is
        with file.open("w", encoding="utf-8", newline="") as out:
            yield out
        return
    with replacement_of(file.resolve()) as made, made.open("w", encoding="utf-8", newline="") as out:
        yield out


@contextmanager
def replacement_of(file: Path) -> Iterator[Path]:
    """Make an empty file next to another, its owner's alone, which takes the other's place unless an error is raised.

    Raises OSError.
    """
    handle, made = tempfile.mkstemp(dir=file.parent, prefix=".crowdnotes-")
    os.close(handle)
    try:
        yield Path(made)
        os.replace(made, file)
    finally:
        Path(made).unlink(missing_ok=True)
