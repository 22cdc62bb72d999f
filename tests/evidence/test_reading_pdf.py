from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pypdf import PdfWriter
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NullObject,
    NumberObject,
    PdfObject,
)
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from crowdnotes.domain import BADLY_READABLE, FetchOutcome
from crowdnotes.errors import FetchError, JobCancelled
from crowdnotes.evidence.passages import best_passage, page_at
from crowdnotes.evidence.reading.document import PDF, Document
from crowdnotes.evidence.reading.extract import read_body
from tests.fakes import HashingEmbedder
from tests.shared import cancelled_after

URL = "https://health.example.org/files/annual_report-2023.pdf"
PAGE = [
    "Measles is one of the most contagious of all human diseases, and",
    "it spreads when an infected person coughs. One in five people in-",
    "fected needs to be treated in a hospital.",
    "Two doses of the vaccine protect 97 of 100 people for their whole",
    "lives, as studies in many countries have shown.",
]


def _pdf(pages: list[list[str]], title: str = "", encrypt: StandardEncryption | None = None) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, encrypt=encrypt, invariant=1)
    canvas.setTitle(title)
    for lines in pages:
        for row, line in enumerate(lines):
            canvas.drawString(50, 780 - 14 * row, line)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def test_the_lines_of_a_layout_become_paragraphs_and_pages_stay_apart() -> None:
    document = read_body(
        _pdf([PAGE, ["The second page begins here and says something new about it."]], "Measles"), PDF, None, URL
    )
    first, second = document.text.split("\n\n")
    assert "contagious of all human diseases, and it spreads when" in first
    assert "One in five people infected needs to be treated in a hospital." in first
    assert second == "The second page begins here and says something new about it."
    assert document.title == "Measles"
    assert document.language == "en"


def _print_runs(runs: list[tuple[str, float, float]], *, by_rise: bool) -> bytes:
    """A page with these words side by side, each with its size and how far it stands above the line."""
    out = io.BytesIO()
    canvas = Canvas(out, invariant=1)
    line = canvas.beginText(50, 700)
    at = 50.0
    for words, size, rise in runs:
        line.setFont("Helvetica", size)
        if by_rise:
            line.setRise(rise)
        else:
            line.setTextOrigin(at, 700 + rise)
        line.textOut(words)
        at += canvas.stringWidth(words, "Helvetica", size)
    canvas.drawText(line)
    canvas.drawString(50, 680, "Officials said that the water of the town is safe to drink.")
    canvas.save()
    return out.getvalue()


@pytest.mark.parametrize("by_rise", [True, False])
def test_what_a_page_sets_above_or_below_the_line_is_no_other_number(by_rise: bool) -> None:
    runs: list[tuple[str, float, float]] = [
        ("The vaccine holds 10", 11, 0.0), ("6", 7, 4.0), (" particles a dose, 412", 11, 0.0), ("3", 7, 4.0),
        (" wells", 11, 0.0), ("1", 7, 4.0), (" had 10", 11, 0.0), ("-8", 7, 4.0), (" of it, and CO", 11, 0.0),
        ("2", 7, -2.0), (" (n = 5", 11, 0.0), ("12", 7, -2.0), (").", 11, 0.0),
    ]  # fmt: skip
    text = read_body(_print_runs(runs, by_rise=by_rise), PDF, None, URL).text
    assert "holds 10^6 particles a dose, 412 [3] wells had 10^-8 of it, and CO2 (n = 5_12)." in text


def test_small_letters_of_another_column_are_not_taken_for_raised_ones() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, invariant=1)
    line = canvas.beginText(50, 700)
    for words, size, at, above in (("A report on the wells of the valley in 2019", 14, 50, 0), ("412", 9, 480, 4)):
        line.setFont("Helvetica", size)
        line.setTextOrigin(at, 700 + above)
        line.textOut(words)
    canvas.drawText(line)
    canvas.save()
    assert "in 2019 412" in read_body(out.getvalue(), PDF, None, URL).text


UNREAD = "412 or 413"
_Draw = Callable[[Canvas], object]


def _printed(draw: _Draw) -> Document:
    out = io.BytesIO()
    canvas = Canvas(out, invariant=1)
    canvas.setFont("Helvetica", 12)
    canvas.drawString(50, 700, "Officials said that the water of the town is safe to drink.")
    draw(canvas)
    canvas.save()
    return read_body(out.getvalue(), PDF, None, URL)


def _line(rule: _Draw) -> _Draw:
    """A line of words, and what goes through those in its middle."""

    def draw(canvas: Canvas) -> None:
        canvas.drawString(50, 600, f"It found {UNREAD} 4 wells")
        canvas.translate(50 + canvas.stringWidth("It found "), 600)
        rule(canvas)

    return draw


def _in_form(draw: _Draw) -> _Draw:
    def place(canvas: Canvas) -> None:
        canvas.beginForm("form")
        canvas.setFont("Helvetica", 12)
        draw(canvas)
        canvas.endForm()
        canvas.translate(30, -40)
        canvas.doForm("form")

    return place


WIDTH = stringWidth(UNREAD, "Helvetica", 12)
STRIKES: dict[str, _Draw] = {
    "line": lambda canvas: canvas.line(0, 4, WIDTH, 4),
    "bar": lambda canvas: canvas.rect(0, 3.5, WIDTH, 0.8, stroke=0, fill=1),
    "a line for each word": lambda canvas: (
        [
            canvas.line(at, 4, at + stringWidth(word, "Helvetica", 12), 4)
            for word, at in (
                ("412", 0),
                ("or", stringWidth("412 ", "Helvetica", 12)),
                ("413", stringWidth("412 or ", "Helvetica", 12)),
            )
        ]
        and None
    ),
}


@pytest.mark.parametrize("place", [_line, lambda rule: _in_form(_line(rule))], ids=["page", "form"])
@pytest.mark.parametrize("rule", STRIKES.values(), ids=STRIKES.keys())
def test_words_that_a_line_goes_through_are_left_out(rule: _Draw, place: Callable[[_Draw], _Draw]) -> None:
    document = _printed(place(rule))
    assert "It found 4 wells" in document.text
    assert document.remark == "We left out struck-out words."


@pytest.mark.parametrize("turned", [0, 90])
def test_words_that_are_set_one_by_one_are_struck_out_by_one_line(turned: int) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.translate(300, 200)
        canvas.rotate(turned)
        at = 0.0
        for word in (*UNREAD.split(), "wells"):
            canvas.drawString(at, 0, word)
            at += canvas.stringWidth(f"{word} ")
        canvas.line(0, 4, WIDTH, 4)

    assert _printed(draw).text.split()[-2:] == ["drink.", "wells"]


@pytest.mark.parametrize("shown", ["14 TL ({}) '", '14 TL 0 0 ({}) "', "0 -14 TD ({}) Tj", "0 -14 Td [({})] TJ"])
def test_words_are_struck_out_whatever_operator_shows_them(shown: str) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.addLiteral(f"BT /F1 12 Tf 50 614 Td {shown.format(f'{UNREAD} 4 wells')} ET")
        canvas.line(50, 604, 50 + WIDTH, 604)

    assert _printed(draw).text.split()[-3:] == ["drink.", "4", "wells"]


@pytest.mark.parametrize(
    "rule",
    [
        lambda canvas: canvas.line(0, -1.5, WIDTH, -1.5),
        lambda canvas: canvas.line(-300, 4, 500, 4),  # of a chart
        lambda canvas: [canvas.line(-60, 4, 200, 4) for _ in range(2)],
        lambda canvas: [canvas.line(-20, at, 300, at) for at in (-4, 12)],
        lambda canvas: (canvas.setFillAlpha(0.4), canvas.rect(0, -3, WIDTH, 14, stroke=0, fill=1)),
    ],
    ids=["underline", "grid", "grid drawn twice", "table", "highlight"],
)
def test_other_lines_strike_nothing_out(rule: _Draw) -> None:
    document = _printed(_line(rule))
    assert f"It found {UNREAD} 4 wells" in document.text
    assert document.remark == ""


def test_words_that_an_annotation_strikes_out_are_left_out() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, invariant=1)
    canvas.setFont("Helvetica", 12)
    _line(lambda _: None)(canvas)
    canvas.drawString(0, -20, "of 40 wells of the whole town and its villages.")
    canvas.save()
    writer = PdfWriter(clone_from=io.BytesIO(out.getvalue()))
    left = 50 + stringWidth("It found ", "Helvetica", 12)
    corners = (left, 610, left + WIDTH, 610, left, 598, left + WIDTH, 598)
    note = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Annot"),
            NameObject("/Subtype"): NameObject("/StrikeOut"),
            NameObject("/QuadPoints"): ArrayObject(map(FloatObject, corners)),
        }
    )
    writer.pages[0][NameObject("/Annots")] = ArrayObject([note])
    writer.write(out := io.BytesIO())
    assert "It found 4 wells" in read_body(out.getvalue(), PDF, None, URL).text


def _hide(*steps: tuple[str, *tuple[object, ...]]) -> _Draw:
    """Draw what nobody is to see, "show" being the step that prints it."""

    def draw(canvas: Canvas) -> None:
        for name, *values in steps:
            if name == "show":
                canvas.drawString(50, 600, UNREAD)
            elif name == "mode 3":
                text = canvas.beginText(50, 600)
                text.setTextRenderMode(3)
                text.textOut(UNREAD)
                canvas.drawText(text)
            elif name == "picture":
                canvas.drawImage(ImageReader(Image.new("RGB", (9, 9), "tan")), *values)
            elif name == "clip":
                path = canvas.beginPath()
                path.rect(*values)
                canvas.clipPath(path, stroke=0)
            elif name == "box":
                canvas.rect(40, 590, 300, 30, stroke=0, fill=1)
            else:
                getattr(canvas, name)(*values)

    return draw


@pytest.mark.parametrize(
    "draw",
    [
        _hide(("setFillColorRGB", 1, 1, 1), ("show",)),
        _hide(("setFillGray", 0.98), ("show",)),
        _hide(("setFillColorCMYK", 0, 0, 0, 0), ("show",)),
        _hide(("setFillColorRGB", 0, 0, 0.6), ("box",), ("show",)),
        _hide(("setFillAlpha", 0), ("show",)),
        _hide(("mode 3",)),
        _hide(("setFont", "Helvetica", 0.5), ("show",)),
        _hide(("translate", -900, 0), ("show",)),
        _hide(("clip", 0, 0, 20, 20), ("show",)),
        _hide(("show",), ("setFillGray", 1), ("box",)),
        _hide(("show",), ("setFillGray", 0), ("box",)),
        _hide(("show",), ("picture", 40, 590, 300, 30)),
    ],
)
def test_words_that_nobody_sees_are_left_out(draw: _Draw) -> None:
    document = _printed(draw)
    assert document.text == "Officials said that the water of the town is safe to drink."
    assert document.remark == "We left out hidden words."


@pytest.mark.parametrize(
    "draw",
    [
        _hide(("box",), ("setFillGray", 1), ("show",)),
        _hide(("roundRect", 40, 590, 300, 30, 5, 0, 1), ("setFillGray", 1), ("show",)),
        _hide(("picture", 40, 590, 300, 30), ("setFillGray", 1), ("show",)),
        _hide(("setLineWidth", 24), ("line", 40, 604, 400, 604), ("setFillGray", 1), ("show",)),
        _hide(("setFont", "Helvetica", 5), ("show",)),
        _hide(("translate", 0, -100), ("scale", 12, 0.2), ("scale", 0.1, 5), ("show",)),
        _hide(("picture", 0, 0, 595, 842), ("mode 3",)),  # a scan, and what a program read in it
        _hide(("show",), ("picture", 0, 0, 595, 842)),
    ],
)
def test_words_that_can_be_seen_or_stand_for_a_scan_are_kept(draw: _Draw) -> None:
    document = _printed(draw)
    assert UNREAD in document.text
    assert document.remark == ""


def test_a_layer_that_is_off_is_left_out() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, invariant=1)
    canvas.drawString(50, 700, "Officials said that the water of the town is safe to drink.")
    canvas._code.append("/OC /layer BDC")
    canvas.drawString(50, 600, UNREAD)
    canvas._code.append("EMC")
    canvas.save()
    writer = PdfWriter(clone_from=io.BytesIO(out.getvalue()))
    layer = writer._add_object(DictionaryObject({NameObject("/Type"): NameObject("/OCG")}))
    named = DictionaryObject({NameObject("/layer"): layer})
    cast("DictionaryObject", writer.pages[0]["/Resources"])[NameObject("/Properties")] = named
    off = DictionaryObject({NameObject("/D"): DictionaryObject({NameObject("/OFF"): ArrayObject([layer])})})
    writer.root_object[NameObject("/OCProperties")] = off
    writer.write(out := io.BytesIO())
    assert UNREAD not in read_body(out.getvalue(), PDF, None, URL).text


def test_running_heads_and_page_numbers_are_dropped() -> None:
    towns = ["Amsterdam", "Berlin", "Copenhagen", "Dublin"]
    pages = [
        [
            "Annual report 2023",
            f"{town} had many cases,",
            *PAGE,
            f"so wrote the doctors of {town}.",
            f"Page {n} of 4",
            f"{n}",
        ]
        for n, town in enumerate(towns, 1)
    ]
    text = read_body(_pdf(pages), PDF, None, URL).text
    assert "Annual report" not in text
    assert "of 4" not in text
    assert all(f"{town} had many cases" in text and f"doctors of {town}" in text for town in towns)


def test_a_number_on_a_line_of_its_own_is_no_page_number_within_a_page() -> None:
    text = read_body(
        _pdf([[*PAGE, "412", "wells were tested", "and none was found", "to hold any lead."]]), PDF, None, URL
    ).text
    assert "412" in text


def test_the_references_at_the_end_are_dropped() -> None:
    listed = ["References", "1. Smith J. Measles. Lancet. 2019;3:1.", "2. Jones K. Vaccines. BMJ. 2020;1:2."]
    assert "Lancet" not in read_body(_pdf([PAGE, PAGE, listed]), PDF, None, URL).text


def test_when_the_file_was_made_is_no_date_of_what_it_says() -> None:
    writer = PdfWriter(clone_from=io.BytesIO(_pdf([PAGE])))
    writer.add_metadata({"/CreationDate": "D:20210304120000Z", "/Title": "report_final_v2.docx"})
    out = io.BytesIO()
    writer.write(out)
    document = read_body(out.getvalue(), PDF, None, URL)
    assert document.file_date == datetime(2021, 3, 4, tzinfo=UTC).date()
    assert document.published is None
    assert document.title == "annual report 2023"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (_pdf([[], []]), "pictures"),
        (_pdf([PAGE], encrypt=StandardEncryption("secret", strength=128)), "needs a password"),
        (b"%PDF-1.7", None),
        (b"%PDF-1.4\n%%EOF", None),
        (b"%PDF-1.4\n" + b"\x00" * 5_000, None),
        (_pdf([PAGE])[:300], None),
    ],
    ids=["pictures", "password", "a mark", "no pages", "zeros", "cut"],
)
def test_a_pdf_of_pictures_with_a_password_or_damaged_is_unreadable_and_says_so(body: bytes, says: str | None) -> None:
    with pytest.raises(FetchError, match=says) as failed:
        read_body(body, PDF, None, URL)
    assert failed.value.outcome is FetchOutcome.UNREADABLE


def test_a_pdf_that_anyone_may_open_is_read_although_it_is_encrypted() -> None:
    body = _pdf([PAGE], encrypt=StandardEncryption("", ownerPassword="owner", strength=128))
    assert "Measles" in read_body(body, PDF, None, URL).text


def test_a_cancelled_job_stops_between_pages() -> None:
    with pytest.raises(JobCancelled):
        read_body(_pdf([PAGE] * 5), PDF, None, URL, cancelled_after(1))


@given(st.data())
def test_a_pdf_with_any_byte_changed_is_read_or_labelled(data: st.DataObject) -> None:
    body = bytearray(_pdf([PAGE]))
    for _ in range(data.draw(st.integers(1, 5))):
        body[data.draw(st.integers(8, len(body) - 1))] = data.draw(st.integers(0, 255))
    try:
        read_body(bytes(body), PDF, None, URL)
    except FetchError as error:
        assert error.outcome is FetchOutcome.UNREADABLE


@pytest.mark.parametrize("key", ["/Title", "/CreationDate"])
@pytest.mark.parametrize(
    "value", [NumberObject(5), ArrayObject([NumberObject(1), NumberObject(2)]), DictionaryObject(), NullObject()]
)
def test_odd_metadata_does_not_cost_the_text(key: str, value: PdfObject) -> None:
    writer = PdfWriter(clone_from=io.BytesIO(_pdf([PAGE], "Measles")))
    assert writer._info is not None
    writer._info[NameObject(key)] = value
    out = io.BytesIO()
    writer.write(out)
    document = read_body(out.getvalue(), PDF, None, URL)
    assert "contagious" in document.text
    assert document.title


def test_the_text_knows_where_each_page_begins() -> None:
    third_page = ["The third page begins here and says something new about it."]
    document = read_body(_pdf([PAGE, [], third_page, ["Fourth page of words, short."]]), PDF, None, URL)
    first, second, third, fourth = document.page_starts
    assert (first, second) == (0, third)
    assert document.text[third:].startswith("The third page begins here")
    assert document.text[fourth:].startswith("Fourth page")
    assert page_at(document.page_starts, document.text.index("says something new")) == 3


def test_pages_of_references_have_no_start() -> None:
    listed = ["References", *(f"{n}. Smith J. Measles. Lancet. 2019;{n}:1." for n in range(1, 6))]
    assert len(read_body(_pdf([PAGE, PAGE, listed]), PDF, None, URL).page_starts) == 2
    behind = read_body(_pdf([PAGE, PAGE, listed, ["Appendix", "Each child got 5 mg."]]), PDF, None, URL)
    assert behind.text[behind.page_starts[3] :].startswith("Appendix")


def test_a_passage_names_the_page_that_it_begins_on() -> None:
    filler = [f"Line {n} of a long page speaks of other matters in many plain words." for n in range(30)]
    pages = [filler, filler, ["Myocarditis after vaccines is rare in children."], filler]
    document = read_body(_pdf(pages), PDF, None, URL)
    about, starts = "myocarditis in children after vaccines", document.page_starts
    passage = best_passage(document.text, about, HashingEmbedder(), tokens=12, overlap=3, page_starts=starts)
    assert passage.page in (2, 3)
    assert passage.page == page_at(document.page_starts, passage.span.start)
    assert best_passage(document.text, "x", HashingEmbedder()).page is None


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["of those who had had COVID-", "19 within the year"], "had had COVID-19 within"),
        (
            ["it was followed by a well-", "known test of the long-", "term harm"],
            "a well-known test of the long-term harm",
        ),
        (
            ["in those aged 10-", "20 and those who are in-", "fected by it"],
            "aged 10-20 and those who are infected by it",
        ),
        (["most of the anti-Trump-", "Partei in the town"], "anti-Trump-Partei in"),
        (
            ["the X-", "ray and the p-", "value were sent by e-", "mail to the town"],
            "X-ray and the p-value were sent by e-mail",
        ),
        (["there were nonsmokers, and other non-", "smokers in it"], "and other nonsmokers in it"),
        (["a multi-drug test, and one of a multi-", "drug kind"], "one of a multi-drug kind"),
        (["the vac\u00ad", "cine and the im\u00ac", "mune are those that"], "the vaccine and the immune are"),
    ],
)
def test_a_hyphen_at_a_lines_end_stays_where_the_word_has_one(lines: list[str], words: str) -> None:
    told = [f"{line}" for line in lines]
    text = read_body(
        _pdf([["The trial began in May and went on for a year in all", *told, "of the towns."]]), PDF, None, URL
    ).text
    assert words in text


def _without_letters(lines: list[str], to_unicode: str) -> bytes:
    """A page whose font says of its codes what `to_unicode`, the middle of a CMap, says."""
    writer = PdfWriter(clone_from=io.BytesIO(_pdf([lines])))
    cmap = DecodedStreamObject()
    space = "begincmap 1 begincodespacerange <00> <FF> endcodespacerange"
    cmap.set_data(f"/CIDInit /ProcSet findresource begin {space} {to_unicode} endcmap end".encode())
    fonts = cast(DictionaryObject, cast(DictionaryObject, writer.pages[0]["/Resources"])["/Font"])
    for font in fonts.values():
        cast(DictionaryObject, font.get_object())[NameObject("/ToUnicode")] = writer._add_object(cmap)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


PLAIN_LINE = "The vaccine was tested in three phases before a regulator allowed the use of it in public."


def test_a_letter_whose_font_does_not_say_what_it_is_has_a_sign_and_the_source_is_marked() -> None:
    mapped = (
        "2 beginbfrange <20> <3F> <0020> <41> <7E> <0041> endbfrange 2 beginbfchar <40> <E000> <23> <0000> endbfchar"
    )
    line = "The e#ect on the @rst and @fth dose was signi@cant in all of them"
    document = read_body(_without_letters([line], mapped), PDF, None, URL)
    assert document.text == "The e\ufffdect on the \ufffdrst and \ufffdfth dose was signi\ufffdcant in all of them"
    assert document.notices == (BADLY_READABLE,)


@pytest.mark.parametrize(
    "encoded",
    [
        "".join(chr((ord(letter) - 97 + 3) % 26 + 97) if letter.islower() else letter for letter in PLAIN_LINE),
        "".join(chr((ord(letter) - 97 + 22) % 26 + 97) if letter.islower() else letter for letter in PLAIN_LINE),
        "".join(letter if letter in " ." else chr(ord(letter) - 29) for letter in PLAIN_LINE).replace("(", "x"),
        PLAIN_LINE.replace(" ", ""),
        " ".join(PLAIN_LINE.replace(" ", "")),
        " ".join(f"/g{ord(letter)}" for letter in PLAIN_LINE),
    ],
)
def test_garbled_letters_and_words_without_bounds_are_not_read(encoded: str) -> None:
    with pytest.raises(FetchError, match=r"garbled.*paste the text") as failed:
        read_body(_pdf([[encoded]]), PDF, None, URL)
    assert failed.value.outcome is FetchOutcome.UNREADABLE


@pytest.mark.parametrize(
    "words",
    [
        PLAIN_LINE,
        "Mae'r brechlyn wedi cael ei brofi mewn tri cham cyn i'r rheolydd ganiatau ei ddefnyddio",
        "Strc prst skrz krk a vchod do domu je ve zdi, kde pet let stoji strom a roste",
        "DNA mRNA HIV PCR ELISA WHO CDC NHS FDA EMA mg kg ml per dose day BMI HR CI",
        "Donaudampfschifffahrtsgesellschaft und Rindfleischetikettierung sind lange deutsche Woerter, die es gibt",
    ],
)
def test_honest_words_of_any_language_are_read(words: str) -> None:
    document = read_body(_pdf([[words]]), PDF, None, URL)
    assert (document.text, document.notices) == (words, ())
