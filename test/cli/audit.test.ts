import { writeFile } from 'node:fs/promises'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { apiClient } from '../support/client.js'
import { workplaceForEach } from '../support/command.js'
import { damageTable } from '../support/damage.js'
import { validSignatures } from '../support/trust.js'

const place = workplaceForEach()

async function createTenant(name: string): Promise<{ tenant_id: string; sandbox_key: string }> {
  return (await place.run(['tenant', 'create', name, '--json'])).json
}

/** A tenant with some audit entries. */
async function createAudited(name: string): Promise<string> {
  const { tenant_id } = await createTenant(name)
  for (const args of [
    ['reissue-key', name, '--type', 'sandbox'],
    ['rotate-signing', name],
    ['rotate-signing', name, '--force'],
    ['revoke-key', name, '--type', 'sandbox'],
  ])
    expect((await place.run(['tenant', ...args])).code).toBe(0)
  return tenant_id
}

/** Attacks by someone who has the file but not the master key: the triggers do not stop them. */
function tamper(sql: string, ...values: unknown[]): void {
  const database = new Database(place.path('countersign.db'))
  database.exec('DROP TRIGGER audit_no_update; DROP TRIGGER audit_no_delete')
  expect(database.prepare(sql).run(...values).changes).toBeGreaterThan(0)
  database.close()
}

describe('audit verify', () => {
  it('names the runbook for a damaged database, without a stack', async () => {
    await createAudited('acme')
    damageTable(place.path('countersign.db'), 'audit')
    const { code, stderr } = await place.run(['audit', 'verify'])
    expect(code).toBe(1)
    expect(stderr).toContain('SQLITE_CORRUPT')
    expect(stderr).toContain('docs/operations/runbooks.md#database_corrupt')
    expect(stderr).not.toMatch(/^ +at /m)
  })

  it('finds every chain intact, also while the service runs', async () => {
    await place.host()
    const tenant_id = await createAudited('acme')
    await createTenant('idle')
    const { code, json } = await place.ask('audit verify')
    expect(code).toBe(0)
    expect(json).toEqual([
      { tenant_id, name: 'acme', entries: 5, broken_at: null },
      { tenant_id: expect.any(String), name: 'idle', entries: 1, broken_at: null },
    ])
    expect((await place.run(['audit', 'verify'])).stdout).toMatch(/^acme +5 +intact$/m)
  })

  it('accepts a log that contains its anchor, and reports one that does not', async () => {
    await createAudited('acme')
    const { stdout } = await place.run(['audit', 'anchor'])
    expect(stdout).toMatch(/^ten_[0-9a-f]{32}:5:[0-9a-f]{64}\n$/)
    const file = place.path('anchor.txt')
    await writeFile(file, stdout)
    expect((await place.run(['audit', 'verify', '--anchor', file])).code).toBe(0)
    await writeFile(file, stdout.replace(/[0-9a-f]{64}/, '0'.repeat(64)))
    const { code, json } = await place.run(['audit', 'verify', '--anchor', file, '--json'])
    expect(code).toBe(1)
    expect(json).toMatchObject([{ name: 'acme', broken_at: null, anchored: false }])
    await writeFile(file, 'nonsense')
    expect((await place.run(['audit', 'verify', '--anchor', file, '--json'])).error.code).toBe(
      'unreadable_anchor',
    )
  })

  it('reports a log whose end does not match its seal; doctor names it, and no anchor is made', async () => {
    await createAudited('acme')
    tamper('UPDATE audit_seal SET sequence = sequence - 1')
    const { code, json } = await place.ask('audit verify')
    expect(code).toBe(1)
    expect(json).toMatchObject([{ name: 'acme', entries: 4, broken_at: 5 }])
    expect((await place.ask('audit anchor')).error.code).toBe('audit_log_broken')
    const { findings } = (await place.ask('doctor')).json as {
      findings: Array<Record<string, string>>
    }
    expect(findings.find(({ check }) => check === 'audit logs')).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining('acme'),
    })
  })

  it('names the first changed entry and ends with 1', async () => {
    await createAudited('acme')
    await createAudited('other')
    tamper(
      `UPDATE audit SET entry = replace(entry, '"operator"', '"nobody"') WHERE sequence = 3
       AND tenant_id = (SELECT id FROM tenant WHERE name = 'acme')`,
    )
    const { code, json } = await place.ask('audit verify')
    expect(code).toBe(1)
    expect(json).toMatchObject([
      { name: 'acme', entries: 2, broken_at: 3 },
      { name: 'other', entries: 5, broken_at: null },
    ])
    const people = await place.run(['audit', 'verify'])
    expect(people.code).toBe(1)
    expect(people.stdout).toMatch(/^acme +2 +broken at entry 3$/m)
  })
})

it('keys instance-secret prints the secret that signs responses without a known tenant', async () => {
  const server = await place.host()
  const { code, json } = await place.ask('keys instance-secret')
  expect(code).toBe(0)
  const response = await apiClient(`${server.production}/v1`).health()
  expect(response.status).toBe(401)
  expect(validSignatures(response, { [json.id]: json.secret })).toEqual(['instance'])
  expect((await place.run(['keys', 'instance-secret'])).stdout).toBe(`${json.secret}\n`)
})
