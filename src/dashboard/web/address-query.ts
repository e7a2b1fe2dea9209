/** What stands behind the `?` of a page's address: filters that a bookmark, Back and a shared link keep. No user id belongs there. */
import { useCallback, useEffect, useState } from 'preact/hooks'

type Values<Name extends string> = Record<Name, string>

/** @returns the values, empty where the address has none, and what changes some of them: Back undoes it */
export function useAddressQuery<const Name extends string>(
  names: readonly Name[],
): [Values<Name>, (changes: Partial<Values<Name>>) => void] {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = () => setHash(location.hash)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  const change = useCallback((changes: Partial<Values<Name>>) => {
    const [path] = location.hash.split('?')
    location.hash = withQuery(path!, { ...valuesOf(location.hash, names), ...changes })
  }, [])
  return [valuesOf(hash, names), change]
}

/** An address with those values that are not empty. */
export function withQuery(path: string, values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).filter((pair): pair is [string, string] => Boolean(pair[1]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

function valuesOf<Name extends string>(hash: string, names: readonly Name[]): Values<Name> {
  const query = new URLSearchParams(hash.split('?')[1] ?? '')
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? ''])) as Values<Name>
}
