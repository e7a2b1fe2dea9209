/**
 * Entra ID, simulated after Microsoft's reference for providers of external authentication methods: its keys and metadata, the form that
 * it posts through the browser, and the checks that it makes of an answer. It was never compared with the real one.
 */
import { createHash, type KeyObject, randomUUID, X509Certificate } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeProtectedHeader, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { DAY_MS, type ManualClock, SECOND_MS } from '../../src/lib/clock.js'
import { rsaKey } from './rsa-keys.js'

const HOST = 'https://login.microsoftonline.com'
export const ENTRA_REDIRECT = `${HOST}/common/federation/externalauthprovider`
const CLAIMS = {
  id_token: {
    acr: { essential: true, values: ['possessionorinherence'] },
    amr: {
      essential: true,
      values: 'face fido fpt hwk iris otp pop retina sc sms swk tel vbm'.split(' '),
    },
  },
}

type Form = Record<string, string>

interface SigningKey {
  kid: string
  publicKey: KeyObject
  privateKey: KeyObject
  issuer?: string
}

/** A request for a second factor, and what an answer to it must hold. */
export interface EntraAsk {
  form: Form
  sub: string
}

export class SimulatedEntra {
  readonly tenantId = randomUUID()
  readonly appId = randomUUID()
  /** Keys in the published set. The last one signs. */
  readonly keys: SigningKey[] = [newKey()]
  /** Number of requests for the keys. */
  fetches = 0
  /** Number of requests for anything, answered or not. */
  asked = 0
  isAway = false
  private server!: Server
  /** The provider's metadata and keys, which Entra ID reads once a day. */
  private cached: { at: number; issuer: string; certificates: Map<string, X509Certificate> } | null = null

  private constructor(private readonly clock: ManualClock) {}

  static async start(clock: ManualClock): Promise<SimulatedEntra> {
    const entra = new SimulatedEntra(clock)
    entra.server = createServer((request, response) => {
      entra.asked++
      const body = entra.isAway ? undefined : entra.document(request.url!)
      response.writeHead(body ? 200 : 503, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    })
    await new Promise<void>((resolve) => entra.server.listen(0, '127.0.0.1', resolve))
    return entra
  }

  stop(): void {
    this.server.close()
  }

  get issuer(): string {
    return `${HOST}/${this.tenantId}/v2.0`
  }

  get metadataUrl(): string {
    return `${this.origin}/${this.tenantId}/v2.0/.well-known/openid-configuration`
  }

  /** The published keys, as `--jwks` takes them. */
  get jwks(): { keys: Record<string, unknown>[] } {
    return {
      keys: this.keys.map(({ kid, publicKey, issuer = `${HOST}/{tenantid}/v2.0` }) => ({
        ...publicKey.export({ format: 'jwk' }),
        ...{ kid, use: 'sig', issuer },
      })),
    }
  }

  /** The next key signs at once, as in an immediate roll-over. */
  rollOver(): void {
    this.keys.shift()
    this.keys.push(newKey())
  }

  /** A key that signs only for another issuer. */
  publishForeignKey(): SigningKey {
    const key = { ...newKey(), issuer: `${HOST}/${randomUUID()}/v2.0` }
    this.keys.unshift(key)
    return key
  }

  /** @param changes wrong claims instead of the right ones; undefined leaves one out */
  hint(
    oid: string,
    changes: Record<string, unknown> = {},
    { key = this.keys.at(-1)!, alg = 'RS256' }: { key?: SigningKey; alg?: string } = {},
  ): Promise<string> {
    const now = Math.floor(this.clock.now() / SECOND_MS)
    const claims = {
      ver: '2.0',
      ...{ iss: this.issuer, aud: this.appId, tid: this.tenantId, oid, sub: subjectOf(oid) },
      ...{ name: 'Ada Lovelace', preferred_username: 'ada@contoso.example' },
      // Issued as expired, so that it is good for nothing but a hint.
      ...{ iat: now, nbf: now, exp: now - 1 },
      ...changes,
    }
    return new SignJWT(claims as JWTPayload)
      .setProtectedHeader({ alg, typ: 'JWT', kid: key.kid })
      .sign(key.privateKey)
  }

  async ask(
    clientId: string,
    oid: string,
    changes: Record<string, string | undefined> = {},
  ): Promise<EntraAsk> {
    const form = {
      ...{ scope: 'openid', response_type: 'id_token', response_mode: 'form_post', client_id: clientId },
      redirect_uri: ENTRA_REDIRECT,
      claims: JSON.stringify(CLAIMS),
      nonce: `AwABAAEAAAACAOz_${randomUUID()}`,
      state: `state-${randomUUID()}`,
      'client-request-id': randomUUID(),
      'unknown-parameter': 'is ignored',
      ...changes,
      id_token_hint: changes.id_token_hint ?? (await this.hint(oid)),
    }
    const entries = Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined)
    return { form: Object.fromEntries(entries), sub: subjectOf(oid) }
  }

  /**
   * Checks an answer as the reference says that Entra ID does.
   * @param discoveryUrl full address, as an administrator enters it
   * @returns claims of the ID token; throws where the sign-in fails
   */
  async accept({ form, sub }: EntraAsk, answer: Form, discoveryUrl: string) {
    if (answer.state !== form.state) throw new Error('The state is another one.')
    if (answer.id_token === undefined) throw new Error(`The provider reported ${answer.error}.`)
    const { issuer, certificates } = await this.provider(discoveryUrl)
    const certificate = certificates.get(decodeProtectedHeader(answer.id_token).kid!)
    if (!certificate) throw new Error('AADSTS50012: failed signature verification.')
    const { payload } = await jwtVerify(answer.id_token, certificate.publicKey, {
      ...{ issuer, audience: form.client_id!, subject: sub, algorithms: ['RS256'] },
      ...{ currentDate: new Date(this.clock.now()), requiredClaims: ['exp', 'iat'] },
    })
    const asked = (JSON.parse(form.claims!) as typeof CLAIMS).id_token
    if (payload.nonce !== form.nonce) throw new Error('The nonce is another one.')
    if (typeof payload.acr !== 'string' || !asked.acr.values.includes(payload.acr)) throw new Error('acr')
    const { amr } = payload
    if (!Array.isArray(amr) || amr.length !== 1 || !asked.amr.values.includes(amr[0])) throw new Error('amr')
    return payload
  }

  /** Reads metadata and certificates, and keeps them for a day. */
  private async provider(discoveryUrl: string) {
    if (this.cached && this.clock.now() - this.cached.at < DAY_MS) return this.cached
    const read = async (url: string) => {
      const response = await fetch(url)
      const text = await response.text()
      if (Number(response.headers.get('content-length')) !== Buffer.byteLength(text))
        throw new Error('Entra ID needs a content-length.')
      return JSON.parse(text)
    }
    const metadata = await read(discoveryUrl)
    if (!discoveryUrl.startsWith(metadata.issuer)) throw new Error('The issuer is not that of the address.')
    if (!metadata.response_types_supported.includes('id_token')) throw new Error('response_types_supported')
    if (!metadata.id_token_signing_alg_values_supported.includes('RS256')) throw new Error('RS256')
    const { keys } = (await read(metadata.jwks_uri)) as { keys: Array<{ kid: string; x5c: string[] }> }
    const certificates = new Map(
      keys.map(({ kid, x5c }) => [kid, new X509Certificate(Buffer.from(x5c[0]!, 'base64'))]),
    )
    this.cached = { at: this.clock.now(), issuer: metadata.issuer as string, certificates }
    return this.cached
  }

  private document(path: string): unknown {
    const jwksPath = `/${this.tenantId}/discovery/v2.0/keys`
    if (path === jwksPath) {
      this.fetches++
      return this.jwks
    }
    return { issuer: this.issuer, jwks_uri: `${this.origin}${jwksPath}` }
  }

  private get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }
}

/** Pairwise: another application would get another one. */
function subjectOf(oid: string): string {
  return createHash('sha256').update(`pairwise ${oid}`).digest('base64url')
}

function newKey(): SigningKey {
  return { kid: randomUUID(), ...rsaKey() }
}
