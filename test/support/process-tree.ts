/** A process and its children, as Linux's /proc lists them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Process ids of all threads' children; Linux lists them with the thread that started them. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => childrenOfThread(pid, thread))
    .map(Number)
}

function childrenOfThread(pid: number, thread: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean)
  } catch {
    // It has ended meanwhile.
    return []
  }
}

/** CPU time of a process in its own code, in the kernel's ticks of 10 ms. */
export function processorTicks(pid: number): number {
  // The name, in parentheses, may hold spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  return Number(fields[11])
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

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    // The process has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Whether the process runs. A zombie does not, and may never be reaped. */
export function isAlive(pid: number): boolean {
  try {
    return existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
