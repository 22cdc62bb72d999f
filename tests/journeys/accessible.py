"""What a screen reader or the keyboard stumbles over: axe-core's rules, run in the page itself."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_GRAVE = {"serious", "critical"}
# Streamlit draws these itself and lets no app change them: the rule, and a part of the selector that axe tells.
_NOT_OURS: tuple[tuple[str, str], ...] = ()


def serious_faults(page: Page) -> list[str]:
    """The faults that axe calls serious or critical, each with its rule, the element, and what is wrong with it."""
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {_place(node)} {node['failureSummary']}"
        for fault in found
        if fault["impact"] in _GRAVE
        for node in fault["nodes"]
        if not any(fault["id"] == rule and part in _place(node) for rule, part in _NOT_OURS)
    ]


def _place(node: dict[str, object]) -> str:
    """The element as HTML, cut, and the selector by which axe names it."""
    return f"{str(node['html'])[:300]} {node['target']}"
