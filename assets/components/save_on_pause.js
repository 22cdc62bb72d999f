// Stands behind unsaved_text.js. Sends what is typed into a text area to the app when the typing pauses, so that what
// stands below it follows. What was typed before a reload is put back into the box where that comes up empty.

const IDLE_MS = 500
const LOOKS_MS = 100
const WAITS_MS = 5000 // Streamlit draws the box, and may draw it anew, in the first seconds of a page
const watched = new WeakMap()
const met = new Set() // the boxes that this page was shown since it was loaded

function bringBack(data, control) {
  const kept = unsaved.read(data.box)
  if (!kept?.text || met.has(data.box)) return
  const since = performance.now()
  const look = () => {
    const textarea = document.querySelector(`.st-key-${data.box} textarea`)
    if (textarea && !textarea.value) putBack(textarea, kept.text)
    if (performance.now() - since > WAITS_MS) stop()
  }
  const looks = setInterval(look, LOOKS_MS)
  const stop = () => clearInterval(looks)
  // Never against the person's own hand.
  for (const act of ["keydown", "pointerdown"]) addEventListener(act, stop, { once: true, signal: control.signal })
  control.signal.addEventListener("abort", stop)
  look()
}

export default function ({ parentElement, data }) {
  const box = document.querySelector(`.st-key-${data.box}`)
  if (!box || watched.get(parentElement) === box) return
  watched.set(parentElement, box)
  const control = new AbortController()
  let timer = null
  box.addEventListener(
    "input",
    ({ target }) => {
      if (target.value) unsaved.keep(data.box, target.value)
      else unsaved.drop(data.box)
      clearTimeout(timer)
      timer = setTimeout(() => commit(target), IDLE_MS)
    },
    { signal: control.signal },
  )
  // Ctrl+Enter goes on: first what was typed just now is sent.
  box.addEventListener(
    "keydown",
    (event) => {
      if (!data.submit || !event.isTrusted || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      event.stopPropagation()
      clearTimeout(timer)
      commit(event.target)
      document.querySelector(`.st-key-${data.submit} button`)?.click()
    },
    { signal: control.signal, capture: true },
  )
  bringBack(data, control)
  met.add(data.box)
  return () => {
    clearTimeout(timer)
    control.abort()
    watched.delete(parentElement)
    // Left within the app: the case was begun, or the session keeps the words. A reload does not come here.
    setTimeout(() => document.querySelector(`.st-key-${data.box}`) || unsaved.drop(data.box), LOOKS_MS)
  }
}
