// Single keys that press the page's own buttons, as long as nobody is typing. A held key counts once.

let control

export default function ({ data }) {
  control?.abort()
  control = new AbortController()
  const act = (event) => {
    const { key, target, repeat, ctrlKey, metaKey, altKey } = event
    const withCtrl = ctrlKey || metaKey
    const typing = target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true]")
    const selector = data.keys[withCtrl ? `ctrl+${key.toLowerCase()}` : key.toLowerCase()]
    if (!selector || repeat || altKey || (typing && !withCtrl) || document.querySelector('[role="dialog"]')) return
    const found = [...document.querySelectorAll(selector)].find((item) => !item.disabled)
    if (!found) return
    event.preventDefault()
    if (found.matches("textarea")) found.focus()
    else found.click()
  }
  addEventListener("keydown", act, { signal: control.signal })
}
