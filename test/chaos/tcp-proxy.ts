/** A TCP proxy between a node and a PostgreSQL server, which fails as networks and the machines on the way do. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * How the proxy treats data. `hang` delivers it after the fault; `black-hole` never does, without closing the connection; `swallow` loses
 * what the server answers.
 */
type Mode = 'pass' | 'refuse' | 'hang' | 'black-hole' | 'swallow'

/** The fate of a COMMIT whose answer never arrives. */
export type CommitLoss = 'done and cut' | 'done in silence' | 'cut before' | 'never sent'

/** The COMMIT statement as PostgreSQL's simple query protocol sends it. */
const COMMIT = Buffer.from('COMMIT\0')
/** The server's answer to the end of a transaction. */
const ENDED = /(?:COMMIT|ROLLBACK)\0/

export class TcpProxy {
  /** Connections that were made, and COMMITs that were lost, so far. */
  readonly counts = { connections: 0, lostCommits: 0 }
  private readonly links = new Set<Link>()
  private mode: Mode = 'pass'
  private delayMs = 0
  private commitLoss: { how: CommitLoss; most: number } | null = null
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

  /** The address of a database, through a new proxy. */
  static async before(address: string): Promise<{ proxy: TcpProxy; url: string }> {
    const url = new URL(address)
    const proxy = await TcpProxy.listen(Number(url.port))
    url.port = String(proxy.port)
    return { proxy, url: url.href }
  }

  get port(): number {
    return (this.door.address() as AddressInfo).port
  }

  get address(): string {
    return `127.0.0.1:${this.port}`
  }

  /** Resets every connection (RST). */
  cut(): void {
    for (const link of this.links) link.reset()
  }

  /** Closes every connection in order (FIN to both ends). */
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

  /** Connections that exist now stay lost after the fault. */
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

  /** Loses the next COMMITs: every one until the fault ends, or a number of them. */
  loseCommits(how: CommitLoss, most = Number.POSITIVE_INFINITY): void {
    this.commitLoss = { how, most }
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
    this.counts.connections++
    const link = new Link(client, connect(this.target, '127.0.0.1'), {
      /** Resolves when data sent now is to arrive. */
      passage: async (sentMs) => {
        if (this.mode === 'hang') await this.opened
        const waitMs = sentMs + this.delayMs - performance.now()
        if (waitMs > 0) await sleep(waitMs)
      },
      isSwallowing: () => this.mode === 'swallow',
      commitLoss: () => {
        if (!this.commitLoss || this.commitLoss.most-- <= 0) return null
        this.counts.lostCommits++
        return this.commitLoss.how
      },
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
  /** No data passes any more in either direction, and neither end is closed. */
  isLost = false
  private isMute = false
  private cutsAtAnswer = false
  private readonly order = { server: Promise.resolve(), client: Promise.resolve() }

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly parts: LinkParts,
  ) {
    // The proxy closes half-open connections itself, after the data before them.
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

  /** Resets a lost connection whose other end may be gone, as a network does that works again when the next packet is sent. */
  forget(): void {
    if (this.isLost && this.client.destroyed) this.reset()
  }

  /** Passes data on in the order of sending, once the network lets it through. */
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
    if (loss === 'never sent') {
      this.isLost = true
      return
    }
    if (loss === 'done in silence') this.isMute = true
    if (loss === 'done and cut') this.cutsAtAnswer = true
    this.server.write(chunk)
  }

  private toClient(chunk: Buffer): void {
    if (this.cutsAtAnswer) {
      // Cut earlier, the server would not have ended the transaction yet.
      if (ENDED.test(chunk.toString('latin1'))) this.reset()
      return
    }
    // Nobody could read the data after a gap.
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
