/**
 * The services of one database as they see each other: who is there, and whether they serve alike. Those of two versions may work side by
 * side while one takes the place of the other, and so may those of two configurations; but it is told.
 */
import type { Logger } from 'pino'
import { isoTime, SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import type { ServiceNode } from '../storage/coordinator.js'
import type { Store } from '../storage/store.js'

const LOOK_MS = 2 * SECOND_MS

export class Membership {
  private seen: readonly ServiceNode[] = []
  /** Whether the database answered the last look. */
  private isKnown = false
  private readonly beat = new PeriodicTask(
    LOOK_MS,
    () => this.compare(),
    (err) => {
      this.isKnown = false
      this.log.debug({ err }, 'the database could not be asked which services work on it')
    },
  )
  private toldOutdated = false

  constructor(
    private readonly store: Pick<Store, 'coordinator' | 'presence' | 'services'>,
    private readonly log: Logger,
  ) {}

  /** Of the last look, this service among them; empty where a database is one service's alone, and while it cannot be asked. */
  get nodes(): readonly ServiceNode[] {
    return this.isKnown ? this.seen : []
  }

  /** False once the schema is for newer versions alone: nothing of it can be relied on. */
  get isCurrent(): boolean {
    return this.store.coordinator?.isOutdated !== true
  }

  /** @param settings what all are to have alike @throws StoreUnavailableError */
  async start(settings: Record<string, string>): Promise<void> {
    await this.store.presence?.announce(settings)
    if (!this.store.coordinator) return
    await this.beat.now()
    this.beat.start()
  }

  /** Before the store is closed. */
  stop(): Promise<void> {
    return this.beat.stop()
  }

  private async compare(): Promise<void> {
    const before = new Map(this.seen.map((node) => [node.id, node]))
    this.seen = await this.store.services()
    this.isKnown = true
    const own = this.seen.find(({ id }) => id === this.store.coordinator!.id)
    for (const node of this.seen) {
      const known = before.get(node.id)
      before.delete(node.id)
      if (node === own) continue
      if (!known) this.log.info(told(node), 'another service works on this database')
      // Before it serves it says nothing of itself.
      if (known?.settings || !node.settings || !own) continue
      const differing = differingSettings([own, node])
      if (differing.length > 0)
        this.log.warn({ ...told(node), differing }, 'another service on this database has other settings')
    }
    for (const node of before.values()) this.log.info(told(node), 'a service on this database has ended')
    if (!this.isCurrent && !this.toldOutdated)
      this.log.error('the schema was changed by a newer version, with which this one cannot work: stop it')
    this.toldOutdated = !this.isCurrent
  }
}

/** Names of the settings that some have otherwise than others, of those who serve. */
export function differingSettings(nodes: readonly ServiceNode[]): string[] {
  const all = nodes.flatMap(({ settings }) => (settings ? [settings] : []))
  const names = new Set(all.flatMap((settings) => Object.keys(settings)))
  return [...names].filter((name) => new Set(all.map((settings) => settings[name])).size > 1).sort()
}

/** For command line, dashboard and readiness. */
export function membershipView(nodes: readonly ServiceNode[]) {
  return {
    nodes: nodes.map(({ name, version, commit, schema, startedAt, leaseMs, settings, notReady }) => ({
      name,
      version,
      commit,
      schema,
      since: isoTime(startedAt),
      is_serving: settings !== null,
      lease_ms: Math.round(leaseMs),
      /** Reasons of docs/operations/runbooks.md; empty for one that is ready. */
      not_ready: notReady,
    })),
    /** Which not all of them have alike. */
    differing_settings: differingSettings(nodes),
  }
}

function told({ name, version }: ServiceNode) {
  return { node: name, version }
}
