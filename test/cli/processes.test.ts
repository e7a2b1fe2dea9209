import { describe, expect, it } from 'vitest'
import { loadConfig, resolveConfig } from '../../src/app/configuration.js'
import { canNodeSharePorts, shareOf } from '../../src/cli/process/processes.js'
import { processCount } from '../../src/config/worker-limits.js'
import { docPath } from '../../src/lib/doc-path.js'

const POSTGRES = { COUNTERSIGN_DATABASE: 'postgres://countersign@localhost/countersign' }

describe('several processes', () => {
  it('are refused with a SQLite database, with the reason', () => {
    expect(resolveConfig({ COUNTERSIGN_PROCESSES: '2' }).problems).toEqual([
      `COUNTERSIGN_PROCESSES is 2, but only one process can serve a SQLite database. Several need PostgreSQL (${docPath('postgresql.md')}).`,
    ])
    expect(resolveConfig({ COUNTERSIGN_PROCESSES: '2', ...POSTGRES }).problems).toEqual([])
  })

  it.each(['0', '65', '1.5', 'many'])('are not accepted as "%s"', (text) => {
    expect(resolveConfig({ COUNTERSIGN_PROCESSES: text, ...POSTGRES }).problems).toEqual([
      `COUNTERSIGN_PROCESSES is "${text}"; expected auto or a whole number from 1 to 64.`,
    ])
  })

  it('default to one, and auto is one with a SQLite database', () => {
    expect(processCount(loadConfig(POSTGRES))).toBe(1)
    expect(processCount(loadConfig({ COUNTERSIGN_PROCESSES: 'auto' }))).toBe(1)
  })

  it.each([
    [1, 1],
    [8, 1],
    [9, 2],
    [16, 2],
    [64, 8],
  ])('number, with auto on %i cores of Linux, %i', (cores, count) => {
    const config = loadConfig({ COUNTERSIGN_PROCESSES: 'auto', ...POSTGRES })
    expect(processCount(config, { cores, platform: 'linux' })).toBe(count)
    expect(processCount(config, { cores, platform: 'darwin' })).toBe(1)
  })

  it('divide workers, queue and memory so that none has less than it needs', () => {
    const config = loadConfig({
      ...POSTGRES,
      COUNTERSIGN_WORKERS: '8',
      COUNTERSIGN_QUEUE_LIMIT: '100',
      COUNTERSIGN_MAX_BODY_BYTES: '4000000',
      COUNTERSIGN_BODY_MEMORY_BYTES: '9000000',
    })
    const shares = [0, 1, 2].map((index) => shareOf(config, index, 3))
    expect(shares.map(({ workers }) => workers)).toEqual([3, 3, 2])
    expect(shares.map(({ queueLimit }) => queueLimit)).toEqual([34, 34, 34])
    expect(shares.map(({ bodyMemoryBytes }) => bodyMemoryBytes)).toEqual([4000000, 4000000, 4000000])
    expect([0, 1].map((index) => shareOf({ ...config, workers: 1 }, index, 2).workers)).toEqual([1, 1])
  })

  it.each([
    ['20.20.2', false],
    ['22.11.0', false],
    ['22.12.0', true],
    ['23.0.0', false],
    ['23.1.0', true],
    ['24.0.0', true],
  ])('can share a port by node:http of Node %s: %s', (version, can) => {
    expect(canNodeSharePorts(version)).toBe(can)
  })
})
