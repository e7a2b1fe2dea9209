/** A sign-in through the OpenID provider, step by step, so that a test can change the services between two steps. */
import { confirmAt, OpenIdBrowser } from './openid-browser.js'
import type { Redeemed, RelyingParty } from './relying-parties.js'

/** A step that has just ended. */
export type JourneyStep = 'pushed' | 'opened' | 'captured' | 'returned'

/**
 * @param origin of the provider
 * @param after called when a step has ended, and before the next one
 */
export async function journey(
  party: RelyingParty,
  origin: string,
  loginHint: string,
  after: (step: JourneyStep) => Promise<void> = async () => {},
): Promise<Redeemed> {
  const browser = new OpenIdBrowser(origin)
  const { url, redeem } = await party.ask(loginHint)
  await after('pushed')
  const page = (await browser.open(url)).left!
  if (!page.pathname.startsWith('/capture/')) throw new Error(`The sign-in ended at once: ${page.href}`)
  await after('opened')
  const back = await confirmAt(page)
  await after('captured')
  const application = (await browser.open(back)).left!
  await after('returned')
  return redeem(application)
}
