// Stands before note_counter.js and save_on_pause.js: what is typed and not saved yet is kept by this tab of the browser,
// so that a reload puts it back. `over` are the saved texts that it was typed over, or that were sent since: over any
// other text, which is newer, it never goes by itself.

const unsaved = {
  read(place) {
    try {
      return JSON.parse(sessionStorage.getItem(`unsaved ${place}`))
    } catch {
      return null // not ours, or the browser keeps nothing
    }
  },
  keep(place, text, ...over) {
    const known = this.read(place)?.over ?? []
    try {
      sessionStorage.setItem(`unsaved ${place}`, JSON.stringify({ text, over: [...new Set([...known, ...over])].slice(-20) }))
    } catch {
      // The browser keeps nothing: then the pause alone saves.
    }
  },
  drop(place) {
    try {
      sessionStorage.removeItem(`unsaved ${place}`)
    } catch {
      // It kept nothing.
    }
  },
}

// Streamlit's own keys for a text area: its value goes to the app now.
function commit(textarea) {
  const options = { key: "Enter", code: "Enter", ctrlKey: true, metaKey: true, bubbles: true, cancelable: true }
  textarea.dispatchEvent(new KeyboardEvent("keydown", options))
}

// As if the person had typed it: React looks at the value through its own setter.
function putBack(textarea, text) {
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(textarea, text)
  textarea.dispatchEvent(new Event("input", { bubbles: true }))
}
