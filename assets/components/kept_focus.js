// Keeps the keyboard's place. When the focused element goes or is closed, the focus moves to the one that replaced it,
// or else to its container, not to the top of the page.

const LOOKS_MS = 100
const WAITS_MS = 400 // a place that the page goes to takes the keyboard first

// Outlives this component, which is drawn anew with the page that takes the keyboard's place away.
let last = null
let lastName = ""
let around = []
let control
let looks

const keyOf = (node) => [...node.classList].find((name) => name.startsWith("st-key-"))

const nameOf = (node) => node.ariaLabel || node.innerText?.trim().split("\n").at(-1) || ""

// What was drawn anew under the same name, as a choice of several that was made.
const USABLE = "button, input, textarea, summary, a[href]"
const isSame = (node) => nameOf(node) === lastName && !node.disabled && node.checkVisibility()
const sameIn = (place) => lastName && [...place.querySelectorAll(USABLE)].find(isSame)

// What stands there now: a part that was drawn anew has its key still.
const standing = ({ node, key }) => {
  const found = node.isConnected ? node : document.querySelector(`.${CSS.escape(key)}`)
  return found?.offsetHeight ? found : null
}

const follow = ({ target }) => {
  last = target
  lastName = nameOf(target)
  around = []
  for (let node = target; node && node !== document.body; node = node.parentElement)
    if (keyOf(node)) around.push({ node, key: keyOf(node) })
}

// What was typed while there was no connection is sent with whatever is sent next: so something is, once it is back.
const RESENDS = 3 // a value that was typed a moment ago is not there at the first
const RESEND_MS = 1500
let wasAway = false
let resends = 0
let resentAt = 0

function resend(send) {
  const state = document.querySelector('[data-testid="stApp"]')?.dataset.testConnectionState
  if (state !== "CONNECTED") wasAway = state !== undefined || wasAway
  else if (wasAway) [wasAway, resends] = [false, RESENDS]
  if (state !== "CONNECTED" || !resends || performance.now() - resentAt < RESEND_MS) return
  resends -= 1
  resentAt = performance.now()
  send("back", `${Date.now()}`)
}

export default function ({ setTriggerValue }) {
  control?.abort()
  control = new AbortController()
  clearInterval(looks)
  let lostAt = null
  const look = () => {
    resend(setTriggerValue)
    const isLost = document.activeElement === document.body && last && (!last.isConnected || last.disabled)
    if (!isLost) lostAt = null
    else if (lostAt === null) lostAt = performance.now()
    else if (performance.now() - lostAt > WAITS_MS) {
      let place = null
      for (const part of around) place ??= standing(part)
      if (!place) return
      const same = sameIn(place)
      if (same) return same.focus({ preventScroll: true })
      place.tabIndex = -1
      place.style.outline = "none"
      place.role = "group"
      place.ariaLabel = lastName && `Here was “${lastName}”`
      place.focus({ preventScroll: true })
    }
  }
  addEventListener("focusin", follow, { signal: control.signal })
  addEventListener("pointerdown", () => (last = null), { signal: control.signal })
  looks = setInterval(look, LOOKS_MS)
}
