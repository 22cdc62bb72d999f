// On a phone the navigation lies over the page: it closes once a page was chosen in it.

let listens = false

export default function () {
  if (listens) return
  listens = true
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.('[data-testid="stSidebarNavLink"]')) return
    // After Streamlit has heard the click itself.
    setTimeout(() => {
      document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click()
      document.querySelector('[data-testid="stMain"]')?.focus({ preventScroll: true })
    })
  })
}
