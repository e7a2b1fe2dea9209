/** HTTP as bytes on a TCP connection, for requests that no client library would send. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RawResponse {
  status: number
  /** Lower-case names. */
  headers: Record<string, string>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  body: any
}

export interface RawConnection {
  socket: Socket
  send(bytes: string | Uint8Array): void
  /** The next response on this connection, or null when the peer closes it without one. */
  response(): Promise<RawResponse | null>
  /** Resolves when the peer has closed the connection. */
  closed(): Promise<void>
  /** Every byte received so far. */
  received(): string
  end(): void
}

/** `baseUrl` as `Service.url` gives it. */
export async function openSocket(
  baseUrl: string,
  options: { allowHalfOpen?: boolean } = {},
): Promise<RawConnection> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect({ port: Number(port), host: hostname, ...options })
  let text = ''
  let consumed = 0
  let isClosed = false
  socket.setEncoding('latin1')
  socket.on('data', (data) => {
    text += data
  })
  // A reset is one of the ways in which the service may end a connection.
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      isClosed = true
      resolve()
    })
  })
  await once(socket, 'connect')
  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    async response() {
      for (;;) {
        const parsed = parseResponse(text.slice(consumed))
        if (parsed) {
          consumed += parsed.length
          return parsed.response
        }
        if (isClosed) return null
        await Promise.race([once(socket, 'data'), closed])
      }
    },
    closed: () => closed,
    received: () => text,
    end: () => void socket.destroy(),
  }
}

/** A connection's only exchange: sends, takes the first response (or null), hangs up. */
export async function exchange(baseUrl: string, bytes: string | Uint8Array): Promise<RawResponse | null> {
  const connection = await openSocket(baseUrl)
  connection.send(bytes)
  const response = await connection.response()
  connection.end()
  return response
}

/** A request's bytes: start line and headers as given, with Host, an empty line and the body. */
export function rawRequest(startLine: string, headers: string[] = [], body = ''): string {
  return `${[`${startLine} HTTP/1.1`, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n${body}`
}

function parseResponse(text: string): { response: RawResponse; length: number } | null {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const [statusLine, ...lines] = text.slice(0, headEnd).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const start = headEnd + 4
  const length = Number(headers['content-length'] ?? 0)
  if (text.length < start + length) return null
  const bodyText = Buffer.from(text.slice(start, start + length), 'latin1').toString()
  const isJson = headers['content-type']?.startsWith('application/json') && bodyText
  return {
    response: {
      status: Number(statusLine!.split(' ')[1]),
      headers,
      text: bodyText,
      body: isJson ? JSON.parse(bodyText) : undefined,
    },
    length: start + length,
  }
}
