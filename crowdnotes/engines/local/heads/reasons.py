"""What moved the helpfulness head, in sentences a volunteer understands, each with its worth and its words.

Single weights of a linear head mislead, because features overlap; what a group of them added together does
not. A group speaks only when it moved the score, and says what is the case in this note.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from crowdnotes.domain import Span
from crowdnotes.engines.local import tone
from crowdnotes.engines.local.heads.grams import place_of, word_spans
from crowdnotes.engines.local.heads.head import Parts, Sample
from crowdnotes.engines.local.heads.note_reader import LIKENESS
from crowdnotes.engines.local.heads.samples import SIMILARITY
from crowdnotes.engines.local.tone import is_of_manner
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.stems import stem, tokens

NO_LINK = "it has no source link"
_SAID = 0.1  # of the score; what moved it less is not worth a sentence
_MOST_WORDS = 3
_SOURCES = frozenset(
    "no link,links,sites,social links alone,link to a start page,dated link,pdf link,link length,words in links,"
    "authority link,research link,portal link,fact check link,news link,encyclopedia link,social link,source label,"
    "link names the post's subject,link names the note's subject".split(",")
)
_READS = ("reads", "note is read")  # by its words, and as a whole
_FIT = frozenset(
    (
        SIMILARITY,
        LIKENESS,
        "share of the note in the post",
        "share of the post in the note",
        "words shared",
        "names shared",
        "numbers shared",
    )
)
_TONE = frozenset(
    "loaded words,speculation,first person,second person,shouting,exclamation marks,questions,capitals,about notes,"
    "not needed,we,they,emphasis".split(",")
)
_ANSWER = frozenset(
    "negations,plain denial,no evidence,verdict,says otherwise,denies more,attribution,numbers,new numbers,percent,"
    "quotation".split(",")
)
_OPINION = tuple(f"{reads}: {what}" for reads in _READS for what in ("opinion or hostile", "sourced fact"))
_CROWDS = tuple(
    f"{reads}: {what}"
    for reads in _READS
    for what in ("both camps approve", "strength of agreement", "approval", "helpful in the pilot")
)


@dataclass(frozen=True, slots=True)
class Reason:
    """One sentence part; `worth` is what it added to the score, below 0 when it counts against the note."""

    message: str
    worth: float
    span: Span | None = None


def reasons_for(post_text: str, note: str, sample: Sample, parts: Parts) -> list[Reason]:
    """What moved the score, strongest first."""
    found = [
        _about_sources(sample, _sum(parts, _SOURCES)),
        _either(_sum(parts, _FIT), "it speaks of what the post says", "it says little about what the post says"),
        *_about_tone(note, _sum(parts, _TONE)),
        _either(_sum(parts, _ANSWER), "it says what holds and what does not", "it does not say what holds instead"),
        _either(_sum(parts, _OPINION), "it reads as sourced fact", "it reads less like sourced fact than most notes"),
        _either(
            _sum(parts, _CROWDS),
            "raters of both camps approved of notes like it",
            "raters of both camps seldom approved of notes like it",
        ),
        *_about_wording(post_text, note, parts),
        _about_post(parts),
    ]
    said = [reason for reason in found if abs(reason.worth) >= _SAID]
    return sorted(said, key=lambda reason: -abs(reason.worth))


def _sum(parts: Parts, names: Collection[str]) -> float:
    return sum(parts.features.get(name, 0.0) for name in names)


def _either(worth: float, good: str, bad: str) -> Reason:
    return Reason(good if worth > 0 else bad, worth)


def _about_sources(sample: Sample, worth: float) -> Reason:
    has = sample.features
    if has["no link"]:
        return Reason(NO_LINK, min(worth, -_SAID))
    if has["social links alone"]:
        return Reason("it cites social media alone", min(worth, -_SAID))
    sites = "one site" if has["sites"] <= 1 else f"{has['sites']:.0f} sites"
    return Reason(f"it cites {sites}" if worth > 0 else f"its sources convince few readers: it cites {sites}", worth)


def _about_tone(note: str, worth: float) -> list[Reason]:
    """Words at fault count against a note even where this sample of notes taught the head little about them."""
    faults = (
        ("loaded words", tone.loaded_words(note)),
        ("guesses or opinion", tone.speculative_words(note)),
        ("shouting", tone.shouting(note)),
        ("a question", tone.questions(note)),
        ("the writer's own view", tone.first_person(note)),
        ("arguing about notes", tone.matches(tone.ABOUT_NOTES, note)),
    )
    said = [
        Reason(f"{what}: “{note[spans[0].start : spans[0].end]}”", min(worth, -_SAID), spans[0])
        for what, spans in faults
        if spans
    ]
    return said or [Reason("its tone is calm", worth)] * (worth > 0)


def _about_wording(post_text: str, note: str, parts: Parts) -> list[Reason]:
    """The words of manner that added most and least, none that the post has too.

    What the note is about and whom it cites move a score too, but no writer can do without them.
    """
    worths = parts.grams["words"]
    links = [(url.start, url.end) for url in find_urls(note)]
    in_post = {token.stem for token in tokens(post_text)}
    words = {
        word: (worths.get(place_of(word), 0.0), span)
        for word, span in word_spans(note)
        if is_of_manner(word) and stem(word) not in in_post
        if not any(start <= span.start < end for start, end in links)
    }
    ranked = sorted(words.items(), key=lambda item: item[1][0])
    against = [item for item in ranked[:_MOST_WORDS] if item[1][0] < 0]
    speaking_for = [item for item in reversed(ranked[-_MOST_WORDS:]) if item[1][0] > 0]
    return [
        Reason(f"{message}: {', '.join(f'“{word}”' for word, _ in named)}", _worth(named), named[0][1][1])
        for named, message in (
            (against, "notes with such words were rated lower"),
            (speaking_for, "notes with such words were rated higher"),
        )
        if named
    ]


def _worth(named: Sequence[tuple[str, tuple[float, Span]]]) -> float:
    return sum(worth for _, (worth, _) in named)


def _about_post(parts: Parts) -> Reason:
    """What lies in the post and its time, which no wording of the note can change."""
    own = sum(worth for name, worth in parts.features.items() if name.startswith(("post: ", "time: ")))
    worth = own + sum(parts.grams["post words"].values()) + parts.vectors.get("post", 0.0)
    return _either(
        worth, "notes under posts like this are often rated helpful", "notes under posts like this are seldom shown"
    )
