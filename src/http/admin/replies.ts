/** Builds the replies of the admin listener, with the headers that all of them carry. */
import type { Reply } from '../listeners/listener.js'

export function reply(
  status: number,
  type: string,
  body: Reply['body'],
  headers: Record<string, string> = {},
): Reply {
  return {
    status,
    body,
    headers: {
      'Content-Type': type,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      ...headers,
    },
  }
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Reply {
  return reply(status, 'application/json; charset=utf-8', JSON.stringify(value), headers)
}

export function plain(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return reply(status, 'text/plain; charset=utf-8', body, headers)
}
