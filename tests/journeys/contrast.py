"""Which words and edges on a page are too faint: the contrast that a browser really shows, shadow roots included."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as TookTooLong

from tests.journeys.walk import rest

Scheme = Literal["dark", "light"]
_REDRAWN_MS = 5_000
# Streamlit draws the page anew for the other background: once it has, and nothing moves, its colours are what is read.
_HAS_BACKGROUND = """
(scheme) => {
  const app = document.querySelector("[data-testid=stApp]")
  const [red] = getComputedStyle(app).backgroundColor.match(/[\\d.]+/g).map(Number)
  return (red < 128) === (scheme === "dark") && document.getAnimations().every((moves) => moves.playState !== "running")
}
"""

_COLOURS = """
  const parse = (said) => {
    const [r, g, b, a = 1] = said.match(/[\\d.]+/g).map(Number)
    const whole = said.startsWith("color(srgb") ? 255 : 1  // a mixed colour is told from 0 to 1
    return { r: r * whole, g: g * whole, b: b * whole, a }
  }
  const over = (top, below) => {
    const mix = (one, other) => one * top.a + other * (1 - top.a)
    return { r: mix(top.r, below.r), g: mix(top.g, below.g), b: mix(top.b, below.b), a: 1 }
  }
  const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)
  const luminance = ({ r, g, b }) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
  const ratioOf = (...colours) => {
    const [light, dark] = colours.map(luminance).sort((one, other) => other - one)
    return (light + 0.05) / (dark + 0.05)
  }
  const above = (node) => (node.parentNode instanceof ShadowRoot ? node.parentNode.host : node.parentElement)
  const layersOf = (element) => {
    const layers = []
    let opacity = 1
    for (let node = element; node; node = above(node)) {
      const layer = parse(getComputedStyle(node).backgroundColor)
      opacity *= Number(getComputedStyle(node).opacity)
      if (layer.a > 0) layers.push(layer)
      if (layer.a === 1) break
    }
    const white = { r: 255, g: 255, b: 255, a: 1 }
    return { opacity, behind: layers.reverse().reduce((below, layer) => over(layer, below), white) }
  }
"""

_FAINT_WORDS = """
(charts) => {
  COLOURS
  const bar = (box) => {
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
    return [...document.querySelectorAll(".bars path")].find((path) => {
      const at = path.getBoundingClientRect()
      return at.left <= x && x <= at.right && at.top <= y && y <= at.bottom
    })
  }
  const fillOf = (path) => {
    const fill = getComputedStyle(path).fill
    const hatched = fill.match(/url\\("?(#[^")]+)/)  // the colour under the lines
    return hatched ? getComputedStyle(document.querySelector(`${hatched[1]} rect`)).fill : fill
  }
  const faint = []
  const visit = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) visit(element.shadowRoot)
      const words = [...element.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim())
      const box = element.getBoundingClientRect()
      const style = getComputedStyle(element)
      const isOfAChart = element instanceof SVGElement || !/[\\p{L}\\p{N}]/u.test(element.textContent)
      if (element.closest(".js-plotly-plot, [data-testid=stSlider]") || (!charts && isOfAChart)) continue
      const isIcon = style.fontFamily.includes("Material Symbols")
      if (!words.length || box.width <= 1 || isIcon || element.matches("style, script, title")) continue
      if (style.visibility === "hidden" || element.closest("[disabled], [aria-disabled=true]")) continue
      let { opacity, behind } = layersOf(element)
      const isDrawn = element instanceof SVGElement
      const under = isDrawn ? bar(box) : null
      if (under) behind = parse(fillOf(under))
      const ink = parse(isDrawn ? style.fill : style.color)
      const ratio = ratioOf(over({ ...ink, a: ink.a * opacity }, behind), behind)
      const isLarge = parseFloat(style.fontSize) >= 24 || !/[\\p{L}\\p{N}]/u.test(element.textContent)
      if (ratio < (isLarge ? 3 : 4.5)) faint.push(`${ratio.toFixed(2)} ${element.textContent.trim().slice(0, 60)}`)
    }
  }
  visit(document)
  return [...new Set(faint)]
}
""".replace("COLOURS", _COLOURS)

# The frame of a field stands around it; a box to tick and a switch are drawn beside the input that is not seen.
_FAINT_EDGES = """
() => {
  COLOURS
  const frameOf = (control) => {
    if (control.matches("input[type=checkbox]")) return control.closest("label")?.querySelector(":scope > span + div")
    for (let node = control, far = 0; node && far < 4; node = above(node), far += 1)
      if (parseFloat(getComputedStyle(node).borderTopWidth) > 0) return node
  }
  const faint = []
  const visit = (root) => {
    for (const control of root.querySelectorAll("*")) {
      if (control.shadowRoot) visit(control.shadowRoot)
      const isField = control.matches("textarea, input:not([type=range], [type=radio], [type=file])")
      if (!control.matches("button, a[kind]") && !isField) continue
      if (control.disabled || !control.checkVisibility()) continue
      const frame = isField ? frameOf(control) : control
      if (!frame?.getBoundingClientRect().width) continue
      const style = getComputedStyle(frame)
      const beside = layersOf(above(frame)).behind
      const edge = parseFloat(style.borderTopWidth) > 0 ? parse(style.borderTopColor) : { a: 0 }
      if (!isField && !edge.a) continue  // a button of words alone
      const drawn = [edge, parse(style.backgroundColor)].filter(({ a }) => a > 0)
      const ratio = Math.max(1, ...drawn.map((colour) => ratioOf(over(colour, beside), beside)))
      const name = (control.ariaLabel || control.innerText || control.type).trim().slice(0, 60)
      if (ratio < 3) faint.push(`${ratio.toFixed(2)} ${control.tagName} ${name}`)
    }
  }
  visit(document)
  return [...new Set(faint)]
}
""".replace("COLOURS", _COLOURS)


def faint_words(page: Page, *, charts: bool = True) -> list[str]:
    """Words under 4.5 to 1, large ones and signs under 3, as WCAG 2.2 AA asks.

    Icons, what is disabled, the numbers of a slider (most are not shown) and Plotly's charts are left out; without
    `charts` our own too, and the signs that explain them.
    """
    return _found(page, _FAINT_WORDS, charts)


def _found(page: Page, measure: str, argument: bool = False) -> list[str]:
    rest(page)
    with suppress(TookTooLong):  # what is being redrawn is faint for a moment
        page.wait_for_function(f"(argument) => !({measure})(argument).length", arg=argument, timeout=_REDRAWN_MS)
    found: list[str] = page.evaluate(measure, argument)
    return found


def faint_edges(page: Page) -> list[str]:
    """Fields, boxes to tick and framed buttons whose edge and fill are under 3 to 1 to what is beside them."""
    return _found(page, _FAINT_EDGES)


def faint_on_either(page: Page, schemes: tuple[Scheme, ...] = ("dark", "light")) -> list[str]:
    """What is too faint on any of these backgrounds; the page is left on the last."""
    found = []
    for scheme in schemes:
        turned_to(page, scheme)
        found += [f"{scheme}: {words}" for words in faint_words(page)]
    return found


def turned_to(page: Page, scheme: Scheme) -> None:
    """Show the page on that background. A chart takes its colours with the next run only."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(_HAS_BACKGROUND, arg=scheme)
