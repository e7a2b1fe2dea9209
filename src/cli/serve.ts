/** `countersign serve`: runs the service until it is told to stop. */
import type { Command } from 'commander'
import { type Config, loadConfig, resolveConfig } from '../config.js'
import { awaitingRestart } from '../reload.js'
import type { Service } from '../service.js'
import { VERSION } from '../version.js'
import { configWarnings } from './config-warnings.js'
import { assertGraphsAgree } from './graph-check.js'
import { closeFilesToOthers } from './ledger.js'
import { action, note, type OutputOptions } from './output.js'
import { type PreparedModels, prepareModels } from './prepare-models.js'
import { progressSteps } from './progress.js'
import { paint } from './style.js'

export function registerServeCommand(command: Command): void {
  command
    .option('--demo', 'on an empty database, create a tenant "demo" and say how to try it')
    .option(
      '--json',
      'print addresses and what is shown only once as JSON on stderr; stdout is the log in any case',
    )
    .action(
      action(async (options: OutputOptions & { demo?: boolean }) => {
        // What a full disk does not take of our notes is lost; it must not end the service.
        process.stderr.on('error', () => {})
        closeFilesToOthers()
        const config = loadConfig()
        const warnings: string[] = []
        const warn = (warning: string) => {
          warnings.push(warning)
          if (!options.json) note(`${paint('yellow', 'warning:', process.stderr)} ${warning}`)
        }
        for (const { detail } of configWarnings(resolveConfig())) warn(detail)
        const preparing = prepare(config)
        const starting = start(preparing, options.demo ?? false)
        stopOnSignals(starting)
        reloadOnHangup(starting, config)
        const service = await starting
        // Not before: a start that fails has one line to say.
        const { warning } = await preparing
        if (warning) warn(warning)
        if (service.gradeWarning) warn(service.gradeWarning)
        for (const rateWarning of await service.rateWarnings()) warn(rateWarning)
        const where = {
          production: service.url('production'),
          sandbox: service.url('sandbox'),
          admin: service.adminUrl,
          ...(service.capturePage === null ? {} : { capture: service.capturePage }),
        }
        const { generated } = service.operatorPassword
        if (!options.json) {
          note(
            `\nCountersign ${VERSION} is ready.\n\n  Production  ${where.production}\n  Sandbox     ${where.sandbox}\n  Dashboard   ${where.admin}/\n${where.capture ? `  Captures    ${where.capture}/capture/…\n` : ''}  HTTP        ${service.transport.description}\n`,
          )
          if (generated) {
            note(`The operator's password for the dashboard, shown only now:\n\n  ${generated}\n`)
            await keepPassword(service)
          }
        }
        const { demoInstructions, demoView, prepareDemo } = await import('./demo.js')
        const demo = options.demo ? await prepareDemo(service) : null
        if (options.json) {
          // Not to stdout: that is the log, and goes where no secret may.
          note(
            JSON.stringify({
              version: VERSION,
              ...where,
              transport: service.transport,
              operator_password: generated,
              demo: demo && demoView(demo),
              warnings,
            }),
          )
          await keepPassword(service)
        } else if (demo) note(demoInstructions(demo, where))
      }),
    )
}

/** Only now that it was shown does it count. A service that nobody could sign in to is stopped. @throws ConfigError */
async function keepPassword(service: Service): Promise<void> {
  try {
    if (!(await service.operatorPassword.keep()))
      note("The operator's password above does not hold: another service has made one for all meanwhile.")
  } catch (error) {
    await service.stop()
    throw error
  }
}

async function prepare(config: Config): Promise<PreparedModels> {
  const progress = progressSteps('Preparing the model pack')
  try {
    const prepared = await prepareModels(config, progress.update)
    await assertGraphsAgree(prepared.config)
    return prepared
  } finally {
    progress.stop()
  }
}

async function start(preparing: Promise<PreparedModels>, acceptsAnyPack: boolean): Promise<Service> {
  const { config } = await preparing
  const { Service } = await import('../service.js')
  return Service.start(config, { acceptsAnyPack })
}

/**
 * SIGTERM and SIGINT drain and exit 0. A second signal is ignored on purpose: ending the process while a worker is inside
 * ONNX Runtime would abort it; the drain is bounded by the request deadline anyway. Heeded from
 * the first moment on: as process 1 of a container, a program that listens to no signal is not ended by one.
 */
function stopOnSignals(starting: Promise<Service>): void {
  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    // A start that fails ends the process by itself, and says why.
    const service = await starting.catch(() => null)
    if (!service) return
    service.log.info({ signal }, 'stopping')
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

/** There, SIGHUP says that it was closed; anywhere else it asks to read the configuration anew. */
const isAtTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)

/** @param began the configuration as it was read at the start */
function reloadOnHangup(starting: Promise<Service>, began: Config): void {
  if (isAtTerminal) return
  process.on('SIGHUP', async () => {
    const service = await starting.catch(() => null)
    if (!service) return
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
  })
}
