// A link that is dragged to the bookmarks. The app writes its address, which a click here would only run in place.

export default function ({ parentElement, data }) {
  const link = parentElement.querySelector("a")
  link.textContent = data.label
  link.setAttribute("href", data.address)
  link.onclick = (event) => event.preventDefault()
}
