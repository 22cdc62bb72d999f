"""What a screen reader, the keyboard or a finger stumbles over: axe-core's rules and sizes, in the page itself."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.journeys.walk import rest

_CUT = 300
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Of faint words `contrast.faint_words` sees more than axe, in a tenth of the time.
_OPTIONS = {
    "resultTypes": ["violations"],
    "runOnly": {"type": "tag", "values": _TAGS},
    "rules": {"color-contrast": {"enabled": False}},
}
# Links within a sentence may be as small as its letters. What one ticks or slides is as large as its label or its rail.
_SMALL = """
() => {
  const small = []
  const visit = (root) => {
    for (const target of root.querySelectorAll("*")) {
      if (target.shadowRoot) visit(target.shadowRoot)
      const isTarget = target.matches("a[href], button, input, textarea, summary, [role=spinbutton], [role=tab]")
      if (!isTarget || target.disabled || !target.checkVisibility({ visibilityProperty: true })) continue
      const unseen = "[data-testid=stSkipToContent]:not(:focus), input[type=file]"
      if (target.matches(unseen)) continue
      if (target.matches("a") && getComputedStyle(target).display === "inline") continue
      const around = target.matches("input") && target.closest("label, [data-testid=stSlider] [role=group]")
      const drawn = around || target
      const { width, height } = drawn.getBoundingClientRect()
      const name = (target.ariaLabel || target.innerText || "").trim().slice(0, 60)
      const size = `${width.toFixed()}x${height.toFixed()}`
      if (width && Math.min(width, height) < 23.9) small.push(`${size} ${target.tagName} ${name}`)
    }
  }
  visit(document)
  return [...new Set(small)]
}
"""


def axe_faults(page: Page) -> list[str]:
    """All that axe finds by WCAG 2.2 AA and good practice: the rule, the element as HTML, its selector, what is wrong.

    But for contrast: see `contrast.faint_words`.
    """
    rest(page)
    return [
        f"{fault['id']}: {node['html'][:_CUT]} {node['target']} {node['failureSummary']}"
        for fault in Axe().run(page, options=_OPTIONS).response["violations"]
        for node in fault["nodes"]
    ]


def small_targets(page: Page) -> list[str]:
    """What can be pressed and is less than 24 CSS pixels wide or high."""
    rest(page)
    found: list[str] = page.evaluate(_SMALL)
    return found
