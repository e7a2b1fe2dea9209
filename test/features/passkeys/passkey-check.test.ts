/** Tests of each rule about an authenticator's answer: without a service, so that every change is noticed at once. */
import { rootCertificates } from 'node:tls'
import { describe, expect, it } from 'vitest'
import {
  assertCounted,
  checkAssertion,
  checkRegistration,
  possessionOf,
  strengthOf,
  strongerOf,
  strongestOf,
} from '../../../src/features/passkeys/checks/passkey-check.js'
import { fingerprintOf, type PasskeySettings } from '../../../src/features/passkeys/passkey-settings.js'
import type { PasskeyContent } from '../../../src/features/passkeys/passkey-vault.js'
import { expectCode } from '../../support/answers.js'
import { MODEL } from '../../support/attestations.js'
import { SoftwareAuthenticator } from '../../support/authenticator.js'
import { ORIGIN, RP_ID } from '../../support/passkeys.js'

/** Roots that a tenant may name. Only their fingerprints count here. */
const [ROOT, OTHER_ROOT] = rootCertificates as [string, string]
const SETTINGS: PasskeySettings = {
  ...{ rpId: RP_ID, origins: [ORIGIN, 'https://bank.example'], synced: 'swk', registration: 'backend' },
  ...{ recoveryHours: 24, roots: [], aaguids: [] },
}
const CHALLENGE = Buffer.alloc(32, 7).toString('base64url')
const HANDLE = Buffer.alloc(32, 9).toString('base64url')
const creation = { rp: { id: RP_ID }, challenge: CHALLENGE, user: { id: HANDLE } }

type Claims = NonNullable<Parameters<SoftwareAuthenticator['create']>[1]>

const register = (claims: Claims = {}, settings: Partial<PasskeySettings> = {}) => {
  const authenticator = new SoftwareAuthenticator({ origin: ORIGIN })
  const answer = authenticator.create(creation, claims)
  const checked = checkRegistration({ ...SETTINGS, ...settings }, answer as never, CHALLENGE)
  return { authenticator, checked }
}
async function sign(
  claims: Claims = {},
  {
    settings = {},
    stored = {},
  }: { settings?: Partial<PasskeySettings>; stored?: Partial<PasskeyContent> } = {},
) {
  const { authenticator, checked } = register()
  const passkey = { ...(await checked), name: null, ...stored }
  const credential = authenticator.get({ rpId: RP_ID, challenge: CHALLENGE }, claims)
  const expected = { challenge: CHALLENGE, passkey, handle: HANDLE }
  return checkAssertion({ ...SETTINGS, ...settings }, credential as never, expected)
}

const BROKEN: Array<[string, string, Claims]> = [
  ['of another challenge', 'passkey_challenge_mismatch', { challenge: HANDLE }],
  ['from another origin', 'passkey_origin_not_allowed', { origin: 'https://bank.example.evil' }],
  ['in a frame of another origin', 'passkey_origin_not_allowed', { topOrigin: 'https://evil.example' }],
  ['of another relying party', 'passkey_rp_mismatch', { rpId: 'evil.example' }],
  ['without a person', 'passkey_user_not_verified', { isPresent: false }],
  ['without the person’s consent at the device', 'passkey_user_not_verified', { isVerified: false }],
]

describe('a registration', () => {
  it('is taken with everything that the authenticator says', async () => {
    const { authenticator, checked } = register({ counter: 3, isSynced: true, isBackedUp: true })
    expect(await checked).toEqual({
      credentialId: authenticator.id,
      ...{ publicKey: expect.any(String), counter: 3, transports: ['internal'] },
      ...{ isSynced: true, isBackedUp: true, aaguid: authenticator.aaguid },
    })
    expect(await register({ isSynced: true }).checked).toMatchObject({ isSynced: true, isBackedUp: false })
    expect(await register().checked).toMatchObject({ isSynced: false, isBackedUp: false })
    for (const claims of [{ origin: 'https://bank.example' }, { topOrigin: ORIGIN }])
      await expect(register(claims).checked).resolves.toBeDefined()
  })

  it('has no transports where the browser names none', async () => {
    const answer = new SoftwareAuthenticator({ origin: ORIGIN }).create(creation)
    const { transports: _, ...response } = answer.response
    const checked = await checkRegistration(SETTINGS, { ...answer, response } as never, CHALLENGE)
    expect(checked.transports).toEqual([])
  })

  it.each(BROKEN)('%s is refused', async (_, code, claims) => {
    await expectCode(register(claims).checked, code)
  })

  it('is refused where it is a signature, or cannot be read', async () => {
    const authenticator = new SoftwareAuthenticator({ origin: ORIGIN })
    const { response } = authenticator.get({ rpId: RP_ID, challenge: CHALLENGE })
    const answer = authenticator.create(creation)
    for (const fault of [
      { clientDataJSON: response.clientDataJSON },
      { clientDataJSON: '' },
      { attestationObject: 'AAAA' },
      { attestationObject: 'oA' },
    ]) {
      const broken = { ...answer, response: { ...answer.response, ...fault } } as never
      await expectCode(checkRegistration(SETTINGS, broken, CHALLENGE), 'passkey_invalid')
    }
    const renamed = { ...answer, id: 'AAAA' } as never
    await expectCode(checkRegistration(SETTINGS, renamed, CHALLENGE), 'passkey_invalid')
  })

  it('is refused for a synced passkey where the tenant wants none', async () => {
    const { checked } = register({ isSynced: true }, { synced: 'refused' })
    await expectCode(checked, 'passkey_not_allowed')
    await expect(register({}, { synced: 'refused' }).checked).resolves.toBeDefined()
  })
})

describe('a signature', () => {
  it('is taken, and says what it proves', async () => {
    expect(await sign()).toEqual({ counter: 1, isSynced: false, isBackedUp: false, possession: 'swk' })
    const settings = { roots: [ROOT] }
    const stored = { attestedBy: fingerprintOf(ROOT) }
    expect(await sign({}, { settings, stored })).toMatchObject({ possession: 'hwk' })
    expect(await sign({}, { stored })).toMatchObject({ possession: 'swk' })
    for (const claims of [{ userHandle: '' }, { userHandle: HANDLE }, { topOrigin: 'https://bank.example' }])
      await expect(sign(claims)).resolves.toBeDefined()
  })

  it('is taken without a user handle', async () => {
    for (const userHandle of [null, undefined]) {
      const { authenticator, checked } = register()
      const passkey = { ...(await checked), name: null }
      const answer = authenticator.get({ rpId: RP_ID, challenge: CHALLENGE })
      const credential = { ...answer, response: { ...answer.response, userHandle } }
      const expected = { challenge: CHALLENGE, passkey, handle: HANDLE }
      await expect(checkAssertion(SETTINGS, credential as never, expected)).resolves.toBeDefined()
    }
  })

  it.each([
    ...BROKEN,
    ['of another user', 'passkey_not_found', { userHandle: CHALLENGE }] as const,
    ['with another key', 'passkey_invalid', { signsWrong: true }] as const,
  ])('%s is refused', async (_, code, claims) => {
    await expectCode(sign(claims), code)
  })

  it('is refused where it is a registration, or cannot be read', async () => {
    const { authenticator, checked } = register()
    const passkey = { ...(await checked), name: null }
    const answer = authenticator.get({ rpId: RP_ID, challenge: CHALLENGE })
    const { clientDataJSON } = authenticator.create(creation).response
    const expected = { challenge: CHALLENGE, passkey, handle: HANDLE }
    for (const fault of [{ clientDataJSON }, { authenticatorData: 'AAAA' }]) {
      const broken = { ...answer, response: { ...answer.response, ...fault } } as never
      await expectCode(checkAssertion(SETTINGS, broken, expected), 'passkey_invalid')
    }
  })

  it('counts upwards, or not at all', async () => {
    for (const [counter, before] of [
      [5, 4],
      [0, 0],
      [1, 0],
    ] as const)
      expect(await sign({ counter }, { stored: { counter: before } })).toMatchObject({ counter })
    for (const [counter, before] of [
      [4, 4],
      [3, 4],
      [0, 4],
    ] as const)
      await expectCode(sign({ counter }, { stored: { counter: before } }), 'passkey_counter_reversed')
    // A copy is reported only where the key of the passkey has signed.
    const forged = sign({ counter: 1, signsWrong: true }, { stored: { counter: 4 } })
    await expectCode(forged, 'passkey_invalid')
    expect(() => assertCounted({ counter: 0 }, 0)).not.toThrow()
  })

  it('counts as one of a key in software, or is refused, once the provider begins to copy the passkey', async () => {
    const stored = { attestedBy: fingerprintOf(ROOT) }
    const settings = { roots: [ROOT] }
    expect(await sign({ isSynced: true, isBackedUp: true }, { settings, stored })).toMatchObject({
      ...{ isSynced: true, isBackedUp: true, possession: 'swk' },
    })
    await expectCode(
      sign({ isSynced: true }, { settings: { synced: 'refused' }, stored }),
      'passkey_became_synced',
    )
    // It never becomes a passkey of one device again.
    await expectCode(sign({}, { stored: { isSynced: true } }), 'passkey_invalid')
    expect(await sign({ isSynced: true }, { stored: { isSynced: true } })).toMatchObject({ isSynced: true })
  })

  it('counts only where the tenant still accepts the passkey', async () => {
    const listed = { settings: { aaguids: [MODEL.replace('0a1b', 'ffff')] } }
    await expectCode(sign({}, listed), 'passkey_not_allowed')
    await expect(sign({}, { settings: { aaguids: [MODEL] } })).resolves.toBeDefined()
    const synced = { settings: { synced: 'refused' as const }, stored: { isSynced: true } }
    await expectCode(sign({ isSynced: true }, synced), 'passkey_not_allowed')
  })
})

describe('the strength of a passkey', () => {
  const attestedBy = fingerprintOf(ROOT)
  it('is that of hardware only where a root that is named now has attested it and it cannot leave its device', () => {
    const roots = [OTHER_ROOT, ROOT]
    expect(strengthOf({ roots }, { isSynced: false, attestedBy })).toBe('hwk')
    expect(strengthOf({ roots }, { isSynced: true, attestedBy })).toBe('swk')
    expect(strengthOf({ roots: [OTHER_ROOT] }, { isSynced: false, attestedBy })).toBe('swk')
    expect(strengthOf({ roots: [] }, { isSynced: false })).toBe('swk')
    expect(possessionOf({ ...SETTINGS, roots }, { isSynced: false, attestedBy, aaguid: MODEL })).toBe('hwk')
  })

  it('is compared: hardware, software, none', () => {
    expect([strongerOf('hwk', 'swk'), strongerOf('swk', 'hwk'), strongerOf(null, 'hwk')]).toEqual([
      ...['hwk', 'hwk', 'hwk'],
    ])
    expect([strongerOf('swk', null), strongerOf(null, 'swk'), strongerOf(null, null)]).toEqual([
      ...['swk', 'swk', null],
    ])
  })

  it('is that of the user’s best passkey, also where it was revoked', () => {
    const of = (revokedPasskey: 'hwk' | 'swk' | null, ...contents: object[]) =>
      strongestOf({ roots: [ROOT] }, { revokedPasskey }, contents.map((content) => ({ content })) as never)
    const hardware = { isSynced: false, attestedBy }
    expect([of(null), of('swk'), of('hwk'), of('hwk', {})]).toEqual([null, 'swk', 'hwk', 'hwk'])
    expect([of(null, {}), of(null, {}, hardware), of('swk', hardware, {})]).toEqual(['swk', 'hwk', 'hwk'])
  })
})
