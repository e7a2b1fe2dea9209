/** Runs one service process among several, by the orders of the supervisor. */

import { loadConfig } from '../../app/configuration.js'
import { createLog } from '../../app/log.js'
import { Service } from '../../app/service.js'
import type { Config } from '../../config/config.js'
import type { MetricsSnapshot } from '../../http/metrics/metrics.js'
import { fail } from '../lib/output.js'
import { closeFilesToOthers } from '../lib/own-files.js'
import { announce, announceUnlessStopping, Warnings } from '../serve/announcement.js'
import type { Order, Report, StartOrder } from './process-messages.js'
import { shareOf } from './processes.js'
import { reloadConfig } from './reload-config.js'

/** The start and its arguments, or null before it is ordered. */
let began: { order: StartOrder; config: Config; service: Promise<Service> } | null = null
let isEnding = false
/** Ends a start that waits for its database. */
const ending = new AbortController()
let lastQuestion = 0
const questions = new Map<number, (snapshots: MetricsSnapshot[]) => void>()

function sendReport(report: Report): void {
  // Without a supervisor nobody reads the report, and `disconnect` ends this process too.
  if (process.connected) process.send!(report, undefined, undefined, () => {})
}

/** Metrics of all other processes that serve, as far as they answer. */
function metricsOfOthers(): Promise<MetricsSnapshot[]> {
  const id = ++lastQuestion
  return new Promise((resolve) => {
    questions.set(id, resolve)
    sendReport({ kind: 'want_metrics', id })
  })
}

async function start(order: StartOrder): Promise<void> {
  const { name, index, count, addresses, modelPack, options } = order
  const config = shareOf({ ...loadConfig(), ...addresses, modelPack }, index, count)
  const service = Service.start(config, {
    acceptsAnyPack: options.demo ?? false,
    log: createLog(config, name),
    place: { name, others: metricsOfOthers },
    signal: ending.signal,
  })
  began = { order, config, service }
  await service
  sendReport({ kind: 'ready' })
}

async function obey(order: Order): Promise<void> {
  if (order.kind === 'start') return start(order)
  if (order.kind === 'ping') return sendReport({ kind: 'pong' })
  if (order.kind === 'stop') return end((service) => stop(service, order.signal))
  if (order.kind === 'leave') return end(leave)
  if (order.kind === 'metrics_of_others') {
    questions.get(order.id)?.(order.snapshots)
    questions.delete(order.id)
    return
  }
  const { config, order: started, service: starting } = began!
  const service = await starting
  if (order.kind === 'give_metrics')
    sendReport({ kind: 'metrics', id: order.id, snapshot: await service.metricsSnapshot() })
  else if (order.kind === 'reload') await reloadConfig(service, config)
  else {
    const { options, count } = started
    const warnings = new Warnings(options.json ?? false, order.warnings)
    await announceUnlessStopping(service, () => announce(service, options, warnings, count))
    sendReport({ kind: 'announced' })
  }
}

async function stop(service: Service, signal: string): Promise<void> {
  service.log.info({ signal }, 'stopping')
  await service.stop()
  service.log.info('stopped')
}

async function leave(service: Service): Promise<void> {
  service.log.info('stopped accepting connections; other processes continue')
  await service.leave()
  service.log.info('stopped')
}

/** Ends the service by `how`, then disconnects from the supervisor: the open channel would keep the process alive. */
async function end(how: (service: Service) => Promise<void>): Promise<void> {
  if (isEnding) return
  isEnding = true
  ending.abort()
  // A start that fails reports its error and ends the process elsewhere.
  const service = await began?.service.catch(() => null)
  try {
    if (service) await how(service)
  } catch (err) {
    service?.log.fatal({ err }, 'could not stop cleanly')
    process.exitCode = 1
  } finally {
    if (process.connected) process.disconnect()
  }
}

process.stderr.on('error', () => {})
closeFilesToOthers()
process.on('message', (order: Order) => {
  obey(order).catch((error) => {
    if (error !== ending.signal.reason)
      fail(error, began?.order.options ?? (order.kind === 'start' ? order.options : {}))
    if (process.connected) process.disconnect()
  })
})
// A terminal sends these signals to all processes; only the supervisor acts on them.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {})
process.on('SIGTERM', () => void end((service) => stop(service, 'SIGTERM')))
// The supervisor is gone: nobody would restart this process or order it to end.
process.on('disconnect', () => void end((service) => stop(service, 'disconnect')))
