"""The manner of a note in numbers: length, links, punctuation, tone words. One row a note, all from its text alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from crowdnotes.jury.parsed import parsed
from crowdnotes.jury.raters import Floats
from crowdnotes.text.sentences import split_sentences

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
# Each pattern is a habit that raters speak of in their tags; named by what it marks.
_HABITS: dict[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "not needed": r"\bnnn\b|\bnote (?:is )?not (?:needed|necessary)|\bno note\b|\bnot needed\b",
        "opinion": r"\bopinions?\b|\bsarcas|\bsatir|\bjok(?:e|es|ing)\b|\bparody\b|\bpersonal view",
        "the poster": r"\bop\b|\bthis post\b|\bthe post\b|\bthis account\b|\bthe (?:author|poster|user)\b",
        "the notes": r"\bcommunity notes?\b|\bproposed notes?\b|\bcns?\b|\bnotes? above\b|\bother notes?\b",
        "misleading": r"\bmislead|\bmisinform|\bdisinform|\bmisrepresent|\bout of context\b|\bcontext\b",
        "false": r"\bfalse\b|\buntrue\b|\bincorrect\b|\binaccurate\b|\bwrong\b|\bfake\b|\bhoax\b|\bdebunked\b",
        "lying": r"\bl(?:ie|ies|ied|iar|iars|ying)\b|\bpropaganda\b|\bgrift|\bscam|\bfraud",
        "made by machine": r"\bai[- ](?:generated|edited)|\bdeepfake|\b(?:edited|doctored|manipulated)\b|\bphotoshop",
        "old footage": r"\bold (?:video|photo|picture|image|footage|clip)|\bfrom (?:an? |the )?\w* ?(?:19|20)\d\d",
        "denial": r"\bno evidence\b|\bnot true\b|\bdid not\b|\bdidn['’]t\b|\bnever\b|\bno proof\b|\bunsubstantiated\b",
        "source named": r"\baccording to\b|\breported\b|\bstated\b|\bconfirmed\b|\bstud(?:y|ies)\b|\bfact[- ]check",
        "absolute": r"\balways\b|\bnobody\b|\beveryone\b|\bclearly\b|\bobvious|\bliterally\b|\bsimply\b|\bin fact\b",
        "first person": r"\b(?:i|me|my|we|our|us)\b",
        "second person": r"\b(?:you|your|yours)\b",
        "law": r"\bconstitution|\bamendment\b|\bcourt\b|\bjudge\b|\billegal|\blaws?\b|\bconvicted\b|\bcharged\b",
    }.items()
}
NAMES = (
    "words",
    "links",
    "no link",
    "links with only a host",
    "links to posts on x",
    "sentences",
    "line breaks",
    "letters in capitals",
    "words in capitals",
    "digits",
    "exclamation marks",
    "question marks",
    "quotation marks",
    "letters per word",
    "outside basic latin",
    *_HABITS,
)


def style(notes: Sequence[str]) -> Floats:
    """Numbers of about unit size, (n, len(NAMES))."""
    rows = [_row(note) for note in notes]
    return np.asarray(rows, dtype=np.float64).reshape(len(rows), len(NAMES))


def _row(note: str) -> list[float]:
    urls = [url.url for url in parsed(note).links]
    body = parsed(note).body
    words = _WORD.findall(body)
    letters = max(1, sum(map(len, words)))
    count = max(1, len(words))
    return [
        np.log1p(len(words)) / 2,
        min(len(urls), 5) / 2,
        float(not urls),
        sum(_is_host(url) for url in urls) / 2,
        sum(bool(re.search(r"//(?:www\.)?(?:x|twitter)\.com/", url)) for url in urls) / 2,
        min(len(split_sentences(body)), 10) / 4,
        min(body.count("\n"), 6) / 3,
        4 * sum(letter.isupper() for letter in body) / letters,
        8 * sum(len(word) > 1 and word.isupper() for word in words) / count,
        8 * sum(letter.isdigit() for letter in body) / letters,
        min(body.count("!"), 3),
        min(body.count("?"), 3),
        min(sum(body.count(mark) for mark in '"“”'), 4) / 2,
        letters / count / 4,
        2 * sum(ord(letter) > 0x24F for letter in body) / max(1, len(body)),
        *(min(len(habit.findall(body)), 3) / 1.5 for habit in _HABITS.values()),
    ]


def _is_host(url: str) -> bool:
    return not re.sub(r"^https?://", "", url, flags=re.IGNORECASE).rstrip("/").partition("/")[2]
