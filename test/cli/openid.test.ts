/** `countersign openid`: registers, lists and removes applications, and never shows a secret twice. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Workplace, workplace } from '../support/command.js'

let place: Workplace
beforeEach(async () => {
  place = await workplace()
  await place.run(['tenant', 'create', 'acme'])
})
afterEach(() => place.dispose())

const REDIRECT = 'https://app.bank.example/callback'
const add = (...more: string[]) =>
  place.run(['openid', 'add', 'acme', 'portal', '--sandbox', '--redirect-uri', REDIRECT, ...more])

describe('openid', () => {
  it('shows the secret of an application once', async () => {
    const { json } = await add('--json')
    expect(json).toMatchObject({
      client_id: expect.stringMatching(/^oic_[0-9a-f]{32}$/),
      client_secret: expect.stringMatching(/^[\w-]{43}$/),
      environment: 'sandbox',
      redirect_uris: [REDIRECT],
      acr: 'urn:countersign:acr:face-active',
    })
    const { stdout } = await place.run(['openid', 'list', 'acme'])
    expect(stdout).toContain(json.client_id)
    expect(stdout).not.toContain(json.client_secret)
  })

  it('frees the name of an application that was removed', async () => {
    const { json } = await add('--json')
    expect((await add()).code).toBe(1)
    const removed = await place.run(['openid', 'remove', 'acme', json.client_id])
    expect(removed.stdout).toBe(`Removed portal (${json.client_id}).\n`)
    expect((await add()).code).toBe(0)
  })

  it.each([
    ['is no https address', ['--redirect-uri', 'http://app.bank.example/callback']],
    ['is no https address', ['--redirect-uri', 'https://app.bank.example/callback#top']],
    ['is no acr of an approval', ['--acr', 'urn:example:acr:phr']],
  ])('refuses an application, because something %s: %j', async (why, options) => {
    const { code, stderr } = await add(...options)
    expect([code, stderr.includes(why)]).toEqual([1, true])
  })
})
