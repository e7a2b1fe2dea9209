/** A service without challenges, and without passkeys, which have the table in common: it takes photos, and knows neither field nor table. */
import { expect, it } from 'vitest'
import { loadConfig } from '../../../src/app/configuration.js'
import type { ListedFeature } from '../../../src/features/feature.js'
import { FEATURES } from '../../../src/features/index.js'
import { base64, face } from '../../support/faces.js'
import { serviceOfFile } from '../../support/service.js'
import { decodeJwt } from '../../support/trust.js'

const GONE = ['challenges', 'capture-sessions', 'passkeys']
const features: readonly ListedFeature[] = FEATURES.filter(({ name }) => !GONE.includes(name))
const action = { type: 'wire_transfer', amount: '1250.00' }

const running = await serviceOfFile({}, { features })

it('verifies photos, and refuses frames as an unknown field in words that name only photos', async () => {
  const { sandbox, secret } = await running.tenant()
  const image = base64(await face('ada'))
  const { body } = await sandbox.verify({ user_id: 'ada+match', image, action })
  expect(body.verdict).toBe('approved')
  expect(decodeJwt(body.jwt, secret.secret).claims).not.toHaveProperty('challenge_id')
  const nonce = 'n'.repeat(43)
  const challenge = { challenge_id: 'chl_1', nonce, frames: [] }
  for (const send of [
    () => sandbox.verify({ user_id: 'ada+match', image, action, challenge }),
    () => sandbox.enroll({ user_id: 'ada+match', image, challenge }),
  ])
    expect((await send()).body.details).toEqual([{ path: 'challenge', issue: 'is not a known field' }])
  const { body: empty } = await sandbox.verify({ user_id: 'ada+match', action })
  expect(empty.details).toEqual([{ path: 'image', issue: 'give one of `image` and `images`' }])
})

it('has no liveness that movements prove, and says so where a call asks for it', async () => {
  const { sandbox } = await running.tenant()
  const asked = { user_id: 'ada+match', image: base64(await face('ada')), action, require_liveness: 'active' }
  expect((await sandbox.verify(asked)).body.code).toBe('liveness_required')
})

it('has neither its table nor a word of it in the document', async () => {
  await expect(running.database.query('SELECT * FROM challenge')).rejects.toThrow()
  const { body: document } = await running.anonymous('sandbox').call('GET', '/v1/openapi.json')
  const { schemas } = document.components
  const requests = Object.keys(schemas).filter((name) => /^(?:Verify|Enroll)Request/.test(name))
  expect(requests).toEqual([
    ...['EnrollRequestWithImage', 'EnrollRequestWithImages', 'EnrollRequest'],
    ...['VerifyRequestWithImage', 'VerifyRequestWithImages', 'VerifyRequest'],
  ])
  for (const name of requests) expect(schemas[name].properties ?? {}).not.toHaveProperty('challenge')
  expect(Object.keys(document.paths).filter((path) => /challenge|guidance/.test(path))).toEqual([])
})

it('leaves its setting unread', () => {
  const env = { COUNTERSIGN_CHALLENGE_TTL_SECONDS: '60' }
  expect(loadConfig(env)).toHaveProperty('challengeTtlSeconds', 60)
  expect(loadConfig(env, features)).not.toHaveProperty('challengeTtlSeconds')
})
