/** Tests of what a verify offers to the policy of its tenant, and of what is refused before anybody stands in front of a camera. */
import { describe, expect, it } from 'vitest'
import type { PolicyRequirements } from '../../../src/contract/action-policy.js'
import {
  assertCaptureMeets,
  needsReview,
  offeredAcr,
  unmetRequirements,
} from '../../../src/features/policies/policy-check.js'

const acr = (rest: string) => `urn:countersign:acr:${rest}`
const rule = (required: PolicyRequirements) => ({
  ...{ hash: 'h', erasesUnused: false },
  rule: { name: 'r', require: required },
})
const terms = { model: 'pack@1', point: { fmr: 1e-4 } } as never
const NONE = { passiveLiveness: null }
const notMet = (requirement: string, issue: string) =>
  expect.objectContaining({
    ...{ code: 'policy_not_met', message: expect.stringContaining('the rule r is not met') },
    details: [expect.objectContaining({ requirement, issue: expect.stringContaining(issue) })],
  })

it('the acr of an approval names the challenge, the liveness network and the passkey', () => {
  expect(offeredAcr(NONE, null)).toBe(acr('face'))
  expect(offeredAcr({ passiveLiveness: 'net' }, null, 'swk')).toBe(acr('face-pad-swk'))
  expect(offeredAcr(NONE, { method: 'active-geometry@1' })).toBe(acr('face-active'))
  expect(offeredAcr({ passiveLiveness: 'net' }, { method: 'active-nod@1' }, 'hwk')).toBe(
    acr('face-active-nod-pad-hwk'),
  )
  expect(offeredAcr(NONE, { method: null })).toBe(acr('face-no-motion'))
})

/** Why the rule refuses a challenge, or a session of the hosted page that captures in this browser. */
const refusal = (
  required: PolicyRequirements | null,
  modes: Array<'turn' | 'nod'>,
  binding?: 'same' | 'any',
) => {
  const policies = { ruleFor: async () => required && rule(required) }
  const provider = { ...NONE, model: 'pack@1', forModel: () => null }
  const services = { policies, provider, store: {}, environment: 'sandbox' } as never
  const call = { tenant: { models: null }, input: { modes } } as never
  return assertCaptureMeets(services, call, binding).catch((error: unknown) => error)
}

it('a challenge whose movements the rule does not accept is refused before it is made', async () => {
  expect(await refusal({ acr: acr('face-active') }, ['turn'])).toEqual(notMet('acr', 'lacks nod'))
  expect(await refusal({ acr: acr('face-active-hwk') }, ['turn', 'nod'])).toBeUndefined()
  expect(await refusal({ acr: acr('face-pad') }, ['turn'])).toEqual(notMet('acr', 'lacks pad'))
  for (const required of [{}, null]) expect(await refusal(required, [])).toBeUndefined()
})

it('a session of the hosted page for any browser is refused where the rule wants the same', async () => {
  const bound = { capture_binding: 'same' } as const
  expect(await refusal(bound, [], 'any')).toEqual(notMet('capture_binding', 'is "any"'))
  for (const binding of ['same', undefined] as const)
    expect(await refusal(bound, [], binding)).toBeUndefined()
  expect(await refusal({}, [], 'any')).toBeUndefined()
})

it('a person looks at a capture with signals, where the rule asks for it', () => {
  const found = (signals: string[]) => ({ signals }) as never
  const review = rule({ integrity: 'review' })
  expect([needsReview(review, found(['virtual_camera'])), needsReview(review, found([]))]).toEqual([
    ...[true, false],
  ])
  expect(needsReview(review, null)).toBe(false)
  expect(needsReview(rule({}), found(['virtual_camera']))).toBe(false)
})

describe('the requirements of a rule', () => {
  const DAY_MS = 86_400_000
  const sealed = (id: string, model: string) => ({ id, model, createdAt: 5 * DAY_MS })
  const described: Record<string, object> = {
    own: { consent: { id: 'c1' }, photoCount: 4 },
    next: { consent: null, photoCount: 2 },
  }
  const vault = { describeReference: (_: unknown, { id }: { id: string }) => described[id] } as never
  const offered = (reference: object | null, following: object[] = []) =>
    ({
      ...{ acr: acr('face'), images: 1, isReported: false, binding: null, at: 7 * DAY_MS },
      subject: { reference, following },
    }) as never
  const unmet = (required: PolicyRequirements, given = offered(sealed('own', 'pack@1'))) =>
    unmetRequirements(rule(required), terms, given, vault).map(
      ({ requirement, issue }) => `${requirement} ${issue}`,
    )

  it('are compared with the request and with the reference', () => {
    expect(
      unmet({ min_photos: 2, integrity: 'review', capture_binding: 'same', max_fmr: 1e-5 }),
    ).toHaveLength(4)
    expect(
      unmet({ max_fmr: 1e-4, max_reference_age_days: 3, consent_id: 'c1', min_reference_photos: 4 }),
    ).toEqual([])
    expect(unmet({ max_reference_age_days: 2, consent_id: 'c2', min_reference_photos: 5 })).toHaveLength(3)
    expect(unmet({})).toEqual([])
  })

  it('count the photos of the template that is compared, and the consent of the enrollment', () => {
    const moved = offered(sealed('own', 'old@1'), [sealed('next', 'pack@1')])
    expect(unmet({ consent_id: 'c1', min_reference_photos: 3 }, moved)).toEqual([
      expect.stringContaining('a reference of 2 photos'),
    ])
    expect(unmet({ min_reference_photos: 4 }, offered(sealed('own', 'old@1')))).toEqual([])
    const unconsented = offered(sealed('next', 'pack@1'))
    expect(unmet({ consent_id: 'c1' }, unconsented)).toEqual([expect.stringContaining('no recorded consent')])
  })

  it('about a reference are met by a user who has none', () => {
    const required = { consent_id: 'c1', max_reference_age_days: 1, min_reference_photos: 9 }
    for (const given of [offered(null), { ...(offered(null) as object), subject: null } as never])
      expect(unmet(required, given)).toEqual([])
  })
})
