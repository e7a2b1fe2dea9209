/** Tests of the rotation of the OpenID provider's keys, at a running provider with a clock that is moved. */
import { createPublicKey, X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import {
  OPENID_ANNOUNCED_MS,
  OPENID_RETIRED_KEPT_MS,
  OpenIdKeyRotation,
} from '../../../src/features/openid/openid-key-rotation.js'
import { OpenIdKeys } from '../../../src/features/openid/openid-keys.js'
import { serviceOfFile, WITH_OPENID } from '../../support/service.js'

const running = await serviceOfFile(WITH_OPENID)
const tenant = await running.tenant()

interface PublicKey {
  kid: string
  kty: string
  n: string
  e: string
  x5c: string[]
}
const published = async (path = '/sandbox') => {
  const response = await fetch(`${running.service.origin('openid')}${path}/jwks`)
  return ((await response.json()) as { keys: PublicKey[] }).keys
}
const kids = async (path?: string) => (await published(path)).map(({ kid }) => kid).sort()
const rotate = (options = {}) =>
  new OpenIdKeyRotation({ ...running.service.core, clock: running.clock }).rotate(
    ['sandbox'],
    COMMAND_LINE,
    options,
  )
/** The key that signs, as another service on the same database has it. */
const signing = async () => {
  const { store, keys } = running.service.core
  const [first] = await new OpenIdKeys(store, keys, running.clock).of('sandbox')
  return first!.kid
}

describe('the keys of the OpenID provider', () => {
  it('have a certificate each, which is the same in every service', async () => {
    const [key] = await published()
    const certificate = new X509Certificate(Buffer.from(key!.x5c[0]!, 'base64'))
    const ofJwk = createPublicKey({ key: { kty: key!.kty, n: key!.n, e: key!.e }, format: 'jwk' })
    expect(certificate.publicKey.equals(ofJwk)).toBe(true)
    expect(certificate.verify(ofJwk)).toBe(true)
    const { store, keys } = running.service.core
    const [again] = await new OpenIdKeys(store, keys, running.clock).of('sandbox')
    expect([again!.x5c]).toEqual([key!.x5c])
    expect(key).not.toHaveProperty('d')
  })

  it('are published two days before they sign, and for 25 hours after', async () => {
    const [old] = await kids()
    await rotate()
    const both = await kids()
    expect(both).toHaveLength(2)
    expect(await kids('')).toHaveLength(1)
    running.clock.advance(OPENID_ANNOUNCED_MS - 1)
    expect(await signing()).toBe(old)
    running.clock.advance(1)
    const next = both.find((kid) => kid !== old)
    expect(await signing()).toBe(next)
    running.clock.advance(OPENID_RETIRED_KEPT_MS - 1)
    expect(await kids()).toEqual(both)
    running.clock.advance(1)
    expect(await kids()).toEqual([next])
  })

  it('are not overtaken by a second rotation', async () => {
    await rotate()
    await expect(rotate()).rejects.toMatchObject({ code: 'openid_key_waits' })
  })

  it('are all removed in an emergency, at once and without a restart, and those of the other environment stay', async () => {
    const [before, production] = [await kids(), await kids('')]
    await rotate({ isEmergency: true })
    const [made, ...others] = await kids()
    expect([before.includes(made!), others, await signing()]).toEqual([false, [], made])
    expect(await kids('')).toEqual(production)
  })

  it('leave an entry in the audit log with each rotation', async () => {
    const entries = await tenant.audit('openid_key_rotated')
    expect(entries.map(({ emergency }) => emergency)).toEqual([false, false, true])
    expect(entries.at(-1)).toMatchObject({
      actor: 'operator',
      environment: 'sandbox',
      kid: (await kids())[0],
    })
  })
})
