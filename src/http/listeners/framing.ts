/** The rules for headers on either transport: what frames a message must be said once and clearly, or nothing of it is served. */

export type RequestHeaders = Readonly<Record<string, string | undefined>>

/** Headers that frame the message: where a proxy and the parser look at different ones of a name, a second one smuggles. */
const FRAMING = new Set(['content-length', 'transfer-encoding', 'host'])

/**
 * All headers, or null when the framing is ambiguous and nothing more may be read from the connection.
 * @param forEach hands over each header as it was sent, in order, with its name in lower case
 */
export function readHeaders(
  forEach: (add: (name: string, value: string) => void) => void,
): RequestHeaders | null {
  const headers: Record<string, string | undefined> = Object.create(null)
  let ambiguous = false
  forEach((name, value) => {
    const before = headers[name]
    if (before === undefined) headers[name] = value
    else if (FRAMING.has(name)) ambiguous = true
    else headers[name] = `${before}, ${value}`
  })
  const encoding = headers['transfer-encoding']
  const length = headers['content-length']
  if (encoding !== undefined && (encoding.toLowerCase() !== 'chunked' || length !== undefined))
    ambiguous = true
  // An empty one counts as none for a parser, and need not for a proxy in front.
  if (length === '') ambiguous = true
  if (headers.host === undefined) ambiguous = true
  return ambiguous ? null : headers
}

/**
 * Whether the connection ends with this request: uWebSockets.js parses chunk sizes laxly, and what follows such a body may not
 * be where a proxy in front believes it to be. The same on either transport, so that a proxy finds no difference.
 */
export function isLastOfConnection(headers: RequestHeaders): boolean {
  return headers['transfer-encoding'] !== undefined
}

/** Header values go out as they are: a line break in one would let it inject another. */
export function oneLine(value: string): string {
  return /[\0-\x08\x0a-\x1f\x7f]/.test(value) ? value.replace(/[\0-\x08\x0a-\x1f\x7f]+/g, ' ') : value
}
