// Runs before the page is drawn, so that the chosen theme is there from the start.
try {
  const chosen = localStorage.getItem('theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
} catch {
  // Some private windows block storage; the theme of the system then applies.
}
