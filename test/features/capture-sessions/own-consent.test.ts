/** A consent text that a capture session brings as its own, and that may name its user: sealed for that user, and erased with the user. */

import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { consentTextsOf } from '../../../src/features/capture-sessions/consent-texts.js'
import { InternalApi } from '../../../src/http/internal-api.js'
import { allowReturn, newSession, type Visitor } from '../../support/capture-page.js'
import type { ApiClient } from '../../support/client.js'
import { countRows } from '../../support/database.js'
import { photoOf } from '../../support/faces.js'
import { blank } from '../../support/images.js'
import { serviceOfFile, type TestTenant } from '../../support/service.js'

let tenant: TestTenant
let production: ApiClient

const running = await serviceOfFile({ COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0' })
const image = await photoOf('ada')
beforeEach(async () => {
  tenant = await running.tenant()
  await allowReturn(running, tenant)
  production = await running.production(tenant)
})
afterEach(() => void vi.restoreAllMocks())

const textFor = (userId: string) => `${userId}, born on 10 December 1815, agrees.`
const hashOf = (text: string) => createHash('sha256').update(text).digest()
const find = (text: string, of = tenant.id) => consentTextsOf(running.service.core, of, hashOf(text))
const rowsIn = (table: string) => countRows(running, table, 'tenant_id = $1', [tenant.id])
const GONE = expect.objectContaining({ code: 'consent_text_not_found' })

/** The person has agreed to a text of the session's own. */
async function agreed(userId: string, fields: Record<string, unknown> = {}, client = production) {
  const consent = { id: 'own-1', text: textFor(userId) }
  const { visitor } = await newSession(client, { user_id: userId, consent, ...fields })
  await visitor.open()
  expect((await visitor.agree()).body).toEqual({ state: 'open' })
  return visitor
}
const enrolment = { purpose: 'enroll', action: undefined, confirmation: 'none' }

/** Captures as the page does. The photo takes the place of the frames, because no photo passes a challenge in production. */
async function capture(visitor: Visitor, photo = image) {
  const send = InternalApi.prototype.send
  vi.spyOn(InternalApi.prototype, 'send').mockImplementation(function (this: InternalApi, ...parameters) {
    const [customer, browser, request] = parameters
    const { challenge, ...fields } = request.fields ?? {}
    const sent = challenge ? { ...request, fields: { ...fields, image: photo } } : request
    return send.call(this, customer, browser, sent)
  })
  return (await visitor.capture(image)).body
}

describe('a consent text of a session’s own', () => {
  it('is found by its hash while the user exists, and goes with the user', async () => {
    await production.enroll({ user_id: 'ada', image })
    await agreed('ada')
    const text = textFor('ada')
    const kept = { version: 'own-1', language: 'en', text, sha256: hashOf(text) }
    expect(await find(text)).toEqual([{ ...kept, firstAgreedAt: running.clock.now() }])
    await expect(find(text, (await running.tenant()).id)).rejects.toEqual(GONE)
    expect(await rowsIn('consent_text')).toBe(0)
    expect((await production.erase('ada')).status).toBe(200)
    await expect(find(text)).rejects.toEqual(GONE)
    expect(await rowsIn('own_consent_text')).toBe(0)
  })

  it('waits in the session until the enrollment is committed', async () => {
    const visitor = await agreed('grace', enrolment)
    const at = running.clock.now()
    await expect(find(textFor('grace'))).rejects.toEqual(GONE)
    running.clock.advance(1000)
    expect((await capture(visitor)).state).toBe('over')
    expect((await production.call('GET', '/v1/users/grace')).status).toBe(200)
    expect(await find(textFor('grace'))).toMatchObject([{ text: textFor('grace'), firstAgreedAt: at }])
    await production.erase('grace')
    await expect(find(textFor('grace'))).rejects.toEqual(GONE)
  })

  it('is kept nowhere when the enrollment is refused', async () => {
    const visitor = await agreed('grace', enrolment)
    expect((await capture(visitor, blank)).state).toBe('again')
    expect(await rowsIn('own_consent_text')).toBe(0)
  })

  it('is kept once for a user who agrees again, and each user has a copy', async () => {
    const text = 'We compare your face for our lottery.'
    const consent = { id: 'lottery', text }
    for (const user_id of ['ada', 'grace']) await production.enroll({ user_id, image })
    const first = running.clock.now()
    for (const userId of ['ada', 'ada', 'grace']) {
      await agreed(userId, { consent })
      running.clock.advance(1000)
    }
    expect(await rowsIn('own_consent_text')).toBe(2)
    expect(await find(text)).toMatchObject([{ text, firstAgreedAt: first }])
    await production.erase('ada')
    expect(await find(text)).toMatchObject([{ text, firstAgreedAt: first + 2000 }])
  })

  it('is in the export of its user only', async () => {
    for (const user_id of ['ada', 'grace']) await production.enroll({ user_id, image })
    await agreed('ada')
    const textsOf = async (userId: string) => {
      const address = { environment: 'production', userId } as const
      const exported = await running.operations.exports.run(await tenant.record(), COMMAND_LINE, address)
      return exported.consent_texts
    }
    expect(await textsOf('ada')).toMatchObject([{ version: 'own-1', text: textFor('ada') }])
    expect(await textsOf('grace')).toEqual([])
  })

  it('goes with a deleted tenant', async () => {
    await production.enroll({ user_id: 'ada', image })
    await agreed('ada')
    await running.operations.lifecycle.delete(await tenant.record(), COMMAND_LINE)
    expect(await rowsIn('own_consent_text')).toBe(0)
  })

  it('is not kept in the sandbox', async () => {
    await tenant.sandbox.enroll({ user_id: 'ada+match', image })
    await agreed('ada+match', {}, tenant.sandbox)
    await expect(find(textFor('ada+match'))).rejects.toEqual(GONE)
  })
})
