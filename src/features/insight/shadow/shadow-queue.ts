/**
 * A short queue of work for idle workers: what cannot start soon is dropped. Nothing of it is durable, and nothing in it delays
 * anybody.
 */

/** Most items that wait: a queue that is longer holds pictures without ever catching up. */
const MAX_ITEMS = 16
const MAX_BYTES = 32 * 1024 * 1024
/** Longest time in milliseconds that an item waits: pictures stay in memory no longer than this and one comparison. */
const MAX_WAIT_MS = 2000
/** Milliseconds between two looks for an idle worker. */
const LOOK_MS = 20

interface QueueParts<Item> {
  /** Whether a worker has nothing else to do. */
  hasPlace(): boolean
  /**
   * Does the work. Never rejects.
   * @returns `interrupted` where somebody else needed the worker: the item then waits again
   */
  run(item: Item, signal: AbortSignal): Promise<'done' | 'interrupted'>
  onDropped(item: Item): void
}

interface Waiting<Item> {
  item: Item
  bytes: number
  /** Time on the axis of `performance.now()`, in milliseconds, from which on the item is dropped. */
  untilMs: number
}

export class ShadowQueue<Item> {
  private waiting: Array<Waiting<Item>> = []
  private readonly running = new Set<Promise<void>>()
  private readonly stopping = new AbortController()
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly parts: QueueParts<Item>) {}

  get size(): number {
    return this.waiting.length
  }

  /** @param bytes size of the item's pictures */
  add(item: Item, bytes: number): void {
    const held = this.waiting.reduce((sum, one) => sum + one.bytes, 0)
    const isFull = this.waiting.length >= MAX_ITEMS || held + bytes > MAX_BYTES
    if (isFull || this.stopping.signal.aborted) {
      this.parts.onDropped(item)
      return
    }
    this.waiting.push({ item, bytes, untilMs: performance.now() + MAX_WAIT_MS })
    this.look()
  }

  /** Drops what waits and resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.stopping.abort()
    clearTimeout(this.timer)
    for (const { item } of this.waiting.splice(0)) this.parts.onDropped(item)
    await Promise.all(this.running)
  }

  /** Starts the oldest item where it can start, and looks again later while anything waits. */
  private look(): void {
    clearTimeout(this.timer)
    const now = performance.now()
    for (const { item } of this.waiting.filter(({ untilMs }) => untilMs <= now)) this.parts.onDropped(item)
    this.waiting = this.waiting.filter(({ untilMs }) => untilMs > now)
    // One at a time: an item takes its worker only after a look at the database, and until then the place seems free.
    if (this.waiting.length > 0 && this.parts.hasPlace()) this.start(this.waiting.shift()!)
    if (this.waiting.length > 0) this.timer = setTimeout(() => this.look(), LOOK_MS).unref()
  }

  private start(waiting: Waiting<Item>): void {
    const { signal } = this.stopping
    const run = this.parts.run(waiting.item, signal).then((end) => {
      this.running.delete(run)
      if (end === 'interrupted' && !signal.aborted) this.waiting.unshift(waiting)
      else if (end === 'interrupted') this.parts.onDropped(waiting.item)
      if (!signal.aborted) this.look()
    })
    this.running.add(run)
  }
}
