import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkTopology } from '../../src/cli/doctor/doctor-machine.js'
import { loadConfig, resolveConfig } from '../../src/config/config.js'
import { defaultWorkers, type MachineLimits, machineLimits } from '../../src/config/worker-limits.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const NONE = Number.POSITIVE_INFINITY
const HOST: MachineLimits = { cores: 8, cpuQuota: NONE, memoryBytes: NONE, threads: NONE }
const GIB = 2 ** 30
const one = { processes: 1, database: 'sqlite:x' } as const

describe('the number of workers', () => {
  it.each<[string, Partial<MachineLimits>, number, string]>([
    ['one for each core', {}, 8, '8 cores'],
    [
      '16 on 96 cores with 256 threads',
      { cores: 96, threads: 256 },
      16,
      '16 workers for each service process',
    ],
    ['fewer by a limit of threads', { cores: 96, threads: 64 }, 8, 'a limit of 64 threads'],
    ['that of a CPU quota', { cores: 64, cpuQuota: 2 }, 2, 'a CPU quota of 2 cores'],
    ['rounded up for a part of a core', { cpuQuota: 1.5 }, 2, 'a CPU quota of 1.5 cores'],
    ['that of a memory limit', { memoryBytes: GIB }, 5, 'a memory limit of 1024 MiB'],
    ['one at least', { memoryBytes: GIB / 8 }, 1, 'a memory limit of 128 MiB'],
    ['by cores where a limit is the same', { cpuQuota: 8 }, 8, '8 cores'],
  ])('is %s', (_what, changes, workers, limit) => {
    expect(defaultWorkers(one, { ...HOST, ...changes })).toEqual({ workers, limit })
  })

  it.each([
    [{ processes: 4, database: 'postgres://h/d' }, 64],
    [{ processes: 'auto', database: 'postgres://h/d' }, 96],
    [{ processes: 'auto', database: 'sqlite:x' }, 16],
  ] as const)('follows the processes that share the cores: %o', (config, workers) => {
    expect(defaultWorkers(config, { ...HOST, cores: 96 }).workers).toBe(workers)
  })
})

describe('the limits of the machine', () => {
  const machine = (files: Record<string, string>, isRoot = true) => {
    const root = temporaryFolder()
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true })
      writeFileSync(join(root, name), text)
    }
    return machineLimits(root, isRoot)
  }
  const cores = availableParallelism()
  const unlimited = { cores, cpuQuota: NONE, memoryBytes: NONE, threads: NONE }

  it('are none where there are no control groups, or they limit nothing', () => {
    expect(machine({})).toEqual(unlimited)
    expect(
      machine({
        'proc/self/cgroup': '0::/\n',
        'sys/fs/cgroup/cpu.max': 'max 100000\n',
        'sys/fs/cgroup/memory.max': 'max\n',
        'sys/fs/cgroup/pids.max': 'max\n',
      }),
    ).toEqual(unlimited)
    expect(
      machine({
        'proc/self/cgroup': '1:cpu,cpuacct:/\n',
        'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
        'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
      }),
    ).toEqual(unlimited)
  })

  it('are the least of the group and of all above it (cgroup 2)', () => {
    expect(
      machine({
        'proc/self/cgroup': '0::/system.slice/countersign.service\n',
        'sys/fs/cgroup/system.slice/countersign.service/cpu.max': '400000 100000\n',
        'sys/fs/cgroup/system.slice/cpu.max': '150000 100000\n',
        'sys/fs/cgroup/system.slice/countersign.service/memory.max': `${2 * GIB}\n`,
        'sys/fs/cgroup/system.slice/memory.max': 'max\n',
        'sys/fs/cgroup/system.slice/countersign.service/pids.max': '256\n',
      }),
    ).toEqual({ cores, cpuQuota: 1.5, memoryBytes: 2 * GIB, threads: 256 })
  })

  it('are those of the controllers, also in a container that sees only its own group (cgroup 1)', () => {
    expect(
      machine({
        'proc/self/cgroup': '5:pids:/docker/abc\n4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n',
        'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '250000\n',
        'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
        'sys/fs/cgroup/memory/memory.limit_in_bytes': `${GIB}\n`,
        'sys/fs/cgroup/pids/docker/abc/pids.max': '128\n',
      }),
    ).toEqual({ cores, cpuQuota: 2.5, memoryBytes: GIB, threads: 128 })
  })

  it('hold the threads of an ordinary user, and not those of root', () => {
    const files = {
      'proc/self/limits': 'Max processes             256                  512                  processes \n',
    }
    expect(machine(files, false).threads).toBe(256)
    expect(machine(files, true).threads).toBe(NONE)
  })
})

it('is said by the configuration and by doctor, which warns of more than the machine carries', () => {
  const by = (env: Record<string, string>) => loadConfig({ COUNTERSIGN_DATA_DIR: tmpdir(), ...env })
  const { config } = resolveConfig({ COUNTERSIGN_DATA_DIR: tmpdir() })
  expect(config).toMatchObject({
    workersLimit: defaultWorkers(one).limit,
    workers: defaultWorkers(one).workers,
  })
  const many = by({ COUNTERSIGN_WORKERS: '96' })
  expect(many.workersLimit).toBe('COUNTERSIGN_WORKERS')
  const limits = { ...HOST, cores: 96, threads: 256 }
  expect(checkTopology(many, limits)).toEqual({
    check: 'topology',
    status: 'warning',
    detail: '96 workers by COUNTERSIGN_WORKERS, on 96 cores, one inference thread each',
    remedy: expect.stringContaining('at most 16, by 16 workers for each service process'),
  })
  expect(checkTopology(by({ COUNTERSIGN_WORKERS: '8' }), { ...limits, threads: 64 }).status).toBe('ok')
  expect(checkTopology(by({ COUNTERSIGN_WORKERS: '9' }), { ...limits, threads: 64 })).toMatchObject({
    status: 'warning',
    remedy: expect.stringContaining('at most 8, by a limit of 64 threads'),
  })
})
