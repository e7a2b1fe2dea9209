/** The bounds of a caller by the settings: bytes, time and connections. */
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
      // Where a handler waits for the body, its deadline passes first and has a better answer.
      requestMs: httpHeadMs + deadlineMs,
      idleMs: httpIdleMs,
      maxConnections: httpConnections,
    },
  }
}
