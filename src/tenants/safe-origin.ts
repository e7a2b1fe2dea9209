/**
 * The origin of an address, or null where the page may not lead to it. Plain http is allowed only for this computer: otherwise anyone on
 * the network could read the session and answer for it.
 */
export function safeOrigin(address: string): string | null {
  let url: URL
  try {
    url = new URL(address)
  } catch {
    return null
  }
  // An asterisk would be a wildcard in a content security policy.
  if (url.username || url.password || !/^[\w.:[\]-]+$/.test(url.hostname)) return null
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal) ? url.origin : null
}
