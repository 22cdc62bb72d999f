"""What a sentence of a note says otherwise than the passage that should carry it.

Each check returns the words of the note it is about, a sentence for a person, and how far the support falls. The kinds
are those of CrowdNotes+ 4.3: factual errors, exaggeration, selective framing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from crowdnotes.domain import Evidence, Span
from crowdnotes.engines.local.lexicon import medical_name
from crowdnotes.engines.local.polarity import (
    Difference,
    hedges_a_denial,
    negations,
    passage_stems,
    polarity_differences,
    second_verbs,
    split_units,
)
from crowdnotes.engines.local.tone import strength_differences
from crowdnotes.engines.local.topics import is_health_word
from crowdnotes.text.stems import ENGLISH_STOP_WORDS, Token, content_tokens, fold, stem, tokens

_ONES = dict(
    zip(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split(),
        range(20),
        strict=True,
    )
)
_TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
_SCALES = {
    "hundred": 1e2,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "k": 1e3,
    "m": 1e6,
    "bn": 1e9,
}
_MULTIPLES = {"half": 0.5, "twice": 2.0, "double": 2.0, "triple": 3.0}
_SPELLED = "|".join(sorted([*_ONES, *_TENS], key=len, reverse=True))
# 1,000 · 1 000 · 1.5 · 1950s · 12 (a digit group after a thin or plain space counts only in threes)
_NUMBER = re.compile(
    rf"(?<![\w.,])(?<![A-Za-z]-)(?P<digits>\d{{1,3}}(?:[,\u00a0\u202f ]\d{{3}})+(?:\.\d+)?|"
    rf"\d{{1,3}}(?:\.\d{{3}}){{2,}}(?:,\d+)?(?!\d)|\d+(?:\.\d+)?|\.\d+)"
    rf"(?P<ordinal>st|nd|rd|th)?(?P<scale_letter>[kKmM]|bn)?(?![\d])"
    rf"|\b(?P<words>(?:{_SPELLED})(?:[- ](?:{_SPELLED}))?)\b"
    rf"|\b(?P<scale_alone>hundreds|thousands|millions|billions|half|twice|double|triple)\b",
    re.IGNORECASE,
)
_POINTED = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_AFTER = re.compile(
    r"[\s-]*(?:(?P<scale>hundred|thousand|million|billion|trillion)\b)?[\s-]*(?P<unit>%|percent\b|per cent\b|"
    r"°\s?[CF]|[^\W\d_]+)?",
    re.IGNORECASE,
)
_UNITS = {
    "percent": "%",
    "mg": "mg", "milligram": "mg", "milligrams": "mg", "g": "g", "gram": "g", "grams": "g", "kg": "kg", "mcg": "mcg",
    "microgram": "mcg", "micrograms": "mcg", "ml": "ml", "year": "year", "years": "year", "yr": "year", "yrs": "year",
    "month": "month", "months": "month", "week": "week", "weeks": "week", "day": "day", "days": "day", "hour": "hour",
    "hours": "hour", "minute": "minute", "minutes": "minute", "times": "times", "fold": "times",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number at text[start:end]; `unit` is normalised, or "" where nothing is counted.

    `or_value` is its value if its point marks the thousands: "320.000" is 320, or 320,000.
    """

    value: float
    unit: str
    text: str
    start: int
    end: int
    or_value: float | None = None

    def agrees_with(self, other: Quantity) -> bool:
        """Same value, as either may be read, and the same unit wherever both have a measuring unit."""
        same = _same(self.value, other.value) or _same(self.or_value, other.value) or _same(self.value, other.or_value)
        measured = self.unit in _MEASURES and other.unit in _MEASURES
        return same and (not measured or self.unit == other.unit)


def _same(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= 1e-9 * max(1.0, abs(one))


_MEASURES = frozenset(_UNITS.values()) | {"%"}


def quantities(text: str) -> list[Quantity]:
    """All numbers of a text, in order, spelled or in digits; "one" counts only before a scale or a unit."""
    found: list[Quantity] = []
    for match in _NUMBER.finditer(text):
        value = _value(match)
        after = _AFTER.match(text, match.end())
        scale, unit_text = (after["scale"], after["unit"]) if after else (None, None)
        if scale:
            value *= _SCALES[scale.lower()]
        unit = _unit(unit_text)
        if match.group().lower() == "one" and not scale and unit not in _MEASURES:
            continue
        end = match.end()
        if after and scale:
            end = after.end("scale")
        if after and unit in _MEASURES:
            end = after.end("unit")
        if not unit and found and _is_range(text[found[-1].end : match.start()]):
            unit = found[-1].unit
        # Never of what is measured: 1.250 mg are not 1,250 mg.
        pointed = unit not in _MEASURES and _POINTED.fullmatch(match["digits"] or "") is not None
        or_value = value * 1_000 if pointed else None
        found.append(Quantity(value, unit, text[match.start() : end], match.start(), end, or_value))
    return _with_range_units(text, found)


def _value(match: re.Match[str]) -> float:
    if match["digits"]:
        digits = match["digits"]
        if digits.count(".") > 1:  # 1.320.000,5
            digits = digits.replace(".", "").replace(",", ".")
        value = float(re.sub(r"[,\u00a0\u202f ]", "", digits))
        return value * _SCALES.get((match["scale_letter"] or "").lower(), 1.0)
    if match["scale_alone"]:
        word = match["scale_alone"].lower()
        return _MULTIPLES[word] if word in _MULTIPLES else _SCALES[word.rstrip("s")]
    parts = re.split(r"[- ]", match["words"].lower())
    return float(sum(_ONES.get(part, _TENS.get(part, 0)) for part in parts))


def _unit(text: str | None) -> str:
    if not text:
        return ""
    if text == "%" or text.lower() == "per cent":
        return "%"
    folded = fold(text)
    if folded in _UNITS:
        return _UNITS[folded]
    return "" if folded in ENGLISH_STOP_WORDS else stem(folded)


def _is_range(between: str) -> bool:
    return bool(re.fullmatch(r"\s*(?:-|–|—|to|and|or)\s*", between, re.IGNORECASE))


def _with_range_units(text: str, found: list[Quantity]) -> list[Quantity]:
    """In "7 to 10 days" the 7 counts days too."""
    out = list(found)
    for index in range(len(out) - 2, -1, -1):
        here, after = out[index], out[index + 1]
        if after.unit in _MEASURES and here.unit not in _MEASURES and _is_range(text[here.end : after.start]):
            out[index] = replace(here, unit=after.unit)
    return out


_MORE = re.compile(r"\b(?:more|higher|greater|larger|better|safer|\w{3,}ier|oftener)\b", re.IGNORECASE)
_LESS = re.compile(r"\b(?:less|fewer|lower|smaller|worse|rarer)\b", re.IGNORECASE)
_THAN = re.compile(r"\bthan\s+(?:in |among |with |for |by |to )?(?:the |an? )?", re.IGNORECASE)
_STOP = re.compile(r"[.;:!?]")
_JOINED = re.compile(r"\b(?:to|against|than)\b")
_REACH = 8


def swap_differences(sentence: str, passage: str) -> list[Difference]:
    """What stands on the wrong side of a comparison or of a change, at the words of the sentence."""
    return [*_compared(sentence, passage), *_changed(sentence, passage)]


def _compared(sentence: str, passage: str) -> list[Difference]:
    """Finds “women … more often than men”, where the passage has men before "than" and women after it."""
    theirs = [_sides(passage, match) for match in _THAN.finditer(passage)]
    for match in _THAN.finditer(sentence):
        before, after, more = _sides(sentence, match)
        for other_before, other_after, other_more in theirs:
            if after is None or other_after is None or not before or more is None or more != other_more:
                continue
            swapped = after.stem != other_after.stem and {after.stem} <= {t.stem for t in other_before}
            if swapped and other_after.stem in {token.stem for token in before}:
                message = f"The passage compares the other way round: “than {other_after.text}”."
                return [Difference("swap", message, Span(start=match.start(), end=after.end), 0.45)]
    return []


def _sides(text: str, than: re.Match[str]) -> tuple[list[Token], Token | None, bool | None]:
    """The words before a "than" in its clause, the first after it, and whether it says more (None: neither)."""
    start = max((stop.end() for stop in _STOP.finditer(text, 0, than.start())), default=0)
    tokens = content_tokens(text)
    before = [token for token in tokens if start <= token.start < than.start()][-_REACH:]
    after = next((token for token in tokens if token.start >= than.end()), None)
    clause = text[start : than.start()]
    more, less = bool(_MORE.search(clause)), bool(_LESS.search(clause))
    return before, after, more if more != less else None


def _changed(sentence: str, passage: str) -> list[Difference]:
    """Finds “from 310 to 120” where the passage goes from 120 to 310, or “12 percent … against 21” likewise."""
    mine, theirs = quantities(sentence), [(number.value, number.unit) for number in quantities(passage)]
    pairs = set(pairwise(theirs))
    for first, second in pairwise(mine):
        joined = _JOINED.search(sentence, first.end, second.start)
        if first.value == second.value or first.unit != second.unit or joined is None:
            continue
        here, there = (first.value, first.unit), (second.value, second.unit)
        if (there, here) in pairs and (here, there) not in pairs:
            message = f"The passage has these numbers the other way round: “{second.text}”, then “{first.text}”."
            return [Difference("swap", message, Span(start=first.start, end=second.end), 0.45)]
    return []


_MOST = 3
# Of the domain, yet said of everything in it: another word for them is no difference.
_GENERIC = frozenset(
    stem(word)
    for word in "birth cell clinical condition cure diagnosis diet disability disease doctor dose drug fatal "
    "gene genetic health hospital immune immunity infection medicine mortality nutrient organ patient physician sleep "
    "supplement surgery symptom syndrome therapy treatment wellness pregnancy pharma calcium-rich meds medicines "
    "children".split()
)


def term_differences(sentence: str, carrier: str, passage: str) -> list[Difference]:
    """Named or medical terms of the sentence that occur nowhere in the passage."""
    known = passage_stems(passage) | passage_stems(carrier)
    shouted = sentence.isupper()
    initials = _initials(passage)
    found = []
    for token in content_tokens(sentence):
        if _is_known(token, known, initials) or not _is_specific(token, sentence, shouted=shouted):
            continue
        message = f"The passage does not mention “{token.text}”."
        found.append(Difference("entity", message, Span(start=token.start, end=token.end), 0.6))
    return found[:_MOST]


def _is_specific(token: Token, sentence: str, *, shouted: bool) -> bool:
    """A name, an abbreviation or a medical term; the first word's capital says nothing."""
    if is_health_word(token):
        return token.stem not in _GENERIC
    if token.text.isupper() and len(token.text) > 1 and not shouted:
        return True
    return (
        token.text[0].isupper()
        and token.start > 0
        and sentence[max(0, token.start - 20) : token.start].rstrip()[-1:] not in ('"', "“", ":", ".")
    )


def _is_known(token: Token, known: frozenset[str], initials: set[str]) -> bool:
    if token.stem in known or token.folded in initials:
        return True
    parts = token.folded.replace("-", " ").split()
    if len(parts) > 1 and all(stem(part) in known for part in parts if len(part) > 2):
        return True
    medical = medical_name(token.folded)
    if medical and all(stem(part) in known for part in medical.split()):
        return True
    # "hypertension" / "hypertensive", "allergy" / "allergic": one long common beginning is one term.
    return len(token.stem) >= 6 and any(other[:6] == token.stem[:6] for other in known)


def _initials(passage: str) -> set[str]:
    """Abbreviations that the passage's own words could stand for: "human papillomavirus virus" gives "hpv"."""
    words = [word.strip("().,;:") for word in passage.split()]
    letters = "".join(word[0].lower() if word else " " for word in words)
    return {letters[i : i + size] for size in (2, 3, 4, 5) for i in range(len(letters) - size + 1)}


_SAME_WORDS = 0.6  # share of the sentence's words that a clause must hold to speak of the same thing
_AGREES = 0.1  # a clause that says it as the note does, and is at most this much further off, settles it
_FEWEST_WORDS = 2
_SCOPE = 3  # words after "not" that it may be about
_SHORT = 4  # a sentence of fewer words must be there whole: sharing most of it is chance
_CLAUSE = re.compile(
    r"[;:()]|,\s+(?:and|but|although|though|while|whereas|yet)\b|\b(?:but|although|whereas)\b", re.IGNORECASE
)
# A note packs more into a sentence: what a relative clause or a second "and" adds is compared on its own.
# Not at a colon: "False: …" denies what follows.
_NOTE_CLAUSE = re.compile(
    r"[;()]|,\s+(?:and|but|although|though|while|whereas|yet)\b|\b(?:but|although|whereas)\b|,\s+(?=(?:which|who|so|or)\b)",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:unless|until|without|except|only if|neither)\b", re.IGNORECASE)
_CARRIES_NO_MEANING = frozenset(
    "a an the of to and or in on at by for with that this it its is are was were be been being do does did has have had"
    " not no never none neither nor nobody nothing cannot can without any all".split()
)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The clause that says the opposite, at evidence.passage.text[span]."""

    evidence: Evidence
    span: Span
    text: str


def find_contradiction(sentence: str, evidence: Sequence[Evidence]) -> Contradiction | None:
    """The clause nearest in words to one of the sentence's, if it denies what that says, or the reverse.

    None when a clause about as near says it as the sentence does, or when either side denies without
    saying "not" ("unlikely", "a myth", "unless"): that is left to `polarity`.
    """
    best: tuple[float, Contradiction] | None = None
    for span in _cut(sentence, 0, len(sentence), _NOTE_CLAUSE):
        found = _denied(sentence[span.start : span.end], sentence, evidence)
        if found is not None and (best is None or found[0] > best[0]):
            best = found
    return best[1] if best is not None else None


def _denied(words: str, sentence: str, evidence: Sequence[Evidence]) -> tuple[float, Contradiction] | None:
    """The nearest clause of the passages that says the opposite of these words, with the share of them it holds.

    What one side denies and the other's whole sentence denies too is said alike, in whichever clause it stands.
    """
    wanted = _words(words)
    if len(wanted) < _FEWEST_WORDS or hedges_a_denial(words) or _CONDITION.search(words):
        return None
    denied = len(negations(words))
    agrees = 0.0
    best: tuple[float, Contradiction] | None = None
    for item in evidence:
        for whole, span in _clauses(item.passage.text):
            clause = item.passage.text[span.start : span.end]
            share = len(wanted & _words(clause)) / len(wanted)
            if share < (_SAME_WORDS if len(wanted) >= _SHORT else 1.0) or hedges_a_denial(clause):
                continue
            other = len(negations(clause))
            if denied > 1 or other > 1 or _CONDITION.search(clause):
                agrees = max(agrees, share)  # "not … without": nobody can count that
            elif denied == other or _is_denied_in(words if denied else clause, whole if denied else sentence):
                agrees = max(agrees, share)
            elif (best is None or share > best[0]) and _denies(words if denied else clause, wanted & _words(clause)):
                best = (share, Contradiction(item, span, clause))
    return best if best is not None and best[0] > agrees + _AGREES else None


def _denies(text: str, shared: set[str]) -> bool:
    """Whether what a "not" of the text denies, the words after it or the one before, is what both sides speak of."""
    words = [(token.start, stem(token.folded)) for token in tokens(text) if token.folded not in _CARRIES_NO_MEANING]
    for cue in negations(text):
        after = [word for start, word in words if start >= cue.end()][:_SCOPE]
        before = [word for start, word in words if start < cue.start()][-1:]
        if shared & {*after, *before}:
            return True
    return False


def _is_denied_in(clause: str, sentence: str) -> bool:
    """Whether the other side's sentence denies all that a clause does."""
    denied = _denied_words(clause)
    return bool(denied) and denied <= _denied_words(sentence)


def _denied_words(text: str) -> set[str]:
    """The stem of the word that each "not" stands before."""
    words = [(token.start, stem(token.folded)) for token in tokens(text) if token.folded not in _CARRIES_NO_MEANING]
    return {word for cue in negations(text) for word in [word for start, word in words if start >= cue.end()][:1]}


def is_question(text: str) -> bool:
    """Whether a piece asks: it then carries no statement."""
    return text.rstrip("\"'”’) ").endswith("?")


def _words(text: str) -> set[str]:
    return {
        stem(token.folded)
        for token in tokens(text)
        if token.folded not in _CARRIES_NO_MEANING and not token.folded.endswith("n't")
    }


def _clauses(passage: str) -> list[tuple[str, Span]]:
    """The clauses of the passage's statements, each with its whole statement; a question says nothing either way."""
    return [
        (unit.text, span)
        for unit in split_units(passage)
        if not is_question(unit.text)
        for span in _cut(passage, unit.span.start, unit.span.end, _CLAUSE)
    ]


def _cut(text: str, start: int, end: int, at: re.Pattern[str]) -> list[Span]:
    pieces: list[Span] = []
    joints = [joint for joint in second_verbs(text) if start <= joint.start() < end]
    for cut in sorted([*at.finditer(text, start, end), *joints], key=lambda cut: cut.start()):
        if cut.start() < start:
            continue
        pieces.append(Span(start=start, end=cut.start()))
        start = cut.end()
    return [*pieces, Span(start=start, end=end)]


_SAME = 0.8  # cosine of two wordings of one statement
_HELD = 0.75  # share of the sentence's content words that the claim holds already
_REPORTED = re.compile(
    r"\b(?:claim|warning|rumou?r|post|message|video|story|meme)s?\b[^.;]{0,80}\b(?:shared|circulat\w+|spread\w*|"
    r"going (?:a?round|viral)|viral|passed (?:on|around)|says? that|claims? that|doing the rounds)\b|"
    r"\b(?:has|have) been shared\b|\bpeople (?:claim|say)\b",
    re.IGNORECASE,
)
_QUALIFIES = re.compile(
    r"\b(?:false\w*|untrue|myth\w*|hoax|joke|satir\w+|parody|misleading|incorrect|wrong|baseless|unproven|unfounded|"
    r"debunk\w*|but|however|although|though|only|unless|except|instead|rather|unlikely|rare\w*|safe(?:ly)?|harmless|"
    r"no evidence|limited to|below|under|fewer|less)\b",
    re.IGNORECASE,
)
_HEDGES = re.compile(r"\b(?:may|might|could|can|some|sometimes|possibl\w+|suggest\w*|unclear)\b", re.IGNORECASE)


def repeats(sentence: str, claim: str, cosine: float) -> bool:
    """Whether a sentence only says the claim again, or that it is going round.

    It does not when it denies or limits what the claim says, hedges it, or gives another figure.
    """
    if _answers(sentence, claim):
        return False
    if _REPORTED.search(sentence):
        return True
    stems = {token.stem for token in content_tokens(sentence)}
    held = len(stems & {token.stem for token in content_tokens(claim)}) / len(stems) if stems else 0.0
    return cosine >= _SAME or held >= _HELD


def corrects(sentence: str) -> bool:
    """Whether a sentence sets something right or limits it by its own words: "a myth", "only", "harmless"."""
    return _QUALIFIES.search(sentence) is not None


def _answers(sentence: str, claim: str) -> bool:
    if bool(negations(sentence)) != bool(negations(claim)):
        return True
    if any(pattern.search(sentence) and not pattern.search(claim) for pattern in (_QUALIFIES, _HEDGES)):
        return True
    known = quantities(claim)
    return any(not any(number.agrees_with(other) for other in known) for number in quantities(sentence))


@dataclass(frozen=True, slots=True)
class Compared:
    """The two sides: a sentence of the note, the piece that carries it, and all the passage."""

    sentence: str
    carrier: str
    passage: str


def differences(sides: Compared) -> list[Difference]:
    """All differences, most serious first. Offsets are in `sides.sentence`."""
    if not content_tokens(sides.sentence):  # "95%." has no words that could be denied or overstated
        return _number_differences(sides)
    found = [
        *_number_differences(sides),
        *polarity_differences(sides.sentence, sides.carrier, sides.passage),
        *strength_differences(sides.sentence, sides.carrier, sides.passage),
        *term_differences(sides.sentence, sides.carrier, sides.passage),
        *swap_differences(sides.sentence, sides.passage),
    ]
    return sorted(found, key=lambda difference: (difference.factor, difference.span.start))


_MOST_NUMBERS = 40  # of a sentence; each is compared with all of the passage


def _number_differences(sides: Compared) -> list[Difference]:
    """Numbers of the note that the passage does not hold, or holds for another unit.

    The whole passage is searched: a number may stand a sentence before the one that carries the rest.
    """
    in_carrier = quantities(sides.carrier)
    in_passage = quantities(sides.passage)
    found = []
    for number in quantities(sides.sentence)[:_MOST_NUMBERS]:
        if any(number.agrees_with(other) for other in _comparable(number, in_carrier)):
            continue
        elsewhere = any(number.agrees_with(other) for other in _comparable(number, in_passage))
        counterpart = _counterpart(number, in_carrier) or _counterpart(number, in_passage)
        if elsewhere and not _counterpart(number, in_carrier):
            continue
        span = Span(start=number.start, end=number.end)
        if counterpart is not None:
            message = f"The note says “{number.text}”, the passage says “{counterpart.text}”."
        elif elsewhere:
            message = f"The passage says “{number.text}” of something else."
        else:
            message = f"The number “{number.text}” is not in the passage."
        found.append(Difference("number", message, span, 0.6 if elsewhere else 0.45))
    return found


def _comparable(number: Quantity, others: list[Quantity]) -> list[Quantity]:
    """Of several numbers those in the same unit, if there are any: 3 years is not "three drinks"."""
    same = [other for other in others if other.unit == number.unit]
    return same if same and number.unit else others


def _counterpart(number: Quantity, others: list[Quantity]) -> Quantity | None:
    """The passage's number that counts the same thing, or else the only one there is."""
    same_unit = [other for other in others if other.unit == number.unit and number.unit]
    same_value = [other for other in others if other.value == number.value]
    pool = same_value or same_unit or (others if len(others) == 1 else [])
    return min(pool, key=lambda other: abs(other.value - number.value)) if pool else None
