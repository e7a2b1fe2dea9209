/** `countersign fake`: the service in memory of the TypeScript SDK as a process, for the tests of programs in any language. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Command } from 'commander'
import { FakeCountersign } from '../../clients/node/testing.js'
import type { Environment } from '../config/config.js'
import { declare, expected, oneOf } from './lib/command.js'

/** How often the clock of the service follows that of the system. */
const TICK_MS = 50
const STEPS = ['open', 'capture', 'cancel'] as const

const OPTIONS = {
  '--port <port>': { does: 'port on 127.0.0.1 (default: a free one)', parse: parsePort },
  '--environment <name>': {
    does: 'production or sandbox (default: sandbox)',
    default: 'sandbox',
    parse: oneOf<Environment>(['production', 'sandbox'], 'production or sandbox'),
  },
} as const

export function registerFakeCommand(command: Command): void {
  declare(command, '', {
    options: OPTIONS,
    json: null,
    help: `
The end of a user_id chooses the outcome, as in the sandbox. Next to /v1 it answers, without a key:
  POST /fake/clock {"advance_ms": 360000}              moves the clock forward
  GET  /fake/requests                                  lists the requests so far
  POST /fake/capture-sessions/<id>/open|capture|cancel plays the person on the hosted page`,
    async answer({ port = 0, environment }) {
      const server = createServer()
      await new Promise<void>((resolve, reject) =>
        server.once('error', reject).listen(port, '127.0.0.1', resolve),
      )
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const modelGrade = environment === 'production' ? 'production' : 'evaluation'
      const fake = new FakeCountersign({ baseUrl: `${origin}/v1`, environment, modelGrade })
      let followedMs = Date.now()
      setInterval(() => {
        const nowMs = Date.now()
        fake.clock.advance(nowMs - followedMs)
        followedMs = nowMs
      }, TICK_MS)
      server.on('request', (request, response) => {
        answer(fake, origin, request, response).catch((error) => {
          const isSyntax = error instanceof SyntaxError
          send(response, isSyntax ? 400 : 500, { code: isSyntax ? 'malformed_json' : 'internal_error' })
        })
      })
      const { id, secret } = fake.signingSecret
      console.log(
        [
          `export CS_BASE_URL=${fake.baseUrl}`,
          `export CS_API_KEY=${fake.apiKey}`,
          `export CS_SIGNING_SECRETS=${id}:${secret}`,
          `export CS_TENANT_ID=${fake.tenantId}`,
        ].join('\n'),
      )
    },
  })
}

function parsePort(text: string, option: string): number {
  const isPort = /^\d{1,5}$/.test(text) && Number(text) <= 65_535
  return expected(text, option, isPort ? Number(text) : undefined, 'a number up to 65535')
}

async function answer(
  fake: FakeCountersign,
  origin: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url = '/' } = request
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  if (!url.startsWith('/fake/')) {
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ])
    const asked = new Request(origin + url, { method, headers, ...(body.length > 0 ? { body } : {}) })
    const answered = await fake.fetch(asked)
    response.writeHead(answered.status, Object.fromEntries(answered.headers))
    response.end(Buffer.from(await answered.arrayBuffer()))
    return
  }
  const [, session = '', step = ''] = /^\/fake\/capture-sessions\/(\w+)\/(\w+)$/.exec(url) ?? []
  if (method === 'POST' && url === '/fake/clock') {
    const { advance_ms } = JSON.parse(body.toString()) as { advance_ms: number }
    if (!(advance_ms >= 0))
      return send(response, 400, { code: 'invalid_request', message: 'Give advance_ms.' })
    fake.clock.advance(advance_ms)
    return send(response, 200, { now: new Date(fake.clock.now()).toISOString() })
  }
  if (method === 'GET' && url === '/fake/requests')
    return send(response, 200, {
      data: fake.requests.map(({ method, path, body }) => ({ method, path, body })),
    })
  if (method === 'POST' && isStep(step)) return send(response, 200, await play(fake, session, step))
  send(response, 404, { code: 'unknown_endpoint' })
}

function isStep(step: string): step is (typeof STEPS)[number] {
  return (STEPS as readonly string[]).includes(step)
}

/** @returns the state of the page; once it is over, the address that it leads to */
async function play(fake: FakeCountersign, session: string, step: (typeof STEPS)[number]) {
  const state = await fake.capturePage[step](session)
  return { state, return_url: state === 'over' ? fake.capturePage.returnUrl(session) : null }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}
