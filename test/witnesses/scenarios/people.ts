/** Looking users, verifications and the audit log up, recording a consent, erasing a user, and guidance. */
import { createHash } from 'node:crypto'
import { canonicalJson } from '../../../src/contract/canonical-json.js'
import { base64, landscape } from '../../support/faces.js'
import { pngHeader } from '../../support/images.js'
import type { Scenario } from './groups.js'
import { ACTION, enrolled } from './verify.js'

const action_hash = createHash('sha256').update(canonicalJson(ACTION)).digest('hex')
const consent = { id: 'terms-2', agreed_at: '2026-11-23T09:30:00Z' }

export const people: Record<string, Scenario> = {
  async 'looks a user up'(stage) {
    const { production, sandbox } = stage
    const user_id = await enrolled(stage)
    for (const client of [production, sandbox])
      for (const user of [user_id, 'nobody', '%ff']) await client.call('GET', `/v1/users/${user}`)
    for (const outcome of ['rate_limited', 'unavailable'])
      await sandbox.call('GET', `/v1/users/ada%2B${outcome}`)
  },

  async 'records a new consent'(stage) {
    const { production, sandbox } = stage
    const user_id = await enrolled(stage)
    const record = (client: typeof production, user: string, body: object = { consent }) =>
      client.call('POST', `/v1/users/${user}/consent`, body)
    for (const client of [production, sandbox]) {
      await record(client, user_id)
      await record(client, user_id, { consent: { ...consent, id: 'terms-3' } })
      await record(client, 'nobody')
      await record(client, user_id, {})
    }
    await record(sandbox, 'ada%2Bunavailable')
  },

  async 'looks a verification up'(stage) {
    const { production, sandbox, quiet, photos } = stage
    const user_id = await enrolled(stage)
    for (const [client, silent] of [
      [production, quiet.production],
      [sandbox, quiet.sandbox],
    ] as const) {
      const { body } = await silent.verify({ user_id, image: photos.adaToday, action: ACTION })
      const path = `/v1/verifications/${body.verification_id}`
      await client.call('GET', path)
      await client.call('GET', `${path}?${new URLSearchParams({ user_id, action_hash })}`)
      await client.call('GET', `${path}?${new URLSearchParams({ user_id: 'grace', action_hash })}`)
      await client.call('GET', `${path}?${new URLSearchParams({ action_hash })}`)
      await client.call('GET', `/v1/verifications/ver_${'0'.repeat(32)}`)
    }
    await sandbox.call('GET', `/v1/verifications/ver_${'0'.repeat(32)}?user_id=ada%2Bunavailable`)
  },

  async 'erases a user with all that is kept, once'(stage) {
    const { production, sandbox, quiet, photos } = stage
    const user_id = await enrolled(stage)
    const headers = { 'X-Svc-Idempotency-Key': 'order-7' }
    for (const [client, silent] of [
      [production, quiet.production],
      [sandbox, quiet.sandbox],
    ] as const) {
      await stage.addWebhook(client === production ? 'production' : 'sandbox')
      await silent.verify({ user_id, image: photos.adaToday, action: ACTION }, { headers })
      await silent.call('POST', '/v1/challenges', { user_id, action: ACTION })
      await client.erase(user_id)
      await client.erase(user_id)
      await client.erase('nobody')
      await client.erase('')
    }
    await sandbox.erase('ada+unavailable')
  },

  async 'lists the audit log'(stage) {
    const { production, sandbox, quiet, photos } = stage
    const user_id = await enrolled(stage)
    await quiet.production.verify({ user_id, image: photos.adaToday, action: ACTION })
    for (const client of [production, sandbox]) {
      const { body } = await client.call('GET', '/v1/audit?limit=2')
      if (body.next_cursor) await client.call('GET', `/v1/audit?cursor=${body.next_cursor}`)
      await client.call('GET', '/v1/audit?event=verify&order=desc')
      await client.call('GET', '/v1/audit?event=nothing')
    }
  },

  async 'guides a person in front of the camera'({ production, sandbox, photos }) {
    const frame = base64(await landscape())
    const ask = (client: typeof production, fields: object) => client.call('POST', '/v1/guidance', fields)
    await ask(production, { image: frame })
    await ask(production, { image: photos.ada, step: 'turn_left', frontal: photos.ada })
    await ask(production, { image: base64(pngHeader(20_000, 20_000)) })
    await ask(production, { image: base64(pngHeader(9, 9)) })
    for (const client of [production, sandbox]) {
      await ask(client, { image: base64(Buffer.from('no picture')) })
      await ask(client, {})
    }
    for (const outcome of ['match', 'too_far', 'unavailable'])
      await ask(sandbox, { image: photos.blank, user_id: `ada+${outcome}` })
  },
}
