// Sentences of the note at the left, sources at the right, and a curve from each sentence to what supports it.
// Choosing either tells the app; curves are drawn anew whenever the page gives them another place.

const NS = "http://www.w3.org/2000/svg"

const make = (tag, className, text = "") => {
  const element = document.createElement(tag)
  element.className = className
  element.textContent = text
  return element
}

const draw = (tag, attributes) => {
  const element = document.createElementNS(NS, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  return element
}

function entry(words, description, choose) {
  const box = make(choose ? "button" : "div", "entry")
  box.title = description
  if (choose) {
    box.type = "button"
    box.onclick = choose
    box.ariaLabel = description
  }
  box.append(...words)
  return box
}

function sentence({ number, text, kind, sign, description, source }, choose) {
  const words = make("span", "text", text)
  words.dir = "auto"
  const box = entry([make("span", "sign", `${number} ${sign}`), words], description, source && (() => choose({ sentence: number })))
  box.dataset.kind = kind
  return box
}

function source({ id, name, description }, choose) {
  const where = make("span", "text", name)
  where.dir = "auto"
  return entry([make("b", "", id), where], description, () => choose({ source: id }))
}

function legend(kinds) {
  return kinds.map(({ kind, label }) => {
    const item = make("span", "kind")
    const sample = draw("svg", { viewBox: "0 0 28 6", width: 28, height: 6, "aria-hidden": "true" })
    sample.append(draw("path", { class: "curve", "data-kind": kind, d: "M2 3H26" }))
    item.append(sample, make("span", "", label))
    return item
  })
}

export default function ({ parentElement, data, setTriggerValue }) {
  const map = parentElement.querySelector(".map")
  const choose = (chosen) => setTriggerValue("chosen", chosen)
  const sentences = data.sentences.map((one) => sentence(one, choose))
  const sources = data.sources.map((one) => source(one, choose))
  const [left, right] = [make("div", "column"), make("div", "column")]
  left.append(...sentences)
  right.append(...sources)
  const canvas = draw("svg", { class: "canvas", "aria-hidden": "true" })
  map.replaceChildren(left, canvas, right)
  map.ariaLabel = data.title
  parentElement.querySelector(".key").replaceChildren(...legend(data.kinds))

  const links = data.sentences.flatMap(({ source: id, kind }, from) => {
    const to = data.sources.findIndex((one) => one.id === id)
    if (to < 0) return []
    const curve = draw("path", { class: "curve", "data-kind": kind })
    canvas.append(curve)
    return [{ from: sentences[from], to: sources[to], curve }]
  })
  const place = () => {
    const frame = canvas.getBoundingClientRect()
    const rightToLeft = getComputedStyle(map).direction === "rtl"
    for (const { from, to, curve } of links) {
      const [a, b] = [from.getBoundingClientRect(), to.getBoundingClientRect()]
      const [x1, x2] = (rightToLeft ? [a.left, b.right] : [a.right, b.left]).map((x) => x - frame.left)
      const [y1, y2] = [a, b].map((box) => box.top + box.height / 2 - frame.top)
      const bend = (x1 + x2) / 2
      curve.setAttribute("d", `M${x1} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`)
    }
  }
  // What the pointer or the keyboard is on stands out, with its curves and their other ends.
  const light = (box) => {
    const near = links.filter(({ from, to }) => from === box || to === box)
    map.classList.toggle("lit", near.length > 0)
    const on = new Set(near.flatMap(({ from, to, curve }) => [from, to, curve]))
    for (const item of [...sentences, ...sources, ...links.map(({ curve }) => curve)]) item.classList.toggle("on", on.has(item))
  }
  for (const box of [...sentences, ...sources]) {
    box.onpointerenter = box.onfocus = () => light(box)
    box.onpointerleave = box.onblur = () => light(null)
  }
  const watch = new ResizeObserver(place)
  watch.observe(map)
  place()
  return () => watch.disconnect()
}
