/**
 * A lean HTTP/1.1 client. The load generator shares its cores with the service that it measures, and this client
 * takes about half of the CPU time of node:http's. It supports only what our service sends: one request at a time on
 * a connection, keep-alive, every response with a Content-Length.
 */
import { connect, type Socket } from 'node:net'

export interface LeanAnswer {
  status: number
  /** Status line and headers, unparsed. */
  head: string
  body: Buffer
}

interface Pending {
  resolve: (answer: LeanAnswer) => void
  reject: (error: Error) => void
}

const END_OF_HEAD = Buffer.from('\r\n\r\n')

class Connection {
  private pending: Pending | null = null
  private received: Buffer | null = null

  /** True when nothing can be sent any more. */
  get isClosed(): boolean {
    return this.socket.destroyed || this.socket.readableEnded
  }

  constructor(private readonly socket: Socket) {
    // Head and body leave as one write; waiting for more would gain nothing.
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.take(chunk))
    socket.on('error', (error) => this.fail(error))
    socket.on('close', () => this.fail(new Error('the service closed the connection')))
  }

  send(head: string, body: readonly Buffer[]): Promise<LeanAnswer> {
    return new Promise((resolve, reject) => {
      this.pending = { resolve, reject }
      this.socket.cork()
      this.socket.write(head, 'latin1')
      for (const part of body) this.socket.write(part)
      this.socket.uncork()
    })
  }

  close(): void {
    this.socket.destroy()
  }

  private take(chunk: Buffer): void {
    const received = this.received ? Buffer.concat([this.received, chunk]) : chunk
    this.received = received
    const headEnd = received.indexOf(END_OF_HEAD)
    if (headEnd < 0) return
    const head = received.toString('latin1', 0, headEnd)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (length === undefined) {
      this.fail(new Error(`an answer without a length: ${head}`))
      return
    }
    const bodyStart = headEnd + END_OF_HEAD.length
    if (received.length < bodyStart + Number(length)) return
    this.received = null
    const { pending } = this
    this.pending = null
    // The status follows `HTTP/1.1 `.
    pending?.resolve({ status: Number(head.slice(9, 12)), head, body: received.subarray(bodyStart) })
  }

  private fail(error: Error): void {
    const { pending } = this
    this.pending = null
    pending?.reject(error)
  }
}

export class LeanClient {
  private readonly host: string
  private readonly port: number
  private readonly idle: Connection[] = []
  private readonly all: Connection[] = []

  /** @param origin such as `http://127.0.0.1:8080` */
  constructor(origin: string) {
    const { hostname, port } = new URL(origin)
    this.host = hostname
    this.port = Number(port)
  }

  /**
   * Opens a connection for as many requests as run at once, and keeps them.
   * @param headers lines, each ending in CRLF, without Host and Content-Length
   * @throws Error when the connection fails; any status is a response
   */
  async send(method: string, path: string, headers: string, body: readonly Buffer[]): Promise<LeanAnswer> {
    const length = body.reduce((sum, part) => sum + part.length, 0)
    const framing = length > 0 ? `Content-Length: ${length}\r\n` : ''
    const head = `${method} ${path} HTTP/1.1\r\nHost: ${this.host}:${this.port}\r\n${framing}${headers}\r\n`
    const connection = this.unused() ?? this.open()
    const answer = await connection.send(head, body)
    // A refusal may arrive before the service has read the body: it then closes the connection.
    if (/\r\nconnection: *close/i.test(answer.head)) connection.close()
    else this.idle.push(connection)
    return answer
  }

  private unused(): Connection | undefined {
    let connection = this.idle.pop()
    while (connection?.isClosed) connection = this.idle.pop()
    return connection
  }

  close(): void {
    for (const connection of this.all) connection.close()
  }

  private open(): Connection {
    const connection = new Connection(connect(this.port, this.host))
    this.all.push(connection)
    return connection
  }
}
