/** The query of a page's address, which holds the filters, so that bookmarks, Back and links keep them. It must contain no user id. */
import { useCallback, useState } from 'preact/hooks'
import { useWindowValue } from './data.js'

/** Returns what follows the # in the address, with the #. */
export const useHash = () => useWindowValue('hashchange', () => location.hash)

type Values = Readonly<Record<string, string | undefined>>

/** @returns the values, empty for those that the address lacks, and a function that changes some of them. Back undoes a change. */
export function useAddressQuery<const Name extends string>(
  names: readonly Name[],
): [values: Record<Name, string>, change: (changes: Values) => void] {
  const query = queryOf(useHash())
  const change = useCallback((changes: Values) => {
    const [path] = location.hash.split('?')
    location.hash = withQuery(path!, { ...Object.fromEntries(queryOf(location.hash)), ...changes })
  }, [])
  return [
    Object.fromEntries(names.map((name) => [name, query.get(name) ?? ''])) as Record<Name, string>,
    change,
  ]
}

/** Steps through the pages of a list. The way to an older page is an entry of the browser's history, to which a newer one goes back. */
export function usePager(change: (changes: Values) => void) {
  const [steps, setSteps] = useState(0)
  return {
    older: (before: string) => {
      setSteps(steps + 1)
      change({ before })
    },
    // A person who followed a link has no entry to go back to: the newest page is shown.
    newer: () => {
      setSteps(Math.max(0, steps - 1))
      if (steps > 0) history.back()
      else change({ before: '' })
    },
  }
}

/** Returns the address with those values that are not empty. */
export function withQuery(path: string, values: Values): string {
  const given = Object.entries(values).filter((pair): pair is [string, string] => Boolean(pair[1]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

const queryOf = (hash: string) => new URLSearchParams(hash.split('?')[1] ?? '')

/** Returns a time in the format of a `datetime-local` field. */
export function localTime(iso: string): string {
  const at = Date.parse(iso)
  if (Number.isNaN(at)) return ''
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
