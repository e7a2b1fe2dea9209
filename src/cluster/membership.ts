/**
 * The services of one database as they see each other. Every service announces itself and its settings in the database; every 2 s each
 * reads the list, and logs who joined, who left and whose settings differ. Services of two versions or two configurations may serve
 * side by side during an upgrade, so a difference is logged and nothing else.
 */
import type { Logger } from 'pino'
import { isoTime, SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import type { ServiceNode } from '../storage/coordinator.js'
import type { Store } from '../storage/store.js'

const POLL_MS = 2 * SECOND_MS

export class Membership {
  private seen: readonly ServiceNode[] = []
  /** Whether the database answered the last poll. */
  private isKnown = false
  private readonly polling = new PeriodicTask(
    POLL_MS,
    () => this.compare(),
    (err) => {
      this.isKnown = false
      this.log.debug({ err }, 'the services on this database could not be listed')
    },
  )
  private hasLoggedOutdated = false

  constructor(
    private readonly store: Pick<Store, 'coordinator' | 'presence' | 'services'>,
    private readonly log: Logger,
  ) {}

  /** Services that the last poll found, this one included; empty on SQLite, and while the database does not answer. */
  get nodes(): readonly ServiceNode[] {
    return this.isKnown ? this.seen : []
  }

  /** False once a newer version changed the schema in a way that this version cannot work with. */
  get isCurrent(): boolean {
    return this.store.coordinator?.isOutdated !== true
  }

  /** @param settings those that all services should have in common @throws StoreUnavailableError */
  async start(settings: Record<string, string>): Promise<void> {
    await this.store.presence?.announce(settings)
    if (!this.store.coordinator) return
    await this.polling.now()
    this.polling.start()
  }

  /** To be called before the store is closed. */
  stop(): Promise<void> {
    return this.polling.stop()
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
      if (!known) this.log.info(logFields(node), 'another service works on this database')
      // A service announces its settings when it begins to serve.
      if (known?.settings || !node.settings || !own) continue
      const differing = differingSettings([own, node])
      if (differing.length > 0)
        this.log.warn(
          { ...logFields(node), differing },
          'another service on this database has other settings',
        )
    }
    for (const node of before.values()) this.log.info(logFields(node), 'a service on this database has ended')
    if (!this.isCurrent && !this.hasLoggedOutdated)
      this.log.error('the schema was changed by a newer version, with which this one cannot work: stop it')
    this.hasLoggedOutdated = !this.isCurrent
  }
}

/** @returns the names of settings that differ between services that serve, sorted */
export function differingSettings(nodes: readonly ServiceNode[]): string[] {
  const all = nodes.flatMap(({ settings }) => (settings ? [settings] : []))
  const names = new Set(all.flatMap((settings) => Object.keys(settings)))
  return [...names].filter((name) => new Set(all.map((settings) => settings[name])).size > 1).sort()
}

/** The services as the command line, the dashboard and the readiness report show them. */
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
      /** Reasons that docs/operations/runbooks.md explains; empty for a service that is ready. */
      not_ready: notReady,
    })),
    differing_settings: differingSettings(nodes),
  }
}

function logFields({ name, version }: ServiceNode) {
  return { node: name, version }
}
