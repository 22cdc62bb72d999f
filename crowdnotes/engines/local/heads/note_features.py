"""What can be counted in a note alone, each with a name: the interpretable half of the trained heads.

They follow the criteria that raters tick (communitynotes.x.com/guide): sources, clarity, neutral words,
no opinion, and what readers can use.
"""

from __future__ import annotations

import html
import math
import re

from crowdnotes.engines.local import tone
from crowdnotes.engines.local.heads.link_kinds import LinkKind, is_of_kind, linked_hosts
from crowdnotes.engines.local.polarity import negations
from crowdnotes.engines.local.tone import reading
from crowdnotes.text.note_rules import find_urls, note_length, without_urls
from crowdnotes.text.stems import content_tokens, tokens

_MOST = 10.0  # counts above it say no more
_COUNTED: dict[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "no evidence": r"\bno (?:\w+ )?evidence",
        "attribution": r"\b(?:according to|study|studies|research|found|data|trial|review|report\w*|analysis|"
        r"experts?)\b",
        "verdict": r"\b(?:false|misleading|debunked|incorrect|inaccurate|untrue|myth|hoax|fake|misinformation|"
        r"disinformation|misrepresent\w*|wrong)\b",
        "speaks of the post": r"\b(?:post|tweet|claims?|video|image|photo|article|headline|author|user)\b",
        "satire": r"\b(?:satire|satirical|parody|joke)\b",
        "hedges": r"\b(?:may|might|could|can|some|likely|often|usually)\b",
        "not needed": r"\bnnn\b|not needed|\bopinions?\b",
        "emphasis": r"\b(?:very|really|just|only|simply|actually|clearly|however|but|while|although)\b",
        "they": r"\b(?:they|them|their)\b",
        "we": r"\b(?:we|our|us)\b",
        "plain denial": r"\b(?:does|do|did|is|are|was|were|has|have) not\b|\bcannot\b",
        "contractions": r"n['’]t\b",
        "source label": r"\bsources?\s*:",
        "percent": r"%|\bper ?cent\b",
        "numbers": r"\d[\d,.]*",
        "quotation": r"[\"“][^\"”]{15,}[\"”]",
        "quotation marks": r"[\"“”]",
        "vaccines": r"\bvaccin|\bvax|\bcovid|\bmrna|\bpfizer",
    }.items()
}
_CAPITALS = re.compile(r"\b[A-Z]{3,}\b")
_STOP = re.compile(r"[.!?](?:\s|$)")
_SLUG = re.compile(r"[a-z]{4,}")


def note_features(note: str) -> dict[str, float]:
    """Each feature by name; a note as posted, with its URLs. The keys are the same for every note."""
    text = html.unescape(note)
    words = without_urls(text)
    return {**_link_features(note, text), **_form_features(note, text, words), **_tone_features(text, words)}


def _link_features(note: str, text: str) -> dict[str, float]:
    hosts = linked_hosts(note)
    urls = [url.url.lower() for url in find_urls(text) if url.has_scheme]
    found: dict[str, float] = {
        "no link": float(not hosts),
        "links": min(_MOST, len(hosts)),
        "sites": min(_MOST, len(set(hosts))),
        "social links alone": float(bool(hosts) and all(is_of_kind(host, LinkKind.SOCIAL) for host in hosts)),
        "link to a start page": float(any(url.rstrip("/").count("/") <= 2 for url in urls)),
        "dated link": float(any(re.search(r"/20[12]\d", url) for url in urls)),
        "pdf link": float(any("pdf" in url for url in urls)),
        "link length": sum(len(url) for url in urls) / len(urls) if urls else 0.0,
        "words in links": sum(len(set(_SLUG.findall(url))) for url in urls) / len(urls) if urls else 0.0,
    }
    for kind in LinkKind:
        found[f"{kind.value} link"] = float(any(is_of_kind(host, kind) for host in hosts))
    return found


def _form_features(note: str, text: str, words: str) -> dict[str, float]:
    all_words = tokens(words)
    content = content_tokens(words)
    read = reading(words)
    length = note_length(text)
    count = max(1, len(all_words))
    return {
        "characters": float(min(len(words), 1_000)),
        "log characters": math.log1p(len(words)),
        "short": float(len(words) < 80),
        "full": float(length > 265),
        "over the limit": float(length > 281),
        "content words": float(min(80, len(content))),
        "word length": sum(len(token.text) for token in all_words) / count,
        "different words": len({token.folded for token in all_words}) / count,
        "reading ease": 0.0 if read.ease is None else min(120.0, max(-50.0, read.ease)),
        "longest sentence": float(min(60, read.longest_words)),
        "sentences": min(_MOST, len(_STOP.findall(words))),
        "paragraphs": float(note.count("  ") > 1 or text.count("\n") > 1),
        "commas": 100.0 * words.count(",") / max(1, len(words)),
        "brackets": float("(" in words),
        "begins in lower case": float(words[:1].islower()),
        "begins with this or the": float(bool(re.match(r"\W*(?:this|the)\b", words, re.IGNORECASE))),
        "adverbs": sum(token.folded.endswith("ly") for token in all_words) / count,
        "past tense": sum(token.folded.endswith("ed") for token in all_words) / count,
        "other scripts": sum(not mark.isascii() for mark in words) / max(1, len(words)),
    }


def _tone_features(text: str, words: str) -> dict[str, float]:
    found: dict[str, float] = {name: min(_MOST, len(p.findall(words))) for name, p in _COUNTED.items()}
    return found | {
        "loaded words": min(_MOST, len(tone.loaded_words(text))),
        "speculation": min(_MOST, len(tone.speculative_words(text))),
        "first person": min(_MOST, len(tone.first_person(text))),
        "second person": min(_MOST, len(tone.matches(tone.SECOND_PERSON, text))),
        "about notes": float(bool(tone.matches(tone.ABOUT_NOTES, text))),
        "shouting": min(_MOST, len(tone.shouting(text))),
        "exclamation marks": min(_MOST, words.count("!")),
        "questions": min(_MOST, len(tone.questions(text))),
        "capitals": min(_MOST, len(_CAPITALS.findall(words))),
        "negations": min(_MOST, len(negations(words))),
    }
