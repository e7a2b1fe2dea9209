/** Memory and descriptors of the serving processes at one moment, from Linux and from the service itself. */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'

export interface ProcessVitals {
  pid: number
  residentMib: number
  /**
   * The part of the resident memory that the process itself filled. The rest are pages of files, which the kernel
   * drops and reads again as needed.
   */
  anonymousMib: number
  /** Open files, pipes and event descriptors: all but sockets. */
  descriptors: number
  /** Open sockets, which come and go with the callers' connections. */
  sockets: number
  threads: number
}

export interface ServiceVitals {
  service: ProcessVitals
  /** The engine process; null between its end and the next one's start. */
  engine: ProcessVitals | null
  /** Event loop delay of the service's main thread. */
  heapUsedMib: number
  databaseMib: number
  writeAheadLogMib: number
}

const KIB_PER_MIB = 1024
const MIB = 2 ** 20

/** Linux lists child processes with the thread that started them. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

export async function readServiceVitals(
  pid: number,
  { dataDir, metricsUrl }: { dataDir: string; metricsUrl: string },
): Promise<ServiceVitals> {
  const metrics = await (await fetch(metricsUrl)).text()
  const heapBytes = Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(metrics)?.[1])
  if (Number.isNaN(heapBytes)) throw new Error(`${metricsUrl} does not tell the heap`)
  return {
    service: readProcess(pid)!,
    engine: childrenOf(pid).map(readProcess).find(Boolean) ?? null,
    heapUsedMib: heapBytes / MIB,
    databaseMib: fileMib(join(dataDir, 'countersign.db')),
    writeAheadLogMib: fileMib(join(dataDir, 'countersign.db-wal')),
  }
}

/** Null if the process has just ended. */
export function readProcess(pid: number): ProcessVitals | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)![1])
    return {
      pid,
      residentMib: field('VmRSS') / KIB_PER_MIB,
      anonymousMib: field('RssAnon') / KIB_PER_MIB,
      ...countDescriptors(pid),
      threads: field('Threads'),
    }
  } catch {
    return null
  }
}

function countDescriptors(pid: number): Pick<ProcessVitals, 'descriptors' | 'sockets'> {
  const targets = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      // The descriptor was closed after it was listed.
      return null
    }
  })
  const open = targets.filter((target) => target !== null)
  const sockets = open.filter((target) => target.startsWith('socket:')).length
  return { descriptors: open.length - sockets, sockets }
}

function fileMib(file: string): number {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) / MIB
}
