// The three gates in order, a line each: its status and reason; opened, its question and its score on its scale.

const make = (tag, className, text = "") => {
  const element = document.createElement(tag)
  element.className = className
  element.textContent = text
  return element
}

// A score that says the other way than the verdict gets words, not a meter: something else decided.
function figure(gate) {
  const reached = gate.score >= gate.threshold
  if (reached === (gate.status === "PASS")) return scale(gate)
  const where = reached ? "reaches" : "is under"
  const verdict = reached ? "failed" : "passed"
  const words = `Its score ${gate.score.toFixed(2)} ${where} the ${gate.threshold.toFixed(2)} needed; it ${verdict} for the reason above.`
  return make("div", "figure words", words)
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
  const meter = make("div", "figure")
  meter.append(box, make("div", "words", words))
  return meter
}

// A gate stays open while its scores change: the person opened it to read on.
const open = new Set()

export default function ({ parentElement, data }) {
  const list = parentElement.querySelector(".path")
  list.classList.toggle("stale", data.stale)
  list.replaceChildren(
    ...data.gates.map((gate) => {
      const item = make("li", "gate")
      item.dataset.look = gate.look
      const details = make("details", "")
      details.open = open.has(gate.name)
      details.ontoggle = () => (details.open ? open.add(gate.name) : open.delete(gate.name))
      const summary = make("summary", "")
      const short = make("span", "short", gate.reason)
      short.dir = "auto"
      const sign = make("span", "sign", gate.sign)
      const more = make("span", "more", "›")
      sign.ariaHidden = more.ariaHidden = "true" // the status says it in a word
      summary.append(sign, make("span", "name", gate.name), make("span", "status", gate.label))
      summary.append(short, more)
      const inside = make("div", "inside")
      const reason = make("div", "reason", gate.reason)
      reason.dir = "auto"
      inside.append(make("div", "asks", gate.asks), reason)
      const judged = gate.status !== "NOT_RUN" && gate.score !== null && gate.threshold !== null
      if (judged) inside.append(figure(gate))
      details.append(summary, inside)
      item.append(details)
      return item
    }),
  )
}
