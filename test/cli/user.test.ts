import { beforeAll, expect, it } from 'vitest'
import { apiClient } from '../support/client.js'
import { workplaceForAll } from '../support/command.js'
import { base64, face } from '../support/faces.js'

const place = workplaceForAll()
beforeAll(async () => {
  const server = await place.host({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '2' })
  const image = base64(await face('ada'))
  const { json } = await place.ask('tenant create acme')
  const sandbox = apiClient(`${server.sandbox}/v1`, json.sandbox_key)
  await sandbox.enroll({ user_id: 'ada', image })
  await sandbox.verify({ user_id: 'ada', image, action: 'x' })
  const revealed = await place.ask('tenant production-key acme')
  const production = apiClient(`${server.production}/v1`, revealed.json.production_key)
  await production.enroll({
    user_id: 'ada',
    image,
    consent: { id: 'c-1', agreed_at: '2026-01-31T12:00:00Z' },
  })
  const other = base64(await face('joan'))
  for (let i = 0; i < 2; i++) await production.verify({ user_id: 'ada', image: other, action: 'x' })
})

it('user show prints what the API answers, for people and for programs', async () => {
  const { code, json } = await place.ask('user show acme ada')
  expect(code).toBe(0)
  expect(json).toMatchObject({
    user_id: 'ada',
    status: 'enrolled',
    reference: { views: 1, consent: { id: 'c-1' } },
    lockout: { status: 'locked_out', ends_at: expect.any(String), rejections: 2 },
  })
  const shown = await place.run(['user', 'show', 'acme', 'ada', '--sandbox'])
  expect(shown.stdout).toMatch(/^Lockout +none$/m)
  expect(shown.stdout).toMatch(/^Consent +not recorded$/m)
})

it('user unlock ends the lockout, and the audit log names the operator', async () => {
  const { code, json } = await place.ask('user unlock acme ada')
  expect({ code, json }).toEqual({ code: 0, json: { user_id: 'ada', status: 'unlocked', rejections: 2 } })
  const { json: after } = await place.ask('user show acme ada')
  expect(after.lockout).toEqual({ status: 'none', ends_at: null, rejections: 0 })
})

it('user undo-ageing restores references of a user or of all, and asks which', async () => {
  const one = await place.ask('user undo-ageing acme ada')
  expect(one).toMatchObject({ code: 0, json: { user_id: 'ada', restored: 0 } })
  const all = await place.run(['user', 'undo-ageing', 'acme', '--all'])
  expect(all).toMatchObject({ code: 0, stdout: 'Restored 0 references of acme as enrolled.\n' })
  for (const which of [[], ['ada', '--all']]) {
    const { code, stderr } = await place.run(['user', 'undo-ageing', 'acme', ...which, '--json'])
    expect([code, JSON.parse(stderr).error.code]).toEqual([2, 'wrong_usage'])
  }
})

it.each([
  [['user', 'undo-ageing', 'acme', 'nobody'], 'reference_not_found'],
  [['user', 'show', 'acme', 'nobody'], 'user_not_found'],
  [['user', 'unlock', 'acme', 'nobody'], 'reference_not_found'],
  [['user', 'unlock', 'other', 'ada'], 'tenant_not_found'],
])('%s is refused with %s', async (args, expected) => {
  const { code, stderr } = await place.run([...args, '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(stderr).error.code).toBe(expected)
})
