/** How many bytes of headers each listener takes: browsers send the cookies of the whole domain, callers of the API do not. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startService, type TestService } from '../../support/service.js'
import { overTransports } from '../../support/transports.js'

overTransports((transport) => {
  let running: TestService
  beforeAll(async () => {
    running = await startService({
      COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_OPENID_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_HTTP: transport,
    })
  })
  afterAll(() => running?.stop())

  const send = (origin: string, path: string, kib: number) =>
    fetch(origin + path, { headers: { Cookie: `sso=${'x'.repeat(kib * 1024)}` } })
  type Served = 'capture' | 'openid' | 'admin'
  const originOf = (listener: Served) =>
    listener === 'admin' ? running.service.adminUrl : running.service.origin(listener)!
  const pages: Array<[Served, string, number]> = [
    ['capture', '/capture/cap_1.unknown', 404],
    ['openid', '/.well-known/openid-configuration', 200],
    ['admin', '/livez', 200],
  ]

  it.each(pages)('takes 15 KiB of cookies at %s', async (listener, path, expected) => {
    const origin = originOf(listener)
    for (const kib of [1, 4, 15])
      expect([kib, (await send(origin, path, kib)).status]).toEqual([kib, expected])
  })

  it.each(pages)('answers more cookies at %s with a page in each language', async (listener, path) => {
    const response = await send(originOf(listener), path, 17)
    expect(response.status).toBe(431)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    const body = await response.text()
    expect([...body.matchAll(/<p lang="(\w+)">.*[Cc]ookies?/g)].map(([, language]) => language)).toEqual([
      'en',
      'de',
      'fr',
      'es',
      'ja',
    ])
  })

  it('goes on taking 4 KiB at the API, and refuses more in its own form', async () => {
    const url = running.service.url('production')
    expect((await send(url, '/health', 3)).status).toBe(401)
    const refused = await send(url, '/health', 5)
    expect([refused.status, await refused.json()]).toEqual([
      431,
      expect.objectContaining({ code: 'headers_too_large' }),
    ])
  })
})
