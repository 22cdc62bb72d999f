"""Pages that answer 200 and still show only those who pay: what they say of themselves, and how little is left."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from crowdnotes.evidence.page_words import all_words

_TEASER = 2_000  # characters; what a paywalled page shows of itself
_SHORT_TEASER = 1_200  # the same where only an invitation to pay speaks for a paywall

# https://developers.google.com/search/docs/appearance/structured-data/paywalled-content
_FREE = "isAccessibleForFree"
_STATED = re.compile(rf"[\"']?{_FREE}[\"']?\s*:\s*[\"']?(?:https?://schema\.org/)?(true|false)", re.IGNORECASE)
# Items that stand for the site and its owner, not for the page.
_OF_THE_SITE = re.compile(r"WebSite|Organization|SearchAction|Person", re.IGNORECASE)
# The Open Graph mark of Facebook's paywall guide, and what publishers use in its place.
_TIERS = frozenset({"locked", "metered", "premium", "paid", "subscriber"})
_TIER_NAMES = frozenset({"article:content_tier", "content_tier", "cxenseparse:articletype"})
# What speaks of this very page: once is enough.
_INVITATION = re.compile(
    r"(?:subscribe|sign (?:up|in)|register|log ?in|become a (?:member|subscriber)|start your (?:free )?trial)"
    r" (?:now )?(?:to|and) (?:(?:continue|keep|finish|start) (?:reading|watching|listening|with)"
    r"|(?:continue|keep|finish|read|unlock|access|view|get)"
    r" (?:access to )?(?:this|the (?:full|whole|rest|entire|complete|article|story)"
    r"|full (?:access|article|text|story)))"
    r"|subscribe (?:now )?to continue"
    r"|(?:this|the) (?:article|story|content|page) is (?:only )?(?:for|reserved for|available to|exclusive to)"
    r" (?:our )?(?:paying |paid |registered )?(?:subscribers|members)"
    r"|to (?:continue|keep) reading,? (?:please )?(?:subscribe|log ?in|sign|register|create)"
    r"|already (?:a subscriber|subscribed|have a subscription)\s*\?"
    r"|you(?:'|’)?ve (?:reached|used) (?:your|all your)[^.]{0,40}(?:free )?(?:article|stor)"
    r"|dieser artikel ist (?:nur )?(?:für|mit)|jetzt (?:weiterlesen|abonnieren|freischalten)"
    r"|réservé (?:à nos|aux) abonnés|il vous reste \d+ ?% de cet article|contenido exclusivo para suscriptores"
    r"|suscríbete para (?:seguir|continuar)|riservato agli abbonati",
    re.IGNORECASE,
)
# What stands on public pages as well: two different ones are needed, or one and a text that breaks off.
_HINTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"already a member\s*\?",
        r"subscribe (?:now )?(?:to|and) (?:read|unlock|access|view|get)",
        r"unlock (?:this|the full|unlimited)",
        r"(?:buy|purchase|rent) (?:this )?(?:article|pdf|access)",
        r"(?:get|purchase|check) (?:full )?access (?:to (?:this|the full)|through your)",
        r"access through your institution",
    )
)
_BREAKS_OFF = ("…", "...")


def is_paywalled(tree: Any, html: str, text: str) -> bool:
    """Whether a page keeps most of its text from those who do not pay.

    `tree` and `html` are the page, `text` what can be read of it. A page that says it is not free but
    shows all of itself all the same was read. Menus and footers invite readers of every page: they are no sign.
    """
    if len(text) < _TEASER and (_says_not_free(tree, html) or _has_tier(tree)):
        return True
    if len(text) >= _SHORT_TEASER:
        return False
    words = " ".join(all_words(tree).split())
    if _INVITATION.search(words) is not None:
        return True
    signs = sum(hint.search(words) is not None for hint in _HINTS)
    return signs > 1 or (signs == 1 and text.rstrip().endswith(_BREAKS_OFF))


def _says_not_free(tree: Any, html: str) -> bool:
    """What the page's own items state, else whether "false" is all that is stated anywhere."""
    own = [_is_true(item[_FREE]) for item in _items(tree) if _FREE in item]
    if own:
        return not any(own)
    stated = {value.lower() for value in _STATED.findall(html)}
    for meta in tree.iter("meta"):
        if (meta.get("itemprop") or "").lower() == _FREE.lower():
            stated.add((meta.get("content") or "").strip().lower().rpartition("/")[2])
    return "false" in stated and "true" not in stated


def _is_true(value: object) -> bool:
    return str(value).strip().lower().rpartition("/")[2] != "false"


def _items(tree: Any) -> Iterator[dict[str, Any]]:
    """The outermost JSON-LD items of the page; items inside them are parts of it, or other pages."""
    for script in tree.iter("script"):
        if "ld+json" not in (script.get("type") or "").lower():
            continue
        try:
            found = json.loads(script.text or "")
        except (ValueError, RecursionError):
            continue  # broken JSON is still searched as text
        outer = found if isinstance(found, list) else [found]
        graphs = (item.get("@graph") for item in outer if isinstance(item, dict))
        inner = [item for graph in graphs if isinstance(graph, list) for item in graph]
        for item in (*outer, *inner):
            if isinstance(item, dict) and not _OF_THE_SITE.search(str(item.get("@type", ""))[:100]):
                yield item


def _has_tier(tree: Any) -> bool:
    for meta in tree.iter("meta"):
        name = (meta.get("property") or meta.get("name") or "").strip().lower()
        if name in _TIER_NAMES and (meta.get("content") or "").strip().lower() in _TIERS:
            return True
    return False
