/** Grants of a named API key: its name, scopes, networks from which it may be used, and the client certificate that it needs. */
import { isNetwork } from '../config/parsers.js'
import { CodedError } from '../lib/errors.js'
import type { ApiKeyRecord } from '../storage/records.js'
import { AddressSet } from './address-set.js'
import { isScope, SCOPES, type Scope } from './key-scopes.js'

export interface KeyGrants {
  /** 1 to 64 letters, digits, dots, dashes or underscores. */
  name: string
  /** Scopes, or null for all scopes. */
  scopes: readonly string[] | null
  /** IP addresses and networks from which the key may be used, or null for any. */
  networks: readonly string[] | null
  /** The client certificate that must be shown: its SHA-256 fingerprint, or `CN=` and its common name. Default: none. */
  certificate?: string | null
}

/** A grant is invalid; the message says why. */
export class KeyGrantError extends CodedError<
  'invalid_key_name' | 'invalid_scope' | 'invalid_network' | 'invalid_certificate'
> {}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const MAX_NETWORKS = 64
/** Number of distinct network lists whose compiled form is cached. */
const MAX_COMPILED = 1000
const compiled = new Map<string, AddressSet>()

/** The grants as they are stored. @throws KeyGrantError */
export function checkedGrants({
  name,
  scopes,
  networks,
  certificate = null,
}: KeyGrants): Pick<ApiKeyRecord, 'name' | 'scopes' | 'networks' | 'certificate'> {
  if (!NAME.test(name))
    throw new KeyGrantError(
      'invalid_key_name',
      `"${name}" is not a name for a key: use 1 to 64 letters, digits, dots, dashes or underscores.`,
    )
  return {
    name,
    scopes: scopes === null ? null : checkedScopes(scopes).join(' '),
    networks: networks === null ? null : checkedNetworks(networks).join(' '),
    certificate: certificate === null ? null : checkedCertificate(certificate),
  }
}

/** Whether a key may be used from the address. @param address null where it is unknown: only a key without networks passes */
export function isAllowedFrom({ networks }: Pick<ApiKeyRecord, 'networks'>, address: string | null): boolean {
  if (networks === null) return true
  return address !== null && setOf(networks).has(address)
}

/** Whether the caller has the certificate that the key needs. @param shown null where the caller showed none that a trusted authority issued */
export function isShownBy(
  { certificate }: Pick<ApiKeyRecord, 'certificate'>,
  shown: { fingerprint: string; commonName: string | null } | null | undefined,
): boolean {
  if (certificate === null) return true
  if (!shown) return false
  return certificate === `sha256:${shown.fingerprint}` || certificate === `CN=${shown.commonName}`
}

function checkedCertificate(text: string): string {
  const fingerprint = text
    .replace(/^sha256:/i, '')
    .replaceAll(':', '')
    .toLowerCase()
  if (/^[0-9a-f]{64}$/.test(fingerprint)) return `sha256:${fingerprint}`
  if (/^CN=[^\p{C}]{1,128}$/u.test(text)) return text
  throw new KeyGrantError(
    'invalid_certificate',
    'A certificate is named by its SHA-256 fingerprint (64 hexadecimal digits, colons are fine), or by its common name as CN=payments.',
  )
}

function checkedScopes(scopes: readonly string[]): Scope[] {
  const unknown = scopes.find((scope) => !isScope(scope))
  if (unknown !== undefined || scopes.length === 0)
    throw new KeyGrantError(
      'invalid_scope',
      unknown === undefined
        ? `A key needs at least one scope of ${SCOPES.join(', ')}.`
        : `"${unknown}" is not a scope; the scopes are ${SCOPES.join(', ')}.`,
    )
  // `replace` only widens what an enrollment may do: without `enroll` every call would be refused.
  if (scopes.includes('replace') && !scopes.includes('enroll'))
    throw new KeyGrantError('invalid_scope', 'The scope "replace" needs the scope "enroll" too.')
  return SCOPES.filter((scope) => scopes.includes(scope))
}

function checkedNetworks(networks: readonly string[]): string[] {
  const wrong = networks.find((network) => !isNetwork(network))
  if (wrong !== undefined)
    throw new KeyGrantError(
      'invalid_network',
      `"${wrong}" is not an address or a network; write 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32.`,
    )
  if (networks.length === 0 || networks.length > MAX_NETWORKS)
    throw new KeyGrantError('invalid_network', `A key can have 1 to ${MAX_NETWORKS} networks.`)
  return [...new Set(networks)]
}

function setOf(networks: string): AddressSet {
  const known = compiled.get(networks)
  if (known) return known
  const set = new AddressSet(networks.split(' '))
  if (compiled.size >= MAX_COMPILED) compiled.delete(compiled.keys().next().value!)
  compiled.set(networks, set)
  return set
}
