// Brings the place where it stands into view, once for each token: what the person is waiting for must be seen.
// The keyboard goes there too when what it was on is gone, as a button that folded its own step away.

const SETTLES_MS = 2500
const LOOKS_MS = 100
const BELOW = 270 // pixels below the place that come into view with it
const MARGIN = 48
const DESK = "(min-width: 56.25rem) and (min-height: 34rem)" // as in page.css
const done = new Set()

export default function ({ parentElement, data }) {
  if (!data.token || done.has(data.token)) return
  done.add(data.token)
  const place = parentElement.host ?? parentElement
  place.style.display = "block"
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches
  place.tabIndex = -1
  place.style.outline = "none"
  place.role = "group"
  place.ariaLabel = data.name || null
  // What the keyboard was on goes only when the page has been drawn to its end; until then it is kept around the place.
  const takeKeyboard = () => {
    if (document.activeElement !== place && document.activeElement?.contains(place)) place.focus({ preventScroll: true })
  }
  const pane = place.closest(".st-key-sources-pane, .st-key-note-pane")
  const reader = place.closest(".st-key-reader, .st-key-validate-passage")
  const come = () => {
    const isDesk = matchMedia(DESK).matches
    const isPane = isDesk && pane
    const texts = [...(reader?.querySelectorAll("*") ?? [])].map((item) => item.shadowRoot)
    const mark = isDesk && texts.map((text) => text?.querySelector("mark")).find(Boolean)
    // Of a passage as far as its first mark, if both have room.
    const far = mark ? mark.getBoundingClientRect().bottom - place.getBoundingClientRect().top + MARGIN : 0
    const isFar = far > (isPane ? pane.clientHeight - MARGIN : innerHeight - 3 * MARGIN)
    // A small window has no room for a passage below the rows: its head goes to the top.
    const block = isFar ? "center" : reader && !isDesk ? "start" : "nearest"
    place.style.scrollMarginBlock = `${isPane ? "1rem" : "6rem"} ${Math.max(far, BELOW)}px`
    ;(isFar ? mark : place).scrollIntoView({ block, behavior: calm ? "auto" : "smooth" })
    takeKeyboard()
  }
  // Again whenever the page changes its height, as steps fold and open; never against the person's own hand.
  const page = document.querySelector('[data-testid="stMainBlockContainer"]')
  const watch = new ResizeObserver(come)
  const stop = () => watch.disconnect()
  for (const part of [page, ...(pane?.children ?? [])]) watch.observe(part)
  for (const act of ["wheel", "touchstart", "keydown", "pointerdown"]) addEventListener(act, stop, { once: true, passive: true })
  setTimeout(stop, SETTLES_MS)
  const looks = setInterval(takeKeyboard, LOOKS_MS)
  const own = new AbortController()
  const leave = () => {
    clearInterval(looks)
    own.abort()
  }
  addEventListener("pointerdown", leave, { signal: own.signal })
  // Who goes on by Tab is not fetched back, as from past the page's end, where nothing has the keyboard.
  addEventListener("keydown", ({ key }) => key === "Tab" && leave(), { signal: own.signal })
  setTimeout(leave, SETTLES_MS)
}
