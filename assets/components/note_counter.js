// The live counter under the note: counts as crowdnotes/text/note_rules.py does, and saves after a pause.
// tests/journeys/test_counter.py holds both counts to the same answers.

const LIMIT = __NOTE_LIMIT__
const AMBER_FROM = LIMIT - 20
const IDLE_MS = 1000

// Python's white space is not quite JavaScript's.
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
const WORD = "\\p{L}\\p{N}_"
const URL_BODY =
  `[^${SPACE}<>"{}|\\\\^\`\\u3000-\\u303f\\uff00-\\uff0f\\uff1a-\\uff20\\uff3b-\\uff40\\uff5b-\\uff65]`
// With no case to tell apart, Python's a-z also takes these two; the u flag brings the others.
const LETTER = "a-z\\u0130\\u0131"
const LABEL = `[${LETTER}0-9](?:[${LETTER}0-9\\-]{0,61}[${LETTER}0-9])?`
const WITH_SCHEME = new RegExp(`https?:\\/\\/${URL_BODY}+`, "giu")
const BARE = new RegExp(
  `(?<![${WORD}@.\\/:\\-])((?:${LABEL}\\.)+([${LETTER}]{2,24}))(?![${WORD}@\\-])([\\/?#]${URL_BODY}*)?`,
  "giu",
)
const TRAILING = ".,;:!?'\"\u2018\u2019\u201c\u201d\u2026*_~"
const CLOSERS = { ")": "(", "]": "[" }
const TOP_LEVEL_DOMAINS = new Set(__TOP_LEVEL_DOMAINS__)

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

const codePoints = (text) => {
  let count = 0
  for (const _ of text) count += 1
  return count
}

export function noteLength(text) {
  text = text.replaceAll("\r\n", "\n")
  const found = []
  for (const match of text.matchAll(WITH_SCHEME)) {
    const url = trim(match[0])
    if (codePoints(url) > "https://".length) found.push([match.index, match.index + url.length])
  }
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
    const left = room < 0 ? `${-room} too many` : `${room} left, each link counts 1`
    words.textContent = saved ? left : `${left} · saving when you pause`
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
