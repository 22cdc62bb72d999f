// The live counter under the note: counts as crowdnotes/text/note_rules.py does, and saves after a pause.
// tests/journeys/test_counter.py holds both counts to the same answers.

const LIMIT = __NOTE_LIMIT__
const AMBER_FROM = LIMIT - 20
const IDLE_MS = 1000

// Python's white space is not quite JavaScript's.
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
const ACCENTED = "\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u024f\\u0253\\u0254\\u0256\\u0257\\u0259\\u025b\\u0263\\u0268" +
  "\\u026f\\u0272\\u0289\\u028b\\u02bb\\u0300-\\u036f\\u1e00-\\u1eff"
const IN_PATH = `[A-Za-z0-9${ACCENTED}\\u0400-\\u04ff!*';:=+,.$\\/%#\\[\\]\\u2013_~@|&\\-]`
const PATH = `(?:${IN_PATH}|\\((?:${IN_PATH}|\\(${IN_PATH}*\\))*\\))*`
const QUERY = "(?:\\?[A-Za-z0-9!?*'@\\(\\);:&=+$\\/%#\\[\\]_.,~|\\-]*)?"
const REST = `(?::[0-9]+)?(?:[\\/#]${PATH})?${QUERY}`
const SCHEME = /(?<![@$#\uff20\uff03])[Hh][Tt][Tt][Pp][Ss]?:\/\//gu
const HOST = new RegExp(
  `[^${SPACE}!-,\\/:-@\\[-\\^\`\\{-~\\u00a0-\\u00bf\\u2000-\\u206f\\u3000-\\u303f\\uff00-\\uff0f\\uff1a-\\uff20` +
    "\\uff3b-\\uff40\\uff5b-\\uff65]*",
  "uy",
)
const ASCII_DOMAIN = /(?:[Xx][Nn]--[A-Za-z0-9\-]+|[A-Za-z]+)(?!\.?[A-Za-z0-9]|[@+\-])/uy
const AFTER_HOST = new RegExp(REST, "uy")
const UNNAMED_HOST = new RegExp(`${PATH}${QUERY}`, "uy")
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?"
const BARE = new RegExp(
  `(?<![A-Za-z0-9${ACCENTED}_@$#\\uff20\\uff03.\\/:\\-])((?:${LABEL}\\.)+([A-Za-z]{2,24}))` +
    `(?![A-Za-z0-9${ACCENTED}_@+\\-])(${REST})`,
  "gu",
)
const TRAILING = "!*';:,.$%[(~@|?\u2013"
const CLOSERS = { ")": "(", "]": "[" }
const TOP_LEVEL_DOMAINS = new Set(__TOP_LEVEL_DOMAINS__)
const LONGEST_DOMAIN = Math.max(...[...TOP_LEVEL_DOMAINS].map((domain) => domain.length))

function trim(url) {
  while (url) {
    const last = url.at(-1)
    const unmatched = last in CLOSERS && url.split(last).length > url.split(CLOSERS[last]).length
    if (!TRAILING.includes(last) && !unmatched) break
    url = url.slice(0, -1)
  }
  return url
}

function isMissingSpace(host, rest) {
  const dot = host.lastIndexOf(".")
  const before = host.slice(0, dot)
  const shouted = /[A-Z]/.test(before) && !/[a-z]/.test(before)
  return !rest && /^[A-Z][a-z]+$/.test(host.slice(dot + 1)) && !shouted
}

function matchAt(pattern, text, at) {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

// Where the longest host of text.slice(start, end) that has a top-level domain ends; -1 without one.
function domainEnd(text, start, end) {
  for (let dot = text.lastIndexOf(".", end - 1); dot > start; dot = text.lastIndexOf(".", dot - 1)) {
    const ascii = matchAt(ASCII_DOMAIN, text, dot + 1)
    if (ascii !== undefined) {
      if (/^xn--/i.test(ascii) || TOP_LEVEL_DOMAINS.has(ascii.toLowerCase())) return dot + 1 + ascii.length
    } else if (text.charCodeAt(dot + 1) > 127) {
      for (let length = Math.min(end - dot - 1, LONGEST_DOMAIN); length > 0; length--)
        if (TOP_LEVEL_DOMAINS.has(text.slice(dot + 1, dot + 1 + length).toLowerCase())) return dot + 1 + length
    }
  }
  return -1
}

function withScheme(text) {
  const found = []
  SCHEME.lastIndex = 0
  for (let scheme = SCHEME.exec(text); scheme; scheme = SCHEME.exec(text)) {
    const start = scheme.index
    const end = start + scheme[0].length
    const host = domainEnd(text, end, end + matchAt(HOST, text, end).length)
    const rest = host < 0 ? end + matchAt(UNNAMED_HOST, text, end).length : host + matchAt(AFTER_HOST, text, host).length
    const url = trim(text.slice(start, rest))
    if (start + url.length > end) found.push([start, start + url.length])
    SCHEME.lastIndex = Math.max(end, start + url.length)
  }
  return found
}

const codePoints = (text) => {
  let count = 0
  for (const _ of text) count += 1
  return count
}

export function noteLength(text) {
  text = text.replaceAll("\r\n", "\n")
  const found = withScheme(text)
  const taken = [...found]
  for (const match of text.matchAll(BARE)) {
    const [, host, tld, rest] = match
    if (taken.some(([a, b]) => a <= match.index && match.index < b) || isMissingSpace(host, rest)) continue
    if (!TOP_LEVEL_DOMAINS.has(tld.toLowerCase())) continue
    found.push([match.index, match.index + trim(match[0]).length])
  }
  return found.reduce((sum, [a, b]) => sum - codePoints(text.slice(a, b)) + 1, codePoints(text))
}

const attached = new WeakMap()

// The clipboard is there on https and on this machine alone; elsewhere the browser copies what is selected.
async function copied(textarea) {
  try {
    await navigator.clipboard.writeText(textarea.value)
    return true
  } catch {
    textarea.select()
    return document.execCommand("copy")
  }
}

const met = new Set() // the places that this page was shown since it was loaded

export default function (component) {
  const { parentElement, data, setTriggerValue } = component
  const root = parentElement.querySelector(".counter")
  const number = root.querySelector(".number")
  const bar = root.querySelector(".bar > span")
  const words = root.querySelector(".words")
  const copy = root.querySelector(".copy")
  copy.textContent = data.copy
  attached.get(parentElement)?.abort()
  root.hidden = data.isGone
  if (data.isGone) {
    // The box went away while somebody typed: what it had not sent yet is still known here.
    const kept = unsaved.read(data.place)
    if (kept && kept.text !== data.text) setTriggerValue("aside", kept.text)
    if (kept) unsaved.drop(data.place)
    return
  }
  const control = new AbortController()
  attached.set(parentElement, control)
  let timer = null
  let textarea = null
  let isTyped = false // by the person: a box that Streamlit has not filled yet is empty too

  const show = (text, saved) => {
    const length = noteLength(text)
    root.dataset.level = length > LIMIT ? "over" : length >= AMBER_FROM ? "near" : "fine"
    // Read aloud only when it matters: not at every letter.
    root.querySelector("[role=status]").ariaLive = root.dataset.level === "fine" ? "off" : "polite"
    number.textContent = `${length} of ${LIMIT}`
    bar.style.width = `${Math.min(100, (100 * length) / LIMIT)}%`
    const room = LIMIT - length
    const left = room < 0 ? `${-room} characters too many` : `${room} characters left. A link counts as 1.`
    copy.style.visibility = text.trim() ? "" : "hidden" // it keeps its place: nothing moves at the first letter
    words.textContent = saved ? left : `${left} · saving`
  }

  const save = () => {
    unsaved.keep(data.place, textarea.value, data.text, textarea.value)
    commit(textarea)
  }
  const saveSoon = (committed) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (textarea.value !== committed) save()
    }, IDLE_MS)
  }
  // After a reload: back into the box what was typed over the text that is saved; over another one the person chooses.
  const bringBack = () => {
    const isFirst = !met.has(data.place)
    met.add(data.place)
    const kept = unsaved.read(data.place)
    if (!kept) return
    if (kept.text === data.text) unsaved.drop(data.place)
    else if (isFirst && kept.over.includes(data.text)) putBack(textarea, kept.text)
    else if (isFirst) setTriggerValue("aside", kept.text)
    else if (textarea.value === data.text) unsaved.drop(data.place) // another text was put there knowingly
  }

  const attach = () => {
    const found = document.querySelector(`.st-key-${data.box} textarea`)
    if (!found || found === textarea) return
    textarea = found
    // Streamlit fills the box after it is in place; until then the saved text counts.
    const current = textarea.value || data.text
    show(current, current === data.text)
    isTyped = current !== data.text
    if (isTyped) saveSoon(data.text)
    // Streamlit has filled the box when the browser has drawn it.
    requestAnimationFrame(() => requestAnimationFrame(() => control.signal.aborted || bringBack()))
    textarea.addEventListener(
      "input",
      () => {
        isTyped = true
        show(textarea.value, textarea.value === data.text)
        if (textarea.value === data.text) unsaved.drop(data.place)
        else unsaved.keep(data.place, textarea.value, data.text)
        saveSoon(data.text)
      },
      { signal: control.signal },
    )
    // Ctrl+Enter scores: first what was typed just now is kept, by the same keys as Streamlit knows them.
    textarea.addEventListener(
      "keydown",
      (event) => {
        if (!event.isTrusted || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
        event.preventDefault()
        event.stopPropagation()
        if (textarea.value !== data.text) save()
        document.querySelector(`.st-key-${data.submit} button`)?.click()
      },
      { signal: control.signal, capture: true },
    )
    copy.onclick = async () => {
      copy.textContent = (await copied(textarea)) ? data.copied : data.notCopied
      setTimeout(() => (copy.textContent = data.copy), 2000)
    }
  }

  attach()
  // A tab that is left, or a page: there may be no pause any more.
  const leave = () => {
    if (document.hidden && isTyped && textarea.value !== data.text) save()
  }
  document.addEventListener("visibilitychange", leave, { signal: control.signal })
  // Streamlit puts a new box in place after an undo or a chosen candidate.
  const observer = new MutationObserver(attach)
  observer.observe(document.querySelector(`.st-key-${data.box}`) ?? document.body, { childList: true, subtree: true })
  control.signal.addEventListener("abort", () => {
    observer.disconnect()
    clearTimeout(timer)
  })
  return () => control.abort()
}
