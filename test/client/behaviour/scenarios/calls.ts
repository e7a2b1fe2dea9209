/** The calls of the API, and what the sandbox answers to each end of a user id. */
import { expect } from 'vitest'
import { answerTo } from '../../../support/challenges.js'
import type { Scenario } from '../world.js'

const action = { type: 'wire_transfer', amount: '1250.00', to: 'Zoë €' }

export const CALLS: Scenario[] = [
  {
    title: 'enrolls, verifies, checks the verdict once, and erases',
    async run({ client, photos }) {
      const sdk = await client()
      const enrolled = await sdk.said('enroll', { user_id: 'ada', images: Array(3).fill(photos.blank) })
      expect(enrolled).toMatchObject({
        value: { user_id: 'ada', status: 'enrolled', quality: { views: 3 } },
        response: { status: 201, attempts: 1, replayed: false },
      })
      const result = await sdk.call('verify', { user_id: 'ada', image: photos.blank, action })
      expect(result).toMatchObject({ verdict: 'approved', user_id: 'ada', replay: { suspected: false } })
      const claims = await sdk.call('verify_verdict', { token: result.jwt, user_id: 'ada', action })
      expect(claims).toMatchObject({ sub: 'ada', env: 'sandbox', verdict: 'approved', action })
      expect(claims.jti).toBe(result.verification_id)
      const again = await sdk.refused('verify_verdict', { token: result.jwt, user_id: 'ada', action })
      expect(again).toMatchObject({ kind: 'verdict', code: 'already_used' })
      const erased = await sdk.call('delete', { user_id: 'ada' })
      expect(erased).toMatchObject({ user_id: 'ada', status: 'erased', erased: { references: 1 } })
      expect(await sdk.call('delete', { user_id: 'ada' })).toEqual(erased)
      expect(await sdk.refused('get_user', { user_id: 'ada' })).toMatchObject({
        kind: 'api',
        code: 'reference_not_found',
        status: 404,
      })
    },
  },
  {
    title: 'gives back what was countersigned, to the letter',
    async run({ client, photos }) {
      const sdk = await client()
      const odd = { amount: 1250.5, none: null, list: [1, 'a', { b: false }], 'ключ "€" 😀': '\u2028\t' }
      const result = await sdk.call('verify', { user_id: 'u+match', image: photos.blank, action: odd })
      const claims = await sdk.call('verify_verdict', { token: result.jwt, user_id: 'u+match', action: odd })
      expect(claims.action).toEqual(odd)
      const text = await sdk.call('verify', { user_id: 'u+match', image: photos.blank, action: 'sign in' })
      const told = { token: text.jwt, user_id: 'u+match', action: 'sign in' }
      expect(await sdk.call('verify_verdict', told)).toMatchObject({ action: 'sign in' })
    },
  },
  {
    title: 'adds photos, assesses photos without storing them, and looks a user up',
    async run({ client, photos }) {
      const sdk = await client()
      const user_id = 'Zoë +/&?#%'
      const assessed = await sdk.call('assess_photos', { user_id, image: photos.blank })
      expect(assessed).toMatchObject({ user_id, status: 'assessed' })
      expect((await sdk.refused('get_user', { user_id })).code).toBe('reference_not_found')
      const consent = { id: 'consent-1', agreed_at: '2026-01-02T03:04:05Z' }
      await sdk.call('enroll', { user_id, image: photos.blank, consent })
      const added = await sdk.call('add_photos', { user_id, images: [photos.blank, photos.blank] })
      expect(added).toMatchObject({ status: 'enrolled', quality: { views: 3 } })
      const user = await sdk.call('get_user', { user_id })
      expect(user).toMatchObject({ user_id, reference: { views: 3, consent: { id: 'consent-1' } } })
      expect(user.lockout).toMatchObject({ status: 'none', rejections: 0 })
      expect((await sdk.refused('enroll', { user_id, image: photos.blank })).code).toBe('already_enrolled')
      expect(await sdk.call('enroll', { user_id, image: photos.blank, replace: true })).toMatchObject({
        quality: { views: 1 },
      })
    },
  },
  {
    title: 'looks a verification up, and asks whether it was for this user and action',
    async run({ client, photos }) {
      const sdk = await client()
      const user_id = 'Zoë +/&?#%'
      await sdk.call('enroll', { user_id, image: photos.blank })
      const { verification_id, verified_at } = await sdk.call('verify', {
        ...{ user_id, image: photos.blank, action },
      })
      const found = await sdk.call('get_verification', { verification_id })
      expect(found).toMatchObject({ verification_id, verdict: 'approved', acr: 'urn:countersign:acr:face' })
      expect(Date.parse(found.verified_at)).toBe(Date.parse(verified_at))
      const known = { verification_id, user_id, action }
      expect(await sdk.call('get_verification', known)).toMatchObject({ user_id, action_matches: true })
      const another = { ...known, action: { ...action, amount: '1' } }
      expect(await sdk.call('get_verification', another)).toMatchObject({ user_id, action_matches: false })
      for (const request of [{ verification_id, user_id: 'another' }, { verification_id: 'ver_0' }])
        expect(await sdk.refused('get_verification', request)).toMatchObject({
          kind: 'api',
          code: 'verification_not_found',
          status: 404,
        })
      expect((await sdk.refused('get_verification', { verification_id, action })).kind).toBe('argument')
      expect((await sdk.refused('get_verification', { verification_id: '../users/x' })).kind).toBe('argument')
      await sdk.call('delete', { user_id })
      expect((await sdk.refused('get_verification', { verification_id })).code).toBe('verification_not_found')
    },
  },
  {
    title: 'tells a rejection from an error, and why',
    async run({ client, photos }) {
      const sdk = await client()
      for (const [suffix, reason] of [
        ['+no_match', 'no_match'],
        ['+spoof', 'liveness_failed'],
        ['+locked_out', 'locked_out'],
      ]) {
        const user_id = `u${suffix}`
        const { value, response } = await sdk.said('verify', { user_id, image: photos.blank, action })
        expect(value, suffix).toMatchObject({ verdict: 'rejected', reason })
        if (reason === 'locked_out') expect(response).toMatchObject({ retry_after_seconds: 60 })
        const refusal = await sdk.refused('verify_verdict', { token: value.jwt, user_id, action })
        expect(refusal, suffix).toMatchObject({ kind: 'verdict', code: 'not_approved', reason })
        expect(refusal.message).toContain(reason)
      }
    },
  },
  {
    title: 'raises what the service says of a photo, with its status, its id and its details',
    async run({ client, photos }) {
      const sdk = await client()
      for (const [suffix, code] of [
        ['+low_quality', 'low_quality'],
        ['+no_face', 'face_not_found'],
        ['+multiple_faces', 'multiple_faces'],
      ]) {
        const request = { user_id: `u${suffix}`, image: photos.blank, action }
        const error = await sdk.refused('verify', request)
        expect(error, suffix).toMatchObject({ kind: 'api', code, status: 422, verified: true })
        expect(error.category).toBe('biometric_rejected')
        expect(error.request_id).toMatch(/^[0-9a-f-]{36}$/)
        expect(error.message).toContain(error.request_id)
        expect(error.details?.[0], suffix).toMatchObject({ path: 'image' })
      }
      const people = { user_id: 'u+different_people', images: [photos.blank, photos.blank], action }
      expect((await sdk.refused('verify', people)).code).toBe('different_people')
      const spoof = await sdk.refused('enroll', { user_id: 'u+spoof', image: photos.blank })
      expect(spoof).toMatchObject({ kind: 'api', code: 'liveness_failed', status: 422 })
    },
  },
  {
    title: 'names the field that is wrong, a user who is unknown and a key that is wrong',
    async run({ client, photos, tenant, production }) {
      const sdk = await client()
      const wrong = await sdk.refused('enroll', { user_id: '', image: photos.blank })
      expect(wrong).toMatchObject({ kind: 'api', code: 'invalid_request', status: 400 })
      expect(wrong.details).toMatchObject([{ path: 'user_id' }])
      const stranger = await sdk.refused('verify', { user_id: 'stranger', image: photos.blank, action })
      expect(stranger).toMatchObject({ code: 'reference_not_found', category: 'not_found', status: 404 })
      const other = await client({ api_key: `svc-sbx-${'0'.repeat(49)}` })
      const refused = await other.refused('health')
      expect(refused).toMatchObject({ kind: 'api', code: 'malformed_api_key', status: 401, verified: false })
      const unknown = await client({ api_key: tenant.sandboxKey.replace('svc-sbx-', 'svc-prod-') })
      expect((await unknown.refused('health')).status).toBe(401)
      const elsewhere = await production({ api_key: tenant.sandboxKey })
      expect(await elsewhere.refused('health')).toMatchObject({ code: 'wrong_environment', status: 403 })
    },
  },
  {
    title: 'reports the health of the service',
    async run({ client }) {
      const sdk = await client()
      expect(await sdk.said('health')).toMatchObject({
        value: { status: 'ok', environment: 'sandbox' },
        response: { status: 200 },
      })
    },
  },
  {
    title: 'has a challenge answered, for its nonce only',
    async run({ client, photos }) {
      const sdk = await client()
      const user_id = 'u+match'
      const asked = await sdk.call('create_challenge', { user_id, action })
      expect(asked).toMatchObject({ user_id, purpose: 'verify', capture: { min_frames: 16 } })
      expect(asked.steps[0]).toBe('frontal')
      const challenge = answerTo(asked, photos.blank)
      const wrong = { ...challenge, nonce: 'A'.repeat(43) }
      const refused = await sdk.refused('verify', { user_id, action, challenge: wrong })
      expect(refused).toMatchObject({ kind: 'api', code: 'challenge_mismatch' })
      const result = await sdk.call('verify', { user_id, action, challenge })
      expect(result).toMatchObject({ verdict: 'approved', liveness: { checked: true, passed: true } })
      const claims = await sdk.call('verify_verdict', {
        token: result.jwt,
        user_id,
        action,
        acr: ['urn:countersign:acr:face-active', 'urn:countersign:acr:face-active-pad'],
      })
      expect(claims.acr).toMatch(/face-active/)
      const used = await sdk.refused('verify', { user_id, action, challenge })
      expect(used).toMatchObject({ kind: 'api', code: 'challenge_used' })
      const turned = await sdk.call('create_challenge', { user_id: 'u+turn_more', action })
      const still = answerTo(turned, photos.blank)
      const rejected = await sdk.call('verify', { user_id: 'u+turn_more', action, challenge: still })
      expect(rejected).toMatchObject({
        verdict: 'rejected',
        reason: 'liveness_failed',
        liveness: { guidance: ['turn_more'] },
      })
    },
  },
  {
    title: 'gives guidance for a frame, and does not try again where it fails',
    async run({ client, photos, proxy }) {
      const sdk = await client()
      const dark = await sdk.call('guide', { user_id: 'u+too_dark', image: photos.blank })
      expect(dark).toMatchObject({ step: 'frontal', guidance: ['too_dark'] })
      expect((await sdk.call('guide', { user_id: 'u+match', image: photos.blank })).guidance).toEqual([])
      const turned = { user_id: 'u+turn_more', step: 'turn_left', image: photos.blank }
      expect((await sdk.call('guide', turned)).guidance).toEqual(['turn_more'])
      proxy.requests = []
      const limited = await sdk.refused('guide', { user_id: 'u+rate_limited', image: photos.blank })
      expect(limited).toMatchObject({ kind: 'api', code: 'rate_limited', retry_after_seconds: 1 })
      expect(proxy.requests).toHaveLength(1)
    },
  },
  {
    title: 'lists the audit log of production, page by page',
    async run({ production, photos }) {
      const sdk = await production()
      const user_id = 'audited'
      await sdk.call('enroll', { user_id, image: photos.ada })
      await sdk.call('verify', { user_id, image: photos.adaToday, action })
      await sdk.call('delete', { user_id })
      const all = await sdk.call('audit_entries')
      const events = all.map(({ event }: { event: string }) => event)
      for (const event of ['enroll', 'verify', 'delete']) expect(events).toContain(event)
      expect(all.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
        events.map((_: string, index: number) => all[0].sequence + index),
      )
      expect(await sdk.call('audit_entries', { limit: 2 })).toEqual(all)
      const page = await sdk.call('audit_page', { limit: 2 })
      expect(page).toMatchObject({ has_more: true, data: all.slice(0, 2) })
      const rest = await sdk.call('audit_entries', { after: page.next_cursor, limit: 1 })
      expect(rest).toEqual(all.slice(2))
      const newest = await sdk.call('audit_entries', { limit: 2, order: 'desc' })
      expect(newest).toEqual([...all].reverse())
      const only = await sdk.call('audit_entries', { event: 'verify' })
      expect(only.map(({ event }: { event: string }) => event)).toEqual(['verify'])
    },
  },
]
