// Brings the place where it stands into view, once for each token: what the person is waiting for must be seen.

const SETTLES_MS = 2500
const done = new Set()

export default function ({ parentElement, data }) {
  if (done.has(data.token)) return
  done.add(data.token)
  const place = parentElement.host ?? parentElement
  // Room for what is fixed above, and for some of what stands below the place.
  place.style.display = "block"
  place.style.scrollMarginBlock = "10rem 24rem"
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches
  // Again whenever the page changes its height, as steps fold and open; never against the person's own hand.
  const page = document.querySelector('[data-testid="stMainBlockContainer"]')
  const watch = new ResizeObserver(() => place.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" }))
  const stop = () => watch.disconnect()
  watch.observe(page)
  for (const act of ["wheel", "touchstart", "keydown", "pointerdown"]) addEventListener(act, stop, { once: true, passive: true })
  setTimeout(stop, SETTLES_MS)
}
