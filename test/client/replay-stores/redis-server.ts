/** A Redis of one test, and a client that speaks its protocol. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../support/postgres-server.js'

export const hasRedis = spawnSync('redis-server', ['--version']).status === 0

export interface RedisServer {
  port: number
  stop(): Promise<void>
}

/** Starts one that writes no file. It ends with its standard input, however the test ends. */
export async function startRedis(): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-redis-'))
  const port = await freePort()
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
  // The shell ends the server as soon as nobody holds the other end of its input.
  const script = 'redis-server "$@" >/dev/null & pid=$!; cat >/dev/null; kill $pid; wait $pid'
  const shell: ChildProcess = spawn('sh', ['-c', script, 'sh', ...settings], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = new Promise((resolve) => shell.once('close', resolve))
  return {
    port,
    async stop() {
      shell.stdin?.end()
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Has the two ways to send a command that clients for Node have. Answers come in the order of the commands. */
export class RedisClient {
  readonly #waiting: Array<{ resolve(reply: unknown): void; reject(error: Error): void }> = []
  #text = ''

  private constructor(private readonly socket: Socket) {
    socket.on('data', (data) => this.#read(String(data)))
    socket.on('error', () => {})
    socket.on('close', () => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('The connection is closed.'))
    })
  }

  static async to(port: number): Promise<RedisClient> {
    for (let tries = 0; ; tries++) {
      const socket = connect(port, '127.0.0.1')
      const isOpen = await new Promise((resolve) => {
        socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      })
      if (isOpen) return new RedisClient(socket)
      if (tries > 400) throw new Error('Redis does not listen.')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  sendCommand(args: string[]): Promise<unknown> {
    if (this.socket.destroyed) return Promise.reject(new Error('The connection is closed.'))
    const parts = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`)
    this.socket.write(`*${args.length}\r\n${parts.join('')}`)
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  close(): void {
    this.socket.destroy()
  }

  /** Replies of these tests are a status, a number, an error or nothing, of one line each. */
  #read(data: string): void {
    this.#text += data
    for (let end = this.#text.indexOf('\r\n'); end >= 0; end = this.#text.indexOf('\r\n')) {
      const [kind, rest] = [this.#text[0], this.#text.slice(1, end)]
      this.#text = this.#text.slice(end + 2)
      const waiting = this.#waiting.shift()!
      if (kind === '-') waiting.reject(new Error(rest))
      else waiting.resolve(kind === '$' ? null : kind === ':' ? Number(rest) : rest)
    }
  }
}
