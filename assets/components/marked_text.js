// Text from outside, piece by piece, some pieces marked. Only textContent is ever set.

const ELEMENTS = { mark: "mark", doubt: "mark", added: "ins", removed: "del" }

// The clipboard is there on https and on this machine alone; elsewhere the browser copies what is selected.
async function copied(root) {
  try {
    await navigator.clipboard.writeText(root.textContent)
    return true
  } catch {
    getSelection().selectAllChildren(root)
    return document.execCommand("copy")
  }
}

function copyButton(parent, root, wanted) {
  let button = parent.querySelector("button")
  if (!wanted) return button?.remove()
  if (!button) {
    button = document.createElement("button")
    button.type = "button"
    parent.append(button)
  }
  button.textContent = "Copy"
  button.onclick = async () => {
    button.textContent = (await copied(root)) ? "Copied" : "Select the words and copy them"
    setTimeout(() => (button.textContent = "Copy"), 2000)
  }
}

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".text")
  root.dataset.look = data.look
  if (data.look === "passage") {
    // It may scroll, so the keyboard must reach it.
    root.tabIndex = 0
    root.role = "region"
    root.ariaLabel = "Passage"
  }
  root.replaceChildren(
    ...data.pieces.map(({ text, kind, title }) => {
      const piece = document.createElement(ELEMENTS[kind] ?? "span")
      piece.className = kind
      piece.textContent = text
      if (title) piece.title = title
      return piece
    }),
  )
  showFirstMark(root, data)
  copyButton(parentElement, root, data.copy)
}

// Once for each passage and each choice of its marks: whoever reads on is not sent back.
function showFirstMark(root, { look, pieces }) {
  const shown = JSON.stringify(pieces)
  if (look !== "passage" || root.dataset.shown === shown) return
  root.dataset.shown = shown
  // Begin at the passage itself, below its context; at the mark where it would then be out of sight.
  const first = root.querySelector(":scope > :not(.context)")
  const mark = root.querySelector("mark")
  if (!first) return
  const topOf = (piece) => piece.getBoundingClientRect().top - root.getBoundingClientRect().top
  const isBelow = mark && topOf(mark) - topOf(first) > root.clientHeight - 48
  root.scrollTop += topOf(isBelow ? mark : first)
}
