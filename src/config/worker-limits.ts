/** How many workers this machine carries and which of its limits decides: the default of COUNTERSIGN_WORKERS. */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { isPostgres } from './database-address.js'

/** Limits of the machine and of the control groups of this process; Infinity where nothing is limited. */
export interface MachineLimits {
  cores: number
  /** In cores. */
  cpuQuota: number
  memoryBytes: number
  /** Threads of the control group, or of the user. */
  threads: number
}

export interface WorkerDecision {
  workers: number
  /** The limit that decided, as a part of a sentence. */
  limit: string
}

/** A service process cannot keep more workers busy: its main thread takes a sixth of the time that a worker takes. */
const MOST_A_PROCESS = 16
/** The setting takes no more. */
const MOST = 256
/** Threads of the service and of its engine without workers, rounded up; then what each worker adds. */
const THREADS = { aProcess: 40, aWorker: 3 } as const
/** Memory of the service and of its engine without workers, rounded up; then what each worker adds, with a large picture. */
const MIB = { aProcess: 384, aWorker: 128 } as const

/** One main thread can keep this many cores busy: a verify takes it less than an eighth of the time that it takes a worker. */
const CORES_A_PROCESS = 8

/** @returns the configured number; for `auto`, one process per eight cores, or 1 where several are impossible */
export function processCount(
  { processes, database }: { processes: number | 'auto'; database: string },
  machine: { cores: number; platform: NodeJS.Platform } = {
    cores: availableParallelism(),
    platform: process.platform,
  },
): number {
  if (processes !== 'auto') return processes
  const canBeSeveral = machine.platform === 'linux' && isPostgres({ database })
  return canBeSeveral ? Math.ceil(machine.cores / CORES_A_PROCESS) : 1
}

/** @param limits those of this machine; a test gives others */
export function defaultWorkers(
  { processes, database }: { processes: number | 'auto'; database: string },
  limits = machineLimits(),
): WorkerDecision {
  const { platform } = process
  return workersWithin(limits, processCount({ processes, database }, { cores: limits.cores, platform }))
}

/** @param processes service processes that share the workers; at least one worker remains, however low a limit is */
export function workersWithin(limits: MachineLimits, processes: number): WorkerDecision {
  const { cores, cpuQuota, memoryBytes, threads } = limits
  const mib = memoryBytes / 2 ** 20
  const bounds = [
    { workers: cores, limit: `${cores} cores` },
    { workers: Math.ceil(cpuQuota), limit: `a CPU quota of ${cpuQuota} cores` },
    {
      workers: (mib - MIB.aProcess * processes) / MIB.aWorker,
      limit: `a memory limit of ${Math.floor(mib)} MiB`,
    },
    {
      workers: (threads - THREADS.aProcess * processes) / THREADS.aWorker,
      limit: `a limit of ${threads} threads`,
    },
    { workers: MOST_A_PROCESS * processes, limit: `${MOST_A_PROCESS} workers for each service process` },
  ]
  const least = bounds.reduce((one, other) => (other.workers < one.workers ? other : one))
  return { ...least, workers: Math.max(1, Math.min(MOST, Math.floor(least.workers))) }
}

/** @param root folder of /proc and /sys, for tests @param isRoot root's threads are not limited by user */
export function machineLimits(root = '/', isRoot = process.getuid?.() === 0): MachineLimits {
  const least = (controller: string, limitIn: (folder: string) => number) =>
    Math.min(Number.POSITIVE_INFINITY, ...groupFolders(root, controller).map(limitIn))
  const [, ofUser] = /^Max processes +(\S+)/m.exec(read(join(root, 'proc/self/limits'))) ?? []
  return {
    cores: availableParallelism(),
    cpuQuota: least('cpu', cpuQuotaIn),
    memoryBytes: least('memory', (folder) =>
      Math.min(numberIn(folder, 'memory.max'), numberIn(folder, 'memory.limit_in_bytes')),
    ),
    threads: Math.min(
      least('pids', (folder) => numberIn(folder, 'pids.max')),
      isRoot ? Number.POSITIVE_INFINITY : limitOf(ofUser),
    ),
  }
}

/** @returns the folders of this process's control group and of all above it, in both versions of cgroup: each may limit it */
function groupFolders(root: string, controller: string): string[] {
  const mount = join(root, 'sys/fs/cgroup')
  return read(join(root, 'proc/self/cgroup'))
    .split('\n')
    .flatMap((line) => {
      const [, controllers, path = '/'] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
      if (controllers === '') return upwards(mount, path)
      return controllers?.split(',').includes(controller) ? upwards(join(mount, controller), path) : []
    })
}

function upwards(mount: string, path: string): string[] {
  const above = path === '/' ? [] : upwards(mount, dirname(path))
  return [join(mount, path), ...above]
}

/** In cores; version 2 has `cpu.max` with quota and period, version 1 a file for each. */
function cpuQuotaIn(folder: string): number {
  const [quota, period] = read(join(folder, 'cpu.max')).split(' ')
  return Math.min(
    share(limitOf(quota), limitOf(period)),
    share(numberIn(folder, 'cpu.cfs_quota_us'), numberIn(folder, 'cpu.cfs_period_us')),
  )
}

function share(quota: number, period: number): number {
  return Number.isFinite(quota) ? quota / period : Number.POSITIVE_INFINITY
}

function numberIn(folder: string, file: string): number {
  return limitOf(read(join(folder, file)))
}

/** Infinity for `max`, `unlimited`, -1 and an absent file. */
function limitOf(text = ''): number {
  const value = Number(text.trim() || Number.NaN)
  return value > 0 ? value : Number.POSITIVE_INFINITY
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
