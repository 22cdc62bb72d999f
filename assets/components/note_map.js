// Points on two scales, of which one may be chosen. A point keeps its element from one drawing to the next, so that it
// moves as a slider does. Colours are attributes: the saved image knows no style sheet.

const NS = "http://www.w3.org/2000/svg"
const EDGES = { left: 52, right: 8, top: 8, bottom: 40 }
const FORMS = {
  circle: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
  left: "M-6 0L4.5-5.5V5.5z",
  right: "M6 0L-4.5-5.5V5.5z",
  square: "M-4.6-4.6H4.6V4.6H-4.6z",
}

function make(tag, attributes, text = "") {
  const element = document.createElementNS(NS, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.textContent = text
  return element
}

// The scales of a drawing: from numbers to pixels.
function scales({ x, y }, width, height) {
  const across = (width - EDGES.left - EDGES.right) / (x.ends[1] - x.ends[0])
  const up = (height - EDGES.top - EDGES.bottom) / (y.ends[1] - y.ends[0])
  return [(at) => EDGES.left + (at - x.ends[0]) * across, (at) => height - EDGES.bottom - (at - y.ends[0]) * up]
}

function textLook(look) {
  const small = { "font-size": 12, fill: look.ink, "font-family": look.font, stroke: look.ground, "stroke-width": 3 }
  return { ...small, "paint-order": "stroke" }
}

// Words in the picture: above the points, which would hide them.
function names({ look, words }, px, py) {
  return words.map(({ at, text, anchor, above, bold }) => {
    const place = { x: px(at[0]), y: py(at[1]) + (above ? -5 : 14), "text-anchor": anchor }
    const strong = bold ? { "font-weight": 700, "font-size": 14, fill: look.text } : {}
    return make("text", { ...textLook(look), ...place, ...strong }, text)
  })
}

function ground({ x, y, look, regions, lines }, width, height, px, py) {
  const [left, right] = [px(x.ends[0]), px(x.ends[1])]
  const parts = []
  const small = textLook(look)
  const path = (points, more) => {
    const d = `M${points.map(([a, b]) => `${px(a)} ${py(b)}`).join("L")}`
    parts.push(make("path", { d, fill: "none", ...more }))
  }
  for (const { points, colour } of regions) path(points, { fill: look[colour], "fill-opacity": 0.16 })
  for (const at of y.ticks) {
    parts.push(make("line", { x1: left, x2: right, y1: py(at), y2: py(at), stroke: look.rule }))
    const text = at.toFixed(1).replace("-", "−")
    parts.push(make("text", { ...small, x: left - 8, y: py(at) + 4, "text-anchor": "end" }, text))
  }
  for (const at of x.ticks) {
    const text = String(at).replace("-", "−")
    parts.push(make("text", { ...small, x: px(at), y: height - EDGES.bottom + 17, "text-anchor": "middle" }, text))
  }
  for (const { points, colour } of lines) {
    path(points, { stroke: look[colour], "stroke-width": 2, "stroke-dasharray": "8 6" })
  }
  const middle = (py(y.ends[0]) + py(y.ends[1])) / 2
  parts.push(make("text", { ...small, x: (left + right) / 2, y: height - 5, "text-anchor": "middle" }, x.title))
  const turned = { x: 0, y: 0, transform: `translate(13 ${middle}) rotate(-90)`, "text-anchor": "middle" }
  parts.push(make("text", { ...small, ...turned }, y.title))
  return parts
}

function redraw(root, data, choose) {
  const svg = root.querySelector("svg")
  const width = root.clientWidth
  if (!width) return
  const { height } = data
  const [px, py] = scales(data, width, height)
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) {
    svg.setAttribute(name, value)
  }
  svg.setAttribute("aria-label", data.alt)
  svg.querySelector(".ground").replaceChildren(...ground(data, width, height, px, py))
  svg.querySelector(".names").replaceChildren(...names(data, px, py))
  const points = svg.querySelector(".points")
  points.classList.toggle("choosing", data.choosing)
  data.points.forEach(({ x, y, form, colour, shown, title }, number) => {
    const point = points.children[number] ?? points.appendChild(make("path", { "stroke-width": 1.8 }))
    const fill = shown ? colour : data.look.ground
    const wanted = { d: FORMS[form], stroke: colour, fill, "fill-opacity": shown ? 1 : 0.01 }
    for (const [name, value] of Object.entries(wanted)) point.setAttribute(name, value)
    const known = x !== null && y !== null
    point.setAttribute("display", known ? "inline" : "none")
    if (known) point.setAttribute("transform", `translate(${px(x).toFixed(1)} ${py(y).toFixed(1)}) scale(${data.size})`)
    point.replaceChildren(make("title", {}, title))
    point.onclick = data.choosing ? () => choose(number) : null
  })
  while (points.children.length > data.points.length) points.lastChild.remove()
  const here = data.points[data.here]
  const ring = here && here.x !== null && here.y !== null ? { cx: px(here.x), cy: py(here.y), r: 10, stroke: data.look.text } : { r: 0 }
  for (const [name, value] of Object.entries(ring)) svg.querySelector(".ring").setAttribute(name, value)
}

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".note-map")
  const draw = () => redraw(root, data, (number) => setTriggerValue("chosen", number))
  root.sized?.disconnect()
  root.sized = new ResizeObserver(draw)
  root.sized.observe(root)
  draw()
  return () => root.sized.disconnect()
}
