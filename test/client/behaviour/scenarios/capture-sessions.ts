/** Sessions of the hosted capture page, from the link to the verdict. */
import { expect } from 'vitest'
import { allowReturn, RETURN_ORIGIN, Visitor } from '../../../support/capture-page.js'
import type { Scenario } from '../world.js'

const action = { type: 'wire_transfer', amount: '1250.00' }
const return_url = `${RETURN_ORIGIN}/transfers/7`

export const CAPTURE_SESSIONS: Scenario[] = [
  {
    title: 'sends a person to the capture page, and takes the verdict of that session only',
    async run({ client, running, tenant, photos }) {
      await allowReturn(running, tenant)
      const sdk = await client()
      const user_id = 'hosted+match'
      const link = await sdk.call('create_capture_session', {
        user_id,
        action,
        return_url,
        description: 'Transfer of 1250.00 EUR',
      })
      expect(link).toMatchObject({ user_id, purpose: 'verify' })
      const { session_id, url } = link
      expect(await sdk.call('get_capture_session', { session_id })).toMatchObject({
        session_id,
        status: 'open',
        attempts: 0,
        result: null,
      })
      const expected = { session_id, capture_session_id: session_id, user_id, action }
      const none = await sdk.refused('verify_verdict', expected)
      expect(none).toMatchObject({ kind: 'verdict', code: 'no_verdict' })

      const visitor = new Visitor(url)
      await visitor.open()
      await visitor.agree()
      await visitor.capture(photos.blank)
      const done = await sdk.call('get_capture_session', { session_id })
      expect(done).toMatchObject({ status: 'completed', result: { status: 200 } })

      const other = await sdk.refused('verify_verdict', { ...expected, capture_session_id: 'cap_other' })
      expect(other).toMatchObject({ kind: 'verdict', code: 'wrong_nonce' })
      const { capture_session_id: _kept, ...unbound } = expected
      expect(await sdk.refused('verify_verdict', unbound)).toMatchObject({ kind: 'argument' })
      expect(await sdk.call('verify_verdict', expected)).toMatchObject({ nonce: session_id, sub: user_id })
      expect((await sdk.refused('verify_verdict', expected)).code).toBe('already_used')
    },
  },
  {
    title: 'says which capture session is unknown, and which address the page may not lead to',
    async run({ client, running, tenant }) {
      await allowReturn(running, tenant)
      const sdk = await client()
      const request = { user_id: 'hosted+match', action, return_url: 'https://elsewhere.example/' }
      expect(await sdk.refused('create_capture_session', request)).toMatchObject({
        kind: 'api',
        code: 'return_url_not_allowed',
      })
      const unknown = { session_id: `cap_${'0'.repeat(32)}` }
      expect(await sdk.refused('get_capture_session', unknown)).toMatchObject({
        kind: 'api',
        code: 'capture_session_not_found',
        status: 404,
      })
      expect(await sdk.refused('get_capture_session', { session_id: '../health' })).toMatchObject({
        kind: 'argument',
      })
    },
  },
]
