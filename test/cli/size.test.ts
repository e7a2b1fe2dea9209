import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { POSTGRES_MAIN_FACTOR } from '../../src/sizing/figures.js'
import { type Workplace, workplace } from '../support/command.js'
import { documentInDocs } from '../support/docs.js'

let place: Workplace
beforeAll(async () => {
  place = await workplace()
})
afterAll(() => place?.dispose())

describe('size', () => {
  it('tells nodes, cores and what the database has to do, and how exact that is', async () => {
    const { code, json } = await place.run(['size', '--rps', '100', '--cores-per-node', '8', '--json'])
    expect(code).toBe(0)
    expect(json).toMatchObject({
      clusters: 1,
      nodes: json.cluster.nodes,
      cores: 8 * json.cluster.nodes,
      cluster: {
        spare_nodes: 1,
        workers_per_service: 8,
        most_verifies_per_s: { engine: expect.any(Number), main_threads: expect.any(Number) },
        all_nodes: { p99_ms: expect.any(Number) },
      },
      database: { connections: 13 * json.cluster.nodes, users_gb: 1.9 },
      accuracy: { simulation: { p99: expect.any(Number) }, runs: { p99: expect.any(Number) } },
    })
    const { stdout } = await place.run(['size', '--rps', '100'])
    for (const name of ['Machines', 'Cluster', 'Spare lost', 'Ends at', 'Database', 'Its disk', 'Accuracy'])
      expect(stdout).toMatch(new RegExp(`^${name} `, 'm'))
    expect(stdout).not.toContain('No number of nodes')
  })

  it('says plainly that no number of nodes carries a load, and what to do', async () => {
    const { code, stdout } = await place.run(['size', '--rps', '5000', '--hottest-share', '0.01'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/No number of nodes carries this load over one database: /)
    expect(stdout).toMatch(/Divide the tenants among \d+ clusters/)
  })

  it.each([
    ['a tenant that no database carries', ['--rps', '5000', '--tenants', '1'], 'the busiest tenant'],
    ['what no machine does', ['--rps', '1', '--p99', '12'], 'No number of machines makes'],
  ])('is refused for %s', async (_, options, message) => {
    const { code, error } = await place.run(['size', ...options, '--json'])
    expect({ code, error }).toEqual({
      code: 1,
      error: { code: 'no_such_size', message: expect.stringContaining(message) },
    })
  })

  it('takes figures from a result of the floor suite, and single ones before that', async () => {
    await mkdir(place.path('bench'))
    const service = [{ cpuMs: 30, mainThreadCpuMs: 2 }]
    await writeFile(place.path('bench/floor.json'), JSON.stringify({ details: { rounds: { service } } }))
    const size = ['size', '--rps', '20', '--bench', place.path('bench'), '--json']
    const { json } = await place.run(size)
    expect(json.figures).toMatchObject({ engine_ms: 28, main_ms: 2 * POSTGRES_MAIN_FACTOR })
    const given = await place.run([...size, '--engine-ms', '9', '--sync-ms', '0.4'])
    expect(given.json.figures).toMatchObject({
      engine_ms: 9,
      main_ms: 2 * POSTGRES_MAIN_FACTOR,
      sync_ms: 0.4,
    })
  })

  it('says which result it cannot read', async () => {
    const { code, error } = await place.run(['size', '--rps', '20', '--bench', place.path('none'), '--json'])
    expect({ code, error: error?.code }).toEqual({ code: 1, error: 'invalid_bench_result' })
  })

  it('says in docs/scale.md what it says (UPDATE_DOCS=1 writes it)', async () => {
    const before = readFileSync(packageFile('docs', 'scale.md'), 'utf8')
    const examples = [...before.matchAll(/^\$ countersign (size .*)\n([\s\S]*?)(?=^```)/gm)]
    expect(examples.length).toBeGreaterThan(2)
    let made = before
    for (const [shown, command] of examples) {
      const { stdout } = await place.run(command!.split(' '))
      made = made.replace(shown, () => `$ countersign ${command}\n${stdout}`)
    }
    expect(documentInDocs('scale.md', made)).toBe(made)
  })

  it.each([['-1'], ['x'], ['']])('takes no load of %j', async (rps) => {
    const { code, error } = await place.run(['size', '--rps', rps, '--json'])
    expect({ code, error: error?.code }).toEqual({ code: 2, error: 'wrong_usage' })
  })
})
