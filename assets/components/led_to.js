// Leads to a part of the page, once for each token: into view, with a frame until the person goes on, and the keyboard
// on the first thing in it that can be used. The part may come later than this does, as when a phone changes its tab.

const LOOKS_MS = 50
const WAITS_MS = 4000
const USABLE = "button:not(:disabled), summary, textarea:not(:disabled), input:not(:disabled), a[href]"
let led = ""

function arrive(part) {
  const usable = part.matches(USABLE) ? part : [...part.querySelectorAll(USABLE)].find((item) => item.checkVisibility())
  usable?.focus({ preventScroll: true })
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches
  part.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" })
  const frame = part.closest('[class*="st-key-"]') ?? part
  frame.dataset.led = ""
  const leave = () => delete frame.dataset.led
  for (const act of ["keydown", "pointerdown"]) addEventListener(act, leave, { once: true })
}

export default function ({ data }) {
  if (!data.token || led === data.token) return
  led = data.token
  const since = performance.now()
  const look = () => {
    const parts = data.selectors.flatMap((selector) => [...document.querySelectorAll(selector)])
    const part = parts.find((item) => item.checkVisibility())
    if (part) arrive(part)
    else if (performance.now() - since < WAITS_MS) setTimeout(look, LOOKS_MS)
  }
  look()
}
