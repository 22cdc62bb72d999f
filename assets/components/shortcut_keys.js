// Single keys that press the page's own buttons, as long as nobody is typing. A held key counts once.
// Escape leaves a field, so that they work again.

let control

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
    const selectors = data.keys[ctrlKey || metaKey ? `ctrl+${key.toLowerCase()}` : key.toLowerCase()] ?? []
    const items = selectors.flatMap((selector) => [...document.querySelectorAll(selector)])
    const found = items.find((item) => !item.disabled && item.checkVisibility())
    if (!found) return
    event.preventDefault()
    if (found.matches("textarea, [type=text]") || data.focused.includes(key.toLowerCase())) found.focus()
    else {
      if (found.ariaHasPopup) found.focus() // Escape closes it from there
      found.click()
    }
  }
  addEventListener("keydown", act, { signal: control.signal })
  parentElement.querySelector("span").dataset.listens = "" // what tests wait for
}
