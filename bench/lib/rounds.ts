/** How a suite's measuring time is cut into rounds. */

/** Shorter ones hold too few completions to make a rate of. */
const MIN_SECONDS = 1

export interface Rounds {
  count: number
  /** Of one contender in one round. */
  seconds: number
}

/**
 * As many rounds as there is time for, at least one; a time too short for that is exceeded.
 * @param seconds for all contenders and rounds together
 */
export function cutIntoRounds(seconds: number, contenders: number, most: number): Rounds {
  const each = seconds / contenders
  const count = Math.min(most, Math.max(1, Math.floor(each / MIN_SECONDS)))
  return { count, seconds: Math.max(MIN_SECONDS, each / count) }
}
