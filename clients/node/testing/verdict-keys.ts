/** The key of the service in memory that signs public verdicts (ES256), and the documents by which a verifier finds it. */
import { TOKEN_TYPE } from '../token-type.js'
import { type FakeAnswer, fakeId } from './signatures.js'
import { signedToken } from './tokens.js'

const P256 = { name: 'ECDSA', namedCurve: 'P-256' }

export class FakeVerdictKeys {
  private kid = fakeId('vky')
  private pair: ReturnType<typeof newPair> | null = null

  constructor(private readonly issuer: string) {}

  /** Replaces the key at once, as an emergency rotation does: verdicts under the one before are refused. */
  replace(): void {
    this.kid = fakeId('vky')
    this.pair = null
  }

  /** @returns the claims of a token, to the byte, signed with the issuer's key */
  async sign(token: string): Promise<string> {
    const { kid } = this
    const { privateKey } = await this.keys()
    const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
    return signedToken({ alg: 'ES256', typ: TOKEN_TYPE, kid }, token.split('.')[1]!, (input) =>
      crypto.subtle.sign(algorithm, privateKey, input),
    )
  }

  /** @returns the document at a path without /v1, or null */
  async document(path: string): Promise<FakeAnswer | null> {
    if (path === '/.well-known/jwks.json')
      return cacheable({ keys: [await this.publicJwk()] }, 'application/jwk-set+json', 600)
    if (path === '/.well-known/openid-configuration')
      return cacheable(
        {
          issuer: this.issuer,
          jwks_uri: `${this.issuer}/.well-known/jwks.json`,
          response_types_supported: [],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['ES256'],
        },
        'application/json; charset=utf-8',
        3600,
      )
    return null
  }

  private async publicJwk() {
    const { kid } = this
    const { crv, kty, x, y } = await crypto.subtle.exportKey('jwk', (await this.keys()).publicKey)
    return { kty, crv, x, y, kid, use: 'sig', alg: 'ES256' }
  }

  private keys(): ReturnType<typeof newPair> {
    this.pair ??= newPair()
    return this.pair
  }
}

const newPair = () => crypto.subtle.generateKey(P256, true, ['sign', 'verify'])

function cacheable(body: object, contentType: string, maxAgeSeconds: number): FakeAnswer {
  return {
    status: 200,
    body,
    headers: { 'Content-Type': contentType, 'Cache-Control': `public, max-age=${maxAgeSeconds}` },
  }
}
