// Before anything is drawn: whoever chose a theme never sees the other one first.
try {
  const chosen = localStorage.getItem('theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
} catch {
  // Storage is refused in some private windows; the system's theme it is.
}
