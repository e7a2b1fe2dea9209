/** Tests of what an approval of a first person has to be, and of the faces that are compared with the first person's. */
import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { NO_EPOCHS } from '../../../src/crypto/epoch-key.js'
import type { ApprovalRecord } from '../../../src/features/policies/approval-table.js'
import { needsSecondApprover, SecondApproval } from '../../../src/features/policies/second-approval.js'
import { ManualClock, MINUTE_MS } from '../../../src/lib/clock.js'
import { type Subject, TemplateVault } from '../../../src/users/template-vault.js'

const AT = Date.UTC(2026, 5, 1)
const MODEL = 'pack@1'
const vault = new TemplateVault(
  { wrapping: { current: randomBytes(32), others: [] }, epochs: NO_EPOCHS, lookup: randomBytes(32) },
  new ManualClock(AT),
)
const approvals = new SecondApproval(vault)
const indexOf = (user: string) => vault.blindIndex('ten_a', 'production', user)
const action = { type: 'login', application: 'Bank' }
/** Any direction of a face; equal numbers are the same person. */
const faceOf = (person: number) => Float32Array.from({ length: 8 }, (_, i) => Number(i === person))
const provider = {
  model: MODEL,
  similarity: (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * b[i]!, 0),
}

let kept: ApprovalRecord | undefined
let first: Subject | null
const statements = {
  one: async (id: string) => (kept?.id === id ? kept : undefined),
  insert: async (record: ApprovalRecord) => {
    kept = record
  },
  use: async (at: number) => {
    if (kept!.usedAt !== null) return false
    kept!.usedAt = at
    return true
  },
}
const store = { statements: () => statements } as never
const approving = new SecondApproval({
  actionBinding: vault.actionBinding.bind(vault),
  openReference: vault.openReference.bind(vault),
  find: async (_read, blindIndex) => (blindIndex.equals(indexOf('first')) ? first : null),
})

const inForce = (second_approver: object | undefined = { within_minutes: 5 }, hash = 'h1') =>
  ({ hash, rule: { name: 'r', require: { second_approver } } }) as never
const NOBODY = { hash: 'h1', rule: { name: 'r', require: {} } } as never
const call = (user: string, fields: object = {}, changes: object = {}) =>
  ({
    input: { action, ...fields },
    tenant: { id: 'ten_a' },
    environment: 'production',
    user: { id: user, blindIndex: indexOf(user) },
    ...changes,
  }) as never
const second = (fields: object = {}, changes: object = {}) =>
  call('second', { approval_id: 'ver_1', ...fields }, changes)

async function enrolled(user: string, person: number): Promise<Subject> {
  const subject = vault.create('ten_a', 'production', indexOf(user), user)
  const fused = { embedding: faceOf(person), photoCount: 1, weight: 1, consent: null }
  const reference = await vault.putReference({ putReference: async () => {} } as never, subject, MODEL, fused)
  return { ...subject, reference }
}
const faceFound = (person: number, subject: Subject | null = null, threshold = 0.9) =>
  ({
    ...{ subject, provider, threshold },
    comparison: { samples: [{ imageIndex: 0, embedding: faceOf(person) }] },
  }) as never

beforeEach(async () => {
  kept = undefined
  first = await enrolled('first', 1)
  await approvals.keep(store, call('first'), inForce(), { verificationId: 'ver_1', at: AT })
})

it('a rule asks for a second person or does not', () => {
  expect(needsSecondApprover(inForce())).toBe(true)
  expect(needsSecondApprover(NOBODY)).toBe(false)
})

describe('an approval', () => {
  it('is kept for as long as the rule says, for this user and action', () => {
    expect(kept).toMatchObject({ id: 'ver_1', createdAt: AT, expiresAt: AT + 5 * MINUTE_MS, usedAt: null })
    expect(kept).toMatchObject({ tenantId: 'ten_a', environment: 'production', policyHash: 'h1' })
    expect(kept!.blindIndex).toEqual(indexOf('first'))
  })

  it('counts for another person on the same action within its time', async () => {
    expect(await approvals.faultsOf(store, second(), inForce(), AT + 5 * MINUTE_MS - 1)).toEqual([])
    const named = inForce({ within_minutes: 5, user_ids: ['third', 'second'] })
    expect(await approvals.faultsOf(store, second(), named, AT)).toEqual([])
  })

  it.each<[string, string, unknown, unknown, number]>([
    ['of an unknown id', 'names no approval', second({ approval_id: 'ver_2' }), inForce(), 0],
    ['of another tenant', 'names no approval', second({}, { tenant: { id: 'ten_b' } }), inForce(), 0],
    ['of another environment', 'names no approval', second({}, { environment: 'sandbox' }), inForce(), 0],
    ['of the same user', 'of the same user', call('first', { approval_id: 'ver_1' }), inForce(), 0],
    [
      'for which others are named',
      'by this user',
      second(),
      inForce({ within_minutes: 5, user_ids: ['x'] }),
      0,
    ],
    ['of another action', 'another action', second({ action: 'pay' }), inForce(), 0],
    ['under another policy', 'another version', second(), inForce(undefined, 'h2'), 0],
    ['that is over', 'too old', second(), inForce(), 5 * MINUTE_MS],
    ['that a shorter rule ends', 'too old', second(), inForce({ within_minutes: 1 }), MINUTE_MS],
  ])('%s does not count', async (_, issue, given, rule, later) => {
    const faults = await approvals.faultsOf(store, given as never, rule as never, AT + later)
    expect(faults).toEqual([
      { path: 'approval_id', requirement: 'second_approver', issue: expect.stringContaining(issue) },
    ])
    const used = await approving.use(store, given as never, rule as never, faceFound(2), AT + later)
    expect([used, kept!.usedAt]).toEqual([{ unmet: faults }, null])
  })

  it('is not looked for where none is named, or the rule asks for none', async () => {
    kept = undefined
    expect(await approvals.faultsOf(store, call('second'), inForce(), AT)).toEqual([])
    expect(await approvals.faultsOf(store, second(), NOBODY, AT)).toEqual([])
  })
})

describe('the use of an approval', () => {
  const use = (face: never, given = second()) => approving.use(store, given, inForce(), face, AT + 1)
  const issues = (unmet: unknown) => ({ unmet: [expect.objectContaining({ issue: unmet })] })

  it('happens once', async () => {
    expect(await use(faceFound(2, await enrolled('second', 2)))).toEqual({ unmet: [] })
    expect(kept!.usedAt).toBe(AT + 1)
    expect(await approvals.faultsOf(store, second(), inForce(), AT + 1)).toHaveLength(1)
    expect(await use(faceFound(2))).toEqual(issues('has been used'))
  })

  it('is refused where a request that ran at the same time was faster', async () => {
    const late = { statements: () => ({ ...statements, use: async () => false }) } as never
    expect(await approving.use(late, second(), inForce(), faceFound(2), AT)).toEqual(issues('has been used'))
  })

  it('is refused for the face of the first person, in the capture or in the reference, from the threshold on', async () => {
    const own = { reason: 'same_person' }
    expect(await use(faceFound(1))).toEqual(own)
    expect(await use(faceFound(2, await enrolled('second', 1)))).toEqual(own)
    expect(await use(faceFound(1, null, 1))).toEqual(own)
    expect(kept!.usedAt).toBeNull()
    expect(await use(faceFound(1, null, 1.001))).toEqual({ unmet: [] })
  })

  it('is compared with the face that the reference has become, and with the one that was enrolled', async () => {
    const { reference } = first!
    const aged = (await enrolled('first', 3)).reference!
    // An aged template is sealed for the same user.
    const subject = first!
    const grown = await vault.putReference({ putReference: async () => {} } as never, subject, MODEL, {
      ...{ embedding: faceOf(3), photoCount: 1, weight: 1, consent: null },
    })
    first = { ...subject, reference, aged: { ...aged, ...grown } as never }
    expect(await use(faceFound(3))).toEqual({ reason: 'same_person' })
    expect(await use(faceFound(1))).toEqual({ reason: 'same_person' })
    expect(await use(faceFound(2))).toEqual({ unmet: [] })
  })

  it('is refused where the first person has no reference of the model that decides', async () => {
    first = null
    expect(await use(faceFound(2))).toEqual(issues(expect.stringContaining('cannot be compared')))
    first = { ...(await enrolled('first', 1)), reference: null }
    expect(await use(faceFound(2))).toEqual(issues(expect.stringContaining('cannot be compared')))
    expect(kept!.usedAt).toBeNull()
  })

  it('compares no faces in the sandbox', async () => {
    kept!.environment = 'sandbox'
    const given = second({}, { environment: 'sandbox' })
    // The action is bound to the environment as well.
    kept!.binding = vault.actionBinding('ten_a', 'sandbox', '{"application":"Bank","type":"login"}')
    expect(await use(faceFound(1), given)).toEqual({ unmet: [] })
  })
})
