/** `countersign verdict-keys`: the keys of public verdicts are listed and rotated while a service runs. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type HostedService, poll, workplaceForAll } from '../../support/command.js'

const place = workplaceForAll()
let server: HostedService
beforeAll(async () => {
  server = await place.host()
})

interface KeyView {
  kid: string
  environment: string
  state: string
}
const run = async (...args: string[]) => place.run(['verdict-keys', ...args])
const listed = async (environment: string) =>
  ((await run('list', '--json')).json as KeyView[]).filter((key) => key.environment === environment)
const published = async () => {
  const { keys } = (await (await fetch(`${server.sandbox}/v1/.well-known/jwks.json`)).json()) as {
    keys: KeyView[]
  }
  return keys.map(({ kid }) => kid)
}

describe('verdict-keys', () => {
  it('lists the keys that the running service publishes', async () => {
    const keys = await listed('sandbox')
    expect(keys).toMatchObject([{ state: 'signing' }])
    expect(await published()).toEqual(keys.map(({ kid }) => kid))
    expect((await run('list')).stdout).toMatch(/^vky_\S+ +sandbox +signing +\S+ +–$/m)
  })

  it('publishes the next key, which a second rotation does not overtake', async () => {
    const [before] = await listed('sandbox')
    expect((await run('rotate', '--environment', 'sandbox')).code).toBe(0)
    const after = await listed('sandbox')
    expect(after).toMatchObject([{ kid: before!.kid, state: 'signing' }, { state: 'published' }])
    await poll(published, (kids) => kids.length === 2)
    const { code, error } = await run('rotate', '--environment', 'sandbox', '--json')
    expect([code, error.code]).toEqual([1, 'verdict_key_waits'])
    expect(error).toMatchObject({ remedy: expect.stringContaining('--emergency') })
    expect(await listed('production')).toHaveLength(1)
  })

  it('removes every key of both environments in an emergency, and the service follows within seconds', async () => {
    const before = await published()
    expect((await run('rotate', '--emergency')).code).toBe(0)
    const [made, ...others] = await listed('sandbox')
    expect(others).toEqual([])
    expect(before).not.toContain(made!.kid)
    expect(await poll(published, (kids) => kids.length === 1)).toEqual([made!.kid])
  })
})
