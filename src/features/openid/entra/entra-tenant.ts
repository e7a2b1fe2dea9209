/** A tenant of Microsoft Entra ID that asks the OpenID provider by its external authentication method: who it is, and where its keys are. */
import { CodedError } from '../../../lib/errors.js'
import { safeOrigin } from '../../../tenants/safe-origin.js'

/** Sign-in hosts of the clouds, as Microsoft's reference of external authentication methods lists them. */
export const ENTRA_CLOUDS = {
  global: 'https://login.microsoftonline.com',
  us: 'https://login.microsoftonline.us',
  china: 'https://login.partner.microsoftonline.cn',
} as const

type EntraCloud = keyof typeof ENTRA_CLOUDS

export interface EntraTenant {
  /** Directory (tenant) id: a GUID in lower case. */
  tenantId: string
  /** Application (client) id of the app registration: the audience of its hints, a GUID in lower case. */
  appId: string
  cloud: EntraCloud
  /** Pinned public keys of the tenant, where this service reaches no other host; null where they are fetched. */
  jwks: { keys: Record<string, unknown>[] } | null
  /** Address of the tenant's metadata where a relay passes it on; null for Microsoft's own. */
  metadataUrl: string | null
}

/** `invalid_entra_tenant`: an id, an address or a key set is not of the right form. */
export class EntraTenantError extends CodedError<'invalid_entra_tenant'> {}

/** A GUID, in either case. */
export const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface AskedEntraTenant {
  tenantId: string
  appId: string
  cloud: string
  /** Null for keys that are fetched. */
  jwks?: unknown
  metadataUrl?: string | undefined
}

/** @throws EntraTenantError */
export function entraTenant({ tenantId, appId, cloud, jwks, metadataUrl }: AskedEntraTenant): EntraTenant {
  const isPinned = jwks !== undefined && jwks !== null
  for (const [what, id] of [
    ['tenant id', tenantId],
    ['application id', appId],
  ] as const)
    if (!GUID.test(id)) refuse(`${id} is no ${what} of Entra ID: expected a GUID.`)
  if (!(cloud in ENTRA_CLOUDS)) refuse(`${cloud} is no cloud: use ${Object.keys(ENTRA_CLOUDS).join(', ')}.`)
  if (metadataUrl !== undefined && safeOrigin(metadataUrl) === null)
    refuse(`${metadataUrl} is no https address without user name and password (http only for localhost).`)
  if (isPinned && metadataUrl !== undefined) refuse('Pin the keys or name an address for them, not both.')
  return {
    tenantId: tenantId.toLowerCase(),
    appId: appId.toLowerCase(),
    cloud: cloud as EntraCloud,
    jwks: isPinned ? publicKeys(jwks) : null,
    metadataUrl: metadataUrl ?? null,
  }
}

/** The one address to which an answer goes. */
export function entraRedirectUri({ cloud }: Pick<EntraTenant, 'cloud'>): string {
  return `${ENTRA_CLOUDS[cloud]}/common/federation/externalauthprovider`
}

/** The issuer of the tenant's hints. */
export function entraIssuer({ cloud, tenantId }: Pick<EntraTenant, 'cloud' | 'tenantId'>): string {
  return `${ENTRA_CLOUDS[cloud]}/${tenantId}/v2.0`
}

export function entraMetadataUrl(entra: EntraTenant): string {
  return entra.metadataUrl ?? `${entraIssuer(entra)}/.well-known/openid-configuration`
}

/**
 * The user id by which a person of an Entra tenant is enrolled. Both ids never change, and together they name one account everywhere.
 * @param objectId the `oid` of the person
 */
export function entraUserId({ tenantId }: Pick<EntraTenant, 'tenantId'>, objectId: string): string {
  return `${tenantId}.${objectId.toLowerCase()}`
}

function publicKeys(jwks: unknown): NonNullable<EntraTenant['jwks']> {
  const { keys } = (jwks ?? {}) as { keys?: unknown }
  const isFine = Array.isArray(keys) && keys.length > 0 && keys.every((key) => isPublicRsa(key))
  if (!isFine) refuse('The key set must hold public RSA keys only, each with a `kid`.')
  return { keys: keys as Record<string, unknown>[] }
}

function isPublicRsa(key: unknown): boolean {
  const { kty, kid, d } = (key ?? {}) as Record<string, unknown>
  return kty === 'RSA' && typeof kid === 'string' && d === undefined
}

function refuse(message: string): never {
  throw new EntraTenantError('invalid_entra_tenant', message)
}
