/** A load balancer that passes each request on to the next of several listeners. */
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export class Balancer {
  private turn = 0

  private constructor(
    private readonly server: Server,
    private readonly targets: Array<{ port: number }>,
  ) {}

  /** @param targets on this machine; may be filled later */
  static async start(targets: Array<{ port: number }>): Promise<Balancer> {
    const server = createServer()
    const balancer = new Balancer(server, targets)
    server.on('request', (asked, answered) => {
      const { method, url, headers } = asked
      const { port } = balancer.next()
      const passed = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
        answered.writeHead(answer.statusCode!, answer.rawHeaders)
        answer.pipe(answered)
      })
      passed.on('error', () => answered.destroy())
      asked.pipe(passed)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return balancer
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  close(): void {
    this.server.closeAllConnections()
    this.server.close()
  }

  private next(): { port: number } {
    return this.targets[this.turn++ % this.targets.length]!
  }
}
