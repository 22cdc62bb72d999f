"""What a screen reader or the keyboard stumbles over: axe-core's rules, run in the page itself.

Without its rule on contrast, which takes as long as all others together: `contrast.faint_words` sees more of it.
"""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_GRAVE = {"serious", "critical"}
_CUT = 300
_OPTIONS = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": False}}}


def serious_faults(page: Page) -> list[str]:
    """What axe calls serious or critical: the rule, the element as HTML, its selector, and what is wrong with it."""
    return [
        f"{fault['id']}: {node['html'][:_CUT]} {node['target']} {node['failureSummary']}"
        for fault in Axe().run(page, options=_OPTIONS).response["violations"]
        if fault["impact"] in _GRAVE
        for node in fault["nodes"]
    ]
