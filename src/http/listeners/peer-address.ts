/** Writes a caller's address in one form for both transports, so that addresses can be compared and cut into networks. */
import { isIPv4 } from 'node:net'

const MAPPED_IPV4 = /^(?:0000:){5}ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})([0-9a-f]{2})$/

/** IPv4 in dotted form, also where a socket of `[::]` reports it as IPv6; IPv6 written out in full, without its zone. */
export function peerAddress(address: string): string {
  if (!address.includes(':')) return address
  const written = writtenOut(address.replace(/%.*$/, '').toLowerCase())
  const [, ...octets] = MAPPED_IPV4.exec(written) ?? []
  return octets.length > 0 ? octets.map((octet) => Number.parseInt(octet, 16)).join('.') : written
}

function writtenOut(address: string): string {
  const last = address.slice(address.lastIndexOf(':') + 1)
  const groups = (text: string) => text.split(':').filter(Boolean)
  const [head = '', tail] = (
    isIPv4(last) ? `${address.slice(0, -last.length)}${hexadecimal(last)}` : address
  ).split('::')
  const [before, after] = [groups(head), groups(tail ?? '')]
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array<string>(Math.max(0, zeros)).fill('0'), ...after]
    .map((group) => group.padStart(4, '0'))
    .join(':')
}

/** Writes the last 32 bits of an IPv6 address, given as IPv4, as two groups of IPv6. */
function hexadecimal(dotted: string): string {
  const [a, b, c, d] = dotted.split('.').map((octet) => Number(octet).toString(16).padStart(2, '0'))
  return `${a}${b}:${c}${d}`
}
