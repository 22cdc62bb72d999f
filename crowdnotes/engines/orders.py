"""Finds words that give orders to a language model, in posts, pages and notes, and takes them out.

What is found never reaches a model, cannot carry a sentence of a note, and is told to the person. What
is not found still meets the other bounds: marked data, answers in a fixed form, quotes and ids checked.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import unicodedata
from functools import lru_cache
from urllib.parse import unquote

from crowdnotes.domain import Evidence, Span
from crowdnotes.engines.order_patterns import ORDER, PAYLOAD
from crowdnotes.text.sentences import split_sentences

_CODED = re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}")
_URL = re.compile(r"https?://\S+")  # the words of an address are nobody's orders
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}){6,}")
_SPELLED = re.compile(r"(?:\b\w[ .\-_*]{1,2}){15,}\w\b")  # "B R E A K I N G" is for readers, a whole sentence is not
_LOOKALIKE = str.maketrans("аеорсухіѕјһԁɡοαερνι", "aeopcyxisjhdgoaepvi")
_LEET = str.maketrans("01345@$", "oieasas")
_TAGS = range(0xE0020, 0xE007F)  # invisible copies of the ASCII characters
_BRACKETS = {"[": "]", "{": "}"}
_UNSEEN = {"Cc", "Cf", "Co", "Cs"}  # controls, zero-width and direction marks, private and broken characters
_LONGEST = 1500  # characters of one sentence that are looked at; a pattern spans a hundred at most


@lru_cache(maxsize=512)  # a passage is looked at by every step
def find_orders(text: str) -> tuple[Span, ...]:
    """The sentences of a text that speak to a model, with what follows and carries the order out; in order."""
    sentences = split_sentences(text)
    words = [text[span.start : span.end] for span in sentences]
    flagged = [_speaks_to_model(sentence) for sentence in words]
    for i in range(len(words) - 1):
        if not (flagged[i] or flagged[i + 1]) and _matches(f"{words[i]} {words[i + 1]}"):
            flagged[i] = flagged[i + 1] = True  # an order broken over two lines
    open_bracket = ""  # what an order began to enclose belongs to it
    for i, sentence in enumerate(words):
        if open_bracket or (i and flagged[i - 1] and PAYLOAD.search(visible(sentence).lower())):
            flagged[i] = True
        if flagged[i]:
            open_bracket = _left_open(open_bracket + sentence)
    return tuple(span for span, is_order in zip(sentences, flagged, strict=True) if is_order)


def without_orders(text: str) -> str:
    """The same text with every order as spaces, so that offsets stay true."""
    spans = find_orders(text)
    if not spans:
        return text
    letters = list(text)
    for span in spans:
        for i in range(span.start, span.end):
            if letters[i] != "\n":
                letters[i] = " "
    return "".join(letters)


def cleared(item: Evidence) -> Evidence:
    """The same evidence with the orders in its passage blanked; offsets stay true."""
    text = without_orders(item.passage.text)
    if text == item.passage.text:
        return item
    return item.model_copy(update={"passage": item.passage.model_copy(update={"text": text})})


def holds_orders(text: str) -> bool:
    """Whether any sentence of a text speaks to a model."""
    return bool(find_orders(text))


def visible(text: str) -> str:
    """What a reader sees: compatibility forms folded; controls, zero-width and direction marks gone."""
    folded = unicodedata.normalize("NFKC", text)
    return "".join(
        char for char in folded if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Co", "Cs")
    )


def _speaks_to_model(sentence: str) -> bool:
    if any(ord(char) in _TAGS for char in sentence):
        return True  # nobody writes to people in invisible letters
    if _matches(sentence):
        return True
    shown = visible(sentence[:_LONGEST])
    return _SPELLED.search(shown) is not None or any(_matches(decoded) for decoded in _decoded(shown))


def _left_open(text: str) -> str:
    """The text from its last bracket that is not closed; "" when all are, or when it grew too long to be one."""
    depths = {opening: text.count(opening) - text.count(closing) for opening, closing in _BRACKETS.items()}
    starts = [text.rfind(opening) for opening, depth in depths.items() if depth > 0]
    return text[min(starts) :] if starts and len(text) < _LONGEST else ""


def _matches(words: str) -> bool:
    shown = _URL.sub("https://", visible(words[:_LONGEST]).lower())
    views = {shown, shown.translate(_LOOKALIKE), shown.translate(_LEET)}
    return any(ORDER.search(view) for view in views)


def _decoded(text: str) -> list[str]:
    """What a coded part of a sentence says, where it says anything: base64, hex, percent, rot13, backwards."""
    found = [codecs.encode(text, "rot13"), text[::-1]]
    found += [unquote(match.group()) for match in _PERCENT.finditer(text)]
    for match in _CODED.finditer(text):
        raw = match.group()
        for decode in (_from_base64, _from_hex):
            told = decode(raw)
            if told is not None:
                found.append(told)
    return found


def _from_base64(raw: str) -> str | None:
    try:
        padded = raw.rstrip("=") + "=" * (-len(raw.rstrip("=")) % 4)
        return base64.urlsafe_b64decode(padded.replace("+", "-").replace("/", "_")).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None


def _from_hex(raw: str) -> str | None:
    try:
        return bytes.fromhex(raw).decode("utf-8")
    except (UnicodeDecodeError, ValueError):
        return None
