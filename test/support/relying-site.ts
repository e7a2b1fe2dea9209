/** The website of an application that signs people in at the OpenID provider: one page to begin at, and one to which the provider leads back. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Redeemed, RelyingParty, SignInRequest } from './relying-parties.js'

export interface RelyingSite {
  origin: string
  /** Address to register at the provider. */
  redirectUri: string
  /** The library that asks the provider. The test sets it before the first sign-in. */
  party: RelyingParty | null
  /** Address that begins a sign-in. @param more parameters of the request */
  begin(user: string, more?: Record<string, string>): string
  /** The tokens of each person who was signed in, in order. */
  redeemed: Redeemed[]
  stop(): Promise<void>
}

/** Another site than the provider's to a browser: `localhost`, where the provider is `127.0.0.1`. */
export async function startRelyingSite(): Promise<RelyingSite> {
  const waiting = new Map<string, SignInRequest>()
  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, site.origin)
    const show = (title: string) =>
      response
        .writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' })
        .end(`<!doctype html><html lang="en"><title>Bank</title><h1>${title}</h1></html>`)
    if (url.pathname === '/begin') {
      const { user = '', ...more } = Object.fromEntries(url.searchParams)
      const asked = await site.party!.ask(user, more)
      waiting.set(asked.state, asked)
      return response.writeHead(303, { Location: asked.url }).end()
    }
    if (url.pathname !== '/callback') return show('Bank')
    const back = await answerIn(request, url)
    const state = back.searchParams.get('state') ?? ''
    const asked = waiting.get(state)
    waiting.delete(state)
    if (!asked) return show('Refused: unknown state')
    try {
      const redeemed = await asked.redeem(back)
      site.redeemed.push(redeemed)
      show(`Welcome ${redeemed.claims.sub}`)
    } catch (error) {
      show(`Refused: ${(error as { error?: string }).error ?? String(error)}`)
    }
  }).listen(0, 'localhost')
  await once(server, 'listening')
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  const site: RelyingSite = {
    origin,
    redirectUri: `${origin}/callback`,
    party: null,
    begin: (user, more = {}) => `${origin}/begin?${new URLSearchParams({ user, ...more })}`,
    redeemed: [],
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return site
}

/** The answer as an address, also where it came as a form (OAuth 2.0 Form Post Response Mode). */
async function answerIn(request: IncomingMessage, url: URL): Promise<URL> {
  if (request.method === 'POST') url.search = await text(request)
  return url
}
