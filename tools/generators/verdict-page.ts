/** Makes the example of docs/verdict.md with the code that signs verdicts, and reads the tables of the page. */
import { createHash } from 'node:crypto'
import { decodeProtectedHeader } from 'jose'
import type Type from 'typebox'
import { type Reached, VerdictFields } from '../../src/api/verdict-fields.js'
import { canonicalDisplay, displayAction } from '../../src/contract/actions/display-action.js'
import { canonicalJson } from '../../src/contract/canonical-json.js'
import { CLAIMS } from '../../src/contract/verdict.js'
import { actionHash, signVerification } from '../../src/crypto/verification-jwt.js'
import { partsOf } from '../../src/features/feature-parts.js'
import { FEATURES, loadFeatures } from '../../src/features/index.js'

/** The secret of the example, which is also one of the test vectors'. */
export const EXAMPLE_SECRET = {
  id: 'sec_01a1fc301e9773feadea676a8f8270e5',
  secret: 'svc-sec-4BYKe6BI7FICf1UCpp8fFy2Usz9ILo9xP0XBMmGSkI6',
}
export const EXAMPLE_ACTION = {
  type: 'payment',
  amount: '1250.00',
  currency: 'EUR',
  payee: { name: 'Grace Hopper', account: 'DE89370400440532013000' },
}
const ISSUED_AT = 1_800_000_000
const LIFETIME_SECONDS = 300
const CHALLENGE_ID = 'chl_01a1fc3033a77c0e9e6d9b1f5c2a4e80'

/** The fields of a verdict by the service with all its features. */
const LOADED = await loadFeatures()
export const FIELDS = new VerdictFields(partsOf(LOADED).verify.map(({ fields }) => fields))
/** The claims that the service writes: those of the contract, then those of features that it does not name, which members of the response describe. */
export const ALL_CLAIMS: typeof CLAIMS = {
  ...CLAIMS,
  ...Object.fromEntries(
    FIELDS.namesAt('jwt')
      .filter((name) => !(name in CLAIMS))
      .map((name) => {
        const { description = '' } = (FIELDS.schema as Type.TObject).properties[name] as {
          description?: string
        }
        return [name, { description: `${description} Absent where there is none.`.trim(), isOptional: true }]
      }),
  ),
}

/** Names of the features with a part of verifications, in the order of their proofs. */
const VERIFYING = FEATURES.filter((_, i) => LOADED[i]!.parts?.verify).map(({ name }) => name)

/** The claims that tests of the example read, among others. */
type ExampleClaims = Record<string, unknown> &
  Record<'aud' | 'iss' | 'jti' | 'nonce' | 'sub', string> & { iat: number }

/** Claims of an approval on a page of the customer's own with a nonce, or of a rejection of photos without one: together they have every claim. */
export function exampleClaims(verdict: 'approved' | 'rejected' = 'approved'): ExampleClaims {
  const isApproved = verdict === 'approved'
  const liveness = {
    checked: isApproved,
    passed: isApproved || null,
    methods: isApproved ? ['active-geometry@1'] : [],
  }
  // The claims need no more of the call and the verdict than this.
  const reached = {
    call: {
      input: {
        user_id: 'ada',
        action: EXAMPLE_ACTION,
        ...(isApproved ? { nonce: 'n-4711', challenge: { challenge_id: CHALLENGE_ID } } : {}),
      },
      tenant: { id: 'ten_01a1fc301e95727e8b885c8bb08d5b5f' },
      environment: 'production',
      requestId: '01a1fc30-33ed-77cd-9ca9-f4430e93b957',
      ...(isApproved
        ? {}
        : { captureSession: { id: 'cap_01a1fc301e95727e8b885c8bb08d0001', binding: 'same' } }),
    },
    verdict: {
      evidence: { film: isApproved ? { steps: [] } : null },
      reason: isApproved ? null : 'no_match',
      possession: null,
      replaySuspected: false,
      comparison: {
        score: isApproved ? 0.756876 : 0.103412,
        sample: { liveness: { ...liveness, score: null } },
      },
      terms: {
        model: 'acme-faces@1.0.0',
        point: { fmr: 1e-4, basis: 'measured', grade: 'production' },
      },
    },
    issuer: 'https://countersign.example.com/v1',
    verificationId: 'ver_01a1fc30340671f4abee5c458e774724',
    issuedAt: ISSUED_AT,
    expiresAt: ISSUED_AT + LIFETIME_SECONDS,
    actionHash: actionHash(canonicalJson(EXAMPLE_ACTION)),
  } as unknown as Reached
  // Claims of a tenant with a policy, which the page lists and its example does not show.
  const policy = { inForce: { hash: 'a'.repeat(64), rule: { name: 'payments', require: {} } } }
  const passkey = { id: 'psk_01a1fc301e95727e8b885c8bb08d0002', possession: 'hwk' }
  const evidence: Record<string, unknown> = isApproved
    ? { 'displayed-actions': { display: exampleDisplay() } }
    : { policies: policy, passkeys: passkey }
  const found = VERIFYING.map((name) => evidence[name] ?? null)
  return FIELDS.of('jwt', reached, found) as ExampleClaims
}

function exampleDisplay() {
  const display = displayAction(EXAMPLE_ACTION, 'en')!
  const hash = createHash('sha256').update(canonicalDisplay(display)).digest('hex')
  return { hash, locale: display.locale, version: display.version, source: 'challenge' as const }
}

export const exampleToken = () => signVerification(exampleClaims(), EXAMPLE_SECRET)

/** @returns the page with the example that the code makes now, and with a line for each claim that it does not list yet */
export function withExample(page: string): string {
  const listed = claimsOf(page)
  const further = Object.entries(ALL_CLAIMS).filter(([name]) => !listed.has(name))
  const lines = further.map(([name, { description }]) => `- \`${name}\` (see the response): ${description}\n`)
  const token = exampleToken()
  const block = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``
  const json = (value: unknown) => block('json', JSON.stringify(value, null, 2))
  const made = [block('', token), 'Its header:', json(decodeProtectedHeader(token)), 'Its claims:']
  const text = [...made, json(exampleClaims())].join('\n\n')
  const whole = page.replace(/(?<=^## Claims\n[\s\S]*?^- .*\n)(?!- )/m, () => lines.join(''))
  return whole.replace(
    /(<!-- example -->\n)[\s\S]*(<!-- end of example -->)/,
    (_match, begin: string, end: string) => `${begin}\n${text}\n\n${end}`,
  )
}

/** Rows of the first table under a heading, cell by cell, without the head. */
export function tableUnder(page: string, heading: string): string[][] {
  const section = page.split(`## ${heading}\n`)[1]?.split(/^## /m)[0] ?? ''
  const table = /(?:^\|.*\n)+/m.exec(section)?.[0] ?? ''
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map((row) => row.slice(2, -2).split(' | '))
}

/** The claims that the page lists: what it says of each, with the sentence that says when it is absent. */
export function claimsOf(page: string): Map<string, string> {
  const section = page.split('## Claims\n')[1]!.split(/^##/m)[0]!
  return new Map([...section.matchAll(/^- `(\w+)` (.*)$/gm)].map(([, name, text]) => [name!, text!]))
}
