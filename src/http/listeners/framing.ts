/** The rules for headers on both transports: a request whose length or host is ambiguous is not served. */

export type RequestHeaders = Readonly<Record<string, string | undefined>>

/** Headers of a request whose own are not served. */
export const NO_HEADERS: RequestHeaders = Object.freeze(Object.create(null))

/** Most bytes of URL and headers together. A longer head is refused with `headers_too_large`. */
export const MAX_HEAD_BYTES = 4096
/** Most bytes of URL and headers where browsers call: they also send the cookies that other services set for the whole domain. */
export const MAX_BROWSER_HEAD_BYTES = 16 * 1024

/** Headers that frame the message. A proxy and the parser may each use another one of two: that is how requests are smuggled. */
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
  // An empty length counts as none for the parser, and may not for a proxy in front.
  if (length === '') ambiguous = true
  if (headers.host === undefined) ambiguous = true
  return ambiguous ? null : headers
}

/**
 * Whether the connection ends with this request. uWebSockets.js parses chunk sizes laxly, so that the request after a chunked body may
 * begin elsewhere than a proxy in front believes. Both transports follow the rule, so that a proxy finds no difference.
 */
export function isLastOfConnection(headers: RequestHeaders): boolean {
  return headers['transfer-encoding'] !== undefined
}

/** Removes line breaks from a header value, which could inject another header. */
export function oneLine(value: string): string {
  return /[\0-\x08\x0a-\x1f\x7f]/.test(value) ? value.replace(/[\0-\x08\x0a-\x1f\x7f]+/g, ' ') : value
}
