/** A sign-in on one node over SQLite, whose process is killed and started again between two steps. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePorts } from '../../../src/http/free-port.js'
import { type ServerProcess, type Workplace, workplace } from '../../support/command.js'
import { REDIRECT } from '../../support/openid-application.js'
import { type JourneyStep, journey } from '../../support/openid-journey.js'
import { RELYING_PARTIES } from '../../support/relying-parties.js'

/** Services that start on a busy machine. */
const LIMIT_MS = 180_000

let place: Workplace
let server: ServerProcess
let origin: string

beforeAll(async () => {
  const anyPort = { host: '127.0.0.1', port: 0 }
  const [capture, openid, sandbox] = await freePorts([anyPort, anyPort, anyPort])
  origin = `http://127.0.0.1:${openid}`
  place = await workplace({
    COUNTERSIGN_SANDBOX_LISTEN: `127.0.0.1:${sandbox}`,
    COUNTERSIGN_CAPTURE_LISTEN: `127.0.0.1:${capture}`,
    COUNTERSIGN_OPENID_LISTEN: `127.0.0.1:${openid}`,
  })
  await place.run(['tenant', 'create', 'bank'])
  server = await place.serve()
}, LIMIT_MS)
afterAll(() => place?.dispose())

it('a start prints the issuers of production and of the sandbox', () => {
  expect(server.stderr()).toContain(`OpenID      ${origin} (sandbox: ${origin}/sandbox)\n`)
})

async function killAndStart(): Promise<void> {
  server.signal('SIGKILL')
  expect(await server.exited).toMatchObject({ signal: 'SIGKILL' })
  server = await place.serve()
}

it(
  'a sign-in goes on where it was when the process is killed after each step, under the same keys',
  async () => {
    const added = await place.ask(`openid add bank portal --sandbox --redirect-uri ${REDIRECT}`)
    const { client_id: clientId, client_secret: secret } = added.json
    const issuer = `${origin}/sandbox`
    const party = await RELYING_PARTIES.oauth4webapi({
      ...{ issuer, clientId, redirectUri: REDIRECT, proof: { secret } },
    })
    const keys = async () => (await fetch(`${issuer}/jwks`)).text()
    const before = await keys()
    const killedAfter: JourneyStep[] = []
    const { claims } = await journey(party, origin, 'ada+match', async (step) => {
      await killAndStart()
      killedAfter.push(step)
    })
    expect(claims).toMatchObject({ sub: 'ada+match', acr: 'urn:countersign:acr:face-active' })
    expect(killedAfter).toEqual(['pushed', 'opened', 'captured', 'returned'])
    expect(await keys()).toBe(before)
  },
  LIMIT_MS,
)
