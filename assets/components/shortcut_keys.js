// Single keys that press the page's own buttons, as long as nobody is typing. A held key counts once.
// Escape leaves a field, so that they work again.

const WAITS_MS = 1000
const LOOKS_MS = 50
const TYPING_MS = 1000

let control
let brought = { item: null, at: 0 } // the button that a letter brought the keyboard to

// A fold that a key opened: the keyboard goes to its field, which comes later and may be drawn twice.
function enter(fold) {
  const until = performance.now() + WAITS_MS
  let goesOn = true
  const look = () => {
    const field = fold.querySelector("input[type=text]")
    if (field?.checkVisibility() && document.activeElement !== field) field.focus()
    if (goesOn && performance.now() < until) setTimeout(look, LOOKS_MS)
  }
  look()
  for (const act of ["keydown", "pointerdown"]) addEventListener(act, () => (goesOn = false), { once: true })
}

// A place that holds what was left, for the keyboard to be at.
function leave(field) {
  const place = field.closest('[class*="st-key-area-"], .st-key-ends') ?? document.querySelector('[data-testid="stMain"]')
  place.tabIndex = -1
  place.style.outline = "none"
  place.focus({ preventScroll: true })
}

export default function ({ parentElement, data }) {
  control?.abort()
  control = new AbortController()
  const act = (event) => {
    const { key, target, repeat, ctrlKey, metaKey, altKey } = event
    if (repeat || altKey || document.querySelector('[role="dialog"]')) return
    if (target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true]")) {
      if (key === "Escape" && !target.ariaExpanded) leave(target)
      return
    }
    // Whoever types without being in a field presses no button by the space after a letter. Enter does.
    if (key === " " && target === brought.item && performance.now() - brought.at < TYPING_MS) event.preventDefault()
    const selectors = data.keys[ctrlKey || metaKey ? `ctrl+${key.toLowerCase()}` : key.toLowerCase()] ?? []
    const items = selectors.flatMap((selector) => [...document.querySelectorAll(selector)])
    const found = items.find((item) => !item.disabled && item.checkVisibility())
    if (!found) return
    event.preventDefault()
    if (found.matches("textarea, [type=text]") || data.focused.includes(key.toLowerCase())) {
      found.focus()
      brought = { item: found, at: performance.now() }
    } else {
      if (found.ariaHasPopup) found.focus() // Escape closes it from there
      found.click()
      if (found.matches("summary")) enter(found.closest("details"))
    }
  }
  addEventListener("keydown", act, { signal: control.signal })
  parentElement.querySelector("span").dataset.listens = "" // what tests wait for
}
