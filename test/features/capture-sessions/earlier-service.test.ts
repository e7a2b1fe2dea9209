/** The hosted page sends a service of an earlier version no fields that it refuses. */
import { expect, it } from 'vitest'
import { withoutLaterFields } from '../../../clients/capture/page/earlier-service.js'

it('leaves out the fields that an earlier version does not know, and no other', () => {
  const frames = [{ step: 0, t_ms: 0, image: 'AAAA' }]
  expect(withoutLaterFields({ frames, signals: [] })).toEqual({ frames })
  expect(withoutLaterFields({ display: 'a'.repeat(64) })).toEqual({})
})

it('gives no second try for a body that has none of them', () => {
  expect(withoutLaterFields({ frames: [], signals: undefined })).toBeNull()
  expect(withoutLaterFields({ agree: true, version: '1', sha256: '0' })).toBeNull()
  expect(withoutLaterFields()).toBeNull()
})

it('never leaves a passkey out', () => {
  expect(withoutLaterFields({ frames: [], passkey: {} })).toBeNull()
  expect(withoutLaterFields({ frames: [], passkey: {}, signals: [] })).toEqual({ frames: [], passkey: {} })
})
