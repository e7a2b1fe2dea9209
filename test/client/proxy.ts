/** A real HTTP hop between SDK and service, which a test makes faulty or hostile. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Passing {
  method: string
  /** Path with query. */
  target: string
  headers: Record<string, string>
  body: Buffer
}

export interface Returning {
  status: number
  headers: Record<string, string>
  body: Buffer | string
}

/** Answers a request; `forward` asks the service. A null cuts the connection. */
export type Mischief = (
  request: Passing,
  forward: () => Promise<Returning>,
) => Promise<Returning | null> | Returning | null

export interface FaultyProxy {
  /** Ends in /v1. */
  url: string
  /** Everything that arrived, in order. */
  requests: Passing[]
  mischief: Mischief
  stop(): Promise<void>
  /** Listens again after `stop`. */
  start(port: number): Promise<void>
}

/** `baseUrl` ends in /v1. */
export async function startProxy(baseUrl: string): Promise<FaultyProxy> {
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing))
  const origin = baseUrl.replace(/\/v1$/, '')
  const proxy: FaultyProxy = {
    url: '',
    requests: [],
    mischief: (_request, forward) => forward(),
    start: (port) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve)),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const request: Passing = {
      method: incoming.method!,
      target: incoming.url!,
      headers: incoming.headers as Record<string, string>,
      body: Buffer.concat(chunks),
    }
    proxy.requests.push(request)
    const answer = await proxy.mischief(request, () => forward(origin, request))
    if (!answer) return void incoming.socket.destroy()
    outgoing.writeHead(answer.status, answer.headers).end(answer.body)
  }

  await proxy.start(0)
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return proxy
}

const HOP_BY_HOP = new Set(['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding'])

function endToEnd(headers: Iterable<[string, string]>): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !HOP_BY_HOP.has(name)))
}

async function forward(origin: string, { method, target, headers, body }: Passing): Promise<Returning> {
  const response = await fetch(origin + target, {
    method,
    headers: endToEnd(Object.entries(headers)),
    ...(body.length > 0 ? { body } : {}),
  })
  return {
    status: response.status,
    headers: endToEnd(response.headers),
    body: Buffer.from(await response.arrayBuffer()),
  }
}
