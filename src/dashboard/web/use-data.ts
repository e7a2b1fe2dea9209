/** Data that is fetched when a page opens, again on demand, and in an interval where it should stay fresh. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Address, get } from './api.js'

export interface Data<T> {
  /** Of the last answer; that of another address stays until the new one is there, so that nothing jumps. */
  value: T | null
  error: string | null
  reload: () => void
}

export function useData<T>(address: Address<T>, refreshMs?: number): Data<T> {
  const [value, setValue] = useState<T | null>(null)
  const [error, setError] = useState<string | null>(null)
  // An answer that comes late must not take the place of one to a later question.
  const asked = useRef(0)
  const ask = useCallback(
    (isBackground: boolean) => {
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
