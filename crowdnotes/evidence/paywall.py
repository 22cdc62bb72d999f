"""Pages that answer 200 and still show only those who pay: what they say of themselves, and how little is left."""

from __future__ import annotations

import re
from typing import Any

from crowdnotes.evidence.page_words import all_words

_TEASER = 2_000  # characters; what a paywalled page shows of itself
_SHORT_TEASER = 1_200  # the same where only an invitation to pay speaks for a paywall

# https://developers.google.com/search/docs/appearance/structured-data/paywalled-content
_NOT_FREE = re.compile(r"[\"']?isAccessibleForFree[\"']?\s*:\s*[\"']?(?:https?://schema\.org/)?false", re.IGNORECASE)
# The Open Graph mark of Facebook's paywall guide, and what publishers use in its place.
_TIERS = frozenset({"locked", "metered", "premium", "paid", "subscriber"})
_TIER_NAMES = frozenset({"article:content_tier", "content_tier", "cxenseparse:articletype"})
_INVITATION = re.compile(
    r"(?:subscribe|sign up|register|log ?in|become a (?:member|subscriber)|start your (?:free )?trial)"
    r" (?:now )?(?:to|and) (?:continue|keep|finish|read|unlock|access|view|get (?:full|unlimited) access)"
    r"|(?:this|the) (?:article|story|content|page) is (?:only )?(?:for|reserved for|available to|exclusive to)"
    r" (?:our )?(?:paying |paid |registered )?(?:subscribers|members)"
    r"|to (?:continue|keep) reading,? (?:please )?(?:subscribe|log ?in|sign|register|create)"
    r"|already (?:a subscriber|subscribed|have a subscription|a member)\s*\?"
    r"|you(?:'|’)?ve (?:reached|used) (?:your|all your)[^.]{0,40}(?:free )?(?:article|stor)"
    r"|unlock (?:this|the full|unlimited)|(?:buy|purchase|rent) (?:this )?(?:article|pdf|access)"
    r"|(?:get|purchase|check) (?:full )?access (?:to (?:this|the full)|through your)|access through your institution"
    r"|dieser artikel ist (?:nur )?(?:für|mit)|jetzt (?:weiterlesen|abonnieren|freischalten)"
    r"|réservé (?:à nos|aux) abonnés|il vous reste \d+ ?% de cet article|contenido exclusivo para suscriptores"
    r"|suscríbete para (?:seguir|continuar)|riservato agli abbonati",
    re.IGNORECASE,
)


def is_paywalled(tree: Any, html: str, text: str) -> bool:
    """Whether a page keeps most of its text from those who do not pay.

    `tree` and `html` are the page, `text` what can be read of it. A page that says it is not free but
    shows all of itself all the same was read.
    """
    if len(text) < _TEASER and (_NOT_FREE.search(html) or _says_so(tree)):
        return True
    return len(text) < _SHORT_TEASER and _INVITATION.search(" ".join(all_words(tree, around=True).split())) is not None


def _says_so(tree: Any) -> bool:
    for meta in tree.iter("meta"):
        name = (meta.get("property") or meta.get("name") or "").strip().lower()
        content = (meta.get("content") or "").strip().lower()
        if name in _TIER_NAMES and content in _TIERS:
            return True
        if (meta.get("itemprop") or "").lower() == "isaccessibleforfree" and content == "false":
            return True
    return False
