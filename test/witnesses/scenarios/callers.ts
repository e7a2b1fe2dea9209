/** Callers who are refused before anything is done, the keys, the state of the service, and what each answer leaves behind. */

import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { apiClient } from '../../support/client.js'
import { operationsOf } from '../../support/operations.js'
import type { Stage } from '../stage.js'
import type { Scenario } from './groups.js'
import { ACTION, enrolled } from './verify.js'

const bothOf = ({ production, sandbox }: Stage) => [production, sandbox]

export const callers: Record<string, Scenario> = {
  async 'reports its health'(stage) {
    for (const client of bothOf(stage)) await client.health({ headers: { 'X-Request-Id': 'my-own-7' } })
  },

  async 'rotates the signing secret, once at a time'(stage) {
    for (const client of bothOf(stage)) {
      if (client === stage.sandbox) {
        await client.rotate()
        await stage.takeProductionKey()
      }
      const headers = { 'X-Svc-Idempotency-Key': 'once' }
      await client.rotate({}, { headers })
      await client.rotate({}, { headers })
      await client.rotate()
      await client.rotate({ force: true })
      await client.rotate({ force: 'yes' })
      stage.advance(30 * 60_000)
    }
  },

  async 'refuses callers without a key, with a wrong one, and with a key of less scope or another environment'(
    stage,
  ) {
    const { running, tenant } = stage
    const at = (environment: 'production' | 'sandbox', key?: string) =>
      stage.recording(apiClient(running.service.url(environment), key), environment)
    for (const environment of ['production', 'sandbox'] as const) {
      await at(environment).health()
      await at(environment, 'no-key').health()
    }
    await at('production', tenant.sandboxKey).health()
    const { key } = await operationsOf(running.service).keys.create(
      await stage.record(),
      COMMAND_LINE,
      'sandbox',
      { name: 'reader', scopes: ['read'], networks: null, certificate: null },
    )
    await at('sandbox', key).erase('ada')
  },

  async 'refuses addresses, methods and bodies that it does not know'({ production, sandbox, photos }) {
    await production.call('GET', '/v1/nothing')
    await production.call('PUT', '/v1/enroll')
    const json = { headers: { 'Content-Type': 'application/json' } }
    for (const raw of ['', '{', '[]', '{"user_id":"a","user_id":"b"}'])
      await sandbox.call('POST', '/v1/verify', undefined, { ...json, raw })
    await sandbox.call('POST', '/v1/verify', {}, { headers: { 'Content-Type': 'text/plain' } })
    await sandbox.verify(
      { user_id: 'ada', image: photos.blank, action: ACTION },
      {
        headers: { 'X-Svc-Idempotency-Key': '' },
      },
    )
    await sandbox.rotate({ force: 'x'.repeat(20_000) })
  },

  async 'publishes what a verifier needs without a key'(stage) {
    const { running } = stage
    for (const environment of ['production', 'sandbox'] as const) {
      const anybody = stage.recording(running.anonymous(environment), environment)
      await anybody.call('GET', '/v1/.well-known/openid-configuration')
      await stage.act(`GET /v1/.well-known/jwks.json at ${environment}`, async () => {
        const { status, headers, text } = await running
          .anonymous(environment)
          .call('GET', '/v1/.well-known/jwks.json')
        return { status, headers, body: JSON.parse(text) }
      })
    }
  },

  async 'saves requests and counts seconds after the answers'(stage) {
    const { theatre, quiet, running, photos } = stage
    const user_id = await enrolled(stage)
    await theatre.save()
    const before = await metricsOf(stage)
    const logged = running.logText().length
    await quiet.production.verify({ user_id, image: photos.adaToday, action: ACTION })
    await quiet.production.verify({ user_id, image: photos.grace, action: ACTION })
    await quiet.sandbox.verify({ user_id: 'ada+no_match', image: photos.blank, action: ACTION })
    await quiet.production.erase('nobody')
    await stage.act('the service saves what it was told', async () => {
      await theatre.save()
      const after = await metricsOf(stage)
      const counted = [...after].filter(([series, value]) => value !== before.get(series))
      return {
        body: {
          metrics: Object.fromEntries(
            counted.map(([series, value]) => [series, value - (before.get(series) ?? 0)]),
          ),
          log: running
            .logText()
            .slice(logged)
            .split('\n')
            .filter((line) => line.includes('"request_id"'))
            .map((line) => ({ ...JSON.parse(line), time: '<time>' })),
        },
      }
    })
  },
}

/** Counters of requests and verdicts; durations differ in every run. */
async function metricsOf({ running }: Stage): Promise<Map<string, number>> {
  const text = await (await fetch(`${running.service.adminUrl}/metrics`)).text()
  const lines = text.split('\n').filter((line) => /^countersign_\w+_total\{/.test(line))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
}
