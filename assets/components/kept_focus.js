// Keeps the keyboard's place: when what it is on goes or is closed, it goes to what that stood in, not to the page's top.

const LOOKS_MS = 100
const WAITS_MS = 400 // a place that the page goes to takes the keyboard first

let control
let looks

export default function () {
  control?.abort()
  control = new AbortController()
  clearInterval(looks)
  let trail = []
  let lostAt = null
  const follow = ({ target }) => {
    trail = []
    for (let node = target; node && node !== document.body; node = node.parentElement) trail.push(node)
  }
  const look = () => {
    const [last, ...around] = trail
    const isLost = document.activeElement === document.body && last && (!last.isConnected || last.disabled)
    if (!isLost) lostAt = null
    else if (lostAt === null) lostAt = performance.now()
    else if (performance.now() - lostAt > WAITS_MS) {
      const place = around.find((node) => node.isConnected && node.className.includes("st-key-") && node.offsetHeight)
      if (!place) return
      place.tabIndex = -1
      place.style.outline = "none"
      place.focus({ preventScroll: true })
    }
  }
  addEventListener("focusin", follow, { signal: control.signal })
  addEventListener("pointerdown", () => (trail = []), { signal: control.signal })
  looks = setInterval(look, LOOKS_MS)
}
