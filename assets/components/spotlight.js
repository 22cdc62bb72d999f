// Brings a part of the page into view and frames it, once for each token: what is spoken of must be seen.
// page.css draws the frame. The part may come, or grow, later than this does: until it settles it is looked for again.

const LOOKS_MS = [0, 300, 800, 1600, 2600]
const HEADER = 60 // pixels above the strip
const FOOT = 50 // of a phone's tabs
let shown = ""

export default function ({ data }) {
  const seen = (item) => item.getClientRects().length
  const frame = () => {
    const parts = data.selectors.map((selector) => [...document.querySelectorAll(selector)].find(seen)).filter(Boolean)
    for (const other of document.querySelectorAll("[data-spotlight]"))
      if (!parts.includes(other)) delete other.dataset.spotlight
    for (const part of parts) part.dataset.spotlight = ""
    return parts[0]
  }
  const bring = () => {
    const part = frame()
    if (!part) return
    if (data.opens) part.querySelector("details:not([open]) > summary")?.click()
    // It must come to lie below the strip. A pane that scrolls by itself is below it already.
    const pane = part.closest(".st-key-note-pane, .st-key-sources-pane")
    const isOwn = pane && getComputedStyle(pane).overflowY === "auto"
    const main = document.querySelector('[data-testid="stMain"]')
    const strip = HEADER + (document.querySelector(".st-key-presenter")?.offsetHeight ?? 0)
    const room = isOwn ? pane.clientHeight : innerHeight - strip - FOOT
    const above = isOwn ? 0 : Math.max(0, strip - parseFloat(getComputedStyle(main).scrollPaddingBlockStart))
    // Where not all of it has room, what it is about comes first.
    const { top, height } = part.getBoundingClientRect()
    const heart = data.heart && part.querySelector(data.heart)
    const goal = heart && heart.getBoundingClientRect().bottom - top > room ? heart : part
    goal.style.scrollMarginBlock = `${above + 8}px 2rem`
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches
    const isHigh = data.selectors.length > 1 || height > innerHeight / 2
    const block = goal === heart || isHigh ? "start" : "nearest"
    goal.scrollIntoView({ block, behavior: calm ? "auto" : "smooth" })
  }
  frame()
  if (shown === data.token) return
  shown = data.token
  const timers = LOOKS_MS.map((wait) => setTimeout(bring, wait))
  const stop = () => timers.forEach(clearTimeout)
  // Never against the person's own hand.
  for (const act of ["wheel", "touchstart", "keydown", "pointerdown"]) addEventListener(act, stop, { once: true, passive: true })
}
