/** The error bodies of the dashboard: each says what to do, and leads to a page that the admin listener serves. */
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../src/contract/error-codes.js'
import { DASHBOARD_ERRORS } from '../../src/dashboard/dashboard-error.js'
import { UNKNOWN_HOST } from '../../src/http/admin/host-guard.js'
import { OPERATOR_ERRORS } from '../../src/lib/operator-errors.js'
import { signInAt } from '../support/dashboard.js'
import { SHOWN_STATUSES } from '../support/descriptions.js'
import { exchange } from '../support/raw-socket.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile()

const errorsUrl = () => `${running.service.adminUrl}/errors`
const expectShape = (body: unknown, error: string, code: keyof typeof OPERATOR_ERRORS) =>
  expect(body).toEqual({
    ...{ error, code, message: expect.stringMatching(/^\S.+\.$/), remedy: OPERATOR_ERRORS[code].remedy },
    ...{ doc_url: `${errorsUrl()}#${code}`, request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  })

describe('an error of the dashboard', () => {
  it('says what to do, and where its code is explained', async () => {
    const response = await fetch(`${running.service.adminUrl}/api/tenants`)
    expect(response.status).toBe(401)
    expectShape(await response.json(), 'authentication_failed', 'not_signed_in')
  })

  it('says so under a foreign host name too', async () => {
    const response = await exchange(running.service.adminUrl, 'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n')
    expect(response?.status).toBe(421)
    expectShape(response?.body, 'invalid_request', 'unknown_host')
  })

  it('says so where the API would answer the same code', async () => {
    const response = await fetch(`${running.service.adminUrl}/api/nothing`)
    const body = (await response.json()) as { code: keyof typeof ERRORS }
    expect(body).toMatchObject({ remedy: expect.any(String), doc_url: `${errorsUrl()}#${body.code}` })
  })

  it('says after too many sign-ins when to try again', async () => {
    const guess = () => signInAt(running.service.adminUrl, { login_token: 'x' })
    let last = await guess()
    for (let tries = 0; tries < 11 && last.status !== 429; tries++) last = await guess()
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
    expectShape(await last.json(), 'rate_limited', 'too_many_sign_ins')
  })

  it('is explained on a page without sign-in, each code once', async () => {
    const response = await fetch(errorsUrl())
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    const page = await response.text()
    const codes = [...page.matchAll(/<section id="([a-z_]+)">/g)].map(([, code]) => code)
    const all = [DASHBOARD_ERRORS, SHOWN_STATUSES, ERRORS].flatMap((codes) => Object.keys(codes))
    all.push(UNKNOWN_HOST.code)
    expect(codes.sort()).toEqual([...new Set(all)].sort())
  })
})
