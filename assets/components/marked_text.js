// Text from outside, piece by piece, some pieces marked. Only textContent is ever set.

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".text")
  root.dataset.look = data.look
  if (data.look === "passage" || data.look === "pinned") {
    // It may scroll, so the keyboard must reach it.
    root.tabIndex = 0
    root.role = "region"
    root.ariaLabel = data.look === "pinned" ? "The post" : "Passage"
  }
  root.replaceChildren(
    ...data.pieces.map(({ text, kind, title }) => {
      const piece = document.createElement(kind === "mark" || kind === "doubt" ? "mark" : "span")
      piece.className = kind
      piece.textContent = text
      if (title) piece.title = title
      return piece
    }),
  )
}
