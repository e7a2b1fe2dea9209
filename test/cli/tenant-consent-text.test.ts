/** `countersign tenant consent-text`. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SqliteStore } from '../../src/storage/sqlite/sqlite-store.js'
import { type Workplace, workplace } from '../support/command.js'

const TEXT = 'We compare your face.\nFor payments only.'
const sha256 = createHash('sha256').update(TEXT).digest()

let place: Workplace
beforeAll(async () => {
  place = await workplace()
  const { json } = await place.run(['tenant', 'create', 'acme', '--json'])
  const store = SqliteStore.open(place.path('countersign.db'))
  await store.transaction('installation', (tx) =>
    tx.keepConsentText({
      ...{ tenantId: json.tenant_id, sha256, version: '2026-11', language: 'en', text: TEXT },
      firstAgreedAt: Date.UTC(2026, 10, 22),
    }),
  )
  await store.close()
})
afterAll(() => place?.dispose())

const run = (...options: string[]) => place.run(['tenant', 'consent-text', 'acme', ...options])

describe('tenant consent-text', () => {
  it('prints the text of the hash that an audit entry names', async () => {
    const { code, stdout } = await run(sha256.toString('hex'))
    expect([code, stdout]).toEqual([0, `${TEXT}\n`])
  })

  it('lists the texts that people have agreed to', async () => {
    const { json } = await run('--json')
    expect(json).toEqual([
      {
        sha256: sha256.toString('hex'),
        version: '2026-11',
        language: 'en',
        first_agreed_at: '2026-11-22T00:00:00.000Z',
        text: TEXT,
      },
    ])
    expect((await run()).stdout).toContain('2026-11-22T00:00:00.000Z')
  })

  it('refuses a malformed hash, and reports a text that was not kept', async () => {
    expect((await run('abc', '--json')).error.code).toBe('wrong_usage')
    expect((await run('0'.repeat(64), '--json')).error.code).toBe('consent_text_not_found')
  })
})
