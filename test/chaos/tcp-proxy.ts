/** A TCP proxy between one node and one PostgreSQL, which fails in the ways that a network and the machines on its way do. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * What becomes of what is sent. `hang` delivers it once all is well again; a `black-hole` never does, and tells nobody; `swallow`
 * loses what the server answers.
 */
type Mode = 'pass' | 'refuse' | 'hang' | 'black-hole' | 'swallow'

/** How a COMMIT fares whose answer its sender never sees. */
export type CommitLoss = 'done and cut' | 'done in silence' | 'cut before'

/** As PostgreSQL's simple query protocol ends it. */
const COMMIT = Buffer.from('COMMIT\0')

export class TcpProxy {
  private readonly links = new Set<Link>()
  private mode: Mode = 'pass'
  private delayMs = 0
  private commitLoss: CommitLoss | null = null
  private opened: Promise<void> = Promise.resolve()
  private open: () => void = () => {}

  private constructor(
    private readonly door: Server,
    private readonly target: number,
  ) {
    door.on('connection', (client) => this.welcome(client))
  }

  static async listen(target: number): Promise<TcpProxy> {
    const door = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
    await once(door, 'listening')
    return new TcpProxy(door, target)
  }

  get port(): number {
    return (this.door.address() as AddressInfo).port
  }

  /** Ends every connection without a word of farewell: RST. */
  cut(): void {
    for (const link of this.links) link.reset()
  }

  /** Ends every connection in order: FIN to both. */
  finish(): void {
    for (const link of this.links) link.finish()
  }

  refuse(): void {
    this.mode = 'refuse'
    this.cut()
  }

  hang(): void {
    this.mode = 'hang'
    this.opened = new Promise((resolve) => {
      this.open = resolve
    })
  }

  /** What is connected now stays lost when all is well again. */
  blackHole(): void {
    this.mode = 'black-hole'
    for (const link of this.links) link.isLost = true
  }

  swallow(): void {
    this.mode = 'swallow'
  }

  delay(ms: number): void {
    this.delayMs = ms
  }

  /** Until all is well again, of every COMMIT. */
  loseCommits(how: CommitLoss): void {
    this.commitLoss = how
  }

  heal(): void {
    this.mode = 'pass'
    this.delayMs = 0
    this.commitLoss = null
    this.open()
    for (const link of this.links) link.forget()
  }

  async close(): Promise<void> {
    this.heal()
    this.cut()
    this.door.close()
    await once(this.door, 'close')
  }

  private welcome(client: Socket): void {
    if (this.mode === 'refuse') {
      client.on('error', () => {})
      client.resetAndDestroy()
      return
    }
    const link = new Link(client, connect(this.target, '127.0.0.1'), {
      /** Resolves when what was sent now is to arrive. */
      passage: async (sentMs) => {
        if (this.mode === 'hang') await this.opened
        const waitMs = sentMs + this.delayMs - performance.now()
        if (waitMs > 0) await sleep(waitMs)
      },
      isSwallowing: () => this.mode === 'swallow',
      commitLoss: () => this.commitLoss,
      onClosed: () => this.links.delete(link),
    })
    link.isLost = this.mode === 'black-hole'
    this.links.add(link)
  }
}

interface LinkParts {
  passage(sentMs: number): Promise<void>
  isSwallowing(): boolean
  commitLoss(): CommitLoss | null
  onClosed(): void
}

/** One connection through the proxy. */
class Link {
  /** Nothing passes any more in either direction, and neither end is told. */
  isLost = false
  private isMute = false
  private cutsAtAnswer = false
  private readonly order = { server: Promise.resolve(), client: Promise.resolve() }

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly parts: LinkParts,
  ) {
    // Half-open ends are ended by us, in their turn.
    server.allowHalfOpen = true
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', () => {})
    client.on('data', (chunk) => this.carry('server', () => this.toServer(chunk)))
    server.on('data', (chunk) => this.carry('client', () => this.toClient(chunk)))
    client.on('end', () => this.carry('server', () => this.server.end()))
    server.on('end', () => this.carry('client', () => this.client.end()))
    client.on('close', () => this.closed(this.server))
    server.on('close', () => this.closed(this.client))
  }

  reset(): void {
    this.client.resetAndDestroy()
    this.server.resetAndDestroy()
    this.parts.onClosed()
  }

  finish(): void {
    this.client.end()
    this.server.end()
  }

  /** Of a lost connection one end may have gone: the network, which is back, tells the other by RST when it sends next. */
  forget(): void {
    if (this.isLost && this.client.destroyed) this.reset()
  }

  /** In the order of sending, when the network lets it through. */
  private carry(to: 'server' | 'client', act: () => void): void {
    const passage = this.parts.passage(performance.now())
    this.order[to] = this.order[to].then(async () => {
      await passage
      if (!this.isLost) act()
    })
  }

  private toServer(chunk: Buffer): void {
    const loss = chunk.includes(COMMIT) ? this.parts.commitLoss() : null
    if (loss === 'cut before') {
      this.reset()
      return
    }
    if (loss === 'done in silence') this.isMute = true
    if (loss === 'done and cut') this.cutsAtAnswer = true
    this.server.write(chunk)
  }

  private toClient(chunk: Buffer): void {
    if (this.cutsAtAnswer) {
      this.reset()
      return
    }
    // What follows a gap nobody could read.
    this.isMute ||= this.parts.isSwallowing()
    if (!this.isMute) this.client.write(chunk)
  }

  private closed(other: Socket): void {
    if (this.isLost) {
      if (other.destroyed) this.parts.onClosed()
      return
    }
    other.destroySoon()
    this.parts.onClosed()
  }
}
