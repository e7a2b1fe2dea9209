/** Passkeys at the dashboard: a tenant's settings, the passkeys of a user, and the export of a user's facts. */

import { beforeAll, describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../src/lib/clock.js'
import type { SoftwareAuthenticator } from '../support/authenticator.js'
import { base64, face } from '../support/faces.js'
import { asserted, ORIGIN, passkeysPath, RP_ID, registered } from '../support/passkeys.js'
import { openConsole } from './console.js'

const desk = await openConsole()
const { viewer } = desk
const production = await desk.running.production(desk.tenant)

const settings = {
  ...{ rp_id: RP_ID, origins: [ORIGIN], synced: 'swk', registration: 'backend' },
  ...{ recovery_hours: 24, roots: [], aaguids: [] },
}
const whom = { user_id: 'ada', environment: 'production' }
const call = desk.call.bind(desk)
const list = async () => (await call('POST', '/users/passkeys', whom)).body.passkeys
const entriesOf = async (event: string) => (await call('GET', `/audit?event=${event}`)).body.entries

describe('the passkey settings of a tenant', () => {
  it('are shown, changed and turned off, and each change is in the audit log', async () => {
    const off = {
      ...{ rp_id: null, origins: [], synced: null, registration: null, recovery_hours: null },
      ...{ roots: [], aaguids: [] },
    }
    expect((await call('GET', '/passkeys')).body).toEqual(off)
    expect((await call('POST', '/passkeys', { settings })).body).toEqual(settings)
    expect((await call('GET', '/passkeys')).body).toEqual(settings)
    expect((await call('POST', '/passkeys', { settings: null })).body).toEqual(off)
    expect(await entriesOf('passkey_settings_changed')).toMatchObject([
      { actor: 'dashboard:tenant', rp_id: null, previous: { rp_id: RP_ID } },
      { rp_id: RP_ID, previous: { rp_id: null } },
    ])
  })

  it.each([
    [{ rp_id: '192.0.2.1' }, 'invalid_rp_id'],
    [{ origins: ['https://bank.example.evil.example'] }, 'invalid_origin'],
    [{ aaguids: ['yubikey'] }, 'invalid_aaguid'],
    [{ aaguids: ['ffffffff-0000-4000-8000-000000000000'] }, 'roots_required'],
    [{ roots: ['no certificate'] }, 'invalid_root'],
    [{ synced: 'hwk' }, 'invalid_request'],
  ])('with %j are refused with %s', async (change, code) => {
    const refused = await call('POST', '/passkeys', { settings: { ...settings, ...change } })
    expect(refused.outcome).toBe(`400 ${code}`)
    expect((await call('GET', '/passkeys')).body.rp_id).toBeNull()
  })

  it('are shown to a viewer, and not changed by one', async () => {
    expect((await call('GET', '/passkeys', undefined, viewer)).status).toBe(200)
    expect((await call('POST', '/passkeys', { settings }, viewer)).body.code).toBe('not_permitted')
  })
})

describe('the passkeys of a user', () => {
  let authenticator: SoftwareAuthenticator

  beforeAll(async () => {
    await call('POST', '/passkeys', { settings })
    await production.enroll({ user_id: 'ada', image: base64(await face('ada')) })
    const made = await registered(production, 'ada')
    authenticator = made.authenticator
  })

  const verify = async (counter: number) => {
    const action = { type: 'x' }
    const passkey_assertion = await asserted(production, 'ada', action, authenticator, { counter })
    const image = base64(await face('ada'))
    return production.verify({ user_id: 'ada', image, action, passkey_assertion })
  }

  it('are shown as in the API, with the state of the counter and without the credential', async () => {
    const { body } = await production.call('GET', passkeysPath('ada'))
    expect(await list()).toEqual([{ ...body.data[0], counter: 0, counter_reversed_at: null }])
  })

  it('show a counter that did not grow, also after a later use', async () => {
    await verify(7)
    expect((await verify(6)).body.code).toBe('passkey_counter_reversed')
    const reversed = { counter_reversed_at: new Date(desk.running.clock.now()).toISOString() }
    expect(await list()).toMatchObject([{ counter: 7, ...reversed }])
    desk.running.clock.advance(MINUTE_MS)
    expect((await verify(8)).body.verdict).toBe('approved')
    expect(await list()).toMatchObject([{ counter: 8, ...reversed }])
  })

  it('are exported with everything that is kept about the user, which the audit log records', async () => {
    expect((await call('POST', '/users/export', whom, viewer)).body.code).toBe('not_permitted')
    const { status, body } = await call('POST', '/users/export', whom)
    expect(status).toBe(200)
    expect(body).toMatchObject({ environment: 'production', user: { user_id: 'ada', passkeys: 1 } })
    expect(body.passkeys).toHaveLength(1)
    expect(body.audit_entries.map(({ event }: { event: string }) => event)).toContain('passkey_registered')
    expect(await entriesOf('user_exported')).toMatchObject([{ actor: 'dashboard:tenant' }])
    const unknown = await call('POST', '/users/export', { ...whom, user_id: 'nobody' })
    expect(unknown.outcome).toBe('404 reference_not_found')
  })

  it('are revoked by an admin, for good, with an audit entry', async () => {
    const [{ passkey_id: passkey }] = await list()
    const revoke = (by = desk.own) => call('POST', '/users/passkeys/revoke', { ...whom, passkey }, by)
    expect((await revoke(viewer)).body.code).toBe('not_permitted')
    expect((await revoke()).body).toEqual({ revoked: passkey })
    expect(await list()).toEqual([])
    const asked = await production.call('POST', passkeysPath('ada', '/assertion'), { action: 'x' })
    expect(asked.body.code).toBe('passkey_not_found')
    expect(await entriesOf('passkey_revoked')).toMatchObject([
      { actor: 'dashboard:tenant', passkey_id: passkey, subject: expect.any(String) },
    ])
    expect((await revoke()).body.code).toBe('passkey_not_found')
  })

  it('need a fresh sign-in to be revoked, as a change of the settings does', async () => {
    await production.enroll({ user_id: 'joan', image: base64(await face('joan')) })
    const { answer } = await registered(production, 'joan')
    desk.running.clock.advance(20 * MINUTE_MS)
    expect((await call('POST', '/passkeys', { settings })).body.code).toBe('fresh_sign_in_required')
    const passkey = answer.body.passkey_id
    const revoked = await call('POST', '/users/passkeys/revoke', { ...whom, user_id: 'joan', passkey })
    expect(revoked.body.code).toBe('fresh_sign_in_required')
  })
})
