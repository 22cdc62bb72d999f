// On a phone the navigation lies over the page: it closes once a page was chosen in it. In a case of the queue its link
// to the queue leads to the list: Streamlit would keep the address, and so the case.

let listens = false

// Streamlit puts the heading of a section between the items of its list, which a screen reader then does not take for one.
const unlist = () => {
  const items = '[data-testid="stSidebarNavItems"]'
  for (const element of document.querySelectorAll(`${items}:not([role]), ${items} li:not([role])`)) element.role = "none"
}

export default function () {
  if (listens) return
  listens = true
  unlist()
  new MutationObserver(unlist).observe(document.body, { childList: true, subtree: true })
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('[data-testid="stSidebarNavLink"], [data-testid="stTopNavLink"]')
    if (!link) return
    const isHere = new URL(link.href).pathname === location.pathname && !event.ctrlKey && !event.metaKey
    // After Streamlit has heard the click itself.
    setTimeout(() => {
      if (isHere) document.querySelector(".st-key-validate-back button")?.click()
      if (link.dataset.testid !== "stSidebarNavLink") return
      document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click()
      document.querySelector('[data-testid="stMain"]')?.focus({ preventScroll: true })
    })
  })
}
