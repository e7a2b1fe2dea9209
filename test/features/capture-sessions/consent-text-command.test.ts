/** `countersign tenant consent-text`. */
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Core } from '../../../src/admin/core.js'
import { loadConfig } from '../../../src/app/configuration.js'
import { openCore } from '../../../src/app/core.js'
import { capturePageWriter } from '../../../src/features/capture-sessions/capture-tables.js'
import { tablesOf } from '../../../src/features/index.js'
import { SqliteStore } from '../../../src/storage/sqlite/sqlite-store.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import { workplaceForAll } from '../../support/command.js'

const TEXT = 'We compare your face.\nFor payments only.'
const sha256 = createHash('sha256').update(TEXT).digest()

const place = workplaceForAll()
beforeAll(async () => {
  const { json } = await place.run(['tenant', 'create', 'acme', '--json'])
  const store = SqliteStore.open(place.path('countersign.db'), { tables: tablesOf() })
  await store.transaction('installation', (tx) =>
    tx.statements(capturePageWriter).keepText({
      ...{ tenantId: json.tenant_id, sha256, version: '2026-11', language: 'en', text: TEXT },
      firstAgreedAt: Date.UTC(2026, 10, 22),
    }),
  )
  await store.close()
})

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

  it('prints a text of one user’s own while the user exists', async () => {
    const text = 'Ada, born on 10 December 1815, agrees.'
    const own = createHash('sha256').update(text).digest()
    const onCore = async (work: (core: Core, tx: StoreTransaction, tenantId: string) => Promise<void>) => {
      const core = await openCore(loadConfig({ COUNTERSIGN_DATA_DIR: place.dataDir }))
      const { id } = await core.tenancy.find('acme')
      await core.store.transaction('installation', (tx) => work(core, tx, id))
      await core.store.close()
    }
    await onCore(async ({ vault }, tx, id) => {
      const ada = vault.create(id, 'production', vault.blindIndex(id, 'production', 'ada'), 'ada')
      await tx.insertSubject(ada.record)
      await vault.keepOwnConsent(tx, ada, {
        version: '1',
        language: 'en',
        text,
        sha256: own,
        firstAgreedAt: 1,
      })
    })
    expect((await run(own.toString('hex'))).stdout).toBe(`${text}\n`)
    expect((await run('--json')).json).toHaveLength(1)
    await onCore(({ vault }, tx, id) =>
      tx.eraseSubject(vault.blindIndex(id, 'production', 'ada')).then(() => {}),
    )
    expect((await run(own.toString('hex'), '--json')).error.code).toBe('consent_text_not_found')
  })

  it('refuses a malformed hash, and reports a text that was not kept', async () => {
    expect((await run('abc', '--json')).error.code).toBe('wrong_usage')
    expect((await run('0'.repeat(64), '--json')).error.code).toBe('consent_text_not_found')
  })
})
