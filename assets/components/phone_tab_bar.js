// The four tabs of a phone. page.css shows the area whose name the page's root has; nothing is asked of the server.

let chosen = ""
let lastToken = ""

export default function ({ parentElement, data }) {
  const list = parentElement.querySelector(".tabs")
  const choose = (name, focus) => {
    chosen = name
    document.documentElement.dataset.area = name
    draw()
    if (focus) list.querySelector('[aria-selected="true"]').focus()
    document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0)
  }
  const step = (by) => {
    const names = data.tabs.map((tab) => tab.name)
    choose(names[(names.indexOf(chosen) + by + names.length) % names.length], true)
  }
  const draw = () =>
    list.replaceChildren(
      ...data.tabs.map(({ name, label, sign }) => {
        const tab = document.createElement("button")
        tab.type = "button"
        tab.role = "tab"
        tab.ariaSelected = String(name === chosen)
        tab.tabIndex = name === chosen ? 0 : -1
        tab.textContent = sign ? `${label} ${sign}` : label
        tab.onclick = () => choose(name, true)
        tab.onkeydown = ({ key }) => key === "ArrowRight" ? step(1) : key === "ArrowLeft" ? step(-1) : null
        return tab
      }),
    )
  if (data.token !== lastToken) {
    lastToken = data.token
    choose(data.wanted, false)
  } else draw()
}
