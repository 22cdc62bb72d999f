"""Words that raters object to: loaded, insulting, speculative, shouting. With their places in the note.

The lexicons follow the not-helpful tags of Community Notes: argumentative or biased language,
opinion or speculation, typos or unclear language, harassment or abuse.
"""

from __future__ import annotations

import re

from crowdnotes.domain import Span
from crowdnotes.text.note_rules import find_urls

LOADED = re.compile(
    r"\b(?:propaganda|fear[- ]?monger\w*|scaremonger\w*|disgusting|shameful|shame|outrageous|ridiculous|"
    r"absurd|nonsense|"
    r"garbage|trash|bullshit|bs|rubbish|crap|lies|lied|liar\w*|hoax\w*|scam\w*|fraud\w*|grift\w*|"
    r"shill\w*|cult|agenda|"
    r"narrative|woke|extremist\w*|corrupt\w*|evil|sinister|brainwash\w*|sheep|sheeple|ignorant|"
    r"ignorance|hateful|"
    r"bigot\w*|racist\w*|transphob\w*|delusion\w*|hysteri\w+|conspiracy theorist\w*|anti-?vaxx?er\w*|"
    r"so-called|blatant\w*|"
    r"utter(?:ly)?|desperate|pathetic|laughable|clickbait|rage ?bait|engagement farming|cherry[- ]?pick\w*|"
    r"disinformation|"
    r"regurgitat\w*|spew\w*|peddl\w*|murder\w*|genocide|genocidal|butcher\w*|mutilat\w*|groom\w*|dishonest\w*|"
    r"deceptive|deceitful)\b",
    re.IGNORECASE,
)
INSULTS = re.compile(
    r"\b(?:idiot\w*|moron\w*|stupid\w*|dumb\w*|fool\w*|clown\w*|imbecile\w*|loser\w*|quack\w*|nutjob\w*|"
    r"nutter(?:ly)?|crank\w*|"
    r"crazy|insane|lunatic\w*|psycho\w*|jerk\w*|scum\w*|troll\w*|hypocrit\w*|coward\w*|shut up|get a life|"
    r"f+u+c+k\w*|sh[i1]t\w*|ass(?:hole)?s?|damn\w*)\b",
    re.IGNORECASE,
)
_PSYCHO = re.compile(r"psycho(?:log|ther|sis|tic|act|soc|som|met|trop|pharm)\w*", re.IGNORECASE)
SPECULATION = re.compile(
    r"\b(?:i (?:think|believe|feel|guess|suspect|doubt|know|hope)|in my (?:opinion|view)|imo|imho|we (?:all )?know|"
    r"everyone knows|probably|presumably|maybe|perhaps|obviously|clearly|of course|surely|undoubtedly|no "
    r"doubt|apparently|"
    r"it seems|seems to|must be|should be (?:ashamed|banned|fired|arrested)|would (?:likely|probably)|hopefully|"
    r"sadly|unfortunately|frankly|honestly|trying to|wants? (?:you )?to|intend\w* to|deliberate\w*|"
    r"intentional\w*|on purpose)\b",
    re.IGNORECASE,
)
FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i'd|my|mine|me|we|we're|our|us)\b", re.IGNORECASE)
_US = re.compile(r"\bUS\b")
SECOND_PERSON = re.compile(r"\b(?:you|your|you're|yours)\b", re.IGNORECASE)
ABOUT_NOTES = re.compile(
    r"\b(?:nnn|note not needed|no note needed|notes? (?:is|are) not (?:for|needed)|community notes?|other "
    r"notes?|the notes? (?:above|below)|op)\b",
    re.IGNORECASE,
)
BARE_VERDICT = re.compile(
    r"^\W*(?:(?:this|the|that|it) ?(?:post|claim|tweet|statement|is)?\s*(?:is|are)?\s*)?"
    r"(?:simply |completely |just |totally |"
    r"utterly |absolutely )?"
    r"(?:false|fake|misleading|untrue|wrong|incorrect|a lie|lies|not true|misinformation|nonsense|fake news|"
    r"satire|a joke|no|nope|not so)\W*$",
    re.IGNORECASE,
)
_SCARE_QUOTES = re.compile(
    r"[\"“](?:expert|science|scientist|doctor|fact|news|vaccine|study|research|truth|journalist)s?[\"”]",
    re.IGNORECASE,
)
_SHOUT = re.compile(
    r"\b[A-Z]{4,}\b(?:\s+[A-Z]{2,}\b)+|\b(?:NOT|NEVER|ALL|LIE|LIES|FALSE|FAKE|TRUE|WRONG|NO|STOP|ZERO|REAL|"
    r"MUST)\b(?!-)"
)
_EXCLAIM = re.compile(r"!+|\?{2,}")


def loaded_words(note: str) -> list[Span]:
    """Loaded words and insults outside URLs, in order."""
    return sorted({*matches(LOADED, note), *insults(note)}, key=lambda span: (span.start, span.end))


def insults(note: str) -> list[Span]:
    """Insults and swear words outside URLs, in order."""
    return _outside_urls(note, [m for m in INSULTS.finditer(note) if not _PSYCHO.match(m.group())])


def shouting(note: str) -> list[Span]:
    """Exclamation marks, words in capitals for force, and scare quotes."""
    return _outside_urls(note, [*_EXCLAIM.finditer(note), *_SHOUT.finditer(note), *_SCARE_QUOTES.finditer(note)])


def speculative_words(note: str) -> list[Span]:
    """Opinion, speculation about facts or motives, and words that stand in for proof."""
    return _outside_urls(note, list(SPECULATION.finditer(note)))


def first_person(note: str) -> list[Span]:
    """The words "I", "we" and "our", but not the United States."""
    return _outside_urls(note, [m for m in FIRST_PERSON.finditer(note) if not _US.match(m.group())])


def matches(pattern: re.Pattern[str], note: str) -> list[Span]:
    """Where a pattern occurs outside URLs."""
    return _outside_urls(note, list(pattern.finditer(note)))


def questions(note: str) -> list[Span]:
    """Question marks outside URLs: a note states, it does not ask."""
    return _outside_urls(note, list(re.finditer(r"[?؟？]", note)))


def _outside_urls(note: str, found: list[re.Match[str]]) -> list[Span]:
    urls = [(url.start, url.end) for url in find_urls(note)]
    spans = {match.span() for match in found if not any(a <= match.start() < b for a, b in urls)}
    return [Span(start=start, end=end) for start, end in sorted(spans)]
