/** Builds the replies of the capture listener. Their headers forbid content from other origins, inline scripts and styles, and caching. */
import type { Reply } from '../../../http/listeners/listener.js'

/** @param frameAncestors origins whose pages may show this one */
function policy(frameAncestors: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    `frame-ancestors ${frameAncestors.length > 0 ? frameAncestors.join(' ') : "'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}

export class PageReplies {
  private readonly always: Record<string, string>

  /** @param isSecure whether browsers reach the page by https */
  constructor(isSecure: boolean) {
    this.always = {
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      // The link is a secret while it works.
      'Referrer-Policy': 'no-referrer',
      'Permissions-Policy':
        'camera=(self), microphone=(), geolocation=(), publickey-credentials-get=(self), publickey-credentials-create=(self)',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      ...(isSecure ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
    }
  }

  page(status: number, body: string, frameAncestors: readonly string[]): Reply {
    return this.reply(status, 'text/html; charset=utf-8', body, {
      'Content-Security-Policy': policy(frameAncestors),
    })
  }

  json(status: number, value: unknown, headers: Reply['headers'] = {}): Reply {
    return this.reply(status, 'application/json; charset=utf-8', JSON.stringify(value), headers)
  }

  plain(status: number, body: string, headers: Reply['headers'] = {}): Reply {
    return this.reply(status, 'text/plain; charset=utf-8', body, headers)
  }

  file(type: string, body: Buffer | string): Reply {
    return this.reply(200, type, body, { 'Cache-Control': 'public, max-age=300' })
  }

  private reply(status: number, type: string, body: Reply['body'], headers: Reply['headers']): Reply {
    return {
      status,
      body,
      headers: { 'Content-Type': type, 'Content-Security-Policy': policy([]), ...this.always, ...headers },
    }
  }
}
