/** An action that a person starts, with its error, and whether it is still running. */
import { useRef, useState } from 'preact/hooks'

export interface Action {
  problem: string | null
  isBusy: boolean
  /** Runs the action. Never rejects: the message of an error becomes the problem. */
  run: (work: () => Promise<void>) => Promise<void>
}

export function useAction(): Action {
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const running = useRef(false)
  const run = async (work: () => Promise<void>) => {
    if (running.current) return
    running.current = true
    const focused = document.activeElement
    setProblem(null)
    setBusy(true)
    try {
      await work()
    } catch (error) {
      setProblem((error as Error).message)
    } finally {
      running.current = false
      setBusy(false)
      // The focus is restored after the page is drawn again.
      setTimeout(() => giveBackFocus(focused))
    }
  }
  return { problem, isBusy, run }
}

/** Returns the focus to a button that lost it by being disabled meanwhile, or to the page when the button is gone. */
function giveBackFocus(focused: Element | null): void {
  if (document.activeElement !== document.body || focused === null || focused === document.body) return
  const heir = focused.isConnected ? focused : document.getElementById('main')
  if (heir instanceof HTMLElement) heir.focus({ preventScroll: true })
}
