/** Light or dark: the system's choice until the reader makes one. */
import { useState } from 'preact/hooks'

type Theme = 'light' | 'dark'
const STORAGE = 'countersign-theme'

function currentTheme(): Theme {
  const chosen = localStorage.getItem(STORAGE)
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = currentTheme()
}

export function ThemeButton() {
  const [theme, setTheme] = useState(currentTheme())
  const other: Theme = theme === 'dark' ? 'light' : 'dark'
  const toggle = () => {
    localStorage.setItem(STORAGE, other)
    applyTheme()
    setTheme(other)
    // The charts read their colours when they are drawn.
    dispatchEvent(new Event('themechange'))
  }
  return (
    <button type="button" class="quiet" onClick={toggle}>
      {other === 'dark' ? 'Dark theme' : 'Light theme'}
    </button>
  )
}
