"""What reads text from outside takes time in proportion to its length, whatever the text repeats.

Each reader gets pumped texts of 2,000 and 8,000 characters, or of 8,000 and 32,000 where those take no time. Only a
clear case fails: processor time well above what a text of that length may take, and growth above n^1.3, each measured
as the best of three. Most readers are found by themselves: every function of the packages in `_READING`.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import pkgutil
import signal
import socket
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from functools import partial
from types import FrameType, SimpleNamespace
from typing import Any, get_type_hints

import pytest
from lxml import html  # type: ignore[import-untyped]  # its stubs cover too little to bring them

import crowdnotes
from crowdnotes.cli.notes import measured
from crowdnotes.domain import Aim, Claim, Evidence, ExistingNote, Hit, Post, Source, SourceCategory, Span
from crowdnotes.engines import prompt_injection
from crowdnotes.engines.llm import parsing, request, writing_tasks
from crowdnotes.engines.llm.helpfulness import read_final_decision
from crowdnotes.engines.llm.search_tasks import ClaimsAnswer, _clean_query
from crowdnotes.engines.llm.server import scrubbed
from crowdnotes.engines.local import attribution, health_terms, quantities, queries, source_ranking, tone
from crowdnotes.engines.local.health_terms import known_words
from crowdnotes.engines.local.principles import opinion_features
from crowdnotes.engines.local.queries import build_queries
from crowdnotes.errors import CrowdNotesError
from crowdnotes.evidence import duplicates, selection, source_types
from crowdnotes.evidence.claim_review import loose_json
from crowdnotes.evidence.library.importing import choose_columns
from crowdnotes.evidence.library.search import best_window, build_expression
from crowdnotes.evidence.reading import document, plain_text, printed_signs
from crowdnotes.evidence.reading.hidden_text import drop_hidden
from crowdnotes.evidence.reading.html import read_html
from crowdnotes.evidence.reading.pdf import _join_lines
from crowdnotes.evidence.reading.reading_services import plain_markdown
from crowdnotes.evidence.reading.style_sheets import StyleSheets
from crowdnotes.evidence.search.wikimedia import opening
from crowdnotes.evidence.ssrf_guard import check_url
from crowdnotes.notes.gates import unfound_quotes
from crowdnotes.text import dates, languages, lint, note_rules, pasted, publishers, quotes, sentences, tokens, urls
from crowdnotes.text.sentences import split_units
from tests.fakes import make_evidence

pytestmark = pytest.mark.deep

Reader = Callable[[str], object]

_SHORT, _LONG, _LONGER = 2_000, 8_000, 32_000
_FLOOR = 0.25  # seconds; below it growth is no harm, and its measure chance
_GROWTH = (_LONG / _SHORT) ** 1.3
_STOPPED = 4.0  # seconds of processor time after which a reader is stopped: it has failed
_PUMPS = (
    ".", " ", "A", "((", '"', "a.", "5 mg ", "9", "\n", "https://a.org/", "a.b/", "@a", "#a ", "Cures it. ", "NOT ",
    "```\n", "<think>", "{", "[E1", "“a b c d ", "漢", "e\u0301", "%41", "=?", "it is a myth that ",
    "a, ", ", and ", "<script ld+json>", '\\"w ', "{x}", "<a ",
)  # fmt: skip
# What reads with many tables and patterns takes long: one pump of each sort.
_SLOW_READERS = frozenset(("claims", "queries", "foreign terms", "hints", "lint", "units", "features"))
_SLOW_PUMPS = (".", " ", "A", "5 mg ", "a.b/", "Cures it. ", "NOT ", "it is a myth that ")


def _post(text: str) -> Post:
    return Post(text=text)


def _hit(text: str) -> Hit:
    return Hit(provider="p", title=text, snippet=text, query="")


def _source(text: str) -> Source:
    return make_evidence(1).source.replace(title=text, publisher=text)


def _compared(text: str) -> object:
    return attribution.find_hints(attribution.Compared(text, text, text, text))


def _injections(text: str) -> object:
    prompt_injection.find_injections.cache_clear()
    return prompt_injection.without_injections(text)


def _echoes(text: str) -> object:
    prompt_injection.find_injections.cache_clear()
    return writing_tasks.echoes_injection(text, [text])


def _fenced(text: str) -> object:
    prompt_injection.find_injections.cache_clear()
    return request.data_blocks([request.Block("passage E1", text)], "boundary")


_POSTS: Mapping[str, Reader] = {
    "claims": lambda text: queries.find_claims(_post(text)),
    "topics": health_terms.find_topics,
    "queries": lambda text: build_queries(_post(text), (), 8),
    "foreign terms": partial(known_words, language="es"),
    "plain post": tokens.plain_post,
    "language": languages.language_of,
}
_NOTES: Mapping[str, Reader] = {
    "length": measured,
    "lint": lint.lint,
    "without tracking": lint.without_tracking,
    "truncate": note_rules.truncate,
    "pasted": pasted.parse_pasted,
    "without urls": note_rules.without_urls,
    "sentences": sentences.split_sentences,
    "tokens": tokens.tokens,
    "content words": tokens.content_words,
    "note sentences": attribution.note_sentences,
    "loaded words": tone.loaded_words,
    "shouting": tone.shouting,
    "speculation": tone.speculative_words,
    "readability": tone.reading,
    "bare verdict": tone.BARE_VERDICT.match,
    "quantities": quantities.quantities,
    "shares": quantities.shares,
    "denials": tone.denies,
    "hints": _compared,
    "features": lambda text: opinion_features([text]),
    "quotations": lambda text: unfound_quotes(text, _post("A post."), ()),
}
_PAGES: Mapping[str, Reader] = {
    "tidy": plain_text.tidy_text,
    "tidy line": plain_text.tidy_line,
    "plain page": lambda text: plain_text.read_plain(text.encode("utf-8", "replace"), "utf-8", "title"),
    "charset": lambda text: plain_text.decode(text.encode("utf-8", "replace")),
    "references": document.without_references,
    "duplicates": duplicates.shingles,
    "window": partial(best_window, weights={"vaccin": 1.0, "a": 0.5}),
    "query": build_expression,
    "wikitext": opening,
    "units": split_units,
    "injections": _injections,
    "visible": prompt_injection.visible,
    "web page": lambda text: read_html(text.encode("utf-8", "replace"), "utf-8", "https://a.org/", "title"),
    "lines of a PDF": lambda text: _join_lines(text.split() or ["a"]),
    "cells of a table": lambda text: choose_columns([text, "b"], [{text: text, "b": text}], {}),
    "merits": lambda text: source_ranking.ranking_reasons(_hit(text), Aim.OTHER_SIDE, None, ()),
    "legibility": printed_signs.legibility,
    "printed letters": lambda text: printed_signs.printed_letters(text, of_pdf=True),
    "formulas": printed_signs.readable_formulas,
    "markup": lambda text: plain_text.plain_text(text, 8_000),
    "loose JSON": lambda text: list(loose_json(text)),
    "stand-in": lambda text: document.refuse_stand_in(text, text[:1_400], text, text),
    "markdown": plain_markdown,
    "publisher": lambda text: publishers.publisher_name(_source(text)),
}
_ANSWERS: Mapping[str, Reader] = {
    "spoken": parsing.without_thoughts,
    "object": lambda text: parsing.read_answer(text, ClaimsAnswer, ()),
    "note": lambda text: writing_tasks.clean_note(text, ("E1",)),
    "quote": lambda text: quotes.find_quote(text, text[:2_000]),
    "sanitized": partial(parsing.sanitized, limit=200),
    "marked": lambda text: parsing.find_marked_ids([text], ["E1"]),
    "fenced": _fenced,
    "ids": lambda text: writing_tasks.check_ids([text], ["E1"]),
    "echoes": _echoes,
    "search": _clean_query,
    "decision": read_final_decision,
    "complaint": partial(scrubbed, keys=("secret",)),
}
_NAMES: Mapping[str, Reader] = {
    "canonical": urls.canonical_url,
    "doi": urls.doi_url,
    "web address": urls.is_web_address,
    "guard": check_url,
    "archived": source_types.original_of,
    "kind of address": selection.kind_of_address,
    "category": lambda text: source_types.categorise(text, {"a.org": SourceCategory.NEWS}),
    "publisher of": lambda text: source_types.publisher_of(text, text),
    "date": dates.parse_date,
    "month": dates.month_number,
}
_ALL = {**_POSTS, **_NOTES, **_PAGES, **_ANSWERS, **_NAMES}


# Modules in which text from outside is read. Each function there is found by itself, and so is one that is new.
_READING = (
    "text", "post_files", "engines.local", "engines.prompt_injection", "engines.llm", "evidence", "notes", "x_api",
    "cases.intake", "cases.export", "public_data.topics", "public_data.posts", "bridging.public_files", "jury",
)  # fmt: skip
# They open files or connections, or start processes: what they read goes through the functions that are found.
_NOT_READING = ("evidence.demo_pages", "evidence.reading.worker_processes", "engines.llm.discovery", "jury.shown_odds")
_BRIEF = 200  # characters for whatever is not the long text


def _made(text: str) -> Mapping[Any, object]:
    """A value of each kind that a text can be put into."""
    return {
        str: text,
        str | None: text,
        object: text,
        Any: text,
        bytes: text.encode("utf-8", "replace"),
        bytearray: bytearray(text.encode("utf-8", "replace")),
        list[str]: [text],
        Sequence[str]: [text],
        Collection[str]: [text],
        Iterable[str]: [text],
        tuple[str, ...]: (text,),
        set[str]: {text},
        frozenset[str]: frozenset((text,)),
        Mapping[str, str]: {"text": text},
        Mapping[str, object]: {"text": text, "@type": text},
        Mapping[str, Any]: {"text": text, "id": text},
        dict[str, str]: {"text": text},
        dict[str, object]: {"text": text},
        dict[str, Any]: {"text": text},
        Post: _post(text),
        Hit: _hit(text),
        Source: _source(text),
        Evidence: make_evidence(1, text),
        Sequence[Hit]: [_hit(text)],
        Sequence[Source]: [_source(text)],
        Sequence[Evidence]: [make_evidence(1, text)],
        ExistingNote: ExistingNote(id="N1", text=text),
        Sequence[ExistingNote]: [ExistingNote(id="N1", text=text)],
        Claim: Claim(text=text[:1_000], span=Span(start=0, end=1)),
        int: 200,
        float: 0.5,
        bool: True,
        date | None: None,
        Span: Span(start=0, end=1),
    }


_KINDS = frozenset(_made("a"))
_OUR_WORDS = frozenset(("begin", "end", "purpose", "label"))  # parameters that are given words of the program alone
_HOLD_NO_TEXT = frozenset((int, float, bool, date | None, Span))


def _found_readers(module: str) -> Mapping[str, Reader]:
    """A reader for each parameter of each function that can be given text; all others are given little."""
    found: dict[str, Reader] = {}
    for name, one in inspect.getmembers(importlib.import_module(f"crowdnotes.{module}"), callable):
        function = inspect.unwrap(one)
        if not inspect.isfunction(function) or function.__module__ != f"crowdnotes.{module}":
            continue
        kinds = _parameters(function)
        if set(kinds.values()) <= _KINDS:
            long = [one for one, kind in kinds.items() if kind not in _HOLD_NO_TEXT and one not in _OUR_WORDS]
            for parameters in ([one] for one in long):
                found[f"{name}({', '.join(parameters)})"] = partial(_call, function, kinds, parameters)
            if len(long) > 1:
                found[f"{name}({', '.join(long)})"] = partial(_call, function, kinds, long)
    return found


def _modules() -> list[str]:
    names = [one.name.removeprefix("crowdnotes.") for one in pkgutil.walk_packages(crowdnotes.__path__, "crowdnotes.")]
    reading = [name for name in names if any(f"{name}.".startswith(f"{part}.") for part in _READING)]
    return [name for name in reading if name not in _NOT_READING]


def _parameters(function: Callable[..., object]) -> dict[str, Any]:
    """The kinds of the parameters that have to be given."""
    given = inspect.signature(function).parameters.values()
    needed = [
        one for one in given if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    return {one.name: _kind_of(one, function.__globals__) for one in needed}


def _kind_of(parameter: inspect.Parameter, names: dict[str, Any]) -> Any:
    """Its type, None where only a type checker knows it."""
    try:
        return get_type_hints(SimpleNamespace(__annotations__={"it": parameter.annotation}), names)["it"]
    except NameError:
        return None


def _call(function: Callable[..., object], kinds: Mapping[str, Any], long: Collection[str], text: str) -> None:
    much, little = _made(text), _made(text[:_BRIEF])
    read = function(**{name: (much if name in long else little)[kind] for name, kind in kinds.items()})
    if isinstance(read, Iterator):
        for _ in read:
            pass


class _TooLongError(BaseException):
    """Raised in a reader that is stopped."""


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    def stop(signum: int, frame: FrameType | None) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _seconds(read: Reader, text: str, number: int) -> float:
    # A letter that no other run has: what is kept of one text must not answer for the next.
    text = f"{text}{chr(0x4E00 + number)}"
    begun = time.thread_time()
    with suppress(Exception), _stopped_after(_STOPPED):  # of any kind: some get what they never get
        read(text)
    return time.thread_time() - begun


def _grows_too_fast(read: Reader, pump: str, before: str) -> bool:
    def timed(length: int, number: int) -> float:
        return _seconds(read, before + (pump * (length // len(pump) + 1))[:length], number)

    try:
        first = timed(_LONG, 0)
        if first * (_LONGER / _LONG) ** 3 < _FLOOR:  # even a cube stays below it
            return False
        lengths = (_SHORT, _LONG) if first > _FLOOR else (_LONG, _LONGER)
        # Up to 4.1 it grows in proportion: a square or a cube that is large enough to fail below is above it.
        if lengths == (_LONG, _LONGER) and (
            first <= 4.1 * min(timed(_SHORT, number) for number in (10, 11)) or timed(_LONGER, 1) < _FLOOR
        ):
            return False
        for numbers in (range(2, 5), range(5, 10)):  # twice: other work on the machine slows a single measure
            short, long = (min(timed(length, number) for number in numbers) for length in lengths)
            if long <= _FLOOR or long / max(short, 1e-6) <= _GROWTH:
                return False
    except _TooLongError:
        return True
    return True


@pytest.fixture(autouse=True)
def _no_garbage_collector() -> Iterator[None]:
    """Its time grows with the models that other tests loaded, and falls on the longer text."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("name", _ALL)
def test_time_grows_with_the_length_of_a_text(name: str) -> None:
    read = _ALL[name]
    with suppress(CrowdNotesError, ValueError):
        read("Vaccines cause no autism, the CDC says. https://a.org/x")  # loads tables and models
    beginnings = ("", "https://a.org/") if name in _NAMES else ("Garlic cures it ",)
    pumps = _SLOW_PUMPS if name in _SLOW_READERS else _PUMPS
    assert [pump for pump in pumps for before in beginnings if _grows_too_fast(read, pump, before)] == []


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("text.quotes", "changed_words(before)"),
        ("engines.llm.parsing", "_repair_json(text)"),
        ("engines.local.entailment", "clauses_of(sentence)"),
        ("evidence.library.fact_checks", "_find_json_ld(text)"),
        ("notes.candidates", "needs_previous_sentence(words)"),
    ],
)
def test_a_reader_is_found_without_being_listed(module: str, name: str) -> None:
    assert module in _modules()
    assert name in _found_readers(module)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("module", _modules())
def test_time_grows_with_the_length_of_a_text_in_whatever_reads_one(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> object:
        raise OSError

    for way in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, way, refuse)
    slow = []
    for name, read in _found_readers(module).items():
        with suppress(Exception):
            read("Vaccines cause no autism, the CDC says. https://a.org/x")  # loads tables and models
        slow += [(name, pump) for pump in _PUMPS if _grows_too_fast(read, pump, "")]
    assert slow == []


def test_time_grows_with_the_parts_of_one_selector() -> None:
    def read(text: str) -> object:
        # Three times: of 8,000 characters even the square is small.
        return StyleSheets(html.document_fromstring(f"<style>{text * 3}{{display:none}}</style><p class=a>a</p>"))

    assert not _grows_too_fast(read, ".a", "")


def test_time_grows_with_how_deep_a_page_nests_what_rules_choose_within_others() -> None:
    css = "".join(f".z{number} .a{{opacity:0}}" for number in range(30))
    shown = "".join(f"<i class=z{number}></i>" for number in range(30))

    def read(text: str) -> object:
        return drop_hidden(html.document_fromstring(f"<style>{css}</style>{shown}<div>{text}</div>"))

    assert not _grows_too_fast(read, "<b class=a>", "")
