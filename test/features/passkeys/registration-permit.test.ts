/** Tests of what a registration of a passkey needs next to the API key: a verdict of its own, a passkey as strong, or a recovery that is over. */
import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { isOfType } from '../../../src/contract/own-actions.js'
import type { ChallengeRecord } from '../../../src/features/challenges/table/exports.js'
import {
  assertRecovered,
  beginRecovery,
  cancelByPasskey,
  cancelRecovery,
} from '../../../src/features/passkeys/passkey-recovery.js'
import {
  assertRegistrable,
  grantRegistration,
  useRegistrationGrant,
} from '../../../src/features/passkeys/registration-permit.js'
import { DAY_MS, HOUR_MS, isoTime, MINUTE_MS } from '../../../src/lib/clock.js'
import { expectCode } from '../../support/answers.js'

const AT = Date.UTC(2026, 5, 1)
const user = { tenantId: 'ten_a', environment: 'production' as const, blindIndex: randomBytes(32) }
/** A passkey of software: no root of the settings has attested it. */
const SOFTWARE = { content: { isSynced: false } }

let permit: ChallengeRecord | undefined
let passkeys: object[]
let record: Record<string, unknown>
let sent: Array<{ type: string; data: object }>

const statements = {
  insert: async (challenge: ChallengeRecord) => {
    permit = challenge
  },
  find: async (id: string) => (permit?.id === id ? permit : undefined),
  use: async (_id: string, at: number) => {
    if (permit!.usedAt !== null) return false
    permit!.usedAt = at
    return true
  },
  setState: async (state: object) => void Object.assign(record, state),
}
const tx = { statements: () => statements } as never
const vault = { of: async () => passkeys } as never
const events = { put: async (_tx: unknown, event: { type: string; data: object }) => void sent.push(event) }
const parts = { passkeys: vault, events: events as never }

beforeEach(() => {
  permit = undefined
  passkeys = []
  sent = []
  record = { ...user, id: 'sub_1', passkeyRecovery: null, passkeyRecoveryAt: null, revokedPasskey: null }
})

const registration = (verificationId?: string, changes: object = {}) =>
  ({
    settings: { registration: 'verified', roots: [], recoveryHours: 24 },
    ...{ subject: { record }, verificationId, now: AT },
    ...changes,
  }) as never
const check = (...given: Parameters<typeof registration>) =>
  assertRegistrable(tx, vault, registration(...given))
const grant = (possession: 'hwk' | 'swk' | null = null) =>
  grantRegistration(tx, user, 'ver_1', possession, AT)
const BY_BACKEND = { settings: { registration: 'backend', roots: [] } }

describe('a first registration', () => {
  it('needs a verdict of this user for the registration, within ten minutes', async () => {
    await expectCode(check(), 'passkey_verdict_required')
    await expectCode(check('ver_1'), 'passkey_verdict_required')
    await grant()
    expect(await check('ver_1')).toBe('verdict')
    expect(await check('ver_1', { now: AT + 10 * MINUTE_MS - 1 })).toBe('verdict')
    await expectCode(check('ver_1', { now: AT + 10 * MINUTE_MS }), 'passkey_verdict_required')
    for (const other of [
      { blindIndex: randomBytes(32) },
      { tenantId: 'ten_b' },
      { environment: 'sandbox' },
    ]) {
      const another = check('ver_1', { subject: { record: { ...record, ...other } } })
      await expectCode(another, 'passkey_verdict_required')
    }
    // A challenge for a capture is no verdict.
    permit!.steps = 'turn:left'
    await expectCode(check('ver_1'), 'passkey_verdict_required')
  })

  it('needs only the API key where the tenant says so', async () => {
    expect(await check(undefined, BY_BACKEND)).toBeNull()
    expect(await check('ver_9', BY_BACKEND)).toBeNull()
  })

  it('uses its verdict up', async () => {
    await grant()
    const use = () => useRegistrationGrant(tx, vault, registration('ver_1'))
    expect(await use()).toEqual({ isRecovery: false })
    expect(permit!.usedAt).toBe(AT)
    await expectCode(check('ver_1'), 'passkey_verdict_required')
    await expectCode(use(), 'passkey_verdict_required')
    permit!.usedAt = null
    const late = { statements: () => ({ ...statements, use: async () => false }) } as never
    await expectCode(useRegistrationGrant(late, vault, registration('ver_1')), 'passkey_verdict_required')
    expect(await useRegistrationGrant(late, vault, registration(undefined, BY_BACKEND))).toEqual({
      isRecovery: false,
    })
  })

  it('is granted by a challenge that nothing else opens', async () => {
    await grant()
    expect(permit!.steps).toBe('register_passkey')
    await grant('hwk')
    expect(permit).toMatchObject({ ...user, id: 'ver_1', display: null, createdAt: AT, usedAt: null })
    expect([permit!.steps, permit!.binding.length]).toEqual(['register_passkey hwk', 32])
  })
})

describe('a further registration', () => {
  it.each([
    ['swk', null, false],
    ['swk', 'swk', true],
    ['swk', 'hwk', true],
    ['hwk', 'swk', false],
    ['hwk', 'hwk', true],
  ] as const)('of a user who had %s, with a proof of %s: %s', async (revokedPasskey, proof, isTaken) => {
    record.revokedPasskey = revokedPasskey
    await grant(proof)
    for (const changes of [{}, BY_BACKEND]) {
      const checked = check('ver_1', changes)
      if (isTaken) expect(await checked).toBe('verdict')
      else await expectCode(checked, 'passkey_proof_required')
    }
  })

  it('leaves a recovery that waits, and what the user had, as they are', async () => {
    const before = { passkeyRecovery: 'ver_2', passkeyRecoveryAt: AT + 1, revokedPasskey: 'swk' }
    Object.assign(record, before)
    await grant('swk')
    await useRegistrationGrant(tx, vault, registration('ver_1'))
    expect(record).toMatchObject(before)
  })

  it('needs the proof also where the API key is enough for the first, and for a passkey that is there', async () => {
    passkeys = [SOFTWARE]
    await expectCode(check(undefined, BY_BACKEND), 'passkey_proof_required')
  })
})

describe('a recovery', () => {
  const settings = { registration: 'verified', roots: [], recoveryHours: 48 } as never
  const recovering = () => ({ userId: 'ada', subject: { record } }) as never
  const begin = () => beginRecovery(tx, parts, settings, recovering(), { verificationId: 'ver_2', at: AT })

  it('begins for a user who has or had a passkey only', async () => {
    expect(await begin()).toEqual({})
    expect([record.passkeyRecovery, sent]).toEqual([null, []])
    record.revokedPasskey = 'swk'
    const readyAt = AT + 48 * HOUR_MS
    expect(await begin()).toEqual({ passkey_recovery_ready_at: isoTime(readyAt) })
    expect(record).toMatchObject({
      ...{ passkeyRecovery: 'ver_2', passkeyRecoveryAt: readyAt, revokedPasskey: 'swk' },
    })
    expect(sent).toMatchObject([
      {
        type: 'user.passkey_recovery_begun',
        data: {
          ...{ user_id: 'ada', verification_id: 'ver_2', ready_at: isoTime(readyAt) },
          expires_at: isoTime(readyAt + 7 * DAY_MS),
        },
      },
    ])
  })

  it('waits a minute in the sandbox', async () => {
    passkeys = [SOFTWARE]
    record.environment = 'sandbox'
    await begin()
    expect(record.passkeyRecoveryAt).toBe(AT + MINUTE_MS)
  })

  it('allows one registration, from the end of its time on for seven days', async () => {
    Object.assign(record, { passkeyRecovery: 'ver_2', passkeyRecoveryAt: AT, revokedPasskey: 'hwk' })
    await expectCode(check('ver_2', { now: AT - 1 }), 'passkey_recovery_pending')
    expect(await check('ver_2')).toBe('recovery')
    expect(await check('ver_2', { now: AT + 7 * DAY_MS - 1 })).toBe('recovery')
    const late = check('ver_2', { now: AT + 7 * DAY_MS })
    await expectCode(late, 'passkey_verdict_required')
    await expectCode(check('ver_3'), 'passkey_verdict_required')
    expect(await useRegistrationGrant(tx, vault, registration('ver_2'))).toEqual({ isRecovery: true })
    expect(record).toMatchObject({
      ...{ passkeyRecovery: null, passkeyRecoveryAt: null, revokedPasskey: null },
    })
    await expectCode(check('ver_2'), 'passkey_verdict_required')
    expect(() => assertRecovered({ passkeyRecoveryAt: AT }, AT)).not.toThrow()
  })

  it('ends by a verify with a passkey as strong as the lost one, and by no other', async () => {
    const cancel = (possession: 'hwk' | 'swk') =>
      cancelByPasskey(tx, parts, settings, recovering(), possession)
    expect(await cancel('hwk')).toEqual({})
    Object.assign(record, { passkeyRecovery: 'ver_2', passkeyRecoveryAt: AT, revokedPasskey: 'hwk' })
    expect(await cancel('swk')).toEqual({})
    expect([record.passkeyRecovery, sent]).toEqual(['ver_2', []])
    expect(await cancel('hwk')).toEqual({ passkey_recovery_cancelled: 'ver_2' })
    expect(record).toMatchObject({ passkeyRecovery: null, passkeyRecoveryAt: null, revokedPasskey: 'hwk' })
    expect(sent).toMatchObject([
      {
        type: 'user.passkey_recovery_cancelled',
        data: { user_id: 'ada', verification_id: 'ver_2' },
      },
    ])
    Object.assign(record, { passkeyRecovery: 'ver_3', revokedPasskey: null })
    passkeys = [SOFTWARE]
    expect(await cancel('swk')).toEqual({ passkey_recovery_cancelled: 'ver_3' })
  })

  it('cannot be cancelled where there is none', async () => {
    await expectCode(cancelRecovery(tx, parts, recovering()), 'passkey_recovery_not_found')
  })
})

it('an action is of a type only where its own field says so', () => {
  expect(isOfType({ type: 'register_passkey' }, 'register_passkey')).toBe(true)
  for (const action of ['register_passkey', null, undefined, {}, { type: 'login' }])
    expect(isOfType(action, 'register_passkey')).toBe(false)
})
