/** CPU times of processes and threads since their start, as Linux counts them in /proc. */
import { readFileSync } from 'node:fs'
import { childrenOf } from './process-vitals.js'

/** CPU time of a service since its start, in milliseconds. */
export interface CpuTimes {
  /** CPU time of every thread, including the engine process's. */
  all: number
  mainThread: number
}

/** One line of /proc: `/proc/<pid>/stat` of a process, or the same of a thread. */
export interface ProcessStat {
  parent: number
  /** CPU time in milliseconds, without that of child processes. */
  cpuMs: number
  /** CPU time in milliseconds of the child processes that have ended. */
  endedChildrenMs: number
}

/**
 * Milliseconds of a tick, in which /proc counts; fixed at 100 Hz for user space on every architecture that Node runs
 * on.
 */
export const TICK_MS = 10

/** @throws Error when the process has ended, and where there is no /proc */
export function readStat(path: string): ProcessStat {
  const stat = readFileSync(path, 'utf8')
  // proc(5): field 2 is the name, which may contain blanks, so counting starts behind it, at field 3. The parent is
  // field 4; utime, stime, cutime and cstime are fields 14 to 17.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  return {
    parent: fields[1]!,
    cpuMs: (fields[11]! + fields[12]!) * TICK_MS,
    endedChildrenMs: (fields[13]! + fields[14]!) * TICK_MS,
  }
}

/** Null where the system does not report it (anything but Linux). */
export function readCpuTimes(pid: number): CpuTimes | null {
  try {
    const processes = [pid, ...childrenOf(pid)]
    return {
      all: processes.reduce((sum, one) => sum + readStat(`/proc/${one}/stat`).cpuMs, 0),
      mainThread: readStat(`/proc/${pid}/task/${pid}/stat`).cpuMs,
    }
  } catch {
    return null
  }
}
