"""Turn one note's juries into its verdict: votes, status, a plain sentence, influences and cautions.

Which words and sentences move the two sides is found by reading the note again without each of them.

The sentence says no more than the simulation knows: where chance alone decides on which side of the line a note
lands, or the model sees no more in it than in any note, it says that in the place of what the votes look like.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from crowdnotes.bridging.model import NoteSignals, Side
from crowdnotes.bridging.rules import decide
from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.domain import (
    Influence,
    Interval,
    JuryVerdict,
    NoteChange,
    RuleWord,
    SideVotes,
    Span,
    in_100,
    text_sha256,
)
from crowdnotes.domain.assessment import SIDES_DIFFER_FROM
from crowdnotes.engines.local import tone
from crowdnotes.engines.local.trained_models import linked_hosts
from crowdnotes.errors import InputError
from crowdnotes.jury.raters import Floats
from crowdnotes.jury.votes import Votes
from crowdnotes.settings_sections import JurySettings
from crowdnotes.text.languages import language_of
from crowdnotes.text.note_rules import NOTE_LIMIT, find_urls, note_length, without_urls
from crowdnotes.text.sentences import split_sentences
from crowdnotes.wording import plural

_MIN_MOSTLY_HELPFUL = 0.6  # mean rating from which a side "would mostly find it helpful"
_MAX_SELDOM_HELPFUL = 0.4
_MIN_DIVIDED_GAP = 0.35  # sides that differ by more are called divided, whatever else is said of the note
_MIN_NAMED_EFFECT = 0.02
# The chance that a note divides the sides, about its share among all notes that the model learned from (0.43).
_AVERAGE_NOTE_RANGE = (0.3, 0.6)


def like_any_note(splits: float | None) -> bool:
    """Return whether the note is like an average one to the model; False where it gives no chance that it divides."""
    return splits is not None and _AVERAGE_NOTE_RANGE[0] <= splits <= _AVERAGE_NOTE_RANGE[1]


def plain_sentence(
    negative: SideVotes,
    positive: SideVotes,
    influences: Sequence[Influence],
    *,
    interval: Interval,
    line: float,
    splits: float | None,
    chance: float | None = None,
) -> str:
    """For instance: "Both sides would mostly find this note helpful; people on side A less often".

    interval: of the note intercept over repeated juries. line: the intercept that shows a note.
    splits: the model's chance that the note divides the sides, None where it has none. chance: that X shows it.
    """
    low, high = negative.mean, positive.mean
    if low is None or high is None:
        alone = negative if high is None else positive
        would = _describe_likelihood(alone.mean or 0.0)
        return f"These simulated readers are only {alone.people}. They {would} find this note helpful."
    harsher = positive if low >= high else negative
    differ = abs(low - high) >= SIDES_DIFFER_FROM
    because = _name_costliest_word(harsher, influences) if differ else ""
    less = f"; {harsher.people} would find it helpful less often{because}" if differ else ""
    if chance is not None and abs(low - high) < _MIN_DIVIDED_GAP:
        return f"X shows about {in_100(chance)} in 100 notes like this, of those on which it decides{less}."
    if chance is None and interval.low < line <= interval.high:
        return f"Too close to call: with some simulated readers X would show this note, with others not{less}."
    if chance is None and like_any_note(splits):
        return f"To simulated readers this is an average note{less}."
    return _describe_votes(negative if harsher is positive else positive, harsher, interval.high < line, less, because)


def _with_capital(people: str) -> str:
    return f"{people[0].upper()}{people[1:]}"  # str.capitalize would make side A side a


def _describe_votes(kinder: SideVotes, harsher: SideVotes, under_the_line: bool, less: str, because: str) -> str:
    top, bottom = kinder.mean or 0.0, harsher.mean or 0.0
    if bottom >= _MIN_MOSTLY_HELPFUL:
        if under_the_line:
            return f"The words favour neither side, but do not show whether people find it helpful{less}."
        return f"Both sides would mostly find this note helpful{less}."
    if top < _MAX_SELDOM_HELPFUL:
        return "Neither side would find this note helpful."
    if top >= _MIN_MOSTLY_HELPFUL:
        kind = _with_capital(kinder.people)
        return f"{kind} would mostly find this note helpful; {harsher.people} {_describe_likelihood(bottom)}{because}."
    return f"Neither side would mostly find it helpful{less}." if less else "Each side is divided over this note."


def _describe_likelihood(mean: float) -> str:
    if mean >= _MIN_MOSTLY_HELPFUL:
        return "would mostly"
    return "would seldom" if mean < _MAX_SELDOM_HELPFUL else "would about half the time"


def _name_costliest_word(harsher: SideVotes, influences: Sequence[Influence]) -> str:
    """Return the word that costs the harsher side most, if one does."""

    def cost(found: Influence) -> float:
        return found.on_negative if harsher.side == "−" else found.on_positive

    words = [found for found in influences if not found.whole_sentence and cost(found) <= -_MIN_NAMED_EFFECT]
    if not words:
        return ""
    named = min(words, key=cost).words
    if named.startswith(("http://", "https://")):
        return f", most of all because of the link to {named.split('/')[2]}"
    return f', most of all because of "{named}"'


_MAX_NOTE_CHARACTERS = 10_000  # a note has 280; a longer text is a mistake
_MIN_WORDS = 5  # fewer carry a caution: the model has seen few such notes
_MIN_LANGUAGE_LETTERS = 40  # shorter texts are often taken for another language
_MIN_LATIN_SHARE = 0.5
_HOSTILE_WORD = re.compile(
    r"\b(?:idiots?|morons?|stupid|libtards?|retard\w*|scum|trash|garbage|clowns?|grifters?|bigots?|nazis?|"
    r"shut up|dumb\w*|pathetic|disgusting|f[u*]ck\w*|sh[i*]t\w*|kill yourself)\b",
    re.IGNORECASE,
)


def check_note(text: str) -> None:
    """Raise InputError when there is nothing to read, or far too much."""
    if not text.strip():
        raise InputError("There is no note.", "Write the note first.")
    if len(text) > _MAX_NOTE_CHARACTERS:
        raise InputError(f"The note has {len(text):,} characters, and X takes {NOTE_LIMIT}.", "Shorten it.")
    if not any(character.isalnum() for character in without_urls(text)):
        raise InputError("The note has no words.", "Say in a sentence what the link shows.")


def is_unfamiliar(familiar: float, settings: JurySettings) -> bool:
    """Return whether a text is too unlike all that the model learned from for its numbers; see `cautions`."""
    return familiar < settings.familiar_words


def cautions(note: str, settings: JurySettings, *, vectors: bool, familiar: float) -> tuple[str, ...]:
    """Sentences about one note; none for an ordinary one.

    familiar: the share of its words and pairs of words that the model knows (`JuryModel.familiarity`).
    """
    words = {word.lower() for word in without_urls(note).split()}
    found = []
    if is_unfamiliar(familiar, settings):
        found.append(
            f"This text is unlike the notes that simulated readers learned from (they know {familiar:.0%} of the words "
            "and word pairs), so their numbers mean nothing here."
        )
    if len(words) < _MIN_WORDS:
        found.append(
            plural(
                len(words),
                "With only 1 different word simulated readers have little to go by.",
                "With only {n} different words simulated readers have little to go by.",
            )
        )
    length = note_length(note)
    if length > NOTE_LIMIT:
        found.append(f"Too long for X: {length} of {NOTE_LIMIT} characters.")
    language = _describe_foreign_language(note)
    if language:
        found.append(f"A guess: simulated readers learned from English notes, and this one seems to be {language}.")
    hostile = _HOSTILE_WORD.search(without_urls(note))
    if hostile:
        found.append(
            f'Words such as "{hostile.group()}" break X\'s rules. Raters mark them down more than simulated readers do.'
        )
    if not vectors:
        found.append(
            "Simulated readers read only words and links: the embedding model they were trained with is not in use."
        )
    return tuple(found)


def _describe_foreign_language(note: str) -> str:
    """Name the language when it is most likely not English; else ""."""
    letters = [character for character in without_urls(note) if character.isalpha()]
    if not letters:
        return ""
    latin = sum("LATIN" in unicodedata.name(character, "") for character in letters)
    if latin < len(letters) * _MIN_LATIN_SHARE:
        return "in another script"
    if len(letters) < _MIN_LANGUAGE_LETTERS:
        return ""
    code = language_of(note)
    return "" if code in (None, "en") else f"in another language ({code})"


_MIN_NOTICED_CHANGE = 0.01  # of the intercept; less is shown as no change


def changes(before: JuryVerdict, after: JuryVerdict) -> tuple[str, ...]:
    """Return the sentences, of two verdicts of one jury."""
    found = []
    moved = after.note_intercept - before.note_intercept
    if abs(moved) >= _MIN_NOTICED_CHANGE:
        was, now = before.note_intercept, after.note_intercept
        found.append(
            f"The simulated score rose from {was:.2f} to {now:.2f}."
            if moved > 0
            else f"The simulated score fell from {was:.2f} to {now:.2f}."
        )
    if before.outlook != after.outlook:
        found.append(f"{before.outlook.capitalize()} before, {after.outlook} now.")
    for old, new in ((before.negative, after.negative), (before.positive, after.positive)):
        were, are = old.of_100[0], new.of_100[0]
        if were != are:
            found.append(f"{_with_capital(new.people)}: {were} of 100 found it helpful before, {are} now.")
    return tuple(found) or ("Simulated readers see no difference.",)


_WORD_PATTERN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_MAX_WORDS = 120  # a note of 280 characters has about 50
_MAX_INFLUENCES = 6
_MIN_INFLUENCE = 0.01  # of chance; less is noise


Shares = Callable[[Sequence[str]], Floats]  # each side's share of "helpful" of some texts, − then +: (n, 2)


def influences(note: str, by_words: Shares, afresh: Shares) -> tuple[Influence, ...]:
    """Return the words, links and sentences that move a side most, strongest first.

    by_words: of variants that are read without a new meaning vector, for one a word would take seconds.
    afresh: of variants that are read as a whole.
    """
    words = _split_words_and_links(note)[:_MAX_WORDS]
    sentences = [span for span in split_sentences(note) if span not in words]  # a link alone is a piece already
    sentences = sentences if len(sentences) > 1 else []
    shorter = by_words([note, *(_remove_span(note, span) for span in words)])
    rest = afresh([_remove_span(note, span) for span in sentences]) if sentences else np.zeros((0, 2))
    word_effects, sentence_effects = shorter[0] - shorter[1:], shorter[0] - rest
    return (
        *_select_strongest(note, sentences, sentence_effects, whole_sentence=True),
        *_select_strongest(note, words, word_effects, whole_sentence=False),
    )


def _split_words_and_links(note: str) -> list[Span]:
    """Words and whole links, in order."""
    links = [Span(start=url.start, end=url.end) for url in find_urls(note)]
    words = [Span(start=match.start(), end=match.end()) for match in _WORD_PATTERN.finditer(note)]
    outside = [word for word in words if not any(link.start <= word.start < link.end for link in links)]
    return sorted((*links, *outside), key=lambda span: span.start)


def _remove_span(note: str, span: Span) -> str:
    return f"{note[: span.start].rstrip(' ')} {note[span.end :].lstrip(' ')}"


def _select_strongest(note: str, spans: Sequence[Span], effects: Floats, *, whole_sentence: bool) -> list[Influence]:
    size = np.abs(effects).max(axis=1) if len(spans) else np.zeros(0)
    order = [int(row) for row in np.argsort(-size, kind="stable")[:_MAX_INFLUENCES] if size[row] >= _MIN_INFLUENCE]
    return [
        Influence(
            span=spans[row],
            words=note[spans[row].start : spans[row].end],
            on_negative=round(float(effects[row, 0]), 4),
            on_positive=round(float(effects[row, 1]), 4),
            whole_sentence=whole_sentence,
        )
        for row in order
    ]


_ANOTHER_LINK = " https://example.org/"  # of a host that the head does not know: what any second source does
_MAX_HOSTS = 3
Chances = Callable[[Sequence[str]], Floats]  # that X shows each of some texts (n,)


def best_change(note: str, chance: float, chances: Chances) -> NoteChange | None:
    """Return what a person can do to the note that raises the chance most, where it shows in steps of five of 100.

    Of its sources and its manner alone: a fact that readers like less is no reason to leave it out. Of 864 rated health
    notes those with two sites were shown in 69 of 100, those with one in 40; with a question in none.
    """
    variants = list(_list_variants(note))
    if not variants:
        return None
    found = chances([text for _, text in variants])
    best = int(np.argmax(found))
    if in_100(float(found[best])) <= in_100(chance):
        return None
    return NoteChange(what=variants[best][0], chance_of_shown=float(found[best]))


def _list_variants(note: str) -> Iterator[tuple[str, str]]:
    hosts = len(set(linked_hosts(note)))
    if hosts < _MAX_HOSTS and note_length(note) + 2 <= NOTE_LIMIT:
        yield ("A link to another source" if hosts else "A link to a source"), note + _ANOTHER_LINK
    for what, spans in (
        ("Plain words in the place of {words}", tone.loaded_words(note)),
        ("To leave out guesses such as {words}", tone.speculative_words(note)),
        ("To leave out {words}", tone.first_person(note)),
    ):
        if spans:
            yield what.format(words=_quote_spans(note, spans)), _replace_spans(note, spans, lambda _: "")
    if loud := tone.shouting(note):
        calm = _replace_spans(note, loud, lambda words: words.lower().strip("!\"“”'‘’") or ".")
        yield f"Calm letters and marks in the place of {_quote_spans(note, loud)}", calm
    if asked := tone.questions(note):
        yield "A statement in the place of the question", _replace_spans(note, asked, lambda _: ".")


def _quote_spans(note: str, spans: Sequence[Span]) -> str:
    words = dict.fromkeys(note[span.start : span.end] for span in spans)
    return ", ".join(f"“{word}”" for word in list(words)[:_MAX_QUOTED_WORDS])


_MAX_QUOTED_WORDS = 3


def _replace_spans(note: str, spans: Sequence[Span], replace: Callable[[str], str]) -> str:
    parts, at = [], 0
    for span in spans:
        if span.start >= at:  # an insult is a loaded word too
            parts += [note[at : span.start], replace(note[span.start : span.end])]
            at = span.end
    return re.sub(r" {2,}", " ", "".join([*parts, note[at:]])).strip()


def verdict_of(
    text: str,
    post: str | None,
    juries: Sequence[Votes],
    *,
    splits: float | None,
    chance_of_shown: float | None,
    influences: tuple[Influence, ...],
    **given: Any,
) -> JuryVerdict:
    """juries: of this note alone; the first is shown, all make the intervals. given: further fields."""
    shown = juries[0]
    negative, positive = side_votes(shown)
    status = decide(_build_note_signals(shown), THRESHOLDS)
    interval = _compute_interval([float(jury.intercepts[0]) for jury in juries])
    return JuryVerdict(
        text_sha256=text_sha256(text),
        post_sha256=None if post is None else text_sha256(post),
        jurors=len(shown.jurors),
        note_intercept=float(shown.intercepts[0]),
        intercept_interval=interval,
        note_factor=float(shown.factors[0]),
        factor_interval=_compute_interval([float(jury.factors[0]) for jury in juries]),
        helpful_line=THRESHOLDS.helpful_intercept,
        status=status.status.value,
        decided_by=RuleWord(rule=status.decided_by.value, reason=status.reason),
        blocked_by=tuple(RuleWord(rule=said.rule.value, reason=said.reason) for said in status.blocked_by),
        not_applied=tuple(f"{said.rule.value} (needs {said.missing})" for said in status.not_applied),
        negative=negative,
        positive=positive,
        splits=splits,
        chance_of_shown=chance_of_shown,
        influences=influences,
        sentence=plain_sentence(
            negative,
            positive,
            influences,
            interval=interval,
            line=THRESHOLDS.helpful_intercept,
            splits=splits,
            chance=chance_of_shown,
        ),
        **given,
    )


def side_votes(outcome: Votes) -> tuple[SideVotes, SideVotes]:
    """Return how side − (factor below 0) and side + rated the outcome's one note."""
    positive = outcome.jurors.factors >= 0
    sides = []
    for name, of in (("−", ~positive), ("+", positive)):
        helpful, somewhat, not_helpful = (int((outcome.ratings[0][of] == level).sum()) for level in (1, 0.5, 0))
        sides.append(SideVotes(side=name, helpful=helpful, somewhat_helpful=somewhat, not_helpful=not_helpful))
    return sides[0], sides[1]


def _build_note_signals(outcome: Votes) -> NoteSignals:
    """Return what the status rules may know of a note that only simulated jurors rated: no tags, no history."""
    negative, positive = side_votes(outcome)
    return NoteSignals(
        note_id="draft",
        ratings=len(outcome.jurors),
        intercept=float(outcome.intercepts[0]),
        factor=float(outcome.factors[0]),
        negative=_convert_side(negative),
        positive=_convert_side(positive),
        misleading=True,  # only such notes are ever shown, and only such are written here
        upper_bound=float(outcome.upper_bounds[0]),
        was_helpful=False,
    )


def _convert_side(votes: SideVotes) -> Side:
    mean = votes.mean
    return Side(votes.jurors, float("nan") if mean is None else mean, votes.helpful - votes.not_helpful)


def _compute_interval(values: list[float]) -> Interval:
    """Return the middle 90 %."""
    low, high = np.quantile(values, (0.05, 0.95))
    return Interval(low=float(low), high=float(high))
