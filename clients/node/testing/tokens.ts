/** Makes signed tokens with Web Crypto: jose refuses to sign bytes of another realm's class, such as those under jsdom. */

/** @param payload the claims as base64url @param sign signs the bytes of header and payload */
export async function signedToken(
  header: object,
  payload: string,
  sign: (input: Uint8Array<ArrayBuffer>) => Promise<ArrayBuffer>,
): Promise<string> {
  const input = `${jsonPart(header)}.${payload}`
  return `${input}.${base64url(new Uint8Array(await sign(new TextEncoder().encode(input))))}`
}

/** @returns JSON as a part of a token, base64url */
export function jsonPart(value: object): string {
  return base64url(new TextEncoder().encode(JSON.stringify(value)))
}

export function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
