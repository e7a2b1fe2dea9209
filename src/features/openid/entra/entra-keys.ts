/** The public keys by which Entra ID signs hints: pinned with the application, or fetched by the tenant's metadata and kept for an hour. */
import { type CompactVerifyGetKey, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose'
import { type Clock, HOUR_MS, SECOND_MS } from '../../../lib/clock.js'
import { safeOrigin } from '../../../tenants/safe-origin.js'
import { RefusedRequest } from '../refusals.js'
import { type EntraTenant, entraIssuer, entraMetadataUrl } from './entra-tenant.js'

/** How long keys are used without a look for new ones, and how long at most when Microsoft cannot be reached. */
const FRESH_MS = HOUR_MS
const STALE_MS = 24 * HOUR_MS
/** Least time between two looks while keys are known: a stranger can invent key ids, and a look at a host that is away takes seconds. */
const COOLDOWN_MS = 30 * SECOND_MS
/** Time for the metadata, and again for the keys. */
const TIMEOUT_MS = 5 * SECOND_MS
const MAX_BYTES = 262_144

interface Fetched {
  find: CompactVerifyGetKey
  at: number
}

export class EntraKeys {
  private readonly known = new Map<string, FetchedKeys>()

  constructor(private readonly clock: Clock) {}

  /**
   * @returns the key that a header names, for `compactVerify`
   * @throws JWKSNoMatchingKey for an unknown key, or one that signs for another issuer; RefusedRequest unavailable, after which the person may try again
   */
  finder(entra: EntraTenant): CompactVerifyGetKey {
    if (entra.jwks) return createLocalJWKSet(entra.jwks as unknown as JSONWebKeySet)
    const name = `${entraIssuer(entra)} ${entraMetadataUrl(entra)}`
    const keys = this.known.get(name) ?? new FetchedKeys(entra, this.clock)
    this.known.set(name, keys)
    return (header, token) => keys.find(header, token)
  }
}

/** The keys at one address. */
class FetchedKeys {
  private fetched: Fetched | undefined
  /** When keys were last looked for, with or without success. */
  private lookedAt = Number.NEGATIVE_INFINITY
  private pending: Promise<Fetched> | undefined

  constructor(
    private readonly entra: EntraTenant,
    private readonly clock: Clock,
  ) {}

  async find(...[header, token]: Parameters<CompactVerifyGetKey>) {
    const known = await this.current()
    try {
      return await known.find(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || this.isCooling) throw error
      // A roll-over: the key is newer than our last look.
      return (await this.fetch()).find(header, token)
    }
  }

  private async current(): Promise<Fetched> {
    const known = this.fetched
    const age = known ? this.clock.now() - known.at : Number.POSITIVE_INFINITY
    if (age < FRESH_MS || (age < STALE_MS && this.isCooling)) return known!
    try {
      return await this.fetch()
    } catch (error) {
      if (age < STALE_MS) return known!
      throw error
    }
  }

  private get isCooling(): boolean {
    return this.clock.now() - this.lookedAt < COOLDOWN_MS
  }

  /** Several sign-ins at once share one request. */
  private fetch(): Promise<Fetched> {
    this.pending ??= this.fetchNow().finally(() => {
      this.pending = undefined
    })
    return this.pending
  }

  private async fetchNow(): Promise<Fetched> {
    this.lookedAt = this.clock.now()
    try {
      const { issuer, jwks_uri: jwksUri } = (await getJson(entraMetadataUrl(this.entra))) as Record<
        string,
        unknown
      >
      if (issuer !== entraIssuer(this.entra)) throw new Error(`the metadata is of another issuer: ${issuer}`)
      if (typeof jwksUri !== 'string' || safeOrigin(jwksUri) === null)
        throw new Error('the metadata names no https address of keys')
      const { keys } = (await getJson(jwksUri)) as { keys?: unknown }
      if (!Array.isArray(keys)) throw new Error('the answer is no key set')
      // Some keys of the shared service sign only for one issuer, such as that of personal accounts.
      const find = createLocalJWKSet({ keys: keys.filter((key) => signsFor(key, this.entra)) })
      this.fetched = { find, at: this.clock.now() }
      return this.fetched
    } catch (cause) {
      throw new RefusedRequest('unavailable', "Entra ID's keys", { cause })
    }
  }
}

function signsFor(key: { issuer?: unknown }, entra: EntraTenant): boolean {
  const { issuer } = key
  return typeof issuer !== 'string' || issuer.replace('{tenantid}', entra.tenantId) === entraIssuer(entra)
}

async function getJson(url: string): Promise<unknown> {
  const response = await fetch(url, {
    headers: { Accept: 'application/json' },
    // A redirect must not lead to keys of somebody else.
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}`)
  let text = ''
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    text += part
    if (text.length > MAX_BYTES) throw new Error(`${url} answered with more than ${MAX_BYTES} characters`)
  }
  return JSON.parse(text)
}
