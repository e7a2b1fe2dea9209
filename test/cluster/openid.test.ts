/** The OpenID provider on two nodes behind haproxy: each step of a sign-in may be another node's, and a node may be killed in between. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ServerProcess, until, type Workplace, workplace } from '../support/command.js'
import { Haproxy, isHaproxyHere, loopbackPlaces } from '../support/haproxy.js'
import { REDIRECT } from '../support/openid-application.js'
import { type JourneyStep, journey } from '../support/openid-journey.js'
import { overPostgres } from '../support/postgres.js'
import { RELYING_PARTIES, type RelyingParty } from '../support/relying-parties.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { type Cluster, startCluster } from './nodes.js'

type Name = 'a' | 'b'

overPostgres(() => {
  const places = loopbackPlaces()
  const at: Record<Name, string> = { a: places.nodeA, b: places.nodeB }
  const workplaces = {} as Record<Name, Workplace>
  const nodes = {} as Record<Name, ServerProcess>
  const parties: RelyingParty[] = []
  /** The provider's public address: one of localhost, since it has no TLS. */
  let origin: string
  let issuer: string
  let relay: Server
  const folder = temporaryFolder()
  let cluster: Cluster
  let haproxy: Haproxy

  beforeAll(async () => {
    if (!isHaproxyHere) return
    relay = createServer((caller) => {
      const balancer = connect(8085, places.listen)
      for (const socket of [caller, balancer]) socket.on('error', () => socket.destroy())
      caller.pipe(balancer).pipe(caller)
    }).listen(0, '127.0.0.1')
    await once(relay, 'listening')
    origin = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`
    issuer = `${origin}/sandbox`
    cluster = await startCluster(0)
    for (const name of ['a', 'b'] as const) {
      workplaces[name] = await workplace({
        COUNTERSIGN_DATABASE: cluster.database.url,
        COUNTERSIGN_MASTER_KEY: cluster.masterKey.toString('base64'),
        COUNTERSIGN_PRODUCTION_LISTEN: `${at[name]}:8080`,
        COUNTERSIGN_SANDBOX_LISTEN: `${at[name]}:8081`,
        COUNTERSIGN_ADMIN_LISTEN: `${at[name]}:8082`,
        COUNTERSIGN_ADMIN_URL: `http://${places.listen}:8082`,
        COUNTERSIGN_CAPTURE_LISTEN: `${at[name]}:8083`,
        COUNTERSIGN_OPENID_LISTEN: `${at[name]}:8085`,
        COUNTERSIGN_PRODUCTION_URL: `http://${places.listen}:8080/v1`,
        COUNTERSIGN_SANDBOX_URL: `http://${places.listen}:8081/v1`,
        COUNTERSIGN_CAPTURE_URL: `http://${places.listen}:8083`,
        COUNTERSIGN_OPENID_URL: origin,
        COUNTERSIGN_TRUSTED_PROXIES: '127.0.0.0/8',
      })
      nodes[name] = await workplaces[name].serve()
    }
    haproxy = await Haproxy.start(places, folder)
    await until(async () =>
      (await Promise.all([haproxy.state('a'), haproxy.state('b')])).every(
        (state) => state === 1 || state === 2,
      ),
    )
    await workplaces.a.spawn(['tenant', 'create', 'bank'])
    const add = `openid add bank portal --sandbox --redirect-uri ${REDIRECT} --json`.split(' ')
    const { client_id: clientId, client_secret: secret } = (await workplaces.a.spawn(add)).json
    for (const connect of Object.values(RELYING_PARTIES))
      parties.push(await connect({ issuer, clientId, redirectUri: REDIRECT, proof: { secret } }))
  })
  afterAll(async () => {
    relay?.close()
    await haproxy?.stop()
    for (const place of Object.values(workplaces)) await place.dispose()
    await cluster?.stop()
  })

  /** Lets only these nodes take requests of the provider and the capture page. */
  async function steer(...names: Name[]): Promise<void> {
    for (const backend of ['openid', 'capture'])
      for (const server of ['a', 'b'] as const)
        await haproxy.ask(`set weight ${backend}/${server} ${names.includes(server) ? '100%' : '0%'}`)
  }

  /** Requests that a server behind haproxy has got so far. */
  async function taken(name: Name): Promise<number> {
    const lines = (await haproxy.ask('show stat')).split('\n').map((line) => line.split(','))
    const column = lines[0]!.indexOf('stot')
    return lines
      .filter(([backend = '', server]) => ['openid', 'capture'].includes(backend) && server === name)
      .reduce((sum, line) => sum + Number(line[column]), 0)
  }

  it.skipIf(!isHaproxyHere)('both nodes publish the same metadata and the same keys', async () => {
    for (const path of ['/.well-known/openid-configuration', '/jwks']) {
      const answers = []
      for (const name of ['a', 'b'] as const) {
        await steer(name)
        answers.push(await (await fetch(issuer + path)).text())
      }
      expect(answers[1]).toBe(answers[0])
    }
  })

  it.skipIf(!isHaproxyHere).each([
    ['a', { pushed: 'a', opened: 'b', captured: 'b', returned: 'a' }],
    ['b', { pushed: 'a', opened: 'a', captured: 'b', returned: 'b' }],
  ] as Array<[Name, Record<JourneyStep, Name>]>)(
    'a sign-in that begins at node %s goes on at the other one and ends at either',
    async (first, next) => {
      for (const party of parties) {
        await steer(first)
        const before = [await taken('a'), await taken('b')]
        const { claims } = await journey(party, origin, `ada-${first}+match`, (step) => steer(next[step]))
        expect(claims).toMatchObject({ iss: issuer, sub: `ada-${first}+match` })
        const after = [await taken('a'), await taken('b')]
        expect(after.map((count, i) => count > before[i]!)).toEqual([true, true])
      }
    },
  )

  it.skipIf(!isHaproxyHere)('a sign-in survives the kill of either node between any two steps', async () => {
    await steer('a', 'b')
    const [party] = parties
    let victim: Name = 'a'
    let kills = 0
    const { claims } = await journey(party!, origin, 'grace+match', async () => {
      nodes[victim].signal('SIGKILL')
      await nodes[victim].exited
      kills++
      // The next step goes to the other node, whose turn to be killed comes after the first one is back.
      await until(async () => (await haproxy.state(victim)) === 0)
      const back = workplaces[victim]
      nodes[victim] = await back.serve()
      await until(async () => [1, 2].includes(await haproxy.state(victim)))
      victim = victim === 'a' ? 'b' : 'a'
    })
    expect(claims).toMatchObject({ iss: issuer, sub: 'grace+match' })
    expect(kills).toBe(4)
  })

  it.skipIf(!isHaproxyHere)(
    'a sign-in that one node began ends at the other while the first one is gone',
    async () => {
      const [, party] = parties
      await steer('a')
      const { claims } = await journey(party!, origin, 'joan+match', async (step) => {
        if (step !== 'opened') return
        nodes.a.signal('SIGKILL')
        await nodes.a.exited
        await steer('a', 'b')
      })
      expect(claims).toMatchObject({ iss: issuer, sub: 'joan+match' })
    },
  )
})
