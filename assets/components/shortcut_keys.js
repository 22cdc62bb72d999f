// Single keys that press the page's own buttons, as long as nobody is typing. A held key counts once.
// Escape leaves a field, so that they work again. A key that judges presses nothing before what it judges was in view.
// After a key that asks for a field all letters are for that field, even before it is there: none is a command.

const LOOKS_MS = 50
const ASKED_MS = 2000 // for which letters wait for the field that a key asked for
const TYPING_MS = 1000 // and after each letter that waits
const RUN_MS = 400 // a letter so soon after another one is typed, not pressed
const ARMED_MS = 3000 // for which a second press may decide
const FIELD = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true]"
const MODIFIERS = ["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock"]
const MOMENT_MS = 700 // for which a row of text was in view before a key judges it
const ROW = 16 // pixels from one row that is looked at to the next, less than a line of text

let control
let brought = { item: null, at: 0 } // the button that a letter brought the keyboard to
let waiting = null // a second press that came before all was seen for a moment: it counts once it was
let framed = null // what the last press of a judging key brought into view: its key, its rule, its places, its sheets
let asked = null // the field that a key asked for: until when letters wait for it, and those that were typed
let letter = { key: "", at: 0, isTyped: false } // the last one outside a field
let watching
const markedOnly = new WeakSet() // sheets of which only the marked words are judged
const seen = new WeakMap() // by sheet: its words and width, and for how long each row was in view

// The keyboard goes to the field that `find` finds. It may come later and be drawn twice; it gets what was typed before.
function ask(find, mayCome = () => true) {
  const mine = { until: performance.now() + ASKED_MS, typed: "" }
  let field = null // stays the one, also when another one fits once there are words in this one
  const look = () => {
    if (asked !== mine) return
    if (!field?.isConnected) field = find()
    if (field?.checkVisibility() && field.matches(FIELD) && document.activeElement !== field) field.focus()
    if (mine.typed && document.activeElement === field) {
      document.execCommand("insertText", false, mine.typed)
      mine.typed = ""
    }
    if (performance.now() < mine.until && mayCome()) setTimeout(look, LOOKS_MS)
    else asked = null
  }
  asked = mine
  look()
}

// Keeps what is typed for the field that was asked for from being a command.
function hold(event) {
  const { key, target, ctrlKey, metaKey } = event
  if (["Escape", "Tab", "Enter"].includes(key)) asked = null
  if (!asked) return
  asked.until = Math.max(asked.until, performance.now() + TYPING_MS)
  if (ctrlKey || metaKey || target.closest?.(FIELD)) return
  if (key === "Backspace") asked.typed = asked.typed.slice(0, -1)
  else if (key.length === 1) asked.typed += key
  else return
  event.preventDefault()
  event.stopImmediatePropagation() // the buttons' own keys come later
}

// A place that holds what was left, for the keyboard to be at.
function leave(field) {
  const place = field.closest('[class*="st-key-area-"], .st-key-ends') ?? document.querySelector('[data-testid="stMain"]')
  place.tabIndex = -1
  place.style.outline = "none"
  place.focus({ preventScroll: true })
}

// --- what was in view ---

const hostOf = (sheet) => sheet.getRootNode().host ?? sheet

// What a key judges: the places in which it stands, and the sheets in them, each of which has to be seen whole. No sheets
// while the page is being drawn and a place or its text is still missing.
function subjectOf({ around, places, looks, marks }, item) {
  const found = around ? [item?.closest(around)] : places.map((place) => document.querySelector(place))
  const there = found.filter((place) => place?.checkVisibility())
  const texts = (place) => [...place.querySelectorAll("*")].map((node) => node.shadowRoot?.querySelector(".text"))
  const sheetsOf = (place) => (looks ? texts(place).filter((text) => looks.includes(text?.dataset.look)) : [place])
  const inEach = there.map(sheetsOf)
  const sheets = found.length === there.length && inEach.every((some) => some.length) ? inEach.flat() : []
  if (marks) for (const sheet of sheets) if (sheet.querySelector("mark")) markedOnly.add(sheet)
  return { places: there, sheets }
}

// Where the rows of a sheet are now, by their height in the window; of a passage the marked words, or what is no context.
function rowsOf(sheet) {
  const isJudged = (piece) => (markedOnly.has(sheet) ? piece.matches("mark") : piece.className !== "context")
  const words = sheet.matches(".text") ? [...sheet.children].filter(isJudged) : [sheet]
  const boxes = words.flatMap((part) => [...part.getClientRects()])
  const top = Math.min(...boxes.map((box) => box.top))
  const bottom = Math.max(...boxes.map((box) => box.bottom))
  const many = boxes.length ? Math.max(1, Math.ceil((bottom - top) / ROW)) : 0
  return Array.from({ length: many }, (_, row) => Math.min(top + 2 + row * ROW, bottom - 2))
}

// Whether nothing lies over it and no pane has cut it off.
function isInView(sheet, y) {
  const { left, top, width, bottom } = sheet.getBoundingClientRect()
  if (y < Math.max(top, 0) || y > Math.min(bottom, innerHeight)) return false // out of the window: no need to look
  const host = hostOf(sheet)
  return [left + 4, left + width / 2].every((x) => host.contains(document.elementFromPoint(x, y)))
}

const isDone = (record) => record.fits && record.rows.every((passed) => passed >= MOMENT_MS)

function recordOf(sheet) {
  const [words, width] = [sheet.textContent, sheet.clientWidth]
  const known = seen.get(sheet)
  const isSame = known?.words === words && known.width === width
  if (isSame && isDone(known)) return known // no row has to be measured again
  const many = rowsOf(sheet).length
  if (isSame && known.rows.length === many) return known
  const fresh = { words, width, rows: Array(many).fill(0), fits: false }
  seen.set(sheet, fresh)
  return fresh
}

function watch(sheets, passed) {
  for (const sheet of sheets) {
    const record = recordOf(sheet)
    if (isDone(record)) continue
    const now = rowsOf(sheet).map((y) => isInView(sheet, y))
    now.forEach((isSeen, row) => isSeen && (record.rows[row] += passed))
    record.fits ||= now.every(Boolean)
  }
}

// The first sheet that was not seen whole for a moment, or that is out of view again, and the row to go on from.
function unseenIn(sheets) {
  for (const sheet of sheets) {
    const record = recordOf(sheet)
    const row = record.rows.findIndex((passed) => passed < MOMENT_MS)
    if (row >= 0) return { sheet, row }
  }
  const now = sheets.map((sheet) => rowsOf(sheet).map((y) => isInView(sheet, y)))
  const isHere = now.some((rows) => rows.some(Boolean))
  const mustStay = (sheet) => (sheets.length < 2 || markedOnly.has(sheet)) && recordOf(sheet).fits
  const away = now.findIndex((rows, at) => !rows.every(Boolean) && (!isHere || mustStay(sheets[at])))
  return away >= 0 ? { sheet: sheets[away], row: 0 } : null
}

const areSeen = (sheets) => sheets.length > 0 && !unseenIn(sheets)

function bring({ sheet, row }) {
  const host = hostOf(sheet)
  host.scrollIntoView({ block: "center", behavior: "instant" })
  for (let pane = sheet; pane; pane = pane === sheet ? host.parentElement : pane.parentElement) {
    const y = rowsOf(sheet)[row]
    if (isInView(sheet, y)) continue
    if (pane.scrollHeight <= pane.clientHeight || getComputedStyle(pane).overflowY === "visible") continue
    const above = parseFloat(getComputedStyle(pane).scrollPaddingBlockStart) || 0
    pane.scrollTop += y - pane.getBoundingClientRect().top - above - ROW
  }
}

function unframe() {
  for (const place of framed?.places ?? []) delete place.dataset.judging
  framed = null
  waiting = null
}

function frame(key, rule, item, subject, words) {
  unframe()
  framed = { key, rule, item, words, ...subject }
}

// Says on the frame, and to a screen reader, how far it is.
function tell(status) {
  const isReady = framed && areSeen(framed.sheets)
  if (isReady) framed.readyAt ??= performance.now()
  const said = framed ? framed.words[isReady ? "ready" : "look"].replace("{key}", framed.key.toUpperCase()) : ""
  for (const place of framed?.places ?? []) if (place.dataset.judging !== said) place.dataset.judging = said
  if (status.textContent !== said) status.textContent = said
}

// Whether what the key judges was seen. If not, it comes into view and has a frame: the next press may judge it.
function mayJudge(key, rule, item, words) {
  const subject = subjectOf(rule, item)
  const isFramed = framed?.key === key && subject.sheets.every((sheet) => framed.sheets.includes(sheet))
  const unseen = unseenIn(subject.sheets)
  // Of several sentences the frame says which one is meant; a decision always takes a second press.
  if (subject.sheets.length && !unseen && (isFramed || !(rule.around || rule.twice))) return true
  if (rule.around && !isFramed) subject.sheets.forEach((sheet) => seen.delete(sheet))
  if (!isFramed) frame(key, rule, item, subject, { ...words, ...rule.words })
  else if (subject.sheets.length && (rule.marks || rule.twice)) waiting = item
  if (rule.marks) {
    const isAway = (sheet) => !rowsOf(sheet).every((y) => isInView(sheet, y))
    for (const sheet of subject.sheets) if (isAway(sheet)) bring({ sheet, row: 0 })
  } else if (subject.sheets.length) bring(unseen ?? { sheet: subject.sheets[0], row: 0 })
  return false
}

// Several places may take what a press leads to: whichever field has the keyboard then gets what was typed.
const focusedField = () => (document.activeElement.matches(FIELD) ? document.activeElement : null)

function press(item, rule) {
  unframe()
  if (item.ariaHasPopup) item.focus() // Escape closes it from there
  item.click()
  if (item.matches("summary")) ask(() => item.closest("details").querySelector("input[type=text]"))
  else if (rule?.leads) ask(focusedField, () => item.isConnected) // once it is done the button goes
}

export default function ({ parentElement, data }) {
  control?.abort()
  control = new AbortController()
  clearInterval(watching)
  const status = parentElement.querySelector("span")
  let last = performance.now()
  watching = setInterval(() => {
    const now = performance.now()
    const passed = document.visibilityState === "visible" ? Math.min(now - last, 4 * LOOKS_MS) : 0
    last = now
    const isPast = framed?.rule.twice && now - framed.readyAt > ARMED_MS
    if (isPast || framed?.sheets.some((sheet) => !hostOf(sheet).isConnected)) unframe()
    if (framed && !framed.sheets.length) Object.assign(framed, subjectOf(framed.rule, framed.item)) // drawn by now?
    const alone = Object.values(data.judging).filter((rule) => !rule.around)
    const sheets = [...alone.flatMap((rule) => subjectOf(rule).sheets), ...(framed?.sheets ?? [])]
    watch(new Set(sheets), passed)
    tell(status)
    if (waiting && framed && areSeen(framed.sheets)) {
      if (waiting.isConnected && !waiting.disabled) press(waiting, framed.rule)
      else unframe()
    }
  }, 2 * LOOKS_MS)
  const act = (event) => {
    const { key, target, repeat, ctrlKey, metaKey, altKey } = event
    const name = ctrlKey || metaKey ? `ctrl+${key.toLowerCase()}` : key.toLowerCase()
    // The second press is the very next one. Who reads what is framed may scroll to its end by keys.
    const isOther = framed && name !== framed.key && !MODIFIERS.includes(key)
    if (isOther && (framed.rule.twice || key.length === 1)) unframe()
    if (repeat || altKey || document.querySelector('[role="dialog"]')) return
    if (target.closest?.(FIELD)) {
      if (key === "Escape" && !target.ariaExpanded) leave(target)
      return
    }
    // Whoever types without being in a field presses no button by the space after a letter. Enter does.
    if (key === " " && target === brought.item && performance.now() - brought.at < TYPING_MS) event.preventDefault()
    const isTyped = performance.now() - letter.at < RUN_MS && (letter.isTyped || letter.key !== name)
    if (key.length === 1 && key !== " ") letter = { key: name, at: performance.now(), isTyped }
    const selectors = data.keys[name] ?? []
    const items = () => selectors.flatMap((selector) => [...document.querySelectorAll(selector)])
    const find = () => items().find((item) => !item.disabled && item.checkVisibility())
    const found = find()
    // What is not drawn yet comes within moments.
    if (found?.matches(FIELD) || (!found && data.fields.includes(name))) {
      event.preventDefault()
      unframe()
      return ask(find)
    }
    if (!found) return
    event.preventDefault()
    const rule = data.judging[name]
    if (rule?.twice && isTyped) return
    if (rule && !mayJudge(name, rule, found, data.words)) return tell(status)
    if (!data.focused.includes(name)) return press(found, rule)
    unframe()
    found.focus()
    brought = { item: found, at: performance.now() }
  }
  const point = () => {
    unframe()
    asked = null
    letter.at = 0
  }
  addEventListener("keydown", hold, { signal: control.signal, capture: true })
  addEventListener("keydown", act, { signal: control.signal })
  addEventListener("pointerdown", point, { signal: control.signal })
  status.dataset.listens = "" // what tests wait for
}
