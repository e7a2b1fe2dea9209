/** docs/postman.json is made from the OpenAPI document, and the service accepts every request in it. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageFile } from '../src/lib/package-root.js'
import { documentInDocs } from '../tools/generators/docs.js'
import { postmanCollection } from '../tools/generators/postman-collection.js'
import { SoftwareAuthenticator } from './support/authenticator.js'
import { allowReturn, RETURN_ORIGIN } from './support/capture-page.js'
import { OPENAPI } from './support/descriptions.js'
import { base64, face } from './support/faces.js'
import { ORIGIN, usePasskeys } from './support/passkeys.js'
import { startService, type TestService } from './support/service.js'

interface Answer {
  session_id?: string
  verification_id?: string
  challenge_id?: string
  nonce?: string
  passkey_id?: string
  options?: unknown
}

const authenticator = new SoftwareAuthenticator({ origin: ORIGIN })
let running: TestService
let variables: Record<string, string>
beforeAll(async () => {
  running = await startService({ COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0' })
  const tenant = await running.tenant()
  await allowReturn(running, tenant)
  await usePasskeys(running, tenant)
  variables = {
    return_url: RETURN_ORIGIN,
    base_url: running.service.url('production').replace(/\/v1$/, ''),
    api_key: (await running.production(tenant)).key,
    user_id: 'ada',
    image: base64(await face('ada')),
  }
})
afterAll(() => running?.stop())

it('is docs/postman.json (UPDATE_DOCS=1 writes it)', () => {
  const text = `${JSON.stringify(postmanCollection(OPENAPI), null, 2)}\n`
  expect(documentInDocs('postman.json', text)).toBe(text)
})

it('has one working request for every endpoint', async () => {
  const filled = (text: string) => text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => variables[name]!)
  const collection = JSON.parse(readFileSync(packageFile('docs', 'postman.json'), 'utf8'))
  // The parameters of paths that only an example has a value for.
  for (const { key, value } of collection.variable) variables[key] ??= value
  const requests = collection.item.flatMap((folder: { item: unknown[] }) => folder.item)
  const operations = Object.values(OPENAPI.paths as object).flatMap((path) => Object.keys(path))
  expect(requests).toHaveLength(operations.length)
  // The erasure comes last, since the other requests need the user.
  const isErasure = (raw: string) => Number(raw.endsWith('/v1/delete'))
  type Request = { request: { url: { raw: string } } }
  for (const { name, request } of requests.toSorted(
    (a: Request, b: Request) => isErasure(a.request.url.raw) - isErasure(b.request.url.raw),
  )) {
    const response = await fetch(filled(request.url.raw), {
      method: request.method,
      headers: {
        Authorization: `Bearer ${filled(collection.auth.bearer[0].value)}`,
        ...Object.fromEntries(request.header.map(({ key, value }: Record<string, string>) => [key, value])),
      },
      ...(request.body ? { body: filled(request.body.raw) } : {}),
    })
    // No recovery of a passkey waits here.
    const isNothing = request.url.raw.endsWith('/passkeys/recovery') && response.status === 404
    expect(response.ok || isNothing, `${name}: ${response.status}`).toBe(true)
    const { session_id, verification_id, challenge_id, nonce, passkey_id, options } =
      (await response.json()) as Answer
    Object.assign(
      variables,
      session_id && { session_id },
      verification_id && { verification_id },
      passkey_id && { passkey_id },
    )
    if (request.url.raw.endsWith('/registration'))
      Object.assign(variables, {
        challenge_id,
        nonce,
        credential: JSON.stringify(authenticator.create(options)),
      })
  }
})
