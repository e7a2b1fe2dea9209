/** Reads the CPU time of a PostgreSQL server from /proc, where the server runs on this machine. */
import { readFileSync } from 'node:fs'
import { readStat } from './cpu-times.js'
import { childrenOf } from './process-vitals.js'

/** The server's process that answers one connection. */
export interface Backend {
  pid: number
  /** Port of the client as the server sees it; null over a Unix socket. */
  clientPort: number | null
}

/** @returns the pid of the server's first process, the postmaster; null where /proc does not show the server */
export function findPostmaster({ pid, clientPort }: Backend): number | null {
  try {
    // The title names the client's port. It distinguishes the server's process from one of this machine with the same pid,
    // where the server runs on another machine or in a container.
    const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    const client = clientPort === null ? '[local]' : `(${clientPort})`
    if (!(title.startsWith('postgres: ') && title.includes(client))) return null
    return readStat(`/proc/${pid}/stat`).parent
  } catch {
    return null
  }
}

/**
 * @param besides pid of a process that is not counted: the measurement's own backend
 * @returns the CPU time of the server's other processes since the start, in milliseconds, those that have ended
 * included; null where /proc does not show it
 */
export function readServerCpuMs(postmaster: number, besides: number): number | null {
  try {
    const livingMs = childrenOf(postmaster)
      .filter((pid) => pid !== besides)
      .reduce((sum, pid) => sum + cpuMsOf(pid), 0)
    // The postmaster is read last: it counts the time of a child that ended after the list was read.
    const { cpuMs, endedChildrenMs } = readStat(`/proc/${postmaster}/stat`)
    return cpuMs + endedChildrenMs + livingMs
  } catch {
    return null
  }
}

/** Zero when the process has just ended. */
function cpuMsOf(pid: number): number {
  try {
    return readStat(`/proc/${pid}/stat`).cpuMs
  } catch {
    return 0
  }
}
