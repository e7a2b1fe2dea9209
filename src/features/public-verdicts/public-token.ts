import type { VerifyPart } from '../../api/call-parts.js'
import { text } from '../../api/schemas.js'
import { tokenHeader } from '../../crypto/verification-jwt.js'
import { SignatureAwaited } from '../../verification/verdict-token.js'
import type { VerdictKeyRing } from './verdict-key-ring.js'
import type { VerdictSigner } from './verdict-signer.js'

export const publicTokenFields: VerifyPart<string> = {
  fields: [
    {
      name: 'jwt_public',
      response: text(
        'The same claims under a key of the issuer (ES256). Anyone can check it with the keys at `/v1/.well-known/jwks.json`, and nobody else can make it.',
      ),
      value: (_, token) => token,
    },
  ],
}

export const publicTokenPart = (ring: Pick<VerdictKeyRing, 'signer'>): VerifyPart<string> => ({
  ...publicTokenFields,
  create: ({ environment }) => ({ furtherToken: () => publicToken(() => ring.signer(environment)) }),
})

/**
 * Makes the public token of one verify: an ES256 token with the same claims as the JWT, to the byte. A signature that takes time is made
 * outside of the transaction, so that it holds nobody else's commit.
 */
function publicToken(signerNow: () => VerdictSigner): (jwt: string) => string {
  let made: { input: string; signature: Buffer } | undefined
  return (jwt) => {
    const signer = signerNow()
    const input = `${tokenHeader('ES256', signer.kid)}.${jwt.split('.')[1]}`
    const signature = made?.input === input ? made.signature : signer.sign(input)
    if (Buffer.isBuffer(signature)) return `${input}.${signature.toString('base64url')}`
    throw new SignatureAwaited(
      signature.then((later) => {
        made = { input, signature: later }
      }),
    )
  }
}
