/** The service's request handler behind node:http instead of uWebSockets.js, for comparing the two. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { ApiError } from '../../src/api-error.js'
import type { IncomingRequest, WholeReply } from '../../src/server/listener.js'

export function nodeHttpServer(
  handler: (request: IncomingRequest) => Promise<WholeReply>,
  maxBodyBytes: number,
): Server {
  return createServer((message, response) => {
    handler(toIncomingRequest(message, response, maxBodyBytes)).then(
      (reply) => {
        send(response, reply)
        reply.afterwards?.()
      },
      () => send(response, { status: 500, headers: {}, body: '', close: true }),
    )
  })
}

function toIncomingRequest(
  message: IncomingMessage,
  response: ServerResponse,
  maxBodyBytes: number,
): IncomingRequest {
  const target = message.url!
  const mark = target.indexOf('?')
  let controller: AbortController | undefined
  return {
    method: message.method!,
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? '' : target.slice(mark + 1),
    // The only list that node:http makes is Set-Cookie, which is no request header.
    headers: message.headers as Record<string, string | undefined>,
    remoteAddress: message.socket.remoteAddress ?? '',
    encrypted: false,
    get signal() {
      if (!controller) {
        const made = new AbortController()
        controller = made
        response.once('close', () => response.writableFinished || made.abort())
      }
      return controller.signal
    },
    async body() {
      // As the listener does: no body is announced, none is waited for.
      if (!message.headers['content-length'] && !message.headers['transfer-encoding']) return NO_BODY
      const chunks: Buffer[] = []
      let received = 0
      for await (const chunk of message as AsyncIterable<Buffer>) {
        received += chunk.length
        if (received > maxBodyBytes) throw new ApiError('body_too_large')
        chunks.push(chunk)
      }
      return Buffer.concat(chunks)
    },
  }
}

const NO_BODY = Buffer.alloc(0)

function send(response: ServerResponse, { status, headers, body, close }: WholeReply): void {
  response.writeHead(status, {
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    ...(close ? { Connection: 'close' } : {}),
  })
  response.end(body)
}
