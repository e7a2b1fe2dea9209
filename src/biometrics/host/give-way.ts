/** Gives the service precedence over the processes that read pictures. */
import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Lowers the priority of this process. The service's main thread needs little time, but needs it at once: while it
 * waits for a core, workers run out of tasks. Threads inherit the priority of the one that starts them. Ignores the
 * signals of a terminal, which sends them to all processes.
 * @param niceness -20 to 19
 * @param oomScore 0 to 1000: when memory runs out, Linux kills the process with the highest one first
 */
export function giveWay(niceness: number, oomScore: number): void {
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => {})
  const wishes = [
    () => setPriority(niceness),
    () => writeFileSync('/proc/self/oom_score_adj', String(oomScore)),
  ]
  for (const wish of wishes)
    try {
      wish()
    } catch {
      // The system is not Linux or does not allow it: only the preference is lost.
    }
}
