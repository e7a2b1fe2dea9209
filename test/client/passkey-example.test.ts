/** The example of the guide to passkeys, against the sandbox, with an authenticator in software. */
import { expect, it } from 'vitest'
import { ApiError } from '../../clients/node/index.js'
// @ts-expect-error plain JavaScript with comments as types
import { registerPasskey, transfer } from '../../docs/examples/passkeys/passkeys.mjs'
import { SoftwareAuthenticator } from '../support/authenticator.js'
import { answerTo } from '../support/challenges.js'
import { base64 } from '../support/faces.js'
import { plain } from '../support/images.js'
import { ORIGIN, usePasskeys } from '../support/passkeys.js'
import { sandboxSdk } from '../support/sdk.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile()
const tenant = await running.tenant()
await usePasskeys(running, tenant, { registration: 'verified' })
const countersign = sandboxSdk(running, tenant)
const image = base64(await plain())

function page(authenticator: SoftwareAuthenticator) {
  const film = async (steps: string[]) => answerTo({ challenge_id: '', nonce: '', steps }, image).frames
  const create = async (options: object) => authenticator.create(options)
  return { film, create, get: async (options: object) => authenticator.get(options) }
}

it('registers a passkey and asks for it at a transfer', async () => {
  const user_id = 'ada'
  await countersign.enroll({ user_id, image })
  const browser = page(new SoftwareAuthenticator({ origin: ORIGIN }))
  const { passkey_id } = await registerPasskey(countersign, user_id, browser)
  const action = { type: 'transfer', amount: '1250.00', to: 'Grace' }
  const claims = await transfer(countersign, user_id, action, browser)
  expect(claims).toMatchObject({ amr: ['face', 'swk'], passkey_id, action })
  const { data } = await countersign.listPasskeys(user_id)
  expect(data.map(({ passkey_id: id, name }) => [id, name])).toEqual([[passkey_id, 'phone']])
  await countersign.revokePasskey(user_id, passkey_id)
  await expect(transfer(countersign, user_id, action, browser)).rejects.toThrow(ApiError)
})

it('asks a passkey to sign for a photo', async () => {
  const user_id = 'grace'
  await countersign.enroll({ user_id, image })
  const browser = page(new SoftwareAuthenticator({ origin: ORIGIN }))
  await registerPasskey(countersign, user_id, browser)
  const action = 'login'
  const { challenge_id, nonce, options } = await countersign.beginPasskeyAssertion(user_id, { action })
  const passkey_assertion = { challenge_id, nonce, credential: await browser.get(options) }
  const { passkey } = await countersign.verify({ user_id, image, action, passkey_assertion })
  expect(passkey?.amr).toBe('swk')
})

it('says that a text is no id of a passkey before anything is sent', async () => {
  await expect(countersign.revokePasskey('ada', '../ada')).rejects.toThrow(TypeError)
})
