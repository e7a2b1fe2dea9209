/** The hosts of the database and which of them is written, shared by all pools of a store. */
import type { PostgresTarget } from '../postgres-url.js'
import { type PrimaryTimeline, Timelines } from './postgres-timeline.js'

export type Host = PostgresTarget['hosts'][number]

export class Hosts {
  private index = 0
  private firstChoice: Promise<void> | null = null

  constructor(
    private readonly all: PostgresTarget['hosts'],
    /** Failovers of these hosts that are known. */
    readonly timelines: Timelines = new Timelines(null),
  ) {}

  get current(): Host {
    return this.all[this.index]!
  }

  get count(): number {
    return this.all.length
  }

  /** Whether a connection leads to the current host. */
  isCurrent({ host, port }: Host): boolean {
    return host === this.current.host && port === this.current.port
  }

  /** Chooses the newest primary before the first connection is made, because an older one may come first in the list. */
  chooseOnce(poll: () => Promise<void>): Promise<void> {
    this.firstChoice ??= this.all.length > 1 ? poll() : Promise.resolve()
    return this.firstChoice
  }

  /**
   * Makes the primary with the highest timeline the current host; when none can be reached, the current host stays.
   * @param ask resolves with null for a standby, and rejects for a host that cannot be reached
   */
  async chooseNewest(ask: (host: Host) => Promise<PrimaryTimeline | null>): Promise<void> {
    const found = await Promise.all(this.all.map((host) => ask(host).catch(() => null)))
    const system = (found[this.index] ?? found.find((one) => one !== null))?.system
    const timelines = found.map((one) => (one?.system === system ? (one?.timeline ?? 0) : 0))
    const highest = Math.max(...timelines)
    if (highest > 0 && timelines[this.index] !== highest) this.index = timelines.indexOf(highest)
  }

  /** Moves on to the next host, unless another caller has done so already. */
  leave(host: Host): void {
    if (host === this.current) this.index = (this.index + 1) % this.all.length
  }
}
