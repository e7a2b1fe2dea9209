/** Sessions of the hosted capture page, with the person at the page. */
import { allowReturn, askForSession, RETURN_ORIGIN, Visitor } from '../../support/capture-page.js'
import type { ApiClient } from '../../support/client.js'
import type { Stage } from '../stage.js'
import type { Scenario } from './groups.js'
import { enrolled } from './verify.js'

const PAYMENT = {
  type: 'payment',
  amount: '1250.00',
  currency: 'EUR',
  payee: { name: 'Grace Hopper', account: 'DE89370400440532013000' },
}
const EVERYTHING = {
  consent: { id: 'own-1', text: 'I agree.' },
  began: { ip: '203.0.113.7', user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0' },
  description: 'Rent for December',
  locale: 'en',
}

const look = (client: ApiClient, id: string, query = '') =>
  client.call('GET', `/v1/capture-sessions/${id}${query}`)

/** Steps of a person at the page, each recorded. */
function atThePage(stage: Stage, url: string) {
  const visitor = new Visitor(url)
  const act = (name: string, step: () => Promise<{ status: number; body?: unknown }>) =>
    stage.act(`the person ${name}`, async () => {
      const { status, body } = await step()
      return { status, body }
    })
  return {
    open: () => act('opens the page', () => visitor.open()),
    type: (code: string) => act('types the code', () => visitor.type(code)),
    agree: () => act('agrees', () => visitor.agree()),
    capture: (image: string) => act('is captured', () => visitor.capture(image)),
    post: (step: string) => act(`sends ${step}`, () => visitor.post(step)),
  }
}

export const captureSessions: Record<string, Scenario> = {
  async 'verifies a user by the page in the sandbox, and gives the result to the browser’s proof'(stage) {
    const { sandbox, running, tenant, photos } = stage
    await allowReturn(running, tenant, { company: 'Bank of Ada' })
    await stage.addWebhook('sandbox')
    const asked = await askForSession(sandbox, {
      ...{ user_id: 'ada+match', action: PAYMENT, browser: 'same', ...EVERYTHING },
    })
    const id = asked.body.session_id
    const person = atThePage(stage, asked.body.url)
    await look(sandbox, id)
    await person.open()
    await person.agree()
    const { body } = await person.capture(photos.blank)
    await look(sandbox, id)
    await look(sandbox, id, `?proof=${'A'.repeat(43)}`)
    const proof = new URL((body as { return_url: string }).return_url).searchParams.get('capture_proof')
    await look(sandbox, id, `?proof=${proof}`)
  },

  async 'enrolls a user by the page in production, after a code and three tries'(stage) {
    const { production, running, tenant, photos } = stage
    await allowReturn(running, tenant, { consent: { version: '7', text: 'We keep your face.' } })
    await stage.addWebhook('production')
    const asked = await askForSession(production, { user_id: 'ada', purpose: 'enroll', action: undefined })
    const person = atThePage(stage, asked.body.url)
    await person.open()
    await person.type('000000')
    await person.type(asked.body.confirmation_code)
    await person.agree()
    for (let tries = 0; tries < 3; tries++) await person.capture(photos.blank)
    await look(production, asked.body.session_id)
  },

  async 'agrees to a text of its own in production, and is disowned'(stage) {
    const { production, running, tenant } = stage
    await allowReturn(running, tenant)
    const user_id = await enrolled(stage)
    const asked = await askForSession(production, { user_id, ...EVERYTHING })
    const person = atThePage(stage, asked.body.url)
    await person.open()
    await person.agree()
    await person.post('disown')
    await look(production, asked.body.session_id)
  },

  async 'is cancelled by the person, or expires'(stage) {
    const { sandbox, quiet, running, tenant } = stage
    await allowReturn(running, tenant)
    await stage.addWebhook('sandbox')
    const [one, other] = [
      await askForSession(quiet.sandbox, { user_id: 'ada+match' }),
      await askForSession(quiet.sandbox, { user_id: 'ada+match' }),
    ]
    const person = atThePage(stage, one.body.url)
    await person.open()
    await person.post('cancel')
    stage.advance(900_000)
    await look(sandbox, other.body.session_id)
  },

  async 'makes no session that cannot succeed'(stage) {
    const { production, sandbox, running, tenant } = stage
    const user_id = await enrolled(stage)
    await askForSession(production, { user_id })
    await allowReturn(running, tenant)
    for (const client of [production, sandbox]) {
      await askForSession(client, { user_id: 'nobody' })
      await askForSession(client, { user_id, purpose: 'enroll', action: undefined })
      await askForSession(client, { user_id, return_url: 'https://evil.example/' })
      await askForSession(client, { user_id, require_liveness: 'passive' })
      await askForSession(client, { user_id, modes: [], require_liveness: 'active' })
      await askForSession(client, { user_id, passkey: 'required' })
      await askForSession(client, { user_id, description: 'Pay \u202e9' })
      await look(client, `cap_${'0'.repeat(32)}`)
      await look(client, 'cap', '?more=1')
    }
    for (const outcome of ['locked_out', 'unavailable'])
      await askForSession(sandbox, { user_id: `ada+${outcome}`, return_url: RETURN_ORIGIN })
  },
}
