/** docs/verdict.md: its example passes the SDK's check, and the SDK makes the checks in the order of the page. */
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ACTIVE_ACR, MemoryReplayStore, verifyVerdict } from '../../clients/node/index.js'
import { packageFile } from '../../src/lib/package-root.js'
import {
  EXAMPLE_ACTION,
  EXAMPLE_SECRET,
  exampleClaims,
  exampleToken,
} from '../../tools/generators/verdict-page.js'

const page = readFileSync(packageFile('docs', 'verdict.md'), 'utf8')
const { aud, iat, iss, jti, nonce, sub } = exampleClaims()

const expectations = () => ({
  signingSecret: EXAMPLE_SECRET,
  audience: aud,
  issuer: iss,
  userId: sub,
  action: EXAMPLE_ACTION,
  nonce,
  acr: ACTIVE_ACR,
  maxAgeSeconds: 120,
  now: () => iat + 10,
  replayStore: new MemoryReplayStore(() => iat + 10),
})

/** A way to break each check of the page, in the order of its table. */
const FAULTS: Array<{ code: string; header?: object; claims?: object; secret?: string }> = [
  { code: 'malformed', header: { alg: 'HS512' } },
  { code: 'signature_invalid', secret: 'svc-sec-other' },
  { code: 'malformed', header: { typ: 'JWT' } },
  { code: 'wrong_issuer', claims: { iss: 'https://elsewhere.example.com/v1' } },
  { code: 'wrong_audience', claims: { aud: 'ten_other' } },
  { code: 'not_yet_valid', claims: { nbf: iat + 1000 } },
  { code: 'expired', claims: { exp: iat - 1000 } },
  { code: 'wrong_environment', claims: { env: 'sandbox' } },
  { code: 'wrong_user', claims: { sub: 'eve' } },
  { code: 'wrong_action', claims: { action_hash: '0'.repeat(64) } },
  { code: 'wrong_nonce', claims: { nonce: 'n-other' } },
  { code: 'not_approved', claims: { verdict: 'rejected', reason: 'no_match' } },
  { code: 'wrong_context', claims: { acr: 'urn:countersign:acr:face' } },
  { code: 'too_old', claims: { auth_time: iat - 1000 } },
  { code: 'evaluation_grade', claims: { model_grade: 'evaluation' } },
  { code: 'replay_suspected', claims: { replay: { suspected: true } } },
  { code: 'already_used' },
]

function tokenWith(faults: typeof FAULTS): string {
  const part = (...objects: object[]) =>
    Buffer.from(JSON.stringify(Object.assign({}, ...objects))).toString('base64url')
  const header = part(
    { alg: 'HS256', typ: 'stepup+jwt', kid: EXAMPLE_SECRET.id },
    ...faults.map((fault) => fault.header ?? {}),
  )
  const signed = `${header}.${part(exampleClaims(), ...faults.map((fault) => fault.claims ?? {}))}`
  const secret = faults.find((fault) => fault.secret)?.secret ?? EXAMPLE_SECRET.secret
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

it('the example of the page passes the check of the SDK', async () => {
  expect(page).toContain(exampleToken())
  await expect(verifyVerdict(exampleToken(), expectations())).resolves.toEqual(exampleClaims())
})

/** Number, text and code of each check of the page. */
const checks = [
  ...page
    .split('## Checks in order\n')[1]!
    .split(/^## /m)[0]!
    .matchAll(/^(\d+)\. (.*\.) `(\w+)`: /gm),
].map(([, number, text, code]) => ({ number: Number(number), text: text!, code }))

it('the page lists the checks of the SDK with their codes', () => {
  const expected = FAULTS.map(({ code }, index) => ({ number: index + 1, text: expect.any(String), code }))
  expect(checks).toEqual(expected)
})

it.each(FAULTS.map((fault, index) => ({ ...fault, index })))(
  'check $index names the fields of the token that it reads',
  ({ header, claims, index }) => {
    for (const field of Object.keys({ ...header, ...claims }).filter((name) => name !== 'reason'))
      expect(checks[index]!.text).toMatch(new RegExp(`\`${field}[.\`]`))
  },
)

it.each(FAULTS.map(({ code }, index) => [index + 1, code] as const))(
  'the SDK refuses a verdict that fails the checks from %i on with %s',
  async (number, code) => {
    const expected = expectations()
    expected.replayStore.consume(jti, iat + 1000)
    const token = tokenWith(FAULTS.slice(number - 1))
    await expect(verifyVerdict(token, expected)).rejects.toMatchObject({ code })
  },
)
