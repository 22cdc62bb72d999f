"""What a screen reader or the keyboard stumbles over: axe-core's rules, run in the page itself."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import DEFAULT_OPTIONS, Axe
from playwright.sync_api import Page

from tests.journeys.walk import rest

_GRAVE = {"serious", "critical"}
_CUT = 300
_WITHOUT_CONTRAST = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": False}}}


def serious_faults(page: Page, *, contrast: bool = True) -> list[str]:
    """What axe calls serious or critical: the rule, the element as HTML, its selector, and what is wrong with it.

    Without `contrast` in half the time: for a page of which `contrast.faint_words` sees more than axe does.
    """
    rest(page)
    options = DEFAULT_OPTIONS if contrast else _WITHOUT_CONTRAST
    return [
        f"{fault['id']}: {node['html'][:_CUT]} {node['target']} {node['failureSummary']}"
        for fault in Axe().run(page, options=options).response["violations"]
        if fault["impact"] in _GRAVE
        for node in fault["nodes"]
    ]
