/** Serves bytes by path on a free port of this machine, as a mirror does. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FilesServer {
  url: string
  /** The requests in order: the path, and the range where the request had one. */
  requests: string[]
  close(): void
}

/** @param listener what answers; `filesOf` makes one that knows ranges */
export async function serveFiles(listener: RequestListener): Promise<FilesServer> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push([request.url, request.headers.range].filter(Boolean).join(' '))
    listener(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

export function filesOf(files: Record<string, Buffer>): RequestListener {
  return (request, response) => {
    const bytes = files[request.url!]
    if (!bytes) return response.writeHead(404).end()
    const offset = offsetOf(request)
    if (offset === 0) return response.writeHead(200, { 'Content-Length': bytes.length }).end(bytes)
    if (offset >= bytes.length) return response.writeHead(416).end()
    return response
      .writeHead(206, {
        'Content-Length': bytes.length - offset,
        'Content-Range': `bytes ${offset}-${bytes.length - 1}/${bytes.length}`,
      })
      .end(bytes.subarray(offset))
  }
}

/** First byte that a request for the rest of a file asks for. */
export function offsetOf({ headers }: IncomingMessage): number {
  return Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0)
}
