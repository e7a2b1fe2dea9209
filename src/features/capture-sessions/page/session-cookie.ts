/** The cookie that binds the link of a capture session to one browser. */
import type { IncomingRequest } from '../../../http/listeners/listener.js'
import { type Clock, SECOND_MS } from '../../../lib/clock.js'
import type { CaptureSession } from '../capture-session-book.js'

export class SessionCookie {
  /** @param isSecure whether browsers reach the page by https */
  constructor(
    private readonly isSecure: boolean,
    private readonly clock: Clock,
  ) {}

  private nameOf({ record, side }: CaptureSession): string {
    return `${this.isSecure ? '__Host-' : ''}${record.id}_${side}`
  }

  /** Returns the secret in the cookie of a session, or undefined. */
  valueIn({ headers }: Pick<IncomingRequest, 'headers'>, session: CaptureSession): string | undefined {
    const prefix = `${this.nameOf(session)}=`
    const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
    return pairs.find((pair) => pair.startsWith(prefix))?.slice(prefix.length)
  }

  /** Returns the header that sets the cookie of a session. @param isFramed whether another site frames the page */
  header(session: CaptureSession, secret: string, isFramed: boolean): string {
    const { expiresAt } = session.record
    const seconds = Math.ceil((expiresAt - this.clock.now()) / SECOND_MS)
    // In a frame of another site, browsers accept only cookies that are partitioned by that site.
    const site = this.isSecure && isFramed ? 'SameSite=None; Partitioned' : 'SameSite=Lax'
    const secure = this.isSecure ? ' Secure;' : ''
    return `${this.nameOf(session)}=${secret}; Path=/; Max-Age=${seconds}; HttpOnly;${secure} ${site}`
  }
}
