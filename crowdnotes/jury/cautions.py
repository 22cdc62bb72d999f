"""What makes a verdict weaker than the model's measured quality says, in sentences."""

from __future__ import annotations

import re
import unicodedata

from crowdnotes.errors import InputError
from crowdnotes.settings import JurySettings
from crowdnotes.text.languages import language_of
from crowdnotes.text.note_rules import NOTE_LIMIT, note_length, without_urls

_SURE_LANGUAGE_LETTERS = 40  # shorter texts are often taken for another language
_LATIN_SHARE = 0.5
_HOSTILE = re.compile(
    r"\b(?:idiots?|morons?|stupid|libtards?|retard\w*|scum|trash|garbage|clowns?|grifters?|bigots?|nazis?|"
    r"shut up|dumb\w*|pathetic|disgusting|f[u*]ck\w*|sh[i*]t\w*|kill yourself)\b",
    re.IGNORECASE,
)


def check_note(text: str, settings: JurySettings) -> None:
    """Raise InputError when there is nothing to read, or far too much."""
    if not text.strip():
        raise InputError("There is no note for the jury to read.", "Write the note first.")
    if len(text) > settings.max_characters:
        raise InputError(
            f"The note has {len(text):,} characters; a note has {NOTE_LIMIT}.", "Shorten it, then ask the jury."
        )
    if not any(character.isalnum() for character in without_urls(text)):
        raise InputError("The note has links or marks but no words.", "Say in a sentence what the link shows.")


def is_unfamiliar(familiar: float, settings: JurySettings) -> bool:
    """Whether a text is so unlike all that the model learned from that its numbers mean nothing; see `cautions`."""
    return familiar < settings.familiar_words


def cautions(note: str, settings: JurySettings, *, vectors: bool, familiar: float) -> tuple[str, ...]:
    """Sentences about one note; none for an ordinary one.

    familiar: the share of its words and pairs of words that the model knows (`JuryModel.familiarity`).
    """
    words = {word.lower() for word in without_urls(note).split()}
    found = []
    if is_unfamiliar(familiar, settings):
        found.append(
            f"The text is unlike the notes that the jury learned from (it knows {familiar:.0%} of its words and pairs "
            "of words): its numbers mean nothing here."
        )
    if len(words) < settings.short_words:
        found.append(
            f"The note has only {len(words)} different word{'s' * (len(words) != 1)}: the jury has little to go by."
        )
    length = note_length(note)
    if length > NOTE_LIMIT:
        found.append(f"The note counts {length} of {NOTE_LIMIT} characters: X would not take it as it is.")
    language = _foreign(note)
    if language:
        found.append(f"The jury learned from English notes and this one seems to be {language}: take it as a guess.")
    hostile = _HOSTILE.search(without_urls(note))
    if hostile:
        found.append(
            f'Words such as "{hostile.group()}" break X\'s rules for notes, and raters mark them down more than '
            "the model knows."
        )
    if not vectors:
        found.append("The jury read words and links only: the embedding model that it was trained with is not in use.")
    return tuple(found)


def _foreign(note: str) -> str:
    """The language in words when it is most likely not English, else nothing."""
    letters = [character for character in without_urls(note) if character.isalpha()]
    if not letters:
        return ""
    latin = sum("LATIN" in unicodedata.name(character, "") for character in letters)
    if latin < len(letters) * _LATIN_SHARE:
        return "in another script"
    if len(letters) < _SURE_LANGUAGE_LETTERS:
        return ""
    code = language_of(note)
    return "" if code in (None, "en") else f"in another language ({code})"
