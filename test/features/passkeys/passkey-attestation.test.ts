/** Tests of which attestation counts: a chain of certificates up to a root that the tenant names, for the model that the authenticator claims. */
import { X509Certificate } from 'node:crypto'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { attestingRoot } from '../../../src/features/passkeys/checks/passkey-attestation.js'
import { checkRegistration } from '../../../src/features/passkeys/checks/passkey-check.js'
import {
  fingerprintOf,
  PASSKEY_DEFAULTS,
  type PasskeySettings,
} from '../../../src/features/passkeys/passkey-settings.js'
import { DAY_MS } from '../../../src/lib/clock.js'
import { MODEL, maker } from '../../support/attestations.js'
import { type Attestation, SoftwareAuthenticator } from '../../support/authenticator.js'
import { ORIGIN, RP_ID } from '../../support/passkeys.js'

const [known, stranger] = [maker(), maker('Stranger')]
const { chain, key } = known.attest()
const foreign = stranger.attest()
afterAll(() => {
  known.remove()
  stranger.remove()
})

describe('a registration where the tenant lists authenticators', () => {
  const register = (attestation: Attestation | undefined, changes: Partial<PasskeySettings> = {}) => {
    const challenge = Buffer.alloc(32, 7).toString('base64url')
    const options = { rp: { id: RP_ID }, challenge, user: { id: 'AAAA' } }
    const answer = new SoftwareAuthenticator({ origin: ORIGIN }).create(
      options,
      attestation ? { attestation } : {},
    )
    const listed = { aaguids: [MODEL], roots: [known.root] }
    const settings = { ...PASSKEY_DEFAULTS, rpId: RP_ID, origins: [ORIGIN], ...listed, ...changes }
    return checkRegistration(settings, answer as never, challenge)
  }
  const refused = (words: string) => ({
    code: 'passkey_not_allowed',
    message: expect.stringContaining(words),
  })

  it('is taken from a listed one whose attestation leads to a root that is named', async () => {
    expect(await register({ key, chain })).toMatchObject({ attestedBy: fingerprintOf(known.root) })
  })

  it('is refused without an attestation, with that of a stranger, and from another model', async () => {
    const unattested = refused('with an attestation of an authority')
    await expect(register(undefined)).rejects.toMatchObject(unattested)
    await expect(register(foreign)).rejects.toMatchObject(unattested)
    const aaguids = [MODEL.replace('0a1b', 'ffff')]
    await expect(register({ key, chain }, { aaguids })).rejects.toMatchObject(refused(`the AAGUID ${MODEL}`))
  })

  it('is refused with an attestation that another key has signed', async () => {
    await expect(register({ key: foreign.key, chain })).rejects.toMatchObject({ code: 'passkey_invalid' })
  })
})

describe('an attestation', () => {
  const statement = (chain: Buffer[] | undefined, fmt = 'packed') =>
    new Map<string, unknown>([
      ['fmt', fmt],
      ['attStmt', new Map([['x5c', chain]])],
    ]) as never
  const rootOf = (chain: Buffer[] | undefined, roots = [stranger.root, known.root], fmt?: string) =>
    attestingRoot(statement(chain, fmt), MODEL, roots)
  const fingerprint = fingerprintOf(known.root)
  const authority = new X509Certificate(known.root).raw

  it('counts for a chain to a root that is named, with the root or without it', () => {
    expect(rootOf(chain)).toBe(fingerprint)
    expect(rootOf([...chain, authority])).toBe(fingerprint)
  })

  it('counts where the authenticator itself is named', () => {
    const pem = new X509Certificate(chain[0]!).toString()
    expect(rootOf(chain, [pem])).toBe(fingerprintOf(pem))
  })

  it('does not count for no chain, another format, another model, an unknown root, a broken chain or a long one', () => {
    expect([rootOf(undefined), rootOf([]), rootOf(chain, undefined, 'tpm')]).toEqual([null, null, null])
    expect(attestingRoot(statement(chain), MODEL.replace('0a1b', 'ffff'), [known.root])).toBeNull()
    expect(rootOf(known.attest(null).chain)).toBeNull()
    expect([rootOf(chain, []), rootOf(chain, [stranger.root])]).toEqual([null, null])
    expect(rootOf(foreign.chain, [known.root])).toBeNull()
    // An authority of the same name has signed nothing of it.
    const twin = maker()
    expect(rootOf(chain, [twin.root])).toBeNull()
    twin.remove()
    const other = new X509Certificate(stranger.root).raw
    expect(rootOf([...chain, other])).toBeNull()
    // A certificate that is no authority's vouches for nobody.
    expect(rootOf([...chain, ...chain, authority])).toBeNull()
    const of = (length: number) => rootOf([...chain, ...Array.from({ length: length - 1 }, () => authority)])
    expect([of(4), of(5)]).toEqual([fingerprint, null])
  })

  it('does not count before its certificates begin, and after they end', () => {
    const { validFrom, validTo } = new X509Certificate(chain[0]!)
    const root = new X509Certificate(known.root)
    const at = (time: number, given = chain) => {
      vi.setSystemTime(time)
      return rootOf(given)
    }
    onTestFinished(() => void vi.useRealTimers())
    const begins = Math.max(Date.parse(validFrom), Date.parse(root.validFrom))
    expect([at(begins), at(begins - 1000)]).toEqual([fingerprint, null])
    expect([at(Date.parse(validTo)), at(Date.parse(validTo) + 1)]).toEqual([fingerprint, null])
    expect(at(Date.parse(validTo) + 1, [...chain, authority])).toBeNull()
    const late = known.attest(MODEL, 120).chain
    expect([at(Date.parse(root.validTo), late), at(Date.parse(root.validTo) + DAY_MS, late)]).toEqual([
      ...[fingerprint, null],
    ])
    expect(at(Date.parse(root.validTo) + DAY_MS, [...late, authority])).toBeNull()
  })
})
