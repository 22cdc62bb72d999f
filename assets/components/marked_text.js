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
    root.role = "region"
    root.ariaLabel = "Passage"
  }
  // Drawn once for each choice of its marks: what was unfolded stays so.
  const shown = JSON.stringify(data.pieces)
  if (root.dataset.shown !== shown) root.replaceChildren(...data.pieces.map(draw))
  root.dataset.shown = shown
  copyButton(parentElement, root, data.copy)
}

function draw({ text, kind, title }, place) {
  const piece = document.createElement(ELEMENTS[kind] ?? "span")
  piece.className = kind
  piece.textContent = text
  if (title) piece.title = title
  if (kind !== "context") return piece
  const fold = document.createElement("details")
  const head = document.createElement("summary")
  head.textContent = place ? "Text after" : "Text before"
  fold.className = kind
  fold.append(head, piece)
  return fold
}
