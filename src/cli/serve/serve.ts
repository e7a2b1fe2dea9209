/** `countersign serve`: runs the service until a signal stops it, in this process or in several. */
import type { Command } from 'commander'
import { loadConfig, resolveConfig } from '../../app/configuration.js'
import type { Service } from '../../app/service.js'
import type { Config } from '../../config/config.js'
import { processCount } from '../../config/worker-limits.js'
import { configWarnings } from '../config/config-warnings.js'
import { declare } from '../lib/command.js'
import { closeFilesToOthers } from '../lib/own-files.js'
import { progressSteps } from '../lib/progress.js'
import { isAtTerminal } from '../lib/terminal.js'
import { assertGraphsAgree } from '../models/graph-check.js'
import { keepDefaultPack, prepareModels } from '../models/prepare-models.js'
import { reloadConfig } from '../process/reload-config.js'
import { notifyServiceManager } from '../process/service-manager.js'
import { type AnnouncementOptions, announce, announceUnlessStopping, Warnings } from './announcement.js'

export function registerServeCommand(command: Command): void {
  declare(command, '', {
    options: { '--demo': 'on an empty database, create a tenant "demo" and print commands to try' },
    json: 'print addresses and new secrets as JSON on stderr; stdout is always the log',
    async answer(options) {
      // A note that a full disk does not take is lost, and must not end the service.
      process.stderr.on('error', () => {})
      closeFilesToOthers()
      const config = loadConfig()
      const warnings = new Warnings(options.json)
      for (const { detail } of configWarnings(resolveConfig())) warnings.add(detail)
      const count = processCount(config)
      if (count > 1) {
        const { Supervisor } = await import('../process/supervisor.js')
        await new Supervisor({ config, count, options, warnings, prepare }).run()
      } else await serveHere(config, options, warnings)
    },
  })
}

async function serveHere(config: Config, options: AnnouncementOptions, warnings: Warnings): Promise<void> {
  const preparing = prepare(config)
  const ending = new AbortController()
  const starting = start(config, preparing, options.demo, ending.signal)
  stopOnSignals(starting, ending)
  reloadOnHangup(starting, config)
  const service = await starting.catch((error) => {
    if (error === ending.signal.reason) return null
    throw error
  })
  if (!service) return
  // Only now: a start that fails prints nothing but its error.
  const warning = await preparing
  keepDefaultPack(config)
  if (warning) warnings.add(warning)
  await announceUnlessStopping(service, () => announce(service, options, warnings))
  await notifyServiceManager('READY=1', service.log)
}

async function prepare(config: Config): Promise<string | null> {
  const progress = progressSteps('Preparing the model pack')
  try {
    const warning = await prepareModels(config, progress.update)
    await assertGraphsAgree(config)
    return warning
  } finally {
    progress.stop()
  }
}

async function start(
  config: Config,
  preparing: Promise<unknown>,
  acceptsAnyPack: boolean,
  signal: AbortSignal,
): Promise<Service> {
  await preparing
  const { Service } = await import('../../app/service.js')
  return Service.start(config, { acceptsAnyPack, signal })
}

/**
 * SIGTERM and SIGINT drain and exit with 0. A second signal is ignored on purpose: ending the process while a worker is inside
 * ONNX Runtime would abort it, and the request deadline bounds the drain anyway. Installed at the start:
 * process 1 of a container is not ended by a signal for which it has no handler.
 */
function stopOnSignals(starting: Promise<Service>, ending: AbortController): void {
  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    ending.abort()
    // A start that fails reports its error and ends the process elsewhere.
    const service = await starting.catch(() => null)
    if (!service) return
    service.log.info({ signal }, 'stopping')
    void notifyServiceManager('STOPPING=1', service.log)
    service.stop().then(
      () => {
        service.log.info('stopped')
        process.exitCode = 0
      },
      (err) => {
        service.log.fatal({ err }, 'could not stop cleanly')
        process.exitCode = 1
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  if (isAtTerminal) process.on('SIGHUP', stop)
}

/** @param began the configuration as it was read at the start */
function reloadOnHangup(starting: Promise<Service>, began: Config): void {
  if (isAtTerminal) return
  process.on('SIGHUP', async () => {
    const service = await starting.catch(() => null)
    if (service) await reloadConfig(service, began)
  })
}
