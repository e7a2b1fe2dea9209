/** Several service processes at one address: starts them, starts anew what fails, and passes on what the operator tells. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createLog } from '../../app/log.js'
import { type Config, loadConfig } from '../../config/config.js'
import type { MetricsSnapshot } from '../../http/metrics/metrics.js'
import type { AnnouncementOptions, Warnings } from '../announcement.js'
import { keepDefaultPack } from '../prepare-models.js'
import { isAtTerminal } from '../terminal.js'
import { type Addresses, assertPortsCanBeShared, ownAddresses } from './processes.js'
import { notifyServiceManager } from './service-manager.js'
import { ServiceProcess } from './service-process.js'

/** Pauses before a process is started anew; they double while it does not last. */
const RETRY_MS = { first: 500, longest: 30_000 } as const
/** One that served so long had no fault of its own start. */
const STEADY_MS = 60_000
const POLL_MS = 100
/** Connections that the kernel gives to a process that stands still wait for nothing. */
const PING_MS = 2000
const MAX_UNANSWERED = 10

interface Seat {
  name: string
  index: number
  /** Null until its first one is ready. */
  process: ServiceProcess | null
  /** What sat there has failed, and nothing else is ready yet. */
  isVacant: boolean
  retryMs: number
}

export interface SupervisorParts {
  config: Config
  count: number
  options: AnnouncementOptions
  warnings: Warnings
  /** Sees to the model pack, for all. */
  /** @returns a warning about the model pack, if any */
  prepare: (config: Config) => Promise<string | null>
}

export class Supervisor {
  private readonly seats: Seat[]
  /** Those on their way in and out included. */
  private readonly all = new Set<ServiceProcess>()
  private readonly log: Logger
  private readonly stopped = new AbortController()
  private addresses: Addresses = {}
  private modelPack = ''
  private isReady = false
  private isRolling = false

  constructor(private readonly parts: SupervisorParts) {
    this.seats = Array.from({ length: parts.count }, (_, index) => ({
      name: `process-${index + 1}`,
      index,
      process: null,
      isVacant: false,
      retryMs: RETRY_MS.first,
    }))
    this.log = createLog(parts.config, 'supervisor')
  }

  /** Resolves when all are ready; they go on. @throws ConfigError; ListenError */
  async run(): Promise<void> {
    const { config, warnings, prepare } = this.parts
    this.heedSignals()
    await assertPortsCanBeShared(config)
    this.addresses = await ownAddresses(config)
    const warning = await prepare(config)
    if (warning) warnings.add(warning)
    this.modelPack = config.modelPack
    const [first, ...others] = this.seats
    // By itself: it makes tables, keys and password where there are none.
    const isWhole =
      (await this.fill(first!)) &&
      (await Promise.all(others.map((seat) => this.fill(seat)))).every(Boolean) &&
      (await this.announce(first!))
    if (this.stopped.signal.aborted) return
    if (!isWhole) {
      // The process that failed has said why.
      process.exitCode = 1
      return this.stop('failed start')
    }
    this.isReady = true
    keepDefaultPack(config)
    void this.watch()
    this.log.info({ processes: this.seats.map(({ process }) => process?.pid) }, 'all processes are ready')
    await notifyServiceManager('READY=1', this.log)
  }

  private async announce(seat: Seat): Promise<boolean> {
    const announced = seat.process!.hears('announced')
    seat.process!.send({ kind: 'announce', warnings: this.parts.warnings.all })
    return announced
  }

  private heedSignals(): void {
    process.on('SIGTERM', (signal) => void this.stop(signal))
    process.on('SIGINT', (signal) => void this.stop(signal))
    process.on('SIGHUP', (signal) => {
      if (isAtTerminal) void this.stop(signal)
      else for (const { process } of this.seats) process?.send({ kind: 'reload' })
    })
    process.on('SIGUSR2', () => void this.roll())
  }

  /** A new process in the seat. @returns whether it became ready; the one that sat there is left to the caller */
  private async fill(seat: Seat): Promise<boolean> {
    if (this.stopped.signal.aborted) return false
    const { count, options } = this.parts
    const { name, index } = seat
    const { addresses, modelPack } = this
    const next = new ServiceProcess(
      { kind: 'start', name, index, count, addresses, modelPack, options },
      (asker) => this.metricsBeside(asker),
    )
    this.all.add(next)
    void next.exited.then(() => this.all.delete(next))
    if (!(await next.hears('ready'))) return false
    seat.process = next
    void this.mind(seat, next)
    return true
  }

  /** Fills the seat anew when the process in it ends, unless it was to. */
  private async mind(seat: Seat, held: ServiceProcess): Promise<void> {
    const end = await held.exited
    if (held.isLeaving || this.stopped.signal.aborted) return
    seat.isVacant = true
    if (performance.now() - held.readyAtMs! > STEADY_MS) seat.retryMs = RETRY_MS.first
    this.log.error({ seat: seat.name, pid: held.pid, ...end }, 'a process ended: it is started anew')
    do {
      await sleep(seat.retryMs, undefined, { signal: this.stopped.signal }).catch(() => {})
      seat.retryMs = Math.min(2 * seat.retryMs, RETRY_MS.longest)
      if (this.stopped.signal.aborted) return
    } while (!(await this.fill(seat)))
    seat.isVacant = false
    this.log.info({ seat: seat.name, pid: seat.process!.pid }, 'the process is ready again')
  }

  private async watch(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      await sleep(PING_MS, undefined, { signal: this.stopped.signal }).catch(() => {})
      for (const { name, process } of this.seats) {
        if (!process || process.hasExited || process.ping() < MAX_UNANSWERED) continue
        this.log.error({ seat: name, pid: process.pid }, 'a process gives no sign of life: it is killed')
        process.kill()
      }
    }
  }

  /** One after the other: a new one is ready before the old one leaves. */
  private async roll(): Promise<void> {
    if (!this.isReady || this.isRolling || this.stopped.signal.aborted) return
    this.isRolling = true
    try {
      const config = loadConfig()
      await this.parts.prepare(config)
      this.modelPack = config.modelPack
      for (const seat of this.seats) {
        while (seat.isVacant) await sleep(POLL_MS, undefined, { signal: this.stopped.signal })
        await this.replace(seat, seat.process!)
      }
      this.log.info({ processes: this.seats.map(({ process }) => process?.pid) }, 'rolling restart done')
    } catch (err) {
      if (!this.stopped.signal.aborted)
        this.log.error({ err }, 'rolling restart given up: what served goes on serving')
    } finally {
      this.isRolling = false
    }
  }

  /** @throws Error when the new one does not become ready; the old one goes on */
  private async replace(seat: Seat, held: ServiceProcess): Promise<void> {
    this.log.info({ seat: seat.name }, 'rolling restart')
    held.isLeaving = true
    if (!(await this.fill(seat))) {
      held.isLeaving = false
      if (held.hasExited) void this.mind(seat, held)
      throw new Error(`the new ${seat.name} did not become ready`)
    }
    held.send({ kind: 'leave' })
    await held.exited
  }

  /** All drain at once. */
  private async stop(signal: string): Promise<void> {
    if (this.stopped.signal.aborted) return
    this.stopped.abort()
    void notifyServiceManager('STOPPING=1', this.log)
    const all = [...this.all]
    for (const one of all) one.send({ kind: 'stop', signal })
    const ends = await Promise.all(all.map(({ exited }) => exited))
    if (ends.some(({ code }) => code !== 0)) process.exitCode = 1
    this.log.info({ signal }, 'all processes have stopped')
  }

  /** Of those that serve, but for one. */
  private async metricsBeside(asker: ServiceProcess): Promise<MetricsSnapshot[]> {
    const others = this.seats.flatMap(({ process }) => (process && process !== asker ? [process] : []))
    const snapshots = await Promise.all(others.map((one) => one.metrics()))
    return snapshots.filter((snapshot) => snapshot !== null)
  }
}
