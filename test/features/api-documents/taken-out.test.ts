/** A service that serves no documents of its API: their addresses are unknown, and no error leads to a page that is not there. */
import { expect, it } from 'vitest'
import { FEATURES } from '../../../src/features/index.js'
import { exchange } from '../../support/raw-socket.js'
import { serviceOfFile } from '../../support/service.js'

const GONE = ['api-documents', 'dashboard']
const running = await serviceOfFile({}, { features: FEATURES.filter(({ name }) => !GONE.includes(name)) })

it.each(['/v1/openapi.json', '/errors'])('does not know %s', async (path) => {
  for (const environment of ['production', 'sandbox'] as const) {
    const { status, body } = await running.anonymous(environment).call('GET', path)
    expect({ status, code: body.code }).toEqual({ status: 404, code: 'unknown_endpoint' })
  }
  expect((await fetch(running.service.adminUrl + path)).status).toBe(404)
})

it('names no page in its errors, which say what to do as ever', async () => {
  const { sandbox } = await running.tenant()
  const refused = await sandbox.verify({ user_id: 'ada+match', image: 'AAAA' })
  const unread = await sandbox.call('GET', '/v1/nothing')
  const foreign = await exchange(
    running.service.adminUrl,
    'GET /livez HTTP/1.1\r\nHost: evil.example\r\n\r\n',
  )
  expect(foreign?.status).toBe(421)
  for (const body of [refused.body, unread.body, foreign?.body]) {
    expect(body).toMatchObject({ code: expect.any(String), remedy: expect.any(String) })
    expect(body).not.toHaveProperty('doc_url')
  }
})
