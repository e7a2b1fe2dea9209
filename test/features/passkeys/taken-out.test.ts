/** Tests of a service without passkeys: its answers about users name none, and its receipts count none. */
import { expect, it } from 'vitest'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { FEATURES } from '../../../src/features/index.js'
import { photoOf } from '../../support/faces.js'
import { serviceOfFile } from '../../support/service.js'

const running = await serviceOfFile({}, { features: FEATURES.filter(({ name }) => name !== 'passkeys') })

it('enrolls, looks up, exports, replaces and erases a user without a word of passkeys but in the receipt', async () => {
  const tenant = await running.tenant()
  const { sandbox } = tenant
  const enrollment = { user_id: 'ada+match', image: await photoOf('ada') }
  const enrolled = await sandbox.enroll(enrollment)
  expect(enrolled.status).toBe(201)
  const lookedUp = await sandbox.call('GET', '/v1/users/ada%2Bmatch')
  const address = { environment: 'sandbox' as const, userId: 'ada+match' }
  const exported = await running.operations.exports.run(await tenant.record(), COMMAND_LINE, address)
  expect(JSON.stringify([enrolled.body, lookedUp.body, exported])).not.toContain('passkey')
  const { body: document } = await running.anonymous('sandbox').call('GET', '/v1/openapi.json')
  expect(document.info.description).not.toContain('passkey')
  expect((await sandbox.enroll({ ...enrollment, replace: true })).status).toBe(201)
  expect((await sandbox.erase('ada+match')).body.erased).toMatchObject({ references: 1, passkeys: 0 })
})
