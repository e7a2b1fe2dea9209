/** The id that a caller gives a request of its own, in `X-Request-Id`. */

/** 1 to 128 printable ASCII characters. */
const CLIENT_REQUEST_ID = /^[\x20-\x7e]{1,128}$/

/** @returns undefined where there is none, or one that is not well-formed */
export function clientRequestIdOf(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  const id = headers['x-request-id']
  return id !== undefined && CLIENT_REQUEST_ID.test(id) ? id : undefined
}
