/** A process and its children, as Linux's /proc tells. */
import { readFileSync } from 'node:fs'

/** Process ids; Linux lists them with the thread that started them. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** Resident memory of a process and its children; 0 where /proc does not tell. */
export function residentMib(pid: number): number {
  try {
    const own = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
    return childrenOf(pid).reduce((sum, child) => sum + residentMib(child), own)
  } catch {
    return 0
  }
}
