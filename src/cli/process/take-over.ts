/** What a running service takes over of the configuration when it is told to read it anew. */

import { awaitingRestart } from '../../app/reload.js'
import type { Service } from '../../app/service.js'
import { type Config, loadConfig } from '../../config/config.js'

/**
 * Never rejects: what cannot be taken over is told in the log.
 * @param began the configuration as it was read at the start
 */
export async function takeOverConfig(service: Service, began: Config): Promise<void> {
  try {
    const next = loadConfig()
    const isWhole = await service.reload(next)
    const waiting = awaitingRestart(began, next)
    const details = waiting.length > 0 ? { awaiting_restart: waiting } : {}
    if (isWhole) service.log.info(details, 'configuration reloaded')
    else service.log.warn(details, 'configuration reloaded, without the new certificates')
  } catch (err) {
    service.log.error({ err }, 'the configuration cannot be used: nothing was reloaded')
  }
}
