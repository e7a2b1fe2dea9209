/** Supervises several service processes at one address: starts them, restarts one that fails, and passes the operator's signals on. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { loadConfig } from '../../app/configuration.js'
import { createLog } from '../../app/log.js'
import type { Config } from '../../config/config.js'
import type { MetricsSnapshot } from '../../http/metrics/metrics.js'
import { isAtTerminal } from '../lib/terminal.js'
import { keepDefaultPack } from '../models/prepare-models.js'
import type { AnnouncementOptions, Warnings } from '../serve/announcement.js'
import { type Addresses, assertPortsCanBeShared, ownAddresses } from './processes.js'
import { notifyServiceManager } from './service-manager.js'
import { ServiceProcess } from './service-process.js'

/** Pauses before a process is started again. They double each time, until one has served for `STEADY_MS`. */
const RETRY_MS = { first: 500, longest: 30_000 } as const
/** A process that served for this long did not fail because of its start. */
const STEADY_MS = 60_000
const POLL_MS = 100
/** The kernel goes on giving connections to a process that stands still, so each is asked for a sign of life. */
const PING_MS = 2000
const MAX_UNANSWERED = 10

/** A place for one process, which keeps its name and its part of the resources when the process is replaced. */
interface ProcessSlot {
  name: string
  /** From 0. */
  index: number
  /** Null until the slot's first process is ready. */
  process: ServiceProcess | null
  /** The slot's process has failed, and its successor is not ready yet. */
  isMissing: boolean
  retryMs: number
}

export class Supervisor {
  private readonly slots: ProcessSlot[]
  /** All processes that run, those that start or leave included. */
  private readonly all = new Set<ServiceProcess>()
  private readonly log: Logger
  private readonly stopped = new AbortController()
  private addresses: Addresses = {}
  private modelPack = ''
  private isReady = false
  private isRolling = false

  constructor(
    private readonly parts: {
      config: Config
      count: number
      options: AnnouncementOptions
      warnings: Warnings
      /** Makes the model pack ready for all processes. @returns a warning about it, if any */
      prepare: (config: Config) => Promise<string | null>
    },
  ) {
    this.slots = Array.from({ length: parts.count }, (_, index) => ({
      name: `process-${index + 1}`,
      index,
      process: null,
      isMissing: false,
      retryMs: RETRY_MS.first,
    }))
    this.log = createLog(parts.config, 'supervisor')
  }

  /** Resolves when all processes are ready; they go on serving. @throws ConfigError; ListenError */
  async run(): Promise<void> {
    const { config, warnings, prepare } = this.parts
    this.handleSignals()
    await assertPortsCanBeShared(config)
    this.addresses = await ownAddresses(config)
    const warning = await prepare(config)
    if (warning) warnings.add(warning)
    this.modelPack = config.modelPack
    const [first, ...others] = this.slots
    // The first process starts before the others: in an empty database it makes tables, keys and password.
    const isWhole =
      (await this.spawnInto(first!)) &&
      (await Promise.all(others.map((slot) => this.spawnInto(slot)))).every(Boolean) &&
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
    this.log.info({ processes: this.slots.map(({ process }) => process?.pid) }, 'all processes are ready')
    await notifyServiceManager('READY=1', this.log)
  }

  private async announce(slot: ProcessSlot): Promise<boolean> {
    const announced = slot.process!.hears('announced')
    slot.process!.send({ kind: 'announce', warnings: this.parts.warnings.all })
    return announced
  }

  private handleSignals(): void {
    process.on('SIGTERM', (signal) => void this.stop(signal))
    process.on('SIGINT', (signal) => void this.stop(signal))
    process.on('SIGHUP', (signal) => {
      if (isAtTerminal) void this.stop(signal)
      else for (const { process } of this.slots) process?.send({ kind: 'reload' })
    })
    process.on('SIGUSR2', () => void this.rollingRestart())
  }

  /** Starts a new process for the slot. @returns whether it became ready; ending the one before is left to the caller */
  private async spawnInto(slot: ProcessSlot): Promise<boolean> {
    if (this.stopped.signal.aborted) return false
    const { count, options } = this.parts
    const { name, index } = slot
    const { addresses, modelPack } = this
    const next = new ServiceProcess(
      { kind: 'start', name, index, count, addresses, modelPack, options },
      (asker) => this.metricsOfAllBut(asker),
    )
    this.all.add(next)
    void next.exited.then(() => this.all.delete(next))
    if (!(await next.hears('ready'))) return false
    slot.process = next
    void this.supervise(slot, next)
    return true
  }

  /** Starts another process when this one ends, unless it was ordered to end. */
  private async supervise(slot: ProcessSlot, held: ServiceProcess): Promise<void> {
    const end = await held.exited
    if (held.isLeaving || this.stopped.signal.aborted) return
    slot.isMissing = true
    if (performance.now() - held.readyAtMs! > STEADY_MS) slot.retryMs = RETRY_MS.first
    this.log.error({ slot: slot.name, pid: held.pid, ...end }, 'a process ended and is started again')
    do {
      await sleep(slot.retryMs, undefined, { signal: this.stopped.signal }).catch(() => {})
      slot.retryMs = Math.min(2 * slot.retryMs, RETRY_MS.longest)
      if (this.stopped.signal.aborted) return
    } while (!(await this.spawnInto(slot)))
    slot.isMissing = false
    this.log.info({ slot: slot.name, pid: slot.process!.pid }, 'the process is ready again')
  }

  private async watch(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      await sleep(PING_MS, undefined, { signal: this.stopped.signal }).catch(() => {})
      for (const { name, process } of this.slots) {
        if (!process || process.hasExited || process.ping() < MAX_UNANSWERED) continue
        this.log.error({ slot: name, pid: process.pid }, 'a process gives no sign of life and is killed')
        process.kill()
      }
    }
  }

  /** Replaces the processes one after the other: each new one is ready before the old one leaves. */
  private async rollingRestart(): Promise<void> {
    if (!this.isReady || this.isRolling || this.stopped.signal.aborted) return
    this.isRolling = true
    try {
      const config = loadConfig()
      await this.parts.prepare(config)
      this.modelPack = config.modelPack
      for (const slot of this.slots) {
        while (slot.isMissing) await sleep(POLL_MS, undefined, { signal: this.stopped.signal })
        await this.replace(slot, slot.process!)
      }
      this.log.info({ processes: this.slots.map(({ process }) => process?.pid) }, 'rolling restart done')
    } catch (err) {
      if (!this.stopped.signal.aborted)
        this.log.error({ err }, 'rolling restart aborted: the remaining processes go on serving')
    } finally {
      this.isRolling = false
    }
  }

  /** @throws Error when the new process does not become ready; the old one goes on serving */
  private async replace(slot: ProcessSlot, held: ServiceProcess): Promise<void> {
    this.log.info({ slot: slot.name }, 'rolling restart')
    held.isLeaving = true
    if (!(await this.spawnInto(slot))) {
      held.isLeaving = false
      if (held.hasExited) void this.supervise(slot, held)
      throw new Error(`the new ${slot.name} did not become ready`)
    }
    held.send({ kind: 'leave' })
    await held.exited
  }

  /** Stops all processes, which drain at the same time. */
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

  /** Metrics of all processes that serve, except those of `asker` itself. */
  private async metricsOfAllBut(asker: ServiceProcess): Promise<MetricsSnapshot[]> {
    const others = this.slots.flatMap(({ process }) => (process && process !== asker ? [process] : []))
    const snapshots = await Promise.all(others.map((one) => one.metrics()))
    return snapshots.filter((snapshot) => snapshot !== null)
  }
}
