/** What the settings allow a caller: bytes, time, connections. */
import type { Config } from '../../config/config.js'
import type { ListenerOptions } from './listener.js'

export function listenerBounds(
  config: Pick<Config, 'maxBodyBytes' | 'deadlineMs' | 'httpHeadMs' | 'httpIdleMs' | 'httpConnections'>,
): Pick<ListenerOptions, 'maxBodyBytes' | 'limits'> {
  const { maxBodyBytes, deadlineMs, httpHeadMs, httpIdleMs, httpConnections } = config
  return {
    maxBodyBytes,
    limits: {
      headMs: httpHeadMs,
      // The deadline comes first wherever somebody waits for the body, and has a better answer.
      requestMs: httpHeadMs + deadlineMs,
      idleMs: httpIdleMs,
      maxConnections: httpConnections,
    },
  }
}
