/** Loads the data of a page: when it opens, on demand, and at an interval if one is given. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Address, get } from './api.js'

export interface Data<T> {
  /**
   * Value of the last answer. After a change of address, the old value stays until the new one is there, so that the page does not jump.
   */
  value: T | null
  error: string | null
  reload: () => void
}

/** @param address null where nothing is to be asked, since the service lacks the route */
export function useData<T>(address: Address<T> | null, refreshMs?: number): Data<T> {
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
