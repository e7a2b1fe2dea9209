/** The theme, light or dark: the system's choice until the reader makes one. */
import { useWindowValue } from './data.js'
import { Button } from './form.js'

type Theme = 'light' | 'dark'
const STORAGE = 'countersign-theme'
const CHANGE = 'themechange'

function currentTheme(): Theme {
  const chosen = localStorage.getItem(STORAGE)
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

/** Applies the theme to the page. Charts, which do not use the style sheet, follow it through `useTheme`. */
function applyTheme(): void {
  const theme = currentTheme()
  document.documentElement.dataset.theme = theme
  // The renderer of the API reference expects this class.
  document.documentElement.classList.toggle('dark-mode', theme === 'dark')
  dispatchEvent(new Event(CHANGE))
}

export function followSystemTheme(): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme)
  applyTheme()
}

export const useTheme = () => useWindowValue(CHANGE, currentTheme)

export function ThemeButton() {
  const isDark = useTheme() === 'dark'
  const toggle = () => {
    localStorage.setItem(STORAGE, isDark ? 'light' : 'dark')
    applyTheme()
  }
  return <Button text={isDark ? 'Light theme' : 'Dark theme'} class="quiet" onClick={toggle} />
}
