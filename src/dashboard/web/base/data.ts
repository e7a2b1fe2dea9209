/** The data that a page shows, and the actions that its person starts. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Address, get } from './api.js'

/** Loads data: when the page opens, on demand, and at an interval if one is given. @param address null where nothing is to be asked, since the service lacks the route */
export function useData<T>(address: Address<T> | null, refreshMs?: number) {
  // The last answer. After a change of address it stays until the new one is there, so that the page does not jump.
  const [value, setValue] = useState<T | null>(null)
  const [error, setError] = useState<string | null>(null)
  // A late answer must not replace the answer to a later question.
  const asked = useRef(0)
  const ask = useCallback(
    (isBackground: boolean) => {
      if (address === null) return
      const question = ++asked.current
      const isLatest = () => question === asked.current
      get(address, isBackground).then(
        (fresh) => {
          if (!isLatest()) return
          setValue(fresh)
          setError(null)
        },
        (failure: Error) => isLatest() && setError(failure.message),
      )
    },
    [address],
  )
  const reload = useCallback(() => ask(false), [ask])
  useEffect(() => {
    reload()
    if (refreshMs === undefined) return
    const timer = setInterval(() => document.hidden || ask(true), refreshMs)
    return () => clearInterval(timer)
  }, [ask, reload, refreshMs])
  return { value, error, reload }
}
export type Data<T> = ReturnType<typeof useData<T>>

/** A value that is read again at every event of this name that the window receives. */
export function useWindowValue<T>(event: string, read: () => T): T {
  const [value, setValue] = useState(read)
  useEffect(() => {
    const follow = () => setValue(read)
    addEventListener(event, follow)
    return () => removeEventListener(event, follow)
  }, [])
  return value
}

/**
 * An action that a person starts.
 *
 * @param after called after each action, also after one that failed: the page may be out of date then
 * @returns `run`, which never rejects: the message of an error becomes `problem`. `isDone` says that the last action was done, and `forget`
 * takes that back, since the person has changed something
 */
export function useAction(after?: () => void) {
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [isDone, setDone] = useState(false)
  const running = useRef(false)
  const run = async (work: () => Promise<unknown>) => {
    if (running.current) return
    running.current = true
    const focused = document.activeElement
    setProblem(null)
    setDone(false)
    setBusy(true)
    try {
      await work()
      setDone(true)
    } catch (error) {
      setProblem((error as Error).message)
    } finally {
      running.current = false
      setBusy(false)
      after?.()
      // The focus is restored after the page is drawn again.
      setTimeout(() => giveBackFocus(focused))
    }
  }
  return { problem, isBusy, isDone, forget: () => setDone(false), run }
}

/** Returns the focus to a button that lost it by being disabled meanwhile, or to the page when the button is gone. */
function giveBackFocus(focused: Element | null): void {
  if (document.activeElement !== document.body || focused === null || focused === document.body) return
  const heir = focused.isConnected ? focused : document.getElementById('main')
  if (heir instanceof HTMLElement) heir.focus({ preventScroll: true })
}
