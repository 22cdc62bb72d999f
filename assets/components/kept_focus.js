// Keeps the keyboard's place: when what it is on goes or is closed, it goes to what that stood in, not to the page's top.

const LOOKS_MS = 100
const WAITS_MS = 400 // a place that the page goes to takes the keyboard first

// Outlives this component, which is drawn anew with the page that takes the keyboard's place away.
let last = null
let around = []
let control
let looks

const keyOf = (node) => [...node.classList].find((name) => name.startsWith("st-key-"))

// What stands there now: a part that was drawn anew has its key still.
const standing = ({ node, key }) => {
  const found = node.isConnected ? node : document.querySelector(`.${CSS.escape(key)}`)
  return found?.offsetHeight ? found : null
}

const follow = ({ target }) => {
  last = target
  around = []
  for (let node = target; node && node !== document.body; node = node.parentElement)
    if (keyOf(node)) around.push({ node, key: keyOf(node) })
}

export default function () {
  control?.abort()
  control = new AbortController()
  clearInterval(looks)
  let lostAt = null
  const look = () => {
    const isLost = document.activeElement === document.body && last && (!last.isConnected || last.disabled)
    if (!isLost) lostAt = null
    else if (lostAt === null) lostAt = performance.now()
    else if (performance.now() - lostAt > WAITS_MS) {
      let place = null
      for (const part of around) place ??= standing(part)
      if (!place) return
      place.tabIndex = -1
      place.style.outline = "none"
      place.focus({ preventScroll: true })
    }
  }
  addEventListener("focusin", follow, { signal: control.signal })
  addEventListener("pointerdown", () => (last = null), { signal: control.signal })
  looks = setInterval(look, LOOKS_MS)
}
