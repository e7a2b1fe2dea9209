/** Data that is fetched when a page opens, again on demand, and in an interval where it should stay fresh. */
import { useCallback, useEffect, useState } from 'preact/hooks'
import { get } from './api.js'

export interface Data<T> {
  value: T | null
  error: string | null
  reload: () => void
}

export function useData<T>(path: string, refreshMs?: number): Data<T> {
  const [value, setValue] = useState<T | null>(null)
  const [error, setError] = useState<string | null>(null)
  const reload = useCallback(() => {
    get<T>(path).then(
      (fresh) => {
        setValue(fresh)
        setError(null)
      },
      (failure: Error) => setError(failure.message),
    )
  }, [path])
  useEffect(() => {
    setValue(null)
    reload()
    if (refreshMs === undefined) return
    const timer = setInterval(reload, refreshMs)
    return () => clearInterval(timer)
  }, [reload, refreshMs])
  return { value, error, reload }
}
