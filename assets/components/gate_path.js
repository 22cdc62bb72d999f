// The three gates in order, each with its status, its reason and its score on its scale.

const make = (tag, className, text = "") => {
  const element = document.createElement(tag)
  element.className = className
  element.textContent = text
  return element
}

function scale(gate) {
  const box = make("div", "scale")
  const track = make("div", "track")
  const needed = make("span", "needed")
  needed.style.insetInlineStart = `${100 * gate.threshold}%`
  const dot = make("span", "dot")
  dot.style.insetInlineStart = `${100 * Math.min(1, Math.max(0, gate.score))}%`
  track.append(needed, dot)
  // Enough digits that a near miss does not read as a hit.
  const close = gate.score !== gate.threshold && gate.score.toFixed(2) === gate.threshold.toFixed(2)
  const digits = close ? 4 : 2
  const words = `${gate.score.toFixed(digits)} of the ${gate.threshold.toFixed(digits)} needed`
  box.append(make("span", "end", "0"), track, make("span", "end", "1"))
  const figure = make("div", "figure")
  figure.append(box, make("div", "words", words))
  return figure
}

export default function ({ parentElement, data }) {
  const list = parentElement.querySelector(".path")
  list.classList.toggle("stale", data.stale)
  list.replaceChildren(
    ...data.gates.map((gate) => {
      const item = make("li", "gate")
      item.dataset.status = gate.status
      const head = make("div", "head")
      head.append(make("span", "sign", gate.sign), make("span", "name", gate.name), make("span", "status", gate.label))
      const reason = make("div", "reason", gate.reason)
      reason.dir = "auto"
      item.append(head, make("div", "asks", gate.asks), reason)
      if (gate.score !== null && gate.threshold !== null) item.append(scale(gate))
      return item
    }),
  )
}
