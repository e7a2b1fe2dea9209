/** How long sessions of the dashboard last and a sign-in stays fresh, in milliseconds. */

import type { Config } from '../../config/config.js'
import { HOUR_MS, MINUTE_MS } from '../../lib/clock.js'

export interface SessionTimes {
  /** A session ends after this time without use. */
  idleMs: number
  /** A session ends after this time, however much it is used. */
  absoluteMs: number
  /** After a sign-in, the session may reveal secrets and destroy data for this time. */
  freshMs: number
}

export function sessionTimes(
  config: Pick<Config, 'dashboardIdleMinutes' | 'dashboardSessionHours' | 'dashboardFreshMinutes'>,
): SessionTimes {
  return {
    idleMs: config.dashboardIdleMinutes * MINUTE_MS,
    absoluteMs: config.dashboardSessionHours * HOUR_MS,
    freshMs: config.dashboardFreshMinutes * MINUTE_MS,
  }
}
