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
  private readonly fetched = new Map<string, Fetched>()
  /** When keys were last looked for, with or without success. */
  private readonly lookedAt = new Map<string, number>()
  private readonly pending = new Map<string, Promise<Fetched>>()

  constructor(private readonly clock: Clock) {}

  /**
   * @returns the key that a header names, for `compactVerify`
   * @throws JWKSNoMatchingKey for an unknown key, or one that signs for another issuer; RefusedRequest unavailable, after which the person may try again
   */
  finder(entra: EntraTenant): CompactVerifyGetKey {
    return async (header, token) => {
      if (entra.jwks) return createLocalJWKSet(entra.jwks as unknown as JSONWebKeySet)(header, token)
      let known = await this.current(entra)
      try {
        return await known.find(header, token)
      } catch (error) {
        const url = entraMetadataUrl(entra)
        if (!(error instanceof errors.JWKSNoMatchingKey) || this.isCooling(url)) throw error
        // A roll-over: the key is newer than our last look.
        known = await this.fetch(entra)
        return known.find(header, token)
      }
    }
  }

  private async current(entra: EntraTenant): Promise<Fetched> {
    const url = entraMetadataUrl(entra)
    const known = this.fetched.get(url)
    const age = known ? this.clock.now() - known.at : Number.POSITIVE_INFINITY
    if (age < FRESH_MS || (age < STALE_MS && this.isCooling(url))) return known!
    try {
      return await this.fetch(entra)
    } catch (error) {
      if (age < STALE_MS) return known!
      throw error
    }
  }

  private isCooling(url: string): boolean {
    return this.clock.now() - (this.lookedAt.get(url) ?? Number.NEGATIVE_INFINITY) < COOLDOWN_MS
  }

  /** Several sign-ins at once share one request. */
  private fetch(entra: EntraTenant): Promise<Fetched> {
    const url = entraMetadataUrl(entra)
    let pending = this.pending.get(url)
    if (!pending) {
      this.lookedAt.set(url, this.clock.now())
      pending = this.fetchNow(entra, url).finally(() => this.pending.delete(url))
      this.pending.set(url, pending)
    }
    return pending
  }

  private async fetchNow(entra: EntraTenant, url: string): Promise<Fetched> {
    try {
      const { issuer, jwks_uri: jwksUri } = (await getJson(url)) as Record<string, unknown>
      if (issuer !== entraIssuer(entra)) throw new Error(`the metadata is of another issuer: ${issuer}`)
      if (typeof jwksUri !== 'string' || safeOrigin(jwksUri) === null)
        throw new Error('the metadata names no https address of keys')
      const { keys } = (await getJson(jwksUri)) as { keys?: unknown }
      if (!Array.isArray(keys)) throw new Error('the answer is no key set')
      // Some keys of the shared service sign only for one issuer, such as that of personal accounts.
      const find = createLocalJWKSet({ keys: keys.filter((key) => signsFor(key, entra)) })
      const fetched = { find, at: this.clock.now() }
      this.fetched.set(url, fetched)
      return fetched
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
