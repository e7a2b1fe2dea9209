/** `countersign models drift --restart`, for one tenant and for all. */
import { beforeAll, expect, it } from 'vitest'
import { loadConfig } from '../../../../src/app/configuration.js'
import { openCore } from '../../../../src/app/core.js'
import { isoTime } from '../../../../src/lib/clock.js'
import { workplaceForAll } from '../../../support/command.js'

const TENANTS = ['acme', 'beta'] as const
type Tenant = (typeof TENANTS)[number]

const place = workplaceForAll()
beforeAll(async () => {
  for (const name of TENANTS) await place.run(['tenant', 'create', name])
})

/** Time from which the verifies of a tenant are compared, and the audit entries about it. */
async function stateOf(name: Tenant) {
  const core = await openCore(loadConfig({ COUNTERSIGN_DATA_DIR: place.dataDir }))
  const { id, driftSince } = await core.tenancy.find(name)
  const entries = await core.store.read.auditEntriesOfEvent(id, 'drift_restarted', 0, 100)
  await core.store.close()
  return {
    since: driftSince === null ? null : isoTime(driftSince),
    entries: entries.map(({ entry }) => JSON.parse(entry)),
  }
}

it('compares with verifies from now on, and the audit log records it', async () => {
  const { code, json } = await place.run(['models', 'drift', 'acme', '--restart', '--json'])
  expect([code, json.tenant]).toEqual([0, 'acme'])
  expect(await stateOf('acme')).toMatchObject({
    since: json.since,
    entries: [{ actor: 'operator', since: json.since }],
  })
  expect(await stateOf('beta')).toEqual({ since: null, entries: [] })
})

it('restarts the comparison of all tenants where none is named', async () => {
  const { code, stdout } = await place.run(['models', 'drift', '--restart'])
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^Verifications of all tenants are compared with those from /),
  ])
  for (const name of TENANTS) expect((await stateOf(name)).since).toBe(stdout.match(/from (\S+) on/)![1])
})

it('refuses an unknown tenant', async () => {
  const { code, error } = await place.run(['models', 'drift', 'nobody', '--restart', '--json'])
  expect([code, error.code]).toEqual([1, 'tenant_not_found'])
})
