/** Webhooks at the dashboard: who may add them, how they are shown, and the pages of their deliveries. */

import { describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { RETRY_DELAYS_MS } from '../../../src/features/webhooks/outbox.js'
import { webhookWriter } from '../../../src/features/webhooks/webhook-tables.js'
import { openConsole } from '../../dashboard/console.js'
import { poll } from '../../support/command.js'
import { receiverOfFile } from '../../support/webhooks.js'

const desk = await openConsole()
const { own, operator, running, tenant } = desk
let received = 0
let status = 204

const receiver = await receiverOfFile((_request, response) => {
  received++
  response.writeHead(status).end()
})
const url = `${receiver.url}/hook?token=geheim`

const path = (rest = '') => `/tenants/${tenant.id}/webhooks${rest}`
const list = async (by = own) => (await by.call('GET', path())).body
const deliveries = async (query = '', by = own) => (await by.call('GET', path(`/deliveries${query}`))).body
const events = async () => (await desk.entries()).map(({ event, actor }) => [event as string, actor] as const)

describe('a webhook', () => {
  it('is added and removed only by an operator with the right', async () => {
    const { viewer } = desk
    const body = { url, environment: 'sandbox', events: ['user.erased'] }
    for (const client of [own, viewer])
      for (const [rest, sent] of [
        ['', body],
        ['/remove', { webhook: 'whe_x' }],
      ] as const)
        expect((await client.call('POST', path(rest), sent)).body.code).toBe('not_permitted')
    const added = await operator.call('POST', path(), body)
    expect(added.status).toBe(201)
    expect((await list()).webhooks).toMatchObject([
      { id: added.body.id, environment: 'sandbox', events: ['user.erased'], waiting: 0, dropped: 0 },
    ])
    expect((await operator.call('POST', path('/remove'), { webhook: added.body.id })).status).toBe(200)
    expect((await list()).webhooks).toEqual([])
    expect((await events()).filter(([event]) => event.startsWith('webhook'))).toEqual([
      ['webhook_added', 'dashboard:operator'],
      ['webhook_removed', 'dashboard:operator'],
    ])
  })

  it('is shown as failing, with the last error and the last success, until a delivery succeeds again', async () => {
    const { id } = (await operator.call('POST', path(), { url, environment: 'sandbox', events: [] })).body
    const test = () => own.call('POST', path('/test'), { webhook: id })
    const health = async () => (await list()).webhooks.find((one: { id: string }) => one.id === id)
    expect(await health()).toMatchObject({ health: 'untried', failures: 0, last_success_at: null })
    status = 500
    await test()
    await poll(health, ({ failures }) => failures === 1)
    expect(await health()).toMatchObject({ health: 'failing', last_failure: '500', last_success_at: null })
    const [waiting] = (await deliveries('?status=failed')).deliveries
    expect(waiting).toMatchObject({ status: 'pending', last_outcome: '500', webhook: id })
    status = 204
    running.clock.advance(RETRY_DELAYS_MS[0]!)
    await poll(health, ({ failures }) => failures === 0)
    expect(await health()).toMatchObject({
      health: 'working',
      last_failure: '500',
      last_failure_at: expect.any(String),
      last_success_at: expect.any(String),
    })
    expect((await deliveries('?status=failed')).deliveries).toEqual([])
    await operator.call('POST', path('/remove'), { webhook: id })
  })

  it('is refused with the reason', async () => {
    for (const [changes, code] of [
      [{ url: 'http://example.com/' }, 'invalid_webhook_url'],
      [{ events: ['user.happy'] }, 'invalid_events'],
      [{ environment: 'staging' }, 'invalid_request'],
    ] as const) {
      const body = { url, environment: 'production', events: [], ...changes }
      expect((await operator.call('POST', path(), body)).outcome).toBe(`400 ${code}`)
    }
    const unknown = await own.call('POST', path('/test'), { webhook: 'whe_x' })
    expect(unknown.outcome).toBe('404 webhook_not_found')
  })

  it('is shown without the values of its query, which may be a token', async () => {
    await operator.call('POST', path(), { url, environment: 'sandbox', events: [] })
    const { text } = await own.call('GET', path())
    expect(text).not.toContain('geheim')
    expect(JSON.parse(text).webhooks[0].url).toBe(`${url.split('?')[0]}?…`)
  })

  it('is not visible to another tenant', async () => {
    const other = await running.tenant()
    const stranger = await desk.byLink(other)
    const [webhook] = (await list()).webhooks
    for (const [method, rest, body] of [
      ['GET', '', undefined],
      ['GET', '/deliveries', undefined],
      ['POST', '/test', { webhook: webhook.id }],
      ['POST', '/redeliver', { delivery: 'whd_x' }],
    ] as const)
      expect((await stranger.call(method, path(rest), body)).status).toBe(403)
    const elsewhere = `/tenants/${other.id}/webhooks/test`
    expect((await stranger.call('POST', elsewhere, { webhook: webhook.id })).body.code).toBe(
      'webhook_not_found',
    )
  })
})

describe('a delivery', () => {
  it('is shown with state, attempts, last answer and next attempt, and can be sent again', async () => {
    status = 500
    const [webhook] = (await list()).webhooks
    const { body } = await own.call('POST', path('/test'), { webhook: webhook.id })
    const shown = async () =>
      (await deliveries()).deliveries.find(({ id }: { id: string }) => id === body.delivery)
    await poll(shown, (one) => one?.last_outcome === '500')
    expect(await shown()).toMatchObject({ type: 'webhook.test', status: 'pending', attempts: 1 })
    expect((await list()).webhooks[0].waiting).toBe(1)
    const early = await own.call('POST', path('/redeliver'), { delivery: body.delivery })
    expect(early.outcome).toBe('409 delivery_pending')
    // The state after the last attempt.
    await running.service.core.store.transaction('installation', (tx) =>
      tx.statements(webhookWriter).setProgress(body.delivery, {
        status: 'failed',
        attempts: RETRY_DELAYS_MS.length + 1,
        nextAttemptAt: null,
        lastOutcome: '500',
        finishedAt: running.clock.now(),
      }),
    )
    expect(await shown()).toMatchObject({ next_attempt_at: null, replayable: true, attempts: 11 })
    expect((await deliveries()).max_attempts).toBe(11)
    status = 204
    const before = received
    expect((await own.call('POST', path('/redeliver'), { delivery: body.delivery })).status).toBe(200)
    await poll(shown, (one) => one?.status === 'delivered')
    expect(received).toBe(before + 1)
    expect((await events()).at(-1)).toEqual(['webhook_redelivered', 'dashboard:tenant'])
  }, 120_000)

  it('appears on exactly one page, newest first, and can be filtered by state', async () => {
    const { store } = running.service.core
    await store.transaction('installation', async (tx) => {
      for (let i = 0; i < 50; i++)
        await running.service.core.events.put(tx, {
          ...{ tenantId: tenant.id, environment: 'sandbox', type: 'user.unlocked', data: {} },
        })
    })
    await desk.operations.lifecycle.suspend(await tenant.record(), COMMAND_LINE)
    // The tenant's own sessions have ended with the suspension.
    expect((await list(operator)).is_held).toBe(true)
    const all: Array<{ id: string; created_at: string }> = []
    let next: string | null = ''
    while (next !== null) {
      const page = await deliveries(`?before=${next}`, operator)
      expect(page.deliveries.length).toBeLessThanOrEqual(20)
      all.push(...page.deliveries)
      next = page.next_before
    }
    expect(all).toHaveLength(51)
    expect(new Set(all.map(({ id }) => id)).size).toBe(51)
    const times = all.map(({ created_at }) => created_at)
    expect(times).toEqual([...times].sort().reverse())
    const pending = await deliveries('?status=pending', operator)
    for (const one of pending.deliveries) expect(one.status).toBe('pending')
    expect((await deliveries('?status=failed', operator)).deliveries).toEqual([])
    const answer = await operator.call('GET', path('/deliveries?before=nonsense'))
    expect(answer.outcome).toBe('400 invalid_request')
  })
})
