// For screen readers. Says once what has just ended, in a region that stays when the page is drawn anew: they often skip
// a region that appears together with its words. Also corrects what they would read wrongly in Streamlit's own parts.

const KEPT = 5
const said = new Set()

function region() {
  const known = document.getElementById("announcements")
  if (known) return known
  const made = document.createElement("div")
  made.id = "announcements"
  made.role = "status"
  made.ariaAtomic = "false" // only what is new
  made.style.cssText = "position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%)"
  document.body.append(made)
  return made
}

// An icon among words is read by its file's name ("check_circle icon"); what it means is there in words.
const ICON = '[data-testid="stMarkdownContainer"] [role="img"][aria-label$=" icon"]'
// A field for files is given the role "presentation" and a name, which exclude each other.
const DROPZONE = '[data-testid="stFileUploaderDropzone"][role="presentation"]'

function mend(root) {
  for (const icon of root.querySelectorAll(ICON)) icon.ariaHidden = "true"
  for (const zone of root.querySelectorAll(DROPZONE)) zone.role = "group"
}

let observer

export default function ({ data }) {
  if (!observer) {
    mend(document)
    // Look from the parent: an icon that replaces another one is the added node itself.
    observer = new MutationObserver((changes) => new Set(changes.map(({ target }) => target)).forEach(mend))
    observer.observe(document.body, { childList: true, subtree: true })
  }
  const place = region()
  for (const { id, words } of data.said) {
    if (said.has(id)) continue
    said.add(id)
    const line = document.createElement("p")
    line.textContent = words
    place.append(line)
  }
  while (place.childElementCount > KEPT) place.firstElementChild.remove()
}
