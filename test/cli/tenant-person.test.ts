/** `countersign tenant person`: people of a tenant are invited and removed while a service runs. */
import { beforeAll, expect, it } from 'vitest'
import { type HostedService, workplaceForAll } from '../support/command.js'
import { signInAt } from '../support/dashboard.js'

const NAME = 'pia@example.com'
const place = workplaceForAll()
let server: HostedService
beforeAll(async () => {
  server = await place.host()
  expect((await place.ask('tenant create acme')).code).toBe(0)
})

const person = (command: string, ...rest: string[]) =>
  place.run(['tenant', 'person', command, 'acme', ...rest])
const open = async (link: string) => {
  const response = await signInAt(server.admin, { login_token: link.split('/').at(-1) })
  return (await response.json()) as Record<string, unknown>
}

it('adds a person, who signs in by the printed link, and lists, changes, invites again and removes the person', async () => {
  expect((await person('list')).stdout).toContain('There are none yet')
  const added = await person('add', NAME, '--role', 'viewer')
  expect([added.code, added.stderr]).toEqual([0, expect.stringContaining('within 24 hours')])
  expect(await open(added.stdout.trim())).toMatchObject({
    role: 'tenant',
    person: { name: NAME, role: 'viewer' },
    password: 'required',
  })
  expect((await person('set-role', NAME, '--role', 'admin')).stdout).toBe(`${NAME} is admin now.\n`)
  expect((await person('list', '--json')).json).toMatchObject([
    { name: NAME, role: 'admin', state: 'invited' },
  ])
  expect((await person('list')).stdout).toMatch(/pia@example\.com +admin +invited/)
  const sessions = await place.run(['tenant', 'sessions', 'acme'])
  expect(sessions.stdout).toContain(`${NAME} of acme`)
  expect((await person('sign-out', NAME)).stdout).toBe('1 session ended.\n')
  const again = await person('reset-password', NAME, '--json')
  expect(await open(again.json.dashboard_url)).toMatchObject({ person: { name: NAME, role: 'admin' } })
  expect((await person('remove', NAME)).stdout).toBe(`${NAME} can no longer sign in.\n`)
})

it('reports an unknown person, and names the roles', async () => {
  const unknown = await person('remove', 'nobody')
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('Nobody named nobody')])
  const role = await person('add', 'someone', '--role', 'owner')
  expect([role.code, role.stderr]).toEqual([2, expect.stringContaining('expected admin')])
  expect((await person('reset-second-factor', 'nobody')).code).toBe(1)
})
