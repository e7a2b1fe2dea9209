/**
 * The query of a page's address, which holds the filters, so that bookmarks, Back and shared links keep them. It must contain no user id.
 */
import { useCallback, useState } from 'preact/hooks'
import { useWindowValue } from './data.js'

/** Returns what follows the # in the address, with the #. */
export const useHash = () => useWindowValue('hashchange', () => location.hash)

type Values<Name extends string> = Record<Name, string>

/** @returns the values, empty for those that the address lacks, and a function that changes some of them. Back undoes a change. */
export function useAddressQuery<const Name extends string>(
  names: readonly Name[],
): [Values<Name>, (changes: Partial<Values<Name>>) => void] {
  const hash = useHash()
  const change = useCallback((changes: Partial<Values<Name>>) => {
    const [path] = location.hash.split('?')
    location.hash = withQuery(path!, { ...valuesOf(location.hash, names), ...changes })
  }, [])
  return [valuesOf(hash, names), change]
}

/**
 * Steps through the pages of a list. The way to an older page is an entry in the browser's history, and the way to a newer one goes back.
 */
export function usePager(change: (changes: { before: string }) => void) {
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
export function withQuery(path: string, values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).filter((pair): pair is [string, string] => Boolean(pair[1]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

function valuesOf<Name extends string>(hash: string, names: readonly Name[]): Values<Name> {
  const query = new URLSearchParams(hash.split('?')[1] ?? '')
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? ''])) as Values<Name>
}

/** Returns a time in the format of a `datetime-local` field. */
export function localTime(iso: string): string {
  const at = Date.parse(iso)
  if (Number.isNaN(at)) return ''
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
