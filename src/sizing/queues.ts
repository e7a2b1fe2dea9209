/** Waiting before servers that are alike, by the formulas of queueing theory. */

/** The wait of those who arrive at random before servers that take jobs in order of arrival. */
export interface Wait {
  /** That a job has to wait at all. */
  probability: number
  /** Of those who wait. */
  meanMs: number
}

const NEVER: Wait = { probability: 0, meanMs: 0 }
const FOREVER: Wait = { probability: 1, meanMs: Number.POSITIVE_INFINITY }

/**
 * That all servers are busy when a job arrives (Erlang C), by the recursion of Erlang B, which is stable for any number of servers.
 * @param offered the mean number of busy servers; below `servers`
 */
export function erlangC(servers: number, offered: number): number {
  let blocked = 1
  for (let count = 1; count <= servers; count++) blocked = (offered * blocked) / (count + offered * blocked)
  const utilisation = offered / servers
  return blocked / (1 - utilisation * (1 - blocked))
}

/**
 * M/G/c with jobs of nearly the same length. Between the exact M/M/c and Cosmetatos' M/D/c (1975) by the variability of the service,
 * as Kimura (1986) has it; exact for M/M/c and M/G/1.
 * @param cv2 squared coefficient of variation of the service time
 */
export function waitOf(
  servers: number,
  { perMs, serviceMs, cv2 }: { perMs: number; serviceMs: number; cv2: number },
): Wait {
  const offered = perMs * serviceMs
  if (offered <= 0) return NEVER
  const utilisation = offered / servers
  if (utilisation >= 1) return FOREVER
  const probability = erlangC(servers, offered)
  const exponentialMs = serviceMs / (servers * (1 - utilisation))
  const deterministicMs = (exponentialMs / 2) * cosmetatos(servers, utilisation)
  return { probability, meanMs: cv2 * exponentialMs + (1 - cv2) * deterministicMs }
}

/** By how much the wait of M/D/c exceeds half of M/M/c's. */
function cosmetatos(servers: number, utilisation: number): number {
  return (
    1 + ((1 - utilisation) * (servers - 1) * (Math.sqrt(4 + 5 * servers) - 2)) / (16 * utilisation * servers)
  )
}
