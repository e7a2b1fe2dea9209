/** Reads the id that a caller gives its request in `X-Request-Id`. */

/** 1 to 128 printable ASCII characters. */
const CLIENT_REQUEST_ID = /^[\x20-\x7e]{1,128}$/

/** @returns undefined where the header is absent or not well-formed */
export function clientRequestIdOf(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  const id = headers['x-request-id']
  return id !== undefined && CLIENT_REQUEST_ID.test(id) ? id : undefined
}
