/** The PostgreSQL server that all workers of a run share. The main process starts it when the first worker asks. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { PostgresServer } from './postgres-server.js'

/** The answer to a worker: the address of the server, or why there is none. */
export type PostgresAnswer = { url: string } | { error: string }

export class PostgresOnDemand {
  private server: Promise<PostgresServer> | null = null

  private constructor(private readonly door: Server) {}

  /** Asked by connecting to it. */
  get port(): number {
    return (this.door.address() as AddressInfo).port
  }

  static async listen(): Promise<PostgresOnDemand> {
    const door = createServer().listen(0, '127.0.0.1')
    await once(door, 'listening')
    const onDemand = new PostgresOnDemand(door)
    door.on('connection', async (socket) => socket.end(JSON.stringify(await onDemand.answer())))
    return onDemand
  }

  async close(): Promise<void> {
    this.door.close()
    await (await this.server)?.stop()
  }

  private async answer(): Promise<PostgresAnswer> {
    this.server ??= PostgresServer.start()
    try {
      return { url: (await this.server).url }
    } catch (error) {
      return { error: (error as Error).message }
    }
  }
}
