// Sends what is typed into a text area to the app when the typing pauses, so that what stands below it follows.

const IDLE_MS = 500
const watched = new WeakMap()

export default function ({ parentElement, data }) {
  const box = document.querySelector(`.st-key-${data.box}`)
  if (!box || watched.get(parentElement) === box) return
  watched.set(parentElement, box)
  const control = new AbortController()
  let timer = null
  box.addEventListener(
    "input",
    ({ target }) => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        const options = { key: "Enter", code: "Enter", ctrlKey: true, metaKey: true, bubbles: true, cancelable: true }
        target.dispatchEvent(new KeyboardEvent("keydown", options))
      }, IDLE_MS)
    },
    { signal: control.signal },
  )
  return () => {
    clearTimeout(timer)
    control.abort()
    watched.delete(parentElement)
  }
}
