/** Passkeys: registered, asserted, listed, revoked and recovered, and each way in which one is refused. */

import {
  PASSKEY_REGISTRATIONS,
  PASSKEY_SIGNATURES,
  sandboxRegistration,
  sandboxSignature,
} from '../../../src/contract/sandbox-passkeys.js'
import { changeSettings } from '../../../src/features/passkeys/passkey-operations.js'
import { SoftwareAuthenticator } from '../../support/authenticator.js'
import { allowReturn, askForSession } from '../../support/capture-page.js'
import { answerTo } from '../../support/challenges.js'
import type { ApiClient } from '../../support/client.js'
import { operationsOf } from '../../support/operations.js'
import { asserted, ORIGIN, passkeysPath, proven, registered, usePasskeys } from '../../support/passkeys.js'
import type { Stage } from '../stage.js'
import { challengeFor } from './challenges.js'
import type { Scenario } from './groups.js'
import { ACTION, enrolled } from './verify.js'

/** An enrolled user with a passkey, in the environment of the client. */
async function holder(stage: Stage, client: ApiClient, user_id = 'ada') {
  const { running, tenant, photos } = stage
  await usePasskeys(running, tenant)
  const silent = client === stage.production ? stage.quiet.production : stage.quiet.sandbox
  await silent.enroll({ user_id, image: photos.ada })
  const { authenticator, answer } = await registered(silent, user_id)
  return { user_id, authenticator, silent, path: passkeysPath(user_id, `/${answer.body.passkey_id}`) }
}

/** An approved verify of a challenge with movements. @returns its field of a registration */
async function live(client: ApiClient, user_id: string, type: string, image: string) {
  const action = { type }
  const challenge = answerTo(await challengeFor(client, { user_id, action }), image)
  const { body } = await client.verify({ user_id, action, challenge })
  return { verification_id: body.verification_id as string }
}

const bothOf = ({ production, sandbox }: Stage) => [production, sandbox]
const begin = (client: ApiClient, user: string, fields: object = {}) =>
  client.call('POST', passkeysPath(user, '/registration'), fields)

export const passkeys: Record<string, Scenario> = {
  async 'registers a passkey, lists it, verifies with it and revokes it'(stage) {
    const { running, tenant, photos } = stage
    const user_id = await enrolled(stage)
    await usePasskeys(running, tenant)
    for (const client of bothOf(stage)) {
      await stage.addWebhook(client === stage.production ? 'production' : 'sandbox')
      const { authenticator, answer } = await registered(client, user_id)
      await client.call('GET', passkeysPath(user_id))
      const passkey_assertion = await asserted(client, user_id, ACTION, authenticator)
      const fields = { user_id, image: photos.adaToday, action: ACTION, passkey_assertion }
      await client.verify({ ...fields, require_passkey: true })
      await client.verify(fields)
      await client.enroll({ user_id, image: photos.ada, replace: true })
      await client.call('DELETE', passkeysPath(user_id, `/${answer.body.passkey_id}`))
      await client.call('DELETE', passkeysPath(user_id, `/${answer.body.passkey_id}`))
      await client.call('DELETE', passkeysPath('nobody', `/${answer.body.passkey_id}`))
    }
  },

  async 'has one passkey allow the next one'(stage) {
    for (const client of bothOf(stage)) {
      const { user_id, authenticator, silent } = await holder(stage, client)
      await begin(client, user_id)
      const proof = await proven(silent, user_id, authenticator, stage.photos.adaToday)
      await registered(client, user_id, undefined, proof)
    }
  },

  async 'recovers a lost passkey after a wait, unless that is cancelled'(stage) {
    const { sandbox, photos } = stage
    const { user_id } = await holder(stage, sandbox)
    await stage.addWebhook('sandbox')
    const cancel = () => sandbox.call('DELETE', passkeysPath(user_id, '/recovery'))
    await live(sandbox, user_id, 'recover_passkey', photos.blank)
    await cancel()
    await cancel()
    const recovery = await live(sandbox, user_id, 'recover_passkey', photos.blank)
    await begin(sandbox, user_id, recovery)
    stage.advance(60_000)
    await registered(sandbox, user_id, undefined, recovery)
  },

  async 'cancels a recovery by the passkey that was found again'(stage) {
    const { sandbox, photos } = stage
    const { user_id, authenticator, silent } = await holder(stage, sandbox)
    await live(silent, user_id, 'recover_passkey', photos.blank)
    const passkey_assertion = await asserted(silent, user_id, ACTION, authenticator)
    await sandbox.verify({ user_id, image: photos.blank, action: ACTION, passkey_assertion })
  },

  async 'cancels a recovery in production'(stage) {
    const { production, running } = stage
    const { user_id } = await holder(stage, production)
    // No photo begins a recovery, and a film of movements takes seconds to judge.
    await running.database.query(
      'UPDATE subject SET passkey_recovery = $1, passkey_recovery_at = $2 WHERE tenant_id = $3',
      [`ver_${'0'.repeat(32)}`, running.clock.now() + 60_000, stage.tenant.id],
    )
    await production.call('DELETE', passkeysPath(user_id, '/recovery'))
    await production.call('DELETE', passkeysPath(user_id, '/recovery'))
    await production.call('DELETE', passkeysPath('nobody', '/recovery'))
  },

  async 'refuses a registration whose answer breaks a rule'(stage) {
    const { production, running, tenant } = stage
    const user_id = await enrolled(stage)
    await usePasskeys(running, tenant)
    const broken = [
      { challenge: 'AAAA' },
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
      { isVerified: false },
    ]
    for (const claims of broken)
      await registered(production, user_id, new SoftwareAuthenticator({ origin: ORIGIN, ...claims }))
    await usePasskeys(running, tenant, { synced: 'refused' })
    await registered(production, user_id, new SoftwareAuthenticator({ origin: ORIGIN, isSynced: true }))
  },

  async 'refuses a registration that nobody allowed, or that comes too late or twice'(stage) {
    const { photos, running, tenant } = stage
    for (const client of bothOf(stage)) {
      const { user_id, authenticator, silent } = await holder(stage, client)
      await silent.enroll({ user_id: 'grace', image: photos.grace })
      const proof = await proven(silent, user_id, authenticator, photos.adaToday)
      const { begun } = await registered(silent, user_id, undefined, proof)
      const credential = new SoftwareAuthenticator({ origin: ORIGIN }).create(begun.options)
      await registered(client, 'grace', authenticator)
      const { challenge_id, nonce } = begun
      const finish = (user: string, fields: object = {}) =>
        client.call('POST', passkeysPath(user), { challenge_id, nonce, credential, ...fields })
      await finish(user_id, proof)
      await finish(user_id)
      await finish('grace')
      await finish('nobody')
      await finish(user_id, { challenge_id: `chl_${'0'.repeat(32)}` })
      await finish(user_id, { credential: {} })
      const given = async (rest: object = {}) => {
        const { challenge_id, nonce, options } = (await begin(silent, 'grace')).body
        const made = new SoftwareAuthenticator({ origin: ORIGIN }).create(options)
        return { challenge_id, nonce, credential: made, ...rest }
      }
      await finish(user_id, await given())
      const late = await given()
      stage.advance(600_000)
      await finish('grace', late)
      const unpermitted = await given()
      await usePasskeys(running, tenant, { registration: 'verified' })
      await finish('grace', unpermitted)
      await begin(client, 'grace')
      await begin(client, 'nobody')
      await usePasskeys(running, tenant)
      const [one, other] = [await given(), await given()]
      await silent.call('POST', passkeysPath('grace'), one)
      await finish('grace', other)
    }
    await stage.sandbox.call('POST', passkeysPath('ada+unavailable'), {
      ...{ challenge_id: 'x', nonce: 'A'.repeat(43), credential: sandboxRegistration('phone') },
    })
  },

  async 'has ten passkeys at most'(stage) {
    const { sandbox, photos, running, tenant } = stage
    const { user_id, authenticator, silent } = await holder(stage, sandbox)
    const permit = () => proven(silent, user_id, authenticator, photos.blank)
    for (let further = 1; further < 9; further++) await registered(silent, user_id, undefined, await permit())
    const permits = [await permit(), await permit()]
    const { body } = await begin(silent, user_id, permits[0])
    await registered(silent, user_id, undefined, permits[1])
    const credential = new SoftwareAuthenticator({ origin: ORIGIN }).create(body.options)
    const { challenge_id, nonce } = body
    await sandbox.call('POST', passkeysPath(user_id), { challenge_id, nonce, credential, ...permits[0] })
    await begin(sandbox, user_id, await permit())
    await allowReturn(running, tenant)
    const enrolling = { user_id, purpose: 'enroll', action: undefined }
    await askForSession(sandbox, { ...enrolling, replace: true })
    await askForSession(sandbox, { user_id, passkey: 'required' })
    await askForSession(sandbox, { user_id: 'grace+match', passkey: 'required' })
    await sandbox.call('POST', '/v1/challenges', { user_id, purpose: 'enroll', passkey: 'register' })
  },

  async 'answers the scripted passkeys of the sandbox'(stage) {
    const { sandbox, quiet, photos, running, tenant } = stage
    await usePasskeys(running, tenant)
    await quiet.sandbox.enroll({ user_id: 'ada', image: photos.blank })
    const register = async (
      name: string,
      outcome: (typeof PASSKEY_REGISTRATIONS)[number],
      client = sandbox,
    ) => {
      const { challenge_id, nonce } = (await begin(quiet.sandbox, 'ada')).body
      const credential = sandboxRegistration(name, outcome)
      await client.call('POST', passkeysPath('ada'), { challenge_id, nonce, credential })
    }
    for (const outcome of PASSKEY_REGISTRATIONS)
      if (outcome.startsWith('passkey_')) await register('phone', outcome)
    for (const outcome of PASSKEY_REGISTRATIONS)
      if (outcome.startsWith('passkey_')) {
        const fields = { user_id: 'grace', purpose: 'enroll', passkey: 'register' }
        const challenge = answerTo(await challengeFor(quiet.sandbox, fields), photos.blank)
        const passkey_registration = { credential: sandboxRegistration('phone', outcome) }
        await sandbox.enroll({ user_id: 'grace', challenge, passkey_registration })
      }
    await register('phone', 'device_bound', quiet.sandbox)
    for (const outcome of PASSKEY_SIGNATURES) {
      const { body } = await quiet.sandbox.call('POST', passkeysPath('ada', '/assertion'), { action: ACTION })
      const { challenge_id, nonce } = body
      const passkey_assertion = { challenge_id, nonce, credential: sandboxSignature('phone', outcome) }
      await sandbox.verify({ user_id: 'ada', image: photos.blank, action: ACTION, passkey_assertion })
    }
  },

  async 'refuses a signature that breaks a rule'(stage) {
    const { production, photos, running, tenant } = stage
    const { user_id, authenticator, silent } = await holder(stage, production)
    await stage.addWebhook('production')
    const verify = async (claims: Parameters<SoftwareAuthenticator['get']>[1]) => {
      const passkey_assertion = await asserted(silent, user_id, ACTION, authenticator, claims)
      return production.verify({ user_id, image: photos.adaToday, action: ACTION, passkey_assertion })
    }
    await verify({ counter: 7 })
    const broken = [
      { challenge: 'AAAA' },
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
      { isVerified: false },
      { userHandle: 'AAAA' },
      { signsWrong: true },
      { counter: 7 },
    ]
    for (const claims of broken) await verify(claims)
    await usePasskeys(running, tenant, { synced: 'refused' })
    await verify({ counter: 8, isSynced: true })
    await usePasskeys(running, tenant)
    await verify({ counter: 9, isSynced: true })
    await usePasskeys(running, tenant, { synced: 'refused' })
    await verify({ counter: 10, isSynced: true })
  },

  async 'enrolls a user together with a passkey'(stage) {
    const { sandbox, quiet, photos, running, tenant } = stage
    await usePasskeys(running, tenant)
    const fields = { user_id: 'ada', purpose: 'enroll', passkey: 'register' }
    const enroll = async (claims: object, passkeyOfAnother?: SoftwareAuthenticator) => {
      const asked = await challengeFor(sandbox, fields)
      const authenticator = passkeyOfAnother ?? new SoftwareAuthenticator({ origin: ORIGIN, ...claims })
      const passkey_registration = { credential: authenticator.create(asked.passkey), name: 'phone' }
      await sandbox.enroll({ user_id: 'ada', challenge: answerTo(asked, photos.blank), passkey_registration })
      return authenticator
    }
    await quiet.sandbox.enroll({ user_id: 'grace', image: photos.blank })
    const { authenticator } = await registered(quiet.sandbox, 'grace')
    await enroll({ isVerified: false })
    await enroll({}, authenticator)
    await enroll({})
  },

  async 'has a passkey sign the challenge of the frames'(stage) {
    const { sandbox, photos } = stage
    const { user_id, authenticator } = await holder(stage, sandbox)
    const asked = await challengeFor(sandbox, { user_id, action: ACTION, passkey: 'required' })
    const passkey_assertion = { credential: authenticator.get(asked.passkey) }
    const challenge = answerTo(asked, photos.blank)
    await sandbox.verify({ user_id, action: ACTION, challenge, passkey_assertion })
  },

  async 'has nothing to offer where passkeys are off, or the user has none'(stage) {
    const { running, tenant } = stage
    const user_id = await enrolled(stage)
    const askAll = async (client: ApiClient, user: string) => {
      await begin(client, user)
      await client.call('POST', passkeysPath(user, '/assertion'), { action: ACTION })
      await client.call('GET', passkeysPath(user))
    }
    for (const client of bothOf(stage)) {
      await usePasskeys(running, tenant)
      await client.call('POST', passkeysPath(user_id, '/assertion'), { action: ACTION })
      await client.call('POST', passkeysPath('nobody', '/assertion'), { action: ACTION })
      await client.call('GET', passkeysPath('nobody'))
      await client.call('POST', '/v1/challenges', { user_id, action: ACTION, passkey: 'required' })
    }
    await askAll(stage.sandbox, 'ada+unavailable')
    for (const user of ['ada%2Bunavailable', '%ff'])
      for (const rest of ['recovery', `pky_${'0'.repeat(32)}`])
        await stage.sandbox.call('DELETE', `/v1/users/${user}/passkeys/${rest}`)
    await stage.sandbox.call('GET', '/v1/users/%ff/passkeys')
    const asked = (await begin(stage.quiet.sandbox, user_id)).body
    const offered = await challengeFor(stage.quiet.sandbox, {
      ...{ user_id: 'grace', purpose: 'enroll', passkey: 'register' },
    })
    const scripted = sandboxRegistration('phone')
    const [{ challenge_id, nonce }, challenge] = [asked, answerTo(offered, stage.photos.blank)]
    const { audited } = operationsOf(running.service)
    await changeSettings(audited, await stage.record(), stage.operator, null)
    for (const client of bothOf(stage)) {
      await askAll(client, user_id)
      await client.call('POST', '/v1/challenges', { user_id, action: ACTION, passkey: 'required' })
    }
    const { sandbox, photos } = stage
    await sandbox.call('POST', passkeysPath(user_id), { challenge_id, nonce, credential: scripted })
    await sandbox.enroll({ user_id: 'grace', challenge, passkey_registration: { credential: scripted } })
    const passkey_assertion = { challenge_id, nonce, credential: sandboxSignature('phone') }
    await sandbox.verify({ user_id, image: photos.blank, action: ACTION, passkey_assertion })
  },
}
