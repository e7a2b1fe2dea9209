/** A service process among several: started by the supervisor, and told by it what to do. */

import { createLog } from '../../app/log.js'
import { Service } from '../../app/service.js'
import { type Config, loadConfig } from '../../config/config.js'
import type { MetricsSnapshot } from '../../http/metrics/metrics.js'
import { announce, announceUnlessStopping, Warnings } from '../announcement.js'
import { fail } from '../output.js'
import { closeFilesToOthers } from '../with-core.js'
import type { Order, Report, StartOrder } from './process-messages.js'
import { shareOf } from './processes.js'
import { takeOverConfig } from './take-over.js'

/** The start, and with what; null before it is ordered. */
let began: { order: StartOrder; config: Config; service: Promise<Service> } | null = null
let isEnding = false
/** Ends a start that waits for its database. */
const ending = new AbortController()
let lastQuestion = 0
const questions = new Map<number, (snapshots: MetricsSnapshot[]) => void>()

function tell(report: Report): void {
  // Where the supervisor is gone, nobody needs to be told; that ends this process too.
  if (process.connected) process.send!(report, undefined, undefined, () => {})
}

/** Of all other processes that serve, as far as they answer. */
function metricsOfOthers(): Promise<MetricsSnapshot[]> {
  const id = ++lastQuestion
  return new Promise((resolve) => {
    questions.set(id, resolve)
    tell({ kind: 'want_metrics', id })
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
  tell({ kind: 'ready' })
}

async function obey(order: Order): Promise<void> {
  if (order.kind === 'start') return start(order)
  if (order.kind === 'ping') return tell({ kind: 'pong' })
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
    tell({ kind: 'metrics', id: order.id, snapshot: await service.metricsSnapshot() })
  else if (order.kind === 'reload') await takeOverConfig(service, config)
  else {
    const { options, count } = started
    const warnings = new Warnings(options.json ?? false, order.warnings)
    await announceUnlessStopping(service, () => announce(service, options, warnings, count))
    tell({ kind: 'announced' })
  }
}

async function stop(service: Service, signal: string): Promise<void> {
  service.log.info({ signal }, 'stopping')
  await service.stop()
  service.log.info('stopped')
}

async function leave(service: Service): Promise<void> {
  service.log.info('leaving what comes to the other processes')
  await service.leave()
  service.log.info('stopped')
}

/** However it was told to end, the last thing is to hang up: that lets the process go. */
async function end(how: (service: Service) => Promise<void>): Promise<void> {
  if (isEnding) return
  isEnding = true
  ending.abort()
  // A start that fails ends the process by itself, and says why.
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
// A terminal tells all processes of it; the supervisor says what that means.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {})
process.on('SIGTERM', () => void end((service) => stop(service, 'SIGTERM')))
// The supervisor is gone: nobody would start this process anew, or tell it to end.
process.on('disconnect', () => void end((service) => stop(service, 'disconnect')))
