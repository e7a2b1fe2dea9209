/** The admin listener of a service without the dashboard, where only what monitoring asks is answered, and the dashboard without a feature. */
import { describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { FEATURES } from '../../src/features/index.js'
import { routesOf, signIn } from '../support/dashboard.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { exchange } from '../support/raw-socket.js'
import { serviceOfFile, serviceOfTest } from '../support/service.js'

const features = FEATURES.filter(({ name }) => name !== 'dashboard')
const running = await serviceOfFile({}, { features })

const get = (path: string, options: RequestInit = {}) => fetch(running.service.adminUrl + path, options)

it('the dashboard offers no route of a feature that is not there, and does not know it', async () => {
  const features = FEATURES.filter(({ name }) => name !== 'policies')
  const less = await serviceOfTest({}, { features })
  const operator = await signIn(less, { password: OPERATOR_PASSWORD })
  const { tenant } = await routesOf(operator)
  expect(tenant).toContain('GET /requests')
  expect(tenant.filter((name) => name.includes('policy'))).toEqual([])
  const { id } = await less.tenant()
  expect((await operator.call('GET', `/tenants/${id}/policy`)).body.code).toBe('unknown_endpoint')
})

describe('without the dashboard', () => {
  it.each(['/livez', '/readyz', '/metrics', '/v1/openapi.json', '/errors'])('%s answers', async (path) => {
    expect((await get(path)).status).toBe(200)
  })

  it.each([
    ...['/', '/index.html', '/docs', '/docs/', '/docs/api', '/api/session', '/api/oidc', '/api/tenants'],
    '/sandbox/v1/health',
  ])('%s is not found', async (path) => {
    for (const method of ['GET', 'POST']) {
      const response = await get(path, { method })
      expect(response.status).toBe(404)
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(await response.text()).toBe('There is no such page.\n')
    }
  })

  it('a foreign host name is refused, and the page of errors explains that', async () => {
    const response = await exchange(
      running.service.adminUrl,
      'GET /livez HTTP/1.1\r\nHost: evil.example\r\n\r\n',
    )
    expect(response).toMatchObject({
      status: 421,
      body: { code: 'unknown_host', doc_url: `${running.service.adminUrl}/errors#unknown_host` },
    })
    expect(await (await get('/errors')).text()).toContain('<section id="unknown_host">')
  })

  it('commands still make, suspend and delete tenants', async () => {
    const operations = running.operations
    const { tenant } = await operations.tenants.create(
      'acme',
      COMMAND_LINE,
      { ratePerSecond: 5 },
      'http://localhost',
    )
    const suspended = await operations.lifecycle.suspend(tenant, COMMAND_LINE)
    await operations.lifecycle.delete(suspended, COMMAND_LINE)
    expect((await running.service.core.tenancy.find(tenant.id)).deletedAt).not.toBeNull()
  })

  it('no password of an operator is made', () => {
    expect(running.service.operatorPassword).toBeNull()
  })
})
