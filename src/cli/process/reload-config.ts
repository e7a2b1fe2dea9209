/** Reloads the configuration of a running service. */

import { loadConfig } from '../../app/configuration.js'
import { awaitingRestart } from '../../app/reload.js'
import type { Service } from '../../app/service.js'
import type { Config } from '../../config/config.js'

/**
 * Applies what can be applied without a restart, and logs the rest. Never rejects.
 * @param began the configuration as it was read at the start
 */
export async function reloadConfig(service: Service, began: Config): Promise<void> {
  try {
    const next = loadConfig()
    const isWhole = await service.reload(next)
    const waiting = awaitingRestart(began, next)
    const details = waiting.length > 0 ? { awaiting_restart: waiting } : {}
    if (isWhole) service.log.info(details, 'configuration reloaded')
    else service.log.warn(details, 'configuration reloaded, without the new certificates')
  } catch (err) {
    service.log.error({ err }, 'the new configuration is invalid: nothing was reloaded')
  }
}
