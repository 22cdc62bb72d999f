// Little people who vote, a block for each side. A kind has its own fill as well as its colour: whole, half, empty.

const NS = "http://www.w3.org/2000/svg"
const FILLS = ["whole", "half", "empty"]

const make = (tag, className, text = "") => {
  const element = document.createElement(tag)
  element.className = className
  element.textContent = text
  return element
}

function person(fill) {
  const svg = document.createElementNS(NS, "svg")
  svg.setAttribute("viewBox", "0 0 12 16")
  svg.setAttribute("class", `person ${fill}`)
  svg.setAttribute("aria-hidden", "true")
  const head = document.createElementNS(NS, "circle")
  for (const [name, value] of Object.entries({ class: "head", cx: 6, cy: 4.2, r: 2.7 })) head.setAttribute(name, value)
  const shoulders = document.createElementNS(NS, "path")
  shoulders.setAttribute("class", "shoulders")
  shoulders.setAttribute("d", "M1.4 15.2v-2.3a4.6 4.6 0 0 1 9.2 0v2.3z")
  svg.append(head, shoulders)
  return svg
}

function block({ name, counts, words }, kinds) {
  const side = make("div", "side")
  side.role = "img"
  side.ariaLabel = words
  const heading = make("div", "heading")
  heading.append(make("span", "name", name))
  const row = make("div", "row")
  counts.forEach((count, at) => {
    const one = make("span", "kind")
    one.append(person(FILLS[at]), make("b", "", String(count)), make("span", "", kinds[at]))
    heading.append(one)
    for (let number = 0; number < count; number += 1) row.append(person(FILLS[at]))
  })
  side.append(heading, counts.some(Boolean) ? row : make("div", "nobody", words))
  return side
}

export default function ({ parentElement, data }) {
  parentElement.querySelector(".sides").replaceChildren(...data.sides.map((side) => block(side, data.kinds)))
}
