/** Watches how much of the machine other programs use, since their work makes every figure worse. */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { readStat, TICK_MS } from './cpu-times.js'
import { childrenOf } from './process-vitals.js'
import { round } from './statistics.js'

/** Cores that other programs may use while a suite runs: above it, its result is marked as provisional. */
export const MAX_OTHER_CORES = 0.2
/** Milliseconds for a look at the machine before anything is measured. */
const LOOK_MS = 3000

export class OtherPrograms {
  readonly #startedMs = performance.now()
  readonly #before = otherCpuMs()

  /** Cores that other programs have used since the start, on average; null where the system does not report it. */
  cores(): number | null {
    const now = otherCpuMs()
    if (now === null || this.#before === null) return null
    return round(Math.max(0, now - this.#before) / (performance.now() - this.#startedMs), 2)
  }
}

/** @returns cores that other programs use at present; null where the system does not report it */
export async function lookAtOtherPrograms(): Promise<number | null> {
  const others = new OtherPrograms()
  await sleep(LOOK_MS)
  return others.cores()
}

/** CPU time of the whole machine without that of this process and its children, in milliseconds. */
function otherCpuMs(): number | null {
  try {
    // proc(5): user, nice, system, idle, iowait, irq, softirq, steal. Interrupts belong to no process and come mostly from
    // this run, so they are left out; the last is what a hypervisor gave to others.
    const [, user, nice, system, , , , , steal] = readFileSync('/proc/stat', 'utf8')
      .split('\n')[0]!
      .split(/\s+/)
      .map(Number)
    const all = (user! + nice! + system! + steal!) * TICK_MS
    return all - cpuMsWithChildren(process.pid)
  } catch {
    return null
  }
}

/** CPU time of a process with its children, those that have ended included, in milliseconds. */
function cpuMsWithChildren(pid: number): number {
  const { cpuMs, endedChildrenMs } = readStat(`/proc/${pid}/stat`)
  return childrenOf(pid).reduce((sum, child) => sum + cpuMsWithChildren(child), cpuMs + endedChildrenMs)
}
