"""Signs that plain text loses: raised numbers, formulas, ligatures, and letters whose font does not say what they are.

A power becomes "10^6". The number of a footnote is left out, or separated ("8 [3]") where it might be a power. A
letter that nobody can know becomes U+FFFD; text that is full of such signs, or of false letters, is recognised.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from enum import Enum
from itertools import islice
from typing import Any

from lxml import etree  # type: ignore[import-untyped]  # its stubs cover too little

_PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"  # what each font uses as it likes
MAX_RAISED_CHARACTERS = 60  # of what is raised or lowered; longer text is wrapped in such a tag by mistake
_BEFORE_CHARACTERS = 40  # that are looked at before a raised number
_UNITS = frozenset(
    "m km dm cm mm nm µm μm in ft yd mi s min h hr day d wk week yr year kg g mg µg μg ng l dl ml mol mmol cell".split()
)
_ORDINALS = frozenset(
    "st nd rd th er re e ère ère res ers eme ème d de nde o a os as º ª i ia to mo tm sm r c me mme mlle gr dr".split()
)
_ENDINGS = _ORDINALS - set("adeiorc")
_DEGREES = frozenset("oO0º°")
_DEGREE_UNIT_PATTERN = re.compile(r"\s?[CFKNSEW]\b")
_FRACTIONS = frozenset("½¼¾⅓⅔⅛")
_ROMANCE = frozenset("fr es it pt ca ro gl nl".split())  # they raise the last letter of numbers and titles
_MARK_PATTERN = re.compile(
    r"[\[(]?\s*(?:(?:note|n\.?|fn)\s*)?(?:\d{1,3}|[a-z]{1,2}|[*†‡§¶#]+)"
    r"(?:\s*[,;–-]\s*(?:\d{1,3}|[a-z]{1,2}|[*†‡§¶#]+))*\s*[\])]?",
    re.IGNORECASE,
)
_NUMBER_PATTERN = re.compile(r"\d{1,4}(?:[.,]\d{1,4})?")
_SIGNED_PATTERN = re.compile(r"[-−–+]\s?\d{1,4}(?:[.,]\d{1,4})?")
_SIGNED_NAME_PATTERN = re.compile(r"[-−–]\s?[^\W\d]{1,6}")  # "2^(−ΔΔCt)"
_CHARGE_PATTERN = re.compile(r"\d?[+−–-]")
_FRACTION_REST_PATTERN = re.compile(r"\s?[/⁄∕]\s?\d")
_TEN_PATTERN = re.compile(r"(?:(?<![\d.,])|(?<=[×x*·]))10$")
_OPERATION_PATTERN = re.compile(r"[×*·=^√+]\s?\d+(?:[.,]\d+)?$|\blog\s?\d+$")
_RESULT_PATTERN = re.compile(r"\s?[=+×*·≈]\s?\d")
# Letters that mean a number in powers; those of notes are "a" to "h".
_VARIABLES = frozenset("kmnqtxyz")
_POWER_PATTERN = re.compile(r"[-−–+]?\s?(?:\d{0,3}[a-z]|\d{1,3})(?:\s?[-−–+*/]\s?(?:\d{0,3}[a-z]|\d{1,3})){0,3}")
_MIXED_NUMBER_PATTERN = re.compile(r"\d{1,2}\s?[/⁄∕]\s?\d{1,2}")
_REF_PATTERN = re.compile(r"refs?\b", re.IGNORECASE)
_NOTES_PATTERN = re.compile(r"[a-h](?:\s?[,;]\s?[a-h])+")
_CURRENCY = r"[$€£¥₹]"
_PRICE_PATTERN = re.compile(rf"{_CURRENCY}\s?\d[\d,]*$")
_CURRENCY_BEHIND_PATTERN = re.compile(rf"\s?{_CURRENCY}")
# Cents that no note's number is: "00", "05", "99", "49". Others may be either.
_CENTS_PATTERN = re.compile(r"0\d|9\d|\d9")
_COUNT_PATTERN = re.compile(r"(?<![^\s(\[–-])\d+$")
_LAST_WORD_PATTERN = re.compile(r"[^\W\d_]+$")
_BRACKETS_PATTERN = re.compile(r"\(([\w\s+*/×.,−-]{1,20})\)$")
_ROMAN_PATTERN = re.compile(r"[IVXLC]+")


def raised(words: str, before: str, after: str, *, is_link: bool = False, language: str = "") -> str:
    """Return plain text for `words` that are set above the line, between the texts `before` and `after` them.

    `is_link`: they lead to a note, as a footnote's number does. `language` is an ISO 639-1 code.
    """
    words = " ".join(words.split())
    given = before[-_BEFORE_CHARACTERS:]
    near = given.rstrip()
    base, is_mark = near[-1:], _MARK_PATTERN.fullmatch(words) is not None
    if words.startswith("[") or (is_mark and (is_link or words.startswith("("))):
        return "" if is_mark else f" {words}"
    is_fraction = words.isdigit() and _FRACTION_REST_PATTERN.match(after) is not None
    if not base or (near != given and (is_fraction or (after[:1].isalpha() and not base.isdigit()))):
        return words  # or the number of an isotope, which comes before its sign
    if base.isdigit():
        return f" {words}" if is_fraction else _raised_after_digit(words, near, after, language)
    if _SIGNED_PATTERN.fullmatch(words) and (base.isalpha() or base in ")]"):
        return "^" + words.replace(" ", "")
    if base.isalpha():
        return _raised_after_letter(words, near, language)
    is_of_stop = is_mark and not words[:1].isalpha()
    return _raised_after_stop(words, near) if is_of_stop or (base == ")" and _is_power(words)) else words


def _raised_after_digit(words: str, near: str, after: str, language: str) -> str:
    if words in _DEGREES and _DEGREE_UNIT_PATTERN.match(after):
        return "°"
    if (part := _part_of_number(words, near, after, language)) is not None:
        return part
    if _SIGNED_PATTERN.fullmatch(words) or _CHARGE_PATTERN.fullmatch(words):
        return "^" + words.replace(" ", "")
    is_power = any(pattern.search(near) for pattern in (_TEN_PATTERN, _OPERATION_PATTERN)) or (
        _RESULT_PATTERN.match(after) is not None
    )
    if _NUMBER_PATTERN.fullmatch(words) and is_power:
        return f"^{words}"
    is_letter = len(words) == 1 and words.isalpha() and words.islower() and language not in _ROMANCE
    return f" [{words}]" if is_letter or words[:1].isdigit() else words


def _part_of_number(words: str, near: str, after: str, language: str) -> str | None:
    """Return plain text for raised words that belong to the number before them; None for others."""
    if words[:1] in _FRACTIONS or _MIXED_NUMBER_PATTERN.fullmatch(words):
        return f" {words}"
    if _is_cents(words, near, after):
        return ("." if language in _POINT_LANGUAGES else ",") + words
    if (words == "+" and _COUNT_PATTERN.search(near)) or (words == "h" and after[:1].isdigit()):
        return words  # "65+", "8h30"
    if _is_power(words):
        return _power(words)
    if _SIGNED_NAME_PATTERN.fullmatch(words):
        return f"^({words.replace(' ', '')})"
    return f" [{words}]" if _NOTES_PATTERN.fullmatch(words) or _REF_PATTERN.match(words) else None


_POINT_LANGUAGES = frozenset({"", "en", "ja", "zh", "ko", "th"})


def _is_cents(words: str, near: str, after: str) -> bool:
    """Return whether two raised digits are the cents of the price before them ("$5⁹⁹", "5⁹⁹ €")."""
    if len(words) != 2 or not words.isdigit():
        return False
    return _CURRENCY_BEHIND_PATTERN.match(after) is not None or (
        _PRICE_PATTERN.search(near) is not None and _CENTS_PATTERN.fullmatch(words) is not None
    )


def _is_power(words: str) -> bool:
    """Return whether raised words are a power with a variable in it: "n", "−x", "n + 1", "2n"."""
    return _POWER_PATTERN.fullmatch(words) is not None and not _VARIABLES.isdisjoint(words)


def _power(words: str) -> str:
    joined = words.replace(" ", "")
    return f"^{joined}" if len(joined.lstrip("-−–+")) == 1 else f"^({joined})"


def _raised_after_letter(words: str, near: str, language: str) -> str:
    found = _LAST_WORD_PATTERN.search(near)
    word = found.group() if found is not None else ""
    if len(word) == 1 and _is_power(words):
        return _power(words)
    if word == "CO" and words == "2":
        return words  # it is carbon dioxide all the same
    is_number = _NUMBER_PATTERN.fullmatch(words) is not None
    is_ending = language in _ROMANCE or _ROMAN_PATTERN.fullmatch(word) is not None or words.lower() in _ENDINGS
    is_letter = len(words) == 1 and words.isalpha() and words.islower() and not is_ending
    if (is_number and (len(word) == 1 or word.lower() in _UNITS)) or (is_letter and len(word) == 1):
        return f"^{words}"
    is_note = _MARK_PATTERN.fullmatch(words) and (words[0].isdigit() or (words.islower() and not is_ending))
    return "" if is_note else words


def _raised_after_stop(words: str, near: str) -> str:
    term = _BRACKETS_PATTERN.search(near)
    is_term = term is not None and re.search(r"[^\W\d_]{3}", term[1]) is None  # "(a + b)", and no words
    if is_term and _is_power(words):
        return _power(words)
    return f"^{words}" if is_term and _NUMBER_PATTERN.fullmatch(words) else ""


def lowered(words: str, before: str) -> str:
    """Return the same for words below the line: joined to letters as usual ("H2O"), separated after digits."""
    words = " ".join(words.split())
    return f"_{words}" if before[-1:].isdigit() and words[:1].isdigit() else words


_RAISED_TAG_PATTERN = re.compile(
    r"<(?:jats:)?su([pb])(?:\s[^<>]{0,300})?>([^<>]{0,60})</(?:jats:)?su\1\s*>", re.IGNORECASE
)
_TAG_AT_END_PATTERN = re.compile(r"(?:\s?<[^<>]{0,300}>)+$")


def joined_marks(markup: str) -> str:
    """Markup with plain text in place of what it raises and lowers."""
    pieces: list[str] = []
    at = 0
    for found in _RAISED_TAG_PATTERN.finditer(markup):
        pieces.append(markup[at : found.start()])
        before = _TAG_AT_END_PATTERN.sub("", "".join(pieces[-2:])[-400:])
        after = markup[found.end() : found.end() + 20]
        is_raised = found[1] in "pP"
        after = re.sub(r"^(?:<[^<>]*>)+", "", after)
        pieces.append(raised(found[2], before, after) if is_raised else lowered(found[2], before))
        at = found.end()
    return "".join([*pieces, markup[at:]])


_FORMULA_PATTERN = re.compile(r"<((?:\w{1,5}:)?)math(?=[\s>])[^<>]*>.*?</\1math\s*>", re.IGNORECASE | re.DOTALL)
_TEX_ELEMENT_PATTERN = re.compile(
    r"<((?:\w{1,5}:)?)tex-math(?=[\s>])[^<>]*>(.*?)</\1tex-math\s*>", re.IGNORECASE | re.DOTALL
)
_ALTERNATIVES_PATTERN = re.compile(
    r"<((?:\w{1,5}:)?)alternatives\s*>(.*?)</\1alternatives\s*>", re.IGNORECASE | re.DOTALL
)


def read_formulas(markup: str) -> str:
    """Markup with the words of its formulas in MathML; one that is given in TeX too is read once."""

    def read(found: re.Match[str]) -> str:
        element = etree.fromstring(found.group(), etree.HTMLParser(recover=True))
        words = "" if element is None else formula_words(element)
        return f" {words} "

    def choose(found: re.Match[str]) -> str:
        return _TEX_ELEMENT_PATTERN.sub("", found.group()) if _FORMULA_PATTERN.search(found[2]) else found.group()

    if "math" not in markup:
        return markup
    return _FORMULA_PATTERN.sub(read, _ALTERNATIVES_PATTERN.sub(choose, markup))


def element_text(element: Any) -> str:
    """Return all text inside an lxml element, with its raised and lowered parts and formulas as plain text."""
    pieces = [element.text or ""]
    for child in element:
        name = local_name(child)
        words = "".join(child.itertext()) if name in ("sup", "sub") else ""
        if words and len(words) <= MAX_RAISED_CHARACTERS:
            before = "".join(pieces[-3:])[-_BEFORE_CHARACTERS:]
            pieces.append(raised(words, before, child.tail or "") if name == "sup" else lowered(words, before))
        elif name == "math":
            pieces.append(formula_words(child))
        elif name and (name != "tex-math" or not any(local_name(other) == "math" for other in element)):
            pieces.append(element_text(child))
        pieces.append(child.tail or "")
    return "".join(pieces)


_NOTE_NAME_PATTERN = re.compile(r"note|cite|citation|reference|\bref\b|\bfn", re.IGNORECASE)
_NOTE_LINK_PATTERN = re.compile(r"^#.|#(?:cite|fn|foot|note|ref|bib|[a-z]{0,3}\d)", re.IGNORECASE)
_NOTE_NUMBER_PATTERN = re.compile(r"\[?\d{1,3}\]?")
_FORMULA_NAME_PATTERN = re.compile(r"(?:^|[\s_-])(?:mwe-math|math|tex|latex|formula|equation)", re.IGNORECASE)
_LINE_TAGS = frozenset("a abbr b bdi cite code em font i mark q s small span strong sub sup time u var wbr".split())
_DROPPED_TAGS = frozenset({"time", "output", "label", "button"})
_ICON_PATTERN = re.compile(rf"\s*[{_PRIVATE}]{{1,3}}\s*")


def write_out_signs(tree: Any) -> None:
    """Put plain text in the place of what a page raises and lowers, of its formulas, and of its quotation elements."""
    language = (tree.get("lang") or "").strip().lower()[:2]
    found: list[tuple[Any, str]] = []
    links: list[Any] = []
    before = ""
    walk = etree.iterwalk(tree, events=("start", "end"))
    for event, element in walk:
        name = local_name(element)
        if event == "end":
            if links and links[-1] is element:
                links.pop()
            before = (
                (before + (element.tail or ""))[-_BEFORE_CHARACTERS:] if name in _LINE_TAGS else (element.tail or "")
            )
            continue
        if name == "a" and _NOTE_LINK_PATTERN.search(element.get("href") or ""):
            links.append(element)
        # A style in another file may raise a note's number.
        if name in ("sup", "sub") or (
            (links[-1:] == [element] or name == "cite" or _is_named_as_note(element))
            and _is_note_number(element, before)
        ):
            words = "".join(islice(element.itertext(), MAX_RAISED_CHARACTERS))
            if len(words) <= MAX_RAISED_CHARACTERS:
                after = _text_after(element)
                is_link = bool(links) or _leads_to_note(element)
                place = (
                    lowered(words, before)
                    if name == "sub"
                    else raised(words, before, after, is_link=is_link, language=language)
                )
                place += " " if place and words[-1:].isspace() and after[:1].isalnum() else ""
                found.append((element, place))
                before += place
                walk.skip_subtree()
                continue
        elif name in ("math", "rt", "rp"):  # the last two say how the letters below are spoken
            found.append((element, formula_words(element) if name == "math" else ""))
            walk.skip_subtree()
        elif (name == "img" and _FORMULA_NAME_PATTERN.search(element.get("class") or "")) or (
            name == "script" and (element.get("type") or "").startswith("math/")
        ):
            found.append((element, "[formula]"))
        elif name == "q":
            element.tag, element.text, element.tail = "span", f"“{element.text or ''}", f"”{element.tail or ''}"
        elif name in _DROPPED_TAGS and (name == "time" or (before.strip() and (element.tail or "").strip())):
            element.tag = "span"  # trafilatura would drop it, out of the middle of a sentence too
        if _ICON_PATTERN.fullmatch((element.text or " ")[:10]) and not (
            before[-1:].isalnum() and (element.tail or " ")[0].isalnum()
        ):
            element.text = None
        element.text, element.tail = _read_letters(element.text), _read_letters(element.tail)
        before = (before + (element.text or ""))[-_BEFORE_CHARACTERS:] if name in _LINE_TAGS else (element.text or "")
    for element, words in found:
        tail = element.tail
        element.clear()
        element.tag, element.text, element.tail = "span", words, tail


def _read_letters(text: str | None) -> str | None:
    return printed_letters(text) if text and not text.isascii() else text


def _text_after(element: Any) -> str:
    """Return how the text goes on after an element: in its tail, and in what follows at once."""
    tail = element.tail or ""
    follows = element.getnext()
    return tail if len(tail) > 2 or follows is None else tail + (follows.text or "")


def _is_note_number(element: Any, before: str) -> bool:
    """Return whether a link's words are a number at the end of a word or of another number."""
    words = "".join(islice(element.itertext(), MAX_RAISED_CHARACTERS)).strip()
    return before[-1:].isalnum() and _NOTE_NUMBER_PATTERN.fullmatch(words) is not None


def _leads_to_note(element: Any) -> bool:
    """Return whether a raised element is, or holds, a link to a note."""
    parts = [element, *islice(element.iter("a"), 3)]
    return _is_named_as_note(element) or any(_NOTE_LINK_PATTERN.search(part.get("href") or "") for part in parts)


def _is_named_as_note(element: Any) -> bool:
    names = f"{element.get('class')} {element.get('id')} {element.get('role')} {element.get('epub:type')}"
    return _NOTE_NAME_PATTERN.search(names) is not None


def local_name(element: Any) -> str:
    """Return an element's name in lowercase without its namespace; "" of a comment."""
    return re.split(r"[:}]", element.tag)[-1].lower() if isinstance(element.tag, str) else ""


_MAX_DEPTH = 30  # of a formula
_MAX_FORMULA_CHARACTERS = 600
_SPACED_OPERATORS = frozenset("=<>≤≥≠≈±×∼~→∈+−·÷≪≫∝")
_FORMULA_WORDS = frozenset({"mi", "mn", "ms", "mtext"})
_ARRANGED = frozenset({"msqrt", "mfrac", "mroot", "msub", "msup", "msubsup"})
_INVISIBLE_OPERATORS = dict.fromkeys(range(0x2061, 0x2065))


def formula_words(element: Any) -> str:
    """Return a formula of MathML, as an lxml element with or without namespace, on one line."""
    words = re.sub(r"\s+", " ", _formula_part(element, 0)).strip()
    return words if len(words) <= _MAX_FORMULA_CHARACTERS else "[formula]"


def _formula_part(element: Any, depth: int) -> str:
    name = local_name(element)
    if not name or name in ("annotation", "annotation-xml") or depth > _MAX_DEPTH:
        return "…" if depth > _MAX_DEPTH else ""
    if name in _FORMULA_WORDS:
        return " ".join("".join(islice(element.itertext(), 20)).split())
    if name == "mo":
        sign = (element.text or "").strip().translate(_INVISIBLE_OPERATORS)
        return f" {sign} " if sign in _SPACED_OPERATORS else sign
    parts = [_formula_part(child, depth + 1) for child in element]
    if name in _ARRANGED:
        return _arranged(name, [part.strip() for part in parts])
    between = {"mfenced": ", ", "mtable": "; ", "mtr": " "}.get(name, "")
    words = (element.text or "").strip() + between.join(parts[:1] if name == "semantics" else parts)
    return f"{element.get('open', '(')}{words}{element.get('close', ')')}" if name == "mfenced" else words


def _arranged(name: str, parts: list[str]) -> str:
    base, first, last = (*parts[:1], "", "")[0], (*parts[1:2], "")[0], parts[-1] if parts else ""
    return {
        "msqrt": f"√({''.join(parts)})",
        "mfrac": f"{_grouped(base)}/{_grouped(first)}",
        "mroot": f"({base})^(1/{first})",
        "msub": f"{base}_{_grouped(first)}",
        "msup": f"{base}^{_grouped(first)}",
        "msubsup": f"{base}_{_grouped(first)}^{_grouped(last)}",
    }[name]


def _grouped(part: str) -> str:
    return part if re.fullmatch(r"[-−+]?[\w.,]+", part) else f"({part})"


# What surrounds a formula of TeX: a whole document of its own, or dollars and brackets around something of TeX.
_TEX_DOCUMENT_PATTERN = re.compile(
    r"(?:\$\$\s?)?\\documentclass(?:(?!\\documentclass).){0,1500}?\\begin\s?\{document\}(.{0,1500}?)\\end\s?\{document\}(?:\s?\$\$)?",
    re.DOTALL,
)
_TEX_PATTERN = re.compile(
    r"\$\$([^$]{1,600})\$\$|\\\(((?:(?!\\[(\[]).){1,600}?)\\\)|\\\[((?:(?!\\[(\[]).){1,600}?)\\\]"
    r"|\$(\s?[\^_][^$\n]{1,60})\$|(?<![\w$\\])\$(?=[^$\s])([^$\n]{1,200}?)(?<=[^$\s\\])\$(?![\w$])"
)
_TEX_SIGN_PATTERN = re.compile(r"\\[a-zA-Z%,;!]|[\^_=<>]")
_TEX_SCRIPT_PATTERN = re.compile(r"\\text(super|sub)script\s?\{([^{}]{1,40})\}")
_TEX_SIGN_WORD_PATTERN = re.compile(r"\\text(less|greater|pm|mu|degree|times|percent)(?![a-z])(?:\s?\{\})?")
_TEX_SIGN_WORDS = {"less": "<", "greater": ">", "pm": "±", "mu": "μ", "degree": "°", "times": "×", "percent": "%"}
# What is left of TeX around words: a document's begin and end, a style, a sign in braces, an escaped per cent.
_TEX_AROUND_WORDS_PATTERN = re.compile(
    r"\\(?:begin|end)\s?\{document\}|\\(?:text(?:bf|it|rm|sc|sf|tt|normal)|emph)\s?\{([^{}\\]{1,200})\}|\{([<>±×])\}|\\(%)"
)
_TEX_WORDS = {
    "times": "×", "cdot": "·", "pm": "±", "mp": "∓", "le": "≤", "leq": "≤", "leqslant": "≤", "ge": "≥", "geq": "≥",
    "geqslant": "≥", "lt": "<", "gt": ">", "ne": "≠", "neq": "≠", "approx": "≈", "sim": "~", "to": "→",
    "infty": "∞", "rightarrow": "→", "degree": "°", "circ": "°", "percent": "%", "div": "÷", "in": "∈", "ldots": "…",
    "dots": "…",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "upmu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ",
    "sigma": "σ", "tau": "τ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ",
    "Delta": "Δ", "Omega": "Ω", "Sigma": "Σ", "Phi": "Φ", "Lambda": "Λ", "quad": " ", "qquad": " ", "sum": "∑",
    "int": "∫", "ll": "≪",
    "gg": "≫", "propto": "∝", "prime": "′", "backslash": "\\",
}  # fmt: skip
_TEX_FRACTION_PATTERN = re.compile(r"\\[dt]?frac\s*\{([^{}]{1,200})\}\s*\{([^{}]{1,200})\}")
_TEX_ROOT_PATTERN = re.compile(r"\\sqrt\s*\{([^{}]{1,200})\}")
_TEX_STYLE_PATTERN = re.compile(
    r"\\(?:math(?:rm|bf|it|sf|cal|bb|frak|tt)|text(?:rm|bf|it|sf|normal)?|operatorname\*?|mbox|hbox|boldsymbol|bm|overline|bar|hat|tilde|left|right|big+[lr]?|displaystyle|textstyle|rm|limits|vec)(?![a-zA-Z])\s?"
)
_TEX_COMMAND_PATTERN = re.compile(r"\\([a-zA-Z]+) ?|\\([%&#_${}])|\\[,;:!> ]")
_TEX_NEAR_CHARACTERS = 60


def readable_formulas(text: str) -> str:
    """Return text with its TeX formulas as a person reads them, each once: a second copy in plain letters goes."""
    if "\\" not in text and "$" not in text:
        return text
    for pattern in (_TEX_DOCUMENT_PATTERN, _TEX_PATTERN):
        pieces: list[str] = []
        at = 0
        for found in pattern.finditer(text):
            formula = next((group for group in found.groups() if group is not None), "")
            if pattern is _TEX_PATTERN and not _TEX_SIGN_PATTERN.search(formula):
                continue
            words = _tex_words(formula)
            pieces.append(text[at : found.start()])
            at = found.end()
            squeezed = words.replace(" ", "")
            around = (pieces[-1][-_TEX_NEAR_CHARACTERS:], text[at : at + _TEX_NEAR_CHARACTERS])
            left, right = ("".join(side.split()) for side in around)
            if not (squeezed and (left.endswith(squeezed) or right.startswith(squeezed))):
                pieces.append(words)
        text = "".join([*pieces, text[at:]])
    text = _TEX_SIGN_WORD_PATTERN.sub(lambda found: _TEX_SIGN_WORDS[found[1]], text)
    text = _TEX_AROUND_WORDS_PATTERN.sub(lambda found: found[1] or found[2] or found[3] or "", text)
    return _TEX_SCRIPT_PATTERN.sub(lambda found: f"{'^' if found[1] == 'super' else ''}{found[2]}", text)


def _tex_words(formula: str) -> str:
    text = formula.strip().strip("$").strip()
    text = _TEX_STYLE_PATTERN.sub("", text)
    for _ in range(3):
        text = _TEX_FRACTION_PATTERN.sub(
            lambda found: f"{_grouped(found[1].strip())}/{_grouped(found[2].strip())}", text
        )
        text = _TEX_ROOT_PATTERN.sub(lambda found: f"√({found[1]})", text)
    text = re.sub(r"\^\s?\{?\s?\\circ\s?\}?", "°", text)
    text = re.sub(r"([\^_])\s?\{([^{}]{1,200})\}", lambda found: found[1] + _grouped(found[2].strip()), text)
    text = _TEX_COMMAND_PATTERN.sub(
        lambda found: found[2] or (_TEX_WORDS.get(found[1], found[1]) if found[1] else " "), text
    )
    text = re.sub(r"\s*([=<>≤≥≠≈±×→])\s*", r" \1 ", re.sub(r"[{}]|~", "", text))
    return re.sub(r"\s+", " ", text).strip()


# Adobe's old-style digits and small capitals, and signs of the Symbol font, which pass through in the private use area.
# https://github.com/adobe-type-tools/agl-aglfn
_KNOWN_GLYPHS = (
    {0xF730 + digit: str(digit) for digit in range(10)}
    | {0xF761 + letter: chr(0x61 + letter) for letter in range(26)}
    | {
        0xF025: "%", 0xF02B: "+", 0xF02D: "−", 0xF03C: "<", 0xF03D: "=", 0xF03E: ">", 0xF061: "α", 0xF062: "β",
        0xF067: "γ", 0xF06D: "μ", 0xF0A3: "≤", 0xF0B1: "±", 0xF0B3: "≥", 0xF0B4: "×", 0xF0B7: "•", 0xF0A7: "▪",
        0xF0BB: "≈", 0xF0B0: "°",
    }
)  # fmt: skip
_LIGATURE_PATTERN = re.compile("[\ufb00-\ufb17\ufb50-\ufdfb\ufe70-\ufefc]+")
_CONTROL = "\x00-\x08\x0e-\x1f"
_LOST_PATTERN = re.compile(rf"[{_PRIVATE}](?=[^\W_]|[{_PRIVATE}]+[^\W_])|(?<=[^\W_])[{_PRIVATE}]+")
_LOST_IN_PDF_PATTERN = re.compile(
    rf"[{_PRIVATE}{_CONTROL}](?=[^\W_]|[{_PRIVATE}{_CONTROL}]+[^\W_])|(?<=[^\W_])[{_PRIVATE}{_CONTROL}]+"
)
LOST = "\ufffd"


def printed_letters(text: str, *, of_pdf: bool = False) -> str:
    """Text with ligatures as their letters, and the sign of a lost letter for each that nobody can know.

    A sign of a font's own that is separate from words is an icon, and is no letter. `of_pdf`: control characters in
    words are lost letters too.
    """
    if text.isascii() and not of_pdf:
        return text
    text = _LIGATURE_PATTERN.sub(
        lambda found: unicodedata.normalize("NFKC", found.group()), text.translate(_KNOWN_GLYPHS)
    )
    pattern = _LOST_IN_PDF_PATTERN if of_pdf else _LOST_PATTERN
    return pattern.sub(lambda found: LOST * len(found.group()), text)


class Legibility(Enum):
    """How well a text can be read: whole, with faults that a reader must know of, or not at all."""

    GOOD = 0
    BAD = 1
    NONE = 2


_SAMPLE_CHARACTERS = 1_500  # of a piece that is judged by itself
_MAX_PIECES = 40  # spread over the text
_MIN_WORDS = 8  # fewer show nothing
_MIN_LETTERS = 60
_MIN_LOST = 3  # signs of lost letters in the whole text
_MAX_FAULTY_SHARE = 0.25  # of the words or letters of a piece
_MAX_WORD_LETTERS = 40  # longer is several words, even in German
_GLYPH_NAME_PATTERN = re.compile(r"(?:/[A-Za-z]{1,4}\d{1,5}|\(cid:\d{1,5}\))")
_SPACED_SCRIPT_PATTERN = re.compile("[A-Za-z\u00aa-\u024f\u0370-\u052f\u1e00-\u1fff]")
_LATIN_PATTERN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_ODD_LATIN_PATTERN = re.compile("[\u0100-\u024f]")
_VOWEL_PATTERN = re.compile("[aeiouywàáâãäåæèéêëìíîïòóôõöøœùúûüýāăąēĕėęěīĭįıōŏőūŭůűųơưạ-ỹ]", re.IGNORECASE)
_COMMON_WORDS = frozenset(
    "the of and to in is was for that with on are as by be from it der die das und ist nicht den von mit zu auf für "
    "de la le les et est des que en un una los las el por con para se du au il di che non per del della sono het een "
    "van dat op te na nie się że jest do att som och för av ikke er det til og ve bir bu için olan um os não com "
    "yang dan untuk dari на не что по это как от для та що není je to si sa din pe nu cu și az és egy hogy nem "
    "ja on ei ein".split()
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def legibility(text: str) -> Legibility:
    """Judge how well text of a page can be read: lost and false letters, words run together or split up."""
    step = max(_SAMPLE_CHARACTERS, len(text) // _MAX_PIECES)
    found = [_piece_legibility(text[at : at + _SAMPLE_CHARACTERS]) for at in range(0, max(len(text), 1), step)]
    bad = sum(piece is not Legibility.GOOD for piece in found)
    if sum(piece is Legibility.NONE for piece in found) * 2 >= len(found):
        return Legibility.NONE
    is_lossy = text.count(LOST) >= _MIN_LOST
    return Legibility.BAD if bad or is_lossy else Legibility.GOOD


def _piece_legibility(piece: str) -> Legibility:
    words = [word for word in piece.split() if _SPACED_SCRIPT_PATTERN.search(word) or LOST in word]
    lost, letters = piece.count(LOST), sum(map(str.isalpha, piece))
    if lost >= _MIN_LOST and lost * 4 > letters:
        return Legibility.NONE
    if len(_GLYPH_NAME_PATTERN.findall(piece)) * 4 > len(piece.split()) >= _MIN_WORDS:
        return Legibility.NONE
    shares = (_run_together(words), _split_up(words), _false_letters(words))
    if max(shares) > 0.5:
        return Legibility.NONE
    return Legibility.BAD if max(shares) > _MAX_FAULTY_SHARE else Legibility.GOOD


def runs_together(text: str) -> bool:
    """Return whether much of a text has lost the spaces between its words."""
    return _run_together(text.split()) > _MAX_FAULTY_SHARE


def _run_together(words: list[str]) -> float:
    """Return the share of letters in words that are too long to be one."""
    plain = (word for word in words if not re.search(r"[/@_]", word))
    lengths = [len(_SPACED_SCRIPT_PATTERN.findall(word)) for word in plain]
    long = sum(length for length in lengths if length > _MAX_WORD_LETTERS)
    return long / sum(lengths) if sum(lengths) >= _MIN_LETTERS else 0.0


def _split_up(words: list[str]) -> float:
    """Return the share of words of one letter, beyond what a list of initials or a table has."""
    alone = sum(len(word) == 1 for word in words)
    return alone / len(words) if len(words) >= 4 * _MIN_WORDS else 0.0


def _false_letters(words: list[str]) -> float:
    """Return how sure it is that the letters are others than those printed, in [0, 1]."""
    plain = [word.strip(".,;:!?()[]\"'“”’") for word in words if _LATIN_PATTERN.search(word)]
    if len(plain) < _MIN_WORDS:
        return 0.0
    common = _common_share(plain)
    if common < 0.1 and any(
        share > max(0.2, 3 * common) for share in (_common_share(moved.split()) for moved in _moved(" ".join(plain)))
    ):
        return 1.0
    letters = [letter for word in plain for letter in word if letter.isalpha()]
    odd = sum(_ODD_LATIN_PATTERN.match(letter) is not None for letter in letters)
    if common < 0.05 and odd * 2 > len(letters):
        return 1.0
    whole = [word for word in plain if len(word) >= 3 and word.isalpha() and not word.isupper()]
    voiceless = sum(_VOWEL_PATTERN.search(word) is None for word in whole)
    return voiceless / len(whole) if common < 0.05 and len(whole) >= _MIN_WORDS else 0.0


def _common_share(words: Iterable[str]) -> float:
    known = [word.lower() in _COMMON_WORDS for word in words if len(word) > 1]
    return sum(known) / len(known) if known else 0.0


def _moved(text: str) -> Iterable[str]:
    """Return the text with each letter moved by so many places: in the alphabet, then among all signs."""
    lower = text.lower()
    for places in range(1, 26):
        yield lower.translate(str.maketrans(_LETTERS, _LETTERS[places:] + _LETTERS[:places]))
    for places in (*range(-40, 0), *range(1, 41)):
        yield text.translate({code: chr(code + places) for code in range(33, 127) if code + places > 32})
