/**
 * The link for a phone as a QR code (ISO/IEC 18004) in a data: URL, which needs no further request, and whether a phone can reach its host.
 */
import { renderSVG } from 'uqr'

export function phoneCode(url: string): string {
  return `data:image/svg+xml;base64,${Buffer.from(renderSVG(url, { ecc: 'M', border: 2 })).toString('base64')}`
}

/** Returns the host of an origin that only this computer reaches (RFC 6761, section 6.3), or null for an origin that a phone may reach. */
export function loopbackHost(origin: string): string | null {
  const { hostname, host } = new URL(origin)
  const isLoopback = /^(127(\.\d{1,3}){3}|\[::1\]|(.+\.)?localhost)$/.test(hostname)
  return isLoopback ? host : null
}
