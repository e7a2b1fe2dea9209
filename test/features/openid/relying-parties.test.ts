/** Foreign relying parties from the request to the verdict: each library asks, and checks the signature and the claims of the answer. */
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { describe, expect, it } from 'vitest'
import { OpenIdApplication, REDIRECT } from '../../support/openid-application.js'
import { OpenIdBrowser } from '../../support/openid-browser.js'
import { checkedVerdict, RELYING_PARTIES } from '../../support/relying-parties.js'
import { serviceOfFile, WITH_OPENID } from '../../support/service.js'

const PAYMENT = {
  type: 'payment',
  amount: '1250.00',
  currency: 'EUR',
  payee: { name: 'Grace Hopper', account: 'DE89370400440532013000' },
}
const KID = 'bank-1'
const PROOFS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const

const running = await serviceOfFile(WITH_OPENID)
const tenant = await running.tenant()
const { privateKey, publicKey } = await generateKeyPair('ES256')
const jwk = { ...(await exportJWK(publicKey)), kid: KID }
const issuer = `${running.service.origin('openid')}/sandbox`
const [secret, signed] = [await add('by-secret', null), await add('by-key', jwk)]
/** The same application, by each way to prove itself. */
const common = { issuer, redirectUri: REDIRECT }
const shared = { ...common, clientId: secret.record.id }
const registrations = {
  client_secret_basic: { ...shared, proof: { secret: secret.secret! } },
  client_secret_post: { ...shared, proof: { secret: secret.secret!, isPosted: true } },
  private_key_jwt: { ...common, clientId: signed.record.id, proof: { key: privateKey, kid: KID } },
}

function add(name: string, jwk: JWK | null) {
  return OpenIdApplication.add(running, tenant, { name, jwks: jwk && { keys: [{ ...jwk }] } })
}

/** @returns the reason for which a library refuses an answer; `openid-client` gives it in the cause */
async function reasonOf(refused: Promise<unknown>): Promise<string> {
  const error = await refused.then(
    () => new Error('The answer was taken.'),
    (reason: Error) => reason,
  )
  return `${error.message} ${(error.cause as Error | undefined)?.message ?? ''}`
}

describe.each(Object.entries(RELYING_PARTIES))('a relying party by %s', (_library, connect) => {
  const begin = () => new OpenIdBrowser(running.service.origin('openid')!)

  it.each(PROOFS)('gets an ID token and a verdict that it checks itself, by %s', async (proof) => {
    const party = await connect(registrations[proof])
    const { url, redeem } = await party.ask('party-ada+match', {
      authorization_details: JSON.stringify([PAYMENT]),
    })
    const redeemed = await redeem(await begin().signIn(url))
    expect(redeemed.claims).toMatchObject({
      iss: registrations[proof].issuer,
      aud: registrations[proof].clientId,
      sub: 'party-ada+match',
      acr: 'urn:countersign:acr:face-active',
    })
    const issuer = running.service.url('sandbox')
    expect(await checkedVerdict(redeemed, issuer, tenant.id, running.clock.now())).toMatchObject({
      sub: 'party-ada+match',
      verdict: 'approved',
      action: PAYMENT,
      display_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      acr: redeemed.claims.acr,
    })
  })

  it('gets access_denied for a person who was rejected', async () => {
    const party = await connect(registrations.client_secret_basic)
    const { url, redeem } = await party.ask('party-eve+no_match')
    await expect(redeem(await begin().signIn(url))).rejects.toMatchObject({ error: 'access_denied' })
  })

  it('refuses an answer to another of its requests, one with another issuer, and a token with another nonce', async () => {
    const party = await connect(registrations.client_secret_basic)
    const [first, second] = [await party.ask('party-ada+match'), await party.ask('party-ada+match')]
    const back = await begin().signIn(first.url)
    expect(await reasonOf(second.redeem(back))).toMatch(/"state"/)
    const mixedUp = new URL(back)
    mixedUp.searchParams.set('iss', 'https://id.attacker.example')
    expect(await reasonOf(first.redeem(mixedUp))).toMatch(/"iss"/)
    const third = await party.ask('party-ada+match', { nonce: 'chosen-by-somebody-else' })
    expect(await reasonOf(third.redeem(await begin().signIn(third.url)))).toMatch(/"nonce"/)
  })
})
