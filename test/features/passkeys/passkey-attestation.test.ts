/** Tests of which attestation counts: a chain of certificates up to a root that the tenant names, for the model that the authenticator claims. */
import { X509Certificate } from 'node:crypto'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { attestingRoot } from '../../../src/features/passkeys/checks/passkey-attestation.js'
import { checkRegistration, strengthOf } from '../../../src/features/passkeys/checks/passkey-check.js'
import {
  fingerprintOf,
  PASSKEY_DEFAULTS,
  type PasskeySettings,
} from '../../../src/features/passkeys/passkey-settings.js'
import { DAY_MS } from '../../../src/lib/clock.js'
import { MODEL, maker } from '../../support/attestations.js'
import { SoftwareAuthenticator } from '../../support/authenticator.js'
import { ORIGIN, RP_ID } from '../../support/passkeys.js'

const [known, stranger] = [maker(), maker('Stranger')]
const { chain } = known.attest()
const foreign = stranger.attest()
const OTHER_MODEL = 'ffffffff-0000-4000-8000-000000000000'

type Claims = Parameters<SoftwareAuthenticator['create']>[1]
afterAll(() => {
  known.remove()
  stranger.remove()
})

describe('the attestation of a registration', () => {
  const settings = { ...PASSKEY_DEFAULTS, rpId: RP_ID, origins: [ORIGIN], roots: [known.root] }
  const register = async (claims: Claims, changes: Partial<PasskeySettings> = {}) => {
    const challenge = Buffer.alloc(32, 7).toString('base64url')
    const options = { rp: { id: RP_ID }, challenge, user: { id: 'AAAA' } }
    const answer = new SoftwareAuthenticator({ origin: ORIGIN }).create(options, claims)
    return checkRegistration({ ...settings, ...changes }, answer as never, challenge)
  }
  const authority = new X509Certificate(known.root).raw
  const forged = { ...foreign, chain: [...foreign.chain, authority] }

  /** How an attestation counts, and how it does where models are listed. */
  const [UNLISTED, INVALID] = [
    ['swk', 'passkey_not_allowed'],
    ['passkey_invalid', 'passkey_invalid'],
  ] as const
  it.each<[string, Claims, readonly [string, string]]>([
    ['of an authority that is named', { attestation: known.attest() }, ['hwk', 'hwk']],
    ['of a synced passkey', { attestation: known.attest(), isSynced: true }, ['swk', 'swk']],
    ['that is missing', {}, UNLISTED],
    ['by the passkey itself', { attestation: 'self' }, UNLISTED],
    ['of an authority that is not named', { attestation: foreign }, UNLISTED],
    ['that names no model', { attestation: known.attest(null) }, UNLISTED],
    ['of another model', { attestation: known.attest(OTHER_MODEL) }, INVALID],
    ['that has expired', { attestation: known.attest(MODEL, -1) }, INVALID],
    ['with a key that is not the certificate’s', { attestation: { chain, key: foreign.key } }, INVALID],
    ['by a certificate that the authority did not sign', { attestation: forged }, UNLISTED],
  ])('%s gives a passkey its kind, and decides where models are listed', async (_, claims, counts) => {
    const kindOf = (changes?: object) =>
      register(claims, changes).then(
        (content) => strengthOf(settings, content),
        ({ code }) => code,
      )
    expect([await kindOf(), await kindOf({ aaguids: [MODEL] })]).toEqual(counts)
  })

  it('says which model is not listed', async () => {
    const refused = register({ attestation: known.attest() }, { aaguids: [OTHER_MODEL] })
    const message = expect.stringContaining(`the AAGUID ${MODEL}`)
    await expect(refused).rejects.toMatchObject({ code: 'passkey_not_allowed', message })
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

  it('counts only for the model that the certificate names, to the last digit', () => {
    const alike = `${MODEL.slice(0, -1)}f`
    expect(attestingRoot(statement(chain), alike, [known.root])).toBeNull()
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
