/** How long sessions of the dashboard last, and for how long a sign-in is fresh; all in milliseconds. */

import type { Config } from '../config/config.js'
import { HOUR_MS, MINUTE_MS } from '../lib/clock.js'

export interface SessionTimes {
  /** After this time without use a session ends. */
  idleMs: number
  /** After this time a session ends however much it is used. */
  wholeMs: number
  /** For this time after a sign-in the session may reveal secrets and destroy things. */
  freshMs: number
}

export function sessionTimes(
  config: Pick<Config, 'dashboardIdleMinutes' | 'dashboardSessionHours' | 'dashboardFreshMinutes'>,
): SessionTimes {
  return {
    idleMs: config.dashboardIdleMinutes * MINUTE_MS,
    wholeMs: config.dashboardSessionHours * HOUR_MS,
    freshMs: config.dashboardFreshMinutes * MINUTE_MS,
  }
}
