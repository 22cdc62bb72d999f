// Saves a plot as a PNG with the sentence that it tells, in the colours on the screen. Nothing leaves the browser.

const SCALE = 2
const EDGE = 24
const LINE = 1.4

function wrapped(pen, text, width) {
  const lines = [""]
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word
    if (lines.at(-1) && pen.measureText(longer).width > width) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}

function legendRows(pen, entries, width) {
  const rows = [[]]
  let x = 0
  for (const entry of entries) {
    const wide = 16 + pen.measureText(entry.name).width + 18
    if (x && x + wide > width) {
      rows.push([])
      x = 0
    }
    rows.at(-1).push({ ...entry, x })
    x += wide
  }
  return entries.length ? rows : []
}

// An image knows no web fonts, and labels in another font may be wider: they get the room of the edges.
function asImage(svg, width, height) {
  const copy = svg.cloneNode(true)
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg")
  copy.setAttribute("viewBox", `${-EDGE} 0 ${width + 2 * EDGE} ${height}`)
  copy.setAttribute("width", width + 2 * EDGE)
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`
  return image.decode().then(() => image)
}

async function picture(plot, data, look) {
  const layers = [...plot.querySelectorAll("svg.main-svg, .note-map svg")]
  const { width, height } = layers[0].getBoundingClientRect()
  const canvas = document.createElement("canvas")
  const pen = canvas.getContext("2d")
  const fonts = { small: `13px ${look.font}`, bold: `600 17px ${look.font}` }
  pen.font = fonts.bold
  const head = wrapped(pen, data.sentence, width)
  pen.font = fonts.small
  const rows = legendRows(pen, data.legend, width)
  const foot = data.foot.flatMap((line) => wrapped(pen, line, width))
  const top = EDGE + 13 * LINE + 6 + head.length * 17 * LINE + 12
  const below = top + height + 12
  const gap = rows.length ? 8 : 0
  canvas.width = SCALE * (width + 2 * EDGE)
  canvas.height = SCALE * (below + (rows.length + foot.length) * 13 * LINE + gap + EDGE)
  pen.scale(SCALE, SCALE)
  pen.fillStyle = look.ground
  pen.fillRect(0, 0, canvas.width, canvas.height)
  pen.textBaseline = "top"
  const write = (lines, font, colour, y, size, x = EDGE) => {
    pen.font = font
    pen.fillStyle = colour
    lines.forEach((line, place) => pen.fillText(line, x, y + place * size * LINE))
  }
  write([data.title], fonts.small, look.faint, EDGE, 13)
  write(head, fonts.bold, look.ink, EDGE + 13 * LINE + 6, 17)
  for (const image of await Promise.all(layers.map((layer) => asImage(layer, width, height)))) {
    pen.drawImage(image, 0, top, width + 2 * EDGE, height)
  }
  rows.forEach((row, place) => {
    for (const entry of row) {
      const y = below + place * 13 * LINE
      pen.fillStyle = entry.colour
      pen.fillRect(EDGE + entry.x, y + 1, 10, 10)
      write([entry.name], fonts.small, look.ink, y, 13, EDGE + entry.x + 16)
    }
  })
  write(foot, fonts.small, look.faint, below + rows.length * 13 * LINE + gap, 13)
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"))
}

export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button")
  button.querySelector(".words").textContent = data.label
  button.setAttribute("aria-label", `${data.label}: ${data.title}`)
  button.onclick = async () => {
    const plot = document.querySelector(`.st-key-${data.plot}`)
    if (!plot) return
    const style = getComputedStyle(parentElement.host ?? parentElement)
    const look = {
      font: style.getPropertyValue("--st-font") || "sans-serif",
      ink: style.getPropertyValue("--st-text-color"),
      faint: style.getPropertyValue("--st-gray-text-color"),
      ground: style.getPropertyValue("--st-background-color"),
    }
    const link = document.createElement("a")
    link.href = URL.createObjectURL(await picture(plot, data, look))
    link.download = data.file
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
  }
}
