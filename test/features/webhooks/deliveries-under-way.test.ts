/** A delivery that its receiver has not answered yet: what else may be sent to it, and what an erasure makes of it. */

import { afterEach, beforeEach, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { webhookReader, webhookWriter } from '../../../src/features/webhooks/webhook-tables.js'
import { MINUTE_MS } from '../../../src/lib/clock.js'
import type { ApiClient } from '../../support/client.js'
import { poll } from '../../support/command.js'
import { base64, face } from '../../support/faces.js'
import { serviceOfFile, type TestTenant } from '../../support/service.js'
import { receiverOfFile, webhooksOf } from '../../support/webhooks.js'

let tenant: TestTenant
let production: ApiClient
/** Deliveries that have arrived, oldest first: the path, the type of the event, and a function that answers. */
let sent: Array<{ path: string; type: string; answer: (status: number) => void }>
/** Paths whose deliveries are answered only when the test says so. */
const HELD = '/held'

const running = await serviceOfFile()
const receiver = await receiverOfFile(({ url }, response, body) => {
  const answer = (status: number) => {
    if (!response.headersSent) response.writeHead(status).end()
  }
  sent.push({ path: url!, type: JSON.parse(body).type, answer })
  if (url !== HELD) answer(204)
})
beforeEach(async () => {
  sent = []
  tenant = await running.tenant()
  production = await running.production(tenant)
})
afterEach(async () => {
  for (const { path, answer } of sent) if (path === HELD) answer(204)
  const { store } = running.service.core
  for (const endpoint of await store.read.statements(webhookReader).endpointsOf(tenant.id))
    await store.transaction('installation', (tx) => tx.statements(webhookWriter).deleteEndpoint(endpoint.id))
})

async function addEndpoint(path: string): Promise<string> {
  const webhook = { url: receiver.url + path, environment: 'production', events: [] } as const
  return (await webhooksOf(running.service).add(await tenant.record(), COMMAND_LINE, webhook)).id
}
const sentTo = (path: string) => sent.filter((one) => one.path === path)
const arrived = (path: string, count: number) =>
  poll(
    async () => sentTo(path).length,
    (arrivals) => arrivals >= count,
  )
const enrolled = async (user_id: string) => production.enroll({ user_id, image: base64(await face('ada')) })

it('an endpoint that has not answered gets no second delivery, not even the same one after its lease', async () => {
  await addEndpoint(HELD)
  const other = await addEndpoint('/other')
  await enrolled('ada')
  await enrolled('grace')
  await arrived(HELD, 1)
  // Long after another process may take a delivery over; the one of the other endpoint shows that the sender has looked.
  for (const round of [1, 2]) {
    running.clock.advance(2 * MINUTE_MS)
    await webhooksOf(running.service).test(await tenant.record(), other)
    await arrived('/other', 2 + round)
    expect(sentTo(HELD)).toHaveLength(1)
  }
  sentTo(HELD)[0]!.answer(204)
  await arrived(HELD, 2)
})

it.each([204, 500])(
  'a delivery whose user is erased while it is in flight stays erased when the receiver answers %i',
  async (status) => {
    const endpoint = await addEndpoint(HELD)
    await enrolled('ada')
    await arrived(HELD, 1)
    expect((await production.erase('ada')).status).toBe(200)
    const { store } = running.service.core
    const statusOf = async (type: string) =>
      (await store.read.statements(webhookReader).deliveriesOf(tenant.id, 10)).find(
        (one) => one.type === type,
      )
    expect((await statusOf('user.enrolled'))?.status).toBe('erased')
    sentTo(HELD)[0]!.answer(status)
    // The erasure is delivered next, so the outcome of the delivery before has been recorded.
    await arrived(HELD, 2)
    expect(sentTo(HELD)[1]!.type).toBe('user.erased')
    expect(await statusOf('user.enrolled')).toMatchObject({ status: 'erased', nextAttemptAt: null })
    running.clock.advance(60 * MINUTE_MS)
    await store.transaction('installation', (tx) => tx.statements(webhookWriter).deleteEndpoint(endpoint))
  },
)
