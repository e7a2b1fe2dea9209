import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { actionHash, MemoryReplayStore, VerdictError, verifyVerdict } from '../../clients/node/index.js'
import { signVerification } from '../../src/crypto/verification-jwt.js'
import { checkAsync, damaged } from '../support/properties.js'

const NOW = 1_800_000_000
const secret = { id: 'sec_1', secret: 'svc-sec-of-the-tenant' }
const claims = {
  iss: 'https://stepup.example/v1',
  aud: 'ten_1',
  sub: 'ada',
  iat: NOW,
  nbf: NOW,
  exp: NOW + 300,
  jti: 'ver_1',
  txn: 'req_1',
  env: 'production',
  verdict: 'approved',
  score: 0.9,
  fmr: 1e-4,
  fmr_basis: 'measured',
  model_grade: 'production',
  action: 'pay',
  action_hash: await actionHash('pay'),
  amr: ['face'],
  acr: 'urn:countersign:acr:face',
  auth_time: NOW,
  model: 'baseline@1',
  liveness: { checked: false, passed: null, methods: [], score: null },
  replay: { suspected: false },
}
const jwt = signVerification(claims, secret)

/** `approved`, or the code of the refusal; anything else goes on. */
const verdict = (token: string) =>
  verifyVerdict(token, {
    signingSecret: secret,
    audience: 'ten_1',
    userId: 'ada',
    action: 'pay',
    now: () => NOW,
    replayStore: new MemoryReplayStore(),
  }).then(
    () => 'approved',
    (error: unknown) => {
      if (!(error instanceof VerdictError)) throw error
      return error.code
    },
  )

describe('a verdict', () => {
  it('is approved as it was signed', async () => {
    expect(await verdict(jwt)).toBe('approved')
  })

  it('is refused with a code when it is damaged or any other text, unless it still says the same', async () => {
    const decoded = (token: string) =>
      token.split('.').map((part) => Buffer.from(part, 'base64url').toString('hex'))
    await checkAsync(
      fc.asyncProperty(fc.oneof(damaged(fc.constant(jwt)), fc.string({ unit: 'binary' })), async (token) => {
        if ((await verdict(token)) === 'approved') expect(decoded(token)).toEqual(decoded(jwt))
      }),
      1000,
    )
  })

  it('is refused with a code under another header or other claims, even when a configured secret signed it', async () => {
    const names = 'aud sub iat nbf exp jti env verdict action_hash acr auth_time replay'
    const name = fc.constantFrom(...names.split(' '))
    const changes = fc.dictionary(name, fc.jsonValue({ maxDepth: 1 }), { minKeys: 1, maxKeys: 2 })
    await checkAsync(
      fc.asyncProperty(
        changes,
        fc.constantFrom(secret, { ...secret, secret: 'another' }),
        async (changed, signer) => {
          const forged = { ...claims, ...changed }
          const result = await verdict(signVerification(forged, signer))
          if (signer !== secret) expect(result).toBe('signature_invalid')
          else if (result === 'approved')
            // Claims that the caller did not ask about may differ; claims that bind the verdict may not.
            for (const bound of ['sub', 'env', 'verdict', 'action_hash'] as const)
              expect(forged[bound]).toEqual(claims[bound])
        },
      ),
      1000,
    )
  })
})
