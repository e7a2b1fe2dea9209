/** Sessions of the hosted capture page: their endpoints, the page and its listener, and the webhook at the end of each. */

import { ownValues } from '../../config/own-settings.js'
import { MAX_BROWSER_HEAD_BYTES } from '../../http/listeners/framing.js'
import { listenerBounds } from '../../http/listeners/listener-bounds.js'
import { SECOND_MS } from '../../lib/clock.js'
import type { Feature } from '../feature.js'
import { CAPTURE_PAGE_ERRORS } from './capture-page-settings.js'
import { CaptureSessionBook } from './capture-session-book.js'
import { CaptureSessionEvents, UPLOAD_MS } from './capture-session-events.js'
import type { ConsentTextError } from './consent-texts.js'
import { capturePageRoutes } from './console-routes.js'
import { createCaptureSession, createCaptureSessionDescription } from './create-capture-session.js'
import { getCaptureSession, getCaptureSessionDescription } from './get-capture-session.js'
import { CAPTURE_SETTINGS } from './own.js'
import type { CaptureServer } from './page/capture-server.js'

export const captureSessions: Feature = {
  statuses: { ...CAPTURE_PAGE_ERRORS, consent_text_not_found: 404 } satisfies Record<
    ConsentTextError['code'],
    number
  >,
  descriptions: [createCaptureSessionDescription, getCaptureSessionDescription],
  listener: 'capture',
  attach(host) {
    const { config, clock } = host
    const { captureSessionTtlSeconds } = ownValues(CAPTURE_SETTINGS, config)
    const book = new CaptureSessionBook(clock, captureSessionTtlSeconds * SECOND_MS)
    // A capture that was sent in time is uploaded and judged by then.
    const events = new CaptureSessionEvents(host, UPLOAD_MS + config.deadlineMs)
    return {
      endpoints: (services) => [
        createCaptureSession({ ...services, captureSessions: book }),
        getCaptureSession(services),
      ],
      console: capturePageRoutes(host),
      beforeExpiry: (isOn) => events.reportExpired(isOn),
      async listen({ apis, visitors, open, origin }) {
        if (!config.captureListen) return
        const { CaptureServer } = await import('./page/capture-server.js')
        // Links to the page contain its port, so the page is made after its listener; nobody has a link before that.
        let page: CaptureServer | undefined
        const { limits } = listenerBounds(config)
        await open('capture', {
          maxHeadBytes: MAX_BROWSER_HEAD_BYTES,
          limits: { ...limits, requestMs: limits.headMs + UPLOAD_MS },
          handler: (request) => page!.handle(request),
        })
        page = new CaptureServer({
          ...host,
          captureSessions: book,
          captureEvents: events,
          apis,
          visitors,
          origin: () => origin('capture'),
        })
      },
    }
  },
}
