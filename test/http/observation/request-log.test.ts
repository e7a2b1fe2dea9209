/** The caller's address and key id in request lines and audit entries, also of refused calls. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../../src/lib/clock.js'
import { generateApiKey } from '../../../src/tenants/api-key.js'
import { allowReturn, askForSession, Visitor } from '../../support/capture-page.js'
import { type ApiClient, type ApiResponse, apiClient } from '../../support/client.js'
import { base64, face } from '../../support/faces.js'
import { plain } from '../../support/images.js'
import { startService, type TestService, type TestTenant } from '../../support/service.js'
import { overTransports } from '../../support/transports.js'

const OFFICE = '198.51.100.7'
const FROM_OFFICE = { headers: { 'X-Forwarded-For': `203.0.113.99, ${OFFICE}` } }

overTransports((transport) => {
  let running: TestService
  let tenant: TestTenant
  let production: ApiClient & { key: string }

  beforeAll(async () => {
    running = await startService({
      COUNTERSIGN_HTTP: transport,
      COUNTERSIGN_TRUSTED_PROXIES: '127.0.0.0/8',
      COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_WRONG_KEY_LIMIT: '2',
    })
    tenant = await running.tenant()
    production = await running.production(tenant)
  })
  afterAll(() => running?.stop())

  const keyId = async (type: 'production' | 'sandbox', of = tenant) =>
    (await running.service.core.store.read.apiKeys(of.id)).findLast((key) => key.type === type)!.id

  async function lineOf({ headers }: ApiResponse) {
    const id = headers.get('x-request-id')!
    const find = () =>
      running
        .logText()
        .split('\n')
        .find((line) => line.includes(id) && line.includes('"msg":"request"'))
    // It is written after the answer.
    await expect.poll(find).toBeDefined()
    return JSON.parse(find()!)
  }

  async function entries(client: ApiClient = production) {
    return (await client.call('GET', '/v1/audit?limit=200')).body.data as Array<{
      event: string
      request_id: string
      facts: Record<string, unknown>
    }>
  }

  describe('the line of a request', () => {
    it('logs the id of the key and the address that the trusted proxy forwards', async () => {
      const line = await lineOf(await production.health(FROM_OFFICE))
      expect(line).toMatchObject({ key: await keyId('production'), address: OFFICE, tenant: tenant.id })
    })

    it('logs the address of the peer where no proxy forwards one', async () => {
      expect(await lineOf(await production.health())).toMatchObject({ address: '127.0.0.1' })
    })

    it('logs the id of a key that is refused: revoked, expired, of the other environment', async () => {
      const other = await running.tenant()
      const { key } = await running.production(other)
      const { tenancy, store } = running.service.core
      const record = await tenancy.find(other.id)
      const expired = await keyId('production', other)
      const astray = await apiClient(running.service.url('sandbox'), key).health(FROM_OFFICE)
      expect(astray.status).toBe(403)
      expect(await lineOf(astray)).toMatchObject({
        code: 'wrong_environment',
        key: expired,
        address: OFFICE,
        tenant: null,
      })
      await store.transaction('installation', (tx) =>
        tenancy.reissueKey(tx, record, 'production', MINUTE_MS, null),
      )
      running.clock.advance(HOUR_MS)
      const late = await apiClient(running.service.url('production'), key).health(FROM_OFFICE)
      expect(late.status).toBe(401)
      expect(await lineOf(late)).toMatchObject({ code: 'revoked_api_key', key: expired, address: OFFICE })
      await store.transaction('installation', (tx) => tenancy.revokeKeys(tx, record, 'sandbox'))
      const revoked = await other.sandbox.health(FROM_OFFICE)
      expect(revoked.status).toBe(401)
      expect(await lineOf(revoked)).toMatchObject({ key: await keyId('sandbox', other), address: OFFICE })
    })

    it('logs the address after too many wrong keys too, and null as the id of an unknown key', async () => {
      const guess = () => apiClient(running.service.url('production'), generateApiKey('production'))
      running.clock.advance(HOUR_MS)
      for (let i = 0; i < 2; i++) expect((await guess().health(FROM_OFFICE)).status).toBe(401)
      const late = await guess().health(FROM_OFFICE)
      expect(late.status).toBe(429)
      expect(await lineOf(late)).toMatchObject({ code: 'too_many_wrong_keys', key: null, address: OFFICE })
      const anonymous = await running.anonymous('production').health()
      expect(await lineOf(anonymous)).toMatchObject({ status: 401, key: null, address: '127.0.0.1' })
    })
  })

  describe('the audit entry of a call', () => {
    it('writes the address and the id of the key into the audit entry of a call', async () => {
      const image = base64(await face('ada'))
      const enrolled = await production.enroll({ user_id: 'audited', image }, FROM_OFFICE)
      const id = enrolled.headers.get('x-request-id')
      const entry = (await entries()).find(({ request_id }) => request_id === id)
      expect(entry).toMatchObject({ actor: await keyId('production'), facts: { address: OFFICE } })
    })

    it('writes the address of a visitor of the capture page neither into audit entries nor into the log', async () => {
      await allowReturn(running, tenant)
      const user = 'visitor'
      await production.enroll({ user_id: user, image: base64(await face('ada')) })
      const asked = await askForSession(production, { user_id: user })
      const visitor = new Visitor(asked.body.url)
      const from = '203.0.113.42'
      await visitor.open({ 'X-Forwarded-For': from })
      await visitor.agree()
      const verdict = await visitor.capture(base64(await plain()))
      expect(verdict.status).toBe(200)
      const ofPage = (await entries()).filter(({ facts }) => 'capture_session' in facts)
      expect(ofPage.map(({ event }) => event)).toContain('verify')
      for (const { facts } of ofPage) expect(facts).not.toHaveProperty('address')
      const id = ofPage.find(({ event }) => event === 'verify')!.request_id
      const line = running
        .logText()
        .split('\n')
        .find((text) => text.includes(id) && text.includes('"msg":"request"'))
      expect(JSON.parse(line!)).toMatchObject({ address: null, key: await keyId('production') })
      expect(running.logText()).not.toContain(from)
    })
  })
})
