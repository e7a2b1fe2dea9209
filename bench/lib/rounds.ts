/** Divides a suite's measuring time into rounds. */

/** Minimum seconds of a round: a shorter one has too few completions for a rate. */
const MIN_SECONDS = 1

export interface Rounds {
  count: number
  /** Seconds of one contender in one round. */
  seconds: number
}

/**
 * Returns as many rounds as there is time for, at least one; a time too short for that is exceeded.
 * @param seconds for all contenders and rounds together
 */
export function cutIntoRounds(seconds: number, contenders: number, most: number): Rounds {
  const each = seconds / contenders
  const count = Math.min(most, Math.max(1, Math.floor(each / MIN_SECONDS)))
  return { count, seconds: Math.max(MIN_SECONDS, each / count) }
}
