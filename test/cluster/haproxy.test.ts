/** docs/operations/haproxy.cfg in front of two nodes: what is sent where, what is never sent twice, and what callers see of a node that dies. */

import { execFileSync } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../support/command.js'
import { HAPROXY_CONFIG, Haproxy, isHaproxyHere, loopbackPlaces, type Places } from '../support/haproxy.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const PRODUCTION = 8080
const ADMIN = 8082
/** haproxy's answer for a node that is down and has not answered. */
const CUT_OFF = 502

/** Answers as a node does, or as one that is in trouble. */
class PretendedNode {
  private readiness: number | null = 200
  readonly received: IncomingMessage[] = []
  answer = (_request: IncomingMessage, response: ServerResponse) => void response.end(this.name)
  private readonly servers: Server[] = []

  constructor(
    readonly name: string,
    private readonly address: string,
  ) {}

  async start(): Promise<void> {
    await this.listen(ADMIN, (_request, response) => {
      if (this.readiness !== null) response.writeHead(this.readiness).end()
    })
    await this.listen(PRODUCTION, (request, response) => {
      this.received.push(request)
      request.resume().on('end', () => this.answer(request, response))
    })
  }

  /** Makes a node report that it is not ready, as before it ends or when its clock is wrong. */
  refuse(): void {
    this.readiness = 503
  }

  /** Its kernel goes on taking connections. */
  standStill(): void {
    this.readiness = null
  }

  stop(): void {
    for (const server of this.servers.splice(0)) {
      server.close()
      server.closeAllConnections()
    }
  }

  private listen(port: number, handle: (request: IncomingMessage, response: ServerResponse) => void) {
    const server = createServer(handle)
    this.servers.push(server)
    return new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, this.address, resolve)
    })
  }
}

describe.skipIf(!isHaproxyHere)('haproxy', () => {
  let folder: string
  let places: Places
  let haproxy: Haproxy
  let a: PretendedNode
  let b: PretendedNode
  beforeEach(async () => {
    folder = temporaryFolder()
    places = loopbackPlaces()
    a = new PretendedNode('a', places.nodeA)
    b = new PretendedNode('b', places.nodeB)
    await Promise.all([a.start(), b.start()])
    haproxy = await Haproxy.start(places, folder)
  })
  afterEach(async () => {
    await haproxy?.stop()
    for (const node of [a, b]) node.stop()
  })

  const call = (headers: Record<string, string> = {}) =>
    fetch(`http://${places.listen}:${PRODUCTION}/v1/verify?x=%2f`, { method: 'POST', headers, body: 'photo' })
  const calls = async (count: number) => {
    const answers: string[] = []
    for (let i = 0; i < count; i++) answers.push(await (await call()).text())
    return answers
  }
  const reaches = (server: 'a' | 'b', state: number) =>
    until(async () => (await haproxy.state(server)) === state)

  it('HAProxy accepts the shipped configuration without a warning, with other addresses too', () => {
    expect(Haproxy.check()).toEqual({
      status: 0,
      said: expect.stringContaining('Configuration file is valid'),
    })
    expect(Haproxy.check().said).not.toContain('WARNING')
  })

  it('HAProxy accepts the TLS lines from the comments of the configuration', () => {
    const pem = join(folder, 'any.pem')
    const made = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=any -days 2'.split(' ')
    execFileSync('openssl', ['req', '-x509', ...made, '-keyout', pem, '-out', `${pem}.crt`], {
      stdio: 'ignore',
    })
    appendFileSync(pem, readFileSync(`${pem}.crt`))
    const text = readFileSync(HAPROXY_CONFIG, 'utf8')
    const [bind] = /bind :443 ssl .*/.exec(text)!
    const [server] = /ssl verify required .*/.exec(text)!
    const changed = text
      .replace(/(frontend production\n(?: +#.*\n)*) +bind .*/, `$1    ${bind}`)
      .replaceAll(/( server \w "\$\{NODE_\w\}:\$\{PORT_PRODUCTION\}").*/g, `$1 ${server}`)
      .replaceAll(/\/etc\/haproxy\/\S+\.pem/g, pem)
    expect(changed.match(new RegExp(`^ +(?:bind|server) .* ${pem}`, 'gm'))).toHaveLength(5)
    const file = join(folder, 'tls.cfg')
    writeFileSync(file, changed)
    expect(Haproxy.check(file)).toEqual({
      status: 0,
      said: expect.stringContaining('Configuration file is valid'),
    })
  })

  it('HAProxy distributes unchanged calls and appends the caller to X-Forwarded-For', async () => {
    expect((await calls(4)).sort()).toEqual(['a', 'a', 'b', 'b'])
    await call({ 'X-Forwarded-For': '192.0.2.1' })
    const { url, headersDistinct } = [...a.received, ...b.received].find(({ headers }) =>
      String(headers['x-forwarded-for']).startsWith('192.0.2.1'),
    )!
    expect(url).toBe('/v1/verify?x=%2f')
    expect(headersDistinct['x-forwarded-for']!.join(', ')).toMatch(/^192\.0\.2\.1, 127\.\d+\.\d+\.\d+$/)
  })

  it('HAProxy asks nodes that are not ready when none is, so that callers get a signed answer', async () => {
    for (const node of [a, b]) {
      node.refuse()
      node.answer = (_request, response) => void response.writeHead(503).end(`signed by ${node.name}`)
    }
    for (const server of ['a', 'b'] as const) await reaches(server, 3)
    expect((await calls(2)).sort()).toEqual(['signed by a', 'signed by b'])
  })

  it('HAProxy retries a refused connection at another node at once', async () => {
    a.stop()
    expect(await calls(6)).toEqual(['b', 'b', 'b', 'b', 'b', 'b'])
    await reaches('a', 0)
    expect(await calls(2)).toEqual(['b', 'b'])
  })

  it('HAProxy never sends a request twice that a node has read', async () => {
    for (const node of [a, b]) node.answer = (request) => void request.socket.destroy()
    expect((await call()).status).toBe(502)
    expect(a.received.length + b.received.length).toBe(1)
  })

  /** One that is under way at a, since b is there only afterwards. */
  const callAtA = async () => {
    b.stop()
    const underWay = call()
    await until(() => a.received.length === 1)
    await b.start()
    return { underWay }
  }

  it('a node that is no longer ready finishes its requests and gets no new ones', async () => {
    let finish = () => {}
    a.answer = (_request, response) => {
      finish = () => void response.end('late')
    }
    const { underWay } = await callAtA()
    a.refuse()
    await reaches('a', 3)
    await until(async () => [1, 2].includes(await haproxy.state('b')))
    expect(await calls(4)).toEqual(['b', 'b', 'b', 'b'])
    finish()
    expect(await (await underWay).text()).toBe('late')
  })

  it('HAProxy closes connections to a node that does not answer, so that callers can retry', async () => {
    a.answer = () => {}
    const { underWay } = await callAtA()
    a.standStill()
    // 504 would be a call that waited for as long as any call may take.
    expect((await underWay).status).toBe(CUT_OFF)
    expect(b.received).toEqual([])
  })

  it('HAProxy exposes no metrics of single nodes', async () => {
    const status = async (path: string) => (await fetch(`http://${places.listen}:${ADMIN}${path}`)).status
    expect([await status('/metrics'), await status('/')]).toEqual([404, 200])
  })
})
