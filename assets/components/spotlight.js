// Brings a part of the page into view and frames it, once for each token: what is spoken of must be seen.
// page.css draws the frame. The part may come, or grow, later than this does: until it settles it is looked for again.

const LOOKS_MS = [0, 300, 800, 1600, 2600]
let shown = ""

export default function ({ data }) {
  const all = () => [...document.querySelectorAll(data.selector)]
  const frame = () => {
    const part = all().find((item) => item.getClientRects().length)
    for (const other of document.querySelectorAll("[data-spotlight]")) if (other !== part) delete other.dataset.spotlight
    if (part) part.dataset.spotlight = ""
    return part
  }
  const bring = () => {
    const part = frame()
    if (!part) return
    if (data.opens) part.querySelector("details:not([open]) > summary")?.click()
    const tall = part.getBoundingClientRect().height > innerHeight / 2
    const strip = document.querySelector(".st-key-presenter")
    part.style.scrollMarginBlock = `${(strip?.offsetHeight ?? 0) + 80}px 2rem`
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches
    part.scrollIntoView({ block: tall ? "start" : "nearest", behavior: calm ? "auto" : "smooth" })
  }
  frame()
  if (shown === data.token) return
  shown = data.token
  const timers = LOOKS_MS.map((wait) => setTimeout(bring, wait))
  const stop = () => timers.forEach(clearTimeout)
  // Never against the person's own hand.
  for (const act of ["wheel", "touchstart", "keydown", "pointerdown"]) addEventListener(act, stop, { once: true, passive: true })
}
