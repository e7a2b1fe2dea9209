/** The scenarios as the tests of one SDK. */
import { expect, it } from 'vitest'
import { base64, face } from '../../support/faces.js'
import { plain } from '../../support/images.js'
import { startService, type TestService, WITH_PATIENT_PAGE } from '../../support/service.js'
import { startProxy } from '../proxy.js'
import type { Driver } from './driver.js'
import { CALLS } from './scenarios/calls.js'
import { CAPTURE_SESSIONS } from './scenarios/capture-sessions.js'
import { PASSKEYS } from './scenarios/passkeys.js'
import { RETRIES } from './scenarios/retries.js'
import { TRUST } from './scenarios/trust.js'
import { newWorld, type Photos } from './world.js'

export interface Stand {
  running: TestService
  photos: Photos
}

/** The service that the scenarios ask. */
export async function openStand(): Promise<Stand> {
  const running = await startService(WITH_PATIENT_PAGE)
  // The clock starts at a whole second, so that times in seconds do not depend on when the test began.
  running.clock.advance(1000 - (running.clock.now() % 1000))
  const photos = {
    blank: base64(await plain()),
    ada: base64(await face('ada')),
    adaToday: base64(await face('adaToday')),
    grace: base64(await face('grace')),
  }
  return { running, photos }
}

/** @param isThere the language can be used on this machine */
export function keepsToTheSuite(stand: () => Stand, driver: Driver | (() => Driver), isThere = true): void {
  for (const { title, run } of [...CALLS, ...RETRIES, ...TRUST, ...CAPTURE_SESSIONS, ...PASSKEYS])
    it.skipIf(!isThere)(title, async () => {
      const { running } = stand()
      const tenant = await running.tenant()
      const proxy = await startProxy(running.service.url('sandbox'))
      try {
        const speaking = typeof driver === 'function' ? driver() : driver
        await run(newWorld({ ...stand(), tenant, proxy, driver: speaking }))
        expect(speaking.complaints).toBe('')
      } finally {
        await proxy.stop()
      }
    })
}
