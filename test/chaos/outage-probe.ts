/**
 * Sends small writes to every node all the time, and measures how long a node takes to acknowledge one once the database is reachable
 * again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from './caller.js'
import type { ChaosNode } from './chaos-node.js'
import type { ChaosTenant } from './journal.js'

const BEAT_MS = 200
const MAX_UNDER_WAY = 10
const GIVE_UP_MS = 60_000

/** Number of acknowledgements that are kept for a node. */
const MEMORY = 2000

interface Beats {
  /** Times of the acknowledgements. */
  acknowledgedMs: number[]
  underWay: number
}

export class OutageProbe {
  private readonly beats: ReadonlyMap<ChaosNode, Beats>
  private readonly timer: NodeJS.Timeout

  constructor(
    private readonly caller: Caller,
    private readonly tenant: ChaosTenant,
  ) {
    this.beats = new Map(caller.nodes.map((node) => [node, { acknowledgedMs: [], underWay: 0 }]))
    this.timer = setInterval(() => {
      for (const [node, beats] of this.beats) void this.beat(node, beats)
    }, BEAT_MS)
  }

  /** Resolves when the last write has been answered. */
  async stop(): Promise<void> {
    clearInterval(this.timer)
    while ([...this.beats.values()].some(({ underWay }) => underWay > 0)) await sleep(BEAT_MS)
  }

  /** Waits for the first write that the node has acknowledged since then. @returns the milliseconds in between */
  async backAfter(node: ChaosNode, sinceMs: number): Promise<number> {
    const { acknowledgedMs } = this.beats.get(node)!
    for (;;) {
      const first = acknowledgedMs.find((atMs) => atMs >= sinceMs)
      if (first !== undefined) return first - sinceMs
      if (performance.now() - sinceMs > GIVE_UP_MS) {
        this.caller.journal.broken.push(`${node.name} acknowledged nothing in ${GIVE_UP_MS} ms`)
        return GIVE_UP_MS
      }
      await sleep(10)
    }
  }

  private async beat(node: ChaosNode, beats: Beats): Promise<void> {
    if (node.isAway || beats.underWay >= MAX_UNDER_WAY) return
    beats.underWay++
    try {
      // The engine is not needed for this call, so the load of the machine has little influence.
      const body = { user_id: 'pulse+match', action: 'login' }
      const answer = await this.caller.ask(node, {
        tenant: this.tenant,
        environment: 'sandbox',
        method: 'POST',
        path: '/v1/challenges',
        body,
      })
      if (answer?.status === 201) beats.acknowledgedMs.push(performance.now())
      else if (answer)
        this.caller.journal.broken.push(`pulse of ${node.name}: ${answer.status} ${answer.text}`)
      if (beats.acknowledgedMs.length > MEMORY) beats.acknowledgedMs.shift()
    } finally {
      beats.underWay--
    }
  }
}
