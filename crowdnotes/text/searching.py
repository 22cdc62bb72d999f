"""What a person types into a search, and the one form in which it is compared with what is searched."""

from __future__ import annotations

import re
import unicodedata

_ACCENTS = re.compile("[\u0300-\u036f]")  # of Latin, Greek and Cyrillic letters; other scripts' marks are letters
_SAME = str.maketrans("’‘ʼ“”„«»", '\'\'\'"""""')
_PARTS = re.compile(r'"([^"]*)"|([^\s"]+)')


def folded(text: str) -> str:
    """`text` for searching: without case and accents, one form of each character and quotation mark, single spaces."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(unicodedata.normalize("NFC", _ACCENTS.sub("", plain)).translate(_SAME).split())


def search_parts(search: str) -> list[str]:
    """The words of a search, and as one each what stands in quotation marks, all `folded`; each once."""
    found = (phrase.strip() or word for phrase, word in _PARTS.findall(folded(search)))
    return [part for part in dict.fromkeys(found) if part]
