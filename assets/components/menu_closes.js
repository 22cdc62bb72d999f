// On a phone the navigation lies over the page: it closes once a page was chosen in it.

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
    if (!event.target.closest?.('[data-testid="stSidebarNavLink"]')) return
    // After Streamlit has heard the click itself.
    setTimeout(() => {
      document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click()
      document.querySelector('[data-testid="stMain"]')?.focus({ preventScroll: true })
    })
  })
}
