/** Sessions of the hosted capture page, from the link to the verdict. */
import { expect } from 'vitest'
import { allowReturn, proofIn, RETURN_ORIGIN, Visitor } from '../../../support/capture-page.js'
import type { Scenario, Sdk } from '../world.js'

const action = { type: 'wire_transfer', amount: '1250.00' }
const return_url = `${RETURN_ORIGIN}/transfers/7`

const proofOf = ({ body }: { body: { return_url: string } }) => proofIn(body.return_url)

/** A session that a person has confirmed, as the browser that captured reads it. */
async function confirmed(sdk: Sdk, asked: Record<string, unknown>, photo: string) {
  const { session_id, url } = await sdk.call('create_capture_session', asked)
  const visitor = new Visitor(url)
  await visitor.enter()
  const proof = proofOf(await visitor.capture(photo)) ?? ''
  return sdk.call('get_capture_session', { session_id, proof })
}

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
      await visitor.enter()
      const proof = proofOf(await visitor.capture(photos.blank))
      const withheld = await sdk.call('get_capture_session', { session_id })
      expect(withheld).toMatchObject({ status: 'completed', result: null, result_withheld: 'proof_required' })
      expect(await sdk.refused('verify_verdict', expected)).toMatchObject({
        kind: 'verdict',
        code: 'proof_required',
      })
      expect(await sdk.refused('get_capture_session', { session_id, proof: 'another' })).toMatchObject({
        kind: 'api',
        code: 'capture_proof_invalid',
      })
      const done = await sdk.call('get_capture_session', { session_id, proof })
      expect(done).toMatchObject({ status: 'completed', result: { status: 200 } })

      Object.assign(expected, { proof })
      const other = await sdk.refused('verify_verdict', { ...expected, capture_session_id: 'cap_other' })
      expect(other).toMatchObject({ kind: 'verdict', code: 'wrong_capture_session' })
      for (const [code, change] of [
        ['wrong_user', { user_id: 'eve+match' }],
        ['wrong_action', { action: { ...action, amount: '9.00' } }],
      ] as const)
        expect((await sdk.refused('verify_verdict', { ...expected, ...change })).code).toBe(code)
      const { capture_session_id: _kept, ...unbound } = expected
      expect(await sdk.refused('verify_verdict', unbound)).toMatchObject({ kind: 'argument' })
      expect(await sdk.call('verify_verdict', expected)).toMatchObject({
        ...{ capture_session: session_id, capture_binding: 'same', sub: user_id, action },
      })
      expect((await sdk.refused('verify_verdict', expected)).code).toBe('already_used')
    },
  },
  {
    title: 'takes neither the verdict of another session nor one of a plain verify for that of a session',
    async run({ client, running, tenant, photos }) {
      await allowReturn(running, tenant)
      const sdk = await client()
      const user_id = 'hosted+match'
      const asked = { user_id, action, return_url }
      const kept = await sdk.call('create_capture_session', asked)
      const { jwt: other } = (await confirmed(sdk, asked, photos.blank)).result.body
      const { jwt: plain } = await sdk.call('verify', { user_id, action, image: photos.blank })
      const expected = { user_id, action, capture_session_id: kept.session_id }
      for (const token of [other, plain])
        expect(await sdk.refused('verify_verdict', { ...expected, token })).toMatchObject({
          kind: 'verdict',
          code: 'wrong_capture_session',
        })
      // The service signs no id of its own that a caller wrote.
      const nonce = kept.session_id
      expect(await sdk.refused('verify', { user_id, action, image: photos.blank, nonce })).toMatchObject({
        code: 'invalid_request',
        details: [{ path: 'nonce' }],
      })
    },
  },
  {
    title: 'takes the verdict of a session for any browser only where the application says so',
    async run({ client, running, tenant, photos }) {
      await allowReturn(running, tenant)
      const sdk = await client()
      const user_id = 'hosted+match'
      const asked = { user_id, action, return_url, browser: 'any' }
      const { session_id, result } = await confirmed(sdk, asked, photos.blank)
      const expected = { user_id, action, token: result.body.jwt, capture_session_id: session_id }
      expect(await sdk.refused('verify_verdict', expected)).toMatchObject({
        kind: 'verdict',
        code: 'wrong_capture_binding',
      })
      const claims = await sdk.call('verify_verdict', { ...expected, capture_binding: 'any' })
      expect(claims).toMatchObject({ capture_session: session_id, capture_binding: 'any' })
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
